"""Drawing: a mesh looks the way the thing did that it was fused from."""

import numpy as np

from armwright.perception.draw import BACKGROUND, draw
from armwright.perception.surface import Surface, surface
from armwright.perception.tsdf import empty_tsdf, integrate, prepare_view
from perception_scenes import Thing, looking, render


def test_a_fused_box_is_drawn_where_it_was_seen():
    camera = looking((-0.5, 0.1, 0.2), (0, 0, 0))
    frame, owner = render([Thing((0, 0, 0), (0.05, 0.06, 0.07), colour=(200, 100, 50))], camera)
    volume = empty_tsdf(0.004)
    integrate(volume, prepare_view(frame))
    picture, depth = draw(surface(volume), camera, shaded=False)
    both = (depth > 0) & (owner >= 0)
    assert both.sum() > 0.7 * (owner >= 0).sum()
    assert np.abs(depth - frame.depth_m)[both].max() < 0.015
    assert np.median(np.abs(depth - frame.depth_m)[both]) < 0.002
    assert np.abs(picture[both].astype(int) - (200, 100, 50)).max() <= 1
    assert (picture[depth == 0] == BACKGROUND).all()
    # From behind there is nothing but the backs of faces.
    behind = looking((0.5, -0.1, -0.2), (0, 0, 0))
    assert (draw(surface(volume), behind)[1] > 0).mean() < 0.01


def test_the_nearer_face_is_on_top_whatever_the_order():
    camera = looking((-1.0, 0, 0), (0, 0, 0))
    square = np.array([[0, -0.1, -0.1], [0, 0.1, -0.1], [0, 0.1, 0.1], [0, -0.1, 0.1]], np.float32)
    points = np.concatenate([square, square + np.float32([0.3, 0, 0])])
    faces = np.array([[0, 3, 2], [0, 2, 1]], np.int32)
    rgb = np.repeat(np.array([[255, 0, 0], [0, 0, 255]], np.uint8), 4, axis=0)
    normals = np.tile(np.float32([-1, 0, 0]), (8, 1))
    for order in ([faces, faces + 4], [faces + 4, faces]):
        picture, depth = draw(Surface(points, normals, rgb, np.concatenate(order)), camera, shaded=False)
        assert tuple(picture[120, 160]) == (255, 0, 0)
        assert abs(depth[120, 160] - 1) < 1e-4
    nothing = Surface(points[:0], normals[:0], rgb[:0], faces[:0])
    assert (draw(nothing, camera)[1] == 0).all()
