from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ET
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armwright.core.errors import OutputError
from armwright.recording._charts import curves, ranked_grasps, scene_graph, timeline
from armwright.recording._pictures import draw_mask
from armwright.recording._svg import ticks
from armwright.recording.report import (
    GraphEdge,
    GraphNode,
    GraspRow,
    KeyFrame,
    MaskView,
    ReportData,
    TimelineBar,
    render_report,
    write_report,
)

SVG = "{http://www.w3.org/2000/svg}"
NASTY = "<script>alert('x')</script> & \"mug\""


def ball(n: int = 800) -> MaskView:
    rng = np.random.default_rng(0)
    normals = rng.normal(size=(n, 3))
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    pads = np.array([[0.05, 0.01, 0.0], [0.05, -0.01, 0.0]])
    return MaskView(
        "mug_1", NASTY, "oracle", 0.05 * normals, normals[:, 0] > 0.6, normals, pads, np.array([-1.0, 0, 0])
    )


def sample() -> ReportData:
    time_s = np.arange(0, 5, 0.05)
    grasps = [GraspRow(0.3 - 0.01 * k, True, chosen=k == 1) for k in range(6)]
    grasps += [GraspRow(0.0, False, "approach_collision", NASTY)] * 3
    return ReportData(
        sentence=NASTY,
        robot="franka",
        seed=7,
        success=False,
        compliance=True,
        verdict=NASTY,
        nodes=(GraphNode("mug_1", "mug", "#c00", True), GraphNode("plate_1", NASTY)),
        edges=(GraphEdge("mug_1", "on", "table"), GraphEdge("mug_1", "on", "plate_1", goal=True)),
        masks=(ball(),),
        grasps=tuple(grasps),
        grasps_dropped={"width": 4},
        timeline=(TimelineBar("pick", 0, 2, True), TimelineBar("place", 2, 5, False, "dropped", NASTY)),
        frames=(KeyFrame(np.zeros((64, 64, 3), np.uint8), NASTY),),
        time_s=time_s,
        joint_names=("a", "b"),
        position_rad=np.column_stack([np.sin(time_s), np.cos(time_s)]),
        opening_m=np.linspace(0, 0.08, len(time_s)),
        numbers={"wall": "3 s"},
        versions={"git": None},
        files={"video": "episode.mp4"},
        notes=(NASTY,),
    )


class Page(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def test_the_page_stands_alone_and_escapes_what_it_is_told(tmp_path: Path) -> None:
    write_report(tmp_path / "report.html", sample())
    text = (tmp_path / "report.html").read_text()
    page = Page(text)
    assert not any(tag in ("script", "link", "iframe") for tag, _ in page.tags)
    for tag, attributes in page.tags:
        for name in ("src", "srcset", "href", "xlink:href", "data"):
            value = attributes.get(name) or ""
            assert not re.match(r"(https?:)?//", value), (tag, value)
        if tag == "img":
            assert (attributes["src"] or "").startswith("data:image/") and attributes["alt"]
    assert "url(http" not in text and "@import" not in text
    assert sum(NASTY in words for words in page.words) >= 5
    for svg in re.findall(r"<svg.*?</svg>", text, re.S):
        ET.fromstring(svg)


def test_the_verdict_is_said_in_words_and_signs() -> None:
    page = "".join(Page(render_report(sample())).words)
    assert "✗ Failed" in page and "✓ Held where asked" in page and "seed 7" in page
    good = dataclasses.replace(sample(), success=True, compliance=None)
    page = "".join(Page(render_report(good)).words)
    assert "✓ Success" in page and "Held" not in page


def test_what_is_missing_is_left_out() -> None:
    page = render_report(ReportData("go", "ur5e", 0, True))
    assert "<section" not in page and "“go”" in page


def test_an_unwritable_place_is_a_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError):
        write_report(tmp_path / "file" / "report.html", sample())


def test_bars_stand_in_order_and_failures_are_crossed() -> None:
    root = ET.fromstring(ranked_grasps(sample().grasps))
    heights = [float(bar.get("height")) for bar in root.iter(f"{SVG}rect")]
    assert len(heights) == 6 and heights == sorted(heights, reverse=True)
    assert sum(path.get("stroke") == "#b3261e" for path in root.iter(f"{SVG}path")) == 3 + 1
    assert [t.text for t in root.iter(f"{SVG}text")].count("executed") == 1


@given(st.integers(0, 60), st.integers(0, 60), st.integers(0, 59))
def test_the_executed_grasp_is_always_drawn(good: int, bad: int, chosen: int) -> None:
    grasps = [GraspRow(1.0 - 0.01 * k, True, chosen=k == chosen) for k in range(good)]
    grasps += [GraspRow(0.0, False, "ik_fail")] * bad
    root = ET.fromstring(ranked_grasps(grasps, most=24))
    words = [t.text for t in root.iter(f"{SVG}text")]
    assert ("executed" in words) == (chosen < good)
    bars = len(list(root.iter(f"{SVG}rect")))
    crosses = sum(path.get("stroke") == "#b3261e" for path in root.iter(f"{SVG}path")) - 1
    assert bars + crosses == min(24, good + bad)
    assert bars > 0 or good == 0
    assert crosses > 0 or bad == 0


def test_bars_of_the_timeline_are_as_long_as_they_took() -> None:
    root = ET.fromstring(timeline([TimelineBar("a", 0, 2, True), TimelineBar("b", 2, 8, False, "late")]))
    first, second = (float(bar.get("width")) for bar in root.iter(f"{SVG}rect"))
    assert second == pytest.approx(3 * first, rel=1e-3)
    assert any("✗" in (t.text or "") and "late" in (t.text or "") for t in root.iter(f"{SVG}text"))


@given(st.lists(st.sampled_from(["on", "in", "under", "left_of", "above"]), max_size=8), st.integers(0, 2**16))
def test_any_graph_is_drawn_inside_its_picture(relations: list[str], seed: int) -> None:
    rng = np.random.default_rng(seed)
    nodes = [GraphNode(f"thing_{k}", "thing") for k in range(5)]
    edges = [GraphEdge(*_pair(rng, relation)) for relation in relations]
    root = ET.fromstring(scene_graph(nodes, edges))
    width, height = (float(value) for value in (root.get("viewBox") or "").split()[2:])
    boxes = [tuple(float(box.get(name)) for name in ("x", "y", "width", "height")) for box in root.iter(f"{SVG}rect")]
    assert len(boxes) == 5
    for x, y, w, h in boxes:
        assert x >= 0 and y >= 0 and x + w <= width and y + h <= height
    for k, (x, y, w, _) in enumerate(boxes):
        assert not any(abs(y - b) < 1 and x < a + c and a < x + w for a, b, c, _ in boxes[k + 1 :])


def _pair(rng: np.random.Generator, relation: str) -> tuple[str, str, str]:
    a, b = rng.choice(5, 2, replace=False)
    return f"thing_{a}", relation, f"thing_{b}"


def test_the_mask_is_seen_where_it_is() -> None:
    """The orange share of the pixels follows the share of masked points."""
    shares = []
    for cut in (-2.0, 0.0, 0.6, 2.0):
        view = ball()
        view = dataclasses.replace(view, mask=view.normals[:, 2] > cut, pads_m=None, approach=None)
        image = draw_mask(view).astype(int)
        assert image.shape == (320, 640, 3)
        ink = image.sum(2) < 740
        shares.append((ink & (image[..., 0] > image[..., 2] + 60)).sum() / ink.sum())
    assert shares[0] > 0.85 and shares[3] < 0.01 and shares[0] > shares[1] > shares[2] > shares[3]


def test_curves_of_one_sample_or_of_a_constant_do_not_fail() -> None:
    for t in (np.zeros(1), np.arange(3.0)):
        ET.fromstring(curves(t, [("a", np.ones(len(t)))], unit="[m]", label="x"))


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e3))
def test_ticks_are_round_and_inside(low: float, span: float) -> None:
    marks = ticks(low, low + span)
    assert 1 <= len(marks) <= 7
    assert all(low - 1e-6 * span <= mark <= low + span * (1 + 1e-6) for mark in marks)
