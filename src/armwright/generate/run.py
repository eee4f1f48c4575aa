"""`run`: one episode with everything to look at: report, video, dataset, result record."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from armwright.assets.scene import ParsedTask
from armwright.core.errors import SceneError, UsageError
from armwright.generate.episode import Episode, EpisodeRequest, run_episode
from armwright.generate.names import check_names
from armwright.generate.parsing import parse_sentence, parsed_record
from armwright.generate.randomising import Randomising
from armwright.generate.record import CAMERAS, FPS, dataset_schema, episode_data
from armwright.generate.session import Session
from armwright.recording.lerobot import DatasetWriter
from armwright.recording.outputs import check_out, check_text, claimed, held
from armwright.recording.reader import DatasetReader
from armwright.recording.result import ResultRecord, StageRecord, collect_versions
from armwright.recording.video import side_by_side, write_video

# The dataset grows under this name, so that a killed run leaves nothing that a second try would stumble over.
_UNFINISHED = ".dataset-unfinished"
_PARSED = ("objects", "relations", "primitives", "queries", "not_understood", "assumptions")


@dataclass(frozen=True)
class RunRequest:
    """What to run; ``randomise`` is JSON from `armwright.generate.randomising.read_randomising`."""

    sentence: str
    robot: str = "franka"
    seed: int = 0
    grasps: str = "affordance"
    affordance: str = "oracle"
    model: str | None = None
    parser: str | None = None
    images: bool = True
    randomise: dict[str, Any] | None = None


def run_once(request: RunRequest, out: Path, *, progress: Callable[[str], None] = lambda text: None) -> ResultRecord:
    """Run a sentence once and write ``report.html``, ``episode.mp4``, ``result.json`` and ``dataset/``.

    Where no scene could be solved there is only ``result.json``, whose one stage says why.

    Raises:
        UsageError: Wrong names, a sentence that asks for something impossible, or a folder that holds something or
            that another process is working in.
        OutputError: The folder cannot be written.
    """
    started = time.perf_counter()
    check_text("the sentence", request.sentence)
    check_out(out)
    check_names(robots=(request.robot,), grasps=(request.grasps,), affordance=request.affordance)
    parsed, use = parse_sentence(request.sentence, model=request.model, parser=request.parser)
    if out.is_dir():
        _check_free(out)  # before even a lock is left there
    with claimed(out):
        _check_free(out)
        for text in parsed.assumptions:
            progress(f"assumed: {text}")
        for text in parsed.not_understood:
            progress(f"not understood: {text!r}")
        return _run(request, parsed, use, out, progress, started)


def _check_free(out: Path) -> None:
    """Refuse a folder that holds anything but what a killed run left.

    Raises:
        UsageError: It does.
    """
    left = {"report.html", "episode.mp4"} if (out / _UNFINISHED).exists() else set()
    names = {path.name for path in out.iterdir() if not path.name.startswith(".")}
    if names - left:
        raise UsageError(f"{out} {held(out)}.", hint="Choose another folder with --out.")


def _run(
    request: RunRequest,
    parsed: ParsedTask,
    use: dict[str, object] | None,
    out: Path,
    progress: Callable[[str], None],
    started: float,
) -> ResultRecord:
    session = Session.open(request.robot, progress=progress)
    ranges = None if request.randomise is None else Randomising.model_validate(request.randomise)
    wanted = EpisodeRequest(
        parsed, request.seed, grasps=request.grasps, affordance=request.affordance, randomise=ranges
    )
    try:
        episode = run_episode(session, wanted)
    except SceneError as error:
        record = _no_scene(request, str(error), parsed_record(parsed, use), wall_s=time.perf_counter() - started)
        record.write(out / "result.json")
        return record
    unfinished = out / _UNFINISHED
    shutil.rmtree(unfinished, ignore_errors=True)
    files = {"report": str(out / "report.html"), "dataset": str(out / "dataset")}
    writer = DatasetWriter(unfinished, dataset_schema(session, images=request.images))
    writer.add_episode(episode_data(session, episode, images=request.images))
    writer.finalize()
    if request.images:
        reader = DatasetReader(unfinished)  # decoding takes a fraction of drawing again
        streams = [reader.frames(0, name) for name in CAMERAS]
        write_video(out / "episode.mp4", side_by_side(*streams), fps=FPS)
        files["video"] = str(out / "episode.mp4")
    record = _record(request, episode, files, parsed_record(parsed, use), wall_s=time.perf_counter() - started)
    from armwright.generate.report import write_episode_report

    write_episode_report(out / "report.html", session, episode, record, images=request.images)
    record = record.model_copy(update={"wall_s": time.perf_counter() - started})
    unfinished.rename(out / "dataset")
    record.write(out / "result.json")
    return record


def _record(
    request: RunRequest, episode: Episode, files: dict[str, str], parsed: dict[str, object], *, wall_s: float
) -> ResultRecord:
    judged = tuple(
        StageRecord(
            name=f"judge {stage.verdict.predicate}",
            ok=stage.verdict.ok,
            status="holds" if stage.verdict.ok else "fails",
            detail=stage.verdict.detail,
        )
        for stage in episode.graded.stages
    )
    return ResultRecord(
        command="run",
        ok=episode.ok,
        stages=(*map(StageRecord.from_report, episode.stages), *judged),
        seed=request.seed,
        robot=request.robot,
        success=episode.graded.success,
        compliance=episode.graded.compliance,
        wall_s=wall_s,
        sim_s=episode.sim_s,
        versions=collect_versions(),
        files=files,
        extra={
            **_extra(request, parsed),
            "scene": episode.scene.model_dump(mode="json", by_alias=True),
            "compliance_shares": dict(episode.graded.shares),
            "touched": list(episode.graded.touched),
            "draws": episode.draws,
            "looks": None if episode.looks is None else episode.looks.model_dump(mode="json", by_alias=True),
            "rejected_draws": episode.rejected,
        },
    )


def _no_scene(request: RunRequest, reason: str, parsed: dict[str, object], *, wall_s: float) -> ResultRecord:
    return ResultRecord(
        command="run",
        ok=False,
        stages=(StageRecord(name="scene", ok=False, status="no_scene", detail=reason),),
        seed=request.seed,
        robot=request.robot,
        success=False,
        wall_s=wall_s,
        versions=collect_versions(),
        extra=_extra(request, parsed),
    )


def _extra(request: RunRequest, parsed: dict[str, object]) -> dict[str, object]:
    return {
        "sentence": request.sentence,
        "grasps": request.grasps,
        "affordance": request.affordance,
        "scene_source": "oracle",
        "parsed": {key: parsed[key] for key in _PARSED},
    }
