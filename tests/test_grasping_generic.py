"""The generic estimator, its 2D filter and the manual ranges, on the library's own objects."""

import dataclasses

import numpy as np
import pytest

from armwright.assets.catalog import CATALOG
from armwright.assets.cloud import sample_cloud
from armwright.assets.library import default_library
from armwright.core.camera import CameraModel
from armwright.core.errors import UsageError
from armwright.core.pose import Pose
from armwright.grasping.filtered import contact_points
from armwright.grasping.manual import BodyRange, ManualGrasps, built_in_annotations
from armwright.grasping.projection import inside, visible_mask, visible_points
from armwright.grasping.request import GraspRequest
from armwright.grasping.sources import grasp_source
from armwright.grasping.spans import span_between
from armwright.robots.registry import load_spec

HAND = load_spec("franka").gripper
TABLE = np.array([0.0, 0.0, 1.0, 0.0])


def looking_at(eye, target, *, width=320, height=240, fovy_deg=45.0):
    forward = np.subtract(target, eye) / np.linalg.norm(np.subtract(target, eye))
    right = np.cross(forward, [0.0, 0.0, 1.0])
    right /= np.linalg.norm(right)
    rotation = np.stack([right, np.cross(forward, right), forward], axis=1)
    return CameraModel.from_fov(
        width=width, height=height, fovy_deg=fovy_deg, pose_world_camera=Pose.from_rotation(rotation, eye)
    )


def ask(category, region="Graspable Body", *, instance=3, **changes):
    cloud = sample_cloud(default_library().build(category, instance=instance), 8192, rng=np.random.default_rng(0))
    mask = np.isin(cloud.part, CATALOG[category].regions[region])
    request = GraspRequest(
        cloud.points_m,
        cloud.normals,
        mask,
        HAND,
        support_plane=TABLE,
        category=category,
        region=region,
        camera=looking_at((0.7, -0.7, 0.7), (0.0, 0.0, 0.05)),
        rng=np.random.default_rng(5),
    )
    return dataclasses.replace(request, **changes)


@pytest.mark.parametrize("category", ["banana", "cube", "can"])
def test_generic_grasps_are_antipodal_stable_first_and_above_the_table(category):
    request = ask(category)
    found = grasp_source("generic").sample(request)
    assert len(found.candidates) >= 40 and found.order == "source"
    quality = [c.quality for c in found.candidates]
    assert quality == sorted(quality, reverse=True)
    for c in found.candidates[::10]:
        pads = c.pose_object_pads
        local = (request.points_m - pads.position_m) @ pads.rotation
        under = (np.abs(local[:, 0]) < 0.01) & (np.abs(local[:, 2]) < 0.01)
        # Both pads have surface that faces them, within the opening.
        facing = request.normals @ pads.rotation[:, 1]
        assert (facing[under] > 0.85).any() and (facing[under] < -0.85).any()
        assert c.width_m < c.opening_m <= HAND.opening_m[1]
        # The fingertips and the palm stay above the table.
        tips = pads.position_m + HAND.finger_depth_m * pads.rotation[:, 2]
        assert tips[2] > 0 and (pads.position_m - HAND.palm_depth_m * pads.rotation[:, 2])[2] > 0


def test_generic_does_not_look_at_the_region():
    request = ask("mug", "Graspable Handle")
    elsewhere = dataclasses.replace(request, mask=~request.mask, rng=np.random.default_rng(5))
    here, there = (grasp_source("generic").sample(r).candidates for r in (request, elsewhere))
    assert len(here) == len(there) > 0
    assert all(np.array_equal(a.pose_object_pads.matrix(), b.pose_object_pads.matrix()) for a, b in zip(here, there))


def test_fewer_candidates_are_the_best_of_more():
    few = grasp_source("generic:20").sample(ask("can")).candidates
    many = grasp_source("generic:200").sample(ask("can")).candidates
    assert len(few) == 40 and len(many) > 40
    assert [c.quality for c in few] == [c.quality for c in many[:40]]


def test_obstacles_take_grasps_away():
    wall = np.array([[x, y, z] for x in (-0.2, 0.2) for y in (0.045, 0.1) for z in (0.0, 0.3)])
    free, walled = (grasp_source("generic:5000").sample(ask("cube", obstacles=o)) for o in ((), (wall,)))
    assert walled.dropped["scene_collision"] > 0 and len(walled.candidates) < len(free.candidates)
    assert all(c.pose_object_pads.rotation[1, 2] > -0.9 for c in walled.candidates)  # none comes through the wall


def test_nothing_but_a_line_of_points_has_no_grasps():
    points = np.column_stack([np.linspace(0, 1, 50), np.zeros(50), np.zeros(50)])
    request = GraspRequest(points, np.tile([0.0, 0.0, 1.0], (50, 1)), np.ones(50, bool), HAND)
    assert grasp_source("generic").sample(request).candidates == ()


def test_filtered_grasps_are_those_whose_contacts_lie_in_the_picture_of_the_region():
    request = ask("mug", "Graspable Handle")
    every = grasp_source("generic:1000").sample(request).candidates
    kept = grasp_source("generic-filtered:1000").sample(ask("mug", "Graspable Handle"))
    assert 0 < len(kept.candidates) < len(every)
    assert len(kept.candidates) + 2 * kept.dropped["outside_mask"] == len(every)
    handle = request.points_m[request.mask]
    ends = contact_points(kept.candidates).reshape(-1, 3)
    seen, edge = (request.camera.project(p)[0] for p in (ends, handle))
    nearest = np.linalg.norm(seen[:, None] - edge[None], axis=2).min(1)
    assert nearest.max() < 4.0  # pixels


def test_filter_keeps_nothing_of_an_empty_region_and_needs_a_camera():
    request = ask("mug", "Graspable Handle", mask=np.zeros(8192, bool))
    assert grasp_source("generic-filtered").sample(request).candidates == ()
    with pytest.raises(UsageError, match="camera"):
        grasp_source("generic-filtered").sample(dataclasses.replace(request, camera=None))


def test_camera_does_not_see_what_the_object_or_a_hull_hides():
    side = np.random.default_rng(0).uniform(-0.05, 0.05, (4000, 2))
    front = np.column_stack([np.full(4000, 0.05), side[:, 0], 0.2 + side[:, 1]])
    points = np.concatenate([front, front - [0.1, 0.0, 0.0]])
    is_front = np.arange(8000) < 4000
    camera = looking_at((0.8, 0.0, 0.2), (0.0, 0.0, 0.2))
    assert visible_mask(points, is_front, camera, pose_world_points=Pose()).sum() > 500
    assert visible_mask(points, ~is_front, camera, pose_world_points=Pose()).sum() == 0
    assert np.array_equal(visible_points(points, camera, pose_world_points=Pose()), is_front)
    screen = np.array([[x, y, z] for x in (0.2, 0.25) for y in (-0.2, 0.0) for z in (0.0, 0.4)])
    half = visible_mask(points, is_front, camera, pose_world_points=Pose(), hulls=(screen,))
    whole = visible_mask(points, is_front, camera, pose_world_points=Pose())
    assert 0.4 < half.sum() / whole.sum() < 0.6 and not (half & ~whole).any()
    assert not inside(half, np.array([[0.05, -0.03, 0.2]]), camera, pose_world_points=Pose())[0]
    assert inside(half, np.array([[0.05, 0.03, 0.2]]), camera, pose_world_points=Pose())[0]
    # Behind the camera nothing projects anywhere.
    assert not inside(whole, np.array([[5.0, 0.0, 0.2]]), camera, pose_world_points=Pose())[0]


ANNOTATED = [(c, r) for c, regions in built_in_annotations().regions.items() for r in regions]
ANNOTATED += [(c, "Graspable Body") for c in built_in_annotations().simple]
WALL = {("mug", "Graspable Body")}  # wider than the hand: its wall is pinched, one pad inside


@pytest.mark.parametrize(("category", "region"), [a for a in ANNOTATED if a[1] != "Openable Handle"])
def test_manual_ranges_reach_their_region(category, region):
    for instance in (3, 11):
        request = ask(category, region, instance=instance)
        candidates = grasp_source("manual").sample(request).candidates
        assert len(candidates) >= 20
        on = 0
        for c in candidates:
            pads = c.pose_object_pads
            low, high = span_between(request, pads.position_m, pads.rotation)
            local = (request.points_m - pads.position_m) @ pads.rotation
            facing = request.normals @ pads.rotation[:, 1]
            under = (np.abs(local[:, 0]) < 0.01) & (np.abs(local[:, 2]) < 0.01)
            right = under & (facing > 0.35) & (np.abs(local[:, 1] - high) < 0.003)
            left = under & (facing < -0.35) & (np.abs(local[:, 1] - low) < 0.003)
            shares = [request.mask[side].mean() for side in (left, right)]
            on += (max(shares) if (category, region) in WALL else min(shares)) > 0.6
        assert on >= 0.8 * len(candidates)


def test_manual_of_doors_takes_the_link_that_moves():
    cloud = sample_cloud(default_library().build("cabinet", instance=3), 60000, rng=np.random.default_rng(0))
    drawer = cloud.points_m[cloud.link == "drawer_2"]
    handle = (cloud.link == "drawer_2") & (cloud.part == "handle")
    bounds = np.stack([drawer.min(0), drawer.max(0)])
    request = GraspRequest(
        cloud.points_m, cloud.normals, handle, HAND, category="cabinet", region="Openable Handle", bounds_m=bounds
    )
    found = grasp_source("manual").sample(request).candidates
    assert found
    middle = cloud.points_m[handle].mean(0)
    assert all(np.linalg.norm(c.pose_object_pads.position_m - middle) < 0.06 for c in found)


def test_manual_takes_a_simple_object_by_its_bounding_box():
    request = dataclasses.replace(ask("banana"), category="something new")
    found = grasp_source("manual").sample(request).candidates
    assert found
    for c in found:
        assert c.pose_object_pads.rotation[2, 2] < -0.999  # from above
        assert abs(c.pose_object_pads.rotation[1, 1]) > 0.999  # across the long axis
        assert (
            abs(c.pose_object_pads.position_m[0] - np.mean(request.corners_m[:, 0]))
            <= np.ptp(request.corners_m[:, 0]) / 6
        )


def test_manual_has_nothing_for_a_functional_region_that_nobody_wrote_down():
    found = grasp_source("manual").sample(dataclasses.replace(ask("mug", "Graspable Handle"), category="something new"))
    assert found.candidates == () and found.dropped == {"no_annotation": 1}


def test_manual_drops_what_the_hand_does_not_span():
    wide = BodyRange(frame="body", x=(0.3, 0.4), y=(0.5, 0.5), z=(0.4, 0.6), closing=(0, 1, 0), approach=((0, 0, -1),))
    notes = built_in_annotations().model_copy(update={"regions": {"mug": {"Graspable Body": (wide,)}}})
    found = ManualGrasps(annotations=notes).sample(ask("mug", "Graspable Body"))
    assert found.candidates == () and set(found.dropped) <= {"too_wide", "nothing_between"}
