"""What `armwright shelf` says of requests and recordings that cannot be right, and what it leaves on disk then."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from armwright.core.errors import UnknownNameError, UsageError
from armwright.shelf.boards import direction
from armwright.shelf.recorded_map import MapRequest, map_recording
from armwright.shelf.run import ShelfRequest, run_shelf


def recorded(folder, *, depth=700):
    """Write a view of a wall, straight ahead."""
    folder.mkdir()
    np.savetxt(folder / "camera-intrinsics.txt", [[64, 0, 32], [0, 64, 24], [0, 0, 1]])
    np.savetxt(folder / "a.pose.txt", np.eye(4))
    Image.fromarray(np.full((48, 64, 3), 90, np.uint8)).save(folder / "a.color.png")
    Image.fromarray(np.full((48, 64), depth, np.uint16)).save(folder / "a.depth.png")
    return folder


@pytest.mark.parametrize("up", [(0, 0, 0), (np.nan, 0, 1), (np.inf, 0, 1), (0, 0)])
def test_a_vertical_without_direction_is_refused(up):
    with pytest.raises(UsageError, match=r"direction up.*0,0,1"):
        direction(np.array(up, float))


@pytest.mark.parametrize("scale", [1e-300, 1.0, 1e300])
def test_a_vertical_may_have_any_length(scale):
    assert direction(np.array([scale, scale, 0.0])) == pytest.approx([2**-0.5, 2**-0.5, 0])


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"up": (0.0, 0.0, 0.0)}, "direction up"),
        ({"target": ""}, "no word"),
        ({"target": " \x01"}, "no word"),
        ({"target_packaging": "box"}, "--target WORDS"),
        ({"target": "milk", "target_packaging": "pouch"}, "none of box"),
        ({"target_size_m": (np.nan, 1.0, 1.0)}, "in metres"),
        ({"target": "milk", "target_size_m": (70.0, 70.0, 150.0)}, "in metres"),
        ({"target": "milk", "target_size_m": (1e-9, 0.1, 0.1)}, "in metres"),
        ({"model": "openai:x"}, "would not be asked"),
        ({"segmenter": "nope"}, "Valid"),
    ],
)
def test_a_request_that_makes_no_sense_leaves_nothing(tmp_path, given, told):
    out = tmp_path / "out"
    with pytest.raises(UsageError, match=told):
        map_recording(MapRequest(recorded(tmp_path / "views"), **given), out)
    assert not out.exists()


@pytest.mark.parametrize(("depth", "told"), [(7, "below 0.007 m.*millimetre"), (30000, "beyond 30 m.*millimetre")])
def test_depth_in_another_unit_is_told(tmp_path, depth, told):
    with pytest.raises(UsageError, match=told):
        map_recording(MapRequest(recorded(tmp_path / "views", depth=depth)), tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_map_is_not_written_over_a_result(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    (out / "result.json").write_text("{}")
    with pytest.raises(UsageError, match="already holds a result"):
        map_recording(MapRequest(recorded(tmp_path / "views")), out)
    assert (out / "result.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"segmenter": "nope"}, "simulated"),
        ({"noise": "nope"}, "sensor noise"),
        ({"model": "openai:x"}, "would not be asked"),
        ({"describer": "nope"}, "describer"),
        ({"reasoner": "nope"}, "reasoner"),
        ({"scene": "nope"}, "scene"),
    ],
)
def test_a_run_with_wrong_names_leaves_nothing(tmp_path, given, told):
    with pytest.raises((UsageError, UnknownNameError), match=told):
        run_shelf(ShelfRequest(**given), tmp_path / "out")
    assert not (tmp_path / "out").exists()
