"""Stage 1: grasp candidates sampled on the affordance peak (AffordSim §3.2)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import UsageError
from armwright.core.pose import Array, Pose
from armwright.grasping.clearance import clear_of_hulls, gripper_boxes
from armwright.grasping.coverage import touch_of
from armwright.grasping.local import approach_directions, closing_axes, local_tensors, pca_normals
from armwright.grasping.meanshift import Contacts, find_contacts, spacing_m
from armwright.grasping.options import GraspOptions
from armwright.grasping.types import GraspCandidate, GraspSet
from armwright.robots.spec import GripperSpec


def sample_grasps(
    points_m: Array,
    normals: Array,
    mask: NDArray[np.bool_],
    gripper: GripperSpec,
    *,
    options: GraspOptions | None = None,
    support_plane: Array | None = None,
    obstacles: Sequence[Array] = (),
) -> GraspSet:
    """Sample gripper poses on the masked region and keep those whose pads close on it and whose approach is free.

    Contacts are the surface points nearest the region's modes; at each, K directions around the PCA normal at a fixed
    tilt, the closing axis from local geometry, the pads centred between the two surfaces they meet. Both rolls of
    each pose are returned, since an arm may reach only one of them.

    Args:
        points_m: (n, 3) float, the whole object in its own frame; 8,192 points, or 5 per square centimetre.
        normals: (n, 3) outward unit normals.
        mask: (n,) bool, the region the affordance model marked.
        gripper: The hand.
        options: Choices; the measured defaults where None.
        support_plane: (4,) n, d with n·p + d >= 0 where the gripper may be, in the object's frame
            (`armwright.grasping.clearance.table_plane`).
        obstacles: Convex hulls of other things, (k, 3) vertices each, in the object's frame.

    Returns:
        Candidates, best quality first, and how many frames each filter dropped; none for an empty mask.

    Raises:
        UsageError: Arrays that do not fit each other.
    """
    chosen = options or GraspOptions()
    points = np.ascontiguousarray(points_m, float)
    outward = np.ascontiguousarray(normals, float)
    region = np.ascontiguousarray(mask, bool)
    if (
        points.ndim != 2
        or points.shape[1:] != (3,)
        or outward.shape != points.shape
        or region.shape != points.shape[:1]
    ):
        raise UsageError(
            f"points and normals are (n, 3) and the mask (n,); got {points.shape}, {outward.shape}, {region.shape}."
        )
    contacts = find_contacts(points, region, options=chosen)
    if len(contacts.index) == 0:
        return GraspSet((), {"empty_region": 1})
    plane = None if support_plane is None else np.asarray(support_plane, float)
    up = None if plane is None else plane[:3]
    frames = _frames(points, outward, region, contacts, up, chosen)
    dropped: Counter[str] = Counter()
    found = search_frames_of(points, outward, region, gripper, frames, plane, chosen, dropped)
    if len(found.share):
        full = float(found.share.max())
        beside = found.share < (chosen.min_on_region if full >= chosen.min_on_region else full - 0.1)
        dropped["beside_region"] += int(beside.sum())
        found = found.only(~beside)
    position, rotation = found.position_m, found.rotation

    free = np.ones(len(position), bool)
    if len(obstacles) and len(position):
        boxes = gripper_boxes(found.opening_m, gripper, chosen)
        free = clear_of_hulls(position, rotation, boxes, obstacles, margin_m=chosen.margin_m)
        dropped["scene_collision"] += int((~free).sum())

    kept = np.flatnonzero(free)
    room = chosen.max_candidates // 2
    if len(kept) > room:
        dropped["over_limit"] += len(kept) - room
        kept = kept[:room]
    aside, wedge = touch_of(points, outward, position[kept], rotation[kept], found.width_m[kept], gripper.pad_size_m)
    candidates: list[GraspCandidate] = []
    for i, beside_m, out in zip(kept, aside, wedge, strict=True):
        frame = found.frame[i]
        contact = int(frames.contact[frame])
        for flip in (1.0, -1.0):
            turned = rotation[i] * np.array([flip, flip, 1.0])
            candidates.append(
                GraspCandidate(
                    pose_object_pads=Pose.from_rotation(turned, position[i]),
                    width_m=float(found.width_m[i]),
                    opening_m=float(found.opening_m[i]),
                    contact_m=points[contacts.index[contact]],
                    normal=frames.normal[contact],
                    cluster=int(contacts.piece[contact]),
                    approach=int(frames.approach[frame]),
                    quality=float(found.quality[i]),
                    region_share=float(found.share[i]),
                    aside=float(beside_m / gripper.pad_size_m[0]),
                    wedge=float(out),
                )
            )
    return GraspSet(tuple(candidates), {name: count for name, count in dropped.items() if count})


@dataclass(frozen=True, eq=False)
class Frames:
    """Orientations to try, f of them; ``normal`` (c, 3) is per contact."""

    contact: NDArray[np.int64]
    approach: NDArray[np.int64]
    origin: Array
    rotation: Array
    normal: Array


@dataclass(frozen=True, eq=False)
class Found:
    """What came of the frames that can be closed, c of them, best quality first; ``frame`` (c,) says which it was."""

    frame: NDArray[np.int64]
    position_m: Array
    rotation: Array
    width_m: Array
    opening_m: Array
    quality: Array
    share: Array

    def only(self, keep: NDArray[np.bool_]) -> Found:
        """Return the rows that are kept."""
        return Found(*(getattr(self, column.name)[keep] for column in fields(self)))


def search_frames_of(
    points: Array,
    normals: Array,
    mask: NDArray[np.bool_],
    gripper: GripperSpec,
    frames: Frames,
    plane: Array | None,
    options: GraspOptions,
    dropped: Counter[str],
) -> Found:
    """Find for every frame where the pads close on the cloud with the hand's way free; count the others in ``dropped``.

    Args:
        points, normals: (n, 3) contiguous float, the object.
        mask: (n,) bool, the region that shares are taken of.
        gripper: The hand.
        frames: What to try.
        plane: (4,) support, or None.
        options: Choices.
        dropped: Reason -> how many; added to.
    """
    from armwright.grasping._kernels import REASONS

    best, reason = _search(points, normals, mask, gripper, frames, plane, options)
    for code in reason:
        if code:
            dropped[REASONS[code]] += 1
    rows, slot = np.nonzero(best[:, :, 0] > 0)
    poor = best[rows, slot, 0] < options.min_quality
    dropped["low_quality"] += int(poor.sum())
    rows, slot = rows[~poor], slot[~poor]
    order = np.argsort(-best[rows, slot, 0], kind="stable")
    rows, slot = rows[order], slot[order]
    quality, depth, centre, width, opening, share = best[rows, slot].T
    rotation = frames.rotation[rows]
    position = frames.origin[rows] + depth[:, None] * rotation[:, :, 2] + centre[:, None] * rotation[:, :, 1]
    return Found(np.asarray(rows, np.int64), position, rotation, width, opening, quality, share)


def _frames(
    points: Array,
    normals: Array,
    mask: NDArray[np.bool_],
    contacts: Contacts,
    up: Array | None,
    options: GraspOptions,
) -> Frames:
    at = points[contacts.index]
    normal = pca_normals(points, normals, contacts.index, neighbours=options.neighbours)
    pieces = np.zeros((len(at), len(points)))
    pieces[:, mask] = contacts.piece_of_masked[None] == contacts.piece[:, None]
    local = local_tensors(points, normals, at, pieces=pieces)
    tilts = (options.tilt_rad, *options.extra_tilts_rad)
    d = np.stack([approach_directions(n, count=options.approaches, tilts_rad=tilts) for n in normal])
    if up is not None and options.downward:
        d = np.concatenate([d, np.broadcast_to(-up, (len(d), 1, 3))], axis=1)
    which, approach = (index.ravel() for index in np.indices(d.shape[:2]))
    d = d.reshape(-1, 3)
    if up is not None:
        # From below the table no hand comes.
        keep = d @ up < options.max_rise
        which, approach, d = which[keep], approach[keep], d[keep]
    row, y = closing_axes(d, local[which], uniform=options.yaws)
    rotation = np.stack([np.cross(y, d[row]), y, d[row]], axis=2)
    contact = which[row]
    return Frames(contact, approach[row], at[contact], rotation, normal)


def _search(
    points: Array,
    normals: Array,
    mask: NDArray[np.bool_],
    gripper: GripperSpec,
    frames: Frames,
    plane: Array | None,
    options: GraspOptions,
) -> tuple[Array, NDArray[np.int64]]:
    from armwright.grasping._kernels import search_frames

    pad_x, pad_z = gripper.pad_size_m
    deepest = max(gripper.palm_depth_m - 2 * options.margin_m, 0.0)
    depths = np.array([*(d for d in options.depths_m if d < deepest - 0.002), deepest])
    density = spacing_m(points[mask]) ** -2
    found: tuple[Array, NDArray[np.int64]] = search_frames(
        points,
        normals,
        mask,
        frames.origin,
        frames.rotation,
        depths,
        points.mean(0),
        pad_x,
        pad_z,
        gripper.finger_depth_m,
        gripper.finger_thickness_m,
        gripper.palm_depth_m,
        gripper.opening_m[1],
        options.clearance_m,
        options.min_clearance_m,
        options.margin_m,
        *options.palm_half_m,
        float(np.cos(np.arctan(options.friction))),
        max(4.0, density * pad_x * pad_z),
        np.zeros(4) if plane is None else plane,
        options.sweep_m,
        options.palm_length_m,
    )
    return found
