"""A placement that an earlier stage made and that holds no more is found; what was taken up again is not looked at."""

from __future__ import annotations

import pytest

from armwright.assets.library import default_library
from armwright.core.pose import Pose
from armwright.core.task import Primitive
from armwright.tasks.evidence import TABLE, Evidence, ObjectEvidence
from armwright.tasks.undone import stacks, undone

CUBE = default_library().build("cube", instance=1, attributes={})
SIDE_M = float(CUBE.bounds_m[1][2] - CUBE.bounds_m[0][2])
HALF_M = -float(CUBE.bounds_m[0][2])


def put(subject: str, relation: str, target: str | None) -> list[Primitive]:
    return [
        Primitive(name="pick", object=subject),
        Primitive(name="place", object=subject, target=target, relation=relation),
    ]


def cube(x: float, level: int, on: str) -> ObjectEvidence:
    pose = Pose.from_yaw((x, 0.0, HALF_M + level * SIDE_M), 0.0)
    return ObjectEvidence(pose, 0.0, 0.0, frozenset({on}), False, False, CUBE)


TOWER = [*put("b", "on", "a"), *put("c", "on", "b")]


def test_a_standing_tower_is_not_undone():
    tower = Evidence({"a": cube(0, 0, TABLE), "b": cube(0, 1, "a"), "c": cube(0, 2, "b")}, Pose())
    assert undone(tower, TOWER) is None


def test_a_toppled_tower_names_the_lowest_stage_that_fell():
    fallen = Evidence({"a": cube(0, 0, TABLE), "b": cube(0.2, 0, TABLE), "c": cube(0.3, 0, TABLE)}, Pose())
    verdict = undone(fallen, TOWER)
    assert verdict is not None and not verdict.ok and verdict.predicate == "on(b, a)"


def test_the_top_that_slid_off_is_named():
    slid = Evidence({"a": cube(0, 0, TABLE), "b": cube(0, 1, "a"), "c": cube(0.3, 0, TABLE)}, Pose())
    verdict = undone(slid, TOWER)
    assert verdict is not None and verdict.predicate == "on(c, b)"


def test_what_was_taken_up_again_or_stood_on_what_was_is_not_looked_at():
    apart = Evidence({"a": cube(0, 0, TABLE), "b": cube(0.2, 0, TABLE), "c": cube(0.3, 0, TABLE)}, Pose())
    assert undone(apart, [*put("b", "on", "a"), Primitive(name="pick", object="b")]) is None
    assert undone(apart, [*put("b", "on", "a"), Primitive(name="push", object="a")]) is None


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (TOWER, True),
        (put("b", "on", "shelf"), False),
        (put("b", "on", "table"), False),
        (put("b", "in", "a"), False),
        (put("b", "on", None), False),
        ([Primitive(name="hang", object="b", target="a", relation="on")], False),
    ],
)
def test_what_is_put_on_something_loose_is_a_stack(steps, expected):
    assert stacks(steps, frozenset({"shelf"})) is expected
