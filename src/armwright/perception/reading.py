"""Reads printed text in pictures: the plug for a text reader, and the one that comes with the extra ``shelf``."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import CacheError, MissingDependencyError
from armwright.core.pool import threads_here
from armwright.core.pose import Array

_INSTALL = 'pip install "armwright[shelf]"'
_MOST_PX = 1920
_NETWORKS = {"Det": "PP-OCRv6_det_small.onnx", "Rec": "PP-OCRv6_rec_small.onnx"}


@dataclass(frozen=True, eq=False)
class TextLine:
    """One line of print.

    Attributes:
        text: As read, one or more words.
        score: How sure the reader is, 0 to 1.
        corners_px: (4, 2) column and row, from the text's upper left clockwise.
        cut: Whether the print may go on beyond its left and its right end, where the thing is covered or turns away.
    """

    text: str
    score: float
    corners_px: Array
    cut: tuple[bool, bool] = (False, False)

    @property
    def height_px(self) -> float:
        """Height of the line, along its own upright."""
        a, b, c, d = self.corners_px
        return float((np.linalg.norm(d - a) + np.linalg.norm(c - b)) / 2)


class TextReader(Protocol):
    """Finds and reads print in a picture."""

    def read(self, rgb: NDArray[np.uint8]) -> list[TextLine]:
        """Return the lines in a picture (H, W, 3), searched at its own size."""
        ...


class RapidReader:
    """PP-OCR by the package ``rapidocr``: its networks lie in its wheel, nothing is fetched; `threads_here` threads.

    Raises:
        MissingDependencyError: The package is not installed.
    """

    def __init__(self) -> None:
        if find_spec("rapidocr") is None:
            raise MissingDependencyError("reading labels needs rapidocr.", hint=_INSTALL)
        self._engine: Any = None

    def read(self, rgb: NDArray[np.uint8]) -> list[TextLine]:
        """Return the lines in a picture (see `TextReader.read`)."""
        if self._engine is None:
            self._engine = _load()
        found = self._engine(np.ascontiguousarray(rgb[..., ::-1]))
        if found.txts is None or found.boxes is None:
            return []
        return [
            TextLine(str(text), float(score), np.asarray(corners, float))
            for text, score, corners in zip(found.txts, found.scores, found.boxes, strict=True)
        ]


def _load() -> Any:
    """Load the networks from the wheel by their paths: by their names it would fetch what it misses."""
    import rapidocr

    folder = Path(rapidocr.__file__).parent / "models"
    missing = [name for name in _NETWORKS.values() if not (folder / name).is_file()]
    if missing:
        raise CacheError(
            f"rapidocr does not hold {', '.join(missing)}.", hint='pip install --force-reinstall "rapidocr==3.10.*"'
        )
    networks = {f"{task}.model_path": str(folder / name) for task, name in _NETWORKS.items()}
    return rapidocr.RapidOCR(
        params={
            **networks,
            "Det.limit_side_len": _MOST_PX,
            "Det.limit_type": "max",
            "Global.use_cls": False,
            # Words are short: the usual 320 columns are mostly padding.
            "Rec.rec_img_shape": [3, 48, 160],
            "Rec.rec_batch_num": 1,
            "Global.log_level": "critical",
            "EngineConfig.onnxruntime.intra_op_num_threads": threads_here(),
            "EngineConfig.onnxruntime.inter_op_num_threads": 1,
        }
    )
