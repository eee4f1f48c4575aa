"""Write LeRobot v3.0 datasets: stage finished episodes, then build the dataset's files from them in order of seeds.

`finalize` works batch by batch. A batch is one data file, one video per camera, one file of episode rows and our
sidecar; when they are on disk the manifest counts the batch in, and only then are its staged episodes removed. Whatever
the manifest does not count is built anew, so a run that is killed at any moment loses no finished episode and doubles
none. ``meta/info.json`` is written last: a dataset without it is not finished, and readers refuse it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from pathlib import Path

from armwright.core.errors import OutputError, UsageError
from armwright.core.files import ensure_writable, write_json
from armwright.recording._batch import Batch, EpisodeSource, dataset_stats, write_batch, write_tasks
from armwright.recording._stored import (
    Manifest,
    check_batches,
    check_staged,
    check_uncounted,
    load_manifest,
    metadata_is_sound,
    stored_keys,
)
from armwright.recording.episode import EpisodeData
from armwright.recording.layout import (
    INFO,
    MANIFEST,
    MAX_EPISODES,
    SCHEMA,
    STATS,
    DatasetSchema,
    batch_files,
    batch_of,
    episode_key,
    half_written,
    load_schema,
)
from armwright.recording.staging import Stage, StagedEpisode, staged_episodes, staged_keys


@dataclass(frozen=True)
class DatasetSummary:
    """What a dataset holds after `DatasetWriter.finalize`."""

    root: Path
    episodes: int
    frames: int
    tasks: int


class DatasetWriter:
    """A dataset that grows.

    Opening a folder that already holds one goes on with it. Several processes may add episodes to one folder at the
    same time, each through its own writer; `finalize` and `recover` must then be called by one of them alone.

    Args:
        root: Folder of the dataset.
        schema: What all its episodes share.

    Raises:
        UsageError: The folder holds a dataset of another robot, other cameras or another rate.
        OutputError: The folder cannot be written, or a file of the dataset in it is missing or damaged.
    """

    def __init__(self, root: str | Path, schema: DatasetSchema) -> None:
        self.root = ensure_writable(root)
        self.schema = schema
        path = self.root / SCHEMA
        if path.exists():
            present = load_schema(self.root)
            if present != schema:
                raise UsageError(
                    f"{self.root} holds a dataset of {describe(present)}; these episodes are of {describe(schema)}.",
                    hint="Choose another folder with --out.",
                )
        elif (self.root / INFO).exists():
            raise UsageError(
                f"{self.root} holds a dataset that armwright did not write.", hint="Choose another folder with --out."
            )
        else:
            write_json(path, schema.model_dump(mode="json", by_alias=True))
        self._stage = Stage(self.root, schema)
        manifest = load_manifest(self.root)
        check_batches(self.root, schema, manifest)
        self._stored = stored_keys(self.root, batches=manifest.batches)

    @property
    def keys(self) -> set[str]:
        """Keys (`episode_key`) of all finished episodes, staged or in the dataset's files."""
        return self._stage.keys() | self._stored

    def has(self, seed: int, instruction: str) -> bool:
        """Say whether this seed was already recorded for this instruction."""
        key = episode_key(seed, instruction)
        return key in self._stored or self._stage.has(key)

    def add_episode(self, episode: EpisodeData) -> None:
        """Write one finished episode; its cost does not depend on how many there are.

        Raises:
            UsageError: It does not fit the dataset, or its seed and instruction are already there.
            OutputError: It cannot be written; the dataset is as before.
        """
        if episode_key(episode.seed, episode.instruction) in self._stored:
            raise UsageError(
                f"seed {episode.seed} of {episode.instruction!r} is already in {self.root}.",
                hint="Give each episode its own seed.",
            )
        self._stage.add(episode)

    def recover(self, *, elsewhere: AbstractSet[str] = frozenset()) -> None:
        """Remove what an interrupted run left half-written; finished episodes stay.

        Args:
            elsewhere: Keys of episodes that are safe in another dataset, from which a merge takes them.

        Raises:
            OutputError: A finished batch is missing or damaged, or is not counted; nothing was removed.
        """
        manifest = load_manifest(self.root)
        check_batches(self.root, self.schema, manifest)
        uncounted = [path for path in batch_files(self.root) if batch_of(path) >= manifest.batches]
        for batch in sorted({batch_of(path) for path in uncounted}):
            check_uncounted(self.root, batch, self.keys | elsewhere)
        for path in uncounted:
            path.unlink()
        for path in half_written(self.root):
            path.unlink()
        self._stage.sweep()
        self._stored = stored_keys(self.root, batches=manifest.batches)
        for episode in self._stage.episodes():
            if episode.folder.name in self._stored:
                self._stage.drop(episode)

    def finalize(self) -> DatasetSummary:
        """Move every staged episode into the dataset's files, by seed, and write its metadata.

        Raises:
            OutputError: A file cannot be written; calling again goes on where it stopped. Or one that was written
                before is missing or damaged.
        """
        self.recover()
        manifest = load_manifest(self.root)
        staged = self._stage.episodes()
        for episode in staged:
            check_staged(episode, self.schema)
        if staged or not metadata_is_sound(self.root, self.schema, manifest):
            for group in _groups(staged, limit=self.schema.batch_frames):
                videos = {name: [episode.video(name) for episode in group] for name in self.schema.cameras}
                self.commit(group, videos)
                for episode in group:
                    self._stored.add(episode.folder.name)
                    self._stage.drop(episode)
            manifest = load_manifest(self.root)
            self._finish(manifest)
        return DatasetSummary(self.root, manifest.episodes, manifest.frames, len(manifest.tasks))

    def commit(
        self, group: Sequence[EpisodeSource], videos: Mapping[str, Sequence[Path]], *, linked: bool = False
    ) -> None:
        """Write episodes as the next batch and count it in; until `finalize` the dataset is unfinished.

        Args:
            group: Episodes that fit into one batch and are not in the dataset.
            videos: Camera name -> the files that hold their frames, in order.
            linked: There is one file per camera, and the dataset may share it.

        Raises:
            OutputError: A file cannot be read or written.
        """
        (self.root / INFO).unlink(missing_ok=True)
        manifest = load_manifest(self.root)
        tasks = list(manifest.tasks)
        tasks += dict.fromkeys(episode.instruction for episode in group if episode.instruction not in manifest.tasks)
        batch = Batch(
            number=manifest.batches,
            first_episode=manifest.episodes,
            first_index=manifest.frames,
            task_index={task: index for index, task in enumerate(tasks)},
            episodes=tuple(group),
            videos=videos,
            linked=linked,
        )
        write_batch(self.root, self.schema, batch)
        done = replace(
            manifest,
            batches=manifest.batches + 1,
            episodes=manifest.episodes + len(group),
            frames=manifest.frames + sum(episode.length for episode in group),
            tasks=tuple(tasks),
        )
        write_json(self.root / MANIFEST, {**vars(done), "tasks": list(done.tasks)})

    def _finish(self, manifest: Manifest) -> None:
        write_tasks(self.root, manifest.tasks)
        write_json(self.root / STATS, dataset_stats(self.root, self.schema, frames=manifest.frames))
        write_json(
            self.root / INFO,
            self.schema.info(episodes=manifest.episodes, frames=manifest.frames, tasks=len(manifest.tasks)),
        )


def finished_keys(root: str | Path, *, elsewhere: AbstractSet[str] = frozenset()) -> set[str]:
    """Return the keys (`episode_key`) of all finished episodes under a folder that may hold no dataset yet.

    Args:
        root: The folder.
        elsewhere: Keys of episodes that are safe in another dataset, from which a merge takes them.

    Raises:
        OutputError: A file of the dataset is missing or damaged.
    """
    folder = Path(root)
    if not (folder / SCHEMA).exists():
        if batch_files(folder):
            raise OutputError(
                f"{folder / SCHEMA} is missing.",
                hint=f"Restore it from a copy, or delete {folder}: --resume then runs its episodes again.",
            )
        return set()
    schema, manifest = load_schema(folder), load_manifest(folder)
    check_batches(folder, schema, manifest)
    for episode in staged_episodes(folder):
        check_staged(episode, schema)
    stored = stored_keys(folder, batches=manifest.batches)
    staged = staged_keys(folder)
    for batch in {batch_of(path) for path in batch_files(folder)}:
        if batch >= manifest.batches:
            check_uncounted(folder, batch, staged | stored | elsewhere)
    return staged | stored


def _groups(episodes: Sequence[StagedEpisode], *, limit: int) -> Iterator[list[StagedEpisode]]:
    group: list[StagedEpisode] = []
    frames = 0
    for episode in episodes:
        if group and (frames + episode.length > limit or len(group) == MAX_EPISODES):
            yield group
            group, frames = [], 0
        group.append(episode)
        frames += episode.length
    if group:
        yield group


def describe(schema: DatasetSchema) -> str:
    """Say in words what the episodes of a dataset share."""
    cameras = ", ".join(f"{name} {w}x{h}" for name, (h, w) in schema.cameras.items()) or "no cameras"
    return f"{schema.robot} ({len(schema.joints)} joints, {cameras}, {schema.fps} Hz)"
