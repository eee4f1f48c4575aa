"""From what a user asks to be randomised to checked ranges and files, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import yaml
from pydantic import BaseModel, ConfigDict, ValidationError

from armwright.assets.randomise import AXES, Axis, ImageFile, Looks, Randomisation, draw_looks
from armwright.assets.scene import ParsedTask, SceneSpec
from armwright.core.errors import UsageError, quoted
from armwright.sim.splat_files import load_checked
from armwright.sim.textures import folder_images, hash_file

_FILES = (".yaml", ".yml", ".json")
_NONE = "none"


class Randomising(BaseModel):
    """Ranges and the files that they draw from, with hashes: a run goes on only with the same ones.

    Attributes:
        ranges: The axes.
        files: Checked files by axis, as `armwright.assets.randomise.Images`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ranges: Randomisation
    files: dict[str, tuple[ImageFile, ...]] = {}

    def windowed(self, parsed: ParsedTask) -> ParsedTask:
        """Return the task with the window that objects are drawn from."""
        scene = parsed.scene.model_copy(update={"window": self.ranges.window()})
        return parsed.model_copy(update={"scene": scene})

    def looks(self, scene: SceneSpec, seed: int) -> Looks | None:
        """Draw an episode's looks; None where pictures are left as they are."""
        return draw_looks(self.ranges, scene, seed, self.files) if self.ranges.visual else None


@dataclass(frozen=True)
class RandomiseOptions:
    """What the command line says: axes or a file, a folder of pictures, Gaussian fields."""

    randomise: str | None = None
    textures: Path | None = None
    splats: Sequence[Path] = ()


def read_randomising(options: RandomiseOptions) -> dict[str, Any] | None:
    """Return what to randomise as JSON, every file of it read and checked; None where nothing was asked for.

    Args:
        options: ``randomise`` is a list of axes, all others being off, or a YAML or JSON file of ranges.

    Raises:
        UsageError: An axis that is not there, a file or folder that cannot be used, or files that no axis uses.
    """
    if options.randomise is None:
        if options.textures is not None or options.splats:
            option = "--textures" if options.textures is not None else "--splat"
            raise UsageError(
                f"{option} is of no use without --randomise.", hint="Add --randomise texture,background or a file."
            )
        return None
    text = options.randomise.strip()
    ranges = _from_file(Path(text)) if text.lower().endswith(_FILES) else Randomisation().switched(_axes(text))
    ranges = _with_options(ranges, options)
    return Randomising(ranges=ranges, files=_checked_files(ranges)).model_dump(mode="json", by_alias=True)


def _axes(text: str) -> tuple[Axis, ...]:
    names = [name.strip().lower() for name in text.split(",") if name.strip()]
    if not names:
        raise UsageError("--randomise is empty.", hint=f"Name axes out of {', '.join(AXES)}, or none.")
    for name in names:
        if name not in AXES and name != _NONE:
            raise UsageError(
                f"unknown axis of randomisation {quoted(name)}.",
                hint=f"Name some of {', '.join(AXES)}, or none, or a file that ends in {', '.join(_FILES)}.",
            )
    if _NONE in names and len(names) > 1:
        raise UsageError(f"--randomise {quoted(text)} names axes and none.", hint="Give one or the other.")
    return cast("tuple[Axis, ...]", tuple(dict.fromkeys(name for name in names if name != _NONE)))


def _from_file(path: Path) -> Randomisation:
    try:
        value = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}.", hint="Name a file that exists.") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is no YAML or JSON: {error}.", hint="docs/randomisation.md has one.") from error
    if not isinstance(value, dict):
        raise UsageError(
            f"{path}: the file is {'empty' if value is None else quoted(value)}; it must hold axes with their ranges.",
            hint=f"Axes are {', '.join(AXES)}; docs/randomisation.md has an example.",
        )
    try:
        return Randomisation.model_validate(value)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(
            f"{path}: {place} is {quoted(first['input'])}: {first['msg']}.", hint="docs/randomisation.md lists them."
        ) from error


def _with_options(ranges: Randomisation, options: RandomiseOptions) -> Randomisation:
    update: dict[str, Any] = {}
    if options.textures is not None:
        folder = str(options.textures.absolute())
        used = [axis for axis in ("texture", "background") if getattr(ranges, axis).enabled]
        if not used:
            raise UsageError("--textures is of no use: neither texture nor background is randomised.")
        update |= {axis: getattr(ranges, axis).model_copy(update={"folder": folder}) for axis in used}
    if options.splats:
        if not ranges.background.enabled:
            raise UsageError("--splat is of no use: the background is not randomised.")
        background = update.get("background", ranges.background)
        fields = tuple(str(path.absolute()) for path in options.splats)
        update["background"] = background.model_copy(update={"splats": fields})
    return ranges.model_copy(update=update)


def _checked_files(ranges: Randomisation) -> dict[str, tuple[ImageFile, ...]]:
    files: dict[str, tuple[ImageFile, ...]] = {}
    if ranges.texture.enabled and ranges.texture.folder is not None:
        files["texture"] = folder_images(Path(ranges.texture.folder))
    if ranges.background.enabled and ranges.background.folder is not None:
        files["background"] = folder_images(Path(ranges.background.folder))
    if ranges.background.enabled and ranges.background.splats:
        files["splats"] = tuple(_checked_fields(ranges.background.splats))
    return files


def _checked_fields(paths: Iterable[str]) -> Iterable[ImageFile]:
    for path in paths:
        field = ImageFile(path=path, sha256=hash_file(Path(path)))
        load_checked(field)
        yield field
