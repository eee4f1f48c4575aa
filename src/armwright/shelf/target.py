"""What the target is, as a closed solid with a pose: fitted to a packaging's family, else completed (OMAR §IV-A, C).

Where the paper takes SAM 3D's mesh from one view, this fits stacked sections to the fused cloud of a few views. Units
are metres, the world's z is up, and the target stands or lies on a known plane.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.shelf.records import Orientation, Packaging, Target
from armwright.shelf.registration import register, surface_gaps
from armwright.shelf.target_sections import Prism, fit_prism, fit_profile, fit_ridge
from armwright.shelf.target_solids import Family, Outline, Solid, hull_of, sections

FITS_M = 0.004
"""Mean distance from the cloud up to which a family explains it: voxels of 3 mm and depth noise leave 1 to 2 mm."""
SIMPLER_M = 0.0004
"""By this much a family with more freedom must be nearer than one with less."""
TOLD_M = 0.002
"""Up to this the family of the packaging that was named is taken without a look at the others."""
LYING_M = 0.095
"""Nothing thicker is a round package on its side."""
SPARE_M = 0.004
"""What the hand must open beyond the target's width."""
FEWEST = 60
"""Points without which there is nothing to fit."""
_NOT_TABLE_M = 0.004
_STEP_M = 0.006
_FAMILIES: Mapping[Packaging, tuple[Family, ...]] = {
    "box": ("box",),
    "carton": ("carton", "box"),
    "can": ("round",),
    "bottle": ("round",),
    "tube": ("round",),
}


@dataclass(frozen=True, eq=False)
class TargetFit:
    """The target as it was made out.

    Attributes:
        solid: Its shape; -x is its front.
        pose_world_target: Where it stands.
        residual_m: Mean distance of the cloud from its surface [m].
        seen: Share of its surface, bottom left out, that has an observed point nearby.
        tried: Family -> residual of each that was tried [m].
        lying: A round one that lies, so that it cannot be put down as it is.
    """

    solid: Solid
    pose_world_target: Pose
    residual_m: float
    seen: float
    tried: Mapping[str, float]
    lying: bool = False

    def record(self, nature: object) -> Target:
        """Return the target as the reasoner takes it, of that `Described` nature, edges as it stands."""
        x, y, z = map(float, self.solid.size_m)
        return Target(nature, (x, y, z))  # type: ignore[arg-type]


def fit_target(
    points_world_m: Array,
    normals_world: Array,
    *,
    table_z_m: float,
    packaging: Packaging | None = None,
    front_world: Array | None = None,
) -> TargetFit:
    """Fit the observed cloud of one object on a table.

    Args:
        points_world_m, normals_world: (n, 3) its surface from all views, such as `perception.surface.surface` gives,
            with outward normals; a few stray points and some of the table do no harm.
        table_z_m: Height of what it stands on.
        packaging: What it is said to be; None, or a family that does not fit, means that all are tried.
        front_world: (3,) where its front faces, if known; else the wider side is taken for the front.

    Raises:
        UsageError: Too few points above the table.
    """
    points, normals = _own(points_world_m, normals_world, table_z_m)
    found: dict[str, tuple[Solid, Pose, float]] = {}
    wanted: tuple[Family, ...] = _FAMILIES[packaging] if packaging else ()
    every: tuple[Family, ...] = ("box", "round", "carton")
    prisms: dict[str, Prism] = {}
    for family in (*wanted, *(f for f in every if f not in wanted)):
        if wanted and family not in wanted and _best(found)[1] < TOLD_M:
            continue
        if solid := _standing(family, points, normals, table_z_m, prisms):
            found[family] = (*solid, _residual(*solid, points))
    if packaging not in ("box", "carton") and _may_lie(prisms["rectangle" if "box" in found else "ellipse"]):
        solid = _lying(points, normals, table_z_m)
        found["lying"] = (*solid, _residual(*solid, points))
    name, residual = _best(found)
    if residual > FITS_M:
        solid = _completed(points, table_z_m)
        found["completed"] = (*solid, _residual(*solid, points))
        name, residual = "completed", found["completed"][2]
    solid_, pose, _ = found[name]
    facing = _facing(solid_, pose, front_world)
    turned, pose = _turned(solid_, facing), pose @ Pose.from_yaw((0, 0, 0), facing)
    return TargetFit(
        turned,
        pose,
        residual,
        _seen(turned, pose, points),
        {k: v[2] for k, v in found.items()},
        name == "lying",
    )


def look_again(fit: TargetFit, points_world_m: Array, normals_world: Array) -> TargetFit:
    """Return the fit with the pose that new views of the same object show."""
    new = register(fit.solid, points_world_m, normals_world, fit.pose_world_target)
    return TargetFit(fit.solid, new.pose_world_solid, new.rms_m, fit.seen, fit.tried, fit.lying)


def for_hand(fit: TargetFit, widest_m: float) -> TargetFit:
    """Return the fit with its narrow side for a front where the hand can only close across that side.

    A hand comes from the shelf's front, so what is wider than it opens has to be put in sideways. The fit is returned
    as it is where the hand spans its width, or neither side.

    Args:
        fit: The target.
        widest_m: How far the hand opens.
    """
    depth, width, _ = fit.solid.size_m
    if width <= widest_m - SPARE_M or depth > widest_m - SPARE_M:
        return fit
    quarter = np.pi / 2
    pose = fit.pose_world_target @ Pose.from_yaw(np.zeros(3), quarter)
    return replace(fit, solid=_turned(fit.solid, quarter), pose_world_target=pose)


def natural_orientation(fit: TargetFit) -> Orientation:
    """Return how a planar-sided target is most likely meant: lying if its height is its shortest edge, else upright."""
    x, y, z = fit.solid.size_m
    return "lying" if fit.solid.family in ("box", "carton") and z < min(x, y) else "upright"


def _own(points_m: Array, normals: Array, table_z_m: float) -> tuple[Array, Array]:
    """Return the points that are the object's: above the table, of its largest piece."""
    from scipy.ndimage import label

    points, normals = np.asarray(points_m, float), np.asarray(normals, float)
    if points.ndim != 2 or points.shape[1:] != (3,) or points.shape != normals.shape:
        raise UsageError(f"a cloud needs (n, 3) points and normals, got {points.shape} and {normals.shape}.")
    keep = (points[:, 2] > table_z_m + _NOT_TABLE_M) & np.isfinite(points).all(1) & np.isfinite(normals).all(1)
    points, normals = points[keep], normals[keep]
    if len(points) >= FEWEST:
        cell = np.floor((points - points.min(0)) / (2 * _STEP_M)).astype(int)
        grid = np.zeros(cell.max(0) + 1, bool)
        grid[tuple(cell.T)] = True
        piece = label(grid, np.ones((3, 3, 3)))[0][tuple(cell.T)]
        keep = piece == np.bincount(piece).argmax()
        points, normals = points[keep], normals[keep]
    if len(points) < FEWEST:
        raise UsageError(
            f"the target's cloud has {len(points)} points above the table, {FEWEST} are needed.",
            hint="Look from nearer, or check the mask and the table's height.",
        )
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    step = max(1, len(points) // 6000)
    return points[::step], (normals / np.maximum(length, 1e-9))[::step]


def _standing(
    family: Family, points: Array, normals: Array, table_z_m: float, prisms: dict[str, Prism]
) -> tuple[Solid, Pose] | None:
    outline: Outline = "ellipse" if family == "round" else "rectangle"
    if outline not in prisms:
        prisms[outline] = fit_prism(outline, points, normals, base_m=table_z_m)
    prism = prisms[outline]
    pose = Pose.from_yaw((*prism.center_m, table_z_m), prism.yaw_rad)
    local = pose.inverse().transform(points)
    if family == "box":
        z, a, b = np.array([0.0, prism.height_m]), np.full(2, prism.half_m[0]), np.full(2, prism.half_m[1])
    elif family == "carton":
        ridge = fit_ridge(prism, local, pose.inverse().rotate(normals))
        if ridge is None:
            return None
        z, a, b = ridge
    else:
        z, a, b = fit_profile(prism, local, pose.inverse().rotate(normals))
    solid = sections(outline, z, a, b, family=family)
    return solid, _settled(solid, points, normals, pose)


def _settled(solid: Solid, points: Array, normals: Array, pose: Pose) -> Pose:
    """Return the pose, sides and top taken together, on the table that it was on."""
    better = register(solid, points, normals, pose).pose_world_solid
    return Pose(np.array([*better.position_m[:2], pose.position_m[2]]), better.quat_wxyz)


def _lying(points: Array, normals: Array, table_z_m: float) -> tuple[Solid, Pose]:
    """Fit a round solid whose axis is level, in a frame in which it stands: x up, z along its axis."""
    middle = points[:, :2].mean(0)
    axis = np.linalg.eigh(np.cov((points[:, :2] - middle).T))[1][:, -1]
    along = np.array([*axis, 0.0])
    up = np.array([0.0, 0.0, 1.0])
    turn = Pose.from_rotation(np.stack([up, np.cross(along, up), along], 1))  # world from standing
    local, facing = turn.inverse().transform(points), turn.inverse().rotate(normals)
    # It touches the table along a line that no view shows.
    line = local[np.abs(local[:, 1] - np.median(local[:, 1])) < 0.01].copy()
    line[:, 0] = table_z_m
    local = np.concatenate([local, line])
    facing = np.concatenate([facing, np.tile([-1.0, 0.0, 0.0], (len(line), 1))])
    base = float(np.quantile(local[:, 2], 0.002))
    prism = fit_prism("ellipse", local, facing, base_m=base, same=True)
    stand = Pose(np.array([*prism.center_m, base]))
    z, a, b = fit_profile(prism, stand.inverse().transform(local), facing)
    radius = float(prism.half_m[0])
    a = b = (a + b) * radius / (a + b).max()
    length = float(z[-1] - z[0])
    # In the solid's own frame it lies along y, its middle over the origin.
    lay = Pose.from_rotation(np.array([[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]), (0.0, -length / 2, radius))
    solid = sections("ellipse", z, a, b, family="round", pose_solid_sections=lay)
    pose = turn @ stand @ lay.inverse()
    return solid, _settled(solid, points, normals, Pose(np.array([*pose.position_m[:2], table_z_m]), pose.quat_wxyz))


def _may_lie(prism: Prism) -> bool:
    """Tell whether what an outline encloses is as thick as it is high, and longer: a can on its side."""
    short, long = sorted(2 * prism.half_m)
    return prism.height_m < LYING_M and abs(short - prism.height_m) < 0.2 * prism.height_m and long > 1.15 * short


def _completed(points: Array, table_z_m: float) -> tuple[Solid, Pose]:
    """Close the cloud by its hull, taken down to the table."""
    low = points[points[:, 2] < np.quantile(points[:, 2], 0.25)].copy()
    low[:, 2] = table_z_m
    whole = np.concatenate([points, low])
    prism = fit_prism("rectangle", points, np.zeros_like(points), base_m=table_z_m)
    pose = Pose.from_yaw((*prism.center_m, table_z_m), prism.yaw_rad)
    return hull_of(pose.inverse().transform(whole)), pose


def _residual(solid: Solid, pose: Pose, points: Array) -> float:
    _, gap = surface_gaps(solid, pose, points)
    return float(np.clip(np.abs(gap), 0, 0.03).mean())


def _best(found: Mapping[str, tuple[Solid, Pose, float]]) -> tuple[str, float]:
    """Return the family that fits best, one with more freedom only where it is clearly better."""
    dearer = {"box": 0.0, "round": 0.0, "carton": 1.0, "lying": 1.0}
    if not found:
        return "", float("inf")
    name = min(found, key=lambda k: found[k][2] + SIMPLER_M * dearer[k])
    return name, found[name][2]


def _facing(solid: Solid, pose: Pose, front_world: Array | None) -> float:
    """Return the quarter turn about z after which -x is the front."""
    if front_world is None:
        return 0.0 if solid.size_m[0] <= solid.size_m[1] * 1.02 else np.pi / 2
    front = pose.inverse().rotate(np.asarray(front_world, float))
    return float(np.round((np.arctan2(front[1], front[0]) - np.pi) / (np.pi / 2)) * np.pi / 2)


def _turned(solid: Solid, yaw_rad: float) -> Solid:
    """Return the solid described in axes that are turned by a quarter or more about z."""
    back = Pose.from_yaw((0, 0, 0), -yaw_rad)
    vertices = back.transform(solid.vertices_m)
    return Solid(
        solid.family,
        vertices,
        solid.faces,
        tuple(back.transform(h) for h in solid.hulls),
        np.ptp(vertices, axis=0),
        back.transform(solid.points_m),
        back.rotate(solid.normals),
        solid.turns_rad,
    )


def _seen(solid: Solid, pose: Pose, points: Array) -> float:
    from scipy.spatial import cKDTree

    shown = pose.transform(solid.points_m[solid.normals[:, 2] > -0.7])
    return float((cKDTree(points).query(shown)[0] < 2 * _STEP_M).mean())
