"""The report's drawings: scene graph, ranked grasps, timeline, curves."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from armwright.core.pose import Array
from armwright.recording._svg import (
    ACCENT,
    BAD,
    DASHES,
    FAINT,
    GOOD,
    INK,
    MASK,
    MUTED,
    PANEL,
    SERIES,
    element,
    figure,
    short,
    text,
    ticks,
    tooltip,
    width_of,
)
from armwright.recording.report_data import GraphEdge, GraphNode, GraspRow, TimelineBar

_SUPPORT = ("on", "in", "above")
_NODE_H = 46.0


def scene_graph(nodes: Sequence[GraphNode], edges: Sequence[GraphEdge]) -> str:
    """Draw the graph in layers: what stands on something is drawn above it; the task's goal is dashed."""
    known = {node.id: node for node in nodes}
    for edge in edges:
        for name in (edge.subject, edge.object):
            known.setdefault(name, GraphNode(name, "support" if name == "table" else ""))
    layers = _layers(known, edges)
    rows: dict[int, list[str]] = defaultdict(list)
    for name in known:
        rows[layers[name]].append(name)
    widths = {
        name: max(92.0, 46 + max(width_of(name, 15), width_of(_detail(node), 12))) for name, node in known.items()
    }
    gap = 18.0
    total = max(sum(widths[name] + gap for name in row) for row in rows.values()) if known else 200.0
    width, height = max(440.0, total + 10), 34 + 112.0 * (max(rows, default=0) + 1)
    place: dict[str, tuple[float, float]] = {}
    for layer, row in rows.items():
        spare = (width - sum(widths[name] for name in row)) / (len(row) + 1)
        x = spare
        for name in row:
            place[name] = (x + widths[name] / 2, height - 62 - 112.0 * layer)
            x += widths[name] + spare
    drawn = [_arrowheads()]
    labels: list[str] = []
    for index, edge in enumerate(edges):
        line, label = _edge(edge, place, widths, bend=index)
        drawn.append(line)
        labels.append(label)
    drawn += [_node(known[name], place[name], widths[name]) for name in known]
    return figure(width, height, [*drawn, *labels], label="Scene graph")


def _layers(known: dict[str, GraphNode], edges: Sequence[GraphEdge]) -> dict[str, int]:
    layers = dict.fromkeys(known, 0)
    for _ in known:
        for edge in edges:
            if not edge.goal and edge.relation in _SUPPORT:
                layers[edge.subject] = min(max(layers[edge.subject], layers[edge.object] + 1), len(known))
            elif not edge.goal and edge.relation == "under":
                layers[edge.object] = min(max(layers[edge.object], layers[edge.subject] + 1), len(known))
    return layers


def _arrowheads() -> str:
    heads = [
        element(
            "marker",
            element("path", d="M0,0 L8,4 L0,8 z", fill=color),
            id=f"arrow-{name}",
            markerWidth=8,
            markerHeight=8,
            refX=7,
            refY=4,
            orient="auto",
        )
        for name, color in (("plain", MUTED), ("goal", ACCENT))
    ]
    return element("defs", "".join(heads))


def _detail(node: GraphNode) -> str:
    return f"{node.category} · moved" if node.manipulated else node.category


def _node(node: GraphNode, at: tuple[float, float], width: float) -> str:
    x, y = at[0] - width / 2, at[1] - _NODE_H / 2
    box = element(
        "rect",
        x=x,
        y=y,
        width=width,
        height=_NODE_H,
        rx=9,
        fill="#ffffff",
        stroke=ACCENT if node.manipulated else "#aab3c2",
        stroke_width=2.4 if node.manipulated else 1.2,
    )
    swatch = element(
        "circle", cx=x + 18, cy=at[1], r=8, fill=node.color or "#e8ebf0", stroke="#00000040", stroke_width=1
    )
    return (
        box
        + swatch
        + text(x + 34, at[1] - 2, node.id, font_size=15, font_weight=600)
        + text(x + 34, at[1] + 15, _detail(node), font_size=12, fill=MUTED)
    )


def _edge(
    edge: GraphEdge, place: dict[str, tuple[float, float]], widths: dict[str, float], *, bend: int
) -> tuple[str, str]:
    (x0, y0), (x1, y1) = place[edge.subject], place[edge.object]
    color, head = (ACCENT, "goal") if edge.goal else (MUTED, "plain")
    if abs(y0 - y1) < 1:
        side = 1 if x1 > x0 else -1
        start, end = (x0 + side * 10, y0 - _NODE_H / 2), (x1 - side * 10, y1 - _NODE_H / 2 - 3)
        lift = 34 + 12 * (bend % 2)
        middle = ((x0 + x1) / 2, y0 - _NODE_H / 2 - lift)
        label_at = (0.64 * x0 + 0.36 * x1, middle[1] + lift / 2 + 3)
    else:
        down = 1 if y1 > y0 else -1
        start, end = (x0, y0 + down * _NODE_H / 2), (x1, y1 - down * (_NODE_H / 2 + 3))
        slide = 46 if edge.goal else 0
        middle = ((start[0] + end[0]) / 2 + slide, (start[1] + end[1]) / 2)
        label_at = ((start[0] + 2 * middle[0] + end[0]) / 4, middle[1] + 4)
    path = element(
        "path",
        d=f"M{start[0]:.1f},{start[1]:.1f} Q{middle[0]:.1f},{middle[1]:.1f} {end[0]:.1f},{end[1]:.1f}",
        fill="none",
        stroke=color,
        stroke_width=1.8,
        stroke_dasharray="6 4" if edge.goal else None,
        marker_end=f"url(#arrow-{head})",
    )
    words = edge.relation.replace("_", " ") + (" (goal)" if edge.goal else "")
    label = text(
        label_at[0],
        label_at[1],
        words,
        font_size=13,
        fill=color,
        text_anchor="middle",
        stroke="#ffffff",
        stroke_width=5,
        paint_order="stroke",
        stroke_linejoin="round",
    )
    return path, label


def ranked_grasps(grasps: Sequence[GraspRow], *, most: int = 24) -> str:
    """Draw scores as bars, best first; candidates that fail stand at the end with a cross."""
    shown = _sample(sorted(grasps, key=lambda grasp: (not grasp.ok, -grasp.score)), most)
    width, height, left, top, bottom = 620.0, 250.0, 46.0, 26.0, 40.0
    high = max((grasp.score for grasp in shown), default=0.0) or 1.0
    span = (width - left - 12) / max(len(shown), 1)
    base = height - bottom

    def y(score: float) -> float:
        return base - (base - top) * score / (high * 1.08)

    body = [
        element("line", x1=left, x2=width - 12, y1=y(tick), y2=y(tick), stroke=FAINT)
        + text(left - 8, y(tick) + 4, short(tick), font_size=11, fill=MUTED, text_anchor="end")
        for tick in ticks(0, high)
    ]
    for k, grasp in enumerate(shown):
        x, bar = left + k * span, min(span * 0.72, 30.0)
        middle = x + span / 2
        if grasp.ok:
            body.append(
                element(
                    "rect",
                    tooltip(f"score {short(grasp.score)}"),
                    x=middle - bar / 2,
                    y=y(grasp.score),
                    width=bar,
                    height=base - y(grasp.score),
                    rx=2.5,
                    fill=MASK if grasp.chosen else ACCENT,
                    opacity=1.0 if grasp.chosen else 0.72,
                )
            )
            if grasp.chosen:
                body.append(text(middle, y(grasp.score) - 6, "executed", font_size=11, text_anchor="middle", fill=MASK))
        else:
            body.append(_cross(middle, base - 9, 5.5))
        body.append(text(middle, base + 16, k + 1, font_size=10, fill=MUTED, text_anchor="middle"))
    body.append(element("line", x1=left, x2=width - 12, y1=base, y2=base, stroke=INK))
    body.append(text(left, 14, "score s = 1 / arc length to the pre-grasp [1/rad]", font_size=12, fill=MUTED))
    body.append(_cross(width - 128, height - 8, 4.5))
    body.append(text(width - 118, height - 4, "fails: see table", font_size=11, fill=MUTED))
    drawn = "" if len(shown) == len(grasps) else f" ({len(shown)} of {len(grasps)} drawn)"
    body.append(text(left, height - 4, f"candidate, best first{drawn}", font_size=11, fill=MUTED))
    return figure(width, height, body, label="Ranked grasp candidates")


def _sample(order: Sequence[GraspRow], most: int) -> list[GraspRow]:
    good, bad = [g for g in order if g.ok], [g for g in order if not g.ok]
    room = most - min(len(bad), max(most // 3, most - len(good)))
    late = [grasp for grasp in good[room:] if grasp.chosen]
    shown = [*good[: room - len(late)], *late]
    return shown + bad[: most - len(shown)]


def _cross(x: float, y: float, half: float) -> str:
    line = f"M{x - half:.1f},{y - half:.1f} l{2 * half},{2 * half} m0,{-2 * half} l{-2 * half},{2 * half}"
    return element("path", d=line, stroke=BAD, stroke_width=2.4, fill="none", stroke_linecap="round")


def timeline(bars: Sequence[TimelineBar]) -> str:
    """Draw stretches over world time: primitives as full bars, their stages as thin ones below."""
    end = max((bar.end_s for bar in bars), default=1.0) or 1.0
    left, right, row = 150.0, 120.0, 27.0
    width, height = 1080.0, 34 + row * len(bars) + 26

    def x(time_s: float) -> float:
        return left + (width - left - right) * time_s / end

    base = height - 26
    body = [
        element("line", x1=x(tick), x2=x(tick), y1=8, y2=base, stroke=FAINT)
        + text(x(tick), base + 17, f"{short(tick)} s", font_size=11, fill=MUTED, text_anchor="middle")
        for tick in ticks(0, end, count=10)
    ]
    for k, bar in enumerate(bars):
        y = 14 + k * row
        tall = 18.0 if bar.level == 0 else 11.0
        color = GOOD if bar.ok else BAD
        body.append(
            text(
                left - 12,
                y + 14,
                bar.name,
                font_size=13 if bar.level == 0 else 12,
                font_weight=600 if bar.level == 0 else 400,
                fill=INK if bar.level == 0 else MUTED,
                text_anchor="end",
            )
        )
        body.append(
            element(
                "rect",
                tooltip(f"{bar.start_s:.2f} s to {bar.end_s:.2f} s: {bar.status} {bar.detail}".strip()),
                x=x(bar.start_s),
                y=y + (18 - tall) / 2,
                width=max(x(bar.end_s) - x(bar.start_s), 2.5),
                height=tall,
                rx=3,
                fill=color,
                opacity=0.92 if bar.level == 0 else 0.6,
            )
        )
        words = f"{'✓' if bar.ok else '✗'} {bar.end_s - bar.start_s:.2f} s" + ("" if bar.ok else f" · {bar.status}")
        fits = x(bar.end_s) + 8 + width_of(words, 11.5) < width
        at, anchor = (x(bar.end_s) + 8, "start") if fits else (x(bar.start_s) - 8, "end")
        body.append(text(at, y + 14, words, font_size=11.5, fill=color, text_anchor=anchor))
    return figure(width, height, body, label="Timeline of primitives and stages")


def curves(
    time_s: Array, series: Sequence[tuple[str, Array]], *, unit: str, label: str, spans: Sequence[TimelineBar] = ()
) -> str:
    """Draw (t,) series over time with their names at the right; primitives shade the background in turn."""
    width, height, left, right, top, bottom = 620.0, 260.0, 50.0, 118.0, 18.0, 34.0
    values = np.concatenate([np.asarray(row, float) for _, row in series]) if series else np.zeros(1)
    low, high = float(values.min()), float(values.max())
    pad = 0.06 * (high - low) or 0.05
    low, high = low - pad, high + 3 * pad
    first, last = (float(time_s[0]), float(time_s[-1])) if len(time_s) else (0.0, 1.0)
    last = max(last, first + 1e-6)

    def x(value: float) -> float:
        return left + (width - left - right) * (value - first) / (last - first)

    def y(value: float) -> float:
        return top + (height - top - bottom) * (high - value) / (high - low)

    body: list[str] = []
    for k, span in enumerate(bar for bar in spans if bar.level == 0):
        a, b = max(span.start_s, first), min(span.end_s, last)
        if b > a:
            shade = element("rect", x=x(a), y=top, width=x(b) - x(a), height=height - top - bottom, fill=PANEL)
            body.append((shade if k % 2 == 0 else "") + text(x(a) + 4, top + 12, span.name, font_size=10, fill=MUTED))
    for tick in ticks(low, high):
        body.append(element("line", x1=left, x2=width - right, y1=y(tick), y2=y(tick), stroke=FAINT))
        body.append(text(left - 7, y(tick) + 4, short(tick), font_size=11, fill=MUTED, text_anchor="end"))
    for tick in ticks(first, last, count=7):
        body.append(text(x(tick), height - 15, short(tick), font_size=11, fill=MUTED, text_anchor="middle"))
    body.append(
        text((left + width - right) / 2, height - 1, "time [s]", font_size=11, fill=MUTED, text_anchor="middle")
    )
    body.append(text(left - 40, 11, unit, font_size=11, fill=MUTED))
    step = max(1, len(time_s) // 300)
    kept = sorted({*range(0, len(time_s), step), len(time_s) - 1} - {-1})
    names: list[tuple[float, str, str]] = []
    for k, (name, row) in enumerate(series):
        color = SERIES[k % len(SERIES)]
        points = " ".join(f"{x(float(time_s[i])):.1f},{y(float(row[i])):.1f}" for i in kept)
        body.append(
            element(
                "polyline",
                points=points,
                fill="none",
                stroke=color,
                stroke_width=1.9,
                stroke_dasharray=DASHES[k % len(DASHES)] or None,
                stroke_linejoin="round",
            )
        )
        if len(row):
            names.append((y(float(row[-1])), name, color))
    body += _legend(names, x=width - right + 8, low=top, high=height - bottom)
    return figure(width, height, body, label=label)


def _legend(names: list[tuple[float, str, str]], *, x: float, low: float, high: float) -> list[str]:
    names = sorted(names)
    gap = 14.0
    at = [y for y, _, _ in names]
    for k in range(1, len(at)):
        at[k] = max(at[k], at[k - 1] + gap)
    if at and at[-1] > high:
        at[-1] = high
        for k in range(len(at) - 2, -1, -1):
            at[k] = min(at[k], at[k + 1] - gap)
    return [
        text(x, max(y, low) + 4, name, font_size=11.5, fill=color)
        for y, (_, name, color) in zip(at, names, strict=True)
    ]
