"""Mass properties of a link from its closed mesh, so that a simulator need not guess them."""

from __future__ import annotations

import numpy as np

from armwright.assets.model import LinkModel
from armwright.core.errors import UsageError
from armwright.core.memo import kept_with
from armwright.core.pose import Array

_COVARIANCE = (np.ones((3, 3)) + np.eye(3)) / 120.0
"""Integral of x x^T over the tetrahedron of the origin and the unit vectors."""


def link_volume(link: LinkModel) -> float:
    """Return the volume that the link's mesh encloses [m^3]."""
    tetrahedra = link.vertices_m[link.faces]
    return float(np.linalg.det(tetrahedra).sum() / 6.0)


@kept_with
def link_inertia(link: LinkModel) -> tuple[Array, Array]:
    """Return centre of mass and inertia at uniform density, by exact integrals over the closed mesh.

    Args:
        link: A link with a closed mesh.

    Returns:
        (3,) centre of mass in the object's frame [m] and the (3, 3) inertia about it, in the object's axes [kg m^2];
        neither can be written to.

    Raises:
        UsageError: The mesh encloses no volume.
    """
    middle = link.vertices_m.mean(0)
    tetrahedra = (link.vertices_m - middle)[link.faces]
    determinant = np.linalg.det(tetrahedra)
    volume = float(determinant.sum() / 6.0)
    if volume <= 0:
        raise UsageError(f"link {link.name!r} encloses {volume:.3g} m^3.", hint="Its mesh must be closed, facing out.")
    com = np.einsum("i,ijk->k", determinant, tetrahedra) / 24.0 / volume
    covariance = np.einsum("n,nak,ab,nbl->kl", determinant, tetrahedra, _COVARIANCE, tetrahedra)
    covariance = link.mass_kg / volume * (covariance - volume * np.outer(com, com))
    center, inertia = com + middle, np.trace(covariance) * np.eye(3) - covariance
    center.flags.writeable = inertia.flags.writeable = False
    return center, inertia
