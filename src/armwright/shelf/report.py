"""``report.html`` of a shelf run: what was seen, how it is organised, where the target goes and why."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armwright.control.protocols import StageReport
from armwright.core.files import write_text
from armwright.perception.instances import InstanceMap
from armwright.recording._pictures import data_uri
from armwright.recording.mesh_view import mesh_view
from armwright.recording.page import badge, header, key_values, page, pair, rows_table, section, strip
from armwright.recording.report_data import KeyFrame
from armwright.shelf.graph import SceneGraph, board_id
from armwright.shelf.graph_picture import draw_graph
from armwright.shelf.mapping import MappedView, ShelfMap
from armwright.shelf.pictures import draw_map, draw_view, light_mesh
from armwright.shelf.reasoner import Reasoning
from armwright.shelf.records import Described, Target
from armwright.shelf.target_view import SeenTarget

_MOST_ROWS = 12


@dataclass(frozen=True, eq=False)
class PairRow:
    """One pair of a grasp and a placement as the report shows it.

    Attributes:
        place: Where, in words.
        quality, semantic: G_qual and P_sem.
        score: S(g, p).
        status: What became of it.
    """

    place: str
    quality: float
    semantic: float
    score: float
    status: str


@dataclass(frozen=True, eq=False)
class ShelfReport:
    """What a report shows; what is None or empty is left out.

    Attributes:
        title: Of the page.
        ok: Whether it went well.
        seed: Of the scene, None for a recording.
        mapped: The shelf.
        graph: Its scene graph.
        seen: The target.
        target: As the reasoner took it.
        reasoning: What the reasoner said.
        pairs: The best pairs of grasp and placement.
        ruled_out: Which check ruled out how many.
        stages: What happened.
        pictures: Before, on the way, after.
        numbers: Figures to list.
        notes: What the user should know.
        files: Role -> path beside the page.
    """

    title: str
    ok: bool
    seed: int | None
    mapped: ShelfMap
    graph: SceneGraph
    seen: SeenTarget | None = None
    target: Target | None = None
    reasoning: Reasoning | None = None
    pairs: Sequence[PairRow] = ()
    ruled_out: Mapping[str, int] = field(default_factory=dict)
    stages: Sequence[StageReport] = ()
    pictures: Sequence[KeyFrame] = ()
    numbers: Mapping[str, str] = field(default_factory=dict)
    notes: Sequence[str] = ()
    files: Mapping[str, str] = field(default_factory=dict)


def write_shelf_report(path: str | Path, data: ShelfReport) -> None:
    """Write the report, whole or not at all.

    Raises:
        OutputError: The file cannot be written.
    """
    write_text(path, render_shelf_report(data))


def render_shelf_report(data: ShelfReport) -> str:
    """Return the page as text."""
    badges = [badge("Placed" if data.ok else "Not placed", good=data.ok)] if data.stages else []
    badges += [badge(f"{len(data.mapped.objects)} objects on {len(data.mapped.shelf.boards_m)} boards")]
    badges += [] if data.seed is None else [badge(f"seed {data.seed}")]
    said = [data.reasoning.organisation] if data.reasoning else []
    said += [data.reasoning.note] if data.reasoning and data.reasoning.note else []
    return page(
        data.title,
        [
            header("armwright shelf", data.title, badges, [*said, *data.notes, *data.mapped.notes]),
            strip("What happened", data.pictures),
            _views("The target", data.seen.views, data.seen.instances, _target_names(data.seen)) if data.seen else "",
            _target(data),
            _views("The shelf, view by view", data.mapped.views, data.mapped.instances, _names(data.mapped)),
            pair(_picture("Instance map", _MAP_HINT, draw_map(data.mapped)), _graph(data)),
            _turnable(data.mapped),
            _proposals(data),
            _pairs(data),
            _objects(data),
            _stages(data.stages),
            pair(key_values("Numbers", data.numbers), _files(data.files)),
        ],
        good=data.ok,
    )


_MAP_HINT = "One colour for each object, as in the views; grey is everything else that was seen."


def _turnable(mapped: ShelfMap) -> str:
    mesh = light_mesh(mapped)
    body = mesh_view(mesh.points_m, mesh.rgb, mesh.faces, identity="map")
    return section("The map, to turn", "As it was seen; grey is what is no object.", body) if body else ""


def _picture(title: str, hint: str, image: NDArray[np.uint8]) -> str:
    return section(title, hint, f'<img src="{data_uri(image)}" alt="{html.escape(title, quote=True)}">')


def _names(mapped: ShelfMap) -> dict[int, str]:
    return {number: name for name, number in mapped.numbers.items()}


def _target_names(seen: SeenTarget) -> dict[int, str]:
    return {seen.instance.number: seen.description.label or "target"}


def _views(title: str, views: Sequence[MappedView], scene: InstanceMap, names: Mapping[int, str]) -> str:
    frames = [
        KeyFrame(draw_view(v, scene, names), f"view {k + 1}: {len(v.detections)} masks") for k, v in enumerate(views)
    ]
    return strip(title, frames).replace("minmax(160px", "minmax(300px") if frames else ""


def _graph(data: ShelfReport) -> str:
    proposals = data.reasoning.proposals if data.reasoning else ()
    image = np.asarray(draw_graph(data.graph, proposals=proposals, target=data.target).convert("RGB"))
    hint = "Boards from above, the front below. Blue: neighbours; orange: before and behind; red: proposals."
    return _picture("Scene graph", hint, image)


def _said(nature: Described) -> list[str]:
    edible = {True: "yes", False: "no", None: "?"}[nature.edible]
    return [nature.label or "?", nature.content or "?", nature.packaging or "?", edible, nature.orientation or "?"]


def _target(data: ShelfReport) -> str:
    if data.target is None:
        return ""
    head = ["label", "content", "packaging", "edible", "orientation", "depth × width × height [cm]"]
    size = " × ".join(f"{100 * s:.1f}" for s in data.target.size_m)
    return section("The object to place", "", rows_table(head, [[*_said(data.target.nature), size]]))


def _proposals(data: ShelfReport) -> str:
    if data.reasoning is None:
        return ""
    weights = ", ".join(f"{name} {100 * w:.0f} %" for name, w in data.reasoning.attribute_weights.items())
    rows = [
        [str(p.rank), f"{p.weight:.2f}", f"{p.side.replace('_', ' ')} {p.anchor}", p.orientation or "any", p.reason]
        for p in data.reasoning.proposals
    ]
    table = rows_table(["rank", "weight", "where", "orientation", "why"], rows)
    hint = f"{html.escape(data.reasoning.organisation)} What counts here: {html.escape(weights)}."
    return section(f"Ranked placements, by {data.reasoning.reasoner}", hint, table)


def _pairs(data: ShelfReport) -> str:
    if not data.pairs and not data.ruled_out:
        return ""
    rows = [
        [str(k + 1), f"{p.score:.3f}", f"{p.quality:.2f}", f"{p.semantic:.2f}", p.place, p.status]
        for k, p in enumerate(data.pairs[:_MOST_ROWS])
    ]
    out = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in data.ruled_out.items())
    hint = "S(g, p) = G_qual · P_sem · feasible." + (f" Ruled out: {html.escape(out)}." if out else "")
    return section(
        "Grasps and placements", hint, rows_table(["", "S(g, p)", "G_qual", "P_sem", "place", "result"], rows)
    )


def _objects(data: ShelfReport) -> str:
    rows = [
        [
            one.id,
            board_id(data.graph.board[one.id]),
            *_said(one.nature),
            " × ".join(f"{100 * s:.1f}" for s in one.box.size_m),
            str(len(set(data.mapped.instances.instances[data.mapped.numbers[one.id]].views))),
            ", ".join(data.mapped.alternatives.get(one.id, ())),
        ]
        for one in data.mapped.objects
    ]
    head = [
        "object",
        "board",
        "label",
        "content",
        "packaging",
        "edible",
        "orientation",
        "size [cm]",
        "views",
        "also read",
    ]
    gone = f" {len(data.mapped.forgotten)} seen too rarely were dropped." if data.mapped.forgotten else ""
    return section("What stands there", gone, f'<div class="wide">{rows_table(head, rows)}</div>')


def _stages(stages: Sequence[StageReport]) -> str:
    if not stages:
        return ""
    rows = [["✓" if s.ok else "✗", s.name, s.status, s.detail] for s in stages]
    return section("Stages", "", rows_table(["", "stage", "status", "detail"], rows))


def _files(files: Mapping[str, str]) -> str:
    rows = "".join(
        f'<tr><th>{html.escape(k)}</th><td><a href="{html.escape(v, quote=True)}">{html.escape(v)}</a></td></tr>'
        for k, v in files.items()
    )
    return section("Files", "", f"<table>{rows}</table>") if rows else ""
