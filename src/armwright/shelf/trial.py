"""One scene of the shelf bench: captured once, perceived once, then mapped, reasoned and placed by each method."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from armwright.core.errors import ArmwrightError, SceneError, UnknownNameError, UsageError
from armwright.core.pool import crash_text, watchdog
from armwright.core.seeds import rng_for
from armwright.perception.describers import Describer, LabelsOnly, make_describer
from armwright.perception.segmenters import segmenter, segmenter_names
from armwright.shelf.candidates import sample_candidates
from armwright.shelf.capture import Capture, look_around
from armwright.shelf.experts import expert_weights
from armwright.shelf.fit import EQUAL_WEIGHTS
from armwright.shelf.grading import best_fits, true_fits, true_records
from armwright.shelf.graph import build_graph
from armwright.shelf.mapping import ShelfMap, map_shelf
from armwright.shelf.methods import (
    MAPPING,
    MapKind,
    Method,
    NounsOnly,
    SharedDescriber,
    SharedSegmenter,
    head_noun,
    label_as_content,
    methods_of,
    widest,
)
from armwright.shelf.metrics import score_mapping
from armwright.shelf.parts import Parts
from armwright.shelf.pipeline import Choice, Perceived, choose, perceive_target, place, plan_choice
from armwright.shelf.reasoner import Reasoner, Reasoning, check_model_used, make_reasoner
from armwright.shelf.records import Described, ShelfObject
from armwright.shelf.scene_files import draw_scene
from armwright.shelf.scenes import ShelfScene
from armwright.shelf.score import ScoreReasoner
from armwright.shelf.target_view import SeenTarget
from armwright.shelf.true_labels import TrueLabels
from armwright.shelf.views import plan_views
from armwright.shelf.worlds import ShelfWorld, open_scene
from armwright.sim.sensor_noise import noise_model

SIMULATED = "simulated"
PART_LIMIT_S = 400.0
"""Computing time after which looking, or one method, counts as stuck."""


@dataclass(frozen=True)
class Trial(Parts):
    """What to do with one scene, with which parts.

    Attributes:
        scene, seed: The scene.
        methods: By name.
        place: Those whose placing is executed.
        choose: Whether places are chosen at all; else only maps are made.
    """

    scene: str
    seed: int
    methods: tuple[str, ...]
    place: tuple[str, ...]
    choose: bool = True

    @property
    def key(self) -> str:
        """What tells it from the other scenes of a bench."""
        return f"{self.scene}|{self.seed}"


def run_trial(trial: Trial) -> dict[str, Any]:
    """Run all methods on one scene.

    Returns:
        A line of the journal (`bench.SceneEntry`). What one method fails at is told there, as is a scene that none
        could begin.

    Raises:
        ArmwrightError: Nothing can be run here at all: wrong names, a missing package, a model that does not answer.
    """
    cpu: dict[str, float] = {}
    entry: dict[str, Any] = {
        "key": trial.key,
        "scene": trial.scene,
        "seed": trial.seed,
        "failed": None,
        "objects": 0,
        "views": 0,
        "target": "",
        "weights": {},
        "best": {},
        "mapping": {},
        "placing": {},
        "cpu_s": cpu,
    }
    looked: list[_Looked] = []

    def look() -> None:
        drawn = draw_scene(trial.scene, trial.seed)
        entry.update(objects=len(drawn.objects), target=drawn.target.name)
        looked.append(_look(trial, drawn, cpu))
        entry.update(views=len(looked[0].capture.frames), weights=dict(expert_weights([drawn])))
        entry["best"] = best_fits(drawn, looked[0].truth)

    if failed := _tried(look):
        return entry | {"failed": failed}
    known = looked[0]
    for method in methods_of(trial.methods):
        entry["placing"] |= _one(trial, method, known, entry, cpu)
    return entry


def _one(
    trial: Trial, method: Method, known: _Looked, entry: dict[str, Any], cpu: dict[str, float]
) -> dict[str, dict[str, Any]]:
    """Run one method: note its map's metrics, and return how its placing went."""
    row: dict[str, Any] = {}

    def run() -> None:
        reading = known.say.cpu_s
        with _timed(cpu, f"map {method.map}"):
            mapped = known.map(method.map)
        read = known.say.cpu_s - reading
        cpu["describe"] = cpu.get("describe", 0.0) + read
        cpu[f"map {method.map}"] -= read
        if MAPPING[method.map] == method.name:
            entry["mapping"][method.name] = _mapping(known.truth, mapped)
        if not (trial.choose and (method.name in trial.place or method.name not in ("basic", "gt-labels"))):
            return
        row.update(failed=None, detail="", box=None, fits=None, proposed=None, placed=None)
        seen = known.target()
        if isinstance(seen, str):
            row.update(failed="see the target", detail=seen)
            return
        with _timed(cpu, "open again"):
            world = known.fresh_world()
        with _timed(cpu, f"choose {method.name}"):
            told = Perceived(_named(seen, method, known), mapped, {})
            choice = _choose(trial, method, world, told)
        decision = choice.decision
        if not decision.ok:
            stage = "decide" if choice.reasoning.ok else "reason"
            row.update(failed=stage, detail=decision.summary())
            return
        assert decision.motion is not None and decision.motion.planned is not None and decision.box is not None
        row["box"] = {"center_m": list(decision.box.center_m), "size_m": list(decision.box.size_m)}
        row["proposed"] = bool(decision.proposed) if method.chooser != "random" else None
        row["fits"] = true_fits(known.drawn, known.truth, choice.candidates, decision.motion.planned.pair.place)
        if method.name in trial.place:
            with _timed(cpu, f"place {method.name}"):
                known.used()
                row.update(_place(world, told, choice))

    if failed := _tried(run):
        return {method.name: {**_NOT_PLACED, **row, "failed": failed}}
    return {method.name: row} if row else {}


_NOT_PLACED: dict[str, Any] = {"detail": "", "box": None, "fits": None, "proposed": None, "placed": None}


class _Looked:
    """What was captured of a scene, and what is made of it on demand, once each."""

    def __init__(self, trial: Trial, drawn: ShelfScene, world: ShelfWorld, capture: Capture) -> None:
        self.trial, self.drawn, self.world, self.capture = trial, drawn, world, capture
        self.truth = true_records(world)
        if trial.segmenter == SIMULATED:
            from armwright.sim.segmenter import SimulatedSegmenter

            self.find = SharedSegmenter(SimulatedSegmenter(world.world, seed=trial.seed))
        else:
            self.find = SharedSegmenter(segmenter(trial.segmenter))
        self.say = SharedDescriber(_describer(trial.describer, trial.model))
        self._maps: dict[MapKind, ShelfMap] = {}
        self._seen: SeenTarget | str | None = None
        self._fresh: ShelfWorld | None = None

    def map(self, kind: MapKind) -> ShelfMap:
        """Return the map of a kind."""
        if kind not in self._maps:
            frames = self.capture.of("shelf")
            if kind == "one-view" and frames:
                frames = [frames[widest(frames, self.world.shelf, self.world.pose_world_shelf)]]
            say: dict[MapKind, Callable[[], Describer]] = {
                "full": lambda: self.say,
                "labels-only": lambda: LabelsOnly(self.say),
                "true-labels": lambda: TrueLabels(self.world),
                "one-view": lambda: NounsOnly(self.say),
            }
            shelf, pose = self.world.shelf, self.world.pose_world_shelf
            self._maps[kind] = map_shelf(
                frames, segmenter=self.find, describer=say[kind](), shelf=shelf, pose_world_shelf=pose
            )
        return self._maps[kind]

    def target(self) -> SeenTarget | str:
        """Return the target as it was seen, shared by all methods, or why it was not."""
        if self._seen is None:
            try:
                self._seen = perceive_target(self.world, self.capture, segmenter=self.find, describer=self.say)
            except UsageError as error:
                self._seen = str(error)
        return self._seen

    def fresh_world(self) -> ShelfWorld:
        """Return the scene as it was before anything was placed, the arm at home."""
        if self._fresh is None:
            self._fresh = open_scene(self.drawn, noise=self.trial.noise)
        return self._fresh

    def used(self) -> None:
        """Say that something was placed in the fresh world."""
        self._fresh = None


def _look(trial: Trial, drawn: ShelfScene, cpu: dict[str, float]) -> _Looked:
    with _timed(cpu, "open"):
        world = open_scene(drawn, noise=trial.noise)
    with _timed(cpu, "plan views"):
        views = plan_views(world, n_shelf=trial.shelf_views, n_target=trial.target_views)
    with _timed(cpu, "capture"):
        capture = look_around(world, views)
    known = _Looked(trial, drawn, world, capture)
    if not capture.of("shelf"):
        raise SceneError("no view of the shelf was taken.", hint="See why the arm could not get there.")
    # Asked for here so that what it costs is not taken for a method's.
    with _timed(cpu, "segment"):
        for frame in capture.frames:
            known.find.segment(frame)
    if trial.choose:
        with _timed(cpu, "see target"):
            known.target()
    return known


def _choose(trial: Trial, method: Method, world: ShelfWorld, known: Perceived) -> Choice:
    if method.map in ("labels-only", "one-view"):
        objects = tuple(replace(o, nature=label_as_content(o.nature)) for o in known.mapped.objects)
        known = replace(known, mapped=replace(known.mapped, objects=objects))
    if method.chooser == "random":
        return _at_random(trial, world, known)
    reasoner: Reasoner = ScoreReasoner() if method.chooser == "score" else _reasoner(trial.reasoner, trial.model)
    return choose(world, known, reasoner, seed=trial.seed)


def _at_random(trial: Trial, world: ShelfWorld, known: Perceived) -> Choice:
    """Choose among the places that are free on the map in an order drawn at random, every one as good as another."""
    mapped, target = known.mapped, known.seen.target
    candidates = sample_candidates(mapped.shelf, [o.box for o in mapped.objects], target)
    order = rng_for(trial.seed, "shelf", "bl2", trial.scene).permutation(len(candidates))
    same = np.ones(len(candidates))
    reasoning = Reasoning(
        "ok" if len(candidates) else "no_place", (), "Nothing is known of it.", dict(EQUAL_WEIGHTS), "geometry"
    )
    graph = build_graph(mapped.shelf, mapped.objects)
    return plan_choice(world, known, graph, reasoning, candidates, same, order, same, seed=trial.seed)


def _named(seen: SeenTarget, method: Method, known: _Looked) -> SeenTarget:
    """Return the target with what this method knows of it; shape and pose are everybody's."""
    nature, scene = seen.target.nature, known.drawn
    label = nature.label or ""
    if method.map == "true-labels":
        nature = scene.target.nature(scene.target_orientation)
    elif method.map == "labels-only":
        nature = label_as_content(Described(label=nature.label, orientation=nature.orientation))
    elif method.map == "one-view":
        nature = label_as_content(Described(label=head_noun(label) or None, orientation=nature.orientation))
    return replace(seen, target=replace(seen.target, nature=nature))


def _place(world: ShelfWorld, known: Perceived, choice: Choice) -> dict[str, Any]:
    placed = place(world, known, choice)
    score, report = placed.score, placed.report
    last = next((s for s in report.stages if not s.ok), None)
    failed, detail = (last.name, f"{last.status}: {last.detail}") if last is not None else (None, "")
    if failed is None and not score.success:
        failed, detail = "judge placed", f"{1000 * score.error_m:.0f} mm from the chosen place"
    return {
        "failed": failed,
        "detail": detail,
        "placed": {
            "success": bool(score.success),
            "upright": bool(score.upright),
            "neighbours_still": bool(score.neighbours_still),
            "error_m": float(score.error_m),
        },
    }


def _mapping(truth: Sequence[ShelfObject], mapped: ShelfMap) -> dict[str, float]:
    score = score_mapping(truth, mapped.objects)
    return {
        "f1_label": float(score.f1_label),
        "box_iou": float(score.box_iou),
        "instances": float(score.instances),
        "spurious": float(score.spurious),
        "true": float(score.true),
        "mapped": float(score.mapped),
    }


def _tried(act: Callable[[], None]) -> str:
    """Do something within the limit of computing time; return how it failed, or an empty string.

    Raises:
        ArmwrightError: It can be run nowhere in this bench.
    """
    try:
        with watchdog(PART_LIMIT_S):
            act()
    except ArmwrightError as error:
        if isinstance(error, UsageError):  # names were checked before: this is about what was seen
            return crash_text(error)
        if error.exit_code != 1:
            raise
        return f"{type(error).__name__.removesuffix('Error').lower()}: {error}"
    except OSError:
        raise
    except Exception as error:  # one bad scene must not end the table, now and at every resume
        return crash_text(error)
    return ""


@contextmanager
def _timed(cpu: dict[str, float], name: str) -> Iterator[None]:
    start = time.process_time()
    try:
        yield
    finally:
        cpu[name] = round(cpu.get(name, 0.0) + time.process_time() - start, 4)


@lru_cache(maxsize=2)
def _describer(name: str, model: str | None) -> Describer:
    return make_describer(name, model=model if name != "labels" else None)


@lru_cache(maxsize=2)
def _reasoner(name: str, model: str | None) -> Reasoner:
    return make_reasoner(name, model=model if name == "chat" else None)


def check_parts(parts: Parts) -> None:
    """Check the parts by building them.

    Raises:
        UsageError: One is unknown, or lacks something.
    """
    noise_model(parts.noise)
    if parts.segmenter not in (known := (*segmenter_names(), SIMULATED)):
        raise UnknownNameError("segmenter", parts.segmenter, known)
    if parts.segmenter != SIMULATED:
        segmenter(parts.segmenter)
    check_model_used(parts.model, describer=parts.describer, reasoner=parts.reasoner)
    _describer(parts.describer, parts.model)
    _reasoner(parts.reasoner, parts.model)
