"""From `WorldSpec` to what the kernels read: exact boxes, distance grids per shape, a coarse grid over all."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np

from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.planning._arrays import HALF, PART_COLUMNS, POSITION, ROTATION, SCALE, WorldArrays
from armwright.planning._jit import F32, U64, Flags
from armwright.planning.kernels_sdf import fill_coarse, fill_shape_grid
from armwright.planning.types import Obstacle, WorldSpec

# A local grid's spacing: 5 mm keeps trilinear values within about 1 mm outside; big shapes are coarsened so that a grid
# stays under this many nodes (1 MB).
FINE_SPACING_M = 0.005
MAX_NODES = 250_000
# Free border of a local grid: outside it distances are lower bounds, so it must exceed what a near miss looks at.
PAD_M = 0.03
# Obstacles of at most this many hulls, all boxes, are kept exact.
MAX_BOXES = 24
# Cell and cut-off of the coarse grid. The cut-off should exceed most links' bounding radius and half a cell's diagonal;
# bounds that are larger are never free at one look, and their children are asked. A wider band takes longer to fill.
COARSE_CELL_M = 0.03
BAND_M = 0.22
MAX_BITS = 64
_SHAPES_KEPT = 96


@dataclass(frozen=True, eq=False)
class ShapePart:
    """A box or a distance grid in its obstacle's frame.

    Attributes:
        rotation: (3, 3) obstacle to part.
        center_m: (3,) in the obstacle's frame.
        half_m: (3,) half extents of the box or of the grid.
        nodes: (x, y, z) distances of a grid, None for a box.
        spacing_m: Between nodes.
    """

    rotation: Array
    center_m: Array
    half_m: Array
    nodes: F32 | None = None
    spacing_m: float = 1.0


@dataclass(frozen=True, eq=False)
class _Hull:
    planes: F32
    triangles: F32
    vertices: Array


def _hull(points: Array, owner: str) -> _Hull:
    from scipy.spatial import ConvexHull, QhullError

    points = np.asarray(points, float)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) < 4 or not np.isfinite(points).all():
        raise UsageError(f"a hull of obstacle {owner!r} needs (k >= 4, 3) finite metres, got shape {points.shape}.")
    try:
        hull = ConvexHull(points)
    except QhullError as error:
        raise UsageError(
            f"a hull of obstacle {owner!r} is flat: extents {np.ptp(points, axis=0)} m.",
            hint="Give it a thickness of at least a tenth of a millimetre.",
        ) from error
    planes = hull.equations.astype(np.float32)
    planes[:, 3] *= -1
    return _Hull(planes, points[hull.simplices].astype(np.float32), points[hull.vertices])


def _as_box(hull: _Hull) -> ShapePart | None:
    """Return the hull as a box, or None if it is not one."""
    if len(hull.vertices) != 8:
        return None
    normals: list[Array] = []
    for plane in hull.planes:
        normal = plane[:3].astype(float)
        if all(abs(normal @ other) < 1e-3 for other in normals):
            normals.append(normal)
        elif not any(abs(normal @ other) > 1 - 1e-5 for other in normals):
            return None
    if len(normals) != 3:
        return None
    x, y, _ = normals
    rotation = np.stack([x, y - x * (x @ y), np.cross(x, y)])
    rotation /= np.linalg.norm(rotation, axis=1, keepdims=True)
    along = hull.vertices @ rotation.T
    low, high = along.min(0), along.max(0)
    return ShapePart(rotation, rotation.T @ ((low + high) / 2), (high - low) / 2)


def _grid(hulls: list[_Hull]) -> ShapePart:
    bounds = np.array([[h.vertices.min(0), h.vertices.max(0)] for h in hulls])
    low, high = bounds[:, 0].min(0) - PAD_M, bounds[:, 1].max(0) + PAD_M
    spacing = max(FINE_SPACING_M, float((np.prod(high - low) / MAX_NODES) ** (1 / 3)))
    shape = np.ceil((high - low) / spacing).astype(int) + 1
    center = (low + high) / 2
    half = (shape - 1) * spacing / 2
    nodes = np.empty(tuple(shape), np.float32)
    fill_shape_grid(
        np.concatenate([h.triangles for h in hulls]),
        np.concatenate([h.planes for h in hulls]),
        np.cumsum([0, *(len(h.planes) for h in hulls)]).astype(np.int64),
        bounds.astype(np.float32),
        (center - half).astype(np.float32),
        np.float32(spacing),
        nodes,
    )
    return ShapePart(np.eye(3), center, half, nodes, spacing)


class ShapeCache:
    """Parts per shape, kept by content: the same mug in another place costs nothing."""

    def __init__(self) -> None:
        self._parts: OrderedDict[bytes, tuple[ShapePart, ...]] = OrderedDict()

    def parts(self, obstacle: Obstacle) -> tuple[ShapePart, ...]:
        """Return the parts of an obstacle's shape, in its own frame.

        Raises:
            UsageError: No hulls, or one that is flat or not (k, 3).
        """
        if not obstacle.hulls:
            raise UsageError(f"obstacle {obstacle.name!r} has no hulls.", hint="Leave it out of the world instead.")
        digest = hashlib.blake2b(digest_size=16)
        for hull in obstacle.hulls:
            digest.update(np.ascontiguousarray(hull, np.float64).tobytes())
            digest.update(b"|")
        key = digest.digest()
        found = self._parts.get(key)
        if found is None:
            hulls = [_hull(points, obstacle.name) for points in obstacle.hulls]
            boxes = [_as_box(h) for h in hulls] if len(hulls) <= MAX_BOXES else [None]
            exact = tuple(box for box in boxes if box is not None)
            found = exact if len(exact) == len(hulls) else (_grid(hulls),)
            self._parts[key] = found
            if len(self._parts) > _SHAPES_KEPT:
                self._parts.popitem(last=False)
        else:
            self._parts.move_to_end(key)
        return found


_SHARED_SHAPES = ShapeCache()


class WorldModel:
    """A world in the kernels' form, rebuilt in place by `load`.

    Args:
        low_m, high_m: Corners of the region that the arm can reach, in its base frame [m].
        largest_sphere_m: Largest radius that will be checked exactly.
    """

    def __init__(self, low_m: Array, high_m: Array, *, largest_sphere_m: float) -> None:
        shape = np.maximum(np.ceil((high_m - low_m) / COARSE_CELL_M).astype(int), 1)
        self._low = low_m.astype(np.float32)
        self._coarse = np.empty(tuple(shape), np.float32)
        self._near = np.empty(tuple(shape), np.uint64)
        self._largest = largest_sphere_m
        self.spec = WorldSpec(())
        self.part_owner: tuple[int, ...] = ()
        self.arrays = self._assemble(self.spec)

    def load(self, spec: WorldSpec) -> None:
        """Replace the world.

        Raises:
            UsageError: Two obstacles share a name, a target is unknown, or a hull is unusable.
        """
        names = [o.name for o in spec.obstacles]
        if len(set(names)) != len(names):
            raise UsageError(f"obstacle names must differ, got {sorted(n for n in names if names.count(n) > 1)} twice.")
        if missing := sorted(spec.targets - set(names)):
            raise UsageError(f"targets {missing} are not among the obstacles.", hint=f"Obstacles: {', '.join(names)}.")
        same = len(names) == len(self.spec.obstacles) and all(
            new is old for new, old in zip(spec.obstacles, self.spec.obstacles, strict=True)
        )
        if not same:
            self.arrays = self._assemble(spec)
        self.spec = spec

    def allow_sphere(self, radius_m: float) -> None:
        """Make sure that spheres of this radius are checked exactly."""
        if radius_m > self._largest:
            self._largest = radius_m
            self.arrays = self._assemble(self.spec)

    def active(self, *, arm_ignores: frozenset[str], held_ignores: frozenset[str]) -> tuple[Flags, U64]:
        """Return which parts count for the arm and for what it holds: (2, p) flags, and (2,) the same as bits."""
        names = [self.spec.obstacles[owner].name for owner in self.part_owner]
        flags = np.array([[name not in ignored for name in names] for ignored in (arm_ignores, held_ignores)], np.bool_)
        bits = [np.bitwise_or.reduce(self.arrays.bit[row], initial=np.uint64(0)) for row in flags]
        return flags, np.array(bits, np.uint64)

    def _assemble(self, spec: WorldSpec) -> WorldArrays:
        owners: list[int] = []
        rotation: list[Array] = []
        position: list[Array] = []
        parts: list[ShapePart] = []
        for index, obstacle in enumerate(spec.obstacles):
            pose = obstacle.pose_base_obstacle
            turn = pose.rotation
            for part in _SHARED_SHAPES.parts(obstacle):
                owners.append(index)
                parts.append(part)
                rotation.append(part.rotation @ turn.T)
                position.append(turn @ part.center_m + pose.position_m)
        self.part_owner = tuple(owners)
        count = len(parts)
        table = np.zeros((count, PART_COLUMNS), np.float32)
        grid = np.full((count, 4), -1, np.int64)
        nodes: list[F32] = []
        used = 0
        for row, part in enumerate(parts):
            table[row, ROTATION:POSITION] = rotation[row].ravel()
            table[row, POSITION:HALF] = position[row]
            table[row, HALF:SCALE] = part.half_m
            if part.nodes is not None:
                table[row, SCALE:] = 1 / part.spacing_m, PAD_M
                grid[row] = used, *part.nodes.shape
                nodes.append(part.nodes.ravel())
                used += part.nodes.size
        slack = COARSE_CELL_M * np.sqrt(3) / 2
        self._coarse.fill(BAND_M)
        self._near.fill(0)
        world = WorldArrays(
            coarse=self._coarse,
            near=self._near,
            frame=np.array([*self._low, 1 / COARSE_CELL_M, slack, self._largest], np.float32),
            part=table,
            grid=grid,
            bit=np.uint64(1) << np.minimum(np.arange(count), MAX_BITS - 1).astype(np.uint64),
            node=np.concatenate(nodes) if nodes else np.zeros(0, np.float32),
        )
        turns = np.abs(table[:, ROTATION:POSITION].reshape(count, 3, 3))
        extent = np.einsum("pba,pb->pa", turns, table[:, HALF:SCALE]) + BAND_M
        middle = table[:, POSITION:HALF] - self._low
        ends = np.stack([np.floor((middle - extent) / COARSE_CELL_M), np.ceil((middle + extent) / COARSE_CELL_M)], -1)
        cells = np.clip(ends, 0, np.array(self._coarse.shape)[:, None]).astype(np.int64)
        fill_coarse(world, cells, np.float32(self._largest + slack))
        return world
