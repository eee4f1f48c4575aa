"""The scene source `oracle`: poses, clouds and collision meshes taken from the simulator's truth (AffordSim §3.2)."""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from functools import lru_cache

import numpy as np

from armwright.affordance.protocol import ObjectCloud
from armwright.assets.cloud import LabelledCloud, sample_cloud, surface_m2
from armwright.assets.contents import in_cavity
from armwright.assets.model import ObjectModel
from armwright.assets.parts import is_seated, loose_lids, owner_of, part_id, part_model, without
from armwright.core.errors import UnknownNameError
from armwright.core.pose import Array, Pose
from armwright.core.seeds import rng_for
from armwright.planning.types import Obstacle, WorldSpec
from armwright.sim._stage import TABLE, TableShape
from armwright.sim.build import model_digest
from armwright.sim.world import World

_CLOUD_POINTS = 8192
# A close look has this density [1/m^2]: a pad of 2 cm then meets 20 points.
_CLOSE_DENSITY = 5e4
_CLOSE_POINTS = 100_000
_CLOUDS: weakref.WeakKeyDictionary[ObjectModel, dict[int, LabelledCloud]] = weakref.WeakKeyDictionary()


def world_spec(world: World, *, exclude: Iterable[str] = (), targets: Iterable[str] = ()) -> WorldSpec:
    """Return what the planner must avoid, in the arm's base frame, as it truly stands now.

    A link that moves against the rest (a drawer, a lid) is an obstacle of its own, named ``id/link``.

    Args:
        world: The world.
        exclude: Ids to leave out, with all their links that go along when they are lifted; a loose link's own id
            (`assets.parts.part_id`) leaves out that link alone.
        targets: Ids that may be ignored on request, all their links with them.

    Raises:
        UnknownNameError: There is no such object.
    """
    skipped, wanted = _checked(world, tuple(exclude)), _checked(world, tuple(targets))
    pose_base_world = world.arm.pose_world_base.inverse()
    obstacles: list[Obstacle] = []
    names: set[str] = set()
    if TABLE not in skipped:
        obstacles.append(table_obstacle(world.table, pose_base_world))
    if TABLE in wanted:
        names.add(TABLE)
    for object_id, model in world.objects.items():
        stays = model.left_behind | lids_off(world, object_id) if object_id in skipped else frozenset()
        for link in model.links:
            name = object_id if link is model.root else part_id(object_id, link.name)
            if not link.hulls or name in skipped or (object_id in skipped and link.name not in stays):
                continue
            pose = pose_base_world @ world.truth.pose(object_id, link.name)
            obstacles.append(Obstacle(name, pose, link.hulls))
            if object_id in wanted or name in wanted:
                names.add(name)
    return WorldSpec(tuple(obstacles), frozenset(names))


def table_obstacle(table: TableShape | None = None, pose_base_world: Pose | None = None) -> Obstacle:
    """Return the table as the planner sees it: the usual one, the arm's base at the origin, unless told otherwise."""
    return Obstacle(TABLE, pose_base_world or Pose(), _table_hulls(table or TableShape()))


def lids_off(world: World, object_id: str) -> frozenset[str]:
    """Return the names of an object's loose lids that are not on their seat now."""
    truth = world.truth
    return frozenset(
        link.name
        for link in loose_lids(world.objects[object_id])
        if not is_seated(link, truth.pose(object_id).inverse() @ truth.pose(object_id, link.name))
    )


def object_cloud(
    world: World, object_id: str, *, n: int = _CLOUD_POINTS, rng: np.random.Generator | None = None
) -> ObjectCloud:
    """Return labelled points of an object in its own frame, with its links where they truly are.

    Args:
        world: The world.
        object_id: Which object.
        n: Number of points.
        rng: Source of randomness; None draws the same points for the same model every time, and keeps them.

    Raises:
        UnknownNameError: There is no such object.
    """
    if object_id not in world.objects:
        raise UnknownNameError("object", object_id, world.objects)
    model = world.objects[object_id]
    cloud = _cloud(model, n) if rng is None else sample_cloud(model, n, rng=rng)
    points, normals = cloud.points_m, cloud.normals
    root = world.truth.pose(object_id)
    for link in model.links[1:]:
        moved = root.inverse() @ world.truth.pose(object_id, link.name)
        if moved.distance_to(Pose()) > 1e-6 or moved.angle_to(Pose()) > 1e-6:
            points, normals = _moved(points, normals, cloud.link == link.name, moved)
    return ObjectCloud(object_id, model.category, points, normals, cloud.part, cloud.link)


class OracleSource:
    """The scene as it truly is; named in every record that used it.

    A lid that is off its seat is a thing of its own, ``id/link``, and no longer a part of what it belongs to. On its
    seat it can be asked for by that id as well.

    Args:
        world: The world to read.
    """

    name = "oracle"

    def __init__(self, world: World) -> None:
        self._world = world

    def objects(self) -> tuple[str, ...]:
        """Return the ids of all objects."""
        ids = self._world.objects
        return (*ids, *(part_id(one, link) for one in ids for link in sorted(lids_off(self._world, one))))

    def pose_world(self, object_id: str) -> Pose:
        """Return the pose of an object's root in the world."""
        owner, link = owner_of(object_id)
        return self._world.truth.pose(owner, link or "base")

    def pose_world_link(self, object_id: str, link: str) -> Pose:
        """Return the pose of a link in the world; it is the root's while the link's joint is at 0."""
        return self._world.truth.pose(object_id, link)

    def joint(self, object_id: str, link: str) -> float:
        """Return the value of a link's joint [m or rad], 0 for a link that has none."""
        return self._world.truth.joint(object_id, link)

    def model(self, object_id: str) -> ObjectModel:
        """Return an object's model."""
        owner, link = owner_of(object_id)
        if owner not in self._world.objects:
            raise UnknownNameError("object", object_id, self._world.objects)
        model = self._world.objects[owner]
        return part_model(model, link) if link else without(model, lids_off(self._world, owner))

    def mass_kg(self, object_id: str) -> float:
        """Return what the hand carries when it lifts an object, with its contents [kg]."""
        owner, link = owner_of(object_id)
        return self._world.truth.mass_kg(owner, link=link or None)

    def fill_share(self, object_id: str) -> float:
        """Return the share of what a vessel held at the start that it still holds; 0 for one that was empty.

        Truth that no camera sees: beads are counted where the simulator has them.
        """
        beads = self._world.truth.contents(object_id)
        if len(beads) == 0:
            return 0.0
        local = self._world.truth.pose(object_id).inverse().transform(beads)
        return float(in_cavity(self.model(object_id), local).mean())

    def cloud(self, object_id: str) -> ObjectCloud:
        """Return labelled points of an object, in its frame."""
        return self._cloud(object_id, _CLOUD_POINTS)

    def canonical(self, object_id: str) -> ObjectCloud:
        """Return labelled points of a whole object as it was made, lids on their seats, in its frame."""
        model = self._world.objects[owner_of(object_id)[0]]
        made = _cloud(model, _CLOUD_POINTS)
        return ObjectCloud(object_id, model.category, made.points_m, made.normals, made.part, made.link)

    def close_up(self, object_id: str, center_m: Array, radius_m: float) -> ObjectCloud:
        """Return dense labelled points of an object around a place in its frame: large things have small handles."""
        model = self.model(object_id)
        cloud = self._cloud(object_id, min(_CLOSE_POINTS, max(_CLOUD_POINTS, int(_CLOSE_DENSITY * surface_m2(model)))))
        near = np.linalg.norm(cloud.points_m - np.asarray(center_m, float), axis=1) < radius_m
        part, link = cloud.part, cloud.link
        assert part is not None and link is not None
        return ObjectCloud(object_id, cloud.category, cloud.points_m[near], cloud.normals[near], part[near], link[near])

    def _cloud(self, any_id: str, n: int) -> ObjectCloud:
        owner, link = owner_of(any_id)
        category = self.model(any_id).category
        if link:
            lid = _cloud(self.model(any_id), n)
            return ObjectCloud(any_id, category, lid.points_m, lid.normals, lid.part, lid.link)
        cloud = object_cloud(self._world, owner, n=n)
        off = lids_off(self._world, owner)
        if not off or cloud.link is None or cloud.part is None:
            return cloud
        own = ~np.isin(cloud.link, list(off))
        return ObjectCloud(owner, category, cloud.points_m[own], cloud.normals[own], cloud.part[own], cloud.link[own])

    def world_spec(self, *, exclude: tuple[str, ...] = (), targets: tuple[str, ...] = ()) -> WorldSpec:
        """Return what the planner must avoid."""
        return world_spec(self._world, exclude=exclude, targets=targets)


def _checked(world: World, ids: tuple[str, ...]) -> frozenset[str]:
    known = {*world.objects, TABLE}
    known |= {part_id(one, link.name) for one, model in world.objects.items() for link in loose_lids(model)}
    for object_id in ids:
        if object_id not in known:
            raise UnknownNameError("object", object_id, known)
    return frozenset(ids)


def _cloud(model: ObjectModel, n: int) -> LabelledCloud:
    kept = _CLOUDS.setdefault(model, {})
    if n not in kept:
        kept[n] = sample_cloud(model, n, rng=rng_for(0, "sim", "cloud", model_digest(model)))
    return kept[n]


def _moved(points: Array, normals: Array, rows: np.ndarray, pose: Pose) -> tuple[Array, Array]:
    points, normals = points.copy(), normals.copy()
    points[rows] = pose.transform(points[rows])
    normals[rows] = pose.rotate(normals[rows])
    return points, normals


@lru_cache(maxsize=16)
def _table_hulls(table: TableShape) -> tuple[Array, ...]:
    """Return the table's one hull: the same arrays every time, for those who know shapes by identity."""
    (x, y), (hx, hy) = table.center_m, table.half_extents_m
    corners = [[x + sx * hx, y + sy * hy, z] for sx in (-1, 1) for sy in (-1, 1) for z in (0.0, -table.thickness_m)]
    return (np.array(corners),)
