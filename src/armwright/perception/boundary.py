"""The built-in segmenter: a small network says where one object ends, a mutex watershed obeys it.

Small objects are looked at a second time at twice the size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.errors import CacheError, UsageError
from armwright.core.pool import threads_here
from armwright.perception._segment_decode import decode
from armwright.perception._segment_features import MULTIPLE, pack
from armwright.perception._segment_zoom import Window, adopt, small_windows
from armwright.perception.segmenters import Segment, segments_of

Labels = NDArray[np.int32]
_WIDTH_PX = 640
_SCALES = (0.8, 1.25)


@dataclass(frozen=True)
class BoundaryOptions:
    """Numbers of the segmenter; pixels are those of an image 640 wide.

    Attributes:
        smallest_px: Objects of fewer pixels are dropped.
        small_px: Objects of fewer pixels are looked at again at twice the size.
        most_windows: How many places are looked at again, at most; 0 leaves the second look out.
        weakest: Logit of neighbours below which they do not attract each other.
        mutual: Distant pixels repel each other below this logit.
    """

    smallest_px: int = 120
    small_px: int = 2500
    most_windows: int = 3
    weakest: float = -2.0
    mutual: float = 0.0


class BoundarySegmenter:
    """Finds objects with the network that ships with the package.

    Args:
        options: Numbers.
        path: Another network, exported by ``scripts/segment_train.py``.

    Raises:
        CacheError: The network's file is missing or damaged.
    """

    name = "boundary"

    def __init__(self, options: BoundaryOptions | None = None, *, path: Path | None = None) -> None:
        self.options = options or BoundaryOptions()
        self._session = _session(path)

    def segment(self, frame: RgbdFrame, *, labels: Sequence[str] = ()) -> list[Segment]:
        """Return one segment per object; words are not used.

        Raises:
            UsageError: Colour and depth differ in size.
        """
        names, confidence = self.label_image(frame)
        return segments_of(names, confidence)

    def label_image(self, frame: RgbdFrame) -> tuple[Labels, NDArray[np.float32]]:
        """Return labels (H, W), 0 background, and the confidence of each label (labels + 1,)."""
        rgb, depth, camera = _sized(frame)
        names, confidence = self._look(rgb, depth, camera)
        for window in small_windows(names, self.options.small_px, self.options.most_windows):
            closer, closer_confidence = self._look_closer(rgb, depth, camera, window)
            names, confidence = adopt(names, confidence, window, closer, closer_confidence, self.options.small_px)
        return _unsized(names, frame), confidence

    def _look_closer(
        self, rgb: NDArray[np.uint8], depth: NDArray[np.float32], camera: CameraModel, window: Window
    ) -> tuple[Labels, NDArray[np.float32]]:
        cut = window.slices
        height, width = 2 * window.height, 2 * window.width
        larger = np.asarray(Image.fromarray(rgb[cut]).resize((width, height), Image.Resampling.BILINEAR))
        deeper = np.repeat(np.repeat(depth[cut], 2, 0), 2, 1)
        seen = CameraModel(
            width,
            height,
            2 * camera.fx,
            2 * camera.fy,
            2 * (camera.cx - window.left),
            2 * (camera.cy - window.top),
            camera.pose_world_camera,
        )
        names, confidence = self._look(larger, deeper, seen)
        return np.ascontiguousarray(names[::2, ::2]), confidence

    def _look(
        self, rgb: NDArray[np.uint8], depth: NDArray[np.float32], camera: CameraModel
    ) -> tuple[Labels, NDArray[np.float32]]:
        height, width = depth.shape
        rows, columns = -height % MULTIPLE, -width % MULTIPLE
        if rows or columns:
            rgb = np.pad(rgb, ((0, rows), (0, columns), (0, 0)), mode="edge")
            depth = np.pad(depth, ((0, rows), (0, columns)))
        x = pack(rgb, depth, camera)[None]
        fine, coarse = self._session.run(None, {"x": x})
        chosen = self.options
        names, confidence = decode(
            fine[0], coarse[0], smallest_px=chosen.smallest_px, weakest=chosen.weakest, mutual=chosen.mutual
        )
        return np.ascontiguousarray(names[:height, :width]), confidence


def _sized(frame: RgbdFrame) -> tuple[NDArray[np.uint8], NDArray[np.float32], CameraModel]:
    """Return the frame at about the width that the network was trained at."""
    rgb, depth, camera = frame.rgb, frame.depth_m, frame.camera
    if rgb.shape[:2] != depth.shape:
        raise UsageError(
            f"the colour image is {rgb.shape[:2]}, the depth image {depth.shape}.", hint="Register depth to colour."
        )
    depth = np.where(np.isfinite(depth) & (depth > 0), depth, 0).astype(np.float32)
    scale = _WIDTH_PX / depth.shape[1]
    if _SCALES[0] <= scale <= _SCALES[1]:
        return rgb, depth, camera
    height, width = max(1, round(depth.shape[0] * scale)), _WIDTH_PX
    resized = np.asarray(Image.fromarray(rgb).resize((width, height), Image.Resampling.BOX if scale < 1 else 2))
    rows = (np.arange(height) * depth.shape[0] / height).astype(int)
    columns = (np.arange(width) * depth.shape[1] / width).astype(int)
    sized = CameraModel(
        width,
        height,
        camera.fx * scale,
        camera.fy * scale,
        camera.cx * scale,
        camera.cy * scale,
        camera.pose_world_camera,
    )
    return resized, np.ascontiguousarray(depth[np.ix_(rows, columns)]), sized


def _unsized(names: Labels, frame: RgbdFrame) -> Labels:
    height, width = frame.depth_m.shape
    if names.shape == (height, width):
        return names
    rows = (np.arange(height) * names.shape[0] / height).astype(int)
    columns = (np.arange(width) * names.shape[1] / width).astype(int)
    return np.ascontiguousarray(names[np.ix_(rows, columns)])


def _session(path: Path | None) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    # Speed is given for one core, and two threads of a small network wait for each other.
    options.intra_op_num_threads, options.inter_op_num_threads = threads_here(), 1
    options.log_severity_level = 3
    where = path or Path(str(files("armwright.perception") / "data" / "boundary.onnx"))
    try:
        return onnxruntime.InferenceSession(where.read_bytes(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises its own kinds
        raise CacheError(
            f"the boundary network {where} cannot be read: {type(error).__name__}: {error}.",
            hint="Reinstall armwright, or export one with scripts/segment_train.py.",
        ) from error
