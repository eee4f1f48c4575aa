"""Replay recorded episodes: rebuild the scene from its record, play, and let the judge grade again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from armwright.assets.library import default_library
from armwright.assets.model import ObjectModel
from armwright.assets.scene import ParsedTask, SceneSpec
from armwright.core.errors import OutputError, UsageError
from armwright.generate.limits import overruled
from armwright.generate.session import Session
from armwright.generate.solve import Solved
from armwright.recording.reader import DatasetReader, EpisodeRecord
from armwright.recording.replay import Grade, ReplayReport, ReplayWorld
from armwright.recording.replay import replay_dataset as replay_all
from armwright.robots.registry import load_spec
from armwright.sim.shake import Shake
from armwright.sim.world import World
from armwright.tasks.judge import EpisodeJudge


class _Judge:
    """The episode's judge on the replaying world; what overruled it in the episode is in the record."""

    def __init__(self, world: World, record: EpisodeRecord) -> None:
        parsed = _parsed(record)
        took_s, diverged = float(record.extra.get("took_s", 0.0)), str(record.extra.get("diverged", ""))
        self._overruled = overruled(parsed, took_s=took_s, diverged=diverged)
        self._world = world
        self._judge = EpisodeJudge(parsed.primitives, parsed.queries, world.objects, world.arm.pose_world_base)

    def observe(self) -> None:
        self._judge.observe(self._world.truth)

    def grade(self) -> Grade:
        graded = self._judge.finish(self._world.truth)
        return Grade(graded.success and not self._overruled, graded.compliance)


def _judge(world: ReplayWorld, record: EpisodeRecord) -> _Judge:
    assert isinstance(world, World)
    return _Judge(world, record)


def _parsed(record: EpisodeRecord) -> ParsedTask:
    return ParsedTask.model_validate({**record.task, "scene": record.scene})


def scene_objects(scene: SceneSpec) -> dict[str, ObjectModel]:
    """Rebuild the objects of a solved scene from the library."""
    library = default_library()
    return {
        node.id: library.build(node.category, instance=node.instance or 0, attributes=node.attributes)
        for node in scene.objects
    }


@lru_cache(maxsize=2)
def _session(robot: str) -> Session:
    return Session.open(robot)


def replay_count(folder: Path, *, limit: int = 0) -> int:
    """Return how many episodes of a dataset a replay of ``limit`` (0: all) looks at.

    Raises:
        UsageError: There are not that many.
        OutputError: There is no finished dataset, or a file of it is missing or damaged.
    """
    have = len(DatasetReader(folder))
    if not 0 <= limit <= have:
        raise UsageError(
            f"cannot replay {limit} episodes: {folder} holds {have}.", hint=f"Give 1 to {have}, or 0 for all."
        )
    return limit or have


def _check_record(reader: DatasetReader, index: int) -> None:
    """Refuse an episode whose world or task cannot be read from its record."""
    record = reader.record(index)
    load_spec(reader.schema.robot)
    if record.extra.get("robot") != reader.schema.robot:
        raise OutputError(
            f"{reader.record_file(index)} says that episode {index} is of {record.extra.get('robot')!r}, "
            f"the dataset is of {reader.schema.robot!r}.",
            hint="Run armwright dataset verify.",
        )
    try:
        SceneSpec.model_validate(record.scene)
        _parsed(record)
    except (ValidationError, TypeError) as error:
        raise OutputError(
            f"{reader.record_file(index)} is damaged: the scene or the task of episode {index} is not one.",
            hint="Restore it from a copy; armwright dataset verify lists more.",
        ) from error


def replay_dataset(
    folder: Path, *, limit: int = 0, update: Callable[..., None] = lambda done, note="": None
) -> dict[str, Any]:
    """Replay a dataset from its states and from its actions, and return both shares.

    Args:
        folder: The dataset.
        limit: How many episodes, from the first; 0 means all.
        update: Called with the number of replayed episodes.

    Raises:
        UsageError: There are not that many episodes, or they are of an arm that is not there.
        OutputError: There is no finished dataset, or a file of it is missing or damaged.
    """
    count = replay_count(folder, limit=limit)
    reader = DatasetReader(folder)
    for index in range(count):
        _check_record(reader, index)
    finished = 0

    def make_world(record: EpisodeRecord) -> World:
        scene = SceneSpec.model_validate(record.scene)
        session = _session(str(record.extra["robot"]))
        world = session.world(Solved(scene, scene_objects(scene), 0))
        for shake in record.extra.get("shakes", []):
            world.truth.schedule(Shake(str(shake["object_id"]), float(shake["start_s"])))
        return world

    def progress(report: ReplayReport) -> None:
        nonlocal finished
        finished += 1
        update(finished // 2)  # each is replayed twice

    reports, shares = replay_all(
        reader, make_world=make_world, make_judge=_judge, episodes=range(count), progress=progress
    )
    by_kind = {share.kind: share for share in shares}
    return {
        "schema": "armwright.result/1",
        "command": "dataset replay",
        "ok": by_kind["states"].same == count,
        "episodes": count,
        "states_identical": by_kind["states"].same,
        "actions_same_grade": by_kind["actions"].same,
        "shares": [asdict(share) for share in shares],
        "different": [_short(report) for report in reports if not report.ok],
    }


def _short(report: ReplayReport) -> dict[str, Any]:
    return {"episode": report.episode, "kind": report.kind, "status": report.status, "detail": report.detail}
