"""The segmenter `sam3`: Segment Anything 3 prompted with the labels; an adapter that was not run here.

It follows the published code (github.com/facebookresearch/sam3: ``sam3.model_builder.build_sam3_image_model`` and
``sam3.model.sam3_image_processor.Sam3Processor`` with ``set_image(image)`` and ``set_text_prompt(prompt, state)``,
whose answer holds ``masks`` (n, 1, H, W) bool, ``boxes`` and ``scores`` (n,)). The weights are gated and want a GPU, so
only its calls are tested, against a stand-in with that signature.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UsageError
from armwright.perception.segmenters import Segment

NO_LABELS = ("packaged product", "box", "bottle", "can", "carton", "tube", "container")
"""Prompts where nobody says what there may be."""
_SAME_OBJECT = 0.6


class Sam3Segmenter:
    """Asks SAM 3 for every label and keeps the surest of masks that overlap.

    Args:
        processor: A ``Sam3Processor``; None builds one, which downloads the weights on first use.
        min_confidence: Answers below are left out.
        device: Where the model runs, if it is built here.

    Raises:
        UsageError: The package ``sam3`` is not installed.
    """

    name = "sam3"

    def __init__(self, processor: Any | None = None, *, min_confidence: float = 0.5, device: str | None = None) -> None:
        self.min_confidence = min_confidence
        self._processor = _published(min_confidence, device) if processor is None else processor

    def segment(self, frame: RgbdFrame, *, labels: Sequence[str] = ()) -> list[Segment]:
        """Return one segment per object, surest first; a pixel that two claim is the surer one's."""
        state = self._processor.set_image(Image.fromarray(frame.rgb))
        found: list[tuple[float, NDArray[np.bool_]]] = []
        for label in dict.fromkeys(labels or NO_LABELS):
            answer = self._processor.set_text_prompt(prompt=label, state=state)
            masks, scores = _array(answer["masks"]), _array(answer["scores"])
            masks = masks.reshape(-1, *frame.depth_m.shape) > 0.5
            found += [(float(s), m) for s, m in zip(scores.ravel(), masks, strict=True) if s >= self.min_confidence]
        found.sort(key=lambda item: -item[0])
        taken = np.zeros(frame.depth_m.shape, np.bool_)
        out: list[Segment] = []
        for score, mask in found:
            own = mask & ~taken
            if own.sum() < (1 - _SAME_OBJECT) * mask.sum() or not own.any():
                continue
            taken |= own
            out.append(Segment(own, min(1.0, max(0.0, score))))
        return out


def _published(min_confidence: float, device: str | None) -> Any:
    try:
        builder = importlib.import_module("sam3.model_builder")
        processing = importlib.import_module("sam3.model.sam3_image_processor")
    except ImportError as error:
        raise UsageError(
            f"the segmenter sam3 needs the package sam3 of Meta, which cannot be imported: {error}.",
            hint="pip install git+https://github.com/facebookresearch/sam3 and log in to Hugging Face for its weights, "
            "or use the segmenter boundary.",
        ) from error
    where = {} if device is None else {"device": device}
    model = builder.build_sam3_image_model(**where)
    return processing.Sam3Processor(model, confidence_threshold=min_confidence, **where)


def _array(value: Any) -> NDArray[Any]:
    """Return a tensor of torch, wherever it lies and of whatever precision, as an array."""
    if hasattr(value, "detach"):
        value = value.detach().float().cpu().numpy()
    return np.asarray(value)
