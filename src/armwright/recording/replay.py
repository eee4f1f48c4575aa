"""Replay stored episodes and grade them again: from their states and from their actions.

The two answer different questions. A state replay sets the recorded world frame by frame: its grade differs from the
recorded one only if the judges or the model changed. An action replay gives the recorded commands to a fresh world: its
grade differs where the motion does not tolerate what the commands leave out. The shares are reported apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from armwright.core.errors import ArmwrightError, OutputError
from armwright.core.pose import Array, Pose
from armwright.recording.reader import DatasetReader, EpisodeRecord
from armwright.recording.result import wilson

ReplayKind = Literal["states", "actions"]
ReplayStatus = Literal["same", "different", "other_model", "no_world", "error"]


@dataclass(frozen=True)
class Grade:
    """How an episode was judged; ``compliance`` is None where the sentence implies no region."""

    success: bool
    compliance: bool | None = None


class ReplayWorld(Protocol):
    """What replay needs of a world."""

    @property
    def model_hash(self) -> str:
        """SHA-256 of the compiled model."""
        ...

    def set_state(self, *, time_s: float, qpos: Array, qvel: Array, ctrl: Array) -> None:
        """Put the world into a recorded state and compute what follows from it (contacts, poses)."""
        ...

    def track(self, pose_base_tool: Pose, *, opening_m: float, duration_s: float) -> object:
        """Let the arm follow an absolute tool command for this long while the world goes on."""
        ...


class ReplayJudge(Protocol):
    """Looks at the world after every step and gives a grade at the end."""

    def observe(self) -> None:
        """Take in the world's present state."""
        ...

    def grade(self) -> Grade:
        """Return the grade of what was observed."""
        ...


MakeWorld = Callable[[EpisodeRecord], ReplayWorld]
MakeJudge = Callable[[ReplayWorld, EpisodeRecord], ReplayJudge]


@dataclass(frozen=True)
class ReplayReport:
    """How the replay of one episode compares with its record.

    Attributes:
        ok: The same grade.
        status: ``other_model`` means that the world is not the one recorded, so that states mean nothing in it.
        recorded, replayed: The two grades.
        detail: One sentence where it is not ok.
    """

    episode: int
    kind: ReplayKind
    ok: bool
    status: ReplayStatus
    recorded: Grade
    replayed: Grade | None = None
    detail: str = ""


@dataclass(frozen=True)
class ReplayShare:
    """Share of episodes that replay to the same grade, with its Wilson 95 % interval."""

    kind: ReplayKind
    n: int
    same: int
    low: float
    high: float

    @property
    def rate(self) -> float:
        """Share of the same grade; 0 where nothing was replayed."""
        return self.same / self.n if self.n else 0.0


def replay_states(reader: DatasetReader, episode: int, *, make_world: MakeWorld, make_judge: MakeJudge) -> ReplayReport:
    """Set the recorded states one by one and grade them again.

    Args:
        reader: The dataset.
        episode: Which episode.
        make_world: Builds the recorded scene; its model hash must be the recorded one.
        make_judge: Builds the judge of the episode's task.
    """

    def play(world: ReplayWorld, judge: ReplayJudge) -> None:
        log = reader.world(episode)
        assert log is not None
        for row in range(len(log.time_s)):
            world.set_state(time_s=float(log.time_s[row]), qpos=log.qpos[row], qvel=log.qvel[row], ctrl=log.ctrl[row])
            judge.observe()

    return _replay(reader, episode, "states", make_world, make_judge, play)


def replay_actions(
    reader: DatasetReader, episode: int, *, make_world: MakeWorld, make_judge: MakeJudge
) -> ReplayReport:
    """Give the recorded actions to a fresh world, from its first recorded state, and grade what comes of them.

    Args:
        reader: The dataset.
        episode: Which episode.
        make_world: Builds the recorded scene.
        make_judge: Builds the judge of the episode's task.
    """

    def play(world: ReplayWorld, judge: ReplayJudge) -> None:
        log = reader.world(episode)
        assert log is not None
        world.set_state(time_s=float(log.time_s[0]), qpos=log.qpos[0], qvel=log.qvel[0], ctrl=log.ctrl[0])
        judge.observe()
        for row in reader.columns(episode)["action"][:-1]:  # what the last one led to was not recorded
            command = Pose(row[:3], row[3:7])
            world.track(command, opening_m=float(row[7]), duration_s=1 / reader.schema.fps)
            judge.observe()

    return _replay(reader, episode, "actions", make_world, make_judge, play)


def replay_dataset(
    reader: DatasetReader,
    kinds: Iterable[ReplayKind] = ("states", "actions"),
    *,
    make_world: MakeWorld,
    make_judge: MakeJudge,
    episodes: Sequence[int] | None = None,
    progress: Callable[[ReplayReport], None] | None = None,
) -> tuple[tuple[ReplayReport, ...], tuple[ReplayShare, ...]]:
    """Replay episodes (all, by default) each way, and return the reports and the share of the same grade per way."""
    reports: list[ReplayReport] = []
    shares: list[ReplayShare] = []
    numbers = range(len(reader)) if episodes is None else episodes
    for kind in kinds:
        play = replay_states if kind == "states" else replay_actions
        same = 0
        for number in numbers:
            report = play(reader, number, make_world=make_world, make_judge=make_judge)
            same += report.ok
            reports.append(report)
            if progress is not None:
                progress(report)
        low, high = wilson(same, len(numbers))
        shares.append(ReplayShare(kind, len(numbers), same, low, high))
    return tuple(reports), tuple(shares)


def _replay(
    reader: DatasetReader,
    episode: int,
    kind: ReplayKind,
    make_world: MakeWorld,
    make_judge: MakeJudge,
    play: Callable[[ReplayWorld, ReplayJudge], None],
) -> ReplayReport:
    record = reader.record(episode)
    recorded = Grade(record.success, record.compliance)

    def report(status: ReplayStatus, replayed: Grade | None = None, detail: str = "") -> ReplayReport:
        return ReplayReport(episode, kind, status == "same", status, recorded, replayed, detail)

    if not reader.has_world(episode):
        return report("no_world", detail="no world states were recorded, so its start is not known")
    try:
        world = make_world(record)
        if record.model_hash and world.model_hash != record.model_hash:
            return report(
                "other_model",
                detail=f"the scene compiles to model {world.model_hash[:12]}, recorded was {record.model_hash[:12]}; "
                f"replay with the recorded versions: {record.versions}",
            )
        judge = make_judge(world, record)
        play(world, judge)
        replayed = judge.grade()
    except OutputError:
        raise  # a damaged file says nothing about the episode
    except ArmwrightError as error:
        return report("error", detail=str(error))
    if replayed == recorded:
        return report("same", replayed)
    return report("different", replayed, f"recorded {recorded}, replayed {replayed}")
