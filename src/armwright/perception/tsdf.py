"""Truncated signed distance fields: depth images averaged into voxels (Curless and Levoy 1996), in blocks of 8³.

A volume holds blocks only where something was seen, so it grows with what it maps, or every block of a region, so that
it also knows what is free. All volumes share one lattice that is fixed to the world: the same place is the same block
in each, and two volumes of one voxel size can be added.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.perception._jit import F32, I32, U8
from armwright.perception._tsdf_kernels import (
    CUBE,
    EDGE,
    absorb,
    farthest_in_tiles,
    fuse,
    key_range,
    missing_blocks,
    owner_windows,
    touched_blocks,
)

MAX_WEIGHT = 100.0
"""Views beyond this many no longer add weight, so that a volume keeps following what it sees."""

_TILE_PX = 16
# A table of 64 million blocks is 256 MB; one that large means a stray reading or the wrong unit.
_MAX_TABLE = 2**26
_MAX_BLOCKS = 2**20
_T = TypeVar("_T", bound=np.generic)
_NOBODY = np.zeros((0, 0), np.int32)


@dataclass(eq=False)
class Tsdf:
    """A volume in blocks of 8³ voxels. Voxel (i, j, k) is centred at ((i, j, k) + 0.5) voxel_m in the world.

    Made by `empty_tsdf` or `region_tsdf`; changed in place by `integrate` and `add`.

    Attributes:
        voxel_m, truncation_m: Edge of a voxel, and where distances are cut off.
        coloured: Whether colour is kept.
        low_m, high_m: (3,) corners of the region outside which nothing is kept, None where there is no limit.
        full: Whether every block of the region is there from the beginning.
        count: How many blocks there are.
        keys: (n >= count, 3) int32 block indices: the block holds voxels 8 key to 8 key + 7.
        cells: (n, 512, 2) float32 signed distance [m] (positive in front of the surface) and weight.
        colours: (n, 512, 3) float32 0–255, -1 where not seen; no rows without colour.
        table: (x, y, z) int32 number of each block, -1 where there is none; ``table_low`` is the first entry's key.
    """

    voxel_m: float
    truncation_m: float
    coloured: bool
    low_m: Array | None = None
    high_m: Array | None = None
    full: bool = False
    count: int = 0
    keys: I32 = field(default_factory=lambda: np.zeros((0, 3), np.int32))
    cells: F32 = field(default_factory=lambda: np.zeros((0, CUBE, 2), np.float32))
    colours: F32 = field(default_factory=lambda: np.zeros((0, CUBE, 3), np.float32))
    table: I32 = field(default_factory=lambda: np.full((0, 0, 0), -1, np.int32))
    table_low: I32 = field(default_factory=lambda: np.zeros(3, np.int32))

    @property
    def bytes_held(self) -> int:
        """Memory of the arrays, spare room included."""
        return self.keys.nbytes + self.cells.nbytes + self.colours.nbytes + self.table.nbytes


@dataclass(frozen=True, eq=False)
class View:
    """One frame prepared for fusing into any number of volumes; made by `prepare_view`.

    Attributes:
        depth_m: (H, W) float32.
        rgb: (H, W, 3) uint8.
        camera: (16,) float32 intrinsics and world-to-camera transform.
        tiles: The largest depth of each tile of pixels.
        owner: (H, W) int32 whose each pixel is, -1 for nobody's; of size 0 where nobody asked.
        windows: (n, 4) int32 rows and columns of each owner.
    """

    depth_m: F32
    rgb: U8
    camera: F32
    tiles: F32
    owner: I32
    windows: I32


def empty_tsdf(
    voxel_m: float,
    *,
    truncation_m: float | None = None,
    coloured: bool = True,
    low_m: Array | None = None,
    high_m: Array | None = None,
) -> Tsdf:
    """Return a volume without blocks, which grows where surfaces are seen.

    Args:
        voxel_m: Edge of a voxel [m].
        truncation_m: Where distances are cut off [m]; three voxels unless given.
        coloured: Whether to keep colour.
        low_m, high_m: (3,) corners of the region outside which nothing is kept.

    Raises:
        UsageError: A size that is not positive, or a region that is empty.
    """
    truncation = 3 * voxel_m if truncation_m is None else truncation_m
    if not voxel_m > 0 or not voxel_m <= truncation:
        raise UsageError(
            f"a volume needs voxel_m > 0 and truncation_m >= voxel_m, got {voxel_m} and {truncation}.",
            hint="Objects do well with 0.003 to 0.005, rooms with 0.01 to 0.02; three voxels of truncation.",
        )
    if (low_m is None) != (high_m is None):
        raise UsageError("a region needs both low_m and high_m.", hint="Give both corners, or neither.")
    if low_m is not None and high_m is not None:
        low_m, high_m = np.asarray(low_m, float), np.asarray(high_m, float)
        if low_m.shape != (3,) or high_m.shape != (3,) or not (low_m < high_m).all():
            raise UsageError(
                f"a region needs two (3,) corners with low_m < high_m, got {low_m} and {high_m}.",
                hint="Corners are in the world, in metres.",
            )
    return Tsdf(float(voxel_m), float(truncation), coloured, low_m, high_m)


def region_tsdf(
    low_m: Array, high_m: Array, voxel_m: float, *, truncation_m: float | None = None, coloured: bool = False
) -> Tsdf:
    """Return a volume with every block of a region, so that it tells free space from what was never seen.

    Args:
        low_m, high_m: (3,) corners in the world [m]; the region is widened to whole blocks.
        voxel_m, truncation_m, coloured: As in `empty_tsdf`.

    Raises:
        UsageError: As in `empty_tsdf`, or too many blocks for memory.
    """
    volume = empty_tsdf(voxel_m, truncation_m=truncation_m, coloured=coloured, low_m=low_m, high_m=high_m)
    first, last = _block_range(volume)
    size = last - first + 1
    if np.prod(size.astype(float)) > _MAX_BLOCKS // 8:
        raise UsageError(
            f"a region of {np.round(size * EDGE * voxel_m, 2).tolist()} m holds too many voxels of {voxel_m} m.",
            hint="Take a larger voxel, a smaller region, or empty_tsdf, which keeps only what was seen.",
        )
    grid = np.stack(np.meshgrid(*(np.arange(a, b + 1) for a, b in zip(first, last, strict=True)), indexing="ij"), -1)
    _allocate(volume, grid.reshape(-1, 3).astype(np.int32))
    volume.full = True
    return volume


def prepare_view(frame: RgbdFrame, owner: NDArray[np.integer] | None = None, *, owners: int | None = None) -> View:
    """Prepare a frame for `integrate`.

    Args:
        frame: What the camera saw.
        owner: (H, W) which object each pixel belongs to, -1 for none; or None to count every pixel.
        owners: How many objects there are; as many as ``owner`` names unless given.

    Raises:
        UsageError: Pictures of other sizes than the camera's.
    """
    camera = frame.camera
    shape = (camera.height, camera.width)
    if frame.depth_m.shape != shape or frame.rgb.shape != (*shape, 3):
        raise UsageError(
            f"the camera is {shape[1]}x{shape[0]}; depth is {frame.depth_m.shape}, rgb {frame.rgb.shape}.",
            hint="Depth is (H, W) metres and rgb (H, W, 3) of the camera's own size.",
        )
    depth = np.ascontiguousarray(frame.depth_m, np.float32)
    held, windows = _NOBODY, np.array([[0, shape[0], 0, shape[1]]], np.int32)
    if owner is not None:
        if owner.shape != shape:
            raise UsageError(f"owner is {owner.shape}, depth {shape}.", hint="One number per pixel; -1 is nobody's.")
        held = np.ascontiguousarray(owner, np.int32)
        windows = owner_windows(held, int(held.max()) + 1 if owners is None else owners)
    rgb = np.ascontiguousarray(frame.rgb, np.uint8)
    return View(depth, rgb, camera_numbers(camera), farthest_in_tiles(depth, _TILE_PX), held, windows)


def camera_numbers(camera: CameraModel) -> F32:
    """Return (16,) float32 fx, fy, cx, cy, the rotation from the world to the camera row by row, and its shift [m]."""
    back = camera.pose_world_camera.inverse()
    lens = (camera.fx, camera.fy, camera.cx, camera.cy)
    return np.array([*lens, *back.rotation.ravel(), *back.position_m], np.float32)


def integrate(volume: Tsdf, view: View, owner: int | None = None, *, max_depth_m: float = 10.0) -> int:
    """Average a view into a volume; return how many blocks were looked at.

    With an owner, only its pixels make or move a surface; the others free what they look through.

    Args:
        volume: Changed in place; grows where the owner's pixels are.
        view: From `prepare_view`.
        owner: Whose volume this is; None counts every pixel.
        max_depth_m: Readings beyond are left out.

    Raises:
        UsageError: An owner for a view without, or a reading so far away that the volume would not fit into memory.
    """
    if owner is not None and view.owner.size == 0:
        raise UsageError(f"the view has no owners, but owner {owner} was asked for.", hint="Give prepare_view a map.")
    far = np.float32(max_depth_m)
    voxel, truncation = np.float32(volume.voxel_m), np.float32(volume.truncation_m)
    mine = _NOBODY if owner is None else view.owner
    me = -1 if owner is None else owner
    if not volume.full and me < len(view.windows):
        window = view.windows[0 if owner is None else me]
        if owner is None:
            window = np.array([0, view.depth_m.shape[0], 0, view.depth_m.shape[1]], np.int32)
        block = np.float32(EDGE * volume.voxel_m)
        wanted = touched_blocks(
            view.depth_m, mine, me, window, view.camera, far, truncation, block, _step(volume, view, max_depth_m)
        )
        _allocate(volume, _inside(volume, wanted))
    n = volume.count
    if n == 0:
        return 0
    looked = fuse(
        volume.cells[:n],
        volume.colours[:n] if volume.coloured else volume.colours,
        volume.keys[:n],
        view.depth_m,
        view.rgb,
        mine,
        me,
        view.camera,
        view.tiles,
        _TILE_PX,
        voxel,
        truncation,
        far,
        np.float32(MAX_WEIGHT),
    )
    return int(looked)


def add(volume: Tsdf, other: Tsdf) -> None:
    """Add another volume's evidence to this one, weight by weight; the other stays as it is.

    Raises:
        UsageError: The two have different voxels.
    """
    if volume.voxel_m != other.voxel_m:
        raise UsageError(
            f"volumes of {volume.voxel_m} m and {other.voxel_m} m voxels cannot be added.",
            hint="Fuse both with one voxel size.",
        )
    keys = other.keys[: other.count]
    _allocate(volume, _inside(volume, keys))
    at = keys - volume.table_low
    there = ((at >= 0) & (at < volume.table.shape)).all(1)
    number = np.full(len(keys), -1, np.int32)
    number[there] = volume.table[tuple(at[there].T)]
    there = number >= 0
    colours = other.colours[: other.count][there] if other.coloured else other.colours
    absorb(
        volume.cells, volume.colours, number[there], other.cells[: other.count][there], colours, np.float32(MAX_WEIGHT)
    )


def _step(volume: Tsdf, view: View, max_depth_m: float) -> int:
    """Return every how many pixels to look so that no block between two rays is missed at the farthest reading."""
    farthest = min(float(view.tiles.max()), max_depth_m)
    if not farthest > 0:
        return 1
    return int(np.clip(0.5 * EDGE * volume.voxel_m * float(view.camera[:2].min()) / farthest, 1, 4))


def _block_range(volume: Tsdf) -> tuple[I32, I32]:
    """Return the keys of the region's first and last block."""
    assert volume.low_m is not None and volume.high_m is not None
    edge = EDGE * volume.voxel_m
    first = np.floor(volume.low_m / edge + 1e-6).astype(np.int32)
    return first, np.maximum(np.ceil(volume.high_m / edge - 1e-6).astype(np.int32) - 1, first)


def _inside(volume: Tsdf, keys: I32) -> I32:
    if volume.low_m is None:
        return keys
    first, last = _block_range(volume)
    return keys[((keys >= first) & (keys <= last)).all(1)]


def _allocate(volume: Tsdf, wanted: I32) -> None:
    """Make sure that the blocks of these keys (n, 3) are there."""
    if len(wanted) == 0:
        return
    low, high = key_range(wanted)
    _widen(volume, low, high)
    fresh = missing_blocks(wanted, volume.table, volume.table_low, volume.count)
    need = volume.count + len(fresh)
    if need > _MAX_BLOCKS:
        raise UsageError(
            f"the volume would hold {need} blocks of {EDGE * volume.voxel_m:.3g} m.",
            hint="Take a larger voxel_m, a region, or a smaller max_depth_m.",
        )
    room = len(volume.keys)
    if need > room:
        size = need if room == 0 else max(need, room * 3 // 2)
        volume.keys = _grown(volume.keys, size, 0)
        volume.cells = _grown(volume.cells, size, 0)
        if volume.coloured:
            volume.colours = _grown(volume.colours, size, -1)
    volume.keys[volume.count : need] = fresh
    volume.count = need


def _grown(array: NDArray[_T], rows: int, value: int) -> NDArray[_T]:
    out = np.full((rows, *array.shape[1:]), value, array.dtype)
    out[: len(array)] = array
    return out


def _widen(volume: Tsdf, low: I32, high: I32) -> None:
    """Make the table cover the keys from low to high."""
    old_low, shape = volume.table_low, np.array(volume.table.shape)
    if volume.table.size and (low >= old_low).all() and (high < old_low + shape).all():
        return
    if volume.table.size:
        # A margin on every side, so that a volume that grows by bits is not copied for each.
        low, high = np.minimum(low - 2, old_low), np.maximum(high + 2, old_low + shape - 1)
    size = high.astype(np.int64) - low + 1
    if np.prod(size.astype(float)) > _MAX_TABLE:
        raise UsageError(
            f"what was seen spans {np.round(size * EDGE * volume.voxel_m, 1).tolist()} m, too much for voxels of "
            f"{volume.voxel_m} m.",
            hint="Take a larger voxel_m, a region, or a smaller max_depth_m; is depth in metres?",
        )
    table = np.full(tuple(size), -1, np.int32)
    at = old_low - low
    if volume.table.size:
        table[tuple(slice(a, a + s) for a, s in zip(at, shape, strict=True))] = volume.table
    volume.table, volume.table_low = table, low.astype(np.int32)
