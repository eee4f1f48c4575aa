"""Plan a whole placing before anything moves: reach, grasp, lift, carry, insert, leave; best S first (OMAR §IV-D)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from armwright.core.pose import Array, Pose
from armwright.grasping.types import GraspCandidate
from armwright.planning.types import Obstacle, PathReport, WorldSpec
from armwright.shelf.feasibility import RELEASE_M, Pair
from armwright.shelf.obstacles import TARGET, MapObstacles
from armwright.skills.context import SkillContext
from armwright.skills.rank import attach, known_opening

MotionStage = Literal["approach", "lift", "insert", "leave", "carry", "reach", "home"]
PREGRASP_M = 0.08
LIFT_M = 0.06
OUT_M = 0.04
"""How far before the shelf's front the target's rear is when it begins to go in."""
LEAST_OUT_M = 0.005
RELEASES_M = (0.024, 0.016, RELEASE_M)
"""By how much the hand is opened to let go, the widest that has room: what turned a little in it is not dragged out."""
OFF_M = 0.09
"""How far the fingers slide back along the sides that they held, after which they are clear of it."""
HAND_M = 0.16
"""How far the hand draws back from the shelf's front once it has let go."""
ITERATIONS = 4000
SAME_BRANCH_RAD = 0.02
CARRY_STEP_M = 0.02
PATIENCE = 4
"""Failures of one place, or of one grasp, before others are tried."""
_AT_TARGET = ("approach", "lift", "reach")


@dataclass(frozen=True, eq=False)
class PlannedPlacing:
    """A placing that was planned from here to the end.

    Attributes:
        pair, candidate: What is done.
        reach_rad: (w, n) from where the arm is to before the target.
        approach_rad: Straight on to it.
        carry_rad: From above the table to before the shelf.
        insert_rad: Straight into the compartment, above the board.
        leave_m: Straight steps (3,) by which the empty hand leaves, in the base frame.
        opened_m: By how much it is opened there.
    """

    pair: Pair
    candidate: GraspCandidate
    reach_rad: Array
    approach_rad: Array
    carry_rad: Array
    insert_rad: Array
    leave_m: tuple[Array, ...]
    opened_m: float


@dataclass(frozen=True, eq=False)
class PlanningReport:
    """Which pair was planned, or what stopped each.

    Attributes:
        planned: The first pair that could be planned, or None.
        tried: How many pairs were looked at.
        stopped: Stage -> how many pairs it stopped.
        detail: Of the last one that failed.
    """

    planned: PlannedPlacing | None
    tried: int
    stopped: dict[MotionStage, int]
    detail: str = ""


def plan_best(
    ctx: SkillContext,
    pairs: Sequence[Pair],
    grasps: Sequence[GraspCandidate],
    obstacles: MapObstacles,
    *,
    rear_m: Sequence[float],
    most: int = 60,
) -> PlanningReport:
    """Plan pairs in descending S until one can be done (OMAR §IV-D end).

    Args:
        ctx: Arm, planner, perceived scene.
        pairs: Best first.
        grasps: What ``pair.grasp`` counts.
        obstacles: What stands where, the target included.
        rear_m: How deep in the shelf the target's rear will be, for each pair [m].
        most: Pairs to look at, at most.
    """
    stopped: Counter[MotionStage] = Counter()
    failed: Counter[tuple[str, int]] = Counter()
    detail = ""
    tried = 0
    # What failed again and again with one place or one grasp is left for when the others have been tried.
    later: list[int] = []
    queue = list(range(len(pairs)))
    while (queue or later) and tried < most:
        if not queue:
            queue, later, failed = later, [], Counter()
        k = queue.pop(0)
        pair, rear = pairs[k], rear_m[k]
        if max(failed["place", pair.place], failed["grasp", pair.grasp]) >= PATIENCE:
            later.append(k)
            continue
        tried += 1
        found = plan_pair(ctx, pair, grasps[pair.grasp], obstacles, rear_m=float(rear))
        if isinstance(found, PlannedPlacing):
            return PlanningReport(found, tried, dict(stopped))
        stage, detail = found
        stopped[stage] += 1
        failed["grasp" if stage in _AT_TARGET else "place", pair.grasp if stage in _AT_TARGET else pair.place] += 1
    return PlanningReport(None, tried, dict(stopped), detail)


def plan_pair(
    ctx: SkillContext, pair: Pair, candidate: GraspCandidate, obstacles: MapObstacles, *, rear_m: float
) -> PlannedPlacing | tuple[MotionStage, str]:
    """Plan all motions of a pair, or say which stage is not possible and why.

    Args:
        ctx: Arm, planner, perceived scene.
        pair: What goes where.
        candidate: The grasp.
        obstacles: What stands where.
        rear_m: How deep in the shelf the target's rear will be [m].
    """
    search = _Search(ctx, pair, candidate, obstacles, rear_m)
    approaches, why = search.approaches()
    if not approaches:
        return "approach", why
    entries: list[_Entry] = []
    stage: MotionStage = "insert"
    for q in pair.place_rad:
        entry = search.entry(q)
        if isinstance(entry, _Entry):
            entries.append(entry)
        else:
            stage, why = entry
    if not entries:
        return stage, why
    lifted = []
    for q, approach in approaches:
        lift = search.lift(q)
        if isinstance(lift, str):
            why = lift
        else:
            lifted.append((lift, approach))
    if not lifted:
        return "lift", why
    found = _carried_upright(search, entries, lifted) or _carried_freely(search, entries, lifted)
    if found is None:
        return "carry", "no path from the table to the shelf was found"
    carry, entry, approach = found
    search.toward_target()
    reach = ctx.planner.plan(ctx.arm.state().target_rad, approach[:1], max_iterations=ITERATIONS)
    if not reach.ok:
        return "reach", reach.detail
    return PlannedPlacing(
        pair, candidate, reach.path_rad, approach, carry, entry.insert_rad, entry.leave_m, entry.opened_m
    )


@dataclass(frozen=True, eq=False)
class _Entry:
    """A way into the compartment and out again: from before the shelf to above the place, then the hand's way back."""

    insert_rad: Array
    leave_m: tuple[Array, ...]
    opened_m: float


_Carry = tuple[Array, _Entry, Array]
"""A path to before the shelf, the entry that it leads to, and the approach to the grasp that it begins with."""


class _Search:
    """Straight motions of one pair in the planner, with the right world, opening and load for each."""

    def __init__(
        self, ctx: SkillContext, pair: Pair, candidate: GraspCandidate, obstacles: MapObstacles, rear_m: float
    ) -> None:
        self.ctx = ctx
        self._pair = pair
        self._candidate = candidate
        self._obstacles = obstacles
        self._rear_m = rear_m
        self._out = -obstacles.pose_base_shelf.rotation[:, 0]
        self._widest = ctx.gripper.opening_m[1]
        placed = Obstacle(TARGET, pair.pose_base_placed, ctx.scene.model(TARGET).root.hulls)
        self.over_m = pair.over_m
        self._left_standing = WorldSpec((*obstacles.without_target().obstacles, placed), frozenset({TARGET}))

    def toward_target(self) -> None:
        """The hand is empty and open, the target stands on the table."""
        self.ctx.planner.detach()
        self.ctx.planner.set_world(self._obstacles.with_target())
        self.ctx.planner.set_opening(known_opening(self._candidate.opening_m, self._widest))

    def loaded(self) -> None:
        """The hand carries the target."""
        self.ctx.planner.set_world(self._obstacles.without_target())
        self.ctx.planner.set_opening(known_opening(self._candidate.width_m, self._widest))
        attach(self.ctx, TARGET, self._pair.pose_target_tool.inverse())

    def let_go(self, place_rad: Array) -> float:
        """The hand is empty, the target stands at its place; return by how much the hand is opened [m]."""
        self.ctx.planner.detach()
        self.ctx.planner.set_world(self._left_standing)
        for extra_m in RELEASES_M:
            opening = min(self._candidate.width_m + extra_m, self._widest)
            self.ctx.planner.set_opening(known_opening(opening, self._widest))
            if self.ctx.planner.check(place_rad[None], without_targets=True)[0]:
                break
        return extra_m

    def approaches(self) -> tuple[list[tuple[Array, Array]], str]:
        """Return (configuration at the target, straight way to it) for each branch, and why others are none."""
        self.toward_target()
        found, why = [], ""
        for q in self._pair.grasp_rad:
            tool = self.ctx.planner.fk(q[None])[0]
            line = self.line(q, -PREGRASP_M * tool[:3, 2])
            if line.ok and bool(self.ctx.planner.check(line.path_rad[-1:])[0]):
                found.append((q, line.path_rad[::-1]))
            why = why or line.detail
        return found, why

    def entry(self, place_rad: Array) -> _Entry | tuple[MotionStage, str]:
        """Return the way in to a configuration at the place and the way out again, thought from the place."""
        self.loaded()
        up_m = np.array([0.0, 0.0, self._pair.over_m])
        up = self.line(place_rad, up_m, check=False)
        if not up.ok:
            return "insert", up.detail
        line = self.line(up.path_rad[-1], (self._rear_m + OUT_M) * self._out)
        if not line.ok and self._gone(line.path_rad) < self._rear_m + LEAST_OUT_M:
            return "insert", f"{line.detail} {' with '.join(line.colliding or ())}"
        insert = line.path_rad[::-1]
        opened_m = self.let_go(place_rad)
        why = ""
        closing = self.ctx.planner.fk(place_rad[None])[0, :3, 1]
        # Fingers slide off along the sides that they held, before the hand goes straight out.
        along = self._out - (self._out @ closing) * closing
        off_m = OFF_M * along / np.linalg.norm(along)
        for steps in ((off_m,), (up_m, off_m)):
            here = place_rad
            for step in steps:
                moved = self.line(here, step)
                why = f"{moved.detail} {' with '.join(moved.colliding or ())}"
                here = moved.path_rad[-1] if moved.ok else np.zeros(0)
                if not len(here):
                    break
            if not len(here):
                continue
            line = self.line(here, (self._rear_m + HAND_M - OFF_M) * self._out)
            gone = self._gone(line.path_rad)
            if line.ok or gone > self._rear_m + OUT_M - OFF_M:
                return _Entry(insert, (*steps, gone * self._out), opened_m)
            why = line.detail
        return "leave", why

    def lift(self, grasp_rad: Array) -> Array | str:
        """Return the configuration above the table that a grasp is lifted to, or why not."""
        self.loaded()
        line = self.line(grasp_rad, np.array([0.0, 0.0, LIFT_M]), check=False)
        if line.ok and bool(self.ctx.planner.check(line.path_rad[1:]).all()):
            return np.asarray(line.path_rad[-1])
        return line.detail or "the way up from the table is not free"

    def line(self, q_rad: Array, offset_base_m: Array, *, check: bool = True) -> PathReport:
        """Move the tool by an offset in the base frame."""
        pose = Pose.from_matrix(self.ctx.planner.fk(q_rad[None])[0])
        goal = Pose(pose.position_m + offset_base_m, pose.quat_wxyz)
        return self.ctx.planner.linear(q_rad, goal.matrix(), check=check)

    def _gone(self, path_rad: Array) -> float:
        """Return how far out of the shelf a path brings the tool [m]."""
        if len(path_rad) < 2:
            return 0.0
        ends = self.ctx.planner.fk(path_rad[[0, -1]])[:, :3, 3]
        return float((ends[1] - ends[0]) @ self._out)


def _carried_upright(
    search: _Search, entries: Sequence[_Entry], lifted: Sequence[tuple[Array, Array]]
) -> _Carry | None:
    """Return a carry on which the target only turns about the vertical: it swings least in the hand so."""
    planner = search.ctx.planner
    for q, approach in lifted:
        for entry in entries:
            goal = Pose.from_matrix(planner.fk(entry.insert_rad[:1])[0])
            search.loaded()
            start = Pose.from_matrix(planner.fk(q[None])[0])
            for via in _vias(start, goal):
                path = _through(search, q, (*via, goal))
                if path is None:
                    continue
                if np.abs(path[-1] - entry.insert_rad[0]).max() < SAME_BRANCH_RAD:
                    return np.concatenate([path[:-1], entry.insert_rad[:1]]), entry, approach
                other = _entered(search, path[-1], entry)
                if other is not None:
                    return path, other, approach
    return None


def _entered(search: _Search, before_rad: Array, like: _Entry) -> _Entry | None:
    """Return the entry that begins at another configuration before the shelf, if there is one."""
    search.loaded()
    planner = search.ctx.planner
    above = planner.fk(like.insert_rad[-1:])[0]
    line = planner.linear(before_rad, above)
    if not line.ok:
        return None
    down = search.line(line.path_rad[-1], np.array([0.0, 0.0, -search.over_m]), check=False)
    if not down.ok:
        return None
    found = search.entry(down.path_rad[-1])
    if not isinstance(found, _Entry):
        return None
    return _Entry(np.asarray(line.path_rad), found.leave_m, found.opened_m)


def _vias(start: Pose, goal: Pose) -> list[tuple[Pose, ...]]:
    """Return lists of poses to carry through: straight, or round the base at some radii and heights."""
    found: list[tuple[Pose, ...]] = [()]
    a, b = (float(np.arctan2(p.position_m[1], p.position_m[0])) for p in (start, goal))
    turn = (b - a + np.pi) % (2 * np.pi) - np.pi
    for radius, rise in ((0.45, 0.0), (0.45, 0.15), (0.55, 0.1), (0.38, 0.25)):
        height = max(start.position_m[2], goal.position_m[2]) + rise
        arc = []
        for share in (0.15, 0.5, 0.85):
            at = np.array([radius * np.cos(a + share * turn), radius * np.sin(a + share * turn), height])
            arc.append(Pose(at, _between(start.quat_wxyz, goal.quat_wxyz, share)))
        found.append(tuple(arc))
    return found


def _between(a_wxyz: Array, b_wxyz: Array, share: float) -> Array:
    """Return the orientation at a share of the shortest turn from one to another."""
    b = b_wxyz if float(a_wxyz @ b_wxyz) >= 0 else -b_wxyz
    angle = float(np.arccos(np.clip(a_wxyz @ b, -1.0, 1.0)))
    if angle < 1e-6:
        return b
    return np.asarray((np.sin((1 - share) * angle) * a_wxyz + np.sin(share * angle) * b) / np.sin(angle))


def _through(search: _Search, q_rad: Array, poses: Sequence[Pose]) -> Array | None:
    """Return a path (w, n) straight from pose to pose, or None where the arm cannot follow or touches something."""
    path = q_rad[None]
    for pose in poses:
        line = search.ctx.planner.linear(path[-1], pose.matrix(), step_m=CARRY_STEP_M)
        if not line.ok:
            return None
        path = np.concatenate([path, line.path_rad[1:]])
    return path


def _carried_freely(search: _Search, entries: Sequence[_Entry], lifted: Sequence[tuple[Array, Array]]) -> _Carry | None:
    """Return any path that is free, the shortest way first."""
    search.loaded()
    ends = np.array([entry.insert_rad[0] for entry in entries])
    for q, approach in sorted(lifted, key=lambda row: float(np.abs(ends - row[0]).max(1).min())):
        plan = search.ctx.planner.plan(q, ends, max_iterations=ITERATIONS)
        if plan.ok:
            return plan.path_rad, entries[plan.goal], approach
    return None
