"""Adapter for the AnyGrasp SDK (graspnet/anygrasp_sdk), which is licensed per machine and not part of armwright.

Written against the SDK's public calls: ``gsnet.AnyGrasp(cfgs)``, ``load_net()``, ``get_grasp(points, colors, lims=…,
apply_object_mask=…, dense_grasp=…, collision_detection=…)``, and the arrays of a graspnetAPI ``GraspGroup``. The SDK
itself was not run here: no licence. What is tested is everything on this side of ``get_grasp``, with a stand-in of the
same signature.
"""

from __future__ import annotations

import importlib
from argparse import Namespace
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import MissingDependencyError, UsageError
from armwright.core.pose import Array, Pose
from armwright.core.settings import get_settings
from armwright.grasping.options import GraspOptions
from armwright.grasping.projection import visible_points
from armwright.grasping.request import GraspRequest, SourceNeeds
from armwright.grasping.spans import span_between
from armwright.grasping.types import GraspCandidate, GraspSet

# The SDK caps the hand's opening at this.
_WIDEST_M = 0.1
# Around the object, as much of the support is shown to the network, in steps of this.
_AROUND_M, _STEP_M = 0.12, 0.004
# A grasp centred farther than this from the object's points is of something else.
_NEAR_M = 0.03
# Simulated clouds carry no colour; the network is told grey.
_GREY = 0.5


class Detector(Protocol):
    """The part of ``gsnet.AnyGrasp`` that is used, its network loaded."""

    def get_grasp(
        self,
        points: NDArray[np.float32],
        colors: NDArray[np.float32],
        lims: list[float],
        apply_object_mask: bool = ...,
        dense_grasp: bool = ...,
        collision_detection: bool = ...,
    ) -> tuple[Any, Any]: ...


@dataclass(frozen=True)
class AnyGraspSource:
    """AnyGrasp's best grasps of the object as the third-person camera sees it, on its support.

    Attributes:
        detector: The SDK.
        top: How many of the best are handed on.
    """

    detector: Detector
    top: int = 200
    options: GraspOptions = field(default_factory=GraspOptions)
    name: str = "anygrasp"
    needs: SourceNeeds = field(default_factory=lambda: SourceNeeds(region=False, whole=True, camera=True))

    @classmethod
    def load(cls, *, top: int = 200, checkpoint: Path | None = None) -> AnyGraspSource:
        """Load the SDK and its network.

        Args:
            top: How many grasps are handed on.
            checkpoint: The network's file; ``ARMWRIGHT_ANYGRASP_CHECKPOINT`` where None.

        Raises:
            MissingDependencyError: The SDK cannot be imported.
            UsageError: There is no network, or the SDK refuses it or the licence.
        """
        try:
            gsnet: Any = importlib.import_module("gsnet")
        except ImportError as error:
            raise MissingDependencyError(
                f"the grasp source 'anygrasp' needs the AnyGrasp SDK, and gsnet cannot be imported: {error}.",
                hint="Get a licence and the SDK from https://github.com/graspnet/anygrasp_sdk, put gsnet.so and "
                "lib_cxx.so for your Python on PYTHONPATH, and the licence folder where you start armwright; or use "
                "the grasp source generic.",
            ) from error
        path = checkpoint or get_settings().anygrasp_checkpoint
        if path is None or not path.is_file():
            raise UsageError(
                f"AnyGrasp's network is not at {path}." if path else "AnyGrasp's network is not set.",
                hint="Set ARMWRIGHT_ANYGRASP_CHECKPOINT to the file checkpoint_detection.tar of the SDK.",
            )
        settings = Namespace(
            checkpoint_path=str(path),
            max_gripper_width=_WIDEST_M,
            gripper_height=0.03,
            top_down_grasp=False,
            debug=False,
        )
        try:
            detector = gsnet.AnyGrasp(settings)
            detector.load_net()
        except Exception as error:  # whatever the closed library raises
            raise UsageError(
                f"the AnyGrasp SDK could not be started with {path}: {error}.",
                hint="Check the licence with the SDK's license_registration tool, and the checkpoint.",
            ) from error
        return cls(detector, top=top)

    def sample(self, request: GraspRequest) -> GraspSet:
        """Return the best grasps of the object, in AnyGrasp's order, each in both rolls of the hand.

        Raises:
            UsageError: Nothing is known of a camera.
        """
        if request.camera is None:
            raise UsageError(
                f"the grasp source {self.name!r} needs a third-person camera, and there is none.",
                hint="Give the skill context one, or choose another grasp source.",
            )
        pose_camera_object = request.camera.pose_world_camera.inverse() @ request.pose_world_object
        own = visible_points(request.points_m, request.camera, pose_world_points=request.pose_world_object)
        shown = pose_camera_object.transform(np.concatenate([request.points_m[own], _support(request)]))
        seen: NDArray[np.float32] = shown.astype(np.float32)
        if not own.any():
            return GraspSet((), {"not_seen": 1}, self.name, "source")
        low, high = seen.min(0) - 0.01, seen.max(0) + 0.01
        group, _ = self.detector.get_grasp(
            seen,
            np.full_like(seen, _GREY),
            lims=[float(edge) for pair in zip(low, high, strict=True) for edge in pair],
            apply_object_mask=True,
            dense_grasp=False,
            collision_detection=True,
        )
        if group is None or len(group) == 0:
            return GraspSet((), {"none_detected": 1}, self.name, "source")
        group = group.nms().sort_by_score()
        return self._candidates(request, group, pose_camera_object.inverse())

    def _candidates(self, request: GraspRequest, group: Any, pose_object_camera: Pose) -> GraspSet:
        """Turn a GraspGroup (x approach, y closing, tips ``depth`` beyond the centre) into candidates."""
        from scipy.spatial import cKDTree

        centre = pose_object_camera.transform(np.asarray(group.translations, float))
        turned = pose_object_camera.rotation @ np.asarray(group.rotation_matrices, float)
        depth, score = np.asarray(group.depths, float), np.asarray(group.scores, float)
        far = cKDTree(request.points_m).query(centre)[0] > _NEAR_M
        dropped = Counter({"other_thing": int(far.sum())})
        candidates: list[GraspCandidate] = []
        hand = request.gripper
        for i in np.flatnonzero(~far):
            z, y = turned[i, :, 0], turned[i, :, 1]
            rotation = np.stack([np.cross(y, z), y, z], axis=1)
            position = centre[i] + (depth[i] - hand.finger_depth_m) * z
            low, high = span_between(request, position, rotation)
            if low >= high or high - low > hand.opening_m[1] - 2 * self.options.min_clearance_m:
                dropped["nothing_between" if low >= high else "too_wide"] += 1
                continue
            position = position + 0.5 * (low + high) * y
            opening = min(high - low + 2 * self.options.clearance_m, hand.opening_m[1])
            for flip in (1.0, -1.0):
                pose = Pose.from_rotation(rotation * np.array([flip, flip, 1.0]), position)
                candidates.append(
                    GraspCandidate(pose, high - low, opening, centre[i], -z, quality=float(np.clip(score[i], 0.0, 1.0)))
                )
            if len(candidates) >= 2 * self.top:
                break
        return GraspSet(tuple(candidates), {k: v for k, v in dropped.items() if v}, self.name, "source")


def _support(request: GraspRequest) -> Array:
    """Return points of the support around the object, in its frame: the network tells objects from it."""
    if request.support_plane is None:
        return np.zeros((0, 3))
    plane = np.asarray(request.support_plane, float)
    low, high = request.points_m.min(0), request.points_m.max(0)
    middle = 0.5 * (low + high)
    middle = middle - (middle @ plane[:3] + plane[3]) * plane[:3]
    radius = 0.5 * float(np.linalg.norm(high - low)) + _AROUND_M
    u = np.cross(plane[:3], np.eye(3)[np.abs(plane[:3]).argmin()])
    u /= np.linalg.norm(u)
    v = np.cross(plane[:3], u)
    steps = np.arange(-radius, radius + 1e-9, _STEP_M)
    a, b = (grid.ravel()[:, None] for grid in np.meshgrid(steps, steps))
    return np.asarray(middle + a * u + b * v)
