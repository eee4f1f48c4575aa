"""Fill the report of a run from its episode."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from armwright.assets.catalog import COLOURS
from armwright.core.pose import Array
from armwright.generate.episode import Episode
from armwright.generate.session import Session
from armwright.recording.report import write_report
from armwright.recording.report_data import (
    GraphEdge,
    GraphNode,
    GraspRow,
    KeyFrame,
    MaskView,
    ReportData,
    TimelineBar,
)
from armwright.recording.result import ResultRecord
from armwright.sim.world import World
from armwright.skills.context import GraspTrace

FRAMES = 8
FRAME_PX = (480, 360)


def write_episode_report(path: Path, session: Session, episode: Episode, record: ResultRecord, *, images: bool) -> None:
    """Write ``report.html`` for one episode."""
    states = episode.world.arm.states(episode.times_s[0][0] - 1e-9 if episode.times_s else 0.0)
    graded = episode.graded
    data = ReportData(
        sentence=episode.request.parsed.sentence,
        robot=session.robot.spec.title,
        seed=episode.request.seed,
        success=graded.success,
        compliance=graded.compliance,
        verdict=graded.detail or "; ".join(s.verdict.predicate for s in graded.stages),
        nodes=_nodes(episode),
        edges=_edges(episode),
        masks=tuple(_mask(trace) for trace in episode.traces),
        grasps=tuple(row for trace in episode.traces[:1] for row in _grasps(trace)),
        grasps_dropped=dict(episode.traces[0].grasps.dropped) if episode.traces else {},
        timeline=_timeline(episode),
        frames=_frames(episode) if images else (),
        time_s=np.array([s.stamp_s for s in states]) - (states[0].stamp_s if states else 0.0),
        joint_names=session.robot.spec.joints,
        position_rad=np.array([s.position_rad for s in states]),
        opening_m=np.array([s.opening_m for s in states]),
        numbers=_numbers(episode, record),
        versions=record.versions,
        files={key: Path(value).name for key, value in record.files.items() if key != "report"},
        notes=tuple(f"not understood: “{text}”" for text in episode.request.parsed.not_understood),
    )
    write_report(path, data)


def _nodes(episode: Episode) -> tuple[GraphNode, ...]:
    nodes = []
    for node in episode.scene.objects:
        colour = episode.world.objects[node.id].attributes.get("colour")
        shown = COLOURS.get(colour or "")
        css = f"rgb({', '.join(str(round(255 * v)) for v in shown)})" if shown else None
        nodes.append(GraphNode(node.id, node.category, css, node.manipulated))
    return (*nodes, GraphNode("table", "table", "rgb(222, 184, 135)"))


def _edges(episode: Episode) -> tuple[GraphEdge, ...]:
    stated = {r.subject for r in episode.scene.relations if r.relation in ("on", "in")}
    edges = [GraphEdge(r.subject, r.relation, r.object) for r in episode.scene.relations]
    edges += [GraphEdge(n.id, "on", "table") for n in episode.scene.objects if n.id not in stated]
    edges += [
        GraphEdge(p.object, p.relation or p.name, p.target, goal=True)
        for p in episode.request.parsed.primitives
        if p.target is not None
    ]
    return tuple(edges)


def _mask(trace: GraspTrace) -> MaskView:
    pads: Array | None = None
    approach: Array | None = None
    if trace.chosen >= 0:
        chosen = trace.grasps.candidates[trace.chosen]
        half = 0.5 * chosen.width_m
        pads = chosen.pose_object_pads.transform([[0.0, half, 0.0], [0.0, -half, 0.0]])
        approach = chosen.pose_object_pads.rotate([0.0, 0.0, 1.0])
    return MaskView(
        trace.query.object,
        trace.query.region,
        trace.mask.model,
        trace.cloud.points_m,
        trace.mask.mask,
        trace.cloud.normals,
        pads,
        approach,
    )


def _grasps(trace: GraspTrace) -> list[GraspRow]:
    evaluation = trace.evaluation
    if evaluation is None:
        return []
    details = evaluation.detail or ("",) * len(evaluation.status)
    return [
        GraspRow(float(score), status == "ok", status, detail, chosen=k == trace.chosen)
        for k, (score, status, detail) in enumerate(zip(evaluation.score, evaluation.status, details, strict=True))
    ]


def _timeline(episode: Episode) -> tuple[TimelineBar, ...]:
    start = episode.times_s[0][0] if episode.times_s else 0.0
    return tuple(
        TimelineBar(stage.name, began - start, ended - start, stage.ok, stage.status, stage.detail)
        for stage, (began, ended) in zip(episode.stages, episode.times_s, strict=False)
    )


def _frames(episode: Episode) -> tuple[KeyFrame, ...]:
    since = episode.times_s[0][0] - 1e-9
    samples = episode.world.stream(since)
    chosen = sorted(set(np.linspace(0, len(samples) - 1, FRAMES).round().astype(int)))
    frames = []
    for k in chosen:
        stamp = samples[k].stamp_s
        stage = next(
            (s.name for s, (a, b) in zip(episode.stages, episode.times_s, strict=False) if a <= stamp < b), "settle"
        )
        frames.append(KeyFrame(_picture(episode.world, k, since), f"{stamp - samples[0].stamp_s:.1f} s · {stage}"))
    return tuple(frames)


def _picture(world: World, index: int, since_s: float) -> np.ndarray:
    return world.cameras["front"].picture(since_s, index, *FRAME_PX)


def _numbers(episode: Episode, record: ResultRecord) -> dict[str, str]:
    numbers = {
        "Motion": f"{episode.sim_s:.1f} s",
        "Computing": f"{episode.wall_s:.2f} s",
        "Scene source": "oracle",
        "Affordance model": episode.request.affordance,
        "Grasp source": episode.request.grasps,
        "Pose draws": f"{episode.draws}, {sum(episode.rejected.values())} rejected",
    }
    if episode.graded.touched:
        numbers["Also touched"] = ", ".join(episode.graded.touched)
    for object_id, share in episode.graded.shares.items():
        numbers[f"Contacts of {object_id} on the region"] = f"{100 * share:.0f} %"
    for name, seconds in sorted(episode.timing.items(), key=lambda kv: -kv[1]):
        numbers[f"… {name}"] = f"{1000 * seconds:.0f} ms"
    return numbers
