from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from armwright.control.protocols import ArmState, StageReport
from armwright.core.errors import UsageError
from armwright.core.pose import Pose
from armwright.recording.episode import ArmLog, EpisodeData, WorldLog, continuous_quats
from armwright.recording.layout import DatasetSchema

SIZE = (64, 48)
SCHEMA = DatasetSchema(
    robot="franka",
    joints=tuple(f"joint_{k}" for k in range(1, 8)),
    cameras={"front": SIZE, "wrist": SIZE},
    opening_limits_m=(0.0, 0.08),
)
STATE_ONLY = SCHEMA.model_copy(update={"cameras": {}})


def marked_frame(seed: int, row: int, camera: int) -> np.ndarray:
    """A picture that tells by its brightness whose frame it is, even after lossy coding."""
    height, width = SIZE
    image = np.full((height, width, 3), 30, np.uint8)
    image[:, : 2 * (row % (width // 2))] = 200
    image[: height // 2, :, 2] = 20 + (seed * 23) % 200
    image[height // 2 :, :, 2] = 40 + camera * 120
    return image


def _frames(seed: int, rows: int, camera: int) -> Iterator[np.ndarray]:
    for row in range(rows):
        yield marked_frame(seed, row, camera)


def make_episode(
    seed: int,
    rows: int = 20,
    *,
    instruction: str = "put the banana in the bowl",
    cameras: tuple[str, ...] = ("front", "wrist"),
    coordinates: int = 12,
) -> EpisodeData:
    rng = np.random.default_rng(seed)
    position = np.cumsum(rng.normal(0, 0.01, (rows, 7)), 0)
    tilt = np.cumsum(rng.normal(0, 0.02, rows)) + np.pi / 2
    quat = np.column_stack([np.cos(tilt), np.sin(tilt), np.zeros(rows), np.zeros(rows)])
    pose = np.column_stack([np.cumsum(rng.normal(0, 0.002, (rows, 3)), 0) + np.array([0.4, 0.0, 0.3]), quat])
    opening = np.clip(0.04 + np.cumsum(rng.normal(0, 0.001, rows)), 0, 0.08)
    return EpisodeData(
        instruction=instruction,
        seed=seed,
        arm=ArmLog(position, opening, pose, np.roll(pose, -1, 0), opening, position),
        world=WorldLog(
            np.arange(rows) / 20,
            rng.normal(size=(rows, coordinates)),
            rng.normal(size=(rows, coordinates - 1)),
            rng.normal(size=(rows, 8)),
            model_hash=f"hash-{coordinates}",
        ),
        images={name: _frames(seed, rows, c) for c, name in enumerate(cameras)},
        success=seed % 2 == 0,
        compliance=None if seed % 3 == 0 else True,
        stages=(StageReport("pick", True, "done"), StageReport("place", seed % 2 == 0, "done")),
        scene={"objects": [{"id": "banana_1"}]},
        task={"sentence": instruction},
        versions={"armwright": "0.1.0", "git": None},
        extra={"grasps": 12},
    )


def _state(k: int, *, stamp_s: float) -> ArmState:
    q = np.full(7, 0.01 * k)
    return ArmState(stamp_s, q, q, q, Pose([k, 0, 0]), 0.04, 0.0, q + 1.0, 0.02 + 0.001 * k)


def test_action_is_the_command_of_the_next_row() -> None:
    states = [_state(k, stamp_s=3.0 + k / 20) for k in range(5)]
    log = ArmLog.from_states(states, forward=lambda q: Pose([q[0], 0, 0], [-1, 0, 0, 0]))
    assert np.allclose(log.tool_pose[:, 0], range(5))
    assert np.allclose(log.joint_target_rad[:, 0], [1.01, 1.02, 1.03, 1.04, 1.04])
    assert np.allclose(log.action_pose[:, 0], log.joint_target_rad[:, 0])
    assert np.allclose(log.action_opening_m, [0.021, 0.022, 0.023, 0.024, 0.024])
    assert (log.action_pose[:, 3] == 1).all()


def test_states_off_the_grid_are_refused() -> None:
    states = [_state(k, stamp_s=k / 20 + (0.01 if k == 3 else 0)) for k in range(5)]
    with pytest.raises(UsageError, match="sample 3"):
        ArmLog.from_states(states, forward=lambda q: Pose())
    with pytest.raises(UsageError, match="empty"):
        ArmLog.from_states([], forward=lambda q: Pose())


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_quaternions_keep_their_rotation_and_never_jump(seed: int, rows: int) -> None:
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.normal(0, 0.1, (rows, 4)), 0) + np.array([1, 0, 0, 0])
    walk /= np.linalg.norm(walk, axis=1, keepdims=True)
    q = continuous_quats(walk * rng.choice([-1.0, 1.0], (rows, 1)))
    assert q[0, 0] >= 0
    assert (np.einsum("ij,ij->i", q[1:], q[:-1]) >= 0).all()
    assert np.allclose(np.abs(np.einsum("ij,ij->i", q, walk)), 1)


@pytest.mark.parametrize(
    "change", [{"opening_m": np.zeros(3)}, {"tool_pose": np.zeros((20, 6))}, {"joint_target_rad": np.zeros((20, 6))}]
)
def test_columns_of_another_shape_are_refused(change: dict) -> None:
    good = vars(make_episode(0).arm)
    with pytest.raises(UsageError, match=next(iter(change))):
        ArmLog(**{**good, **change})


def test_an_episode_needs_a_sentence_a_seed_and_a_world_of_its_length() -> None:
    arm = make_episode(0).arm
    with pytest.raises(UsageError, match="sentence"):
        EpisodeData(" ", 0, arm)
    with pytest.raises(UsageError, match="seed"):
        EpisodeData("go", -1, arm)
    with pytest.raises(UsageError, match="rows"):
        EpisodeData("go", 0, arm, WorldLog(np.zeros(3), np.zeros((3, 1)), np.zeros((3, 1)), np.zeros((3, 1))))


def test_every_vector_has_a_name_with_its_unit() -> None:
    vectors = make_episode(0).vectors()
    for key, names in SCHEMA.vectors.items():
        assert vectors[key].shape == (20, len(names))
        assert all(name.endswith(("_m", "_rad")) or name.startswith("quat_") for name in names)
