"""The Gaussian renderer against one Gaussian worked out by hand and a plain per-pixel reference, and its files."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.special import sph_harm_y

from armwright.assets.randomise import BackgroundLook
from armwright.core.camera import CameraModel
from armwright.core.errors import UsageError
from armwright.core.pose import Pose, quat_to_matrix
from armwright.robots.station import looking_at
from armwright.sim._splat_kernels import basis
from armwright.sim.backdrop import anchored
from armwright.sim.gaussians import GaussianField, colour_field
from armwright.sim.rooms import room_field
from armwright.sim.splat_files import load_field, write_field
from armwright.sim.splats import blend_field, orbit_cameras, render_field


def camera(px: int = 48, *, pose: Pose | None = None) -> CameraModel:
    return CameraModel(px, px - 8, 60.0, 64.0, 0.47 * px, 0.44 * px, pose or Pose())


def random_field(n: int, seed: int, *, k: int = 16) -> GaussianField:
    rng = np.random.default_rng(seed)
    quat = rng.standard_normal((n, 4))
    return GaussianField(
        (rng.uniform(-1, 1, (n, 3)) * (1.2, 1.2, 1.5) + (0, 0, 2.2)).astype(np.float32),
        np.exp(rng.uniform(-5, -1.2, (n, 3))).astype(np.float32),
        (quat / np.linalg.norm(quat, axis=1, keepdims=True)).astype(np.float32),
        rng.uniform(0, 1, n).astype(np.float32),
        rng.normal(0, 0.4, (n, k, 3)).astype(np.float32),
    )


def real_harmonics(direction: np.ndarray) -> np.ndarray:
    """Real spherical harmonics with the Condon-Shortley phase, from SciPy's complex ones."""
    x, y, z = direction
    theta, phi = np.arccos(z), np.arctan2(y, x)
    out = []
    for degree in range(4):
        for order in range(-degree, degree + 1):
            value = sph_harm_y(degree, abs(order), theta, phi)
            part = value.imag if order < 0 else value.real
            out.append(part * (np.sqrt(2) if order else 1.0))
    return np.array(out)


def reference(field: GaussianField, view: CameraModel, near_m: float = 0.05) -> tuple[np.ndarray, np.ndarray]:
    """Blend every Gaussian at every pixel in double precision, without tiles or bounds."""
    turn = view.pose_world_camera.rotation
    local = (field.mean_m.astype(float) - view.pose_world_camera.position_m) @ turn
    v, u = np.meshgrid(np.arange(view.height) + 0.5, np.arange(view.width) + 0.5, indexing="ij")
    color, light = np.zeros((view.height, view.width, 3)), np.ones((view.height, view.width))
    is_open = np.ones_like(light, bool)
    for i in np.argsort(local[:, 2], kind="stable"):
        x, y, z = local[i]
        if z < near_m:
            continue
        tx = np.clip(x / z, -1.3 * view.cx / view.fx, 1.3 * (view.width - view.cx) / view.fx) * z
        ty = np.clip(y / z, -1.3 * view.cy / view.fy, 1.3 * (view.height - view.cy) / view.fy) * z
        jacobian = np.array([[view.fx / z, 0, -view.fx * tx / z**2], [0, view.fy / z, -view.fy * ty / z**2]])
        own = turn.T @ quat_to_matrix(field.quat_wxyz[i]) @ np.diag(field.scale_m[i].astype(float))
        covariance = jacobian @ own @ own.T @ jacobian.T + 0.3 * np.eye(2)
        off = np.stack([u - (view.fx * x / z + view.cx), v - (view.fy * y / z + view.cy)], -1)
        square = np.einsum("...i,ij,...j", off, np.linalg.inv(covariance), off)
        alpha = np.minimum(0.99, field.opacity[i] * np.exp(-0.5 * square))
        direction = turn @ local[i] / np.linalg.norm(local[i])
        shade = np.maximum(0.5 + real_harmonics(direction)[: field.sh.shape[1]] @ field.sh[i], 0)
        takes = is_open & (alpha >= 1 / 255)
        full = takes & (light * (1 - alpha) < 1e-4)
        is_open &= ~full
        takes &= ~full
        color += np.where(takes, light * alpha, 0)[..., None] * shade
        light = np.where(takes, light * (1 - alpha), light)
    return color, light


def test_harmonics_are_the_textbook_ones() -> None:
    rng = np.random.default_rng(1)
    for direction in rng.standard_normal((20, 3)):
        direction /= np.linalg.norm(direction)
        out = np.zeros(16)
        basis(*direction, 3, out)
        assert out == pytest.approx(real_harmonics(direction), abs=1e-12)


def test_one_gaussian_is_the_bell_that_it_projects_to() -> None:
    """On the optical axis at 2 m, sigma 0.1 m and f = 100 px: a bell of 5 px, and the blur of 0.3 px^2."""
    view = CameraModel(64, 64, 100.0, 100.0, 32.0, 32.0, Pose())
    field = colour_field(
        np.array([[0, 0, 2]], np.float32), np.full((1, 3), 0.1, np.float32), np.ones((1, 3)), opacity=0.8
    )
    color, light = blend_field(field, view)
    v, u = np.mgrid[:64, :64] + 0.5
    bell = 0.8 * np.exp(-0.5 * ((u - 32) ** 2 + (v - 32) ** 2) / (5.0**2 + 0.3))
    bell[bell < 1 / 255] = 0
    assert 1 - light == pytest.approx(bell, abs=2e-6)
    assert color == pytest.approx(np.repeat(bell[..., None], 3, 2), abs=2e-6)


@pytest.mark.parametrize("k", [1, 4, 9, 16])
def test_a_random_field_is_what_brute_force_draws(k: int) -> None:
    pose = Pose.from_yaw((0.2, -0.1, -0.3), 0.3) @ Pose(np.zeros(3), np.array([0.99, 0.1, -0.05, 0.02]))
    view = camera(pose=pose)
    field = random_field(250, k, k=k)
    color, light = blend_field(field, view)
    expected_color, expected_light = reference(field, view)
    # A Gaussian on the edge of a threshold may fall to either side in single precision.
    assert np.abs(light - expected_light).max() < 5e-3 and np.abs(light - expected_light).mean() < 1e-5
    assert np.abs(color - expected_color).max() < 2e-2 and np.abs(color - expected_color).mean() < 2e-5
    assert expected_light.min() < 0.05


def test_the_nearer_one_hides_the_farther_and_what_is_behind_is_not_seen() -> None:
    means = np.array([[0, 0, 3], [0, 0, 1], [0, 0, -1]], np.float32)
    field = colour_field(means, np.full((3, 3), 0.3, np.float32), np.eye(3, dtype=np.float32), opacity=0.999)
    middle = render_field(field, camera(), behind_rgb=(1, 1, 1)).rgb[20, 22].astype(int)
    assert middle[1] > 240 and middle[0] < 15 and middle[2] < 15


def test_where_nothing_is_the_backdrop_shows() -> None:
    field = colour_field(np.array([[0, 0, -2]], np.float32), np.full((1, 3), 0.1, np.float32), np.ones((1, 3)))
    image = render_field(field, camera(), behind_rgb=(0.2, 0.4, 0.6))
    assert (image.rgb == (51, 102, 153)).all() and not image.alpha.any()


def test_moving_field_and_camera_together_changes_nothing() -> None:
    field, view = random_field(200, 5), camera()
    move = Pose(np.array([0.5, -2.0, 1.0]), np.array([0.7, 0.3, -0.5, 0.4]))
    moved = camera(pose=move @ view.pose_world_camera)
    assert blend_field(field.transformed(move), moved)[0] == pytest.approx(blend_field(field, view)[0], abs=2e-2)
    assert np.abs(blend_field(field.transformed(move), moved)[0] - blend_field(field, view)[0]).mean() < 1e-4


def test_the_anchor_scales_moves_and_turns_against_the_orbit() -> None:
    field = colour_field(np.array([[1.0, 0, 0]], np.float32), np.full((1, 3), 0.1, np.float32), np.ones((1, 3)))
    placed = anchored(field, BackgroundLook(orbit_deg=90.0), Pose(np.array([0.0, 0.0, 0.5])))
    # 0.8 * x + (-0.2, 0.4, -0.2), turned by -90 degrees, on a base half a metre up.
    assert placed.mean_m[0] == pytest.approx([0.4, -0.6, 0.3], abs=1e-6)
    assert placed.scale_m[0] == pytest.approx([0.08] * 3)


def test_the_papers_cameras() -> None:
    views = orbit_cameras(Pose())
    assert len(views) == 12
    assert {(v.width, v.height, v.fx, v.fy, v.cx, v.cy) for v in views} == {(2048, 1536, 1334.65, 1334.65, 1024, 768)}
    places = np.array([view.pose_world_camera.position_m for view in views])
    assert places[8] == pytest.approx([0.8517, 0.7678, 0.7521])
    bearing = np.unwrap(np.arctan2(places[:, 1], places[:, 0]))
    assert np.rad2deg(np.diff(bearing)) == pytest.approx(np.full(11, 15.0))
    small = orbit_cameras(Pose(), scale=0.125)[8]
    point = [[0.4, 0.1, 0.0]]
    assert small.project(point)[0] == pytest.approx(views[8].project(point)[0] / 8)


def test_the_room_is_all_around_and_its_table_is_level_with_the_arms() -> None:
    room = room_field(3)
    view = camera(64, pose=looking_at((1.0, -0.7, 0.7), (0.4, 0.0, 0.0)))
    image = render_field(room, view)
    assert image.alpha.min() > 0.9
    assert image.rgb.reshape(-1, 3).std(0).min() > 5
    table = room.mean_m[np.abs(room.mean_m[:, 2]) < 1e-6]
    assert len(table) > 10_000
    assert table[:, 0].min() < 0.0 < 0.8 < table[:, 0].max()
    assert np.array_equal(room_field(3).sh, room.sh) and not np.array_equal(room_field(4).sh, room.sh)


@pytest.mark.parametrize("k", [1, 4, 9, 16])
def test_a_ply_comes_back(tmp_path: Path, k: int) -> None:
    field = random_field(40, 2, k=k)
    write_field(tmp_path / "f.ply", field)
    again = load_field(tmp_path / "f.ply")
    for name in ("mean_m", "scale_m", "quat_wxyz", "sh"):
        assert getattr(again, name) == pytest.approx(getattr(field, name), rel=1e-5, abs=1e-6)
    assert again.opacity == pytest.approx(field.opacity, abs=1e-5)


def test_a_ply_is_laid_out_as_the_original_software_does(tmp_path: Path) -> None:
    """Coefficients of the first degree are stored channel by channel, sizes as logarithms, opacity as a logit."""
    names = ["x", "y", "z", "nx", "ny", "nz", *(f"f_dc_{i}" for i in range(3)), *(f"f_rest_{i}" for i in range(9))]
    names += ["opacity", *(f"scale_{i}" for i in range(3)), *(f"rot_{i}" for i in range(4))]
    values = [1, 2, 3, 0, 0, 0, 10, 20, 30, *range(1, 10), 0.0, 0.0, np.log(2), np.log(3), 2, 0, 0, 0]
    head = "ply\nformat binary_little_endian 1.0\nelement vertex 1\n"
    head += "".join(f"property float {name}\n" for name in names) + "end_header\n"
    (tmp_path / "f.ply").write_bytes(head.encode() + np.array(values, "<f4").tobytes())
    field = load_field(tmp_path / "f.ply")
    assert field.sh[0].tolist() == [[10, 20, 30], [1, 4, 7], [2, 5, 8], [3, 6, 9]]
    assert field.opacity[0] == 0.5 and field.scale_m[0] == pytest.approx([1, 2, 3])
    assert field.quat_wxyz[0].tolist() == [1, 0, 0, 0]


def test_a_splat_keeps_plain_colours(tmp_path: Path) -> None:
    field = random_field(40, 3, k=1)
    write_field(tmp_path / "f.splat", field)
    assert (tmp_path / "f.splat").stat().st_size == 40 * 32
    again = load_field(tmp_path / "f.splat")
    assert np.array_equal(again.mean_m, field.mean_m) and np.array_equal(again.scale_m, field.scale_m)
    assert again.opacity == pytest.approx(field.opacity, abs=3e-3)
    assert np.abs((again.quat_wxyz * field.quat_wxyz).sum(1)).min() > 0.999


def damaged(data: bytes, kind: str) -> bytes:
    head, _, body = data.partition(b"end_header\n")
    nan = np.array(np.nan, "<f4").tobytes()
    return {
        "cut": data[:-7],
        "header": data[:40],
        "empty": b"",
        "text": b"hello",
        "ascii": data.replace(b"binary_little_endian", b"ascii"),
        "field": data.replace(b"property float opacity", b"property float opacitx"),
        "list": data.replace(b"property float nx", b"property list uchar int nx"),
        "degree": data.replace(b"f_rest_8", b"g_rest_8"),
        "count": data.replace(b"vertex 5", b"vertex x"),
        "nan": head + b"end_header\n" + nan + body[4:],
        "zero": head + b"end_header\n" + bytes(len(body)),
        "huge": head + b"end_header\n" + np.full(len(body) // 4, 500, "<f4").tobytes(),
    }[kind]


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("cut", "is cut short: 5 Gaussians take"),
        ("header", "header is cut short"),
        ("empty", "is no .ply file"),
        ("text", "is no .ply file"),
        ("ascii", "binary_little_endian is read"),
        ("field", "it lacks opacity"),
        ("list", "which is not read"),
        ("degree", "fields f_rest"),
        ("count", "holds no vertices"),
        ("nan", "mean_m of 1 of 5 Gaussians is not finite, first of number 0"),
        ("zero", "orientation of 5 Gaussians is zero"),
        ("huge", "which no scene is"),
    ],
)
def test_damaged_ply_files_are_refused(tmp_path: Path, kind: str, message: str) -> None:
    path = tmp_path / "f.ply"
    write_field(path, random_field(5, 0, k=4))
    path.write_bytes(damaged(path.read_bytes(), kind))
    with pytest.raises(UsageError, match=message) as caught:
        load_field(path)
    assert str(path) in str(caught.value) and caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("data", "message"), [(b"", "cut short"), (bytes(33), "cut short"), (bytes(64), "not positive")]
)
def test_damaged_splat_files_are_refused(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "f.splat").write_bytes(data)
    with pytest.raises(UsageError, match=message):
        load_field(tmp_path / "f.splat")


def test_other_files_are_refused(tmp_path: Path) -> None:
    for name in ("f.glb", "f"):
        with pytest.raises(UsageError, match=r"neither a .ply nor a .splat"):
            load_field(tmp_path / name)
    with pytest.raises(UsageError, match="cannot read"):
        load_field(tmp_path / "none.ply")
