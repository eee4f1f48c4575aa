"""Draw the README's picture: five arms lift a mug by its handle, and one of them puts it on the plate.

Run: ``python scripts/readme_picture.py docs/images/arms.png``
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from armwright.generate.episode import Episode, EpisodeRequest, run_episode
from armwright.generate.parsing import parse_sentence
from armwright.generate.pictures import save_png
from armwright.generate.session import Session
from armwright.robots.registry import robot_names

SENTENCE = "pick up the mug by its handle and place it on the plate"
TILE_PX = (300, 300)
GAP_PX = 4
SEEDS = range(20)


def main() -> None:
    """Write the picture to the path given on the command line."""
    parsed, _ = parse_sentence(SENTENCE)
    top, story = [], []
    for name in robot_names():
        session = Session.open(name)
        episode = next(e for e in (run_episode(session, EpisodeRequest(parsed, seed)) for seed in SEEDS) if e.ok)
        lifted = episode.times_s[0][1]
        top.append(_picture(episode, lifted))
        if name == "franka":
            began, ended = episode.times_s[0][0], episode.times_s[-1][1]
            story = [_picture(episode, t) for t in np.linspace(began, ended + 0.5, 5)]
    save_png(Path(sys.argv[1]), np.vstack([_row(top), _row(story)]))


def _picture(episode: Episode, time_s: float) -> NDArray[np.uint8]:
    since = episode.times_s[0][0] - 1e-9
    stamps = np.array([sample.stamp_s for sample in episode.world.stream(since)])
    return episode.world.cameras["front"].picture(since, int(np.abs(stamps - time_s).argmin()), *TILE_PX)


def _row(tiles: list[NDArray[np.uint8]]) -> NDArray[np.uint8]:
    framed = [np.pad(tile, ((0, GAP_PX), (0, GAP_PX), (0, 0)), constant_values=255) for tile in tiles]
    return np.hstack(framed)


if __name__ == "__main__":
    main()
