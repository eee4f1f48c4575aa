"""`armwright shelf map DIR`: the pipeline on recorded real RGB-D with poses, up to the ranked placements."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UsageError, quoted
from armwright.core.files import write_text
from armwright.perception.describers import make_describer
from armwright.perception.recorded import read_view, recording
from armwright.perception.segmenters import segmenter
from armwright.perception.surface import surface
from armwright.recording.outputs import check_out, claimed, held
from armwright.recording.result import ResultRecord, StageRecord, collect_versions
from armwright.shelf.boards import direction
from armwright.shelf.graph import SceneGraph, build_graph
from armwright.shelf.mapping import ShelfMap, map_shelf
from armwright.shelf.pictures import map_mesh, write_ply
from armwright.shelf.reasoner import Reasoning, check_model_used, make_reasoner
from armwright.shelf.records import PACKAGINGS, Described, Packaging, Target
from armwright.shelf.report import ShelfReport, write_shelf_report

SMALLEST_M, LARGEST_M = 0.005, 2.0
"""Edges of a thing that anybody would put on a shelf [m]."""
NEAR_M, FAR_M = 0.10, 5.0
"""Between these lies what a depth camera that looks at a shelf mostly measures [m]."""


@dataclass(frozen=True)
class MapRequest:
    """What to map and how.

    Attributes:
        folder: A recording (`perception.recorded`).
        segmenter, describer, reasoner: By name.
        model: Chat model for those that need one.
        up: The vertical in the world, None to find it.
        target: What is to be placed, in words; None for the map alone.
        target_size_m: Its depth, width and height.
        target_packaging: Its packaging.
        every: Take every so many views.
    """

    folder: Path
    segmenter: str = "boundary"
    describer: str = "labels"
    reasoner: str = "embedded"
    model: str | None = None
    up: tuple[float, float, float] | None = None
    target: str | None = None
    target_size_m: tuple[float, float, float] = (0.07, 0.07, 0.15)
    target_packaging: str | None = None
    every: int = 1


def described_target(request: MapRequest) -> Target | None:
    """Return the object to place from its words: content and edibility by what they mean.

    Raises:
        UsageError: An unknown packaging, or a size that is none.
    """
    size_m = request.target_size_m
    if not (np.isfinite(size_m).all() and min(size_m) >= SMALLEST_M and max(size_m) <= LARGEST_M):
        raise UsageError(
            f"a target's size is three lengths from {SMALLEST_M} to {LARGEST_M} m, got {', '.join(map(str, size_m))}.",
            hint="Give depth,width,height in metres, such as 0.07,0.07,0.15.",
        )
    if request.target is None:
        if request.target_packaging is not None:
            raise UsageError("a target's packaging was given, but no target.", hint="Add --target WORDS.")
        return None
    if not any(c.isalnum() for c in request.target):
        raise UsageError(
            f"the target {quoted(request.target)} has no word in it.", hint='Say what it is, such as "orange juice".'
        )
    from armwright.perception.facts import content_of, edible_of

    if request.target_packaging is not None and request.target_packaging not in PACKAGINGS:
        raise UsageError(
            f"packaging {quoted(request.target_packaging)} is none of {', '.join(PACKAGINGS)}.",
            hint="Leave it out if it is another.",
        )
    words = request.target.lower().split()
    packaging: Packaging | None = next((p for p in PACKAGINGS if p == request.target_packaging), None)
    nature = Described(request.target, content_of(words), packaging, edible_of(words)[0], "upright")
    return Target(nature, request.target_size_m)


def map_recording(
    request: MapRequest, out: Path, *, progress: Callable[[str], None] = lambda text: None
) -> ResultRecord:
    """Map a recording and write ``report.html``, ``graph.json``, ``objects.ply``, ``room.ply`` and ``result.json``.

    Raises:
        UsageError: A recording that cannot be used, no board to be seen, wrong names.
        OutputError: The folder cannot be written.
    """
    started = time.perf_counter()
    target = described_target(request)
    up = None if request.up is None else direction(np.asarray(request.up, float))
    check_out(out)
    check_model_used(request.model, describer=request.describer, reasoner=request.reasoner)
    views = recording(request.folder)[:: max(request.every, 1)]
    find, say = (
        segmenter(request.segmenter),
        make_describer(request.describer, model=request.model if request.describer != "labels" else None),
    )
    think = make_reasoner(request.reasoner, model=request.model if request.reasoner == "chat" else None)
    progress(f"{len(views)} view{'s' if len(views) > 1 else ''}")
    frames = [read_view(view) for view in views]
    check_depth(frames)
    with claimed(out):
        if other := held(out):
            raise UsageError(f"{out} {other}.", hint="Choose another folder with --out.")
        mapped = map_shelf(frames, segmenter=find, describer=say, up=up)
        graph = build_graph(mapped.shelf, mapped.objects)
        reasoning = think.reason(graph, target) if target is not None and mapped.objects else None
        files = _written(out, mapped, graph)
        record = _record(request, mapped, reasoning, files, wall_s=time.perf_counter() - started)
        report = ShelfReport(
            title=f"The shelf in {request.folder.name}",
            ok=record.ok,
            seed=None,
            mapped=mapped,
            graph=graph,
            target=target,
            reasoning=reasoning,
            numbers={f"{name} [s]": f"{value:.2f}" for name, value in mapped.seconds.items()},
            files={role: Path(path).name for role, path in files.items()},
        )
        write_shelf_report(out / "report.html", report)
        record.write(out / "result.json")
        return record


def check_depth(frames: Sequence[RgbdFrame]) -> None:
    """Refuse depth that is no view of a shelf, most often since it is in another unit.

    Raises:
        UsageError: Half of all readings are nearer or farther than any view of a shelf has them.
    """
    median_m = float(np.median(np.concatenate([f.depth_m[f.depth_m > 0] for f in frames])))
    if not NEAR_M <= median_m <= FAR_M:
        raise UsageError(
            f"half of the depth readings are {'beyond' if median_m > FAR_M else 'below'} {median_m:.3g} m; views of a "
            f"shelf have theirs between {NEAR_M} and {FAR_M} m.",
            hint="A step of the 16-bit depth pictures must be a millimetre: convert them.",
        )


def _written(out: Path, mapped: ShelfMap, graph: SceneGraph) -> dict[str, str]:
    write_text(out / "graph.json", graph.to_json())
    write_ply(out / "objects.ply", map_mesh(mapped, true_colours=True))
    write_ply(out / "room.ply", surface(mapped.coarse))
    names = {"report": "report.html", "graph": "graph.json", "objects": "objects.ply", "room": "room.ply"}
    return {role: str(out / name) for role, name in names.items()}


def _record(
    request: MapRequest, mapped: ShelfMap, reasoning: Reasoning | None, files: dict[str, str], *, wall_s: float
) -> ResultRecord:
    found = f"{len(mapped.objects)} objects on {len(mapped.shelf.boards_m)} boards, {len(mapped.forgotten)} dropped"
    stages = [
        StageRecord(name="map", ok=bool(mapped.objects), status="done" if mapped.objects else "empty", detail=found)
    ]
    if reasoning is not None:
        stages.append(
            StageRecord(name="reason", ok=reasoning.ok, status=reasoning.status, detail=reasoning.organisation)
        )
    proposals = [] if reasoning is None else [
        {"rank": p.rank, "anchor": p.anchor, "side": p.side, "orientation": p.orientation, "reason": p.reason}
        for p in reasoning.proposals
    ]  # fmt: skip
    return ResultRecord(
        command="shelf map",
        ok=all(stage.ok for stage in stages),
        stages=tuple(stages),
        wall_s=wall_s,
        versions=collect_versions(),
        files=files,
        extra={
            "objects": len(mapped.objects),
            "boards_m": list(mapped.shelf.boards_m),
            "proposals": proposals,
            "notes": [*mapped.notes, *([reasoning.note] if reasoning is not None and reasoning.note else [])],
            "segmenter": request.segmenter,
            "describer": request.describer,
        },
    )
