"""What a user may ask to be randomised, what is refused before anything runs, and one episode with all axes."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from armwright.assets.randomise import AXES, Randomisation
from armwright.core.errors import ArmwrightError
from armwright.generate.episode import Episode, EpisodeRequest, run_episode
from armwright.generate.parsing import parse_sentence
from armwright.generate.randomising import RandomiseOptions, Randomising, read_randomising
from armwright.generate.record import dataset_schema, episode_data
from armwright.generate.redraw import recorded_looks, redraw_episode
from armwright.generate.session import Session
from armwright.recording.lerobot import DatasetWriter
from armwright.recording.reader import DatasetReader
from armwright.sim.gaussians import colour_field
from armwright.sim.splat_files import write_field

SENTENCE = "put the banana on the plate"


def asked(*names: str, **more: object) -> Randomising:
    return Randomising.model_validate(read_randomising(RandomiseOptions(",".join(names), **more)))  # type: ignore[arg-type]


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    folder = tmp_path / "pictures"
    folder.mkdir()
    for k in range(2):
        Image.fromarray(np.full((20, 20, 3), 60 * k, np.uint8)).save(folder / f"{k}.png")
    return folder


@pytest.fixture
def field(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    path = tmp_path / "field.ply"
    write_field(path, colour_field(*(rng.random((50, 3)).astype(np.float32) for _ in range(3))))
    return path


def test_nothing_asked_is_nothing_done() -> None:
    assert read_randomising(RandomiseOptions()) is None


def test_axes_are_exactly_those_named() -> None:
    assert asked("texture", "noise").ranges.axes == ("texture", "noise")
    assert asked("none").ranges.axes == ()
    assert asked(*AXES).ranges.axes == AXES


def test_files_are_checked_and_named(pictures: Path, field: Path) -> None:
    found = asked("texture", "background", textures=pictures, splats=(field,))
    assert [Path(f.path).name for f in found.files["texture"]] == ["0.png", "1.png"]
    assert [Path(f.path) for f in found.files["splats"]] == [field]
    assert all(len(f.sha256) == 64 for files in found.files.values() for f in files)


@pytest.mark.parametrize("suffix", [".yaml", ".json"])
def test_a_file_gives_ranges(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"ranges{suffix}"
    path.write_text('{"noise": {"enabled": true, "sigma": [2, 3]}, "pose": {"enabled": false}}')
    ranges = asked(str(path)).ranges
    assert ranges.axes == ("noise",)
    assert ranges.noise.sigma == (2.0, 3.0)
    assert Randomisation.model_validate_json(ranges.model_dump_json(by_alias=True)) == ranges


@pytest.mark.parametrize(
    ("option", "content", "message"),
    [
        ("textur", None, "unknown axis of randomisation 'textur'"),
        ("nosuch", None, "Name some of pose, texture, lighting, background, noise, or none,"),
        ("", None, "--randomise is empty"),
        ("r.yaml", "", "the file is empty; it must hold axes with their ranges."),
        ("none,pose", None, "names axes and none"),
        ("missing.yaml", None, "cannot read"),
        ("r.yaml", "noise: {sigma: [5, 1]}", "noise.sigma is [5, 1]"),
        ("r.yaml", "nois: {enabled: true}", "nois is"),
        ("r.yaml", "[1, 2", "no YAML or JSON"),
        ("r.yaml", "just words", "the file is 'just words'"),
    ],
)
def test_wrong_ranges_are_refused(tmp_path: Path, option: str, content: str | None, message: str) -> None:
    if content is not None:
        (tmp_path / option).write_text(content)
    text = str(tmp_path / option) if option.endswith(".yaml") else option
    with pytest.raises(ArmwrightError) as caught:
        read_randomising(RandomiseOptions(text))
    assert message in str(caught.value)
    assert caught.value.exit_code == 2


def test_an_axis_named_twice_is_one() -> None:
    assert asked("pose,pose").ranges.axes == ("pose",)


def test_the_documented_file_is_the_default_with_every_axis_on(tmp_path: Path) -> None:
    text = (Path(__file__).parents[1] / "docs/randomisation.md").read_text(encoding="utf-8")
    path = tmp_path / "ranges.yaml"
    path.write_text(text.partition("```yaml\n")[2].partition("```")[0], encoding="utf-8")
    assert asked(str(path)).ranges == Randomisation().switched(AXES)


def _cut(path: Path) -> Path:
    path.write_bytes(path.read_bytes()[:-5])
    return path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (lambda p, f: ["--randomise", "texture", "--textures", str(f.parent)], "are no pictures"),
        (lambda p, f: ["--randomise", "texture", "--textures", str(f)], "is not a folder"),
        (lambda p, f: ["--textures", str(p)], "of no use without --randomise"),
        (lambda p, f: ["--randomise", "noise", "--textures", str(p)], "--textures is of no use"),
        (lambda p, f: ["--randomise", "texture", "--splat", str(f)], "--splat is of no use"),
        (lambda p, f: ["--randomise", "background", "--splat", str(_cut(f))], "is cut short"),
        (lambda p, f: ["--randomise", "background", "--splat", str(f.with_name("no.ply"))], "cannot read"),
    ],
)
@pytest.mark.parametrize("command", ["run", "generate"])
def test_files_that_cannot_be_used_end_a_command_before_it_makes_anything(
    command: str,
    options: Callable[[Path, Path], list[str]],
    message: str,
    pictures: Path,
    field: Path,
    tmp_path: Path,
    cli: Callable[..., Any],
) -> None:
    out = tmp_path / "out"
    ran = cli(command, SENTENCE, "--out", out, *options(pictures, field))
    assert ran.code == 2 and message in ran.err
    assert not out.exists()


@pytest.fixture(scope="module")
def session() -> Session:
    return Session.open("franka")


def episode(session: Session, randomise: Randomising | None, seed: int = 5) -> Episode:
    parsed, _ = parse_sentence(SENTENCE)
    return run_episode(session, EpisodeRequest(parsed, seed, randomise=randomise))


@pytest.mark.slow
def test_looks_change_no_action_and_draw_again_identically(session: Session, field: Path, tmp_path: Path) -> None:
    plain = episode_data(session, episode(session, None), images=False)
    done = episode(session, asked("pose", "texture", "lighting", "background", "noise", splats=(field,)))
    drawn = {name: list(images) for name, images in episode_data(session, done, images=True).images.items()}
    data = episode_data(session, done, images=True)
    assert np.array_equal(data.arm.joint_target_rad, plain.arm.joint_target_rad)
    assert plain.world is not None and data.world is not None
    assert np.array_equal(data.world.qpos, plain.world.qpos)
    assert plain.extra["looks"] is None
    json.dumps(data.extra)
    writer = DatasetWriter(tmp_path / "dataset", dataset_schema(session, images=True))
    writer.add_episode(data)
    writer.finalize()
    reader = DatasetReader(tmp_path / "dataset")
    looks = recorded_looks(reader, 0)
    assert looks is not None and looks == done.looks
    for name, images in drawn.items():
        again = redraw_episode(session, reader, 0, name, looks=looks)
        assert all(np.array_equal(a, b) for a, b in zip(images, again, strict=True))
        other = next(redraw_episode(session, reader, 0, name, looks=None))
        assert (other != images[0]).mean() > 0.3


@pytest.mark.slow
def test_without_the_pose_axis_the_object_starts_at_one_place(session: Session) -> None:
    def starts(randomise: Randomising) -> np.ndarray:
        found = [episode(session, randomise, seed).scene.object("banana_1").pose for seed in (1, 2, 3)]
        return np.array([pose.position_m[:2] for pose in found if pose is not None])

    assert np.ptp(starts(asked("noise")), axis=0).max() < 0.02
    assert np.ptp(starts(asked("pose")), axis=0).max() > 0.02
