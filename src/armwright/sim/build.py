"""From a solved SceneSpec to an MjModel: stage, arm, objects; compiled once per set of instances, then only posed."""

from __future__ import annotations

import hashlib
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from armwright.assets.model import LinkModel, ObjectModel
from armwright.assets.scene import SceneSpec
from armwright.core.errors import UsageError
from armwright.core.pose import Pose
from armwright.sim._contents import CONTENTS, add_contents, index_contents, place_contents
from armwright.sim._printed import add_printed_mesh, printed_material
from armwright.sim._stage import TABLE, TableShape, add_stage

if TYPE_CHECKING:
    from armwright.robots.bake import BakedRobot
    from armwright.robots.station import Lamp

ARM_PREFIX = "arm/"
_KEPT_MODELS = 8


# Radius of a small contact patch, which resists turning on the spot.
TORSION_M = 0.005


@dataclass(frozen=True)
class PhysicsOptions:
    """How the world is integrated; the defaults were chosen by measured creep and speed.

    Attributes:
        timestep_s: Physics step.
        impratio: Friction-to-normal impedance ratio: below 10, held objects creep.
        noslip_iterations: Iterations of the solver that removes the slow slip of regularised friction. A held 300 g
            box creeps 7 micrometres per second without it, 0.7 with three iterations, at a tenth of the speed.
        solref_s: Time constant of contacts between objects.
        sleep_m_s: Objects slower than this for ten steps are left out of the integration until something touches
            them; 0 never does. Small enough that a tipping object is not frozen on its edge.
        plane_table: Collide with an endless plane instead of the table's box.
    """

    timestep_s: float = 0.002
    impratio: float = 10.0
    noslip_iterations: int = 0
    solref_s: float = 0.008
    sleep_m_s: float = 2e-4
    plane_table: bool = False


@dataclass(frozen=True)
class LinkIndex:
    """Where a link lives in the model's arrays.

    Attributes:
        object_id, link: Its names.
        body: Body id.
        qpos, dof: First address of its own joint, -1 if it has none.
        free: It moves freely (a root or a loose link).
        fixed: It is a static object's root, welded to the world.
    """

    object_id: str
    link: str
    body: int
    qpos: int
    dof: int
    free: bool
    fixed: bool


@dataclass(frozen=True, eq=False)
class BuiltScene:
    """A compiled model and the meaning of its numbers; shared, so a world writes to its own copy of the model.

    Attributes:
        model: The MjModel.
        objects: Object models by scene id.
        links: (object id, link name) -> where it lives.
        body_object: Scene id per body; ``table`` for the table, ``robot`` for the arm, ``floor`` for the world.
        body_link: Link name per body, empty where it has none.
        geom_part: Part name per geom, empty where it has none.
        contents: First qpos address of each bead, by the id of the vessel that it starts in.
    """

    model: Any
    objects: Mapping[str, ObjectModel]
    links: Mapping[tuple[str, str], LinkIndex]
    body_object: tuple[str, ...]
    body_link: tuple[str, ...]
    geom_part: tuple[str, ...]
    robot: BakedRobot
    pose_world_base: Pose
    contents: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)


@dataclass(eq=False)
class ModelCache:
    """The compiled models used last, by robot, station and instances."""

    capacity: int = _KEPT_MODELS
    _models: OrderedDict[str, BuiltScene] = field(default_factory=OrderedDict)

    def get(
        self,
        scene: SceneSpec,
        objects: Mapping[str, ObjectModel],
        robot: BakedRobot,
        *,
        pose_world_base: Pose,
        table: TableShape,
        options: PhysicsOptions,
        lamps: tuple[Lamp, ...] = (),
    ) -> BuiltScene:
        """Return the compiled model of these instances, building it if it is not at hand."""
        _check_ids(scene, objects)
        parts = [robot.digest, repr(pose_world_base.to_list()), repr(table), repr(options), repr(lamps)]
        parts += [f"{node.id}:{model_digest(objects[node.id])}:{node.contents}" for node in scene.objects]
        key = "|".join(parts)
        built = self._models.pop(key, None)
        if built is None:
            built = build_model(
                scene, objects, robot, pose_world_base=pose_world_base, table=table, options=options, lamps=lamps
            )
        self._models[key] = built
        while len(self._models) > self.capacity:
            self._models.popitem(last=False)
        return replace(built, objects={node.id: objects[node.id] for node in scene.objects})

    def clear(self) -> None:
        """Forget all models."""
        self._models.clear()


MODELS = ModelCache()


def build_model(
    scene: SceneSpec,
    objects: Mapping[str, ObjectModel],
    robot: BakedRobot,
    *,
    pose_world_base: Pose | None = None,
    table: TableShape | None = None,
    options: PhysicsOptions | None = None,
    lamps: tuple[Lamp, ...] = (),
    decorate: Callable[[Any], None] | None = None,
) -> BuiltScene:
    """Compile table, arm and objects into one model; every object still stands at the origin.

    Links become bodies named ``id`` (root) or ``id/link``, parts become visual geoms of group 2, hulls become
    collision geoms of group 3. Static objects are welded to the world; a world moves them by writing their body's pose
    into its own copy of the model. They are not mocap bodies, since those keep whatever rests on them awake.
    ``decorate`` may add to the ``MjSpec`` what changes neither bodies nor joints, such as textures.

    Raises:
        UsageError: An id is used twice, is reserved, or has no model.
    """
    import mujoco

    options = options or PhysicsOptions()
    base = pose_world_base or Pose()
    _check_ids(scene, objects)
    spec = _empty_spec(options)
    add_stage(spec, table or TableShape(), plane=options.plane_table, lamps=lamps)
    arm = mujoco.MjSpec.from_file(str(robot.xml_path))
    _set_options(arm, options)  # the arm's own options would be reported as a conflict
    frame = spec.worldbody.add_frame(pos=base.position_m, quat=base.quat_wxyz)
    frame.attach_body(arm.body("base"), ARM_PREFIX, "")
    for node in scene.objects:
        _add_object(spec, node.id, objects[node.id], options)
    # Beads come last, so that an object's numbers do not depend on what another holds.
    for node in scene.objects:
        if node.contents is not None:
            add_contents(spec, node.id, objects[node.id], node.contents, solref_s=options.solref_s)
    if decorate is not None:
        decorate(spec)
    model = spec.compile()
    return _index(model, scene, objects, robot, base)


def build_objects(scene: SceneSpec, objects: Mapping[str, ObjectModel]) -> tuple[Any, Any]:
    """Compile objects on a table without an arm, at the scene's poses, for pictures; return ``MjModel`` and ``MjData``.

    Raises:
        UsageError: An id is used twice, is reserved, has no model, or an object has no pose.
    """
    import mujoco

    _check_ids(scene, objects)
    options = PhysicsOptions()
    spec = _empty_spec(options)
    add_stage(spec, TableShape(), plane=options.plane_table)
    for node in scene.objects:
        if node.pose is None:
            raise UsageError(f"object {node.id!r} has no pose.", hint="Solve the scene first.")
        _add_object(spec, node.id, objects[node.id], options)
        for k, link in enumerate(objects[node.id].links):
            if k == 0 or (link.joint is None):
                body = spec.body(node.id if k == 0 else f"{node.id}/{link.name}")
                at = node.parts.get(link.name, node.pose)
                body.pos, body.quat = at.position_m, at.quat_wxyz
    model = spec.compile()
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    mujoco.mj_camlight(model, data)
    return model, data


def place_objects(built: BuiltScene, model: Any, data: Any, scene: SceneSpec) -> None:
    """Reset ``data`` and write the scene's poses and joint values: moving objects into it, static ones into ``model``.

    Raises:
        UsageError: The scene was not solved: an object has no pose.
    """
    import mujoco

    for node in scene.objects:
        if node.pose is None:
            raise UsageError(
                f"object {node.id!r} has no pose.", hint="Solve the scene before building a world from it."
            )
        root = built.links[node.id, built.objects[node.id].root.name]
        if root.fixed:
            model.body_pos[root.body], model.body_quat[root.body] = node.pose.position_m, node.pose.quat_wxyz
    # With sleeping enabled the poses of welded bodies are computed once, in the reset.
    mujoco.mj_resetData(model, data)
    for node in scene.objects:
        assert node.pose is not None
        placed = node.pose.to_pose()
        for link in built.objects[node.id].links:
            index = built.links[node.id, link.name]
            if index.free:
                at = node.parts[link.name].to_pose() if link.name in node.parts else placed
                data.qpos[index.qpos : index.qpos + 3] = at.position_m
                data.qpos[index.qpos + 3 : index.qpos + 7] = at.quat_wxyz
            elif index.qpos >= 0 and link.joint is not None:
                low, high = link.joint.range
                data.qpos[index.qpos] = min(max(node.joints.get(link.name, 0.0), low), high)
    place_contents(data, scene, built.objects, built.contents)


def model_digest(model: ObjectModel) -> str:
    """Return a hash of all that the compiled model depends on."""
    known = _DIGESTS.get(model)
    if known is None:
        known = _DIGESTS[model] = _digest(model)
    return known


_DIGESTS: weakref.WeakKeyDictionary[ObjectModel, str] = weakref.WeakKeyDictionary()


def _digest(model: ObjectModel) -> str:
    h = hashlib.blake2b(digest_size=12)
    h.update(repr((model.category, model.friction, model.rolling_m, model.static)).encode())
    for link in model.links:
        joint = link.joint
        moves = None if joint is None else (joint.kind, joint.range, joint.damping, joint.frictionloss)
        head = (link.name, link.parent, link.mass_kg, link.part_names, tuple(sorted(link.part_rgba.items())), moves)
        h.update(repr(head).encode())
        if joint is not None:
            h.update(np.asarray(joint.axis, float).tobytes() + np.asarray(joint.anchor_m, float).tobytes())
        printed = [a for name in sorted(link.surfaces) for a in (link.surfaces[name].image, link.surfaces[name].uv)]
        for array in (link.vertices_m, link.faces, link.face_part, *link.hulls, *printed):
            h.update(np.ascontiguousarray(array).tobytes())
    return h.hexdigest()


def _check_ids(scene: SceneSpec, objects: Mapping[str, ObjectModel]) -> None:
    seen: set[str] = set()
    for node in scene.objects:
        if node.id in seen or node.id in (TABLE, "floor", "robot", "world") or "/" in node.id:
            raise UsageError(f"object id {node.id!r} is taken, reserved, or contains a slash.")
        if node.id not in objects:
            raise UsageError(f"object {node.id!r} has no model.", hint=f"Models given: {', '.join(sorted(objects))}.")
        seen.add(node.id)


def _empty_spec(options: PhysicsOptions) -> Any:
    import mujoco

    spec = mujoco.MjSpec()
    spec.modelname = "armwright"
    spec.compiler.degree = False
    spec.compiler.autolimits = True
    _set_options(spec, options)
    spec.stat.extent = 1.5
    spec.stat.center = [0.4, 0.0, 0.2]
    v = spec.visual
    v.map.znear, v.map.zfar = 0.01, 8.0
    v.map.shadowclip, v.map.shadowscale = 1.4, 1.0  # the table and an arm's reach, no more
    v.quality.offsamples, v.quality.shadowsize = 0, 1024
    getattr(v, "global").offwidth, getattr(v, "global").offheight = 1280, 960
    return spec


def _set_options(spec: Any, options: PhysicsOptions) -> None:
    import mujoco

    o = spec.option
    o.timestep = options.timestep_s
    o.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    o.cone = mujoco.mjtCone.mjCONE_ELLIPTIC
    o.impratio = options.impratio
    o.noslip_iterations = options.noslip_iterations
    # A diverging world must be reported, not silently put back to its start.
    o.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET)
    if options.sleep_m_s > 0:
        o.enableflags |= int(mujoco.mjtEnableBit.mjENBL_SLEEP)
        o.sleep_tolerance = options.sleep_m_s


def _add_object(spec: Any, object_id: str, model: ObjectModel, options: PhysicsOptions) -> None:
    import mujoco

    bodies: dict[str, Any] = {}
    for k, link in enumerate(model.links):
        name = object_id if k == 0 else f"{object_id}/{link.name}"
        loose = k > 0 and link.joint is None
        parent = spec.worldbody if k == 0 or loose else bodies[link.parent or model.root.name]
        body = bodies[link.name] = parent.add_body(name=name)
        if loose or (k == 0 and not model.static):
            body.add_freejoint(name=name)
        elif link.joint is not None:
            _add_joint(body, name, link)
            # Bodies welded to the world escape MuJoCo's own parent-child filter.
            spec.add_exclude(bodyname1=parent.name, bodyname2=name)
        _set_inertia(body, link)
        for i, (part, mesh) in enumerate(_part_meshes(spec, name, link)):
            geom = body.add_geom(
                name=f"{name}#v{i}",
                type=mujoco.mjtGeom.mjGEOM_MESH,
                meshname=mesh,
                rgba=link.part_rgba[part],
                group=2,
                contype=0,
                conaffinity=0,
                mass=0.0,
            )
            if part in link.surfaces:
                # A geom's own colour would tint what is printed.
                geom.material, geom.rgba = printed_material(spec, link.surfaces[part]), [1.0, 1.0, 1.0, 1.0]
        for i, hull in enumerate(link.hulls):
            spec.add_mesh(name=f"{name}#c{i}", uservert=np.asarray(hull, float).ravel())
            geom = body.add_geom(
                name=f"{name}#c{i}",
                type=mujoco.mjtGeom.mjGEOM_MESH,
                meshname=f"{name}#c{i}",
                rgba=link.part_rgba.get(link.hull_part[i], (0.7, 0.7, 0.7, 1.0)),
                group=3,
                condim=6,
                friction=[model.friction, TORSION_M, model.rolling_m],
                mass=0.0,
            )
            geom.solref[0] = options.solref_s


def _add_joint(body: Any, name: str, link: LinkModel) -> None:
    import mujoco

    joint = link.joint
    assert joint is not None
    kinds = {"slide": mujoco.mjtJoint.mjJNT_SLIDE, "hinge": mujoco.mjtJoint.mjJNT_HINGE}
    body.add_joint(
        name=name,
        type=kinds[joint.kind],
        axis=joint.axis,
        pos=joint.anchor_m,
        range=joint.range,
        limited=mujoco.mjtLimited.mjLIMITED_TRUE,
        damping=[joint.damping, 0.0, 0.0],
        frictionloss=joint.frictionloss,
    )


def _set_inertia(body: Any, link: LinkModel) -> None:
    from armwright.assets.export import link_inertia

    center, inertia = link_inertia(link)
    full = np.asarray(inertia, float)
    body.mass = link.mass_kg
    body.ipos = center
    body.fullinertia = [full[0, 0], full[1, 1], full[2, 2], full[0, 1], full[0, 2], full[1, 2]]
    body.explicitinertial = True


def _part_meshes(spec: Any, name: str, link: LinkModel) -> Iterator[tuple[str, str]]:
    """Add one mesh per part and yield the names of both."""
    import mujoco

    for p, part in enumerate(link.part_names):
        faces = link.faces[link.face_part == p]
        if len(faces) == 0:
            continue
        mesh = f"{name}#v{p}"
        shell = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        if part in link.surfaces:
            add_printed_mesh(spec, mesh, link.vertices_m[faces], link.surfaces[part], inertia=shell)
            yield part, mesh
            continue
        used, local = np.unique(faces, return_inverse=True)
        spec.add_mesh(
            name=mesh,
            uservert=np.asarray(link.vertices_m[used], float).ravel(),
            userface=local.astype(np.int32).ravel(),
            inertia=shell,
        )
        yield part, mesh


def _index(
    model: Any, scene: SceneSpec, objects: Mapping[str, ObjectModel], robot: BakedRobot, base: Pose
) -> BuiltScene:
    links: dict[tuple[str, str], LinkIndex] = {}
    owner = ["floor"] * model.nbody
    link_name = [""] * model.nbody
    parts = [""] * model.ngeom
    for b in range(1, model.nbody):
        name = model.body(b).name
        if name == TABLE:
            owner[b] = TABLE
        elif name.startswith(ARM_PREFIX):
            owner[b] = "robot"
    for node in scene.objects:
        for k, link in enumerate(objects[node.id].links):
            b = int(model.body(node.id if k == 0 else f"{node.id}/{link.name}").id)
            has = int(model.body_jntnum[b]) > 0
            joint = int(model.body_jntadr[b])
            links[node.id, link.name] = LinkIndex(
                object_id=node.id,
                link=link.name,
                body=b,
                qpos=int(model.jnt_qposadr[joint]) if has else -1,
                dof=int(model.jnt_dofadr[joint]) if has else -1,
                free=has and link.joint is None,
                fixed=k == 0 and not has,
            )
            owner[b], link_name[b] = node.id, link.name
            first = int(model.body_geomadr[b])
            for g in range(first, first + int(model.body_geomnum[b])):
                tag = model.geom(g).name.rpartition("#")[2]
                if tag[:1] == "c":
                    parts[g] = link.hull_part[int(tag[1:])]
        if node.contents is not None:
            for bead in range(node.contents.count):
                owner[int(model.body(f"{node.id}/{CONTENTS}/{bead}").id)] = f"{node.id}/{CONTENTS}"
    held = index_contents(model, scene)
    return BuiltScene(model, dict(objects), links, tuple(owner), tuple(link_name), tuple(parts), robot, base, held)
