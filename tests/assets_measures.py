"""Measurements on objects that the asset tests share: hull fidelity, rays, and settling in MuJoCo."""

from __future__ import annotations

import numpy as np
from scipy.spatial import ConvexHull

from armwright.assets.cloud import link_mesh, nearest_triangles
from armwright.assets.export import link_inertia
from armwright.assets.model import LinkModel, ObjectModel


def hull_triangles(hull):
    """Return outward triangles (m, 3, 3) and half spaces (m, 4) of a convex hull."""
    shape = ConvexHull(hull)
    triangles = shape.points[shape.simplices]
    normal = np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0])
    flip = np.einsum("ij,ij->i", normal, shape.equations[:, :3]) < 0
    triangles[flip] = triangles[flip][:, ::-1]
    return triangles, shape.equations


def sample_triangles(triangles, n, rng):
    area = np.linalg.norm(np.cross(triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]), axis=1)
    pick = rng.choice(len(area), n, p=area / area.sum())
    u, v = rng.random((2, n, 1))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    t = triangles[pick]
    return t[:, 0] + u * (t[:, 1] - t[:, 0]) + v * (t[:, 2] - t[:, 0]), pick


def winding_number(points, triangles):
    """Return the generalised winding number of (n, 3) points: 1 inside a closed outward mesh, 0 outside."""
    total = np.empty(len(points))
    for start in range(0, len(points), 200):
        a, b, c = (triangles[None, :, k] - points[start : start + 200, None] for k in range(3))
        la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
        det = np.einsum("nmi,nmi->nm", a, np.cross(b, c))
        dot = np.einsum("nmi,nmi->nm", a, b) * lc + np.einsum("nmi,nmi->nm", b, c) * la
        dot += np.einsum("nmi,nmi->nm", c, a) * lb
        total[start : start + 200] = np.arctan2(det, la * lb * lc + dot).sum(1) / (2 * np.pi)
    return total


class HullSet:
    """The hulls of a link with inside tests and distances."""

    def __init__(self, link: LinkModel):
        faces = [hull_triangles(hull) for hull in link.hulls]
        self.triangles = np.concatenate([f[0] for f in faces])
        self.owner = np.repeat(np.arange(len(faces)), [len(f[0]) for f in faces])
        self.planes = np.concatenate([f[1] for f in faces])
        self.starts = np.concatenate([[0], np.cumsum([len(f[1]) for f in faces])[:-1]])

    def depth(self, points):
        """Largest half-space value per hull, (n, hulls): negative inside."""
        values = points @ self.planes[:, :3].T + self.planes[:, 3]
        return np.maximum.reduceat(values, self.starts, axis=1)

    def inside(self, points, *, margin=0.0):
        return (self.depth(points) < -margin).any(1)


def fidelity(link: LinkModel, *, n=600, rng=None):
    """Return how far the hulls' union stands out of the mesh, and how far the mesh lies off it, (n,) each [m]."""
    rng = rng or np.random.default_rng(0)
    mesh = link_mesh(link)[0]
    hulls = HullSet(link)
    points, pick = sample_triangles(hulls.triangles, n, rng)
    depth = hulls.depth(points)
    depth[np.arange(n), hulls.owner[pick]] = 1.0
    points = points[(depth > -1e-5).all(1)]
    out = nearest_triangles(points, mesh)[1]
    # Points within a millimetre count as they are, inside or not: that only makes the figure worse.
    far = np.nonzero(out > 1e-3)[0]
    out[far[winding_number(points[far], mesh) > 0.5]] = 0.0
    points, _ = sample_triangles(mesh, n, rng)
    off = np.zeros(n)
    open_ = (hulls.depth(points) > 0).all(1)
    if open_.any():
        off[open_] = nearest_triangles(points[open_], hulls.triangles)[1]
    return out, off


def ray_down(model: ObjectModel, origin, *, links=None):
    """Return (part, z) of the first face below ``origin``, or None."""
    best = None
    for link in model.links:
        if links is not None and link.name not in links:
            continue
        triangles, _, part = link_mesh(link)
        xy = triangles[:, :, :2] - np.asarray(origin)[:2]
        cross = [xy[:, i, 0] * xy[:, (i + 1) % 3, 1] - xy[:, i, 1] * xy[:, (i + 1) % 3, 0] for i in range(3)]
        area = sum(cross)
        hit = (np.abs(area) > 1e-14) & np.all([c * np.sign(area) >= 0 for c in cross], axis=0)
        for face in np.nonzero(hit)[0]:
            z = sum(cross[i][face] * triangles[face, (i + 2) % 3, 2] for i in range(3)) / area[face]
            if z < origin[2] and (best is None or z > best[1]):
                best = (str(part[face]), float(z))
    return best


def compile_object(model: ObjectModel, *, height_m=5e-4):
    """Return a MuJoCo model of the object on a plane: hulls as mesh geoms, inertia from the closed mesh."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.compiler.degree = False
    spec.option.timestep = 0.002
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    spec.option.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    spec.option.impratio = 10
    spec.worldbody.add_geom(type=mujoco.mjtGeom.mjGEOM_PLANE, size=[1, 1, 0.1], condim=4)
    bodies = {}
    for link in model.links:
        loose = link.parent is None or link.joint is None
        parent = spec.worldbody if loose else bodies[link.parent]
        body = parent.add_body(name=link.name, pos=[0, 0, height_m if loose else 0.0])
        bodies[link.name] = body
        if loose and not model.static:
            body.add_freejoint()
        if link.joint is not None:
            kind = mujoco.mjtJoint.mjJNT_SLIDE if link.joint.kind == "slide" else mujoco.mjtJoint.mjJNT_HINGE
            body.add_joint(
                name=link.name,
                type=kind,
                axis=link.joint.axis,
                pos=link.joint.anchor_m,
                range=link.joint.range,
                limited=True,
                damping=[link.joint.damping, 0, 0],
                frictionloss=link.joint.frictionloss,
            )
        com, inertia = link_inertia(link)
        body.explicitinertial = True
        body.mass, body.ipos = link.mass_kg, com
        body.fullinertia = [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
        for i, hull in enumerate(link.hulls):
            mesh = spec.add_mesh(name=f"{link.name}_{i}")
            mesh.uservert = hull.ravel()
            body.add_geom(
                type=mujoco.mjtGeom.mjGEOM_MESH, meshname=mesh.name, condim=4, friction=[model.friction, 0.005, 0.0001]
            )
    return spec.compile()
