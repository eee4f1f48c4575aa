"""Write ``report.html``: one file, nothing fetched, that shows what was understood, planned, done and judged."""

from __future__ import annotations

import html
from collections.abc import Sequence
from pathlib import Path

from armwright.core.files import write_text
from armwright.recording._charts import curves, ranked_grasps, scene_graph, timeline
from armwright.recording._pictures import data_uri, draw_mask
from armwright.recording._svg import BAD, INK, MASK
from armwright.recording.page import badge, header, key_values, page, pair, section, strip
from armwright.recording.report_data import (
    GraphEdge,
    GraphNode,
    GraspRow,
    KeyFrame,
    MaskView,
    ReportData,
    TimelineBar,
)


def write_report(path: str | Path, data: ReportData) -> None:
    """Write the report, whole or not at all.

    Args:
        path: The HTML file.
        data: What it shows; parts that are empty are left out.

    Raises:
        OutputError: The file cannot be written.
    """
    write_text(path, render_report(data))


def render_report(data: ReportData) -> str:
    """Return the page as text."""
    good = data.success and data.compliance is not False
    parts = [
        _header(data),
        strip("What happened", data.frames),
        pair(_graph(data), "".join(_mask(view) for view in data.masks)),
        _grasps(data),
        _timeline(data.timeline),
        _motion(data),
        pair(key_values("Numbers", data.numbers), _links(data)),
    ]
    return page(data.sentence, parts, good=good)


def _header(data: ReportData) -> str:
    badges = [badge("Success" if data.success else "Failed", good=data.success)]
    if data.compliance is not None:
        badges.append(badge("Held where asked" if data.compliance else "Held elsewhere", good=data.compliance))
    badges += [badge(word) for word in (data.robot, f"seed {data.seed}")]
    return header("armwright run", f"“{data.sentence}”", badges, [*filter(None, [data.verdict]), *data.notes])


def _graph(data: ReportData) -> str:
    if not data.nodes:
        return ""
    hint = "What stands where at the start; dashed: what the sentence asks for."
    return section("Scene graph", hint, scene_graph(data.nodes, data.edges))


def _mask(view: MaskView) -> str:
    share = f"{int(view.mask.sum())} of {len(view.mask)} points, by {html.escape(view.model)}"
    key = f'<span class="key" style="background:{MASK}"></span>{html.escape(view.region)}'
    key += '<span class="key" style="background:#a8b4c8"></span>rest'
    if view.pads_m is not None:
        key += f'<span class="key" style="background:{INK};border-radius:50%"></span>pads'
    label = f"{view.region} of {view.object_id}, seen from two sides"
    picture = f'<img src="{data_uri(draw_mask(view), png=True)}" alt="{html.escape(label, quote=True)}">'
    return section(f"Affordance on {view.object_id}", f"{share}{key}", picture)


def _grasps(data: ReportData) -> str:
    if not data.grasps and not data.grasps_dropped:
        return ""
    good = sum(grasp.ok for grasp in data.grasps)
    hint = f"{len(data.grasps)} candidates evaluated, {good} can be reached without collision."
    if data.grasps_dropped:
        dropped = ", ".join(f"{html.escape(name)} {count}" for name, count in data.grasps_dropped.items())
        hint += f" Dropped before: {dropped}."
    chart = f'<div class="wide">{ranked_grasps(data.grasps)}</div>' if data.grasps else ""
    body = f'<div class="two"><div>{chart}</div><div>{_grasp_table(data.grasps)}</div></div>'
    return section("Ranked grasps", hint, body)


def _grasp_table(grasps: Sequence[GraspRow]) -> str:
    reasons: dict[tuple[str, str], int] = {}
    for grasp in grasps:
        if not grasp.ok:
            reasons[grasp.status, grasp.detail] = reasons.get((grasp.status, grasp.detail), 0) + 1
    best = sorted((grasp for grasp in grasps if grasp.ok), key=lambda grasp: -grasp.score)
    rows = [
        f"<tr><td>{k + 1}</td><td>{grasp.score:.3f}</td>"
        f'<td class="yes">{"executed" if grasp.chosen else "reachable"}</td>'
        f"<td>{html.escape(grasp.detail)}</td></tr>"
        for k, grasp in enumerate(best)
        if k < 5 or grasp.chosen
    ]
    ordered = sorted(reasons.items(), key=lambda item: -item[1])
    rows += [
        f'<tr><td>{count}×</td><td>0</td><td class="no">✗ {html.escape(status.replace("_", " "))}</td>'
        f"<td>{html.escape(detail)}</td></tr>"
        for (status, detail), count in ordered[:7]
    ]
    head = "<tr><th>rank</th><th>score</th><th>result</th><th>detail</th></tr>"
    return f"<table>{head}{''.join(rows)}</table>"


def _timeline(bars: Sequence[TimelineBar]) -> str:
    if not bars:
        return ""
    failed = [f"<b>{html.escape(bar.name)}</b>: {html.escape(bar.detail)}" for bar in bars if not bar.ok and bar.detail]
    note = f'<p class="hint" style="color:{BAD}">{"<br>".join(failed)}</p>' if failed else ""
    body = f'<div class="wide">{timeline(bars)}</div>{note}'
    return section("Timeline", "World time; primitives and, below each, its stages.", body)


def _motion(data: ReportData) -> str:
    if not len(data.time_s):
        return ""
    names = [name if len(name) <= 16 else f"{name[:15]}…" for name in data.joint_names]
    joints = [(name, data.position_rad[:, k]) for k, name in enumerate(names)]
    left = curves(data.time_s, joints, unit="[rad]", label="Joint positions over time", spans=data.timeline)
    gap = [("opening", 1e3 * data.opening_m)]
    right = curves(data.time_s, gap, unit="[mm]", label="Gripper opening over time", spans=data.timeline)
    return pair(section("Joint positions", "", left), section("Gripper opening", "", right))


def _links(data: ReportData) -> str:
    rows = [
        f"<tr><th>{html.escape(label)}</th>"
        f'<td><a href="{html.escape(path, quote=True)}">{html.escape(path)}</a></td></tr>'
        for label, path in data.files.items()
    ]
    rows += [
        f"<tr><th>{html.escape(name)}</th><td>{html.escape(version or 'unknown')}</td></tr>"
        for name, version in data.versions.items()
    ]
    return section("Files and versions", "", f"<table>{''.join(rows)}</table>") if rows else ""


__all__ = [
    "GraphEdge",
    "GraphNode",
    "GraspRow",
    "KeyFrame",
    "MaskView",
    "ReportData",
    "TimelineBar",
    "render_report",
    "write_report",
]
