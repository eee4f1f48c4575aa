"""Bring objects from files into the library: OBJ, GLB, STL, URDF, MJCF, USD, YCB."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from armwright.assets.entries._entry import CategoryInfo
from armwright.assets.importers.convert import UNITS_M, UnitName, convert
from armwright.assets.importers.raw import RawObject
from armwright.assets.importers.regions import usual_grasp
from armwright.assets.importers.report import Finding, ImportReport, Notes
from armwright.assets.model import ObjectModel
from armwright.core.errors import ArmwrightError, UsageError, in_one_line, quoted

__all__ = ["Finding", "ImportReport", "import_object", "UNITS_M", "UnitName"]

_READERS = {
    ".obj": "obj", ".glb": "scenefile", ".gltf": "scenefile", ".stl": "scenefile", ".ply": "scenefile",
    ".dae": "scenefile", ".urdf": "urdf", ".xml": "mjcf", ".mjcf": "mjcf", ".usd": "usd", ".usda": "usd",
    ".usdc": "usd", ".usdz": "usd",
}  # fmt: skip
_NAME = re.compile(r"[a-z][a-z0-9_]{0,39}")
_NAME_ONE = "Name a file, or a PartNet-Mobility or YCB folder."
GRIPPER_M = 0.07


def _reader(path: Path) -> tuple[str, Path]:
    """Return which reader takes a path, and the file it should be given.

    Raises:
        UsageError: There is none, or nothing is there.
    """
    from armwright.assets.importers.ycb import LAYOUT, mesh_of

    if not path.exists():
        raise UsageError(f"{path} does not exist.", hint=_NAME_ONE)
    if not (path.is_file() or path.is_dir()):  # a pipe or a device may never end
        raise UsageError(f"{path} is neither a file nor a folder.", hint=_NAME_ONE)
    if path.is_dir():
        models = sorted(model for model in path.glob("*.urdf") if model.is_file())
        if (path / "mobility.urdf") in models or len(models) == 1:
            return "urdf", path / "mobility.urdf" if (path / "mobility.urdf") in models else models[0]
        if mesh_of(path) is not None:
            return "ycb", path
        raise UsageError(
            f"{path} is a folder with neither a .urdf file nor a YCB mesh ({LAYOUT[0]} …).",
            hint="Name the file itself.",
        )
    reader = _READERS.get(path.suffix.lower())
    if reader is not None and not path.stat().st_size:
        raise UsageError(f"{path} is empty.", hint="Export it again.")
    if reader == "mjcf" and b"<robot" in path.read_bytes()[:4000]:
        reader = "urdf"
    if reader is None:
        raise UsageError(
            f"{path.name} is of an unknown format {quoted(path.suffix)}.", hint=f"Known: {', '.join(sorted(_READERS))}."
        )
    return reader, path


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Make whatever a damaged file makes a library raise an error that names the file.

    Raises:
        UsageError: Something was raised that is not for the user.
    """
    try:
        yield
    except ArmwrightError:
        raise
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or in_one_line(error)}.") from error
    except Exception as error:
        raise UsageError(
            f"{path} cannot be read: {type(error).__name__}: {in_one_line(error)}.",
            hint="Export it again, or as GLB or OBJ.",
        ) from error


def _valid_name(name: str | None, raw: RawObject) -> str:
    """Return the name the object will have.

    Raises:
        UsageError: The name that was given is not one, or a built-in category has it.
    """
    from armwright.assets.catalog import BUILT_IN

    chosen = name if name is not None else re.sub(r"[^a-z0-9]+", "_", raw.name.lower()).strip("_")[:40]
    if name is None and chosen and not chosen[0].isalpha():
        chosen = f"object_{chosen}"[:40]
    if not _NAME.fullmatch(chosen):
        raise UsageError(
            f"the name {quoted(chosen)} cannot be used.",
            hint="Give --name with a lower-case letter and then letters, digits and _, at most 40.",
        )
    if chosen in BUILT_IN:
        raise UsageError(f"the name {chosen!r} is that of a built-in category.", hint="Give another with --name.")
    return chosen


def _entry(model: ObjectModel, name: str, words: tuple[str, ...]) -> CategoryInfo:
    """Return what language and scenes need to know of an imported object."""
    low, high = model.bounds_m
    size = high - low
    return CategoryInfo(
        name=name,
        words=tuple(dict.fromkeys((*words, name.replace("_", " ")))),
        regions=dict(model.regions),
        grasp=usual_grasp(model.regions),
        size_m=(float(size[0]), float(size[1]), float(size[2])),
        colours=("grey",),
        static=model.static,
        receives_in=bool(model.containers),
        receives_on=bool(model.supports),
        fits_in_hand=not model.static and float(size.min()) < GRIPPER_M,
        extra={"imported": "yes"},
    )


def import_object(
    path: Path,
    *,
    name: str | None = None,
    words: tuple[str, ...] = (),
    units: UnitName = "auto",
    size_m: float | None = None,
    mass_kg: float | None = None,
    fixed: bool | None = None,
    folder: Path | None = None,
    replace_existing: bool = False,
) -> ImportReport:
    """Read a file or folder, mend what can be mended, and store the object in the user's library.

    Args:
        path: An OBJ, GLB, STL, PLY, URDF, MJCF or USD file, or a PartNet-Mobility or YCB folder.
        name: Under which it will be known; taken from the file if None.
        words: What people call it, beside its name.
        units: Unit of the file's lengths; ``auto`` goes by format and size.
        size_m: Its true largest extent [m], for files that are scaled to nothing in particular.
        mass_kg: Mass, where the file gives none.
        fixed: Whether it stands fast; None decides by joints and mass.
        folder: Library to store it in; the user's own if None.
        replace_existing: Whether an object of that name may be replaced.

    Returns:
        What was fixed and refused; the object is stored only if nothing was refused.

    Raises:
        UsageError: The path, the name or a value cannot be used, or the file cannot be read at all.
        MissingDependencyError: An optional package is needed to read the format.
    """
    from armwright.assets.imported import library_folder, save_object

    for label, value in (("--size", size_m), ("--mass", mass_kg)):
        if value is not None and not 0 < value < 1000:
            raise UsageError(f"{label} is {value:g}; it must be above 0 and below 1000.")
    notes = Notes()
    with _named(path):
        reader, file = _reader(path)
        raw: RawObject = importlib.import_module(f"armwright.assets.importers.{reader}").read(file, notes)
    chosen = _valid_name(name, raw)
    target = (folder or library_folder()) / chosen
    if target.exists() and not replace_existing:
        raise UsageError(f"the library has an object {chosen!r} already.", hint="Give another --name, or --replace.")
    kind = {"scenefile": file.suffix[1:].lower()}.get(reader, reader)
    with _named(path):
        model = convert(raw, chosen, notes, unit=units, size_m=size_m, mass_kg=mass_kg, fixed=fixed)
    if model is None or notes.refused:
        return ImportReport(chosen, path, kind, notes.fixed, notes.refused)
    save_object(model, _entry(model, chosen, words), target)
    low, high = model.bounds_m
    x, y, z = (float(v) for v in high - low)
    return ImportReport(
        chosen,
        path,
        kind,
        notes.fixed,
        notes.refused,
        target,
        (x, y, z),
        model.mass_kg,
        tuple(link.name for link in model.links),
        tuple(f"{link.name}: {link.joint.kind}" for link in model.links if link.joint is not None),
        model.part_names,
        {str(region): parts for region, parts in model.regions.items()},
        sum(len(link.faces) for link in model.links),
        sum(len(link.hulls) for link in model.links),
    )
