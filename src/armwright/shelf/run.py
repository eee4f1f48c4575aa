"""`armwright shelf run`: one scene from the first look to the graded placing, with everything to look at."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from armwright.control.protocols import StageReport
from armwright.core.errors import UsageError
from armwright.core.files import write_text
from armwright.perception.describers import Describer, make_describer
from armwright.perception.segmenters import Segmenter, segmenter
from armwright.recording.outputs import check_out, claimed, held
from armwright.recording.report_data import KeyFrame
from armwright.recording.result import ResultRecord, StageRecord, collect_versions
from armwright.shelf.capture import Capture, look_around
from armwright.shelf.grading import true_fits, true_records
from armwright.shelf.metrics import score_mapping
from armwright.shelf.parts import Parts
from armwright.shelf.pictures import map_mesh, write_ply
from armwright.shelf.pipeline import Choice, Perceived, Placed, choose, perceive, perceive_target, place
from armwright.shelf.reasoner import Reasoner, make_reasoner
from armwright.shelf.records import ShelfObject
from armwright.shelf.report import PairRow, ShelfReport, write_shelf_report
from armwright.shelf.scene_files import draw_scene
from armwright.shelf.trial import SIMULATED, check_parts
from armwright.shelf.views import plan_views
from armwright.shelf.worlds import ROBOT, ShelfWorld, open_scene

_SHOWN_PAIRS = 12
_KEY_FRAMES = 9
_PICTURE_PX = (640, 480)


@dataclass(frozen=True)
class ShelfRequest(Parts):
    """What to run, with which parts.

    Attributes:
        scene: A layout or an attribute that dominates (`shelf.scene_files.SCENE_NAMES`).
        seed: Of the scene.
    """

    scene: str = "multi-row"
    seed: int = 0


@dataclass(eq=False)
class ShelfRun:
    """A run as far as it got.

    Attributes:
        world: The simulated world.
        stages: What happened, in order.
        seconds: Wall time by part [s].
        capture, known, choice, placed: What each part gave; None where the run ended before.
        began_s: World time when the placing began.
        truth: What truly stood on the shelf before, for judges.
    """

    world: ShelfWorld
    stages: list[StageReport] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    capture: Capture | None = None
    known: Perceived | None = None
    choice: Choice | None = None
    placed: Placed | None = None
    began_s: float = 0.0
    truth: list[ShelfObject] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """Whether the target was placed within 6 cm of the chosen place."""
        return self.placed is not None and self.placed.score.success


def run_scene(
    request: ShelfRequest, reasoner: Reasoner, describer: Describer, *, progress: Callable[[str], None] = lambda _: None
) -> ShelfRun:
    """Run a scene: open, look, map, reason, place, judge; it ends early where a part cannot go on."""
    clock = time.perf_counter()

    def took(name: str) -> None:
        nonlocal clock
        now = time.perf_counter()
        run.seconds[name] = now - clock
        clock = now

    progress("opening the scene")
    world = open_scene(draw_scene(request.scene, request.seed), noise=request.noise)
    run = ShelfRun(world, truth=true_records(world))
    took("open")
    find = _segmenter(request, world)
    progress("looking")
    views = plan_views(world, n_shelf=request.shelf_views, n_target=request.target_views)
    took("views")
    run.capture = look_around(world, views)
    run.stages += run.capture.stages
    took("capture")
    progress("mapping")
    try:
        target = perceive_target(world, run.capture, segmenter=find, describer=describer)
    except UsageError as error:
        run.stages.append(StageReport("see the target", False, "no_object", str(error)))
        return run
    took("perceive target")
    if not run.capture.of("shelf"):
        run.stages.append(StageReport("map the shelf", False, "no_view", "no view of the shelf was taken"))
        return run
    run.known = perceive(world, run.capture, segmenter=find, describer=describer, seen=target)
    took("perceive map")
    seen, mapped = run.known.seen, run.known.mapped
    run.seconds |= {f"map: {name}": value for name, value in mapped.seconds.items()}
    clock = time.perf_counter()
    label = seen.description.label or "no label could be read"
    run.stages.append(StageReport("see the target", True, "done", f"{label}, {_size(seen.target.size_m)}"))
    found = f"{len(mapped.objects)} objects on {len(mapped.shelf.boards_m)} boards"
    run.stages.append(StageReport("map the shelf", bool(mapped.objects), "done" if mapped.objects else "empty", found))
    progress("reasoning and planning")
    run.choice = choose(world, run.known, reasoner, seed=request.seed)
    reasoning, decision = run.choice.reasoning, run.choice.decision
    run.seconds |= dict(run.choice.seconds)
    clock = time.perf_counter()
    run.stages.append(StageReport("reason", reasoning.ok, reasoning.status, reasoning.organisation))
    run.stages.append(
        StageReport("decide", decision.ok, "planned" if decision.ok else "no_placement", decision.summary())
    )
    if not decision.ok:
        return run
    progress("placing")
    run.began_s = world.clock.now_s
    run.placed = place(world, run.known, run.choice)
    run.stages += run.placed.report.stages
    score = run.placed.score
    told = f"{1000 * score.error_m:.0f} mm from the chosen place"
    run.stages.append(StageReport("judge placed", score.success, "holds" if score.success else "fails", told))
    took("place")
    return run


def run_shelf(request: ShelfRequest, out: Path, *, progress: Callable[[str], None] = lambda text: None) -> ResultRecord:
    """Run a scene and write ``report.html``, ``graph.json``, ``objects.ply`` and ``result.json``.

    Raises:
        UsageError: Wrong names, or a folder that holds something or that another process is working in.
        OutputError: The folder cannot be written.
    """
    started = time.perf_counter()
    check_out(out)
    if request.shelf_views < 1 or request.target_views < 1:
        raise UsageError("a run needs at least one view of the shelf and one of the target.")
    check_parts(request)
    reasoner = make_reasoner(request.reasoner, model=request.model if request.reasoner == "chat" else None)
    describer = make_describer(request.describer, model=request.model if request.describer != "labels" else None)
    draw_scene(request.scene, request.seed)
    with claimed(out):
        if other := held(out):
            raise UsageError(f"{out} {other}.", hint="Choose another folder with --out.")
        run = run_scene(request, reasoner, describer, progress=progress)
        files = _written(run, out)
        record = _record(request, run, files, wall_s=time.perf_counter() - started)
        if run.known is not None and run.choice is not None:
            write_shelf_report(out / "report.html", _report(request, run, record))
        record = record.model_copy(update={"wall_s": time.perf_counter() - started})
        record.write(out / "result.json")
    return record


def _segmenter(request: ShelfRequest, world: ShelfWorld) -> Segmenter:
    if request.segmenter != SIMULATED:
        return segmenter(request.segmenter)
    from armwright.sim.segmenter import SimulatedSegmenter

    return SimulatedSegmenter(world.world, seed=request.seed)


def chosen_fits(run: ShelfRun) -> dict[str, float]:
    """Return `grading.true_fits` of the chosen place; empty without a choice."""
    choice = run.choice
    if choice is None or choice.decision.motion is None or choice.decision.motion.planned is None:
        return {}
    return true_fits(run.world.scene, run.truth, choice.candidates, choice.decision.motion.planned.pair.place)


def _written(run: ShelfRun, out: Path) -> dict[str, str]:
    files: dict[str, str] = {}
    if run.known is None or run.choice is None:
        return files
    write_text(out / "graph.json", run.choice.graph.to_json())
    write_ply(out / "objects.ply", map_mesh(run.known.mapped, true_colours=True))
    names = {"report": "report.html", "graph": "graph.json", "objects": "objects.ply"}
    return {role: str(out / name) for role, name in names.items()}


def _record(request: ShelfRequest, run: ShelfRun, files: Mapping[str, str], *, wall_s: float) -> ResultRecord:
    extra: dict[str, Any] = {"scene": request.scene, "segmenter": request.segmenter, "describer": request.describer}
    extra |= {"reasoner": request.reasoner, "target": run.world.scene.target.name}
    extra["seconds"] = {name: round(value, 3) for name, value in run.seconds.items()}
    if run.known is not None:
        mapping = score_mapping(run.truth, run.known.mapped.objects)
        extra["mapping"] = {
            "f1_label": mapping.f1_label,
            "box_iou": mapping.box_iou,
            "instances": mapping.instances,
            "spurious": mapping.spurious,
            "true": mapping.true,
            "mapped": mapping.mapped,
        }
        extra["notes"] = list(run.known.mapped.notes)
    if run.choice is not None:
        reasoning = run.choice.reasoning
        if reasoning.note:
            extra["notes"] = [*extra.get("notes", ()), reasoning.note]
        extra["organisation"] = reasoning.organisation
        extra["attribute_weights"] = dict(reasoning.attribute_weights)
        extra["proposals"] = [
            {"rank": p.rank, "anchor": p.anchor, "side": p.side, "orientation": p.orientation, "reason": p.reason}
            for p in reasoning.proposals
        ]
        extra["fits"] = chosen_fits(run)
        box = run.choice.decision.box
        extra["place"] = None if box is None else {"center_m": box.center_m, "size_m": box.size_m}
    if run.placed is not None:
        score = run.placed.score
        extra["placement"] = {
            "success": score.success,
            "upright": score.upright,
            "neighbours_still": score.neighbours_still,
            "error_m": score.error_m,
        }
    return ResultRecord(
        command="shelf run",
        ok=run.ok,
        stages=tuple(map(StageRecord.from_report, run.stages)),
        seed=request.seed,
        robot=ROBOT,
        success=run.ok,
        wall_s=wall_s,
        sim_s=run.world.clock.now_s,
        versions=collect_versions(),
        files=dict(files),
        extra=extra,
    )


def _report(request: ShelfRequest, run: ShelfRun, record: ResultRecord) -> ShelfReport:
    known, choice = run.known, run.choice
    assert known is not None and choice is not None
    label = known.seen.description.label or "the unknown object"
    numbers = {f"{name} [s]": f"{value:.2f}" for name, value in run.seconds.items()}
    for name, value in record.extra.get("mapping", {}).items():
        numbers[f"map against the truth: {name}"] = f"{value:.3g}"
    for name, value in record.extra.get("fits", {}).items():
        numbers[f"chosen place by true attributes: {name}"] = f"{value:.2f}"
    return ShelfReport(
        title=f"Where does {label} belong?",
        ok=run.ok,
        seed=request.seed,
        mapped=known.mapped,
        graph=choice.graph,
        seen=known.seen,
        target=known.seen.target,
        reasoning=choice.reasoning,
        pairs=_pairs(choice),
        ruled_out=choice.decision.ruled_out(),
        stages=run.stages,
        pictures=_pictures(run),
        numbers=numbers,
        files={role: Path(path).name for role, path in record.files.items() if role != "report"},
    )


def _pairs(choice: Choice) -> list[PairRow]:
    decision = choice.decision
    planned = decision.motion.planned if decision.motion is not None else None
    rows = []
    for round_ in decision.rounds:
        for pair in round_.pairs.pairs[:_SHOWN_PAIRS]:
            box = choice.candidates.box(pair.place)
            where = f"board {int(choice.candidates.board[pair.place])}, " + ", ".join(
                f"{axis} {100 * value:.0f} cm" for axis, value in zip("xy", box.center_m[:2], strict=True)
            )
            chosen = planned is not None and planned.pair is pair
            rows.append(
                PairRow(
                    where,
                    choice.grasps.candidates[pair.grasp].quality,
                    float(choice.p_sem[pair.place]),
                    pair.score,
                    "executed" if chosen else "feasible",
                )
            )
    return rows


def _pictures(run: ShelfRun) -> list[KeyFrame]:
    """Return pictures of the fixed camera from before the placing to after it."""
    camera = run.world.world.cameras.get("front")
    if camera is None:
        return []
    stamps = camera.stamps()
    if not stamps:
        return []
    # The first is from before anything moved; the others follow the placing to its end.
    first = next((k for k, stamp in enumerate(stamps) if stamp >= run.began_s), 0)
    chosen = np.unique([0, *np.linspace(first, len(stamps) - 1, _KEY_FRAMES - 1).astype(int)])
    since = float("-inf")
    return [KeyFrame(camera.picture(since, int(k), *_PICTURE_PX), f"{stamps[k]:.1f} s") for k in chosen]


def _size(size_m: tuple[float, float, float]) -> str:
    return " x ".join(f"{100 * s:.1f}" for s in size_m) + " cm"
