"""Fusion: surfaces where they were, closed where seen, the same whatever the order, and growing without a limit."""

import numpy as np
import pytest

from armwright.core.camera import RgbdFrame
from armwright.core.errors import ArmwrightError
from armwright.core.seeds import rng_for
from armwright.perception.surface import surface
from armwright.perception.tsdf import add, empty_tsdf, integrate, prepare_view, region_tsdf
from perception_scenes import Thing, looking, render, ring

BALL = Thing((0.03, -0.02, 0.01), (0.06, 0.06, 0.06), colour=(200, 80, 40), ball=True)
AROUND = [
    *ring(6, radius=0.45, height=0.25),
    *ring(6, radius=0.45, height=-0.25),
    looking((0.01, 0, 0.5), (0, 0, 0)),
    looking((0.01, 0, -0.5), (0, 0, 0)),
]


def fused(things, cameras, *, voxel=0.005, owner=None, volume=None, noise=0.0):
    volume = empty_tsdf(voxel) if volume is None else volume
    rng = rng_for(0, "tests", "tsdf")
    for camera in cameras:
        frame, whose = render(things, camera, noise=noise, rng=rng)
        integrate(volume, prepare_view(frame, None if owner is None else whose), owner)
    return volume


def off_ball(points, thing=BALL):
    return np.linalg.norm(points - np.array(thing.center), axis=1) - thing.half[0]


def edge_uses(faces):
    edges = np.sort(np.concatenate([faces[:, [0, 1]], faces[:, [1, 2]], faces[:, [2, 0]]]), axis=1)
    return np.unique(edges, axis=0, return_counts=True)[1]


def test_a_ball_seen_from_all_sides_is_a_closed_ball():
    mesh = surface(fused([BALL], AROUND))
    assert len(mesh.points_m) > 1000
    assert np.abs(off_ball(mesh.points_m)).max() < 0.005
    assert np.median(np.abs(off_ball(mesh.points_m))) < 0.001
    assert (edge_uses(mesh.faces) == 2).all()
    a, b, c = (mesh.points_m[mesh.faces[:, k]].astype(float) for k in range(3))
    volume = np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6
    assert volume == pytest.approx(4 / 3 * np.pi * 0.06**3, rel=0.03)
    outward = (mesh.points_m - BALL.center) / 0.06
    assert np.einsum("ij,ij->i", outward, mesh.normals).min() > 0.9
    assert np.abs(mesh.rgb.astype(int) - BALL.colour).max() <= 1


def test_noise_averages_out():
    one = surface(fused([BALL], AROUND[:1], noise=0.002))
    many = surface(fused([BALL], AROUND[:1] * 16, noise=0.002))
    assert np.std(off_ball(many.points_m)) < 0.5 * np.std(off_ball(one.points_m))


def test_the_order_of_views_does_not_matter():
    there, back = fused([BALL], AROUND), fused([BALL], AROUND[::-1])
    # The blocks come in another order, and floats are rounded: the surface is the same set of points.
    a, b = (np.sort(np.round(surface(v).points_m.astype(float), 4).sum(1)) for v in (there, back))
    assert abs(len(a) - len(b)) <= len(a) * 0.01
    assert np.abs(np.quantile(a, (0.1, 0.5, 0.9)) - np.quantile(b, (0.1, 0.5, 0.9))).max() < 5e-4


def test_adding_two_halves_is_fusing_the_whole():
    whole = surface(fused([BALL], AROUND))
    first, second = fused([BALL], AROUND[::2]), fused([BALL], AROUND[1::2])
    before = second.cells.copy()
    add(first, second)
    assert np.array_equal(second.cells, before)
    both = surface(first)
    assert abs(len(both.points_m) - len(whole.points_m)) < 0.03 * len(whole.points_m)
    assert np.abs(off_ball(both.points_m)).max() < 0.006
    with pytest.raises(ArmwrightError, match="cannot be added"):
        add(first, empty_tsdf(0.004))


def test_an_owner_keeps_its_own_surface_and_frees_what_it_sees_through():
    box = Thing((0.0, 0.0, 0.0), (0.05, 0.05, 0.05))
    wall = Thing((0.5, 0.0, 0.0), (0.01, 0.6, 0.6), colour=(10, 10, 200))
    cameras = ring(5, radius=0.5, height=0.2, span=2.0)
    own = surface(fused([box, wall], cameras, owner=0))
    assert own.points_m[:, 0].max() < 0.06
    assert np.abs(own.rgb.astype(int) - box.colour).max() <= 1
    # The box is taken away; whoever looks through the place where it was wipes it out.
    volume = fused([box, wall], cameras, owner=0)
    for _ in range(3):
        for camera in cameras:
            frame, whose = render([wall], camera)
            integrate(volume, prepare_view(frame, np.where(whose == 0, 1, -1), owners=2), 0)
    assert len(surface(volume, min_weight=3).points_m) < 0.02 * len(own.points_m)


def test_a_region_knows_what_is_free_and_keeps_nothing_outside():
    low, high = np.array([-0.24, -0.24, -0.24]), np.array([0.24, 0.24, 0.24])
    region = fused([BALL], AROUND[:3], volume=region_tsdf(low, high, 0.01))
    assert region.count == 6**3
    centers = region.keys[:, None] * 0.08 + (np.stack(np.unravel_index(np.arange(512), (8, 8, 8)), -1) + 0.5) * 0.01
    seen = region.cells[..., 1] > 0
    assert (region.cells[seen][:, 0] > 0.01).any() and not seen.all()
    # The hollow behind what was seen stays unknown.
    inner = np.linalg.norm(centers - np.array(BALL.center), axis=-1) < 0.02
    assert not seen[inner].any()
    clipped = fused([BALL], AROUND[:3], volume=empty_tsdf(0.005, low_m=low, high_m=np.array([0.24, 0.24, 0.0])))
    assert surface(clipped).points_m[:, 2].max() < 0.0


def test_a_volume_grows_where_things_are_far_apart():
    volume = empty_tsdf(0.005)
    for x in (0.0, 3.0, -2.0):
        ball = Thing((x, 0.0, 0.0), (0.05, 0.05, 0.05), ball=True)
        frame, _ = render([ball], looking((x - 0.4, 0, 0.1), (x, 0, 0)))
        integrate(volume, prepare_view(frame))
    points = surface(volume).points_m
    assert {round(float(v)) for v in np.unique(np.round(points[:, 0]))} == {-2, 0, 3}
    assert volume.count < 500


def test_nothing_seen_leaves_nothing():
    camera = looking((-0.5, 0, 0), (0, 0, 0))
    volume = empty_tsdf(0.005)
    for value in (0.0, np.nan, np.inf, -1.0):
        depth = np.full((camera.height, camera.width), value, np.float32)
        frame = RgbdFrame(np.zeros((*depth.shape, 3), np.uint8), depth, camera, 0.0)
        assert integrate(volume, prepare_view(frame)) == 0
    mesh = surface(volume)
    assert mesh.points_m.shape == (0, 3) and mesh.faces.shape == (0, 3)


def test_misuse_says_what_to_do():
    camera = looking((-0.5, 0, 0), (0, 0, 0))
    frame, _ = render([BALL], camera)
    for make in (
        lambda: empty_tsdf(0.0),
        lambda: empty_tsdf(float("nan")),
        lambda: empty_tsdf(0.01, truncation_m=0.005),
        lambda: region_tsdf(np.zeros(3), np.full(3, 40.0), 0.005),
        lambda: region_tsdf(np.ones(3), np.zeros(3), 0.01),
        lambda: integrate(empty_tsdf(0.01), prepare_view(frame), 0),
        lambda: prepare_view(frame, np.zeros((3, 3), int)),
        lambda: prepare_view(RgbdFrame(frame.rgb, frame.depth_m[:5], camera, 0.0)),
        lambda: integrate(
            empty_tsdf(1e-4), prepare_view(RgbdFrame(frame.rgb, frame.depth_m + 9, camera, 0.0)), max_depth_m=100
        ),
    ):
        with pytest.raises(ArmwrightError) as caught:
            make()
        assert caught.value.hint
