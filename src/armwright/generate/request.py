"""What ``generate`` is asked for, and which seeds follow from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from armwright.core.errors import UsageError, quoted
from armwright.core.pool import SEEDS_PER_RUN, episode_seed

# Attempts per wanted demonstration before a run gives up.
MAX_ATTEMPTS_PER_EPISODE = 5
MIN_ATTEMPTS = 20
# Demonstrations per shard: enough that starting a worker and a file do not count, few enough to lose with a worker.
MAX_SHARD = 100
SHARDS_PER_RUN = 32
# How a run goes on may differ from how it began.
_HOW = ("episodes", "workers", "engine", "shard_size")


@dataclass(frozen=True)
class GenerateRequest:
    """What to generate.

    Attributes:
        sentence: What the robot should do, or a task's name.
        episodes: Demonstrations wanted, over all parts.
        robot, grasps, affordance, model, parser: By name.
        seed: Of the run.
        workers: How many at a time; 0: as many as there are cores.
        images: Record the cameras.
        engine: Compute engine (`armwright.generate.engines`).
        randomise: JSON from `armwright.generate.randomising.read_randomising`.
        shard_size: Attempts per shard; 0: what the engine and the number of demonstrations suggest.
        part: (i, n): do the i-th of n parts of the work, from 1.
    """

    sentence: str
    episodes: int
    robot: str = "franka"
    seed: int = 0
    workers: int = 0
    images: bool = True
    grasps: str = "affordance"
    affordance: str = "oracle"
    model: str | None = None
    parser: str | None = None
    engine: str = "local"
    randomise: dict[str, Any] | None = None
    shard_size: int = 0
    part: tuple[int, int] | None = None

    def identity(self) -> dict[str, Any]:
        """Return what must not change when a run goes on; the number of episodes, workers and the engine may."""
        value = asdict(self)
        for name in _HOW:
            value.pop(name)
        for name in ("parser", "randomise", "part"):  # journals from before these could be chosen do not name them
            if value[name] is None:
                value.pop(name)
        if self.part is not None:
            value["part"] = list(self.part)
        return value

    @property
    def wanted(self) -> int:
        """How many demonstrations are this part's to collect; the parts' numbers add up to all."""
        number, parts = self.part or (1, 1)
        return self.episodes * number // parts - self.episodes * (number - 1) // parts

    @property
    def most_attempts(self) -> int:
        """After how many attempts to give up."""
        return min(max(MIN_ATTEMPTS, MAX_ATTEMPTS_PER_EPISODE * self.wanted), self.possible_attempts)

    @property
    def possible_attempts(self) -> int:
        """How many attempts there can be at all: a run has so many seeds."""
        return SEEDS_PER_RUN // (1 if self.part is None else self.part[1])

    def attempt_seed(self, index: int) -> int:
        """Return the seed of an attempt; part i of n takes every n-th seed of the run."""
        number, parts = self.part or (1, 1)
        return episode_seed(self.seed, index * parts + number - 1)

    def usual_shard_size(self) -> int:
        """Return how many attempts a shard holds where nothing else is asked for."""
        return max(1, min(MAX_SHARD, -(-self.wanted // SHARDS_PER_RUN)))


def read_part(text: str) -> tuple[int, int]:
    """Read ``i/n``, a part's number from 1 and the number of parts.

    Raises:
        UsageError: It is something else.
    """
    number, slash, parts = text.partition("/")
    if slash and number.isdecimal() and parts.isdecimal() and number.isascii() and parts.isascii():
        i, n = int(number[:8]), int(parts[:8])
        if 1 <= i <= n <= SEEDS_PER_RUN // MIN_ATTEMPTS:
            return i, n
    raise UsageError(
        f"--part is {quoted(text)}; it must be i/n with 1 <= i <= n <= {SEEDS_PER_RUN // MIN_ATTEMPTS}.",
        hint="For example 3/64; in a Slurm array job of 1-64: $SLURM_ARRAY_TASK_ID/64.",
    )
