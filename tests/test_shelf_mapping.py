"""Views of a shelf become its objects in its own frame: ids, boxes, natures; what is no object on it is left out."""

import numpy as np
import pytest

from armwright.core.errors import ArmwrightError
from armwright.core.pose import Pose
from armwright.core.seeds import rng_for
from armwright.perception.descriptions import Description
from armwright.perception.segmenters import Segment
from armwright.shelf.graph import build_graph
from armwright.shelf.mapping import described, map_shelf, on_shelf
from armwright.shelf.pictures import draw_map, draw_view, map_mesh, write_ply
from armwright.shelf.records import Shelf
from perception_scenes import Thing, looking, render

SHELF = Shelf(width_m=0.80, depth_m=0.30, boards_m=(0.02, 0.34), top_m=0.66)
POSE = Pose.from_yaw((0.2, 0.1, 0.0), 0.3)
COLOURS = {"tomato soup": (200, 40, 40), "green tea": (40, 160, 60), "soap": (60, 80, 220)}
PACKAGES = [
    ("tomato soup", (0.05, 0.20, 0.09), (0.03, 0.045, 0.07)),
    ("tomato soup", (0.05, 0.02, 0.09), (0.03, 0.045, 0.07)),
    ("green tea", (0.06, -0.2, 0.41), (0.04, 0.05, 0.07)),
    ("soap", (0.20, 0.25, 0.38), (0.03, 0.05, 0.04)),
]


def thing(center, half, colour):
    return Thing(tuple(POSE.transform(center)), half, colour, 0.3)


FURNITURE = [
    *(thing((0.15, 0.0, z - 0.009), (0.15, 0.40, 0.009), (150, 120, 90)) for z in (0.02, 0.34, 0.66 + 0.018)),
    thing((0.305, 0.0, 0.34), (0.005, 0.40, 0.33), (140, 130, 120)),
]
THINGS = [*(thing(c, h, COLOURS[name]) for name, c, h in PACKAGES), *FURNITURE]
CAMERAS = [
    looking(tuple(POSE.transform((-0.75, y, z))), tuple(POSE.transform((0.1, 0.3 * y, 0.3))), width=320, height=240)
    for y in (-0.4, 0.0, 0.4)
    for z in (0.30, 0.62)
]


class TrueMasks:
    """Every thing by its own mask, the furniture among them."""

    def __init__(self):
        self.owner = {}

    def frames(self):
        out = []
        for k, camera in enumerate(CAMERAS):
            frame, owner = render(THINGS, camera, noise=0.001, rng=rng_for(k, "tests", "shelf-mapping"))
            self.owner[id(frame)] = owner
            out.append(frame)
        return out

    def segment(self, frame, *, labels=()):
        owner = self.owner[id(frame)]
        return [Segment(owner == k, 0.9) for k in range(len(THINGS)) if (owner == k).sum() > 60]


class ByColour:
    """Says what has which colour; the real describers are tried where labels are printed."""

    name, note = "colour", "judged by colour"

    def describe(self, frame, masks, *, up=(0, 0, 1)):
        assert np.allclose(up, (0, 0, 1), atol=0.02)
        out = []
        for mask in masks:
            mean = np.median(frame.rgb[mask], axis=0)
            name = min(COLOURS, key=lambda n: float(np.abs(np.array(COLOURS[n]) - mean).sum()))
            out.append(Description(name, content=name, packaging="box", edible=name != "soap", orientation="upright"))
        return out


@pytest.fixture(scope="module")
def mapped():
    eyes = TrueMasks()
    return map_shelf(eyes.frames(), segmenter=eyes, describer=ByColour(), shelf=SHELF, pose_world_shelf=POSE)


def test_every_package_is_there_by_board_and_from_left_to_right(mapped):
    assert [o.id for o in mapped.objects] == ["tomato_soup_1", "tomato_soup_2", "soap_1", "green_tea_1"]
    assert mapped.notes == ("judged by colour",)
    boards = {o.id: SHELF.board_of(o.box.low_m[2]) for o in mapped.objects}
    assert boards == {"tomato_soup_1": 0, "tomato_soup_2": 0, "soap_1": 1, "green_tea_1": 1}


def test_boxes_are_in_the_shelf_frame_and_stand_on_the_boards(mapped):
    for one in mapped.objects:
        name = one.nature.label
        center, half = min(
            ((c, h) for n, c, h in PACKAGES if n == name), key=lambda p: abs(p[0][1] - one.box.center_m[1])
        )
        assert np.abs(np.subtract(one.box.center_m, center)).max() < 0.015, one.id
        assert np.abs(np.subtract(one.box.size_m, 2 * np.array(half))).max() < 0.025, one.id
        assert min(abs(one.box.low_m[2] - b) for b in SHELF.boards_m) < 1e-9


def test_natures_are_what_most_views_say(mapped):
    soap = next(o for o in mapped.objects if o.id == "soap_1")
    assert (soap.nature.content, soap.nature.edible, soap.nature.packaging) == ("soap", False, "box")
    assert soap.nature.confidence("edible") == 1.0
    build_graph(mapped.shelf, mapped.objects)


def test_a_shelf_that_nobody_measured_gives_the_same_objects():
    eyes = TrueMasks()
    found = map_shelf(eyes.frames(), segmenter=eyes, describer=ByColour())
    assert [o.id for o in found.objects] == ["tomato_soup_1", "tomato_soup_2", "soap_1", "green_tea_1"]


def test_masks_of_the_shelf_itself_are_no_things():
    eyes = TrueMasks()
    frame = eyes.frames()[3]
    owner = eyes.owner[id(frame)]
    kept = [k for k in range(len(THINGS)) if on_shelf(frame, owner == k, SHELF, POSE) is not None]
    assert kept and max(kept) < len(PACKAGES)
    # What a mask holds of the board beneath is taken out.
    wide = (owner == kept[0]) | (owner == len(PACKAGES))
    cleaned = on_shelf(frame, (owner == kept[0]) | (wide & (np.indices(owner.shape)[1] % 7 == 0)), SHELF, POSE)
    assert cleaned is not None and (cleaned & (owner == len(PACKAGES))).sum() < 0.1 * cleaned.sum()


def test_words_that_the_shelf_does_not_know_are_left_out():
    said = Description("x", packaging="pouch", orientation="upright", confidence=0.5)
    nature = described(said, {"orientation": {"upright": 3.0, "lying": 1.0}})
    assert nature.packaging is None and nature.orientation == "upright" and nature.confidence("orientation") == 0.75


def test_pictures_and_meshes(mapped, tmp_path):
    names = {number: name for name, number in mapped.numbers.items()}
    assert draw_view(mapped.views[0], mapped.instances, names).shape == (240, 320, 3)
    assert draw_map(mapped, width=200, height=160).shape == (160, 200, 3)
    mesh = map_mesh(mapped)
    write_ply(tmp_path / "map.ply", mesh)
    head = (tmp_path / "map.ply").read_bytes()[:400].decode(errors="ignore")
    assert f"element vertex {len(mesh.points_m)}" in head and f"element face {len(mesh.faces)}" in head
    one = [mapped.views[0].frame]
    empty = map_shelf(one, segmenter=Nothing(), describer=ByColour(), shelf=SHELF, pose_world_shelf=POSE)
    assert empty.objects == () and len(map_mesh(empty).points_m) == 0


def test_without_views_there_is_no_map():
    with pytest.raises(ArmwrightError, match="no view of the shelf"):
        map_shelf([], segmenter=Nothing(), describer=ByColour(), shelf=SHELF, pose_world_shelf=POSE)


class Nothing:
    def segment(self, frame, *, labels=()):
        return []
