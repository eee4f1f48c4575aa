"""Where to look from (OMAR §IV-A): viewpoints on arcs before the shelf and above the target, chosen for what they show.

A viewpoint counts if the arm can hold the camera there without touching what the robot knows, nor the space in which it
does not yet know what stands: the compartments, and the part of the table where the target lies. Of these, a greedy
search takes the ones that show most of what the others leave unseen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel
from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.planning.types import Obstacle, WorldSpec
from armwright.shelf.records import Box, Shelf
from armwright.shelf.worlds import ShelfWorld, TargetRegion, corners_of, panels_of

Subject = Literal["target", "shelf"]
SHELF_VIEWS, TARGET_VIEWS = 9, 4
FULL_PX_PER_M = 1100.0
"""A surface seen at this scale shows its print: capitals of 12 mm are 13 pixels tall."""
OBLIQUE_POWER = 3.0
"""Print is worth the cosine of its tilt to this power: a third at 45 degrees."""
MARGIN_PX = 40
"""Half a word's width: a word whose middle is nearer to the edge is cut."""
ENOUGH = 0.65
"""Visibility from which a point counts as seen: looking better at it is worth less than looking elsewhere."""
REAR_WEIGHT = 0.3
"""Of a point farther back in a compartment, which what stands before it often hides."""
SECOND_LOOK = 0.15
"""What a second sight of a point is worth beside the first: fusing needs two, reading one."""
LEAST_GAIN = 0.5
"""A view that adds less than this many points squarely seen is not taken."""
_GRID_M = 0.05
_DEPTHS_M = (0.02, 0.12)
_SEEDS = 12
_BRANCHES = 4


@dataclass(frozen=True, eq=False)
class View:
    """A viewpoint that the arm can take.

    Attributes:
        of: What it is for.
        pose_world_camera: The camera (OpenCV axes).
        joints_rad: (k, n) free configurations that hold it there.
        gain: What it showed beyond those chosen before it, in points of the subject.
    """

    of: Subject
    pose_world_camera: Pose
    joints_rad: Array
    gain: float


@dataclass(frozen=True, eq=False)
class Samples:
    """Points where something may be printed.

    Attributes:
        points_m: (p, 3) in the world [m].
        normals: (p, 3) unit normals of the print.
        weight: (p,) what seeing each is worth.
        paired: The second half are the first half's backs: of each pair, one is enough.
    """

    points_m: Array
    normals: Array
    weight: Array
    paired: bool = False


@dataclass(frozen=True, eq=False)
class Blockers:
    """Boxes that hide what is behind them, aligned with one frame.

    Attributes:
        pose_world_boxes: That frame.
        boxes_m: (k, 2, 3) lowest and highest corners in it [m].
    """

    pose_world_boxes: Pose
    boxes_m: Array

    def between(self, points_m: Array, eye_m: Array) -> NDArray[np.bool_]:
        """Return (p,) whether a box stands between each point (p, 3) and an eye (3,), all in the world."""
        back = self.pose_world_boxes.inverse()
        start, end = back.transform(points_m)[:, None], back.transform(eye_m)
        step = end - start
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = (self.boxes_m[:, 0] - start) / step, (self.boxes_m[:, 1] - start) / step
        enter, leave = np.fmin(a, b).max(2), np.fmax(a, b).min(2)
        return np.asarray(((enter < leave) & (leave > 1e-6) & (enter < 1 - 1e-6)).any(1))


def plan_views(world: ShelfWorld, *, n_shelf: int = SHELF_VIEWS, n_target: int = TARGET_VIEWS) -> tuple[View, ...]:
    """Choose viewpoints, those of the target first.

    Args:
        world: What the robot knows beforehand is used: shelf, table, arm and camera.
        n_shelf, n_target: How many of each; fewer come back where no further one shows anything new.

    Raises:
        UsageError: A count is negative.
    """
    if n_shelf < 0 or n_target < 0:
        raise UsageError(f"numbers of views must not be negative, got {n_shelf} and {n_target}.")
    world.planner.set_world(cautious_world(world))
    shelf, pose = world.shelf, world.pose_world_shelf
    chosen = _choose(world, "target", target_candidates(world), target_samples(world.table), n_target)
    panels = Blockers(pose, np.array([(p.box.low_m, p.box.high_m) for p in panels_of(shelf)]))
    chosen += _choose(
        world, "shelf", shelf_candidates(shelf, pose), shelf_samples(shelf, pose), n_shelf, blockers=panels
    )
    return tuple(chosen)


def cautious_world(world: ShelfWorld) -> WorldSpec:
    """Return what the robot knows, with all space that may hold an unknown object closed."""
    known = world.planner_world()
    pose_base_world = world.arm.pose_world_base.inverse()
    shelf = world.shelf
    inside = Box.between((0.0, -shelf.width_m / 2, shelf.boards_m[0]), (shelf.depth_m, shelf.width_m / 2, shelf.top_m))
    region = Box.between(world.table.low_m, world.table.high_m)
    closed = (
        Obstacle("unseen/shelf", pose_base_world @ world.pose_world_shelf, (corners_of(inside),)),
        Obstacle("unseen/target", pose_base_world, (corners_of(region),)),
    )
    return WorldSpec((*known.obstacles, *closed), known.targets)


def shelf_samples(shelf: Shelf, pose_world_shelf: Pose) -> Samples:
    """Return where labels may be: facing the front, in every compartment, near its front and farther back."""
    points: list[tuple[float, float, float]] = []
    weight: list[float] = []
    half = shelf.width_m / 2 - 0.03
    for board, base in enumerate(shelf.boards_m):
        for y in np.linspace(-half, half, max(2, round(2 * half / _GRID_M))):
            for z in np.arange(0.03, min(0.22, shelf.clearance_m(board)), _GRID_M):
                points += [(x, float(y), base + float(z)) for x in _DEPTHS_M]
                weight += [1.0, REAR_WEIGHT]
    world = pose_world_shelf.transform(np.array(points))
    normals = np.broadcast_to(pose_world_shelf.rotate([-1.0, 0.0, 0.0]), world.shape)
    return Samples(world, normals, np.array(weight))


def target_samples(region: TargetRegion) -> Samples:
    """Return the sides of an object of middling size, in the middle and in the corners of the region.

    Packages are printed on opposite sides alike, so each point is paired with the one at its back.
    """
    x, y, _ = region.center_m
    dx, dy = 0.5 * (region.high_m[0] - x), 0.5 * (region.high_m[1] - y)
    angles = np.arange(0, 2 * np.pi, np.pi / 8)
    # All directions of one half turn come first, then their opposites in the same order.
    points: list[Array] = []
    normals: list[Array] = []
    for half in (angles[: len(angles) // 2], angles[len(angles) // 2 :]):
        for angle in half:
            out = np.array([np.cos(angle), np.sin(angle), 0.0])
            for at in ((x, y), (x + dx, y + dy), (x + dx, y - dy), (x - dx, y + dy), (x - dx, y - dy)):
                for height in (0.03, 0.09):
                    points.append(np.array([*at, region.low_m[2] + height]) + 0.03 * out)
                    normals.append(out)
    return Samples(np.array(points), np.array(normals), np.ones(len(points)), paired=True)


def shelf_candidates(shelf: Shelf, pose_world_shelf: Pose) -> list[Pose]:
    """Return cameras on arcs about points of the compartments' fronts, some from the side, some from above."""
    found: list[Pose] = []
    for board, base in enumerate(shelf.boards_m):
        middle = base + min(0.11, 0.5 * shelf.clearance_m(board))
        for y in np.linspace(-0.40, 0.40, 7) * shelf.width_m:
            for yaw in np.deg2rad((-30, -15, 0, 15, 30)):
                for pitch in np.deg2rad((-10, 0, 12, 25, 38)):
                    for away in (0.46, 0.56):
                        found.append(
                            pose_world_shelf @ _toward((0.05, float(y), middle), float(yaw), float(pitch), away)
                        )
    return found


def target_candidates(world: ShelfWorld) -> list[Pose]:
    """Return cameras on arcs above the target's region, from the arm's side and from the others."""
    x, y, z = world.table.center_m[0], world.table.center_m[1], world.table.low_m[2] + 0.085
    base = world.arm.pose_world_base.position_m
    facing = float(np.arctan2(y - base[1], x - base[0]))
    found: list[Pose] = []
    for yaw in np.deg2rad(np.arange(-180, 180, 20)):
        for pitch in np.deg2rad((28, 40, 55)):
            for away in (0.42, 0.50):
                found.append(_toward((x, y, z), facing + float(yaw), float(pitch), away))
    return found


def visibility(camera: CameraModel, samples: Samples, blockers: Blockers | None = None) -> NDArray[np.float64]:
    """Return (p,) how well a camera would show each point: 0 unseen, 1 squarely and large enough to read.

    Args:
        camera: Intrinsics and pose.
        samples: Points and normals.
        blockers: What may stand between.
    """
    pixels, depth = camera.project(samples.points_m)
    inside = (depth > 0.15) & (pixels > MARGIN_PX).all(1)
    inside &= (pixels[:, 0] < camera.width - MARGIN_PX) & (pixels[:, 1] < camera.height - MARGIN_PX)
    eye = camera.pose_world_camera.position_m
    ray = eye - samples.points_m
    cosine = np.maximum((ray * samples.normals).sum(1) / np.sqrt((ray * ray).sum(1)), 0.0)
    scale = camera.fx / np.maximum(depth, 1e-6) / FULL_PX_PER_M
    seen = np.where(inside, np.minimum(scale, 1.0) ** 2 * cosine**OBLIQUE_POWER, 0.0)
    if blockers is not None and inside.any():
        left = np.flatnonzero(seen)
        seen[left] *= ~blockers.between(samples.points_m[left], eye)
    return np.asarray(seen)


def _choose(
    world: ShelfWorld,
    of: Subject,
    candidates: Sequence[Pose],
    samples: Samples,
    count: int,
    *,
    blockers: Blockers | None = None,
) -> list[View]:
    """Take candidates one by one, each the one that adds most to what is seen."""
    seen = np.stack([visibility(_at(world.camera.model, pose), samples, blockers) for pose in candidates])
    weight = samples.weight
    if samples.paired:
        seen, weight = seen.reshape(len(seen), 2, -1).max(1), weight[: len(weight) // 2]
    else:
        seen = np.minimum(seen / ENOUGH, 1.0)
    first, second = np.zeros(seen.shape[1]), np.zeros(seen.shape[1])
    chosen: list[View] = []
    left = np.flatnonzero(seen.sum(1) >= LEAST_GAIN)
    while len(left) and len(chosen) < count:
        fresh = np.maximum(seen[left] - first, 0) @ weight
        again = np.maximum(np.minimum(seen[left], first) - second, 0) @ weight
        gain = fresh + SECOND_LOOK * again
        # Inverse kinematics is asked of the best alone; what cannot be held is never asked again.
        order = np.argsort(-gain, kind="stable")
        for index, worth in zip(left[order].tolist(), gain[order].tolist(), strict=True):
            if worth < LEAST_GAIN:
                return chosen
            joints = _holdable(world, candidates[index])
            left = left[left != index]
            if len(joints):
                break
        else:
            return chosen
        second = np.maximum(second, np.minimum(first, seen[index]))
        first = np.maximum(first, seen[index])
        chosen.append(View(of, candidates[index], joints, worth))
    return chosen


def _holdable(world: ShelfWorld, pose_world_camera: Pose) -> Array:
    """Return free configurations (k, n) that hold the camera at a pose."""
    tool = world.arm.pose_world_base.inverse() @ pose_world_camera @ world.pose_tool_camera.inverse()
    solved = world.planner.ik(tool.matrix()[None], n_seeds=_SEEDS, max_solutions=_BRANCHES)
    q = solved.q_rad[0, : int(solved.count[0])]
    return np.asarray(q[world.planner.check(q)] if len(q) else q)


def _at(camera: CameraModel, pose_world_camera: Pose) -> CameraModel:
    return CameraModel(camera.width, camera.height, camera.fx, camera.fy, camera.cx, camera.cy, pose_world_camera)


def _toward(point_m: tuple[float, float, float], heading_rad: float, down_rad: float, away_m: float) -> Pose:
    """Return an upright camera that looks at a point along a heading in the plane, tilted down."""
    c, s = np.cos(down_rad), np.sin(down_rad)
    z = np.array([c * np.cos(heading_rad), c * np.sin(heading_rad), -s])
    x = np.array([np.sin(heading_rad), -np.cos(heading_rad), 0.0])
    return Pose.from_rotation(np.stack([x, np.cross(z, x), z], 1), np.asarray(point_m) - away_m * z)
