"""Where things come to rest, against what must be so: what stands stays, what is past the edge falls, long ones tip."""

import numpy as np
import pytest

from armwright.assets.export import link_inertia
from armwright.assets.library import default_library
from armwright.core.pose import Pose
from armwright.planning.settling import Settling

BOWL = Pose.from_yaw([0.5, 0.1, 0.0], 0.4)


def build(category, instance=2):
    return default_library().build(category, instance=instance)


def test_what_stands_stays():
    can, plate = build("can"), build("plate")
    pose = Pose([0.5, 0.1, float(plate.supports[0].pose_object_surface.position_m[2]) + 0.001])
    rest = Settling(can, [(plate, BOWL)]).rest(pose)
    assert np.linalg.norm(rest.position_m - pose.position_m) < 0.004
    assert rest.rotation[2, 2] > 0.999


def test_what_is_let_go_beside_the_bowl_lies_on_the_ground():
    apple, bowl = build("apple"), build("bowl")
    settling = Settling(apple, [(bowl, BOWL)])
    beside = settling.rest(Pose([0.5, 0.1 + 0.16, 0.05]))
    inside = settling.rest(Pose([0.5, 0.1, 0.08]))
    low = float(beside.transform(apple.root.vertices_m)[:, 2].min())
    assert low == pytest.approx(0.0, abs=0.003)
    assert np.linalg.norm(inside.position_m[:2] - BOWL.position_m[:2]) < 0.03


def test_a_plank_tips_over_an_edge_once_its_middle_is_past_it():
    carrot, box = build("carrot"), build("box")
    top = float(box.bounds_m[1][2])
    settling = Settling(carrot, [(box, Pose())])
    middle = link_inertia(carrot.root)[0]
    edge = 0.5 * float(np.ptp(box.bounds_m, axis=0)[0])
    lying, tipped = (
        settling.rest(Pose([edge + past - middle[0], 0.0, top + 0.001 - float(carrot.bounds_m[0][2])]))
        for past in (-0.02, 0.01)
    )
    assert lying.transform(middle)[2] > top
    assert tipped.transform(middle)[2] < top


def test_same_pose_same_rest():
    settling = Settling(build("banana"), [(build("bowl"), BOWL)])
    pose = Pose.from_yaw([0.5, 0.1, 0.08], 1.0)
    assert (settling.rest(pose).position_m == settling.rest(pose).position_m).all()
