"""Reconstruction around stand-ins of the networks' signatures, on views of a simulated table whose depth is known."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from armwright.core.camera import CameraModel
from armwright.core.errors import MissingDependencyError, UsageError
from armwright.core.pose import Pose
from armwright.sim.build import build_objects
from armwright.sim.reconstruction import (
    PROCESS_PX,
    Views,
    initial_field,
    load_depth_model,
    photographs,
    reconstruct,
    views_of,
)
from armwright.sim.render import Renderer
from armwright.sim.splat_files import load_field
from armwright.sim.splats import orbit_cameras, render_field
from sim_scenes import clutter

SIZE = (96, 128)


@dataclass
class Prediction:
    """The fields of Depth Anything 3's answer that are used."""

    depth: Any
    conf: Any
    sky: Any
    extrinsics: Any
    intrinsics: Any
    processed_images: Any


class StandIn:
    """Answers `inference` with what a renderer knows, in the frame of the first camera as the network does."""

    def __init__(self, answer: Prediction) -> None:
        self.answer = answer
        self.asked: dict[str, Any] = {}

    def inference(
        self, image: list[Any], *, process_res: int, process_res_method: str, export_dir: str | None
    ) -> Prediction:
        self.asked = {"image": image, "process_res": process_res, "method": process_res_method, "export": export_dir}
        return self.answer


@pytest.fixture(scope="module")
def place() -> tuple[Prediction, list[CameraModel], np.ndarray]:
    """Twelve views of a table, all but the held-out one of which are photographs, and that one's picture."""
    model, data = build_objects(*clutter())
    cameras = list(orbit_cameras(Pose(), scale=0.0625))
    with Renderer(model, width=SIZE[1], height=SIZE[0]) as renderer:
        frames = [renderer.render(data, camera, rgb=True, depth=True) for camera in cameras]
    held = 5
    first = cameras[0].pose_world_camera
    seen = [k for k in range(len(cameras)) if k != held]
    pinhole = np.array([[cameras[0].fx, 0, cameras[0].cx], [0, cameras[0].fy, cameras[0].cy], [0, 0, 1]])
    depth = np.stack([frames[k].depth_m for k in seen])
    answer = Prediction(
        depth=depth,
        conf=1.0 / (1.0 + depth),
        sky=None,
        extrinsics=np.stack([(first.inverse() @ cameras[k].pose_world_camera).inverse().matrix()[:3] for k in seen]),
        intrinsics=np.tile(pinhole, (len(seen), 1, 1)),
        processed_images=np.stack([frames[k].rgb for k in seen]),
    )
    assert frames[held].rgb is not None
    return answer, [*(cameras[k] for k in seen), cameras[held]], frames[held].rgb


@pytest.fixture
def folder(tmp_path: Path, place: tuple[Prediction, list[CameraModel], np.ndarray]) -> Path:
    photos = tmp_path / "photos"
    photos.mkdir()
    for k, rgb in enumerate(place[0].processed_images):
        Image.fromarray(rgb).save(photos / f"{k:02d}.png")
    return photos


def test_a_place_is_seen_from_a_view_that_no_photograph_shows(
    folder: Path, tmp_path: Path, place: tuple[Prediction, list[CameraModel], np.ndarray]
) -> None:
    answer, cameras, truth = place
    model = StandIn(replace(answer, conf=None))
    out = tmp_path / "place.ply"
    reconstruct(
        folder, out, depth_model=model, refine=lambda field, views: field, pose_base_first=cameras[0].pose_world_camera
    )
    assert model.asked["process_res"] == PROCESS_PX and model.asked["export"] is None
    assert [Path(p).name for p in model.asked["image"]] == [f"{k:02d}.png" for k in range(11)]
    drawn = render_field(load_field(out), cameras[-1])
    covered = drawn.alpha > 0.9
    assert covered.mean() > 0.6
    error = np.abs(drawn.rgb.astype(float) - truth)[covered].mean()
    wrong = np.abs(drawn.rgb[:, ::-1].astype(float) - truth)[covered].mean()
    assert error < 12 and wrong > 2 * error


def test_unsure_depth_and_sky_are_left_out(place: tuple[Prediction, list[CameraModel], np.ndarray]) -> None:
    answer = place[0]
    every = views_of(replace(answer, conf=None), 11).depth_m > 0
    sure = views_of(answer, 11).depth_m > 0
    assert sure.mean() == pytest.approx(0.6, abs=0.05)
    assert (every | ~sure).all()
    sky = np.zeros(answer.depth.shape)
    sky[:, :10] = 1.0
    assert not views_of(replace(answer, conf=None, sky=sky), 11).depth_m[:, :10].any()


def test_no_more_gaussians_than_allowed(place: tuple[Prediction, list[CameraModel], np.ndarray]) -> None:
    assert len(initial_field(views_of(place[0], 11), limit=500)) == 500


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"extrinsics": None}, "gave no extrinsics"),
        ({"depth": np.ones((3, *SIZE))}, r"depth is \(3, 96, 128\); for 11 photographs"),
        ({"depth": np.zeros((11, *SIZE))}, "sure of no depth"),
        ({"intrinsics": np.full((11, 3, 3), np.nan)}, "not finite"),
        ({"processed_images": np.zeros((11, 5, 5, 3))}, "processed_images is"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused(
    place: tuple[Prediction, list[CameraModel], np.ndarray], change: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        views_of(replace(place[0], **change), 11)


@pytest.mark.parametrize("count", [9, 21])
def test_too_few_and_too_many_photographs_are_refused(tmp_path: Path, count: int) -> None:
    for k in range(count):
        Image.fromarray(np.zeros((4, 4, 3), np.uint8)).save(tmp_path / f"{k}.png")
    with pytest.raises(UsageError, match=f"holds {count} photographs; a place is reconstructed from 10 to 20"):
        photographs(tmp_path)


def test_a_missing_network_names_its_install_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "depth_anything_3.api", None)
    with pytest.raises(MissingDependencyError, match="pip install"):
        load_depth_model()


def test_the_refinement_brings_a_spoilt_field_back() -> None:
    torch = pytest.importorskip("torch")
    from armwright.sim._refine import refine_field, similarity
    from armwright.sim.gaussians import colour_field

    def rasterization(
        means: Any,
        quats: Any,
        scales: Any,
        opacities: Any,
        colors: Any,
        viewmats: Any,
        Ks: Any,
        width: int,
        height: int,
        *,
        sh_degree: int,
        packed: bool,
    ) -> tuple[Any, Any, dict[str, Any]]:
        """gsplat's signature; round Gaussians, every one at every pixel."""
        assert sh_degree == 0 and not packed and colors.shape[1:] == (1, 3)
        local = means @ viewmats[0, :3, :3].T + viewmats[0, :3, 3]
        order = torch.argsort(local[:, 2])
        z = local[order, 2]
        u = Ks[0, 0, 0] * local[order, 0] / z + Ks[0, 0, 2]
        v = Ks[0, 1, 1] * local[order, 1] / z + Ks[0, 1, 2]
        size = (Ks[0, 0, 0] * scales[order].mean(1) / z) ** 2 + 0.3
        row, column = torch.meshgrid(torch.arange(height) + 0.5, torch.arange(width) + 0.5, indexing="ij")
        square = ((column[..., None] - u) ** 2 + (row[..., None] - v) ** 2) / size
        alpha = torch.clamp(opacities[order] * torch.exp(-0.5 * square), max=0.99)
        through = torch.cumprod(torch.cat([torch.ones_like(alpha[..., :1]), 1 - alpha[..., :-1]], -1), -1)
        shade = torch.clamp(0.5 + 0.28209479177387814 * colors[order, 0], min=0)
        return ((through * alpha) @ shade)[None], None, {}

    rng = np.random.default_rng(0)
    mean = np.c_[rng.uniform(-0.5, 0.5, (60, 2)), rng.uniform(1.8, 2.2, 60)].astype(np.float32)
    size = np.full((60, 3), 0.08, np.float32)
    truth = colour_field(mean, size, rng.random((60, 3)).astype(np.float32))
    poses = [Pose.from_yaw((0.0, 0.0, 0.0), 0.0), Pose(np.array([0.2, 0, 0])), Pose(np.array([0, -0.2, 0]))]
    cameras = [CameraModel(32, 32, 40.0, 40.0, 16.0, 16.0, pose) for pose in poses]
    views = Views(
        np.stack([render_field(truth, camera).rgb for camera in cameras]),
        np.ones((3, 32, 32), np.float32),
        np.stack([pose.inverse().matrix() for pose in poses]),
        np.tile(np.array([[40.0, 0, 16], [0, 40, 16], [0, 0, 1]]), (3, 1, 1)),
    )
    spoilt = replace(truth, sh=np.zeros_like(truth.sh))
    arguments: dict[str, Any] = {"rasterization": rasterization, "ssim_weight": 0.05, "device": "cpu"}
    better = refine_field(spoilt, views, iterations=250, **arguments)

    def error(field: Any) -> float:
        drawn = np.stack([render_field(field, camera).rgb for camera in cameras]).astype(float)
        return float(np.abs(drawn - views.rgb).mean())

    assert error(better) < 0.5 * error(spoilt)
    images = torch.tensor(views.rgb).float() / 255
    assert float(similarity(images, images)) == pytest.approx(1.0, abs=1e-5)
    assert float(similarity(images, 1 - images)) < 0.5
