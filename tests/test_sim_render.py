from __future__ import annotations

import mujoco
import numpy as np
import pytest

from armwright.core.camera import CameraModel
from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.pose import Pose
from armwright.robots.station import looking_at
from armwright.sim.backend import choose_backend
from armwright.sim.cameras import RENDERERS
from armwright.sim.render import Renderer
from armwright.sim.world import World
from sim_scenes import clutter, franka

GL = choose_backend("auto").name
BACKENDS = sorted({GL, "rays"})
BALL_AT = np.array([0.13, -0.21, 1.4])


def ball_model() -> tuple[object, object]:
    xml = (
        '<mujoco><statistic extent="1"/><visual><map znear="0.01" zfar="20"/></visual><worldbody>'
        '<light dir="0 0 1" directional="true" pos="0 0 -3"/>'
        f'<geom name="ball" size="0.05" rgba="0 1 0 1" pos="{BALL_AT[0]} {BALL_AT[1]} {BALL_AT[2]}"/>'
        '<body name="wall"><geom type="box" size="5 5 .1" pos="0 0 3" rgba="0 0 1 1"/></body>'
        "</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    return model, data


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(
    "camera",
    [
        CameraModel.from_fov(width=160, height=120, fovy_deg=50, pose_world_camera=Pose()),
        CameraModel(161, 119, 150.0, 120.0, 70.5, 66.0, Pose()),
        CameraModel(128, 128, 140.0, 140.0, 64.0, 64.0, looking_at((0.9, 0.3, 0.2), (0.1, -0.2, 1.4))),
    ],
    ids=["centred", "oblong pixels off centre", "turned"],
)
def test_known_point_lands_on_its_pixel(backend, camera):
    model, data = ball_model()
    with Renderer(model, width=camera.width, height=camera.height, backend=backend) as renderer:
        frame = renderer.render(data, camera, depth=True, segmentation=True)
    (u, v), depth = camera.project(BALL_AT[None])[0][0], camera.project(BALL_AT[None])[1][0]
    rows, columns = np.nonzero((frame.segmentation == 0) & (frame.rgb[..., 1] > frame.rgb[..., 2]))
    assert len(rows) > 4
    assert abs(columns.mean() + 0.5 - u) < 1.0
    assert abs(rows.mean() + 0.5 - v) < 1.0
    assert abs(frame.depth_m[rows, columns].min() - (depth - 0.05)) < 2e-3


@pytest.mark.parametrize("backend", BACKENDS)
def test_background_and_bodies(backend):
    model, data = ball_model()
    camera = CameraModel.from_fov(
        width=64, height=64, fovy_deg=40, pose_world_camera=Pose(quat_wxyz=np.array([0.0, 1, 0, 0]))
    )
    with Renderer(model, width=64, height=64, backend=backend) as renderer:
        away = renderer.render(data, camera, depth=True, segmentation=True)
        ahead = renderer.render(
            data, CameraModel.from_fov(width=64, height=64, fovy_deg=40, pose_world_camera=Pose()), segmentation=True
        )
    assert (away.segmentation == -1).all() and (away.depth_m == 0).all()
    assert ahead.segmentation[32, 32] == model.body("wall").id
    assert ahead.depth_m is None


@pytest.fixture(scope="module")
def frames():
    scene, models = clutter()
    world = World(scene, objects=models, robot=franka())
    world.step(50)
    drawn = {}
    for backend in BACKENDS:
        for name in ("front", "wrist"):
            camera = world.cameras[name]
            with Renderer(world.truth.model, width=256, height=256, backend=backend) as renderer:
                data = world.truth.data
                drawn[backend, name] = renderer.render(data, camera.model, depth=True, segmentation=True)
    return drawn


@pytest.mark.skipif(GL == "rays", reason="no OpenGL here to compare with")
@pytest.mark.parametrize("name", ["front", "wrist"])
def test_backends_agree(frames, name):
    a, b = frames[GL, name], frames["rays", name]
    both = (a.depth_m > 0) & (b.depth_m > 0)
    assert both.mean() > 0.5
    assert np.median(np.abs(a.depth_m - b.depth_m)[both]) < 1e-3
    assert (a.segmentation == b.segmentation).mean() > 0.995
    assert np.abs(a.rgb.astype(float) - b.rgb).mean() < 20


def test_layers_are_drawn_only_when_asked(frames):
    model, data = ball_model()
    camera = CameraModel.from_fov(width=16, height=16, fovy_deg=40, pose_world_camera=Pose())
    with Renderer(model, width=16, height=16, backend="rays") as renderer:
        frame = renderer.render(data, camera, rgb=False, depth=True)
        assert frame.rgb is None and frame.segmentation is None and frame.depth_m is not None
        with pytest.raises(UsageError, match="16x16"):
            renderer.render(data, CameraModel.from_fov(width=8, height=8, fovy_deg=40, pose_world_camera=Pose()))
        with pytest.raises(UnknownNameError):
            renderer.render(data, "nothing")


@pytest.mark.skipif(GL == "rays", reason="no OpenGL here")
def test_renderers_of_several_sizes_do_not_disturb_each_other():
    model, data = ball_model()
    sizes = (32, 64, 48)
    cameras = {s: CameraModel.from_fov(width=s, height=s, fovy_deg=40, pose_world_camera=Pose()) for s in sizes}
    alone = {}
    for s in sizes:
        with Renderer(model, width=s, height=s, backend=GL) as renderer:
            alone[s] = renderer.render(data, cameras[s]).rgb
    open_at_once = {s: Renderer(model, width=s, height=s, backend=GL) for s in sizes}
    for s in (*sizes, *reversed(sizes)):
        np.testing.assert_array_equal(open_at_once[s].render(data, cameras[s]).rgb, alone[s])
    open_at_once[64].close()
    np.testing.assert_array_equal(open_at_once[32].render(data, cameras[32]).rgb, alone[32])


def test_pool_keeps_few_renderers():
    models = [ball_model()[0] for _ in range(6)]
    for model in models:
        RENDERERS.get(model, width=16, height=16, backend="rays", shadows=False, samples=0)
    assert len(RENDERERS._open) <= 3
    RENDERERS.clear()
