"""Push and pull against real physics: to the goal, upright, past what stands in the way not at all."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.task import AffordanceQuery, Primitive
from armwright.skills.drag import drag
from armwright.skills.grip import LIGHT_N
from armwright.skills.push import goal_of, outline_of, push
from skill_scenes import Bench, bench
from test_tasks_judge import grade

SIDE = AffordanceQuery(object="box", region="Pushable Surface", role="use")
BODY = AffordanceQuery(object="box", region="Graspable Body", role="grasp")


def done(stage: Bench, primitive: Primitive) -> tuple[bool, float]:
    """Perform a push or pull; return whether the skill is content, and how far from the goal it ended [m]."""
    goal = goal_of(stage.ctx, primitive)
    act, query = (push, SIDE) if primitive.name == "push" else (drag, BODY)
    report = act(stage.ctx, query, goal, name="it")
    stage.world.clock.sleep(1.0)
    return report.ok, float(np.linalg.norm(outline_of(stage.ctx, "box").center_m - goal))


@pytest.mark.parametrize(
    "primitive",
    [
        Primitive(name="push", object="box", relation="left_of"),
        Primitive(name="push", object="box", relation="behind", distance_m=0.06),
        Primitive(name="pull", object="box", relation="in_front_of"),
    ],
    ids=["left", "forward", "closer"],
)
def test_a_box_comes_to_its_goal(session_of, primitive):
    stage = bench(session_of("franka"), box="box", places={"box": (0.50, -0.10)})
    ok, error = done(stage, primitive)
    assert ok and error < 0.03
    assert grade(stage, primitive, region=None).success


def test_what_is_dragged_is_held_as_hard_as_it_asks_for(session_of, monkeypatch):
    """Light things are crushed or squeezed out by all that the gripper has."""
    stage = bench(session_of("franka"), box="paper_cup", places={"box": (0.50, -0.10)})
    asked: list[float | None] = []
    grip = stage.ctx.arm.grip

    def noted(*, width_m: float, force_n: float | None = None):
        asked.extend([force_n] if width_m == 0.0 else [])
        return grip(width_m=width_m, force_n=force_n)

    monkeypatch.setattr(stage.ctx.arm, "grip", noted)
    assert drag(
        stage.ctx, BODY, goal_of(stage.ctx, Primitive(name="pull", object="box", relation="in_front_of")), name="it"
    ).ok
    assert asked and all(force is not None and LIGHT_N <= force < stage.ctx.gripper.force_n for force in asked)


def test_a_goal_out_of_reach_is_refused_before_the_box_moves(session_of):
    stage = bench(session_of("franka"), box="box", places={"box": (0.50, -0.10)})
    before = stage.world.truth.pose("box")
    report = push(stage.ctx, SIDE, np.array([1.9, -0.10]), name="it")
    assert not report.ok
    assert stage.world.truth.pose("box").position_m[0] < 1.0 and before.position_m[2] == pytest.approx(
        stage.world.truth.pose("box").position_m[2], abs=0.005
    )


def test_a_full_hand_pushes_nothing(session_of):
    from armwright.skills.pick import pick

    stage = bench(session_of("franka"), mug="mug", box="box")
    assert pick(stage.ctx, AffordanceQuery(object="mug", region="Graspable Handle", role="grasp")).ok
    assert push(stage.ctx, SIDE, np.array([0.5, 0.3]), name="it").status == "hand_full"
    assert drag(stage.ctx, BODY, np.array([0.5, 0.3]), name="it").status == "hand_full"


def test_a_box_is_pushed_up_to_a_plate_and_not_into_it(session_of):
    stage = bench(session_of("franka"), box="box", plate="plate", places={"box": (0.48, -0.22), "plate": (0.52, 0.18)})
    primitive = Primitive(name="push", object="box", target="plate")
    ok, error = done(stage, primitive)
    assert ok and error < 0.03
    graded = grade(stage, primitive, region=None)
    assert graded.success, graded


@pytest.mark.slow
def test_a_push_after_a_place_is_graded_from_where_the_box_was_put_down(session_of):
    from armwright.skills.pick import pick
    from armwright.skills.place import place

    stage = bench(session_of("franka"), box="box", plate="plate", places={"box": (0.45, -0.20), "plate": (0.52, 0.18)})
    steps = (
        Primitive(name="pick", object="box"),
        Primitive(name="place", object="box", target="plate", relation="right_of"),
        Primitive(name="push", object="box", relation="right_of", distance_m=0.08),
    )
    assert pick(stage.ctx, BODY).ok
    assert place(stage.ctx, "plate", "right_of").ok
    stage.world.clock.sleep(0.5)
    ok, error = done(stage, steps[-1])
    assert ok and error < 0.03
    graded = grade(stage, *steps, region=None)
    assert graded.stages[-1].verdict.ok, graded
