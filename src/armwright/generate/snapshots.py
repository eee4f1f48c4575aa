"""Pictures of a bench: how a rollout began and ended, as small files that its page shows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from armwright.generate.episode import Episode

PICTURES = "pictures"
_SIZE_PX = (320, 240)


def snapshot_path(folder: Path, *, task: str, robot: str, grasps: str, seed: int) -> Path:
    """Return where the picture of a rollout lies in a bench's folder."""
    from hashlib import sha256

    name = task if task.replace("_", "").isalnum() and len(task) < 60 else sha256(task.encode()).hexdigest()[:16]
    return folder / PICTURES / f"{name}-{robot}-{grasps}-{seed}.jpg"


def write_snapshot(path: Path, episode: Episode) -> None:
    """Draw the beginning and the end of an episode side by side.

    Raises:
        RendererError: Nothing can be drawn here.
        OutputError: The file cannot be written.
    """
    from PIL import Image

    from armwright.core.files import atomic_path

    since = episode.times_s[0][0] - 1e-9 if episode.times_s else 0.0
    last = len(episode.world.stream(since)) - 1
    camera = episode.world.cameras["front"]
    drawn = np.hstack([camera.picture(since, index, *_SIZE_PX) for index in (0, last)])
    with atomic_path(path) as temporary:
        Image.fromarray(drawn).save(temporary, format="JPEG", quality=85)
