"""What the observed target is taken for, how large, and where; registration to new views."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.core.errors import UsageError
from armwright.core.pose import Pose
from armwright.shelf.registration import register
from armwright.shelf.target import fit_target, for_hand, look_again
from armwright.shelf.target_solids import hull_of, object_model, sections
from shelf_targets import bottle, box, can, gable, seen

TABLE_M = 0.02
AT = Pose.from_yaw((0.4, -0.1, TABLE_M), 0.5)


def off(fit, solid, pose):
    """Return errors of the sizes, the middle and the turn (modulo half a turn) [m, m, rad]."""
    sizes = np.abs(np.sort(fit.solid.size_m) - np.sort(solid.size_m)).max()
    turn = (fit.pose_world_target.yaw_rad - pose.yaw_rad + np.pi / 2) % np.pi - np.pi / 2
    return sizes, np.linalg.norm(fit.pose_world_target.position_m - pose.position_m), abs(turn)


@pytest.mark.parametrize(
    ("solid", "packaging", "family"),
    [
        (box(), "box", "box"),
        (box(), None, "box"),
        (can(), "can", "round"),
        (can(), None, "round"),
        (bottle(), "bottle", "round"),
        (gable(), "carton", "carton"),
    ],
)
def test_families_are_told_apart_and_measured(solid, packaging, family):
    fit = fit_target(*seen(solid, AT), table_z_m=TABLE_M, packaging=packaging)
    sizes, away, turn = off(fit, solid, AT)
    assert fit.solid.family == family
    assert sizes < 0.005
    assert away < 0.004
    assert family == "round" or turn < 0.03
    assert fit.residual_m < 0.002


def test_the_wider_side_is_the_front_unless_it_is_known():
    solid = box(depth=0.05, width=0.08)
    fit = fit_target(*seen(solid, AT), table_z_m=TABLE_M, packaging="box")
    assert fit.solid.size_m == pytest.approx([0.05, 0.08, 0.14], abs=0.004)
    front = AT.rotate(np.array([0.0, -1.0, 0.0]))
    turned = fit_target(*seen(solid, AT), table_z_m=TABLE_M, packaging="box", front_world=front)
    assert turned.solid.size_m == pytest.approx([0.08, 0.05, 0.14], abs=0.004)
    assert turned.pose_world_target.rotate(np.array([-1.0, 0.0, 0.0])) @ front > 0.99


def test_what_is_wider_than_the_hand_is_put_in_sideways():
    fit = fit_target(*seen(box(depth=0.05, width=0.10), AT), table_z_m=TABLE_M, packaging="box")
    turned = for_hand(fit, 0.085)
    assert turned.solid.size_m[:2] == pytest.approx(fit.solid.size_m[[1, 0]])
    same = fit.pose_world_target.transform(fit.solid.points_m)
    assert turned.pose_world_target.transform(turned.solid.points_m) == pytest.approx(same, abs=1e-9)
    assert for_hand(fit, 0.12) is fit
    assert for_hand(fit, 0.04) is fit


def test_a_wrong_hint_does_not_force_its_family():
    fit = fit_target(*seen(box(), AT), table_z_m=TABLE_M, packaging="bottle")
    assert fit.solid.family == "box"


def test_a_can_on_its_side_is_found_lying():
    radius, length = 0.033, 0.12
    lay = Pose.from_rotation(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), (0.0, -length / 2, radius))
    solid = sections("ellipse", [0, length], [radius] * 2, [radius] * 2, family="round", pose_solid_sections=lay)
    fit = fit_target(*seen(solid, AT), table_z_m=TABLE_M)
    sizes, away, turn = off(fit, solid, AT)
    assert fit.lying
    assert sizes < 0.006
    assert away < 0.005
    assert turn < 0.05


def test_what_no_family_explains_is_completed_down_to_the_table():
    """A wedge: its section shrinks to one side."""
    wedge = hull_of([[x, y, z] for x in (0, 0.09) for y in (0, 0.08) for z in (0, 0.03 + x)])
    points, normals = seen(wedge, AT)
    fit = fit_target(points[points[:, 2] > TABLE_M + 0.01], normals[points[:, 2] > TABLE_M + 0.01], table_z_m=TABLE_M)
    assert fit.solid.family == "completed"
    assert fit.residual_m < 0.003
    assert fit.pose_world_target.transform(fit.solid.vertices_m)[:, 2].min() == pytest.approx(TABLE_M, abs=1e-6)


def test_table_and_strays_do_no_harm():
    points, normals = seen(can(), AT)
    rng = np.random.default_rng(1)
    table = np.column_stack([rng.uniform(-0.2, 0.2, (800, 2)) + AT.position_m[:2], np.full(800, TABLE_M + 0.001)])
    stray = AT.position_m + np.array([0.2, 0.0, 0.1]) + rng.normal(0, 0.005, (40, 3))
    more = np.concatenate([points, table, stray])
    up = np.tile([0.0, 0.0, 1.0], (840, 1))
    fit = fit_target(more, np.concatenate([normals, up]), table_z_m=TABLE_M)
    assert fit.solid.size_m == pytest.approx([0.066, 0.066, 0.11], abs=0.004)


def test_too_few_points_say_what_to_do():
    with pytest.raises(UsageError, match="above the table"):
        fit_target(np.zeros((10, 3)), np.zeros((10, 3)), table_z_m=0.0)


def test_registration_follows_a_push():
    solid = gable()
    moved = Pose.from_yaw(AT.position_m + np.array([0.015, -0.01, 0.0]), AT.yaw_rad + 0.25)
    found = register(solid, *seen(solid, moved), AT)
    assert found.pose_world_solid.distance_to(moved) < 0.002
    assert found.pose_world_solid.angle_to(moved) < 0.02
    assert found.rms_m < 0.002
    fit = fit_target(*seen(solid, AT), table_z_m=TABLE_M)
    assert look_again(fit, *seen(solid, moved)).pose_world_target.distance_to(moved) < 0.004


def test_registration_in_six_dimensions():
    solid = bottle()
    tipped = AT @ Pose(np.array([0.004, 0.0, 0.01]), np.array([0.995, 0.07, 0.07, 0.0]))
    found = register(solid, *seen(solid, tipped, span=6.0, views=6), AT, upright=False)
    axis = found.pose_world_solid.rotation[:, 2]
    assert axis @ tipped.rotation[:, 2] > np.cos(0.01)
    assert found.rms_m < 0.002


def test_a_solid_is_an_object_that_skills_can_carry():
    model = object_model(bottle(), packaging="bottle")
    low, high = model.bounds_m
    assert low[2] == pytest.approx(0.0, abs=1e-9)
    assert high[2] == pytest.approx(0.20)
    assert 0.2 < model.mass_kg < 0.8
    assert len(model.root.hulls) == 2
