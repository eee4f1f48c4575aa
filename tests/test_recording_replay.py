"""Replay on a small real MuJoCo world: a hand on three slides pushes a puck that must come to rest past a line."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest

from armwright.core.errors import SceneError
from armwright.core.pose import Pose
from armwright.recording.episode import ArmLog, EpisodeData, WorldLog
from armwright.recording.layout import DatasetSchema
from armwright.recording.lerobot import DatasetWriter
from armwright.recording.reader import DatasetReader, EpisodeRecord
from armwright.recording.replay import Grade, replay_actions, replay_dataset, replay_states

XML = """
<mujoco><option timestep="0.002"/><default><joint damping="5"/><position kp="200"/></default><worldbody>
  <geom type="plane" size="2 2 .1" friction="{friction} .005 .0001"/>
  <body name="hand">
    <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
    <joint name="z" type="slide" axis="0 0 1"/><geom type="sphere" size=".03" pos="0 0 .04" mass=".5"/>
  </body>
  <body name="puck" pos=".15 0 .02">
    <freejoint/><geom type="cylinder" size=".04 .02" mass=".1" friction="{friction} .005 .0001"/>
  </body></worldbody>
  <actuator><position joint="x"/><position joint="y"/><position joint="z"/></actuator>
</mujoco>
"""
SCHEMA = DatasetSchema(robot="slides", joints=("x", "y", "z"), cameras={})
LINE_M = 0.25


class SlideWorld:
    """The least that replay needs, on real physics."""

    def __init__(self, friction: float) -> None:
        xml = XML.format(friction=friction)
        self.model = mujoco.MjModel.from_xml_string(xml)
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        self.model_hash = hashlib.sha256(xml.encode()).hexdigest()

    def set_state(self, *, time_s: float, qpos: np.ndarray, qvel: np.ndarray, ctrl: np.ndarray) -> None:
        self.data.time = time_s
        self.data.qpos[:], self.data.qvel[:], self.data.ctrl[:] = qpos, qvel, ctrl
        mujoco.mj_forward(self.model, self.data)

    def track(self, pose_base_tool: Pose, *, opening_m: float, duration_s: float) -> None:
        self.data.ctrl[:] = pose_base_tool.position_m
        mujoco.mj_step(self.model, self.data, round(duration_s / self.model.opt.timestep))


class LineJudge:
    def __init__(self, world: SlideWorld) -> None:
        self._data = world.data
        self._seen = 0

    def observe(self) -> None:
        self._seen += 1

    def grade(self) -> Grade:
        moving = float(np.linalg.norm(self._data.qvel[3:9])) > 0.02
        return Grade(bool(self._data.qpos[3] > LINE_M and not moving), self._seen == 60)


def make_judge(world: SlideWorld, record: EpisodeRecord) -> LineJudge:
    return LineJudge(world)


def make_world(record: EpisodeRecord) -> SlideWorld:
    return SlideWorld(record.extra["friction"])


def push(seed: int) -> EpisodeData:
    rng = np.random.default_rng(seed)
    world = SlideWorld(friction := float(rng.uniform(0.5, 1.0)))
    reach = float(rng.uniform(0.1, 0.4))
    judge = LineJudge(world)
    rows: list[tuple[np.ndarray, ...]] = []
    commands = np.zeros((60, 3))
    for k in range(60):
        judge.observe()
        d = world.data
        rows.append((d.time, d.qpos.copy(), d.qvel.copy(), d.ctrl.copy()))
        commands[k, 0] = reach * min(1.0, (k + 1) / 30)
        if k < 59:
            world.track(Pose(commands[k]), opening_m=0.0, duration_s=1 / 20)
    time_s, qpos, qvel, ctrl = (np.array(column) for column in zip(*rows, strict=True))
    pose = np.column_stack([commands, np.tile([1.0, 0, 0, 0], (60, 1))])
    grade = judge.grade()
    return EpisodeData(
        instruction="push the puck over the line",
        seed=seed,
        arm=ArmLog(qpos[:, :3], np.zeros(60), pose, pose, np.zeros(60), commands),
        world=WorldLog(time_s, qpos, qvel, ctrl, world.model_hash),
        success=grade.success,
        compliance=True,
        extra={"friction": friction},
    )


@pytest.fixture(scope="module")
def reader(tmp_path_factory: pytest.TempPathFactory) -> DatasetReader:
    root: Path = tmp_path_factory.mktemp("pushes")
    writer = DatasetWriter(root, SCHEMA)
    for seed in range(12):
        writer.add_episode(push(seed))
    writer.finalize()
    return DatasetReader(root)


def test_states_replay_to_the_same_grade_always(reader: DatasetReader) -> None:
    grades = {reader.record(k).success for k in range(12)}
    assert grades == {True, False}, "the episodes must differ, or the test says nothing"
    _, (share,) = replay_dataset(reader, ("states",), make_world=make_world, make_judge=make_judge)
    assert (share.n, share.same, share.rate, share.high) == (12, 12, 1.0, 1.0)


def test_actions_replay_in_a_fresh_world_and_are_graded_apart(reader: DatasetReader) -> None:
    seen = []
    reports, (share,) = replay_dataset(
        reader, ("actions",), make_world=make_world, make_judge=make_judge, progress=seen.append
    )
    assert share.same >= 11 and len(seen) == 12 and all(report.kind == "actions" for report in reports)


def test_a_judge_that_sees_otherwise_is_reported(reader: DatasetReader) -> None:
    class Never(LineJudge):
        def grade(self) -> Grade:
            return Grade(False, False)

    report = replay_states(reader, 0, make_world=make_world, make_judge=lambda world, record: Never(world))
    assert not report.ok and report.status == "different" and "recorded" in report.detail


def test_states_of_another_model_are_not_replayed(reader: DatasetReader) -> None:
    report = replay_states(reader, 3, make_world=lambda record: SlideWorld(0.123), make_judge=make_judge)
    assert report.status == "other_model" and report.replayed is None and not report.ok


def test_a_world_that_cannot_be_built_is_a_report(reader: DatasetReader) -> None:
    def fails(record: EpisodeRecord) -> SlideWorld:
        raise SceneError("there is no free place.")

    report = replay_actions(reader, 3, make_world=fails, make_judge=make_judge)
    assert report.status == "error" and "free place" in report.detail


def test_an_episode_without_states_is_a_report(tmp_path: Path) -> None:
    writer = DatasetWriter(tmp_path, SCHEMA)
    writer.add_episode(replace(push(0), world=None))
    writer.finalize()
    report = replay_states(DatasetReader(tmp_path), 0, make_world=make_world, make_judge=make_judge)
    assert report.status == "no_world"
