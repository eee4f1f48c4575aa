"""What counts as open, shut and at rest: near misses, the wrong drawer, a leaf still swinging, a hand still on it."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.assets.articulation import at_joints, joint_motion
from armwright.assets.library import default_library
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery, Primitive
from armwright.tasks.articulation import closed, leaves, opened, resting, share_open
from armwright.tasks.evidence import Evidence, ObjectEvidence
from armwright.tasks.judge import EpisodeJudge, Graded

CABINET = default_library().build("cabinet", instance=2)
MICROWAVE = default_library().build("microwave", instance=1)
HANDLE = AffordanceQuery(object="it", region="Openable Handle", role="grasp")


def joints_at(model, **shares: float) -> dict[str, float]:
    found = {}
    for link in model.links:
        if link.joint is not None:
            low, high = link.joint.range
            found[link.name] = low + shares.get(link.name, 0.0) * (high - low)
    return found


def seen(model, *, speed: float = 0.0, touched: bool = False, **shares: float) -> Evidence:
    joints = joints_at(model, **shares)
    one = ObjectEvidence(
        Pose(), 0.0, 0.0, frozenset({"table"}), False, touched, model, joints, dict.fromkeys(joints, speed)
    )
    return Evidence({"it": one}, Pose())


def test_a_door_is_open_from_sixty_percent_of_its_travel():
    assert opened(seen(MICROWAVE, door=0.61), "it", joints_at(MICROWAVE)).ok
    assert not opened(seen(MICROWAVE, door=0.59), "it", joints_at(MICROWAVE)).ok


def test_a_door_is_shut_to_two_percent_of_its_travel():
    assert closed(seen(MICROWAVE, door=0.019), "it").ok
    assert not closed(seen(MICROWAVE, door=0.021), "it").ok


def test_the_drawer_that_was_meant_counts():
    lowest, *_, highest = (link.name for link in leaves(CABINET))
    before = joints_at(CABINET)
    assert opened(seen(CABINET, **{highest: 0.8}), "it", before, "top").ok
    assert not opened(seen(CABINET, **{lowest: 0.8}), "it", before, "top").ok
    assert opened(seen(CABINET, **{lowest: 0.8}), "it", before).ok
    assert not closed(seen(CABINET, **{lowest: 0.8}), "it").ok
    assert closed(seen(CABINET, **{lowest: 0.8}), "it", "top").ok


def test_pulling_a_second_drawer_half_open_fails():
    lowest, *_, highest = (link.name for link in leaves(CABINET))
    assert not opened(seen(CABINET, **{highest: 0.8, lowest: 0.3}), "it", joints_at(CABINET), "top").ok


def test_what_has_no_leaf_is_neither_open_nor_shut():
    mug = default_library().build("mug", instance=1)
    assert not opened(seen(mug), "it", {}).ok and not closed(seen(mug), "it").ok


def test_a_swinging_door_is_not_at_rest():
    assert resting(seen(MICROWAVE, door=0.8), "it").ok
    assert not resting(seen(MICROWAVE, door=0.8, speed=0.2), "it").ok


class Door:
    """A truth of one microwave whose door, speed, hand and pads are set by the test."""

    def __init__(self) -> None:
        self.share, self.speed, self.touched, self.part = 0.0, 0.0, False, ""

    def joint(self, object_id: str, link: str) -> float:
        return joints_at(MICROWAVE, door=self.share)[link] if link == "door" else 0.0

    def joint_speed(self, object_id: str, link: str) -> float:
        return self.speed

    def pose(self, object_id: str, link: str = "base") -> Pose:
        return Pose()

    def contents(self, object_id: str) -> Array:
        return np.zeros((0, 3))

    def velocity(self, object_id: str) -> tuple[Array, Array]:
        return np.zeros(3), np.zeros(3)

    def supported_by(self, object_id: str) -> frozenset[str]:
        return frozenset({"table"})

    def is_held(self, object_id: str) -> bool:
        return False

    def touching(self, object_id: str) -> frozenset[str]:
        return frozenset()

    def touched_by_robot(self, object_id: str) -> bool:
        return self.touched

    def robot_contacts(self) -> frozenset[str]:
        return frozenset()

    def pad_contacts(self, object_id: str) -> dict[str, Array]:
        if not self.part:
            return {}
        door = next(link for link in MICROWAVE.links if link.name == "door")
        faces = door.faces[door.face_part == door.part_names.index(self.part)]
        return {"door": door.vertices_m[faces].mean(1)[:4]}


def judged(states: list[dict], *names: str) -> Graded:
    """Grade a door that goes through states; what a state does not set stays."""
    door = Door()
    judge = EpisodeJudge([Primitive(name=name, object="it") for name in names], [HANDLE], {"it": MICROWAVE}, Pose())
    for state in states:
        door.__dict__.update(state)
        judge.observe(door)
    return judge.finish(door)


OPENING = [{}, {"share": 0.3, "part": "handle", "touched": True}, {"share": 0.7}, {"part": "", "touched": False}]


def test_pulling_by_the_handle_is_success_and_compliant():
    graded = judged(OPENING, "open")
    assert graded.success and graded.compliance and graded.shares == {"it": 1.0}


def test_hooking_the_door_instead_of_the_handle_is_not_compliant():
    graded = judged([{}, {"share": 0.3, "part": "door"}, {"share": 0.7}, {"part": ""}], "open")
    assert graded.success and not graded.compliance


@pytest.mark.parametrize(
    ("last", "reason"),
    [({"touched": True}, "released"), ({"speed": 0.3}, "resting"), ({"share": 0.5}, "opened")],
)
def test_still_touched_swinging_or_fallen_back_fails(last, reason):
    graded = judged([*OPENING, last], "open")
    assert not graded.success and graded.detail.startswith(reason)


def test_what_was_never_open_was_not_closed():
    assert not judged([{}, {}], "close").success
    assert judged([{"share": 0.6}, {"share": 0.0}], "close").success
    assert not judged([{"share": 0.6}, {"share": 0.05}], "close").success


def test_opening_and_closing_again_grades_both():
    assert judged([*OPENING, {"share": 0.0}], "open", "close").success
    assert not judged([{}, {"share": 0.4, "part": "handle"}, {"share": 0.0, "part": ""}], "open", "close").success


SHUT = {"share": 0.0}


def test_closing_and_opening_again_needs_both():
    start = {"share": 0.7}
    assert judged([start, SHUT, {"share": 0.7}], "close", "open").success
    assert not judged([start, {}], "close", "open").success
    assert not judged([start, {"share": 0.1}, {"share": 0.7}], "close", "open").success
    assert not judged([{}, {"share": 0.7}], "close", "open").success, "it was shut all along"


def test_opening_closing_and_opening_again_needs_all_three():
    steps = ("open", "close", "open")
    assert judged([*OPENING, SHUT, {"share": 0.7}], *steps).success
    assert not judged(OPENING, *steps).success
    assert not judged([*OPENING, SHUT], *steps).success
    assert judged([*OPENING, SHUT, {"share": 0.7}, SHUT], *steps, "close").success
    assert not judged([*OPENING, SHUT], *steps, "close").success


def test_a_second_drawer_that_the_task_opens_as_well_is_no_fault():
    lowest, *_, highest = (link.name for link in leaves(CABINET))
    both = seen(CABINET, **{highest: 0.8, lowest: 0.3})
    assert opened(both, "it", joints_at(CABINET), "top", aside={lowest}).ok
    assert not opened(both, "it", joints_at(CABINET), "top").ok


def test_links_move_as_their_joints_say():
    door = next(link for link in MICROWAVE.links if link.name == "door")
    assert door.joint is not None
    there = at_joints(MICROWAVE, {"door": 0.5})
    moved = next(link for link in there.links if link.name == "door")
    turned = joint_motion(door.joint, 0.5)
    assert np.allclose(moved.vertices_m, turned.transform(door.vertices_m))
    assert np.isclose(turned.angle_to(Pose()), 0.5)
    anchor = np.asarray(door.joint.anchor_m)
    assert np.allclose(turned.transform(anchor), anchor)
    assert np.isclose(share_open(door.joint, 0.5), 0.5 / door.joint.range[1])
    assert at_joints(MICROWAVE, {}) is MICROWAVE


def test_a_drawer_takes_its_cavity_along():
    top = leaves(CABINET)[-1].name
    before = next(c for c in CABINET.containers if c.link == top)
    after = next(c for c in at_joints(CABINET, {top: 0.1}).containers if c.link == top)
    assert np.allclose(after.center_m - before.center_m, [-0.1, 0.0, 0.0])
