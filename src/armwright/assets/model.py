"""What an object is: links with labelled faces, collision hulls, mass, joints; regions named in the paper's words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array, Pose
from armwright.core.task import RegionName

Faces = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Surface:
    """What is printed on a part.

    Attributes:
        image: (H, W, 3) uint8.
        uv: (m, 3, 2) float, where each corner of the part's faces lies on the image: right and down, 0 to 1.
        normals: (m, 3, 3) float unit normals at the corners, so that what is round looks round and edges stay sharp.
    """

    image: NDArray[np.uint8]
    uv: Array
    normals: Array


@dataclass(frozen=True, eq=False)
class JointModel:
    """How a link moves against its parent.

    Attributes:
        kind: ``slide`` or ``hinge``.
        axis: (3,) unit vector in the object's frame.
        anchor_m: (3,) a point on the axis in the object's frame [m].
        range: Lowest and highest value [m or rad]; 0 is closed.
        damping, frictionloss: SI units of the joint.
    """

    kind: Literal["slide", "hinge"]
    axis: Array
    anchor_m: Array
    range: tuple[float, float]
    damping: float = 1.0
    frictionloss: float = 0.5


@dataclass(frozen=True, eq=False)
class LinkModel:
    """One rigid body of an object; every link's geometry is in the object's frame with joints at 0.

    Attributes:
        name: ``base``, ``drawer_1``, ``door``, ``lid`` …
        vertices_m: (n, 3) float, metres.
        faces: (m, 3) int, counter-clockwise seen from outside; the mesh is closed.
        part_names: Names that ``face_part`` indexes.
        face_part: (m,) int.
        part_rgba: Colour per part name.
        hulls: Convex collision hulls, each (k, 3) float [m]; their union stays within 3 mm (p95) of the mesh.
        hull_part: Part name per hull.
        mass_kg: Mass; inertia follows from the closed mesh at uniform density.
        parent: Parent link, or None for the root.
        joint: Joint to the parent; a link with a parent and no joint is loose (a pot's lid) and gets its own
            free body.
        surfaces: Part name -> what is printed on it, for parts that are more than one colour.
    """

    name: str
    vertices_m: Array
    faces: Faces
    part_names: tuple[str, ...]
    face_part: NDArray[np.int32]
    part_rgba: Mapping[str, tuple[float, float, float, float]]
    hulls: tuple[Array, ...]
    hull_part: tuple[str, ...]
    mass_kg: float
    parent: str | None = None
    joint: JointModel | None = None
    surfaces: Mapping[str, Surface] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class ObjectModel:
    """An object instance: +z up, origin at the centre of its footprint on the supporting plane (z = 0).

    Attributes:
        category: ``mug``, ``kettle`` …
        links: Root first.
        attributes: ``colour``, ``material``, ``size`` and what else the category knows.
        regions: Region name -> part names that make it up (over all links).
        params: The one parameter vector that made this instance, by name [SI].
        friction: Sliding friction coefficient of the surface.
        rolling_m: Lever of rolling resistance [m].
        upright_axis: (3,) object axis that should point up when the object stands as intended.
        containers: Open cavities, for placing things inside.
        supports: Flat surfaces that others may stand on.
        static: Too heavy or fixed by nature (shelf, cabinet, coffee machine, microwave, rack).
    """

    category: str
    links: tuple[LinkModel, ...]
    attributes: Mapping[str, str]
    regions: Mapping[RegionName, tuple[str, ...]]
    params: Mapping[str, float]
    friction: float = 0.8
    rolling_m: float = 0.0003
    upright_axis: Array = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    containers: tuple[Container, ...] = ()
    supports: tuple[SupportSurface, ...] = ()
    static: bool = False

    @property
    def root(self) -> LinkModel:
        """The first link."""
        return self.links[0]

    @property
    def left_behind(self) -> frozenset[str]:
        """Names of the loose links that stay where they are when the object is lifted: what it stands on, not in."""
        low = float(self.root.vertices_m[:, 2].min())
        loose = (link for link in self.links[1:] if link.joint is None)
        return frozenset(link.name for link in loose if float(link.vertices_m[:, 2].min()) < low)

    @property
    def mass_kg(self) -> float:
        """Mass of all links [kg]."""
        return float(sum(link.mass_kg for link in self.links))

    @property
    def bounds_m(self) -> tuple[Array, Array]:
        """Lowest and highest corner over all links in the object's frame, (3,) each [m]."""
        v = np.concatenate([link.vertices_m for link in self.links])
        return v.min(0), v.max(0)

    @property
    def part_names(self) -> tuple[str, ...]:
        """Every part name, each once."""
        return tuple(dict.fromkeys(name for link in self.links for name in link.part_names))


@dataclass(frozen=True, eq=False)
class Container:
    """An open cavity, upright: floor height, rim height and inner half extents [m] in the object's frame.

    ``half_extents_m`` bound a rectangle that fits the floor (a round floor's inscribed square); ``link`` is the link
    that carries the cavity.
    """

    part: str
    center_m: Array
    floor_z_m: float
    rim_z_m: float
    half_extents_m: tuple[float, float]
    link: str = "base"


@dataclass(frozen=True, eq=False)
class SupportSurface:
    """A flat place others may stand on, in the object's frame [m]; ``clearance_m`` is the free height above.

    ``half_extents_m`` bound a rectangle on it (a round top's inscribed square); ``link`` is the link it belongs to.
    """

    name: str
    pose_object_surface: Pose
    half_extents_m: tuple[float, float]
    clearance_m: float
    link: str = "base"
