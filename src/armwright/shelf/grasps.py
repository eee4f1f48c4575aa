"""Antipodal grasps of the target and their quality G_qual (OMAR §IV-C).

A grid over the faces of the target's box, up to six approach directions, turns about each, and perturbations of up to
3 mm along approach, closing and binormal axis. Ours besides: each approach is also tilted about the closing axis, so
that a hand may come obliquely from above, as it must under a board.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.grasping.clearance import gripper_boxes
from armwright.grasping.options import GraspOptions
from armwright.grasping.types import GraspCandidate
from armwright.robots.spec import GripperSpec
from armwright.shelf import _grasp_kernels as kernel
from armwright.shelf.grasp_quality import (
    alignment,
    aperture,
    balance,
    centring,
    grasp_quality,
    vertical_preference,
)
from armwright.shelf.target_solids import Solid

PERTURBATION_M = 0.003
"""Largest shift along each axis of the hand (§IV-C)."""
GRID_M = 0.025
"""Spacing of the grid on a face: about a pad's width."""
DEPTHS_M = (0.009, 0.017, 0.025)
"""How far the pads' middle is behind the face that the hand comes to: from the tips to as deep as the palm allows."""
TILTS_RAD = (0.0, np.deg2rad(25.0), np.deg2rad(50.0))
"""Tilts of an approach about the closing axis, both ways."""
TURNS = 4
"""Turns about the approach axis, evenly over a full turn; eight where the outline is round."""
MOST = 240
_POINTS = 1800
_MARGIN_M = 0.001
SLACK_M = 0.004
"""Kept on each side while the fingers go around the target: it is known to 2 mm."""
_TIGHT_M = 0.002
_REASONS = {
    "nothing_between": kernel.NOTHING,
    "too_wide": kernel.WIDE,
    "finger_in_target": kernel.FINGER,
    "palm_in_target": kernel.PALM,
}


@dataclass(frozen=True, eq=False)
class TargetGrasps:
    """Grasps of the target, best first.

    Attributes:
        candidates: In the target's frame; ``quality`` is G_qual.
        dropped: Why others were left out -> how many.
        sampled: How many were looked at.
    """

    candidates: tuple[GraspCandidate, ...]
    dropped: Mapping[str, int] = field(default_factory=dict)
    sampled: int = 0

    def quality(self) -> Array:
        """Return G_qual of each (g,)."""
        return np.array([c.quality for c in self.candidates])


def sample_grasps(
    solid: Solid,
    gripper: GripperSpec,
    *,
    rng: np.random.Generator,
    table: bool = True,
    most: int = MOST,
    perturbed: int = 1,
) -> TargetGrasps:
    """Sample antipodal grasps over the faces of a solid's box and score them.

    Args:
        solid: The target, standing in its own frame on z = 0.
        gripper: The hand.
        rng: Of the perturbations.
        table: Whether it stands on something that the hand must not touch.
        most: How many to keep at most, shared between the approaches.
        perturbed: Perturbed copies of each grid sample, besides itself.
    """
    if most < 1 or perturbed < 0:
        raise UsageError(f"most must be at least 1 and perturbed at least 0, got {most} and {perturbed}.")
    place, turn, group = _frames(solid)
    copies = 1 + perturbed
    place, turn = np.repeat(place, copies, axis=0), np.repeat(turn, copies, axis=0)
    group = np.repeat(group, copies)
    shift = rng.uniform(-PERTURBATION_M, PERTURBATION_M, place.shape)
    shift[::copies] = 0.0
    place = place + np.einsum("nij,nj->ni", turn, shift)
    wrong, quality, seen = _judged(solid, gripper, place, turn, table)
    dropped: Counter[str] = Counter()
    bad = np.zeros(len(place), bool)
    for name, which in wrong.items():
        dropped[name] = int((which & ~bad).sum())
        bad |= which
    good = np.flatnonzero(~bad)
    chosen = _shared(good[np.argsort(-quality[good], kind="stable")], group, quality, most)
    dropped["surplus"] = len(good) - len(chosen)
    candidates = tuple(_candidate(gripper, place[i], turn[i], seen[i], int(group[i]), quality[i]) for i in chosen)
    return TargetGrasps(candidates, {k: v for k, v in dropped.items() if v}, len(place))


def approaches() -> Array:
    """Return the six approach directions, along and against each axis of the target's box (6, 3) (§IV-C)."""
    return np.concatenate([-np.eye(3), np.eye(3)])


def face_grid(low_m: Array, high_m: Array, direction: Array, *, step_m: float = GRID_M) -> Array:
    """Return points (n, 3) on the face of a box that an approach meets, at most ``step_m`` apart (§IV-C).

    The grid is centred and stops short of the edges by half a step, or is the middle where the face is narrow.
    """
    axis = int(np.abs(direction).argmax())
    lines = []
    for k in range(3):
        if k == axis:
            lines.append(np.array([low_m[k] if direction[k] > 0 else high_m[k]]))
            continue
        free = high_m[k] - low_m[k] - step_m
        count = max(1, int(np.ceil(free / step_m)) + 1)
        middle = (low_m[k] + high_m[k]) / 2
        lines.append(middle + np.linspace(-free / 2, free / 2, count) if count > 1 else np.array([middle]))
    return np.stack(np.meshgrid(*lines, indexing="ij"), -1).reshape(-1, 3)


def turned_about(direction: Array, count: int) -> Array:
    """Return hand frames (count, 3, 3) that approach along a direction, turned evenly about it (§IV-C).

    Columns are binormal, closing axis, approach.
    """
    z = direction / np.linalg.norm(direction)
    first = np.eye(3)[(int(np.abs(z).argmax()) + 1) % 3]
    first = first - (first @ z) * z
    first /= np.linalg.norm(first)
    angle = 2 * np.pi * np.arange(count) / count
    y = np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * np.cross(z, first)
    return np.stack([np.cross(y, z), y, np.broadcast_to(z, y.shape)], -1)


def tilted(frames: Array, angle_rad: float) -> Array:
    """Return hand frames (n, 3, 3) turned about their own closing axis: contacts stay, the approach changes."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.asarray(frames @ np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]))


def _frames(solid: Solid) -> tuple[Array, Array, NDArray[np.intp]]:
    """Return pads' middles (n, 3), hand frames (n, 3, 3) and the number of the approach of each."""
    low, high = solid.vertices_m.min(0), solid.vertices_m.max(0)
    places, turns, groups = [], [], []
    group = 0
    for direction in approaches():
        if direction[2] > 0:  # from below is where the table is
            continue
        upright = abs(direction[2]) > 0.5
        count = 2 * TURNS if upright and solid.family == "round" else TURNS
        frames = turned_about(direction, count)
        grid = face_grid(low, high, direction)
        for tilt in TILTS_RAD:
            for way in (1.0, -1.0) if tilt else (1.0,):
                own = tilted(frames, way * tilt)
                for depth in DEPTHS_M:
                    # Pads behind the face, seen along the approach as it is tilted.
                    at = grid[:, None] + depth * own[None, :, :, 2]
                    places.append(at.reshape(-1, 3))
                    turns.append(np.broadcast_to(own[None], (len(grid), count, 3, 3)).reshape(-1, 3, 3))
                    groups.append(np.tile(group + np.arange(count), len(grid)))
                group += count
    turn = np.concatenate(turns)
    rising = turn[:, 2, 2] > 0.05  # a hand that comes from below its goal meets the table
    return np.concatenate(places)[~rising], turn[~rising], np.concatenate(groups)[~rising]


def _judged(
    solid: Solid, gripper: GripperSpec, place: Array, turn: Array, table: bool
) -> tuple[dict[str, NDArray[np.bool_]], Array, Array]:
    """Return what is wrong with each hand by name, G_qual (n,) and the kernel's columns (n, 6)."""
    step = max(1, len(solid.points_m) // _POINTS)
    points = np.ascontiguousarray(solid.points_m[::step])
    options = GraspOptions()
    half_x, half_z = gripper.pad_size_m[0] / 2, gripper.pad_size_m[1] / 2
    widest = gripper.opening_m[1]
    reason, seen = kernel.touch(
        points,
        np.ascontiguousarray(solid.normals[::step]),
        np.ascontiguousarray(place),
        np.ascontiguousarray(turn),
        half_x,
        half_z,
        gripper.finger_depth_m,
        gripper.palm_depth_m,
        *options.palm_half_m,
        gripper.finger_thickness_m,
        widest,
        SLACK_M,
        _MARGIN_M,
    )
    width = seen[:, kernel.WIDTH]
    moved = place + seen[:, kernel.MIDDLE, None] * turn[..., 1]
    # What a pad would touch if all of it lay on the surface.
    full = len(points) / max(_area(solid), 1e-9) * float(np.prod(gripper.pad_size_m))
    quality = grasp_quality(
        alignment(seen[:, kernel.COSINE]),
        centring(seen[:, [kernel.OFF_X, kernel.OFF_Z]], seen[:, kernel.TOUCHED] / full),
        aperture(width, widest),
        vertical_preference(turn[:, 2, 2]),
        balance(_lever(solid, moved, turn)),
    )
    wrong = {name: reason == code for name, code in _REASONS.items()}
    if table:
        wrong["table"] = _below(moved, turn, np.minimum(width + 2 * SLACK_M, widest), gripper)
    wrong["misaligned"] = quality <= 0.0
    return wrong, quality, seen


def _below(place: Array, turn: Array, opening_m: Array, gripper: GripperSpec) -> NDArray[np.bool_]:
    """Return which hands reach below z = 0, the table."""
    centre, half = gripper_boxes(opening_m, gripper, GraspOptions(sweep_m=0.0))
    up = turn[:, 2, :]
    lowest = place[:, 2:3] + np.einsum("nbk,nk->nb", centre, up) - np.einsum("nbk,nk->nb", half, np.abs(up))
    return np.asarray(lowest.min(1) < _TIGHT_M)


def _lever(solid: Solid, place: Array, turn: Array) -> Array:
    """Return the level distance of the solid's middle from the line that the pads close along [m]."""
    middle = np.array([0.0, 0.0, solid.size_m[2] / 2])
    offset, axis = middle - place, turn[..., 1]
    offset = offset - np.einsum("ij,ij->i", offset, axis)[:, None] * axis
    return np.asarray(np.linalg.norm(offset[:, :2], axis=1))


def _area(solid: Solid) -> float:
    corner = solid.vertices_m[solid.faces]
    cross = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    return 0.5 * float(np.linalg.norm(cross, axis=1).sum())


def _shared(rows: NDArray[np.intp], group: NDArray[np.intp], quality: Array, most: int) -> NDArray[np.intp]:
    """Return up to ``most`` of some rows, best first, so that each approach gives its best before any its second."""
    rank = np.empty(len(rows), np.intp)
    seen: Counter[int] = Counter()
    for k, i in enumerate(rows):
        rank[k] = seen[int(group[i])]
        seen[int(group[i])] += 1
    chosen = rows[np.lexsort((-quality[rows], rank))[:most]]
    return np.asarray(chosen[np.argsort(-quality[chosen], kind="stable")])


def _candidate(
    gripper: GripperSpec, place: Array, turn: Array, seen: Array, group: int, quality: float
) -> GraspCandidate:
    width = float(seen[kernel.WIDTH])
    middle = place + seen[kernel.MIDDLE] * turn[:, 1]
    return GraspCandidate(
        Pose.from_rotation(turn, middle),
        width,
        min(width + 2 * SLACK_M, gripper.opening_m[1]),
        middle + 0.5 * width * turn[:, 1],
        turn[:, 1].copy(),
        approach=group,
        quality=float(quality),
    )
