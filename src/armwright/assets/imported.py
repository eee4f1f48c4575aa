"""The user's own objects: a folder per object with its arrays and its entry for the catalogue."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from armwright.assets.entries._entry import CategoryInfo
from armwright.core.errors import CacheError, OutputError
from armwright.core.files import reason
from armwright.core.settings import get_settings

if TYPE_CHECKING:
    from armwright.assets.model import ObjectModel

SCHEMA = "armwright.object/1"
_RECORD, _ARRAYS = "object.json", "arrays.npz"


def library_folder() -> Path:
    """Return the folder of the user's own objects."""
    return get_settings().library_dir


def imported_entries(folder: Path | None = None) -> tuple[dict[str, CategoryInfo], dict[str, str]]:
    """Return the entries of the objects in a library folder by name, and why others could not be read."""
    entries: dict[str, CategoryInfo] = {}
    damaged: dict[str, str] = {}
    root = folder or library_folder()
    if not root.is_dir():
        return entries, damaged
    for path in sorted(root.glob(f"*/{_RECORD}")):
        try:
            record = json.loads(path.read_text())
            if record["schema"] != SCHEMA:
                raise ValueError(f"its schema is {record['schema']!r}, not {SCHEMA!r}")
            entry = record["entry"]
            entries[path.parent.name] = CategoryInfo(
                name=path.parent.name,
                words=tuple(entry["words"]),
                regions={region: tuple(parts) for region, parts in entry["regions"].items()},
                grasp=entry["grasp"],
                size_m=tuple(entry["size_m"]),
                colours=tuple(entry["colours"]),
                static=entry["static"],
                receives_in=bool(record["containers"]),
                receives_on=bool(record["supports"]),
                fits_in_hand=entry["fits_in_hand"],
                extra=entry["extra"],
            )
        except (OSError, ValueError, KeyError, TypeError) as error:
            damaged[path.parent.name] = f"{type(error).__name__}: {error}"
    return entries, damaged


def save_object(model: ObjectModel, entry: CategoryInfo, target: Path) -> None:
    """Store an object, whole or not at all, in the place of one that is there.

    Raises:
        OutputError: The folder cannot be written.
    """
    arrays: dict[str, Any] = {}
    links = []
    for k, link in enumerate(model.links):
        arrays[f"{k}_vertices"], arrays[f"{k}_faces"] = link.vertices_m, link.faces
        arrays[f"{k}_face_part"] = link.face_part
        arrays[f"{k}_hulls"] = np.concatenate(link.hulls)
        arrays[f"{k}_hull_sizes"] = np.array([len(hull) for hull in link.hulls])
        joint = link.joint
        links.append(
            {
                "name": link.name,
                "part_names": list(link.part_names),
                "part_rgba": {name: list(rgba) for name, rgba in link.part_rgba.items()},
                "hull_part": list(link.hull_part),
                "mass_kg": link.mass_kg,
                "parent": link.parent,
                "joint": None
                if joint is None
                else {
                    "kind": joint.kind,
                    "axis": joint.axis.tolist(),
                    "anchor_m": joint.anchor_m.tolist(),
                    "range": list(joint.range),
                    "damping": joint.damping,
                    "frictionloss": joint.frictionloss,
                },
            }
        )
    record = {
        "schema": SCHEMA,
        "entry": {
            "words": list(entry.words),
            "regions": {region: list(parts) for region, parts in entry.regions.items()},
            "grasp": entry.grasp,
            "size_m": list(entry.size_m),
            "colours": list(entry.colours),
            "static": entry.static,
            "fits_in_hand": entry.fits_in_hand,
            "extra": dict(entry.extra),
        },
        "params": dict(model.params),
        "friction": model.friction,
        "rolling_m": model.rolling_m,
        "containers": [
            {
                "part": c.part,
                "center_m": c.center_m.tolist(),
                "floor_z_m": c.floor_z_m,
                "rim_z_m": c.rim_z_m,
                "half_extents_m": list(c.half_extents_m),
                "link": c.link,
            }
            for c in model.containers
        ],
        "supports": [
            {
                "name": s.name,
                "position_m": s.pose_object_surface.position_m.tolist(),
                "half_extents_m": list(s.half_extents_m),
                "clearance_m": s.clearance_m,
                "link": s.link,
            }
            for s in model.supports
        ],
        "links": links,
    }
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=".import-") as folder:
            new = Path(folder) / "new"
            new.mkdir()
            np.savez_compressed(new / _ARRAYS, **arrays)
            (new / _RECORD).write_text(json.dumps(record, indent=1, allow_nan=False) + "\n")
            if target.exists():
                target.rename(Path(folder) / "old")
            new.rename(target)
            shutil.rmtree(Path(folder) / "old", ignore_errors=True)
    except OSError as error:
        raise OutputError(f"cannot write {target}: {reason(error, target)}.", hint="Name another folder with --out, or "
                          "with ARMWRIGHT_LIBRARY_DIR.") from error  # fmt: skip


def load_object(name: str, attributes: Mapping[str, str], folder: Path | None = None) -> ObjectModel:
    """Return a stored object; asked-for attributes are kept and change nothing.

    Raises:
        CacheError: Its folder is damaged.
    """
    from armwright.assets.model import Container, JointModel, LinkModel, ObjectModel, SupportSurface
    from armwright.core.pose import Pose

    root = (folder or library_folder()) / name
    try:
        record = json.loads((root / _RECORD).read_text())
        with np.load(root / _ARRAYS) as stored:
            arrays = {key: stored[key] for key in stored.files}
        links = []
        for k, one in enumerate(record["links"]):
            stops = np.cumsum(arrays[f"{k}_hull_sizes"])[:-1]
            joint = one["joint"]
            links.append(
                LinkModel(
                    name=one["name"],
                    vertices_m=arrays[f"{k}_vertices"],
                    faces=arrays[f"{k}_faces"],
                    part_names=tuple(one["part_names"]),
                    face_part=arrays[f"{k}_face_part"],
                    part_rgba={part: tuple(rgba) for part, rgba in one["part_rgba"].items()},
                    hulls=tuple(np.split(arrays[f"{k}_hulls"], stops)),
                    hull_part=tuple(one["hull_part"]),
                    mass_kg=one["mass_kg"],
                    parent=one["parent"],
                    joint=None
                    if joint is None
                    else JointModel(
                        kind=joint["kind"],
                        axis=np.array(joint["axis"]),
                        anchor_m=np.array(joint["anchor_m"]),
                        range=tuple(joint["range"]),
                        damping=joint["damping"],
                        frictionloss=joint["frictionloss"],
                    ),
                )
            )
        return ObjectModel(
            category=name,
            links=tuple(links),
            attributes={"colour": "grey", "material": "unknown", "size": "medium", **attributes},
            regions={region: tuple(parts) for region, parts in record["entry"]["regions"].items()},
            params=record["params"],
            friction=record["friction"],
            rolling_m=record["rolling_m"],
            containers=tuple(
                Container(
                    c["part"],
                    np.array(c["center_m"]),
                    c["floor_z_m"],
                    c["rim_z_m"],
                    tuple(c["half_extents_m"]),
                    link=c["link"],
                )
                for c in record["containers"]
            ),
            supports=tuple(
                SupportSurface(
                    s["name"],
                    Pose(np.array(s["position_m"])),
                    tuple(s["half_extents_m"]),
                    s["clearance_m"],
                    link=s["link"],
                )
                for s in record["supports"]
            ),
            static=record["entry"]["static"],
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise CacheError(
            f"the imported object {name!r} in {root} is damaged ({error}).", hint="Import it again."
        ) from error
