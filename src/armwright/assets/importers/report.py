"""What an import found: what it fixed, what it refused, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Kind = Literal[
    "units",
    "scale",
    "up_axis",
    "open_mesh",
    "non_manifold",
    "inside_out",
    "thin_panel",
    "one_link",
    "joint",
    "absolute_path",
    "missing_mesh",
    "missing_texture",
    "material",
    "mass",
    "collision",
    "faces",
    "content",
]


@dataclass(frozen=True)
class Finding:
    """One thing that was wrong or had to be assumed.

    Attributes:
        kind: What kind of thing.
        where: The link, mesh or file it is about; empty for the whole object.
        text: What was found and what was done, or what the user can do.
    """

    kind: Kind
    where: str
    text: str

    def __str__(self) -> str:
        return f"{self.kind}{f' ({self.where})' if self.where else ''}: {self.text}"


class Notes:
    """Collects findings while a file is read; the same finding is kept once."""

    def __init__(self) -> None:
        self._fixed: dict[Finding, None] = {}
        self._refused: dict[Finding, None] = {}

    def fix(self, kind: Kind, where: str, text: str) -> None:
        """Note something that was mended or assumed."""
        self._fixed[Finding(kind, where, text)] = None

    def refuse(self, kind: Kind, where: str, text: str) -> None:
        """Note something that stands in the way of using the object."""
        self._refused[Finding(kind, where, text)] = None

    @property
    def fixed(self) -> tuple[Finding, ...]:
        """What was mended or assumed."""
        return tuple(self._fixed)

    @property
    def refused(self) -> tuple[Finding, ...]:
        """What stands in the way."""
        return tuple(self._refused)


@dataclass(frozen=True)
class ImportReport:
    """The outcome of an import; ``ok`` if the object is in the library now.

    Attributes:
        name: The object's name.
        source: The file or folder that was read.
        format: ``obj``, ``glb``, ``urdf``, ``mjcf``, ``usd`` or ``ycb``.
        fixed, refused: Findings, in the order they were met.
        folder: Where the object was stored, None if it was refused.
        size_m: Extent x, y, z [m].
        mass_kg: Mass of all links.
        links, joints, parts: Names.
        regions: Region name -> part names.
        faces, hulls: How many, over all links.
    """

    name: str
    source: Path
    format: str
    fixed: tuple[Finding, ...] = ()
    refused: tuple[Finding, ...] = ()
    folder: Path | None = None
    size_m: tuple[float, float, float] | None = None
    mass_kg: float | None = None
    links: tuple[str, ...] = ()
    joints: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    regions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    faces: int = 0
    hulls: int = 0

    @property
    def ok(self) -> bool:
        """Whether the object can be used."""
        return self.folder is not None and not self.refused

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain JSON values."""
        record = asdict(self)
        record["source"], record["folder"] = str(self.source), None if self.folder is None else str(self.folder)
        record["regions"] = {name: list(parts) for name, parts in self.regions.items()}
        return {"ok": self.ok, **record}
