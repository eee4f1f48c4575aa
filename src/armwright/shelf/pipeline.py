"""The parts of a shelf run: look, map, reason, decide, place; each takes data and returns a report (OMAR §IV)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array, Pose
from armwright.core.seeds import rng_for
from armwright.perception.describers import Describer
from armwright.perception.segmenters import Segmenter
from armwright.perception.space import occupied_boxes, space_of
from armwright.planning.types import Obstacle
from armwright.planning.verify import Verifiers
from armwright.shelf.candidates import Candidates, sample_candidates
from armwright.shelf.capture import Capture
from armwright.shelf.execute import PlacingReport, execute
from armwright.shelf.fit import candidate_fits, order_candidates, semantic_fit, semantic_scores
from armwright.shelf.grading import SETTLE_S, Truth, grade, truth_of
from armwright.shelf.graph import SceneGraph, build_graph
from armwright.shelf.grasps import TargetGrasps, sample_grasps
from armwright.shelf.mapping import ShelfMap, map_shelf
from armwright.shelf.metrics import PlacementScore
from armwright.shelf.obstacles import TARGET, MapObstacles, map_leftovers
from armwright.shelf.perceived import PerceivedScene, skill_context
from armwright.shelf.placing import Decision, decide
from armwright.shelf.reasoner import Reasoner, Reasoning
from armwright.shelf.records import Box
from armwright.shelf.target import for_hand
from armwright.shelf.target_view import SeenTarget, see_target
from armwright.shelf.worlds import ShelfWorld, corners_of, panels_of
from armwright.skills.context import SkillContext

SEEN_TWICE = 2.0
"""Leftovers of the coarse map count as obstacles where two views saw them: single readings fly off edges."""
SMALLEST_LEFTOVER_M = 0.025
_GROWN_M = 0.02


@dataclass(frozen=True, eq=False)
class Perceived:
    """What the robot knows after it has looked.

    Attributes:
        seen: The target.
        mapped: The shelf.
        seconds: Wall time by part [s].
    """

    seen: SeenTarget
    mapped: ShelfMap
    seconds: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Choice:
    """Where the target is to go, and how.

    Attributes:
        graph: The scene graph.
        reasoning: What the reasoner said.
        candidates: All free places.
        p_sem: P_sem of each.
        grasps: Of the target.
        decision: What was chosen and planned.
        context: In which it was planned; `execute` goes on with it.
        seconds: Wall time by part [s].
    """

    graph: SceneGraph
    reasoning: Reasoning
    candidates: Candidates
    p_sem: Array
    grasps: TargetGrasps
    decision: Decision
    context: SkillContext
    seconds: Mapping[str, float]


@dataclass(frozen=True, eq=False)
class Placed:
    """How the placing went, by the robot and by the judge.

    Attributes:
        report: The robot's own.
        score: The judge's.
        before, after: The truth, for judges.
    """

    report: PlacingReport
    score: PlacementScore
    before: Truth
    after: Truth


def perceive(
    world: ShelfWorld,
    capture: Capture,
    *,
    segmenter: Segmenter,
    describer: Describer,
    seen: SeenTarget | None = None,
) -> Perceived:
    """Make out the target, unless it has been, and map the shelf from what was captured.

    Raises:
        UsageError: Nothing was found where the target should be, or no view of it was taken.
    """
    start = time.perf_counter()
    if seen is None:
        seen = perceive_target(world, capture, segmenter=segmenter, describer=describer)
    middle = time.perf_counter()
    mapped = map_shelf(
        capture.of("shelf"),
        segmenter=segmenter,
        describer=describer,
        shelf=world.shelf,
        pose_world_shelf=world.pose_world_shelf,
    )
    return Perceived(seen, mapped, {"target": middle - start, "map": time.perf_counter() - middle})


def perceive_target(world: ShelfWorld, capture: Capture, *, segmenter: Segmenter, describer: Describer) -> SeenTarget:
    """Make out the target, turned aside where the hand can only close across its narrow side (`target.for_hand`).

    Raises:
        UsageError: Nothing was found where the target should be, or no view of it was taken.
    """
    seen = see_target(capture.of("target"), segmenter=segmenter, describer=describer, region=world.table)
    turned = for_hand(seen.fit, world.robot.spec.gripper.opening_m[1])
    if turned is seen.fit:
        return seen
    return replace(seen, fit=turned, target=turned.record(seen.target.nature), front_known=False)


def choose(world: ShelfWorld, known: Perceived, reasoner: Reasoner, *, seed: int = 0) -> Choice:
    """Reason over the map, sample grasps and places, and plan the best pair that can be done.

    Args:
        world: Arm, planner and fixtures; nothing else of it is used.
        known: What was seen.
        reasoner: Who ranks placements.
        seed: Of the grasps' perturbations.
    """
    seen, mapped = known.seen, known.mapped
    start = time.perf_counter()
    graph = build_graph(mapped.shelf, mapped.objects)
    reasoning = reasoner.reason(graph, seen.target)
    candidates = sample_candidates(mapped.shelf, [o.box for o in mapped.objects], seen.target)
    p_sem, away_m = semantic_scores(reasoning.proposals, mapped.shelf, graph.objects, candidates)
    fits = semantic_fit(candidate_fits(graph, seen.target, candidates), reasoning.attribute_weights)
    order = order_candidates(p_sem, fits, away_m)
    return plan_choice(
        world, known, graph, reasoning, candidates, p_sem, order, fits, seed=seed, took_s=time.perf_counter() - start
    )


def plan_choice(
    world: ShelfWorld,
    known: Perceived,
    graph: SceneGraph,
    reasoning: Reasoning,
    candidates: Candidates,
    p_sem: Array,
    order: NDArray[np.intp],
    fits: Array,
    *,
    seed: int = 0,
    took_s: float = 0.0,
) -> Choice:
    """Plan the best pair of a grasp and a ranked place (see `choose`)."""
    seen = known.seen
    start = time.perf_counter()
    gripper = world.robot.spec.gripper
    grasps = sample_grasps(seen.fit.solid, gripper, rng=rng_for(seed, "shelf", "grasps"))
    obstacles = obstacles_of(world, known)
    base = world.arm.pose_world_base
    scene = PerceivedScene(seen.fit, obstacles, base, packaging=seen.target.nature.packaging)
    context = skill_context(
        scene,
        arm=world.arm,
        clock=world.clock,
        gripper=gripper,
        planner=world.planner,
        verifier=Verifiers(world.robot.xml_path, world.robot.spec),
        rng=rng_for(seed, "shelf", "motion"),
    )
    decision = decide(
        context,
        seen.fit,
        grasps,
        candidates,
        p_sem,
        order,
        obstacles,
        fits=fits,
        as_found=seen.target.nature.orientation or "upright",
        front_known=seen.front_known,
    )
    seconds = {"reason": took_s, "decide": time.perf_counter() - start}
    return Choice(graph, reasoning, candidates, p_sem, grasps, decision, context, seconds)


def place(world: ShelfWorld, known: Perceived, choice: Choice) -> Placed:
    """Execute what was decided, then let a judge look.

    Args:
        world: Its truth is used for grading, before and after.
        known: What was seen.
        choice: Must hold a plan.
    """
    assert choice.decision.motion is not None and choice.decision.motion.planned is not None
    before = truth_of(world)
    report = execute(
        choice.context, choice.decision.motion.planned, home_rad=np.asarray(world.robot.spec.home_rad, float)
    )
    world.clock.sleep(SETTLE_S)
    after = truth_of(world)
    pair = choice.decision.motion.planned.pair
    score = grade(
        before,
        after,
        choice.candidates.box(pair.place),
        executed=report.ok,
        as_found=known.seen.target.nature.orientation or "upright",
        wanted=choice.candidates.orientation[pair.place],
    )
    return Placed(report, score, before, after)


def obstacles_of(world: ShelfWorld, known: Perceived) -> MapObstacles:
    """Return what the planner must avoid: fixtures, mapped objects, what else the coarse map holds, the target."""
    mapped, seen = known.mapped, known.seen
    pose_base_world = world.arm.pose_world_base.inverse()
    pose_base_shelf = pose_base_world @ world.pose_world_shelf
    boxes = [o.box for o in mapped.objects]
    carve = [
        _world_box(world.pose_world_shelf, b, _GROWN_M) for b in (*boxes, *(p.box for p in panels_of(mapped.shelf)))
    ]
    left = occupied_boxes(space_of(mapped.coarse, min_weight=SEEN_TWICE), carve_m=carve)
    left = left[(left[:, 1] - left[:, 0]).max(1) >= SMALLEST_LEFTOVER_M] if len(left) else left
    return MapObstacles(
        world.planner_world(),
        pose_base_shelf,
        mapped.objects,
        coarse_m=map_leftovers(left, pose_base_world, boxes, pose_base_shelf),
        target=Obstacle(TARGET, pose_base_world @ seen.fit.pose_world_target, seen.fit.solid.hulls),
    )


def _world_box(pose_world_shelf: Pose, box: Box, grown_m: float) -> Array:
    corners = pose_world_shelf.transform(corners_of(box))
    return np.stack([corners.min(0) - grown_m, corners.max(0) + grown_m])
