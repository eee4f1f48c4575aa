"""Level surfaces and the vertical, found in fused depth; and a shelf's frame made of them."""

import numpy as np
import pytest

from armwright.core.errors import ArmwrightError
from armwright.core.pose import Pose
from armwright.perception.boards import level_boards, plan_axes, vertical
from armwright.perception.surface import Surface, surface
from armwright.perception.tsdf import empty_tsdf, integrate, prepare_view
from armwright.shelf.boards import find_shelf
from perception_scenes import Thing, looking, render

VOXEL = 0.015
HEIGHTS = (0.02, 0.36)


@pytest.fixture(scope="module")
def seen():
    boards = [Thing((0.15, 0.0, z - 0.009), (0.15, 0.45, 0.009), (120, 90, 60)) for z in HEIGHTS]
    wall = Thing((0.31, 0.0, 0.4), (0.01, 0.45, 0.42), (90, 90, 90))
    cameras = [looking((-0.75, y, z), (0.12, 0.4 * y, 0.2)) for y in (-0.5, 0.0, 0.5) for z in (0.35, 0.75)]
    volume = empty_tsdf(VOXEL)
    for camera in cameras:
        integrate(volume, prepare_view(render([*boards, wall], camera)[0]))
    return surface(volume), cameras


def test_the_vertical_is_what_boards_share(seen):
    mesh, cameras = seen
    assert vertical(mesh, cameras, cell_m=VOXEL) @ [0, 0, 1] > np.cos(np.deg2rad(2))


def test_boards_are_found_at_their_heights(seen):
    found = level_boards(seen[0], cell_m=VOXEL)
    assert np.allclose([b.height_m for b in found], HEIGHTS, atol=0.008)
    assert all(0.1 < b.area_m2 < 0.35 for b in found)


def test_a_shelf_stands_where_its_boards_are(seen):
    mesh, cameras = seen
    found = find_shelf(mesh, cameras, cell_m=VOXEL)
    assert np.allclose(np.diff(found.shelf.boards_m), np.diff(HEIGHTS), atol=0.01)
    assert abs(found.shelf.width_m - 0.90) < 0.05 and abs(found.shelf.depth_m - 0.30) < 0.05
    # Its frame: middle of the front edge, x into the depth, y to the left, z up.
    assert np.abs(found.pose_world_shelf.position_m - (0.0, 0.0, 0.02)).max() < 0.03
    assert np.abs(found.pose_world_shelf.rotation - np.eye(3)).max() < 0.05


def test_a_tilted_world_gives_the_same_shelf(seen):
    mesh, cameras = seen
    turn = Pose.from_rotation(
        Pose.from_yaw((0, 0, 0), 0.4).rotation @ np.array([[1, 0, 0], [0, 0.8, -0.6], [0, 0.6, 0.8]])
    )
    moved = Surface(turn.transform(mesh.points_m), turn.rotate(mesh.normals), mesh.rgb, mesh.faces)
    turned = [type(c)(c.width, c.height, c.fx, c.fy, c.cx, c.cy, turn @ c.pose_world_camera) for c in cameras]
    found = find_shelf(moved, turned, cell_m=VOXEL)
    assert (turn.inverse() @ found.pose_world_shelf).rotation[:, 2] @ [0, 0, 1] > 0.999
    assert np.allclose(np.diff(found.shelf.boards_m), np.diff(HEIGHTS), atol=0.01)


def test_nothing_level_is_said_so(seen):
    _, cameras = seen
    facing = np.tile(np.float32([-1, 0, 0]), (100, 1))
    wall = Surface(np.zeros((100, 3), np.float32), facing, np.zeros((100, 3), np.uint8), np.zeros((0, 3), np.int32))
    with pytest.raises(ArmwrightError, match="no level surface"):
        find_shelf(wall, cameras, cell_m=VOXEL)
    with pytest.raises(ArmwrightError, match="no level surface of the size"):
        find_shelf(wall, cameras, cell_m=VOXEL, up=np.array([0.0, 0.0, 1.0]))
    with pytest.raises(ArmwrightError, match="at least one camera"):
        vertical(wall, [], cell_m=VOXEL)


@pytest.mark.parametrize("up", [(0, 0, 1), (1, 2, 3), (0, -1, 0.01)])
def test_plan_axes_are_level_and_right_handed(up):
    a, b = plan_axes(up)
    axis = np.array(up) / np.linalg.norm(up)
    assert abs(a @ axis) < 1e-9 and abs(b @ axis) < 1e-9 and np.cross(a, b) @ axis > 0.999
