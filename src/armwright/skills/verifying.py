"""Ask the independent verifier about a joint path before it is executed, with the held object in the hand."""

from __future__ import annotations

import time
from collections.abc import Iterable

import numpy as np

from armwright.core.pose import Array, Pose
from armwright.planning.types import Obstacle, WorldSpec
from armwright.planning.verify import VerifyReport
from armwright.skills.context import PathVerifier, SkillContext

# Step of the fastest joint between configurations that the verifier looks at.
VERIFY_STEP_RAD = 0.01
# Straight motions are short, slow and sampled every centimetre by the planner: this step is below 2 cm at full reach.
STRAIGHT_STEP_RAD = 0.02
# What comes this near to an object where it stands carries it, or is leant on.
NEAR_M = 0.004

_FINE = VerifyReport(True, "ok")


def verify(
    ctx: SkillContext,
    path_rad: Array,
    *,
    world: WorldSpec | None = None,
    touchable: Iterable[str] = (),
    resting: Iterable[str] = (),
    opening_m: float | None = None,
    empty_hand: bool = False,
    step_rad: float = VERIFY_STEP_RAD,
) -> VerifyReport:
    """Check a joint path (w, n) in the world as it is, the held object in the hand.

    Args:
        ctx: Arm and scene.
        path_rad: Way points.
        world: What to check against; None takes the planner's, or that before the pick while something is held.
        touchable: Obstacles, or whole objects by id, that anything may touch.
        resting: Obstacles, or whole objects by id, that the held object may touch: what it is to stand on.
        opening_m: Gap between the pads; None takes the planner's.
        empty_hand: Leave the held object out: it has been let go.
        step_rad: Largest step of any joint between two configurations that are checked.

    Returns:
        What the verifier says; all is well where there is none.
    """
    if ctx.verifier is None or len(path_rad) == 0:
        return _FINE
    started = time.perf_counter()
    held = ctx.held
    if held is not None:
        world = held.world or ctx.scene.world_spec()
    elif world is None:
        world = ctx.planner.world
    gap = ctx.planner.opening_m if opening_m is None else opening_m
    own: tuple[str, ...] = ()
    if held is not None:
        # The world as it was before the pick, for as long as the object is carried: the verifier keeps its model of it.
        held.world, own = world, (held.object_id,)
    verifier = _verifier(ctx, world, gap)
    attached = held is not None and not empty_hand
    report = verifier.check_path(
        path_rad,
        ignore=names_of(world, (*touchable, *own)),
        held_ignore=names_of(world, resting),
        attached=ctx.scene.model(held.object_id).root.hulls if held is not None and attached else None,
        pose_tool_attached=held.pose_tool_object if held is not None and attached else None,
        step_rad=step_rad,
    )
    ctx.add_time("verify", time.perf_counter() - started)
    return report


def verify_lift(
    ctx: SkillContext, path_rad: Array, *, object_id: str, pose_tool_object: Pose, opening_m: float
) -> VerifyReport:
    """Check a path (w, n) on which an object that stands in the world is taken along from its first way point.

    It may touch what it touches where it stands. Nothing is held yet.
    """
    if ctx.verifier is None or len(path_rad) == 0:
        return _FINE
    started = time.perf_counter()
    world = ctx.planner.world
    own = names_of(world, (object_id,))
    report = _verifier(ctx, world, opening_m).check_path(
        path_rad,
        ignore=own,
        held_ignore=touching(world, own),
        attached=ctx.scene.model(object_id).root.hulls,
        pose_tool_attached=pose_tool_object,
        step_rad=STRAIGHT_STEP_RAD,
    )
    ctx.add_time("verify", time.perf_counter() - started)
    return report


def names_of(world: WorldSpec, wanted: Iterable[str]) -> frozenset[str]:
    """Return the names of a world's obstacles that are, or belong to, the wanted ones."""
    ids = frozenset(wanted)
    return frozenset(o.name for o in world.obstacles if o.name in ids or o.name.partition("/")[0] in ids)


def touching(world: WorldSpec, names: frozenset[str]) -> frozenset[str]:
    """Return the obstacles with a hull whose bounding box meets one of the named obstacles' boxes."""
    own = [box for o in world.obstacles if o.name in names for box in _boxes(o)]
    found = set()
    for obstacle in world.obstacles:
        if obstacle.name in names:
            continue
        boxes = _boxes(obstacle)
        if any((low < b + NEAR_M).all() and (a < high + NEAR_M).all() for low, high in own for a, b in boxes):
            found.add(obstacle.name)
    return frozenset(found)


def _boxes(obstacle: Obstacle) -> list[tuple[Array, Array]]:
    corners = [obstacle.pose_base_obstacle.transform(hull) for hull in obstacle.hulls]
    return [(points.min(0), points.max(0)) for points in corners]


def _verifier(ctx: SkillContext, world: WorldSpec, opening_m: float) -> PathVerifier:
    assert ctx.verifier is not None
    held = ctx.held
    if held is None:
        return ctx.verifier(world, opening_m)
    if held.verifier is None:
        held.verifier = ctx.verifier(world, opening_m)
    held.verifier.set_opening(opening_m)
    return held.verifier


def clear_share(path_rad: Array, report: VerifyReport) -> float:
    """Return the share of an evenly spread path that comes before what a report objects to."""
    if report.ok:
        return 1.0
    return float(np.clip(report.index - 1, 0, None)) / max(len(path_rad) - 1, 1)
