"""The writer's memory must not grow with the number of episodes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = """
import sys
from pathlib import Path
sys.path.insert(0, sys.argv[2])
from test_recording_episode import SCHEMA, make_episode
from armwright.recording.lerobot import DatasetWriter

def rss_mb():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 1e6

writer = DatasetWriter(sys.argv[1], SCHEMA)
marks = []
for seed in range(200):
    writer.add_episode(make_episode(seed, 30))
    if seed in (40, 199):
        marks.append(rss_mb())
writer.finalize()
print(*marks, rss_mb())
"""


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc to read the resident size")
def test_memory_is_flat_over_200_episodes(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(tmp_path), str(Path(__file__).parent)],
        capture_output=True,
        text=True,
        check=True,
    )
    early, late, final = map(float, done.stdout.split())
    assert late < early + 20 and final < early + 120, done.stdout
