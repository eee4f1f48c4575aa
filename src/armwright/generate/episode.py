"""One episode: solve the scene, let it settle, do the primitives one after the other, grade from the states."""

from __future__ import annotations

import time
from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np

from armwright.affordance.registry import affordance_model
from armwright.assets.placement import TableBounds
from armwright.assets.randomise import Looks
from armwright.assets.scene import ParsedTask, PoseSpec, SceneSpec
from armwright.control.protocols import StageReport
from armwright.core.errors import ArmwrightError, SceneError, UsageError
from armwright.core.seeds import int_seed, rng_for
from armwright.generate.limits import late, overruled
from armwright.generate.randomising import Randomising
from armwright.generate.session import Session
from armwright.generate.solve import Solved, Workspace, solve_scene
from armwright.grasping.sources import grasp_source
from armwright.sim.oracle import OracleSource
from armwright.sim.physics import DivergedError
from armwright.sim.shake import SHAKE_S, Shake
from armwright.sim.world import World
from armwright.skills.context import GraspTrace, SkillContext, SkillOptions
from armwright.skills.dispatch import perform
from armwright.tasks.evidence import observe
from armwright.tasks.hanging import hung_objects
from armwright.tasks.judge import EpisodeJudge, Graded
from armwright.tasks.predicates import UPRIGHT_RAD, relation_holds, still
from armwright.tasks.undone import stacks, undone

# A scene whose objects move by more than this while settling was not at rest; it is drawn again.
SETTLE_S = 0.4
SETTLE_MOVED_M = 0.015
SETTLE_TRIES = 6
# Longest wait for what is in a container to lie still.
SETTLE_IN_S = 2.0
# Success is judged after release and this much settling.
JUDGE_AFTER_S = 1.0
# The station's camera that grasp sources look through.
THIRD_PERSON = "front"
# Longest wait for what was shaken to swing out.
SWINGS_OUT_S = 12.0
# What is put on something loose must stand for this long.
STANDS_S = 3.0


@dataclass(frozen=True, eq=False)
class EpisodeRequest:
    """What to do in one episode."""

    parsed: ParsedTask
    seed: int
    grasps: str = "affordance"
    affordance: str = "oracle"
    skills: SkillOptions = field(default_factory=SkillOptions)
    workspace: Workspace | None = None
    randomise: Randomising | None = None


@dataclass(frozen=True, eq=False)
class Episode:
    """What came of it.

    Attributes:
        scene: The solved scene, settled.
        stages: What the skills report, one per primitive (fewer if one failed).
        graded: What the judge says.
        times_s: (start, end) in world time, per stage.
        traces: Masks, grasps and their scores, per pick.
        shakes: What was shaken after it was hung, and when.
        kept_world: The world that it ran in; ask `world` for it.
        resets: How often that world had been reset when the episode ran.
        draws, rejected: From solving the scene.
        timing: Where the computing time went [s].
        wall_s, sim_s: Duration.
        looks: How its pictures look; None is the plain look.
        took_s: World time from its beginning to the end of its last stage.
        diverged: How the simulation blew up; empty if it did not.
    """

    request: EpisodeRequest
    robot: str
    scene: SceneSpec
    stages: tuple[StageReport, ...]
    graded: Graded
    times_s: tuple[tuple[float, float], ...]
    traces: tuple[GraspTrace, ...]
    shakes: tuple[Shake, ...]
    kept_world: World
    resets: int
    draws: int
    rejected: dict[str, int]
    timing: dict[str, float]
    wall_s: float
    sim_s: float
    looks: Looks | None = None
    took_s: float = 0.0
    diverged: str = ""

    @property
    def world(self) -> World:
        """The world as the episode left it; its stream holds the whole episode.

        A session uses the worlds of the same instances again, so what is wanted of this one is read before the
        session's next episode.

        Raises:
            UsageError: Another episode has run in it since.
        """
        self.check_world()
        return self.kept_world

    def check_world(self) -> None:
        """Make sure that the world is still as the episode left it.

        Raises:
            UsageError: Another episode has run in it since.
        """
        if self.kept_world.resets != self.resets:
            raise UsageError(
                f"the world of the episode with seed {self.request.seed} has been reset for another episode since.",
                hint="Read its states and images before the session runs its next episode, or open a second session.",
            )

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
        SceneError: No scene could be solved for the sentence and this seed, or none came to rest.
    """
    started = time.perf_counter()
    if request.randomise is not None:
        request = replace(request, parsed=request.randomise.windowed(request.parsed))
    session.begin_episode()
    timing: dict[str, float] = {}
    space = request.workspace or Workspace.of(session.robot.spec)
    session.planner.seed = int_seed(request.seed, "planner")
    session.planner.detach()
    solved, world, draws, rejected = _settled_world(session, request, space, timing)
    looks = request.randomise.looks(solved.scene, request.seed) if request.randomise is not None else None
    world.dress(looks)
    source = grasp_source(request.grasps)
    ctx = SkillContext(
        arm=world.arm,
        clock=world.clock,
        gripper=session.robot.spec.gripper,
        planner=session.planner,
        scene=OracleSource(world),
        affordance=affordance_model(source.needs.affordance or request.affordance),
        grasp_source=source,
        rng=rng_for(request.seed, "skills"),
        bounds=TableBounds(space.x_m, space.y_m),
        verifier=session.verifier,
        camera=world.cameras[THIRD_PERSON].model if THIRD_PERSON in world.cameras else None,
        options=request.skills,
        timing=timing,
    )
    began = world.clock.now_s
    diverged = ""
    stages: list[StageReport] = []
    times: list[tuple[float, float]] = []
    shakes: list[Shake] = []
    try:
        _do_primitives(ctx, request.parsed, world, stages, times)
        world.clock.sleep(_settling_s(request.parsed, solved))
        shakes.extend(_shaken(world, request.parsed))
    except ArmwrightError as error:
        # Numbers that are not finite reach the skills before the next step tells of them.
        diverged = str(error) if isinstance(error, DivergedError) else _divergence(world)
        if not diverged:
            raise
        stages.append(StageReport("simulation", False, "diverged", diverged))
        times.append((times[-1][1] if times else began, world.clock.now_s))
    judged = time.perf_counter()
    graded = grade_world(world, request.parsed, solved, since_s=began)
    took_s = times[-1][1] - began if times else 0.0
    why = overruled(request.parsed, took_s=took_s, diverged=diverged)
    if why:
        graded = replace(graded, success=False, detail=why)
    too_late = late(request.parsed, took_s)
    if too_late and stages[-1].ok:
        stages[-1] = replace(stages[-1], ok=False, status="time_limit", detail=too_late)
    timing["judge"] = time.perf_counter() - judged
    if not all(s.ok for s in stages) and graded.success:
        stages.append(StageReport("judge", True, "done", "the task succeeded although a stage gave up"))
    return Episode(
        request=request,
        robot=session.robot.spec.name,
        scene=solved.scene,
        stages=tuple(stages),
        graded=graded,
        times_s=tuple(times),
        traces=tuple(ctx.traces),
        shakes=tuple(shakes),
        kept_world=world,
        resets=world.resets,
        draws=draws,
        rejected=rejected,
        timing=timing,
        wall_s=time.perf_counter() - started,
        sim_s=world.clock.now_s - began,
        looks=looks,
        took_s=took_s,
        diverged=diverged,
    )


def _shaken(world: World, parsed: ParsedTask) -> list[Shake]:
    """Shake what should hang now, and let it settle again: what only leans or clings falls."""
    shakes = [world.truth.shake(object_id) for object_id in hung_objects(parsed.primitives)]
    if not shakes:
        return shakes
    world.clock.sleep(SHAKE_S)
    for _ in range(round(SWINGS_OUT_S / JUDGE_AFTER_S)):
        world.clock.sleep(JUDGE_AFTER_S)
        evidence = observe(world.truth, world.objects, world.arm.pose_world_base)
        if all(still(evidence, shake.object_id).ok for shake in shakes):
            break
    return shakes


def _settling_s(parsed: ParsedTask, solved: Solved) -> float:
    """Return how long the end state must last before it is judged."""
    fixed = frozenset(object_id for object_id, model in solved.objects.items() if model.static)
    return STANDS_S if stacks(parsed.primitives, fixed) else JUDGE_AFTER_S


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
    rejected: Counter[str] = Counter()
    unsettled: Counter[str] = Counter()
    for attempt in range(SETTLE_TRIES):
        started = time.perf_counter()
        seed = int_seed(request.seed, "scene", attempt)
        solved = solve_scene(
            request.parsed, session.library, seed=seed, reach=session.reach, workspace=space, follow=session.follow
        )
        timing["solve scene"] = timing.get("solve scene", 0.0) + time.perf_counter() - started
        draws += solved.draws
        rejected.update(solved.rejected)
        started = time.perf_counter()
        world = session.world(solved)
        timing["build world"] = timing.get("build world", 0.0) + time.perf_counter() - started
        started = time.perf_counter()
        problem = _settle(world, solved)
        timing["settle"] = timing.get("settle", 0.0) + time.perf_counter() - started
        if not problem:
            nodes = tuple(
                n.model_copy(
                    update={
                        "pose": PoseSpec.from_pose(world.truth.pose(n.id)),
                        "parts": {link: PoseSpec.from_pose(world.truth.pose(n.id, link)) for link in n.parts},
                    }
                )
                for n in solved.scene.objects
            )
            scene = solved.scene.model_copy(update={"objects": nodes})
            return (
                Solved(scene, solved.objects, solved.draws, solved.rejected),
                world,
                draws,
                dict(rejected + unsettled),
            )
        unsettled[problem] += 1
    seen = ", ".join(f"{problem} ({count})" for problem, count in unsettled.most_common())
    raise SceneError(
        f"the scene did not come to rest in {SETTLE_TRIES} tries: {seen}.",
        hint="Try another seed, or say less about where things are.",
    )


def _settle(world: World, solved: Solved) -> str:
    """Let the scene come to rest; return what is wrong with it then, or nothing."""
    try:
        world.clock.sleep(SETTLE_S)
        if any(relation.relation == "in" for relation in solved.scene.relations):
            _calm(world, solved)
    except DivergedError:
        return "the simulation diverged while settling"
    return _unsettled(world, solved)


def _calm(world: World, solved: Solved) -> None:
    """Wait longer for what was let go over a container: it rolls to its bottom."""
    subjects = [relation.subject for relation in solved.scene.relations if relation.relation == "in"]
    waited = SETTLE_S
    while waited < SETTLE_IN_S:
        evidence = observe(world.truth, solved.objects, world.arm.pose_world_base)
        if all(still(evidence, subject).ok for subject in subjects):
            break
        world.clock.sleep(SETTLE_S)
        waited += SETTLE_S


def _unsettled(world: World, solved: Solved) -> str:
    evidence = observe(world.truth, solved.objects, world.arm.pose_world_base)
    # A thing in a container was let go over it and may lie there as it likes.
    loose = {relation.subject for relation in solved.scene.relations if relation.relation == "in"}
    for node in solved.scene.objects:
        assert node.pose is not None
        if node.id in loose:
            continue
        before, seen = node.pose.to_pose(), evidence.objects[node.id]
        tilt = np.arccos(np.clip((before.rotation[:, 2] @ seen.pose_world.rotation[:, 2]), -1, 1))
        if before.distance_to(seen.pose_world) > SETTLE_MOVED_M or tilt > UPRIGHT_RAD:
            return f"{node.id}: moved while settling"
        for link, spec in node.parts.items():
            laid, at = spec.to_pose(), seen.loose[link]
            if laid.distance_to(at) > SETTLE_MOVED_M or laid.angle_to(at) > UPRIGHT_RAD:
                return f"{node.id}: its {link} moved while settling"
    for relation in solved.scene.relations:
        if relation.relation == "in":
            verdict = relation_holds(evidence, relation.subject, "in", relation.object)
            verdict = verdict if not verdict.ok else still(evidence, relation.subject)
            if not verdict.ok:
                return f"{relation.subject}: not at rest in {relation.object} after settling, {verdict.detail}"
        elif relation.relation == "on" and relation.object not in evidence.carriers(relation.subject):
            return f"{relation.subject}: not on {relation.object} after settling"
    return ""


def _divergence(world: World) -> str:
    """Return how the simulation blew up, or nothing if it did not."""
    try:
        world.step(1)
    except DivergedError as error:
        return str(error)
    return ""


def _do_primitives(
    ctx: SkillContext,
    parsed: ParsedTask,
    world: World,
    stages: list[StageReport],
    times: list[tuple[float, float]],
) -> None:
    """Do one primitive after the other; what came of each is added to ``stages`` and ``times``.

    The first that fails, that undoes what another has placed, or that takes too long, ends the task.
    """
    start = world.clock.now_s
    for index, primitive in enumerate(parsed.primitives):
        began = world.clock.now_s
        report = perform(ctx, primitive, parsed.primitives[index + 1 :], parsed.queries)
        stages.append(report)
        times.append((began, world.clock.now_s))
        if not report.ok or (parsed.time_limit_s is not None and world.clock.now_s - start > parsed.time_limit_s):
            break
        if index + 1 < len(parsed.primitives):
            evidence = observe(world.truth, world.objects, world.arm.pose_world_base)
            broken = undone(evidence, parsed.primitives[: index + 1])
            if broken is not None:
                detail = f"{broken.predicate} does not hold: {broken.detail}"
                stages[-1] = replace(report, ok=False, status="undone", detail=detail)
                break
