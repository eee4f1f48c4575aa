"""The scene source `perceived`: what skills are told of a shelf comes from the map and the fitted target alone."""

from __future__ import annotations

import numpy as np

from armwright.affordance.protocol import AffordanceMask, ObjectCloud
from armwright.assets.model import ObjectModel
from armwright.control.protocols import Arm, Clock
from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.pose import Array, Pose
from armwright.core.task import AffordanceQuery
from armwright.grasping.request import GraspRequest, SourceNeeds
from armwright.grasping.types import GraspSet
from armwright.planning.backend import PlanningBackend
from armwright.planning.types import Obstacle, WorldSpec
from armwright.robots.spec import GripperSpec
from armwright.shelf.obstacles import TARGET, MapObstacles
from armwright.shelf.target import TargetFit
from armwright.shelf.target_solids import object_model
from armwright.skills.context import MakeVerifier, SkillContext, SkillOptions


class PerceivedScene:
    """The target, fitted, among what the map holds; implements `skills.context.SceneSource`.

    Args:
        fit: The target.
        obstacles: The rest, in the arm's base frame.
        pose_world_base: The arm's base.
        packaging: The target's, if known.
    """

    name = "perceived"

    def __init__(
        self, fit: TargetFit, obstacles: MapObstacles, pose_world_base: Pose, *, packaging: str | None = None
    ) -> None:
        self._model = object_model(fit.solid, packaging=packaging)
        self._cloud = ObjectCloud(TARGET, self._model.category, fit.solid.points_m, fit.solid.normals)
        self._obstacles = obstacles
        self._pose_world_base = pose_world_base
        self._pose = fit.pose_world_target

    def objects(self) -> tuple[str, ...]:
        """Return the one object that is handled; the others are obstacles."""
        return (TARGET,)

    def pose_world(self, object_id: str) -> Pose:
        """Return where the target was seen, or put."""
        self._known(object_id)
        return self._pose

    def put(self, pose_world_target: Pose) -> None:
        """Take the target to stand somewhere else now."""
        self._pose = pose_world_target

    def pose_world_link(self, object_id: str, link: str) -> Pose:
        """Return the target's pose: it has one link."""
        return self.pose_world(object_id)

    def joint(self, object_id: str, link: str) -> float:
        """Return 0: packages have no joints."""
        return 0.0

    def model(self, object_id: str) -> ObjectModel:
        """Return the fitted solid as an object."""
        self._known(object_id)
        return self._model

    def mass_kg(self, object_id: str) -> float:
        """Return the mass assumed from its volume [kg]."""
        return self.model(object_id).mass_kg

    def fill_share(self, object_id: str) -> float:
        """Return 0: nothing is poured."""
        return 0.0

    def cloud(self, object_id: str) -> ObjectCloud:
        """Return points of the fitted solid."""
        self._known(object_id)
        return self._cloud

    def canonical(self, object_id: str) -> ObjectCloud:
        """Return points of the fitted solid."""
        return self.cloud(object_id)

    def close_up(self, object_id: str, center_m: Array, radius_m: float) -> ObjectCloud:
        """Return the points of the fitted solid around a place."""
        cloud = self.cloud(object_id)
        near = np.linalg.norm(cloud.points_m - np.asarray(center_m, float), axis=1) < radius_m
        return ObjectCloud(object_id, cloud.category, cloud.points_m[near], cloud.normals[near])

    def world_spec(self, *, exclude: tuple[str, ...] = (), targets: tuple[str, ...] = ()) -> WorldSpec:
        """Return fixtures, mapped objects and, unless excluded, the target where it is, in the arm's base frame."""
        bare = self._obstacles.without_target()
        if TARGET in exclude:
            return bare
        pose = self._pose_world_base.inverse() @ self._pose
        own = Obstacle(TARGET, pose, self._model.root.hulls)
        return WorldSpec((*bare.obstacles, own), frozenset(targets))

    def _known(self, object_id: str) -> None:
        if object_id != TARGET:
            raise UnknownNameError("object", object_id, (TARGET,))


class _NotAsked:
    """Regions and grasps come from elsewhere here."""

    name = "none"
    needs = SourceNeeds(region=False)

    def predict(self, cloud: ObjectCloud, query: AffordanceQuery) -> AffordanceMask:
        raise UsageError("no affordance model is asked on a shelf.")

    def sample(self, request: GraspRequest) -> GraspSet:
        raise UsageError("grasps of a shelf's target come from shelf.grasps.")


def skill_context(
    scene: PerceivedScene,
    *,
    arm: Arm,
    clock: Clock,
    gripper: GripperSpec,
    planner: PlanningBackend,
    verifier: MakeVerifier | None = None,
    rng: np.random.Generator | None = None,
    options: SkillOptions | None = None,
) -> SkillContext:
    """Return a skill context over a perceived shelf scene; what skills share of motions and releases works on it."""
    return SkillContext(
        arm=arm,
        clock=clock,
        gripper=gripper,
        planner=planner,
        scene=scene,
        affordance=_NotAsked(),
        grasp_source=_NotAsked(),
        rng=rng or np.random.default_rng(0),
        verifier=verifier,
        options=options or SkillOptions(),
    )
