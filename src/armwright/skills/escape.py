"""Get the hand out of where it touches something, so that a motion can be planned from there."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from armwright.control.protocols import Guard, StageReport
from armwright.core.pose import Array, Pose
from armwright.skills.context import SkillContext
from armwright.skills.let_go import straight, ways_back
from armwright.skills.rank import known_opening
from armwright.skills.verifying import STRAIGHT_STEP_RAD, verify

# Farther than this a hand is not drawn out in one line.
FAR_M = 0.20
# Beyond the first free configuration, so that the arm's own error does not bring it back.
BEYOND_M = 0.01
STEP_M = 0.01
# What touches the hand at the start may be touched on the way, by so many things at most.
TOUCHING = 3
FEEL_N = 12.0
# Ends of first lines from which a second one is tried.
CORNERS = 6
# Openings looked at between the present one and the widest.
OPENINGS = 4


@dataclass(frozen=True, eq=False)
class _Line:
    """A straight motion (3,) in the base frame, its last configuration (n,), and whether that is free."""

    offset_base_m: Array
    end_rad: Array
    free: bool


def escape(ctx: SkillContext, *, touchable: Iterable[str] = (), gaps_m: Iterable[float] = ()) -> StageReport:
    """Leave in one straight line, or two, what the hand or what it holds touches in the planner's padded sense.

    Nothing moves where the arm is free already. The planner's world and attached object are those of the motion to
    come. The way out touches nothing by the verifier's exact shapes, but what is touched at its start.

    Args:
        ctx: Arm, planner, scene.
        touchable: Objects that may be touched on the way out, where it cannot be done otherwise.
        gaps_m: Openings at which an empty hand must be free, besides the present one; some between it and the widest
            where none is given: it may open before it goes on.

    Returns:
        ``done``, or ``start_collision`` with the pair that still touches.
    """
    start = ctx.arm.state().target_rad
    gaps = _gaps(ctx, gaps_m)
    if _free(ctx, start[None], gaps)[0]:
        return StageReport("escape", True, "done")
    started = time.perf_counter()
    way: list[Array] = []
    allowed: tuple[str, ...] = ()
    for allowed in _tolerated(ctx, start, tuple(touchable)):
        way = _way_out(ctx, start, allowed, gaps)
        if way:
            break
    ctx.add_time("escape", time.perf_counter() - started)
    if not way:
        pair = _pair(ctx, start, gaps)
        what = f"{pair[0]} with {pair[1]}" if pair else "the arm touches something"
        return StageReport("escape", False, "start_collision", f"no straight way out is free: {what}")
    for offset in way:
        pose = ctx.arm.state().pose_base_tool
        goal = Pose(pose.position_m + offset, pose.quat_wxyz)
        if allowed:
            report = ctx.arm.move_linear(goal, Guard(contact_n=FEEL_N), speed_m_s=ctx.options.fine_speed_m_s)
        else:
            report = ctx.arm.move_linear(goal, speed_m_s=ctx.options.speed_m_s)
        if not report.ok and report.status != "not_reached":
            return StageReport("escape", False, report.status, report.detail)
    return StageReport("escape", True, "done")


def _gaps(ctx: SkillContext, wanted_m: Iterable[float]) -> tuple[float, ...]:
    """Return the openings at which the hand must be free, the present one last [m]."""
    if ctx.held is not None:
        return (ctx.planner.opening_m,)
    now, widest = ctx.arm.state().opening_m, ctx.gripper.opening_m[1]
    wanted = tuple(wanted_m) or tuple(np.linspace(widest, now, OPENINGS))
    present = known_opening(now, widest)
    others = dict.fromkeys(known_opening(float(gap), widest) for gap in wanted)
    return (*(gap for gap in others if gap != present), present)


def _free(ctx: SkillContext, path_rad: Array, gaps_m: Sequence[float]) -> NDArray[np.bool_]:
    """Return (w,) which configurations (w, n) touch nothing at any of the openings."""
    free = np.ones(len(path_rad), bool)
    for gap in gaps_m:
        ctx.planner.set_opening(gap)
        free &= ctx.planner.check(path_rad)
    return free


def _pair(ctx: SkillContext, q_rad: Array, gaps_m: Sequence[float]) -> tuple[str, str] | None:
    """Return what touches what at a configuration (n,), the present opening first."""
    for gap in reversed(gaps_m):
        ctx.planner.set_opening(gap)
        pair = ctx.planner.colliding_pair(q_rad)
        if pair:
            return pair
    return None


def _tolerated(ctx: SkillContext, start_rad: Array, touchable: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield what may be touched on the way: nothing, then the touchable, then all that is touched at the start."""
    yield ()
    if touchable:
        yield touchable
    names = touchable
    for _ in range(TOUCHING):
        seen = verify(ctx, start_rad[None], touchable=names)
        if seen.ok or seen.colliding is None:
            break
        names = (*names, seen.colliding[1])
    if names != touchable:
        yield names


def _way_out(ctx: SkillContext, start_rad: Array, touchable: tuple[str, ...], gaps_m: Sequence[float]) -> list[Array]:
    """Return the offsets (3,) of one line or two to a free configuration, the shortest found, or nothing."""
    first = list(_lines(ctx, start_rad, touchable, gaps_m))
    free = [line for line in first if line.free]
    if free:
        return [min(free, key=lambda line: float(np.linalg.norm(line.offset_base_m))).offset_base_m]
    first.sort(key=lambda line: -float(np.linalg.norm(line.offset_base_m)))
    for line in first[:CORNERS]:
        found = [second for second in _lines(ctx, line.end_rad, touchable, gaps_m) if second.free]
        if found:
            second = min(found, key=lambda one: float(np.linalg.norm(one.offset_base_m)))
            return [line.offset_base_m, second.offset_base_m]
    return []


def _lines(ctx: SkillContext, start_rad: Array, touchable: tuple[str, ...], gaps_m: Sequence[float]) -> Iterator[_Line]:
    """Yield what comes of each direction: a little beyond the first free configuration, or as far as it goes."""
    for direction in directions(ctx, start_rad):
        path = straight(ctx, start_rad, FAR_M * direction, step_m=STEP_M)
        if len(path) < 2:
            continue
        free = np.flatnonzero(_free(ctx, path, gaps_m))
        beyond = round(BEYOND_M / STEP_M)
        last = min(int(free[0]) + beyond, len(path) - 1) if len(free) else len(path) - 1
        seen = verify(ctx, path[: last + 1], touchable=touchable, step_rad=STRAIGHT_STEP_RAD)
        clear = last if seen.ok else seen.index - 1
        if clear < 1:
            continue
        ends = ctx.planner.fk(path[[0, clear]])[:, :3, 3]
        yield _Line(ends[1] - ends[0], path[clear], bool(_free(ctx, path[clear : clear + 1], gaps_m)[0]))


def directions(ctx: SkillContext, q_rad: Array) -> list[Array]:
    """Return unit vectors (3,) in the base frame: the usual ways back, level ones, then to all sides of the hand."""
    rotation = ctx.planner.fk(q_rad[None])[0, :3, :3]
    ways = list(ways_back(ctx, q_rad))
    back = -rotation[:, 2]
    ways.append(back * np.array([1.0, 1.0, 0.0]))
    ways += [rotation @ np.array(step, float) for step in product((-1, 0, 1), (-1, 0, 1), (-1, 0)) if any(step)]
    ways.append(np.array([0.0, 0.0, 1.0]))
    found: list[Array] = []
    for way in ways:
        size = float(np.linalg.norm(way))
        if size > 0.2 and not any(way @ known > 0.99 * size for known in found):
            found.append(way / size)
    return found
