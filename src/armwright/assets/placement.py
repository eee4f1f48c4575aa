"""Where an object may stand for a relation to hold: on, in, beside, above, under another, or on the table."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from armwright.assets.beneath import Room, room_under
from armwright.assets.export import link_inertia
from armwright.assets.footprint import (
    Footprint,
    HeightGrid,
    PlacedGrid,
    all_vertices,
    convex_outline,
    is_upright,
    model_underside,
    surface_points,
    underside,
)
from armwright.assets.model import ObjectModel, SupportSurface
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.core.task import RelationName

GAP_M = (0.03, 0.12)
"""Gap between footprints for the beside relations."""
ABOVE_M = (0.08, 0.20)
"""Height of the held object's bottom over the target's top for ``above``."""
MARGIN_M = 0.012
"""Kept free to other objects, so that an open finger passes."""
EDGE_M = 0.004
"""Kept free between a base and the edge of the surface it stands on."""
DOOR_M = 0.015
"""Kept free behind the opening of a cavity, so that its door shuts on what was let go a little askew."""
UNDER_M = 0.02
"""How far inside the target's outline the middle of a thing under it must be."""
REST_M = 0.001
"""Poses are this far above contact, so that they are free of collision."""
HEADROOM_M = 0.015
"""Free height that must remain above an object between two boards."""
BASE_M = 0.004
"""Points this close to the lowest one are the base that an object stands on."""

LEANING_RAD = (np.deg2rad(1.0), np.deg2rad(60.0))
"""A thing tilted by this much leans on something; less is upright, more is lying."""

_SIDE: dict[str, tuple[float, float]] = {
    "left_of": (0.0, 1.0),
    "right_of": (0.0, -1.0),
    "in_front_of": (-1.0, 0.0),
    "behind": (1.0, 0.0),
}
_TRIES = 40
# Poses by the opening of a cavity that is entered from the front, before deeper ones.
_BY_OPENING = 24
_OVERHANG = 1.6
_CARRIED = 0.6
_OPEN_M = 0.5
_TILTS_RAD = (0.0, 0.65, -0.65, 0.8, -0.8)
# What is much longer than the opening is stuck in, one end first.
_STUCK_RAD = (1.35, -1.35, 1.5, -1.5)
# Share of its length by which the middle of what is tilted may be beside the container's.
_SHIFT = 0.35
# Length over width of what may go in one end first.
_SLENDER = 1.5
# What reaches this far below the rim lies inside; less than the second lies on the rim.
_DEEP_M = 0.014
_RIM_M = 0.004
# Steep walls close to what goes between them are looked at in cells of this width.
_SIDES_M = 0.001
# That is where a circle around what goes in takes this share of the opening.
_SNUG = 0.7
# What takes all of the opening is in it if it gets this share of the way to the floor, not stuck at the rim.
_NESTED = 0.4


@dataclass(frozen=True, eq=False)
class Placement:
    """One way to satisfy a relation.

    Attributes:
        pose_world_object: Pose of the placed object's frame.
        kind: ``rest`` it stands there by itself, ``drop`` it is let go there and settles, ``hold`` the hand keeps it.
        support: What carries it: a support surface's name, a container's part, ``table`` or ``hand``.
        yaw_delta_rad: Turn about the vertical from the orientation it was given in.
        tilt_rad: Tilt after that turn, one end down; only for what is longer than the container it goes in.
    """

    pose_world_object: Pose
    kind: Literal["rest", "drop", "hold"]
    support: str
    yaw_delta_rad: float = 0.0
    tilt_rad: float = 0.0


@dataclass(frozen=True)
class TableBounds:
    """The part of the table that may be used [m], world frame, and its height."""

    x_m: tuple[float, float]
    y_m: tuple[float, float]
    z_m: float = 0.0

    def contains(self, outline_m: Array) -> bool:
        """Tell whether a (k, 2) outline lies inside."""
        low, high = outline_m.min(0), outline_m.max(0)
        return bool(
            self.x_m[0] <= low[0] and high[0] <= self.x_m[1] and self.y_m[0] <= low[1] and high[1] <= self.y_m[1]
        )


def standing(model: ObjectModel, pose_world_object: Pose) -> Pose:
    """Return how an object would be put down: as it is, or upright about the same vertical if it leans on something."""
    up = pose_world_object.rotate(model.upright_axis)
    tilt = float(np.arccos(np.clip(up[2], -1.0, 1.0)))
    if not LEANING_RAD[0] < tilt < LEANING_RAD[1]:
        return pose_world_object
    axis = np.cross(up, [0.0, 0.0, 1.0])
    axis /= np.linalg.norm(axis)
    turn = Pose(np.zeros(3), np.array([np.cos(0.5 * tilt), *(np.sin(0.5 * tilt) * axis)]))
    return Pose(pose_world_object.position_m, (turn @ Pose(np.zeros(3), pose_world_object.quat_wxyz)).quat_wxyz)


def placements(
    held: ObjectModel,
    target: ObjectModel | None,
    relation: RelationName,
    *,
    rng: np.random.Generator,
    n: int = 16,
    pose_world_held: Pose | None = None,
    pose_world_target: Pose | None = None,
    obstacles: Sequence[Footprint] = (),
    bounds: TableBounds | None = None,
    free: Callable[[Pose], bool] | None = None,
    margin_m: float = MARGIN_M,
    beside: Footprint | None = None,
) -> list[Placement]:
    """Draw poses of ``held`` that satisfy ``relation`` to ``target``; pure geometry, nothing is simulated.

    Left is +y and behind is +x, as the arm's base sees it. The object keeps the tilt it has in ``pose_world_held``
    (upright where None) and is turned about the vertical: not at all first, then at random.

    Args:
        held: What is placed.
        target: The reference; None puts it on the table (``on`` only).
        relation: One of the nine.
        rng: Decides the draws.
        n: How many poses at most.
        pose_world_held: How the object is oriented now; its position does not matter.
        pose_world_target: Where the target stands; the world's origin where None.
        obstacles: Footprints of everything else, the target not among them.
        bounds: Usable table; 0.8 m x 1.2 m in front of the base where None.
        free: A further test that a pose must pass.
        margin_m: Kept free between its outline and the obstacles'.
        beside: What lies on the target already: every other random turn is square to it, not to the target.

    Returns:
        Up to ``n`` poses, best first; none where the relation cannot hold (too large, no surface, no room).

    Raises:
        UsageError: A relation that needs a target came without one.
    """
    if target is None and relation != "on":
        raise UsageError(f"relation {relation!r} needs a target object.", hint="Only 'on' may mean the table.")
    table = bounds or TableBounds(x_m=(0.2, 1.0), y_m=(-0.6, 0.6))
    task = _Task(held, target, pose_world_held or Pose(), pose_world_target or Pose(), table, rng)
    if target is None:
        drawn = task.on_table()
    elif relation == "on":
        drawn = task.on(beside)
    elif relation == "in":
        drawn = task.inside()
    elif relation == "above":
        drawn = task.above()
    elif relation == "under":
        drawn = task.under()
    else:
        drawn = task.beside(relation)
    found: list[Placement] = []
    for placement in drawn:
        print_ = Footprint.from_model(held, placement.pose_world_object)
        if any(print_.overlaps(other, margin_m=margin_m) for other in obstacles):
            continue
        if free is not None and not free(placement.pose_world_object):
            continue
        found.append(placement)
        if len(found) == n:
            break
    return found


def is_entered_from_front(target: ObjectModel) -> bool:
    """Tell whether things are put into a cavity of an object from its front, as into a microwave."""
    return bool(_entered_from_front(target))


def _entered_from_front(target: ObjectModel) -> list[SupportSurface]:
    """Return the floors of those cavities: each is a surface of the cavity's name."""
    parts = {container.part for container in target.containers}
    return [surface for surface in target.supports if surface.name in parts]


def _around(points_m: Array, outline_m: Array) -> np.ndarray:
    """Tell which points (n, 3) lie over the bounding rectangle of an outline (k, 2), a margin included."""
    low, high = outline_m.min(0) - MARGIN_M, outline_m.max(0) + MARGIN_M
    return np.asarray(((points_m[:, :2] > low) & (points_m[:, :2] < high)).all(1))


def _tilts(length_m: float, opening_m: float) -> tuple[float, ...]:
    """Return the tilts to try: what is longer than the opening would lie across the rim, so one end goes in first."""
    if length_m <= 0.95 * opening_m:
        return (0.0,)
    return _TILTS_RAD if length_m <= _OVERHANG * opening_m else _STUCK_RAD


def _side_rad(points_m: Array) -> float:
    """Return the direction of the longer side of the smallest rectangle around points (n, 2)."""
    outline = convex_outline(points_m)
    edge = np.roll(outline, -1, axis=0) - outline
    turns = np.arctan2(edge[:, 1], edge[:, 0])
    along = np.stack([np.cos(turns), np.sin(turns)])
    size = np.stack([np.ptp(outline @ along, axis=0), np.ptp(outline @ np.stack([-along[1], along[0]]), axis=0)])
    best = int(np.argmin(size.prod(0).round(9)))
    return float(turns[best]) + (0.0 if size[0, best] >= size[1, best] else 0.5 * np.pi)


class _Task:
    """One call of `placements`: the shapes, turned and looked at from above."""

    def __init__(
        self,
        held: ObjectModel,
        target: ObjectModel | None,
        pose_world_held: Pose,
        pose_world_target: Pose,
        table: TableBounds,
        rng: np.random.Generator,
    ) -> None:
        self.held = held
        self.target = target
        self.orientation = Pose(np.zeros(3), pose_world_held.quat_wxyz)
        self.pose_world_target = pose_world_target
        self.table = table
        self.rng = rng
        self._bottoms: dict[tuple[float, ...], Array] = {}

    @cached_property
    def target_top(self) -> PlacedGrid:
        """The target's upper surface, in cells that suit its size."""
        assert self.target is not None
        return HeightGrid.of_model(self.target, self.pose_world_target)

    @cached_property
    def _target_sides(self) -> PlacedGrid:
        """The target's upper surface, fine enough for steep walls."""
        assert self.target is not None
        return HeightGrid.of_model(self.target, self.pose_world_target, cell_m=_SIDES_M)

    @cached_property
    def _skin(self) -> Array:
        """Points on all of the held object's surface, in its frame (n, 3)."""
        return surface_points(self.held)

    @cached_property
    def _middle(self) -> Array:
        """The middle of the held object's mass, in its frame (3,)."""
        return np.asarray(link_inertia(self.held.root)[0])

    @cached_property
    def _slender(self) -> bool:
        """Whether the held object, as it lies, is much longer than wide."""
        flat = self.orientation.transform(all_vertices(self.held))[:, :2]
        size = np.ptp(flat @ np.linalg.eigh(np.cov(flat.T))[1], axis=0)
        return bool(size.max() > _SLENDER * size.min())

    @staticmethod
    def _long_axis(points: Array) -> Array:
        """Return the long axis of points (n, 3) seen from above, as long as they are along it [m] (2,)."""
        flat = points[:, :2]
        axis: Array = np.linalg.eigh(np.cov(flat.T))[1][:, 1]
        return axis * float(np.ptp(flat @ axis))

    def _bottom(self, pose: Pose) -> Array:
        """Return what of the held object can touch first when it is let down in a pose, in its frame (k, 3)."""
        if is_upright(pose):
            return model_underside(self.held)
        down = tuple(float(v) for v in pose.inverse().rotate([0.0, 0.0, -1.0]).round(4))
        if down not in self._bottoms:
            self._bottoms[down] = pose.inverse().transform(underside(pose.transform(self._skin)))
        return self._bottoms[down]

    def _turned(self, yaw_rad: float, *, tilt_rad: float = 0.0) -> tuple[Pose, Array]:
        """Return the held object's orientation after a turn, and its vertices then (n, 3), centred over x = y = 0.

        A tilt raises one end of its longest horizontal axis.
        """
        pose = Pose.from_yaw(np.zeros(3), yaw_rad) @ self.orientation
        if tilt_rad:
            flat = pose.transform(all_vertices(self.held))[:, :2]
            long_axis = np.linalg.eigh(np.cov(flat.T))[1][:, 1]
            half = 0.5 * tilt_rad
            side = np.sin(half) * np.array([-long_axis[1], long_axis[0], 0.0])
            pose = Pose(np.zeros(3), np.array([np.cos(half), *side])) @ pose
        points = pose.transform(all_vertices(self.held))
        middle = 0.5 * (points.min(0) + points.max(0))
        shift = np.array([-middle[0], -middle[1], -points[:, 2].min()])
        return Pose(shift, pose.quat_wxyz), points + shift

    def _yaws(self) -> Iterator[float]:
        """Yield no turn, quarter turns, then any."""
        yield from (0.0, 0.5 * np.pi, -0.5 * np.pi, np.pi)
        while True:
            yield float(self.rng.uniform(-np.pi, np.pi))

    def _squared(self, surface_rad: float) -> Iterator[float]:
        """Yield turns as `_yaws`, every other random one square to a surface: long things then fit side by side."""
        square = surface_rad - _side_rad(self.orientation.transform(all_vertices(self.held))[:, :2])
        for attempt, yaw in enumerate(self._yaws()):
            yield yaw if attempt < 4 or attempt % 2 else square + 0.5 * np.pi * int(self.rng.integers(4))

    @staticmethod
    def _at(pose: Pose, x: float, y: float, z: float) -> Pose:
        return Pose(pose.position_m + np.array([x, y, z]), pose.quat_wxyz)

    def on_table(self) -> Iterator[Placement]:
        for _, yaw in zip(range(4 * _TRIES), self._yaws(), strict=False):
            pose, points = self._turned(yaw)
            half = 0.5 * np.ptp(points[:, :2], axis=0)
            low = np.array([self.table.x_m[0], self.table.y_m[0]]) + half
            high = np.array([self.table.x_m[1], self.table.y_m[1]]) - half
            if (low > high).any():
                continue
            x, y = self.rng.uniform(low, high)
            yield Placement(self._at(pose, x, y, self.table.z_m + REST_M), "rest", "table", yaw)

    def on(self, beside: Footprint | None = None) -> Iterator[Placement]:
        assert self.target is not None
        yield from self._upon(self.target.supports, beside)

    def _upon(self, supports: Sequence[SupportSurface], beside: Footprint | None = None) -> Iterator[Placement]:
        """Yield rest poses on some of the target's surfaces, square to them or to what lies there.

        Those in which something other than the surface is touched first come after all others.
        """
        surfaces = [(s, self.pose_world_target @ s.pose_object_surface) for s in supports]
        upright = [(s, pose) for s, pose in surfaces if pose.rotation[2, 2] > 0.99]
        along = upright[0][1].rotation[:2, 0] if upright else np.zeros(2)
        square = float(np.arctan2(along[1], along[0])) if beside is None else _side_rad(beside.outline_m)
        yaws = self._squared(square)
        propped: list[Placement] = []
        for attempt, yaw in zip(range(4 * _TRIES if upright else 0), yaws, strict=False):
            pose, points = self._turned(yaw)
            base = points[points[:, 2] < BASE_M, :2]
            for surface, pose_world_surface in upright:
                spot = self._spot(base, surface, pose_world_surface, centred=attempt < 4)
                if spot is None or np.ptp(points[:, 2]) + HEADROOM_M > surface.clearance_m:
                    continue
                floor = z = float(pose_world_surface.position_m[2])
                if surface.clearance_m > _OPEN_M:
                    z = max(z, self.target_top.rest_height(points + np.array([*spot, 0.0])))
                placed = Placement(self._at(pose, *spot, z + REST_M), "rest", surface.name, yaw)
                if z > floor + BASE_M:  # it would hang on a rim, such as by a handle
                    propped.append(placed)
                else:
                    yield placed
        yield from propped

    def _spot(
        self, base: Array, surface: SupportSurface, pose_world_surface: Pose, *, centred: bool, forward: bool = False
    ) -> tuple[float, float] | None:
        """Return where on a surface a base (k, 2) may be put, x and y in the world; None if it cannot stand there.

        A base that is longer than the surface stands at its middle that way, if most of it is carried. ``forward`` puts
        it as far towards the surface's -x as it goes.
        """
        turn = pose_world_surface.rotation[:2, :2]
        local = base @ turn
        low, high = local.min(0), local.max(0)
        reach = np.asarray(surface.half_extents_m) - EDGE_M
        offset = -0.5 * (low + high)
        room = reach - 0.5 * (high - low)
        if (2 * np.asarray(surface.half_extents_m) < _CARRIED * (high - low)).any():
            return None
        if not centred:
            offset = offset + self.rng.uniform(-1, 1, 2) * np.maximum(room, 0.0)
        if forward:
            offset[0] = -0.5 * (low + high)[0] - max(float(room[0]) - DOOR_M, 0.0)
        x, y = pose_world_surface.position_m[:2] + turn @ offset
        return float(x), float(y)

    def inside(self) -> Iterator[Placement]:
        assert self.target is not None
        found: list[tuple[int, float, Placement]] = []
        turn = self.pose_world_target.rotation[:2, :2]
        for container in self.target.containers:
            middle = self.pose_world_target.transform(container.center_m)
            floor, rim = (
                float(self.pose_world_target.position_m[2]) + z for z in (container.floor_z_m, container.rim_z_m)
            )
            if self.target_top.height(middle[:2]) > floor + 0.5 * (rim - floor):
                continue  # A lid, a closed drawer or a roof is in the way.
            opening = self._opening(middle[:2], turn, rim)
            for attempt, yaw in zip(range(_TRIES if self._slender else _TRIES // 2), self._yaws(), strict=False):
                flat = self._turned(yaw)[1][:, :2] @ turn
                size = np.ptp(flat, axis=0)
                wide = size.min() > 2 * opening.min()
                long = self._slender and not wide
                snug = not long and float(np.linalg.norm(flat, axis=1).max()) > _SNUG * opening.min()
                tilts = _tilts(float(size.max()), 2 * float(opening.max())) if long else (0.0,)
                for tilt in tilts:
                    pose, points = self._turned(yaw, tilt_rad=tilt)
                    size = np.ptp(points[:, :2] @ turn, axis=0)
                    if tilt in _STUCK_RAD and (size > 2 * opening).any():
                        continue
                    spread = 0.0 if attempt < 4 or wide else 0.5
                    room = np.maximum(np.asarray(container.half_extents_m) - 0.5 * size, 0)
                    aside = self.rng.uniform(-spread, spread, 2) * room
                    shifted = tilt in _TILTS_RAD[1:] and attempt >= 4 and attempt % 2 == 0
                    if shifted:  # along itself: the balance of what reaches over the rim decides where it ends
                        aside = aside + turn.T @ self._long_axis(points) * self.rng.uniform(-_SHIFT, _SHIFT)
                    x, y = (float(v) for v in middle[:2] + turn @ aside)
                    bottom = pose.transform(self._bottom(pose)) + np.array([x, y, 0.0])
                    z = max(floor, (self._target_sides if snug else self.target_top).rest_height(bottom))
                    deepest = rim - (_RIM_M if long else _DEEP_M)
                    if snug:
                        nested = floor + (1 - _NESTED) * (rim - floor)
                        deepest = nested if wide else min(deepest, nested)
                    if wide and (np.ptp(points[points[:, 2] < BASE_M, :2] @ turn, axis=0) > 2 * opening).any():
                        continue  # It would straddle the rim.
                    if z > max(deepest, floor + REST_M):
                        continue  # It would lie on the rim.
                    placed = Placement(self._at(pose, x, y, z + REST_M), "drop", container.part, yaw, tilt)
                    # Of two ends the heavy one goes in first: the lower the middle of the mass, the less it tips over.
                    middle_m = z + float(pose.rotate(self._middle)[2] + pose.position_m[2])
                    found.append((int(tilt != 0.0) + int(shifted), round(middle_m, 3), placed))
        found.sort(key=lambda item: item[:2])
        yield from (placement for *_, placement in found)
        yield from self._shelved()

    def _opening(self, middle: Array, turn: Array, rim_z_m: float) -> Array:
        """Return half the width (2,) of the hole at the rim, along the target's x and y."""
        steps = np.arange(0.0, 0.4, 0.004)
        reach = []
        for axis in (turn[:, 0], turn[:, 1]):
            for sign in (1.0, -1.0):
                along = self.target_top.height(middle + sign * steps[:, None] * axis)
                wall = np.flatnonzero((along > rim_z_m - 0.006) | ~np.isfinite(along))
                reach.append(steps[wall[0]] if len(wall) else steps[-1])
        return np.array([min(reach[:2]), min(reach[2:])])

    def _shelved(self) -> Iterator[Placement]:
        """Yield rest poses in cavities that are entered from the front (-x), such as a microwave's.

        Those come first that a hand reaches into least: by the opening and in its middle, then anywhere along it.
        """
        assert self.target is not None
        for surface in _entered_from_front(self.target):
            pose_world_surface = self.pose_world_target @ surface.pose_object_surface
            for attempt, yaw in zip(range(_TRIES), self._yaws(), strict=False):
                pose, points = self._turned(yaw)
                spot = self._spot(
                    points[:, :2], surface, pose_world_surface, centred=attempt < 4, forward=attempt < _BY_OPENING
                )
                half = np.asarray(surface.half_extents_m)
                if (
                    spot is None
                    or np.ptp(points[:, 2]) + HEADROOM_M > surface.clearance_m
                    or (np.ptp(points[:, :2] @ pose_world_surface.rotation[:2, :2], axis=0) > 2 * half).any()
                ):
                    continue
                z = float(pose_world_surface.position_m[2]) + REST_M
                yield Placement(self._at(pose, *spot, z), "rest", surface.name, yaw)

    def above(self) -> Iterator[Placement]:
        assert self.target is not None
        other = Footprint.from_model(self.target, self.pose_world_target)
        heights = [0.5 * sum(ABOVE_M)]
        for attempt, yaw in zip(range(_TRIES), self._yaws(), strict=False):
            height = heights[0] if attempt < 4 else float(self.rng.uniform(*ABOVE_M))
            pose, _ = self._turned(yaw)
            x, y = other.center_m
            yield Placement(self._at(pose, float(x), float(y), other.z_m[1] + height), "hold", "hand", yaw)

    def under(self) -> Iterator[Placement]:
        assert self.target is not None
        room = room_under(self.target)
        solid = self.pose_world_target.transform(room.points_m)
        upright = self.orientation.transform(all_vertices(self.held))[:, 2]
        if room.height_m > float(np.ptp(upright)):
            yield from self._under_roof(room, solid) if room.surfaces else self._on_ground(room, solid)

    def _on_ground(self, room: Room, solid: Array) -> Iterator[Placement]:
        """Yield rest poses on the table, below the target's points (n, 3) in the world."""
        assert self.target is not None
        low, high = solid[:, :2].min(0), solid[:, :2].max(0)
        inner_low, inner_high = (corner[:2] for corner in self.target.bounds_m)
        for _, yaw in zip(range(8 * _TRIES), self._yaws(), strict=False):
            pose, points = self._turned(yaw)
            x, y = self.rng.uniform(low, high)
            local = self.pose_world_target.inverse().transform([x, y, self.table.z_m])[:2]
            if (local < inner_low + UNDER_M).any() or (local > inner_high - UNDER_M).any():
                continue
            over = solid[_around(solid, points[:, :2] + np.array([x, y])), 2]
            if not len(over) or over.min() <= self.table.z_m + points[:, 2].max() + MARGIN_M:
                continue
            placed = self._at(pose, float(x), float(y), self.table.z_m + REST_M)
            if self._is_roofed(placed, room):
                yield Placement(placed, "rest", "table", yaw)

    def _under_roof(self, room: Room, solid: Array) -> Iterator[Placement]:
        """Yield rest poses on the target's own surfaces that lie under another part of it, clear of its other parts."""
        for found in self._upon(room.surfaces):
            points = found.pose_world_object.transform(all_vertices(self.held))
            low, high = float(points[:, 2].min()), float(points[:, 2].max())
            near = solid[_around(solid, points[:, :2]), 2]
            if ((near <= low + MARGIN_M) | (near >= high + MARGIN_M)).all() and self._is_roofed(
                found.pose_world_object, room
            ):
                yield found

    def _is_roofed(self, pose_world_held: Pose, room: Room) -> bool:
        """Tell whether some part of the target lies over the middle of the held object's mass, wholly above it."""
        x, y = pose_world_held.transform(self._middle)[:2]
        top = float(pose_world_held.transform(all_vertices(self.held))[:, 2].max())
        local = self.pose_world_target.inverse().transform([x, y, top])
        return room.covers(local[:2], float(local[2]))

    def beside(self, relation: RelationName) -> Iterator[Placement]:
        assert self.target is not None
        other = Footprint.from_model(self.target, self.pose_world_target)
        half_other = 0.5 * np.ptp(other.outline_m, axis=0)
        for attempt, yaw in zip(range(4 * _TRIES), self._yaws(), strict=False):
            pose, points = self._turned(yaw)
            side = np.array(_SIDE[relation] if relation in _SIDE else list(_SIDE.values())[attempt % 4])
            along = int(np.argmax(np.abs(side)))
            across = 1 - along
            half = 0.5 * np.ptp(points[:, :2], axis=0)
            gap = 0.5 * sum(GAP_M) if attempt < 4 else self.rng.uniform(*GAP_M)
            center = other.center_m.copy()
            center[along] += side[along] * (half_other[along] + half[along] + gap)
            if attempt >= 4:
                center[across] += self.rng.uniform(-0.4, 0.4) * half_other[across]
            placed = Placement(
                self._at(pose, float(center[0]), float(center[1]), self.table.z_m + REST_M), "rest", "table", yaw
            )
            if self.table.contains(points[:, :2] + center):
                yield placed
