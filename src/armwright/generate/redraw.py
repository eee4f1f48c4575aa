"""Draw recorded episodes again from their states, with the looks that were recorded, or with others."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from armwright.assets.randomise import Looks
from armwright.assets.scene import SceneSpec
from armwright.core.errors import OutputError, UnknownNameError, UsageError
from armwright.generate.replay import scene_objects
from armwright.generate.session import Session
from armwright.generate.solve import Solved
from armwright.recording.reader import DatasetReader


def recorded_looks(reader: DatasetReader, episode: int) -> Looks | None:
    """Return how an episode's pictures look; None is the plain look.

    Raises:
        OutputError: The record is damaged.
    """
    value = reader.record(episode).extra.get("looks")
    try:
        return None if value is None else Looks.model_validate(value)
    except ValidationError as error:
        raise OutputError(
            f"{reader.record_file(episode)} is damaged: the looks of episode {episode} are none.",
            hint="Restore it from a copy.",
        ) from error


def redraw_episode(
    session: Session, reader: DatasetReader, episode: int, camera: str, *, looks: Looks | None
) -> Iterator[NDArray[np.uint8]]:
    """Yield (H, W, 3) images of one camera, the same as were recorded where looks, versions and renderer are.

    Args:
        session: A session of the dataset's arm.
        reader: The dataset.
        episode: Which episode.
        camera: Camera by name.
        looks: From `recorded_looks`, or new ones: one episode can be drawn with many.

    Raises:
        UsageError: The dataset holds no states of the episode, or a file that the looks name has changed.
        UnknownNameError: There is no such camera.
        OutputError: The scene compiles to another model than was recorded.
    """
    log, record = reader.world(episode), reader.record(episode)
    if log is None:
        raise UsageError(f"episode {episode} has no world states, so it cannot be drawn again.")
    scene = SceneSpec.model_validate(record.scene)
    world = session.world(Solved(scene, scene_objects(scene), 0))
    if camera not in world.cameras:
        raise UnknownNameError("camera", camera, world.cameras)
    if world.model_hash != log.model_hash:
        raise OutputError(
            f"episode {episode} was recorded with another model of the scene.",
            hint=f"Use the recorded versions: {record.versions}.",
        )
    world.dress(looks)
    for row in range(len(log.time_s)):
        world.set_state(time_s=float(log.time_s[row]), qpos=log.qpos[row], qvel=log.qvel[row], ctrl=log.ctrl[row])
        drawn = world.cameras[camera].render().rgb
        assert drawn is not None
        yield drawn
