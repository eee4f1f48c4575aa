"""Each predicate takes the plain case and refuses the near miss, the held, the moving, the tipped, the wrong place."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
import pytest

from armwright.assets.beneath import room_under
from armwright.assets.library import default_library
from armwright.assets.model import ObjectModel
from armwright.core.pose import Pose
from armwright.core.task import RelationName
from armwright.tasks import predicates as judge
from armwright.tasks.evidence import TABLE, Evidence, ObjectEvidence

BASE = Pose()


@lru_cache(maxsize=16)
def model(category: str) -> ObjectModel:
    return default_library().build(category, instance=3, attributes={})


def resting(category: str, xyz: tuple[float, float, float], on: str = TABLE, yaw: float = 0.0) -> ObjectEvidence:
    return ObjectEvidence(Pose.from_yaw(xyz, yaw), 0.0, 0.0, frozenset({on}), False, False, model(category))


def scene(**objects: ObjectEvidence) -> Evidence:
    return Evidence(objects, BASE)


def plate_top() -> float:
    return float(model("plate").supports[0].pose_object_surface.position_m[2])


def mug_on_plate(x: float = 0.0, z: float = 0.0) -> Evidence:
    return scene(plate=resting("plate", (0, 0, 0)), mug=resting("mug", (x, 0, plate_top() + z), on="plate"))


def test_on_accepts_a_mug_standing_on_the_plate() -> None:
    assert judge.on(mug_on_plate(), "mug", "plate").ok


def test_on_refuses_a_mug_on_the_table_beside_the_plate() -> None:
    evidence = scene(plate=resting("plate", (0, 0, 0)), mug=resting("mug", (0.2, 0, 0)))
    assert not judge.on(evidence, "mug", "plate").ok


def test_on_refuses_a_mug_that_leans_on_the_plate_from_outside() -> None:
    assert not judge.on(mug_on_plate(x=0.16), "mug", "plate").ok


def test_on_refuses_a_mug_held_over_the_plate() -> None:
    evidence = mug_on_plate(z=0.03)
    held = replace(evidence.objects["mug"], supported_by=frozenset(), held=True, touched=True)
    evidence = scene(plate=evidence.objects["plate"], mug=held)
    assert not judge.on(evidence, "mug", "plate").ok
    assert not judge.released(evidence, "mug").ok


def test_on_the_table_is_not_on_a_plate_and_the_other_way_round() -> None:
    evidence = mug_on_plate()
    assert judge.on(evidence, "plate", TABLE).ok
    assert not judge.on(evidence, "mug", TABLE).ok, "what stands on a plate was not put on the table"
    assert not judge.on(evidence, "plate", "mug").ok


def test_still_refuses_what_moves_or_spins() -> None:
    mug = resting("mug", (0, 0, 0))
    assert judge.still(scene(mug=mug), "mug").ok
    assert not judge.still(scene(mug=replace(mug, speed_m_s=0.02)), "mug").ok
    assert not judge.still(scene(mug=replace(mug, spin_rad_s=0.3)), "mug").ok


def test_upright_refuses_a_mug_on_its_side() -> None:
    up = np.array([0.0, 0.0, 1.0])
    mug = resting("mug", (0, 0, 0))
    assert judge.upright(scene(mug=mug), "mug", up).ok
    tipped = replace(mug, pose_world=Pose([0, 0, 0.04], [np.cos(np.pi / 4), np.sin(np.pi / 4), 0, 0]))
    assert not judge.upright(scene(mug=tipped), "mug", up).ok


def test_a_carrot_may_roll_about_its_axis_but_not_lean_and_a_banana_may_not_roll() -> None:
    def turned(category: str, axis: int, degrees: float) -> Evidence:
        quat = np.array([np.cos(np.deg2rad(degrees) / 2), 0.0, 0.0, 0.0])
        quat[1 + axis] = np.sin(np.deg2rad(degrees) / 2)
        return scene(it=replace(resting(category, (0, 0, 0)), pose_world=Pose([0, 0, 0.02], quat)))

    up = np.array([0.0, 0.0, 1.0])  # Both lie along x.
    assert judge.upright(turned("carrot", 0, 35.0), "it", up).ok
    assert not judge.upright(turned("carrot", 1, 20.0), "it", up).ok
    assert not judge.upright(turned("banana", 0, 35.0), "it", up).ok
    assert not judge.upright(turned("can", 1, 180.0), "it", up).ok  # It stands on its head.


def bowl_with(category: str, x: float, z: float, on: str) -> Evidence:
    return scene(bowl=resting("bowl", (0, 0, 0)), thing=resting(category, (x, 0, z), on=on))


def test_in_accepts_a_cube_on_the_bowls_floor() -> None:
    floor = model("bowl").containers[0].floor_z_m
    assert judge.inside(bowl_with("cube", 0.0, floor, "bowl"), "thing", "bowl").ok


@pytest.mark.parametrize("why", ["beside", "above the rim", "held inside", "on the table under it"])
def test_in_refuses_the_near_misses(why: str) -> None:
    cavity = model("bowl").containers[0]
    floor, rim = cavity.floor_z_m, cavity.rim_z_m
    cases = {
        "beside": bowl_with("cube", cavity.half_extents_m[0] + 0.05, 0.0, TABLE),
        "above the rim": bowl_with("cube", 0.0, rim + 0.002, "bowl"),
        "held inside": bowl_with("cube", 0.0, floor + 0.01, "hand"),
        "on the table under it": bowl_with("cube", 0.0, 0.0, TABLE),
    }
    assert not judge.inside(cases[why], "thing", "bowl").ok


SIDES: dict[RelationName, tuple[float, float]] = {
    "left_of": (0.0, 1.0),
    "right_of": (0.0, -1.0),
    "behind": (1.0, 0.0),
    "in_front_of": (-1.0, 0.0),
}


@pytest.mark.parametrize("relation", list(SIDES))
def test_beside_accepts_its_own_side_only(relation: RelationName) -> None:
    for other, (x, y) in SIDES.items():
        evidence = scene(box=resting("box", (0.5, 0, 0)), can=resting("can", (0.5 + 0.18 * x, 0.18 * y, 0)))
        assert judge.beside(evidence, "can", "box", relation).ok == (other == relation)
        assert judge.beside(evidence, "can", "box", "next_to").ok


def test_beside_refuses_too_far_diagonal_and_another_support() -> None:
    box = resting("box", (0.5, 0, 0))
    far = scene(box=box, can=resting("can", (0.5, 0.6, 0)))
    diagonal = scene(box=box, can=resting("can", (0.68, 0.16, 0)))
    raised = scene(box=box, can=resting("can", (0.5, 0.18, 0.1), on="shelf"), shelf=resting("shelf", (0.5, 0.3, 0)))
    for evidence in (far, diagonal, raised):
        assert not judge.beside(evidence, "can", "box", "left_of").ok


def test_beside_is_seen_from_the_arms_base() -> None:
    objects = {"box": resting("box", (0.5, 0, 0)), "can": resting("can", (0.5, 0.18, 0))}
    assert judge.beside(Evidence(objects, BASE), "can", "box", "left_of").ok
    turned = Evidence(objects, Pose.from_yaw([1.2, 0, 0], np.pi))
    assert judge.beside(turned, "can", "box", "right_of").ok


def test_above_needs_free_air_below_and_the_target_underneath() -> None:
    tray, cup = resting("tray", (0.5, 0, 0)), resting("cup", (0.5, 0, 0.15), on="hand")
    cup = replace(cup, supported_by=frozenset(), held=True, touched=True)
    assert judge.above(scene(tray=tray, cup=cup), "cup", "tray").ok
    beside = replace(cup, pose_world=Pose([0.5, 0.4, 0.15]))
    assert not judge.above(scene(tray=tray, cup=beside), "cup", "tray").ok
    standing = resting("cup", (0.5, 0, 0.02), on="tray")
    assert not judge.above(scene(tray=tray, cup=standing), "cup", "tray").ok
    high = replace(cup, pose_world=Pose([0.5, 0, 0.7]))
    assert not judge.above(scene(tray=tray, cup=high), "cup", "tray").ok


def test_under_a_spout_is_on_the_tray_below_it() -> None:
    machine = resting("coffee_machine", (0.6, 0, 0))
    (tray,) = room_under(machine.model).surfaces
    x, y, z = machine.pose_world.transform(tray.pose_object_surface.position_m)
    cup = resting("cup", (x, y, z), on="coffee_machine")
    assert judge.under(scene(coffee_machine=machine, cup=cup), "cup", "coffee_machine").ok
    on_top = replace(cup, pose_world=Pose([0.6, 0, machine.high_m[2]]))
    assert not judge.under(scene(coffee_machine=machine, cup=on_top), "cup", "coffee_machine").ok
    before = replace(cup, pose_world=Pose([x - 0.15, y, 0]), supported_by=frozenset({TABLE}))
    assert not judge.under(scene(coffee_machine=machine, cup=before), "cup", "coffee_machine").ok


def test_under_a_shelf_is_below_its_lowest_board() -> None:
    shelf = resting("shelf", (0.6, 0, 0))
    cube = resting("cube", (0.6, 0, 0))
    assert judge.under(scene(shelf=shelf, cube=cube), "cube", "shelf").ok
    beside = replace(cube, pose_world=Pose([0.6, shelf.high_m[1] + 0.05, 0]))
    assert not judge.under(scene(shelf=shelf, cube=beside), "cube", "shelf").ok
    # A board with another above it is on the shelf, not under it.
    board = float(shelf.model.supports[0].pose_object_surface.position_m[2])
    stored = replace(cube, pose_world=Pose([0.6, 0, board]), supported_by=frozenset({"shelf"}))
    assert not judge.under(scene(shelf=shelf, cube=stored), "cube", "shelf").ok


def test_lifted_needs_both_pads_and_height() -> None:
    mug = replace(resting("mug", (0, 0, 0.1)), supported_by=frozenset(), held=True, touched=True)
    assert judge.lifted(scene(mug=mug), "mug", 0.0).ok
    assert not judge.lifted(scene(mug=replace(mug, held=False)), "mug", 0.0).ok, "balanced on one finger"
    assert not judge.lifted(scene(mug=replace(mug, pose_world=Pose([0, 0, 0.01]))), "mug", 0.0).ok, "barely raised"


def test_all_of_reports_the_first_failure() -> None:
    bad = judge.Verdict(False, "b", "why")
    assert judge.all_of(judge.Verdict(True, "a"), bad, judge.Verdict(False, "c")) == bad
