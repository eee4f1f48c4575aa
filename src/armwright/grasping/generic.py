"""A generic 6-DoF estimator: antipodal grasps anywhere on the cloud, ranked by stability, blind to the task.

It stands where AffordSim's comparison puts AnyGrasp (§4.1), which may not be redistributed.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array, Pose
from armwright.grasping.affordance import Frames, search_frames_of
from armwright.grasping.clearance import clear_of_hulls, gripper_boxes
from armwright.grasping.meanshift import spacing_m
from armwright.grasping.options import PALM_LENGTH_M, GraspOptions
from armwright.grasping.request import GraspRequest, SourceNeeds
from armwright.grasping.types import GraspCandidate, GraspSet


@dataclass(frozen=True)
class GenericOptions:
    """Choices of `GenericGrasps`.

    Attributes:
        rays: Surface points from which an opposing one is looked for, each along its normal and once jittered.
        frames: Hand frames looked into, evenly over the pairs, after those that would reach through the support.
        approaches: Approach directions around each pair's axis, evenly over the full turn.
        jitter_rad: Largest tilt of a jittered ray against the normal; within the friction cone.
        same_m, same_rad: Grasps nearer than this in place and orientation are one.
        thorough: Factor on rays and frames when asked to look longer.
    """

    rays: int = 2000
    frames: int = 6000
    approaches: int = 12
    jitter_rad: float = 0.35
    same_m: float = 0.004
    same_rad: float = 0.2
    thorough: int = 3


@dataclass(frozen=True)
class GenericGrasps:
    """Antipodal grasps of the whole object, the most stable first.

    Stability is how well the pads' surfaces face each other, how much surface the pads cover and how centred it is,
    how far the line of closing passes from the middle of the object, and the slack in the opening.
    """

    top: int = 200
    options: GraspOptions = field(default_factory=GraspOptions)
    choices: GenericOptions = field(default_factory=GenericOptions)
    name: str = "generic"
    needs: SourceNeeds = field(default_factory=lambda: SourceNeeds(region=False, whole=True))

    def sample(self, request: GraspRequest) -> GraspSet:
        """Return the ``top`` most stable grasps that touch nothing on their way, each in both rolls of the hand."""
        dropped: Counter[str] = Counter()
        if len(request.points_m) < 8:
            return GraspSet((), {"too_few_points": 1}, self.name, "source")
        frames = self._frames(request)
        if len(frames.origin) == 0:
            return GraspSet((), {"no_opposing_surfaces": 1}, self.name, "source")
        points, normals = (np.ascontiguousarray(a, float) for a in (request.points_m, request.normals))
        everywhere = np.ones(len(points), bool)
        plane = None if request.support_plane is None else np.asarray(request.support_plane, float)
        found = search_frames_of(points, normals, everywhere, request.gripper, frames, plane, self.options, dropped)
        free = np.ones(len(found.position_m), bool)
        if request.obstacles and len(free):
            boxes = gripper_boxes(found.opening_m, request.gripper, self.options)
            margin_m = self.options.margin_m
            free = clear_of_hulls(found.position_m, found.rotation, boxes, request.obstacles, margin_m=margin_m)
            dropped["scene_collision"] += int((~free).sum())
        from armwright.grasping._antipodal import distinct

        rows = np.flatnonzero(free)
        cos_same = float(np.cos(self.choices.same_rad))
        position, rotation = found.position_m[rows], found.rotation[rows]
        kept = rows[distinct(position, rotation, self.choices.same_m, cos_same, len(rows))]
        dropped["alike"] += len(rows) - len(kept)
        dropped["over_limit"] += max(0, len(kept) - self.top)
        candidates: list[GraspCandidate] = []
        for i in kept[: self.top]:
            contact = int(frames.contact[found.frame[i]])
            for flip in (1.0, -1.0):
                turned = found.rotation[i] * np.array([flip, flip, 1.0])
                candidates.append(
                    GraspCandidate(
                        pose_object_pads=Pose.from_rotation(turned, found.position_m[i]),
                        width_m=float(found.width_m[i]),
                        opening_m=float(found.opening_m[i]),
                        contact_m=frames.origin[found.frame[i]],
                        normal=frames.normal[contact],
                        approach=int(frames.approach[found.frame[i]]),
                        quality=float(found.quality[i]),
                    )
                )
        return GraspSet(tuple(candidates), {k: v for k, v in dropped.items() if v}, self.name, "source")

    def with_top(self, top: int) -> GenericGrasps:
        """Return the same estimator with another number of grasps."""
        return replace(self, top=top)

    def _frames(self, request: GraspRequest) -> Frames:
        """Return gripper frames at antipodal pairs: y along the pair, z all around it but from below."""
        from armwright.grasping._antipodal import antipodal_pairs

        rng = request.rng if request.rng is not None else np.random.default_rng(0)
        more = self.choices.thorough if request.thorough else 1
        points = np.ascontiguousarray(request.points_m, float)
        normals = np.ascontiguousarray(request.normals, float)
        count = min(len(points), more * self.choices.rays)
        seeds = np.tile(rng.choice(len(points), count, replace=False), 2)
        tilted = -normals[seeds]
        tilted[count:] += rng.uniform(-1, 1, (count, 3)) * np.tan(self.choices.jitter_rad) / np.sqrt(3)
        tilted /= np.maximum(np.linalg.norm(tilted, axis=1, keepdims=True), 1e-12)
        widest = request.gripper.opening_m[1] - 2 * self.options.min_clearance_m
        cos_cone = float(np.cos(np.arctan(self.options.friction)))
        radius = max(0.003, 0.8 * spacing_m(points))
        other = antipodal_pairs(points, normals, seeds, tilted, widest, radius, cos_cone)
        row = np.concatenate([np.flatnonzero(other[:, 0] >= 0), np.flatnonzero(other[:, 1] > other[:, 0])])
        end = np.concatenate([other[other[:, 0] >= 0, 0], other[other[:, 1] > other[:, 0], 1]])
        start = seeds[row]
        y = points[end] - points[start]
        y /= np.maximum(np.linalg.norm(y, axis=1, keepdims=True), 1e-12)
        u = np.cross(y, np.eye(3)[np.abs(y).argmin(1)])
        u /= np.linalg.norm(u, axis=1, keepdims=True)
        v = np.cross(y, u)
        steps = self.choices.approaches
        # A start of its own for each pair, so that the pairs together look from everywhere.
        angle = 2 * np.pi * (np.arange(steps)[None] + rng.uniform(size=(len(y), 1))) / steps
        z = np.cos(angle)[..., None] * u[:, None] + np.sin(angle)[..., None] * v[:, None]
        which, approach = (index.ravel() for index in np.indices(angle.shape))
        z = z.reshape(-1, 3)
        keep = np.flatnonzero(z @ request.up < self.options.max_rise)
        keep = keep[self._above(request, 0.5 * (points[start] + points[end])[which[keep]], y[which[keep]], z[keep])]
        keep = rng.permutation(keep)[: more * self.choices.frames]
        which, approach, z = which[keep], approach[keep], z[keep]
        rotation: Array = np.stack([np.cross(y[which], z), y[which], z], axis=2)
        return Frames(which, approach, points[start][which], rotation, normals[start])

    def _above(self, request: GraspRequest, middle_m: Array, y: Array, z: Array) -> NDArray[np.bool_]:
        """Return (f,) whether fingers and palm stay above the support at the best of all depths; cheap, optimistic."""
        if request.support_plane is None:
            return np.ones(len(z), bool)
        hand, plane = request.gripper, np.asarray(request.support_plane, float)
        x_up, y_up, z_up = np.abs(np.cross(y, z) @ plane[:3]), np.abs(y @ plane[:3]), z @ plane[:3]
        fingers = np.minimum(z_up * hand.finger_depth_m, -z_up * hand.palm_depth_m) - 0.5 * x_up * hand.pad_size_m[0]
        palm_x, palm_y = self.options.palm_half_m
        palm = np.minimum(-z_up * hand.palm_depth_m, -z_up * (hand.palm_depth_m + PALM_LENGTH_M))
        palm -= x_up * palm_x + y_up * palm_y
        deeper = np.maximum(z_up, 0.0) * hand.palm_depth_m
        height = middle_m @ plane[:3] + plane[3] + deeper
        return np.asarray(height + np.minimum(fingers, palm) > 0.0)
