"""Stage 1 candidates, checked against a slow and plain reading of what they promise."""

import numpy as np
import pytest

from armwright.core.errors import UsageError
from armwright.core.pose import Pose
from armwright.grasping.affordance import sample_grasps
from armwright.grasping.clearance import clear_of_hulls, gripper_boxes, table_plane
from armwright.grasping.options import GraspOptions
from armwright.robots.spec import GripperSpec

HAND = GripperSpec(
    name="test_hand",
    actuator="grip",
    joints=("left", "right"),
    opening_m=(0.0, 0.08),
    pad_geoms=(("l",), ("r",)),
    pad_size_m=(0.02, 0.02),
    finger_depth_m=0.012,
    finger_thickness_m=0.02,
    palm_depth_m=0.035,
    force_n=30.0,
)
TABLE = np.array([0.0, 0.0, 1.0, 0.0])


def cylinder(rng, n, *, radius, height, inward=False):
    a, z = rng.uniform(0, 2 * np.pi, n), rng.uniform(0, height, n)
    normals = np.c_[np.cos(a), np.sin(a), np.zeros(n)]
    return np.c_[normals[:, :2] * radius, z], -normals if inward else normals


def disc(rng, n, *, radius, z, up):
    a, r = rng.uniform(0, 2 * np.pi, n), radius * np.sqrt(rng.uniform(0, 1, n))
    return np.c_[r * np.cos(a), r * np.sin(a), np.full(n, z)], np.tile([0.0, 0.0, up], (n, 1))


def loop(rng, n, *, at, radius=0.026, bar=0.005):
    u, v = rng.uniform(-np.pi / 2, np.pi / 2, n), rng.uniform(0, 2 * np.pi, n)
    out = np.c_[np.cos(u), np.zeros(n), np.sin(u)]
    normals = out * np.cos(v)[:, None] + np.array([0, 1, 0]) * np.sin(v)[:, None]
    return np.asarray(at) + out * radius + bar * normals, normals


def mug(n=6000, seed=0):
    rng = np.random.default_rng(seed)
    parts = [
        cylinder(rng, int(0.34 * n), radius=0.036, height=0.09),
        cylinder(rng, int(0.3 * n), radius=0.032, height=0.09, inward=True),
        disc(rng, int(0.1 * n), radius=0.036, z=0.0, up=-1.0),
        disc(rng, int(0.1 * n), radius=0.032, z=0.005, up=1.0),
        loop(rng, int(0.16 * n), at=(0.036, 0, 0.045)),
    ]
    label = np.concatenate([np.full(len(p), k) for k, (p, _) in enumerate(parts)])
    return np.concatenate([p for p, _ in parts]), np.concatenate([m for _, m in parts]), label


def can(n=5000, seed=0, radius=0.033):
    rng = np.random.default_rng(seed)
    parts = [
        cylinder(rng, int(0.7 * n), radius=radius, height=0.1),
        disc(rng, int(0.15 * n), radius=radius, z=0.1, up=1.0),
        disc(rng, int(0.15 * n), radius=radius, z=0.0, up=-1.0),
    ]
    label = np.concatenate([np.full(len(p), k) for k, (p, _) in enumerate(parts)])
    return np.concatenate([p for p, _ in parts]), np.concatenate([m for _, m in parts]), label


@pytest.fixture(scope="module")
def mug_grasps():
    points, normals, label = mug()
    return points, label, sample_grasps(points, normals, label == 4, HAND, support_plane=TABLE)


def local_points(candidate, points):
    return candidate.pose_object_pads.inverse().transform(points)


def test_handle_gives_candidates_on_the_mask(mug_grasps):
    points, label, found = mug_grasps
    assert len(found.candidates) >= 10
    handle = points[label == 4]
    for c in found.candidates:
        assert np.linalg.norm(handle - c.contact_m, axis=1).min() < 1e-12
        assert 0.008 < c.width_m < 0.03, "the bar is 10 mm thick"
        assert c.width_m + 2 * GraspOptions().min_clearance_m <= c.opening_m <= HAND.opening_m[1] + 1e-12


def test_no_point_of_the_object_is_in_the_way_of_fingers_or_palm(mug_grasps):
    points, _, found = mug_grasps
    options = GraspOptions()
    palm_x, palm_y = options.palm_half_m
    for c in found.candidates:
        x, y, z = np.abs(local_points(c, points)[:, 0]), *local_points(c, points)[:, 1:].T
        beside = (np.abs(y) > c.opening_m / 2) & (np.abs(y) < c.opening_m / 2 + HAND.finger_thickness_m)
        assert not ((x < HAND.pad_size_m[0] / 2) & beside & (z < HAND.finger_depth_m)).any()
        assert not ((x < palm_x) & (np.abs(y) < palm_y) & (z < -HAND.palm_depth_m)).any()


def test_pads_close_evenly_on_both_sides(mug_grasps):
    points, label, found = mug_grasps
    for c in found.candidates:
        p = local_points(c, points)
        pad = (np.abs(p[:, 0]) < HAND.pad_size_m[0] / 2) & (np.abs(p[:, 2]) < HAND.pad_size_m[1] / 2)
        between = pad & (np.abs(p[:, 1]) < c.opening_m / 2)
        assert p[between, 1].max() == pytest.approx(c.width_m / 2, abs=0.0016)
        assert p[between, 1].min() == pytest.approx(-c.width_m / 2, abs=0.0016)
        assert (label[between] == 4).mean() > 0.9


def test_frames_are_rotations_and_come_with_both_rolls(mug_grasps):
    _, _, found = mug_grasps
    for one, other in zip(found.candidates[::2], found.candidates[1::2], strict=True):
        r, s = one.pose_object_pads.rotation, other.pose_object_pads.rotation
        assert r @ r.T == pytest.approx(np.eye(3), abs=1e-9)
        assert r[:, 2] == pytest.approx(s[:, 2], abs=1e-9)
        assert r[:, 1] == pytest.approx(-s[:, 1], abs=1e-9)
    quality = [c.quality for c in found.candidates]
    assert quality == sorted(quality, reverse=True)
    assert all(0 < q <= 1 for q in quality)


def test_hand_stays_above_the_table(mug_grasps):
    _, _, found = mug_grasps
    for c in found.candidates:
        centre, half = gripper_boxes(np.array([c.opening_m]), HAND, GraspOptions())
        for b in range(3):
            corners = centre[0, b] + half[0, b] * np.array(np.meshgrid(*[[-1, 1]] * 3)).reshape(3, 8).T
            assert c.pose_object_pads.transform(corners)[:, 2].min() > 0


def test_a_turned_and_moved_object_gets_the_same_grasps():
    points, normals, label = mug(3000)
    pose = Pose.from_yaw([0.4, -0.2, 0.7], 0.9)
    here = sample_grasps(points, normals, label == 4, HAND, support_plane=TABLE)
    plane = np.append(TABLE[:3], -0.7)
    there = sample_grasps(pose.transform(points), pose.rotate(normals), label == 4, HAND, support_plane=plane)
    assert abs(len(there.candidates) - len(here.candidates)) <= 0.2 * len(here.candidates) + 2
    a, b = pose @ here.candidates[0].pose_object_pads, there.candidates[0].pose_object_pads
    assert a.distance_to(b) < 1e-6


def test_same_input_same_output():
    points, normals, label = can(2000)
    one, two = (sample_grasps(points, normals, label == 0, HAND, support_plane=TABLE) for _ in range(2))
    assert [c.pose_object_pads.to_list() for c in one.candidates] == [
        c.pose_object_pads.to_list() for c in two.candidates
    ]


def test_can_is_spanned_across_its_diameter():
    points, normals, label = can()
    found = sample_grasps(points, normals, label == 0, HAND, support_plane=TABLE)
    assert len(found.candidates) >= 20
    assert all(0.06 < c.width_m < 0.077 for c in found.candidates), "chords would slip off"
    assert found.candidates[0].width_m == pytest.approx(0.066, abs=0.001)
    side = [c for c in found.candidates if abs(c.pose_object_pads.rotation[2, 2]) < 0.9]
    assert side, "a can is also held from the side"


def test_object_wider_than_the_hand_has_none_and_says_why():
    points, normals, label = can(radius=0.06)
    found = sample_grasps(points, normals, label == 0, HAND, support_plane=TABLE)
    assert found.candidates == ()
    assert found.dropped["too_wide"] > 0


def test_empty_mask_is_a_normal_answer():
    points, normals, label = can(1000)
    assert sample_grasps(points, normals, label == 9, HAND).candidates == ()


def test_two_handles_give_two_clusters():
    rng = np.random.default_rng(4)
    points, normals, label = mug()
    more, outward = loop(rng, 900, at=(0.036, 0, 0.045))
    mirror = np.array([-1.0, 1.0, 1.0])
    points, normals = np.concatenate([points, more * mirror]), np.concatenate([normals, outward * mirror])
    label = np.concatenate([label, np.full(900, 4)])
    found = sample_grasps(points, normals, label == 4, HAND, support_plane=TABLE)
    assert {c.cluster for c in found.candidates} == {0, 1}


def test_neighbour_blocks_only_the_grasps_that_would_touch_it():
    points, normals, label = can()
    box = np.array(np.meshgrid([0.06, 0.16], [-0.1, 0.1], [0.0, 0.2])).reshape(3, 8).T
    alone = sample_grasps(points, normals, label == 0, HAND, support_plane=TABLE)
    beside = sample_grasps(points, normals, label == 0, HAND, support_plane=TABLE, obstacles=[box])
    assert 0 < len(beside.candidates) < len(alone.candidates)
    assert beside.dropped["scene_collision"] > 0
    rng = np.random.default_rng(0)
    inside = rng.uniform(box.min(0), box.max(0), (4000, 3))
    for c in beside.candidates:
        p = local_points(c, inside)
        centre, half = gripper_boxes(np.array([c.opening_m]), HAND, GraspOptions())
        for b in range(3):
            assert not (np.abs(p - centre[0, b]) < half[0, b]).all(1).any()


def test_hull_far_away_or_hugging_is_told_apart():
    position, rotation = np.zeros((1, 3)), np.eye(3)[None]
    boxes = gripper_boxes(np.array([0.04]), HAND, GraspOptions())
    cube = 0.01 * np.array(np.meshgrid(*[[-1.0, 1.0]] * 3)).reshape(3, 8).T
    assert clear_of_hulls(position, rotation, boxes, [cube], margin_m=0.002)[0], "it fits between the fingers"
    assert not clear_of_hulls(position, rotation, boxes, [cube + np.array([0, 0.03, 0])], margin_m=0.002)[0]
    assert not clear_of_hulls(position, rotation, boxes, [cube - [0, 0, 0.04]], margin_m=0.002)[0]
    assert clear_of_hulls(position, rotation, boxes, [cube + np.array([0, 0, 1.0])], margin_m=0.002)[0]


def test_slanted_hull_needs_its_own_face_normals():
    position, rotation = np.zeros((1, 3)), np.eye(3)[None]
    boxes = gripper_boxes(np.array([0.04]), HAND, GraspOptions())
    slab = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.01, 0.0])).reshape(3, 8).T
    tilt = Pose([0.0, 0.0, 0.075], [np.cos(0.25), 0.0, np.sin(0.25), 0.0])
    assert clear_of_hulls(position, rotation, boxes, [tilt.transform(slab)], margin_m=0.001)[0]
    near = Pose([0.0, 0.0, 0.012], tilt.quat_wxyz)
    assert not clear_of_hulls(position, rotation, boxes, [near.transform(slab)], margin_m=0.001)[0]


def test_table_plane_in_a_tilted_frame():
    pose = Pose([0.3, 0.1, 0.8], [np.cos(0.4), np.sin(0.4), 0.0, 0.0])
    plane = table_plane(pose, table_z_m=0.5)
    for height in (-0.1, 0.0, 0.2):
        p = pose.inverse().transform([1.0, -2.0, 0.5 + height])
        assert plane[:3] @ p + plane[3] == pytest.approx(height)


def test_wrong_shapes_are_misuse():
    points, normals, label = can(500)
    with pytest.raises(UsageError, match="mask"):
        sample_grasps(points, normals, (label == 0)[:-1], HAND)
    with pytest.raises(UsageError, match="at least"):
        GraspOptions(approaches=0)


@pytest.mark.parametrize("pad_z_m, depth_m", [(0.02, 0.0105), (0.0375, 0.0188)])
def test_what_is_flatter_than_a_fingers_end_is_held_right_above_the_table(pad_z_m, depth_m):
    rng = np.random.default_rng(0)
    points, normals = cylinder(rng, 1500, radius=0.005, height=0.14)
    points, normals = points[:, [2, 0, 1]] + [0.0, 0.0, 0.005], normals[:, [2, 0, 1]]
    hand = HAND.model_copy(update={"pad_size_m": (0.02, pad_z_m), "finger_depth_m": depth_m})
    found = sample_grasps(
        points, normals, np.ones(len(points), bool), hand, options=GraspOptions().thorough(), support_plane=TABLE
    )
    assert len(found.candidates) > 8
    tips = [c.pose_object_pads.position_m[2] + depth_m * c.pose_object_pads.rotation[2, 2] for c in found.candidates]
    assert 0.001 < tips[0] < 0.005 < tips[0] + pad_z_m, "the pads of the best get around the widest of it"
    assert min(tips) > 0.001
    assert all(c.beyond_m > 0.001 for c in found.candidates)


def test_a_cone_held_across_the_end_of_a_region_is_touched_at_its_wide_end():
    rng = np.random.default_rng(3)
    a, z = rng.uniform(0, 2 * np.pi, 6000), rng.uniform(0, 0.1, 6000)
    slope, radius = 0.1, 0.024 + 0.1 * z
    normals = np.c_[np.cos(a), np.sin(a), np.full(len(a), -slope)] / np.hypot(1, slope)
    points = np.c_[radius * np.cos(a), radius * np.sin(a), z]
    body = z < 0.088  # The rest is its rim, which is not asked for.
    grasps = sample_grasps(points, normals, body, HAND, support_plane=TABLE)
    level = [g for g in grasps.candidates if abs(g.pose_object_pads.rotation[2, 0]) > 0.99]
    assert level
    for grasp in level:
        local = grasp.pose_object_pads.inverse().transform(points)
        # Fingers are a little wider than their pads, and the wide end is met first.
        near = (np.abs(local[:, 0]) < 0.5 * HAND.pad_size_m[0] + 0.001) & (np.abs(local[:, 2]) < 0.01)
        assert body[near].all(), grasp.pose_object_pads.position_m
