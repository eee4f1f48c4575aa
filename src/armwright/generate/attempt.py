"""One attempt at a demonstration, in whatever process it is made: run the episode, stage it if it succeeded."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from armwright.assets.scene import ParsedTask
from armwright.core.errors import ArmwrightError, SceneError, UsageError
from armwright.core.pool import EpisodeTimeoutError, crash_text, watchdog
from armwright.generate.request import GenerateRequest


@dataclass(frozen=True)
class Attempt:
    """What to attempt, and the folder of the dataset that a success goes to."""

    request: GenerateRequest
    parsed: ParsedTask
    seed: int
    folder: str

    def __str__(self) -> str:
        return f"seed {self.seed}"


@lru_cache(maxsize=2)
def _session(robot: str) -> Any:
    from armwright.generate.session import Session

    return Session.open(robot)


@lru_cache(maxsize=4)
def _writer_of(robot: str, images: bool, folder: str) -> Any:
    from armwright.generate.record import dataset_schema
    from armwright.recording.lerobot import DatasetWriter

    return DatasetWriter(folder, dataset_schema(_session(robot), images=images))


def attempt_writer(request: GenerateRequest, folder: str) -> Any:
    """Return the writer of a folder's dataset; each process opens one only once."""
    return _writer_of(request.robot, request.images, folder)


def _add(writer: Any, task: Attempt, data: Any) -> None:
    """Write an episode; a worker that outlived a killed run for a moment may have just written the same one."""
    try:
        writer.add_episode(data)
    except UsageError:
        if not writer.has(task.seed, task.parsed.sentence):
            raise


def run_attempt(task: Attempt) -> dict[str, Any]:
    """Run one episode in a worker; a success is on disk when this returns."""
    from armwright.generate.episode import EpisodeRequest, run_episode
    from armwright.generate.randomising import Randomising
    from armwright.generate.record import episode_data

    request = task.request
    ranges = None if request.randomise is None else Randomising.model_validate(request.randomise)
    writer = attempt_writer(request, task.folder)
    entry: dict[str, Any] = {"seed": task.seed, "ok": False, "failed": None, "wall_s": 0.0, "sim_s": 0.0}
    if writer.has(task.seed, task.parsed.sentence):  # written before a kill, but not in the journal
        return entry | {"ok": True}
    session = _session(request.robot)
    wanted = EpisodeRequest(
        task.parsed, task.seed, grasps=request.grasps, affordance=request.affordance, randomise=ranges
    )
    started = time.perf_counter()
    try:
        with watchdog():
            episode = run_episode(session, wanted)
            entry |= {"sim_s": episode.sim_s, "failed": episode.failed_stage}
            if episode.ok:
                _add(writer, task, episode_data(session, episode, images=request.images))
                entry["ok"] = True
    except SceneError as error:
        entry["failed"] = f"scene: {error.args[0]}"
    except EpisodeTimeoutError as error:
        entry["failed"] = f"timeout: {error.args[0]}"
    except ArmwrightError as error:
        if error.exit_code != 1:
            raise
        entry["failed"] = f"{type(error).__name__}: {error.args[0]}"
    except OSError:  # a full disk or a folder that is gone: no other seed would do better
        raise
    except Exception as error:  # one bad seed must not end the run, now and at every resume
        entry["failed"] = crash_text(error)
    entry["wall_s"] = time.perf_counter() - started
    return entry


def forget_writers() -> None:
    """Let the next writer of a folder look at what the folder holds by then."""
    _writer_of.cache_clear()
