"""Write ``report.html``: one file, nothing fetched, that shows what was understood, planned, done and judged."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from pathlib import Path

from armwright.core.files import write_text
from armwright.recording._charts import curves, ranked_grasps, scene_graph, timeline
from armwright.recording._pictures import data_uri, draw_mask
from armwright.recording._svg import ACCENT, BAD, FAINT, GOOD, INK, MASK, MUTED, PANEL
from armwright.recording.report_data import (
    GraphEdge,
    GraphNode,
    GraspRow,
    KeyFrame,
    MaskView,
    ReportData,
    TimelineBar,
)

_STYLE = f"""
:root {{ color-scheme: light; }}
* {{ box-sizing: border-box; }}
body {{ margin: 0; background: #eef0f4; color: {INK};
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }}
main {{ max-width: 1160px; margin: 0 auto; padding: 28px 20px 60px; }}
header {{ background: #fff; border-radius: 14px; padding: 26px 30px; border-top: 6px solid var(--tone); }}
h1 {{ font-size: 29px; line-height: 1.25; margin: 6px 0 14px; letter-spacing: -0.01em; }}
h2 {{ font-size: 17px; margin: 0 0 4px; }}
section {{ background: #fff; border-radius: 14px; padding: 20px 24px; margin-top: 18px; min-width: 0; }}
.two {{ display: grid; grid-template-columns: 1fr 1fr; gap: 0 18px; }}
.two > * {{ min-width: 0; }}
.two > section {{ display: flex; flex-direction: column; }}
.two > section > svg, .two > section > img {{ margin: auto; }}
@media (max-width: 820px) {{ .two {{ grid-template-columns: 1fr; }} }}
.hint, .over {{ color: {MUTED}; margin: 0 0 12px; font-size: 13.5px; }}
.over {{ margin: 0; text-transform: uppercase; letter-spacing: 0.08em; font-size: 12px; }}
.badges {{ display: flex; flex-wrap: wrap; gap: 8px; margin: 0; padding: 0; list-style: none; }}
.badge {{ border-radius: 999px; padding: 4px 13px; font-size: 14px; font-weight: 600; background: {PANEL}; }}
.good {{ background: #e0f2e9; color: {GOOD}; }} .bad {{ background: #fbe4e2; color: {BAD}; }}
svg, img {{ display: block; max-width: 100%; height: auto; }} svg {{ width: 100%; }}
.strip {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(160px, 1fr)); gap: 12px; }}
figure {{ margin: 0; }} figcaption {{ font-size: 13px; color: {MUTED}; margin-top: 5px; }}
.strip img {{ width: 100%; border-radius: 8px; }}
table {{ border-collapse: collapse; width: 100%; font-size: 13.5px; font-variant-numeric: tabular-nums; }}
th {{ text-align: left; color: {MUTED}; font-weight: 600; }}
th, td {{ padding: 5px 10px 5px 0; border-bottom: 1px solid {FAINT}; vertical-align: top; overflow-wrap: anywhere; }}
a {{ color: {ACCENT}; }}
.no {{ color: {BAD}; font-weight: 600; }} .yes {{ color: {GOOD}; font-weight: 600; }}
.key {{ display: inline-block; width: 11px; height: 11px; border-radius: 3px; margin: 0 5px 0 12px; }}
.wide {{ overflow-x: auto; }} .wide svg {{ min-width: 640px; }}
@media print {{ body {{ background: #fff; }} section, header {{ break-inside: avoid; }} }}
"""


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
    tone = GOOD if data.success and data.compliance is not False else BAD
    parts = [
        _header(data),
        _frames(data.frames),
        _pair(_graph(data), "".join(_mask(view) for view in data.masks)),
        _grasps(data),
        _timeline(data.timeline),
        _motion(data),
        _pair(_table("Numbers", data.numbers), _links(data)),
    ]
    title = html.escape(data.sentence)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title} · armwright</title>\n<style>{_STYLE}</style>\n</head>\n"
        f'<body style="--tone: {tone}">\n<main>\n'
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _header(data: ReportData) -> str:
    badges = [_badge("Success" if data.success else "Failed", good=data.success)]
    if data.compliance is not None:
        badges.append(_badge("Held where asked" if data.compliance else "Held elsewhere", good=data.compliance))
    badges += [f'<li class="badge">{html.escape(word)}</li>' for word in (data.robot, f"seed {data.seed}")]
    verdict = f'<p class="hint" style="margin:12px 0 0">{html.escape(data.verdict)}</p>' if data.verdict else ""
    notes = "".join(f'<p class="hint" style="margin:4px 0 0">{html.escape(note)}</p>' for note in data.notes)
    return (
        f'<header><p class="over">armwright run</p><h1>“{html.escape(data.sentence)}”</h1>'
        f'<ul class="badges">{"".join(badges)}</ul>{verdict}{notes}</header>'
    )


def _badge(words: str, *, good: bool) -> str:
    return f'<li class="badge {"good" if good else "bad"}">{"✓" if good else "✗"} {words}</li>'


def _section(title: str, hint: str, body: str) -> str:
    lead = f'<p class="hint">{hint}</p>' if hint else ""
    return f"<section><h2>{html.escape(title)}</h2>{lead}{body}</section>"


def _pair(left: str, right: str) -> str:
    return f'<div class="two">{left}{right}</div>' if left and right else left or right


def _frames(frames: Sequence[KeyFrame]) -> str:
    if not frames:
        return ""
    figures = [
        f'<figure><img src="{data_uri(frame.image)}" alt="{html.escape(frame.label, quote=True)}">'
        f"<figcaption>{html.escape(frame.label)}</figcaption></figure>"
        for frame in frames
    ]
    return _section("What happened", "", f'<div class="strip">{"".join(figures)}</div>')


def _graph(data: ReportData) -> str:
    if not data.nodes:
        return ""
    hint = "What stands where at the start; dashed: what the sentence asks for."
    return _section("Scene graph", hint, scene_graph(data.nodes, data.edges))


def _mask(view: MaskView) -> str:
    share = f"{int(view.mask.sum())} of {len(view.mask)} points, by {html.escape(view.model)}"
    key = f'<span class="key" style="background:{MASK}"></span>{html.escape(view.region)}'
    key += '<span class="key" style="background:#a8b4c8"></span>rest'
    if view.pads_m is not None:
        key += f'<span class="key" style="background:{INK};border-radius:50%"></span>pads'
    label = f"{view.region} of {view.object_id}, seen from two sides"
    picture = f'<img src="{data_uri(draw_mask(view), png=True)}" alt="{html.escape(label, quote=True)}">'
    return _section(f"Affordance on {view.object_id}", f"{share}{key}", picture)


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
    return _section("Ranked grasps", hint, body)


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
    return _section("Timeline", "World time; primitives and, below each, its stages.", body)


def _motion(data: ReportData) -> str:
    if not len(data.time_s):
        return ""
    names = [name if len(name) <= 16 else f"{name[:15]}…" for name in data.joint_names]
    joints = [(name, data.position_rad[:, k]) for k, name in enumerate(names)]
    left = curves(data.time_s, joints, unit="[rad]", label="Joint positions over time", spans=data.timeline)
    gap = [("opening", 1e3 * data.opening_m)]
    right = curves(data.time_s, gap, unit="[mm]", label="Gripper opening over time", spans=data.timeline)
    return _pair(_section("Joint positions", "", left), _section("Gripper opening", "", right))


def _table(title: str, rows: Mapping[str, str]) -> str:
    if not rows:
        return ""
    cells = "".join(f"<tr><th>{html.escape(key)}</th><td>{html.escape(value)}</td></tr>" for key, value in rows.items())
    return _section(title, "", f"<table>{cells}</table>")


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
    return _section("Files and versions", "", f"<table>{''.join(rows)}</table>") if rows else ""


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
