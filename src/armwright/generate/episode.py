"""One episode: solve the scene, let it settle, do the primitives one after the other, grade from the states."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace

import numpy as np

from armwright.affordance.registry import affordance_model
from armwright.assets.placement import TableBounds
from armwright.assets.scene import ParsedTask, PoseSpec, SceneSpec
from armwright.control.protocols import StageReport
from armwright.core.errors import SceneError
from armwright.core.seeds import int_seed, rng_for
from armwright.generate.session import Session
from armwright.generate.solve import Solved, Workspace, solve_scene
from armwright.grasping.sources import grasp_source
from armwright.sim.oracle import OracleSource
from armwright.sim.physics import DivergedError
from armwright.sim.world import World
from armwright.skills.context import GraspTrace, SkillContext, SkillOptions
from armwright.skills.dispatch import perform
from armwright.tasks.evidence import observe
from armwright.tasks.judge import EpisodeJudge, Graded
from armwright.tasks.predicates import UPRIGHT_RAD

# A scene whose objects move by more than this while settling was not at rest; it is drawn again.
SETTLE_S = 0.4
SETTLE_MOVED_M = 0.015
SETTLE_TRIES = 6
# Success is judged after release and this much settling.
JUDGE_AFTER_S = 1.0


@dataclass(frozen=True, eq=False)
class EpisodeRequest:
    """What to do in one episode."""

    parsed: ParsedTask
    seed: int
    grasps: str = "affordance"
    affordance: str = "oracle"
    skills: SkillOptions = field(default_factory=SkillOptions)
    workspace: Workspace | None = None


@dataclass(frozen=True, eq=False)
class Episode:
    """What came of it.

    Attributes:
        scene: The solved scene, settled.
        stages: What the skills report, one per primitive (fewer if one failed).
        graded: What the judge says.
        times_s: (start, end) in world time, per stage.
        traces: Masks, grasps and their scores, per pick.
        world: The world as the episode left it; its stream holds the whole episode.
        draws, rejected: From solving the scene.
        timing: Where the computing time went [s].
        wall_s, sim_s: Duration.
    """

    request: EpisodeRequest
    robot: str
    scene: SceneSpec
    stages: tuple[StageReport, ...]
    graded: Graded
    times_s: tuple[tuple[float, float], ...]
    traces: tuple[GraspTrace, ...]
    world: World
    draws: int
    rejected: dict[str, int]
    timing: dict[str, float]
    wall_s: float
    sim_s: float

    @property
    def success(self) -> bool:
        """The judged success."""
        return self.graded.success

    @property
    def ok(self) -> bool:
        """Success and, where a region is implied, compliance: the headline of every table."""
        return self.graded.success and self.graded.compliance is not False

    @property
    def failed_stage(self) -> str | None:
        """The stage that failed first and how, or None."""
        for stage in self.stages:
            if not stage.ok:
                return f"{stage.name.split()[0]}: {stage.status}"
        if not self.graded.success:
            failed = next((s for s in self.graded.stages if not s.verdict.ok), None)
            return f"judge: {failed.verdict.predicate.split('(')[0]}" if failed else "judge"
        return None if self.ok else "compliance"


def run_episode(session: Session, request: EpisodeRequest) -> Episode:
    """Run one episode.

    Raises:
        SceneError: No scene could be solved for the sentence and this seed.
    """
    started = time.perf_counter()
    session.begin_episode()
    timing: dict[str, float] = {}
    space = request.workspace or Workspace.of(session.robot.spec)
    session.planner.seed = int_seed(request.seed, "planner")
    session.planner.detach()
    solved, world, draws, rejected = _settled_world(session, request, space, timing)
    ctx = SkillContext(
        arm=world.arm,
        clock=world.clock,
        gripper=session.robot.spec.gripper,
        planner=session.planner,
        scene=OracleSource(world),
        affordance=affordance_model(request.affordance),
        grasp_source=grasp_source(request.grasps),
        rng=rng_for(request.seed, "skills"),
        bounds=TableBounds(space.x_m, space.y_m),
        verifier=session.verifier,
        options=request.skills,
        timing=timing,
    )
    began = world.clock.now_s
    stages: tuple[StageReport, ...] = ()
    times: list[tuple[float, float]] = []
    diverged = ""
    try:
        stages, times = _do_primitives(ctx, request.parsed, world)
        world.clock.sleep(JUDGE_AFTER_S)
    except DivergedError as error:
        diverged = str(error)
        stages = (*stages, StageReport("simulation", False, "diverged", diverged))
        times.append((began, world.clock.now_s))
    judged = time.perf_counter()
    graded = grade_world(world, request.parsed, solved, since_s=began)
    if diverged:
        graded = replace(graded, success=False, detail=diverged)
    timing["judge"] = time.perf_counter() - judged
    if not all(s.ok for s in stages) and graded.success:
        stages = (*stages, StageReport("judge", True, "done", "the task succeeded although a stage gave up"))
    return Episode(
        request=request,
        robot=session.robot.spec.name,
        scene=solved.scene,
        stages=tuple(stages),
        graded=graded,
        times_s=tuple(times),
        traces=tuple(ctx.traces),
        world=world,
        draws=draws,
        rejected=rejected,
        timing=timing,
        wall_s=time.perf_counter() - started,
        sim_s=world.clock.now_s - began,
    )


def grade_world(world: World, parsed: ParsedTask, solved: Solved, *, since_s: float) -> Graded:
    """Grade an episode from the sampled states since ``since_s``, the last of which is its end."""
    judge = EpisodeJudge(parsed.primitives, parsed.queries, solved.objects, world.arm.pose_world_base)
    now = world.snapshot()
    for sample in world.stream(since_s - 1e-9):
        world.set_state(time_s=sample.stamp_s, qpos=sample.qpos, qvel=sample.qvel, ctrl=sample.ctrl)
        judge.observe(world.truth)
    graded = judge.finish(world.truth)
    world.restore(now)
    return graded


def _settled_world(
    session: Session, request: EpisodeRequest, space: Workspace, timing: dict[str, float]
) -> tuple[Solved, World, int, dict[str, int]]:
    """Solve, build, let it settle; draw again where something fell over or slid."""
    draws = 0
    rejected: dict[str, int] = {}
    for attempt in range(SETTLE_TRIES):
        started = time.perf_counter()
        seed = int_seed(request.seed, "scene", attempt)
        solved = solve_scene(request.parsed, session.library, seed=seed, reach=session.reach, workspace=space)
        timing["solve scene"] = timing.get("solve scene", 0.0) + time.perf_counter() - started
        draws += solved.draws
        for reason, count in solved.rejected.items():
            rejected[reason] = rejected.get(reason, 0) + count
        started = time.perf_counter()
        world = session.world(solved)
        timing["build world"] = timing.get("build world", 0.0) + time.perf_counter() - started
        started = time.perf_counter()
        world.clock.sleep(SETTLE_S)
        problem = _unsettled(world, solved)
        timing["settle"] = timing.get("settle", 0.0) + time.perf_counter() - started
        if not problem:
            nodes = tuple(
                n.model_copy(update={"pose": PoseSpec.from_pose(world.truth.pose(n.id))}) for n in solved.scene.objects
            )
            scene = solved.scene.model_copy(update={"objects": nodes})
            return Solved(scene, solved.objects, solved.draws, solved.rejected), world, draws, rejected
        rejected[problem] = rejected.get(problem, 0) + 1
    worst = max(rejected, key=lambda key: rejected[key])
    raise SceneError(f"the scene did not come to rest in {SETTLE_TRIES} tries: {worst}.", hint="Try another seed.")


def _unsettled(world: World, solved: Solved) -> str:
    evidence = observe(world.truth, solved.objects, world.arm.pose_world_base)
    for node in solved.scene.objects:
        assert node.pose is not None
        before, seen = node.pose.to_pose(), evidence.objects[node.id]
        tilt = np.arccos(np.clip((before.rotation[:, 2] @ seen.pose_world.rotation[:, 2]), -1, 1))
        if before.distance_to(seen.pose_world) > SETTLE_MOVED_M or tilt > UPRIGHT_RAD:
            return f"{node.id}: moved while settling"
    for relation in solved.scene.relations:
        if relation.relation in ("on", "in") and relation.object not in evidence.carriers(relation.subject):
            return f"{relation.subject}: not {relation.relation} {relation.object} after settling"
    return ""


def _do_primitives(
    ctx: SkillContext, parsed: ParsedTask, world: World
) -> tuple[tuple[StageReport, ...], list[tuple[float, float]]]:
    stages: list[StageReport] = []
    times: list[tuple[float, float]] = []
    for index, primitive in enumerate(parsed.primitives):
        began = world.clock.now_s
        report = perform(ctx, primitive, parsed.primitives[index + 1 :], parsed.queries)
        stages.append(report)
        times.append((began, world.clock.now_s))
        if not report.ok:
            break
    return tuple(stages), times
