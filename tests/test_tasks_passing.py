"""What something else is done after counts if it held on the way, in the order of the task, and only then."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import pytest

from armwright.assets.library import default_library
from armwright.core.pose import Array, Pose
from armwright.core.task import TABLE, Primitive
from armwright.tasks.judge import EpisodeJudge, Graded
from armwright.tasks.passing import passes
from armwright.tasks.stages import stage_predicates
from sim_scenes import box_model

BOX = box_model((0.06, 0.06, 0.05))
PLATE = default_library().build("plate", instance=3, attributes={})
BOWL = default_library().build("bowl", instance=3, attributes={})
MODELS = {"box": BOX, "plate": PLATE, "bowl": BOWL}
PLACES = {"box": (0.5, 0.0, 0.0), "plate": (0.5, 0.3, 0.0), "bowl": (0.5, -0.3, 0.0)}
TOP = float(PLATE.supports[0].pose_object_surface.position_m[2])
FLOOR = float(BOWL.containers[0].floor_z_m)


@dataclass
class Seen:
    """What is true of one object at one moment."""

    xyz: tuple[float, float, float]
    on: str | None = TABLE
    held: bool = False
    speed: float = 0.0


@dataclass
class Table:
    """A truth whose objects are set by the test."""

    objects: dict[str, Seen] = field(default_factory=lambda: {k: Seen(xyz) for k, xyz in PLACES.items()})
    time_s: float = 0.0

    def pose(self, object_id: str, link: str = "base") -> Pose:
        return Pose(np.array(self.objects[object_id].xyz))

    def joint(self, object_id: str, link: str) -> float:
        return 0.0

    joint_speed = joint

    def contents(self, object_id: str) -> Array:
        return np.zeros((0, 3))

    def velocity(self, object_id: str) -> tuple[Array, Array]:
        return np.array([self.objects[object_id].speed, 0.0, 0.0]), np.zeros(3)

    def supported_by(self, object_id: str) -> frozenset[str]:
        on = self.objects[object_id].on
        return frozenset([on] if on else [])

    touching = supported_by

    def is_held(self, object_id: str) -> bool:
        return self.objects[object_id].held

    touched_by_robot = is_held

    def robot_contacts(self) -> frozenset[str]:
        return frozenset()

    def pad_contacts(self, object_id: str) -> dict[str, Array]:
        return {}


def stood(x: float, y: float, z: float = 0.0, on: str = TABLE) -> Seen:
    return Seen((x, y, z), on)


UP = Seen((0.5, 0.1, 0.2), None, held=True)
ON_PLATE = stood(0.5, 0.3, TOP, "plate")
IN_BOWL = stood(0.5, -0.3, FLOOR, "bowl")
START = stood(*PLACES["box"])


def judged(steps: list[str], *states: Seen, seconds: float = 1.0) -> Graded:
    """Grade a box that goes through states, each of which lasts; steps are such as ``place plate on``."""
    primitives = []
    for step in steps:
        name, *rest = step.split()
        words = dict(zip(("target", "relation"), rest, strict=False))
        if name == "push":
            words = {"relation": rest[0]}
        primitives.append(Primitive(name=name, object="box", **words))
    table = Table()
    judge = EpisodeJudge(primitives, [], MODELS, Pose())
    judge.observe(table)
    for state in states:
        table.objects["box"] = state
        for _ in range(int(20 * seconds)):
            table.time_s += 0.05
            judge.observe(table)
    return judge.finish(table)


TWICE = ["pick", "place plate on", "pick", "place bowl in"]


def test_put_on_one_thing_and_then_in_another():
    assert judged(TWICE, UP, ON_PLATE, UP, IN_BOWL).success


@pytest.mark.parametrize(
    "states",
    [
        (UP, IN_BOWL),
        (UP, ON_PLATE, IN_BOWL),
        (UP, stood(0.5, 0.1), UP, IN_BOWL),
        (ON_PLATE, UP, IN_BOWL),
        (UP, replace(ON_PLATE, held=True), UP, IN_BOWL),
        (UP, replace(ON_PLATE, speed=0.05), UP, IN_BOWL),
        (UP, IN_BOWL, UP, ON_PLATE),
    ],
    ids=["never on it", "not lifted again", "beside it", "before the lift", "not let go", "sliding", "other way round"],
)
def test_the_first_place_must_have_been_reached_let_go_and_at_rest(states):
    assert not judged(TWICE, *states).success


def test_what_was_to_hang_before_it_is_put_down_must_have_hung():
    graded = judged(["pick", "hang plate on", "pick", "place table on"], UP, stood(0.5, 0.1))
    assert not graded.success and not graded.stages[1].verdict.ok


def test_a_push_and_one_back_need_both():
    left, back = ["push left_of", "push right_of"], stood(0.5, 0.001)
    assert judged(left, stood(0.5, 0.1), back).success
    assert not judged(left).success
    assert not judged(left, stood(0.5, 0.001)).success
    assert not judged(left, stood(0.5, 0.05), back).success
    assert not judged(left, replace(stood(0.5, 0.1), held=True), back).success


def test_a_push_before_a_lift_is_judged_where_it_ended():
    steps = ["push left_of", "pick", "place plate on"]
    assert judged(steps, stood(0.5, 0.1), UP, ON_PLATE).success
    assert not judged(steps, UP, ON_PLATE).success


def test_what_is_pushed_off_the_thing_it_was_put_on_was_on_it_first():
    steps = ["pick", "place plate on", "push left_of"]
    moved = stood(0.5, 0.4, TOP, "plate")
    assert judged(steps, UP, ON_PLATE, moved).success
    graded = judged(steps, UP, ON_PLATE, stood(0.5, 0.4, 0.0))
    assert not graded.success and graded.detail.startswith("on_its_support")


def test_a_slipped_grasp_does_not_shift_where_the_push_began():
    steps = ["pick", "place table on", "push left_of"]
    slipped = stood(0.45, -0.1)
    assert judged(steps, UP, slipped, UP, stood(0.6, 0.0), stood(0.6, 0.1)).success
    assert not judged(steps, UP, slipped, UP, stood(0.6, 0.0), stood(0.45, 0.0)).success
    assert not judged(steps, UP, slipped, UP, stood(0.6, 0.0)).success


def test_a_hold_lasts():
    steps, still, lift = ["pick", "hold", "place plate on"], UP, replace(UP, speed=0.1)
    assert judged(steps, still, ON_PLATE).success
    assert not judged(steps, lift, ON_PLATE).success
    assert not judged(steps, *[still, lift] * 5, ON_PLATE, seconds=0.3).success, "a break starts it over"
    assert judged(["pick", "hold"], lift, still).success
    graded = judged(["pick", "hold"], lift, still, seconds=0.3)
    assert not graded.success and "of 0.5 s" in graded.detail


def test_a_hold_above_something_lasts_there():
    steps = ["pick", "hold plate above", "place plate on"]
    over = replace(UP, xyz=(0.5, 0.3, 0.2))
    assert judged(steps, UP, over, ON_PLATE).success
    assert not judged(steps, UP, replace(over, speed=0.05), ON_PLATE).success
    assert not judged(steps, UP, ON_PLATE).success


def test_leaves_pass_only_if_the_same_ones_may_be_undone():
    def task(*steps: tuple[str, str | None]) -> list[Primitive]:
        return [Primitive(name=name, object="it", spot=spot) for name, spot in steps]

    assert passes(task(("open", "top"), ("close", None)), 0)
    assert passes(task(("open", "top"), ("close", "top")), 0)
    assert not passes(task(("open", "top"), ("close", "bottom")), 0)
    assert not passes(task(("open", "top"), ("open", "bottom")), 0)


@pytest.mark.parametrize(
    ("steps", "states"),
    [
        (TWICE, (UP, ON_PLATE, UP, IN_BOWL)),
        (["push left_of", "push right_of"], (stood(0.5, 0.1), START)),
        (["pick", "hold plate above", "place plate on"], (replace(UP, xyz=(0.5, 0.3, 0.2)), ON_PLATE)),
    ],
)
def test_what_passes_is_graded_by_the_predicates_that_are_listed(steps, states):
    graded = judged(steps, *states)
    listed = stage_predicates([s.primitive for s in graded.stages])
    for names, stage in zip(listed, graded.stages, strict=True):
        assert {part.split("(")[0] for part in stage.verdict.predicate.split(" and ")} == set(names)
