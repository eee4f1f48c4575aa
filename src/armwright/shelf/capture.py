"""Drive the arm to viewpoints and take pictures there (OMAR §IV-A)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from armwright.control.protocols import StageReport
from armwright.core.camera import RgbdFrame
from armwright.core.pose import Array
from armwright.planning.timing import time_path
from armwright.planning.verify import Verifier
from armwright.shelf.views import Subject, View, cautious_world
from armwright.shelf.worlds import ShelfWorld

SPEED = 0.8
"""Share of the joints' speed limits, for transits near an unknown shelf."""
REST_S = 0.05
_ITERATIONS = 6_000


@dataclass(frozen=True, eq=False)
class Capture:
    """What was seen.

    Attributes:
        frames: One per viewpoint that was reached, in the order in which they were visited.
        subjects: What each frame is for.
        stages: How each motion ended.
        sim_s: World time that it took [s].
        wall_s: Computing time by what it went into [s].
    """

    frames: tuple[RgbdFrame, ...]
    subjects: tuple[Subject, ...]
    stages: tuple[StageReport, ...]
    sim_s: float
    wall_s: dict[str, float] = field(default_factory=dict)

    def of(self, subject: Subject) -> list[RgbdFrame]:
        """Return the frames of the target, or of the shelf."""
        return [frame for frame, of in zip(self.frames, self.subjects, strict=True) if of == subject]


def capture(world: ShelfWorld, views: Sequence[View]) -> list[RgbdFrame]:
    """Return a frame from each viewpoint that the arm gets to."""
    return list(look_around(world, views).frames)


def look_around(world: ShelfWorld, views: Sequence[View]) -> Capture:
    """Visit viewpoints along planned, verified motions, the nearest of the target's first, then those of the shelf.

    A viewpoint to which no motion is found, or whose motion the verifier refuses, is left out and reported.
    """
    known = cautious_world(world)
    world.planner.set_world(known)
    verifier = Verifier(world.robot.xml_path, world.robot.spec, known, opening_m=world.planner.opening_m)
    frames: list[RgbdFrame] = []
    subjects: list[Subject] = []
    stages: list[StageReport] = []
    wall = {"plan": 0.0, "move": 0.0, "draw": 0.0}
    began_s = world.clock.now_s
    left = list(views)
    while left:
        here = world.arm.state().target_rad
        left.sort(key=lambda view: (view.of != "target", _nearest(view, here)))
        view = left.pop(0)
        stage = _go(world, view, verifier, wall)
        stages.append(stage)
        if not stage.ok:
            continue
        started = time.perf_counter()
        world.clock.sleep(REST_S)
        wall["move"] += time.perf_counter() - started
        started = time.perf_counter()
        frames.append(world.camera.capture())
        subjects.append(view.of)
        wall["draw"] += time.perf_counter() - started
    return Capture(tuple(frames), tuple(subjects), tuple(stages), world.clock.now_s - began_s, wall)


def _nearest(view: View, here_rad: Array) -> float:
    return float(np.abs(view.joints_rad - here_rad).max(1).min())


def _go(world: ShelfWorld, view: View, verifier: Verifier, wall: dict[str, float]) -> StageReport:
    name = f"look at the {view.of}"
    started = time.perf_counter()
    try:
        plan = world.planner.plan(world.arm.state().target_rad, view.joints_rad, max_iterations=_ITERATIONS)
        if not plan.ok:
            return StageReport(name, False, plan.status, plan.detail)
        timed = time_path(
            plan.path_rad,
            world.robot.kinematics,
            velocity_scale=SPEED,
            acceleration_scale=SPEED**2,
            first_collision=world.planner.first_collision,
        )
        if timed.trajectory is None:
            return StageReport(name, False, timed.status, timed.detail)
        verdict = verifier.check_path(timed.trajectory.position_rad)
        if not verdict.ok:
            return StageReport(name, False, "verify_collision", verdict.detail)
    finally:
        wall["plan"] += time.perf_counter() - started
    started = time.perf_counter()
    report = world.arm.follow(timed.trajectory)
    wall["move"] += time.perf_counter() - started
    return StageReport(name, report.ok or report.error_m < 0.01, report.status, report.detail)
