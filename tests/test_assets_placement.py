"""Poses by relation, checked against the meshes themselves."""

import numpy as np
import pytest

from armwright.assets.beneath import room_under
from armwright.assets.footprint import Footprint, all_vertices, surface_points
from armwright.assets.library import default_library
from armwright.assets.placement import ABOVE_M, GAP_M, MARGIN_M, TableBounds, placements, standing
from armwright.core.errors import UsageError
from armwright.core.pose import Pose

TARGET = Pose.from_yaw([0.55, 0.1, 0.0], 0.7)
BOUNDS = TableBounds(x_m=(0.1, 1.0), y_m=(-0.6, 0.6))


def build(category, instance=2):
    return default_library().build(category, instance=instance)


def draw(held, target, relation, *, seed=0, pose=TARGET, **more):
    return placements(
        held, target, relation, rng=np.random.default_rng(seed), pose_world_target=pose, bounds=BOUNDS, **more
    )


def world_vertices(model, placement):
    return placement.pose_world_object.transform(all_vertices(model))


@pytest.mark.parametrize(
    ("held", "target"),
    [("mug", "plate"), ("can", "tray"), ("cube", "box"), ("carrot", "cutting_board"), ("can", "can")],
)
def test_on_rests_on_the_surface_without_cutting_into_it(held, target):
    a, b = build(held), build(target)
    found = draw(a, b, "on")
    assert len(found) >= 4
    top = TARGET.transform(surface_points(b))
    for p in found:
        v = world_vertices(a, p)
        surface = next(s for s in b.supports if s.name == p.support)
        height = (TARGET @ surface.pose_object_surface).position_m[2]
        assert p.kind == "rest"
        assert -1e-9 <= v[:, 2].min() - height < 0.02
        inside = TARGET.inverse().transform(p.pose_world_object.transform(0.5 * sum(a.bounds_m)))
        assert (np.abs(inside[:2]) <= np.add(surface.half_extents_m, 1e-6)).all()
    center = found[0].pose_world_object.position_m[:2]
    assert np.linalg.norm(center - top.mean(0)[:2]) < 0.12


def test_a_mug_between_a_shelfs_walls_stands_on_the_board_and_does_not_hang_by_its_handle():
    mug, shelf = build("mug"), build("shelf")
    board = max(shelf.supports, key=lambda s: s.pose_object_surface.position_m[2])
    height = (TARGET @ board.pose_object_surface).position_m[2]
    assert all_vertices(shelf)[:, 2].max() > board.pose_object_surface.position_m[2] + 0.04, "walls stick out over it"
    found = [p for p in draw(mug, shelf, "on", n=60) if p.support == board.name]
    assert len(found) > 20
    assert max(world_vertices(mug, p)[:, 2].min() for p in found) < height + 0.006


def test_shelf_offers_each_board_with_headroom_only():
    can, shelf = build("can"), build("shelf")
    found = draw(can, shelf, "on", n=24)
    assert {p.support for p in found} == {s.name for s in shelf.supports}
    tall = build("bottle")
    height = np.ptp(all_vertices(tall)[:, 2])
    for p in draw(tall, shelf, "on", n=24):
        surface = next(s for s in shelf.supports if s.name == p.support)
        assert surface.clearance_m > height


@pytest.mark.parametrize(
    ("held", "target"), [("cube", "bowl"), ("can", "basket"), ("banana", "bowl"), ("carrot", "pan")]
)
def test_in_does_not_cut_into_the_container_and_starts_within_it(held, target):
    a, b = build(held), build(target)
    found = draw(a, b, "in")
    assert found
    cavity = b.containers[0]
    for p in found:
        assert p.kind == "drop"
        v = TARGET.inverse().transform(world_vertices(a, p))
        assert v[:, 2].min() >= cavity.floor_z_m - 1e-6
        assert v[:, 2].min() <= cavity.rim_z_m + 0.005
        middle = 0.5 * (v.min(0) + v.max(0))
        assert np.linalg.norm(middle[:2] - cavity.center_m[:2]) < 0.08


def test_long_things_are_offered_flat_and_one_end_first():
    found = draw(build("banana", 0), build("bowl", 0), "in", n=200)
    assert found[0].tilt_rad == 0
    assert {round(abs(p.tilt_rad), 2) for p in found} >= {0.0, 0.65}


@pytest.mark.parametrize("yaw", [0.0, 0.3, 0.8])
def test_a_cube_whose_corners_do_not_pass_the_rim_is_not_offered(yaw):
    turned, tried = Pose.from_yaw(np.zeros(3), yaw), set()
    for instance in range(12):
        cube, cup = build("cube", instance), build("cup", 5 * instance)
        across = np.sqrt(2) * np.ptp(cube.bounds_m, axis=0)[0] / np.ptp(cup.bounds_m, axis=0)[0]
        found = placements(cube, cup, "in", rng=np.random.default_rng(0), n=9, pose_world_held=turned)
        assert not found or across < 0.95
        tried.add(bool(found))
    assert tried == {False, True}


@pytest.mark.parametrize("yaw", [0.0, 0.4, 1.1])
def test_a_cube_that_just_fits_a_cup_does_so_however_the_cup_is_turned(yaw):
    cube, cup = build("cube", 0), build("cup", 12)
    found = placements(
        cube, cup, "in", rng=np.random.default_rng(1), n=9, pose_world_target=Pose.from_yaw([0.4, 0.2, 0], yaw)
    )
    assert len(found) == 9
    assert found[0].pose_world_object.position_m[2] < cup.containers[0].floor_z_m + 0.01


def test_a_cube_that_would_stick_high_up_in_a_cup_is_not_offered():
    cube, cup = build("cube", 7), build("cup", 22)
    for p in placements(cube, cup, "in", rng=np.random.default_rng(1), n=9):
        floor, rim = cup.containers[0].floor_z_m, cup.containers[0].rim_z_m
        assert p.pose_world_object.position_m[2] < floor + 0.62 * (rim - floor)


def test_pens_are_stuck_into_cups():
    pen, cup = build("pen", 0), build("cup", 0)
    found = draw(pen, cup, "in", n=9)
    assert found and all(abs(p.tilt_rad) > 1.2 for p in found)


def test_paper_cups_nest_with_the_narrow_end_deep_inside():
    found = draw(build("paper_cup", 2), build("paper_cup", 7), "in")
    cavity = build("paper_cup", 7).containers[0]
    assert found
    for p in found:
        v = TARGET.inverse().transform(world_vertices(build("paper_cup", 2), p))
        assert cavity.floor_z_m < v[:, 2].min() < cavity.floor_z_m + 0.6 * (cavity.rim_z_m - cavity.floor_z_m)


@pytest.mark.parametrize("held", ["mug", "cup", "can"])
def test_under_a_machine_with_a_foot_is_on_the_foot_clear_of_the_rest(held):
    a, b = build(held), build("coffee_machine")
    found = draw(a, b, "under")
    (tray,) = room_under(b).surfaces
    solid = TARGET.transform(surface_points(b))
    assert found and {p.support for p in found} == {"tray"}
    for p in found:
        low, high = world_vertices(a, p).min(0), world_vertices(a, p).max(0)
        assert p.kind == "rest"
        assert low[2] == pytest.approx((TARGET @ tray.pose_object_surface).position_m[2] + 0.001, abs=1e-6)
        over = ((solid[:, :2] > low[:2]) & (solid[:, :2] < high[:2])).all(1)
        assert not ((solid[over, 2] > low[2] + 0.012) & (solid[over, 2] < high[2] + 0.012)).any()
        assert (solid[over, 2] > high[2]).any()


def test_under_a_shelf_is_on_the_table():
    found = draw(build("cube"), build("shelf"), "under")
    assert found and {p.support for p in found} == {"table"}


@pytest.mark.parametrize(
    ("held", "target", "relation"),
    [
        ("shelf", "mug", "in"),
        ("pan", "bowl", "in"),
        ("can", "pot", "in"),
        ("bowl", "cabinet", "in"),
        ("mug", "mug_rack", "on"),
        ("shelf", "plate", "on"),
        ("mug", "plate", "under"),
        ("can", "shelf", "under"),
        ("cup", "microwave", "under"),
        ("cube", "microwave", "under"),
    ],
)
def test_impossible_relations_give_none(held, target, relation):
    assert draw(build(held), build(target), relation) == []


@pytest.mark.parametrize("relation", ["left_of", "right_of", "in_front_of", "behind", "next_to"])
@pytest.mark.parametrize("seed", range(4))
def test_beside_keeps_side_gap_and_table(relation, seed):
    a, b = build("bottle", seed), build("box", seed)
    other = Footprint.from_model(b, TARGET)
    found = draw(a, b, relation, seed=seed, n=12)
    assert found
    for p in found:
        own = Footprint.from_model(a, p.pose_world_object)
        low, high = own.outline_m.min(0), own.outline_m.max(0)
        other_low, other_high = other.outline_m.min(0), other.outline_m.max(0)
        gaps = {
            "left_of": low[1] - other_high[1],
            "right_of": other_low[1] - high[1],
            "in_front_of": other_low[0] - high[0],
            "behind": low[0] - other_high[0],
        }
        gap = gaps.get(relation, max(gaps.values()))
        assert GAP_M[0] - 1e-6 <= gap <= GAP_M[1] + 1e-6
        assert BOUNDS.contains(own.outline_m)
        assert not own.overlaps(other)
        assert 0 < own.z_m[0] < 0.005


def test_obstacles_and_free_are_respected():
    a, b = build("cup"), build("box")
    wall = Footprint(np.array([[0.3, 0.2], [0.9, 0.2], [0.9, 0.27], [0.3, 0.27]]), (0.0, 0.3))
    for p in draw(a, b, "left_of", obstacles=[wall], n=12):
        assert not Footprint.from_model(a, p.pose_world_object).overlaps(wall, margin_m=MARGIN_M)
    blocked = Footprint(np.array([[-1.0, -1.0], [2.0, -1.0], [2.0, 1.0], [-1.0, 1.0]]), (0.0, 0.3))
    assert draw(a, b, "left_of", obstacles=[blocked]) == []
    assert draw(a, b, "left_of", free=lambda pose: False) == []
    assert all(
        p.pose_world_object.position_m[0] > 0.56 for p in draw(a, b, "next_to", free=lambda q: q.position_m[0] > 0.56)
    )


def test_above_is_over_the_middle_and_high_enough():
    a, b = build("cup"), build("tray")
    other = Footprint.from_model(b, TARGET)
    found = draw(a, b, "above")
    assert len(found) >= 8
    for p in found:
        own = Footprint.from_model(a, p.pose_world_object)
        assert p.kind == "hold"
        assert ABOVE_M[0] - 1e-6 <= own.z_m[0] - other.z_m[1] <= ABOVE_M[1] + 1e-6
        assert own.center_m == pytest.approx(other.center_m, abs=1e-6)


def test_table_only_for_on_and_inside_bounds():
    can = build("can")
    for p in draw(can, None, "on"):
        assert BOUNDS.contains(Footprint.from_model(can, p.pose_world_object).outline_m)
    with pytest.raises(UsageError, match="target"):
        draw(can, None, "behind")


def test_tilt_of_the_held_object_is_kept_but_for_the_turn():
    lying = Pose([0.0, 0.0, 0.0], [np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0])
    bottle = build("bottle")
    for p in draw(bottle, build("tray"), "on", pose_world_held=lying):
        assert p.pose_world_object.rotation[2, 2] == pytest.approx(lying.rotation[2, 2], abs=1e-9)
        assert world_vertices(bottle, p)[:, 2].min() > 0


def test_same_seed_same_poses():
    a, b = build("mug"), build("plate")
    one, two = draw(a, b, "on", seed=5), draw(a, b, "on", seed=5)
    assert [p.pose_world_object.to_list() for p in one] == [p.pose_world_object.to_list() for p in two]


@pytest.mark.parametrize(("tilt_deg", "straightened"), [(0.5, False), (20.0, True), (55.0, True), (90.0, False)])
def test_what_leans_is_put_down_upright_and_what_lies_as_it_is(tilt_deg, straightened):
    model = default_library().build("bottle", instance=0)
    lean = np.deg2rad(tilt_deg) / 2
    pose = Pose([0.1, 0.2, 0.3], [np.cos(lean), np.sin(lean), 0.0, 0.0]) @ Pose.from_yaw([0.0, 0.0, 0.0], 0.7)
    found = standing(model, pose)
    assert np.array_equal(found.position_m, pose.position_m)
    if straightened:
        np.testing.assert_allclose(found.rotate([0.0, 0.0, 1.0]), [0.0, 0.0, 1.0], atol=1e-9)
        assert found.angle_to(pose) == pytest.approx(np.deg2rad(tilt_deg))  # the shortest turn
    else:
        assert found is pose


def test_a_long_thing_is_moved_aside_across_its_length_and_laid_square():
    plate, carrot = build("plate", 0), build("carrot", 0)
    middle = TARGET.transform(plate.supports[0].pose_object_surface.position_m)
    found = draw(carrot, plate, "on", n=24)
    aside = [np.linalg.norm(Footprint.from_model(carrot, p.pose_world_object).center_m - middle[:2]) for p in found]
    assert max(aside) > 0.01


@pytest.mark.parametrize("yaw", [0.0, 0.3, 0.79])
def test_a_wide_cube_is_put_square_on_a_narrow_one(yaw):
    cubes = sorted((build("cube", i) for i in range(24)), key=lambda cube: float(np.ptp(cube.bounds_m, axis=0)[0]))
    turned = Pose.from_yaw(np.zeros(3), yaw)
    found = placements(cubes[-1], cubes[0], "on", rng=np.random.default_rng(3), n=4, pose_world_held=turned)
    assert len(found) == 4
    off = (found[0].pose_world_object.yaw_rad + np.pi / 4) % (np.pi / 2) - np.pi / 4
    assert abs(off) < 0.05
