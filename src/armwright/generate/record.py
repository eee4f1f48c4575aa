"""From an episode to what is kept of it: dataset rows, images, world states."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array, Pose
from armwright.generate.episode import Episode
from armwright.generate.session import Session
from armwright.recording.episode import ArmLog, EpisodeData, WorldLog
from armwright.recording.layout import DatasetSchema
from armwright.recording.result import collect_versions

CAMERAS = ("front", "wrist")
FPS = 20


def dataset_schema(session: Session, *, images: bool) -> DatasetSchema:
    """Return what all episodes of this session's arm share."""
    width, height = session.options.image_px
    spec = session.robot.spec
    return DatasetSchema(
        robot=spec.name,
        joints=spec.joints,
        cameras=dict.fromkeys(CAMERAS, (height, width)) if images else {},
        fps=FPS,
        opening_limits_m=(0.0, spec.gripper.opening_m[1]),
    )


def episode_data(session: Session, episode: Episode, *, images: bool) -> EpisodeData:
    """Return the episode as dataset rows; images are drawn when they are read."""
    since = episode.times_s[0][0] - 1e-9 if episode.times_s else 0.0

    def forward(q_rad: Array) -> Pose:
        return Pose.from_matrix(session.planner.fk(q_rad[None])[0])

    states = episode.world.arm.states(since)
    samples = episode.world.stream(since)
    request = episode.request
    return EpisodeData(
        instruction=request.parsed.sentence,
        seed=request.seed,
        arm=ArmLog.from_states(states, forward=forward, fps=FPS),
        world=WorldLog.from_samples(samples, model_hash=episode.world.model_hash),
        images={name: camera_images(episode, name, since) for name in CAMERAS} if images else {},
        success=episode.graded.success,
        compliance=episode.graded.compliance,
        stages=episode.stages,
        scene=episode.scene.model_dump(mode="json", by_alias=True),
        task=request.parsed.model_dump(mode="json", by_alias=True, exclude={"scene"}),
        versions=collect_versions(),
        extra={
            "robot": episode.robot,
            "grasps": request.grasps,
            "affordance": request.affordance,
            "scene_source": "oracle",
            "rejected_draws": episode.rejected,
            "draws": episode.draws,
            "took_s": episode.took_s,
            "diverged": episode.diverged,
            "shakes": [asdict(shake) for shake in episode.shakes],
            "looks": None if episode.looks is None else episode.looks.model_dump(mode="json", by_alias=True),
        },
    )


def camera_images(episode: Episode, camera: str, since_s: float) -> Iterator[NDArray[np.uint8]]:
    """Yield (H, W, 3) images of one camera, drawn one after the other.

    Raises:
        UsageError: Another episode has run in the episode's world since.
    """
    drawn = episode.world.cameras[camera].images(since_s)
    while (image := next(drawn, None)) is not None:
        yield image
        episode.check_world()
