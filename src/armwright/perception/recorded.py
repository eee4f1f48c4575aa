"""Recorded RGB-D views with poses: a folder of pictures and text files, checked before anything is fused.

A folder holds one ``*intrinsics*.txt`` (3, 3) and for every view ``NAME.color.jpg`` or ``.png``, ``NAME.depth.png``
(16 bits; 0 and 65535 mean no reading) and ``NAME.pose.txt``, the (4, 4) transform from the camera to the world.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.errors import UsageError, in_one_line
from armwright.core.pose import Array, Pose

NO_READING = (0, 65535)
"""Values of a 16-bit depth picture that are no distance."""

# Printed poses carry six digits or so; what is farther off was never a rotation, or holds a scale.
_ROTATION_TOLERANCE = 0.01
# Of the width: from a view of 140 degrees to one of 3.
_FOCAL = (0.18, 20.0)
_COLOUR_ENDINGS = (".color.jpg", ".color.jpeg", ".color.png")


@dataclass(frozen=True, eq=False)
class RecordedView:
    """One view of a recording; its pictures are read by `read_view`.

    Attributes:
        name: What its files are called.
        colour_path, depth_path: Its pictures.
        intrinsics: (3, 3) pinhole matrix [px].
        pose_world_camera: Where the camera was (OpenCV axes).
        depth_unit_m: What one step of the depth picture is worth [m].
        index: Its place in the recording, which keeps no time.
    """

    name: str
    colour_path: Path
    depth_path: Path
    intrinsics: Array
    pose_world_camera: Pose
    depth_unit_m: float
    index: int


def _numbers(path: Path, shape: tuple[int, int], what: str) -> Array:
    """Return the (r, c) finite numbers of a text file."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            values = np.loadtxt(path, dtype=np.float64, ndmin=2, delimiter="," if "," in path.read_text() else None)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{path}: {what} cannot be read: {in_one_line(error)}.",
            hint=f"It is a text file of {shape[0]} lines of {shape[1]} numbers.",
        ) from error
    if values.shape != shape:
        raise UsageError(
            f"{path}: {what} must be {shape[0]} lines of {shape[1]} numbers, got {values.shape[0]} of "
            f"{values.shape[1] if values.size else 0}.",
            hint="Write one line per row of the matrix.",
        )
    if not np.isfinite(values).all():
        raise UsageError(
            f"{path}: {what} holds a value that is not finite.",
            hint="A tracker that lost its way writes NaN: leave this view out.",
        )
    return values


def read_intrinsics(path: Path) -> Array:
    """Return the (3, 3) pinhole matrix [px] of a text file.

    Raises:
        UsageError: Not 3 by 3 numbers, or not a pinhole camera without skew.
    """
    matrix = _numbers(path, (3, 3), "the camera's intrinsics")
    fx, fy = matrix[0, 0], matrix[1, 1]
    zeros = matrix[[0, 1, 2, 2], [1, 0, 0, 1]]
    if fx <= 0 or fy <= 0 or np.abs(zeros).max() > 1e-6 * max(fx, 1.0) or abs(matrix[2, 2] - 1) > 1e-6:
        raise UsageError(
            f"{path}: {np.round(matrix, 4).tolist()} is no pinhole camera.",
            hint="Expected [[fx, 0, cx], [0, fy, cy], [0, 0, 1]] in pixels, with fx and fy above 0.",
        )
    return matrix


def read_pose(path: Path) -> Pose:
    """Return the pose of a text file that holds a (4, 4) matrix, its rotation made exact.

    Raises:
        UsageError: Not 4 by 4 finite numbers, or not a rigid transform.
    """
    matrix = _numbers(path, (4, 4), "the camera's pose")
    turn = matrix[:3, :3]
    off = float(np.abs(turn.T @ turn - np.eye(3)).max())
    if np.abs(matrix[3] - (0, 0, 0, 1)).max() > 1e-6:
        raise UsageError(
            f"{path}: the last row of a camera's pose is 0 0 0 1, got {np.round(matrix[3], 6).tolist()}.",
            hint="Write the matrix row by row, with the position in its last column.",
        )
    if off > _ROTATION_TOLERANCE or np.linalg.det(turn) < 0:
        mirrored = off <= _ROTATION_TOLERANCE
        raise UsageError(
            f"{path}: the upper left 3 by 3 is no rotation: "
            + ("it mirrors (determinant -1)." if mirrored else f"R^T R differs from the identity by {off:.3g}."),
            hint="Give the camera-to-world transform in metres, without scale; camera axes are x right, y down, "
            "z forward.",
        )
    left, _, right = np.linalg.svd(turn)
    return Pose.from_rotation(left @ right, matrix[:3, 3])


def _picture(path: Path, what: str) -> NDArray[np.generic]:
    from PIL import Image

    try:
        with Image.open(path) as picture:
            return np.asarray(picture.convert("RGB") if what == "colour" else picture)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        raise UsageError(
            f"{path}: the {what} picture cannot be read: {in_one_line(error)}.",
            hint="It is damaged or cut short: copy it again, or leave this view out.",
        ) from error


def read_depth(path: Path, *, depth_unit_m: float = 0.001) -> NDArray[np.float32]:
    """Return (H, W) float32 depth [m] of a 16-bit picture, 0 where there is no reading.

    Raises:
        UsageError: Not one channel of 16 bits, or nothing but holes.
    """
    raw = _picture(path, "depth")
    if raw.ndim != 2 or raw.dtype.kind not in "iu" or raw.dtype.itemsize < 2:
        raise UsageError(
            f"{path}: a depth picture has one channel of 16 bits, got {raw.dtype} {raw.shape}.",
            hint="Save the sensor's values themselves, not a coloured or 8-bit view of them.",
        )
    holes = np.isin(raw, NO_READING)
    if holes.all():
        raise UsageError(
            f"{path}: every pixel of the depth picture is a hole ({' or '.join(map(str, NO_READING))}).",
            hint="Leave this view out, or record it again farther from the scene.",
        )
    return np.where(holes, np.float32(0), raw.astype(np.float32) * np.float32(depth_unit_m))


def recording(folder: str | Path, *, depth_unit_m: float = 0.001) -> tuple[RecordedView, ...]:
    """Return the views of a folder by name, with poses and intrinsics read and checked, pictures not yet read.

    Raises:
        UsageError: No folder, no views, a file that is missing or wrong.
    """
    if not depth_unit_m > 0:
        raise UsageError(f"depth_unit_m must be above 0, got {depth_unit_m}.", hint="Millimetres are 0.001.")
    home = Path(folder)
    if not home.is_dir():
        raise UsageError(f"{home} is not a folder.", hint="Name one that holds NAME.color.jpg, .depth.png, .pose.txt.")
    files = sorted(path for path in home.iterdir() if path.is_file())
    cameras = [path for path in files if "intrinsics" in path.name and path.suffix == ".txt"]
    if len(cameras) != 1:
        raise UsageError(
            f"{home} must hold one file *intrinsics*.txt, got {', '.join(p.name for p in cameras) or 'none'}.",
            hint="Write the camera's 3 by 3 matrix [px] to camera-intrinsics.txt.",
        )
    intrinsics = read_intrinsics(cameras[0])
    views: dict[str, RecordedView] = {}
    for path in files:
        ending = next((end for end in _COLOUR_ENDINGS if path.name.lower().endswith(end)), None)
        if ending is None:
            continue
        name = path.name[: -len(ending)]
        if name in views:
            raise UsageError(f"{home} holds two colour pictures called {name}.", hint="Keep one of them.")
        depth, pose = home / f"{name}.depth.png", home / f"{name}.pose.txt"
        for beside, what in ((depth, "depth picture"), (pose, "pose")):
            if not beside.is_file():
                raise UsageError(
                    f"{path.name} has no {what}: {beside} is not there.",
                    hint="Put it there, or take the colour picture away.",
                )
        views[name] = RecordedView(name, path, depth, intrinsics, read_pose(pose), depth_unit_m, len(views))
    if not views:
        raise UsageError(
            f"{home} holds no colour picture called NAME.color.jpg or NAME.color.png.",
            hint="Each view is NAME.color.jpg, NAME.depth.png and NAME.pose.txt.",
        )
    return tuple(views.values())


def read_view(view: RecordedView) -> RgbdFrame:
    """Return what the camera saw; the stamp is the view's place in the recording.

    Raises:
        UsageError: A picture is damaged, of another size than its partner, all holes, or does not fit the intrinsics.
    """
    rgb = np.asarray(_picture(view.colour_path, "colour"), np.uint8)
    depth = read_depth(view.depth_path, depth_unit_m=view.depth_unit_m)
    height, width = depth.shape
    if rgb.shape[:2] != depth.shape:
        raise UsageError(
            f"{view.depth_path}: the depth picture is {width}x{height}, its colour picture "
            f"{rgb.shape[1]}x{rgb.shape[0]}.",
            hint="Register depth to colour, or scale one to the other and the intrinsics with it.",
        )
    fx, fy, cx, cy = view.intrinsics[[0, 1, 0, 1], [0, 1, 2, 2]].tolist()
    if not (0 < cx < width and 0 < cy < height):
        raise UsageError(
            f"{view.colour_path}: the principal point ({cx:.1f}, {cy:.1f}) lies outside the {width}x{height} picture.",
            hint="The intrinsics belong to another resolution: scale fx, fy, cx, cy by the ratio of the widths.",
        )
    if not all(_FOCAL[0] * width < f < _FOCAL[1] * width for f in (fx, fy)):
        raise UsageError(
            f"{view.colour_path}: focal lengths of {fx:.4g} and {fy:.4g} px do not belong to a picture "
            f"of width {width} px.",
            hint="The intrinsics belong to another resolution: scale fx, fy, cx, cy by the ratio of the widths.",
        )
    camera = CameraModel(width, height, fx, fy, cx, cy, view.pose_world_camera)
    return RgbdFrame(rgb, depth, camera, float(view.index))
