"""What is really so in a simulated world; judges, scoring and `oracle` fillings may ask, nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.pose import Array, Pose
from armwright.core.task import TABLE
from armwright.sim._armmap import ArmMap
from armwright.sim._contents import CONTENTS, contents_positions
from armwright.sim.build import LinkIndex
from armwright.sim.physics import Physics
from armwright.sim.shake import Shake

# What touches an object carries it if it pushes up with more than this share of its force, all contacts together.
_UPWARD = 0.3
# A welded object whose lowest point is this near the table top stands on it.
_AT_TABLE_M = 0.01
# Below this a contact only grazes [N].
_GRAZE_N = 1e-3


@dataclass(frozen=True, eq=False)
class Contact:
    """One touching point.

    Attributes:
        objects: Scene ids of the two sides; ``table``, ``floor`` and ``robot`` are ids too.
        links: Link names of the two sides, empty where there is none.
        parts: Part names of the two sides, empty where unknown.
        geoms: Names of the two collision geoms.
        position_world_m: (3,).
        normal_world: (3,) from the first side to the second.
        force_n: (3,) force on the second side, in the world.
        distance_m: Negative when the sides overlap.
    """

    objects: tuple[str, str]
    links: tuple[str, str]
    parts: tuple[str, str]
    geoms: tuple[str, str]
    position_world_m: Array
    normal_world: Array
    force_n: Array
    distance_m: float

    def of(self, object_id: str) -> int:
        """Return 0 or 1 for the side that is ``object_id``, -1 if neither is."""
        return self.objects.index(object_id) if object_id in self.objects else -1


class WorldTruth:
    """The only door to MuJoCo's model and data, and answers read off them."""

    def __init__(self, physics: Physics, arm: ArmMap) -> None:
        self._physics = physics
        self._arm = arm
        self._contacts: tuple[int, list[Contact]] | None = None
        self._geom_names = tuple(physics.model.geom(g).name for g in range(physics.model.ngeom))

    @property
    def model(self) -> Any:
        """The world's own ``MjModel``."""
        return self._physics.model

    @property
    def data(self) -> Any:
        """The live ``MjData``; its derived quantities are those of the last step, and sleepers have no contacts."""
        return self._physics.data

    @property
    def time_s(self) -> float:
        """World time [s]."""
        return self._physics.now_s

    @property
    def object_ids(self) -> tuple[str, ...]:
        """Ids of all objects."""
        return tuple(dict.fromkeys(object_id for object_id, _ in self._physics.built.links))

    def pose(self, object_id: str, link: str = "base") -> Pose:
        """Return the world pose of a link's frame; ``base`` is the root whatever its name.

        Raises:
            UnknownNameError: There is no such object or link.
        """
        index = self._link(object_id, link)
        data, model = self._physics.data, self._physics.model
        if index.free:
            return Pose(data.qpos[index.qpos : index.qpos + 3], data.qpos[index.qpos + 3 : index.qpos + 7])
        if index.fixed:
            return Pose(model.body_pos[index.body], model.body_quat[index.body])
        fresh = self._physics.fresh()
        return Pose(fresh.xpos[index.body], fresh.xquat[index.body])

    def contents(self, object_id: str) -> Array:
        """Return where the beads that started in an object are now, (k, 3) in the world; none for other objects."""
        self._known(object_id)
        addresses = self._physics.built.contents.get(object_id)
        return np.zeros((0, 3)) if addresses is None else contents_positions(self._physics.data, addresses)

    def joint(self, object_id: str, link: str) -> float:
        """Return the value of a link's joint [m or rad], 0 for one that has none."""
        index = self._link(object_id, link)
        return float(self._physics.data.qpos[index.qpos]) if index.qpos >= 0 and not index.free else 0.0

    def joint_speed(self, object_id: str, link: str) -> float:
        """Return the speed of a link's joint [m/s or rad/s], 0 for one that has none."""
        index = self._link(object_id, link)
        return float(self._physics.data.qvel[index.dof]) if index.dof >= 0 and not index.free else 0.0

    def velocity(self, object_id: str, link: str = "base") -> tuple[Array, Array]:
        """Return linear [m/s] and angular [rad/s] velocity (3,) of a link's frame in the world."""
        import mujoco

        index = self._link(object_id, link)
        if index.fixed:
            return np.zeros(3), np.zeros(3)
        if index.free:
            v = self._physics.data.qvel[index.dof : index.dof + 6]
            return v[:3].copy(), self.pose(object_id, link).rotate(v[3:])
        out = np.zeros(6)
        body = int(mujoco.mjtObj.mjOBJ_XBODY)
        mujoco.mj_objectVelocity(self._physics.model, self._physics.fresh(), body, index.body, out, 0)
        return out[3:], out[:3]

    def contacts(self) -> list[Contact]:
        """Return all contacts of the present moment, with those between sleeping objects."""
        if self._contacts is None or self._contacts[0] != self._physics.version:
            self._contacts = (self._physics.version, list(self._read_contacts()))
        return self._contacts[1]

    def pad_contacts(self, object_id: str) -> dict[str, Array]:
        """Return where the pads touch an object: link name -> (k, 3) positions in that link's frame.

        Link frames coincide with the object's frame at joint 0, so positions can be looked up on the object's model.
        """
        import mujoco

        pads = {
            mujoco.mj_id2name(self._physics.model, mujoco.mjtObj.mjOBJ_GEOM, int(g)) for s in self._arm.pads for g in s
        }
        found: dict[str, list[Array]] = {}
        for contact in self.contacts():
            side = contact.of(object_id)
            if side >= 0 and contact.geoms[1 - side] in pads and np.linalg.norm(contact.force_n) > _GRAZE_N:
                link = contact.links[side]
                local = self.pose(object_id, link).inverse().transform(contact.position_world_m)
                found.setdefault(link, []).append(local)
        return {link: np.array(points) for link, points in found.items()}

    def supported_by(self, object_id: str) -> frozenset[str]:
        """Return the ids of what pushes the object up by touching it; never the robot, nor what it holds.

        Steep walls all around, such as those of the cup that another is stuck in, carry together: what they push
        sideways cancels.
        """
        self._known(object_id)
        total: dict[str, Array] = {}
        apart = self._left_behind(object_id)
        for contact in self.contacts():
            side = contact.of(object_id)
            if side < 0 or contact.objects[0] == contact.objects[1] or contact.links[side] in apart:
                continue
            other = contact.objects[1 - side]
            on_object = contact.force_n if side == 1 else -contact.force_n
            if other not in ("robot", f"{object_id}/{CONTENTS}"):
                total[other] = total.get(other, np.zeros(3)) + on_object
        below = {other for other, force_n in total.items() if _carries(force_n)}
        if self._link(object_id, "base").fixed:
            # What is welded to the world rests on the table without a contact.
            low = self._physics.built.objects[object_id].bounds_m[0][2]
            if abs(float(self.pose(object_id).position_m[2] + low)) < _AT_TABLE_M:
                below.add(TABLE)
        return frozenset(below)

    def _left_behind(self, object_id: str) -> frozenset[str]:
        """Links of an object that it no longer stands on, such as the stand of a kettle that was lifted off."""
        loose = self._physics.built.objects[object_id].left_behind
        if not loose:
            return loose
        own = [c for c in self.contacts() if c.objects == (object_id, object_id)]
        return frozenset(link for link in loose if not any(link in c.links for c in own))

    def mass_kg(self, object_id: str, *, link: str | None = None) -> float:
        """Return the mass of an object and of what it held at the start; not of the links that it leaves behind.

        Args:
            object_id: Which object.
            link: Only that of this link.
        """
        self._known(object_id)
        built, mass = self._physics.built, self._physics.model.body_mass
        if link is not None:
            return float(mass[self._link(object_id, link).body])
        stays = built.objects[object_id].left_behind
        own = (object_id, f"{object_id}/{CONTENTS}")
        carried = (b for b, owner in enumerate(built.body_object) if owner in own and built.body_link[b] not in stays)
        return float(sum(mass[b] for b in carried))

    def is_held(self, object_id: str) -> bool:
        """Say whether the pads of both sides press on the object."""
        self._known(object_id)
        reading = self._arm.readings(self._physics.fresh())
        return object_id in reading.held and reading.grip_n > _GRAZE_N

    def touched_by_robot(self, object_id: str) -> bool:
        """Say whether any part of the robot touches the object."""
        self._known(object_id)
        return any(object_id in c.objects and "robot" in c.objects for c in self.contacts())

    def touching(self, object_id: str) -> frozenset[str]:
        """Return the ids of everything that presses on the object, its own contents aside."""
        self._known(object_id)
        own = (object_id, f"{object_id}/{CONTENTS}")
        pressed = [c for c in self.contacts() if object_id in c.objects and np.linalg.norm(c.force_n) > _GRAZE_N]
        return frozenset(name for c in pressed for name in c.objects if name not in own)

    def shake(self, object_id: str) -> Shake:
        """Shake an object from now on, and return the shake: a replay has to `schedule` the same."""
        shake = Shake(object_id, self._physics.now_s)
        self.schedule(shake)
        return shake

    def schedule(self, shake: Shake) -> None:
        """Shake an object when its time comes; a reset of the world forgets it.

        Raises:
            UnknownNameError: There is no such object.
            UsageError: The object is fixed.
        """
        index = self._link(shake.object_id, "base")
        if index.fixed:
            raise UsageError(f"{shake.object_id} is fixed and cannot be shaken.", hint="Shake something that is free.")
        self._physics.schedule(shake, index.body)

    def robot_contacts(self) -> frozenset[str]:
        """Return the ids of everything that the robot touches; spilled contents do not count."""
        built, data = self._physics.built, self._physics.fresh()
        geoms = data.contact.geom
        owners = built.body_object
        bodies = self._physics.model.geom_bodyid[geoms[(geoms >= 0).all(1)]]
        pairs = {(owners[a], owners[b]) for a, b in bodies.tolist()}
        touched = {name for pair in pairs if "robot" in pair for name in pair}
        return frozenset(name for name in touched if name != "robot" and not name.endswith(f"/{CONTENTS}"))

    def _read_contacts(self) -> Iterator[Contact]:
        built, model, data = self._physics.built, self._physics.model, self._physics.fresh()
        contact = data.contact
        for i in range(data.ncon):
            a, b = (int(g) for g in contact.geom[i])
            if a < 0 or b < 0:
                continue
            bodies = int(model.geom_bodyid[a]), int(model.geom_bodyid[b])
            frame = contact.frame[i].reshape(3, 3)
            start, size = int(contact.efc_address[i]), min(int(contact.dim[i]), 3)
            force = data.efc_force[start : start + size] @ frame[:size] if start >= 0 else np.zeros(3)
            yield Contact(
                objects=(built.body_object[bodies[0]], built.body_object[bodies[1]]),
                links=(built.body_link[bodies[0]], built.body_link[bodies[1]]),
                parts=(built.geom_part[a], built.geom_part[b]),
                geoms=(self._geom_names[a], self._geom_names[b]),
                position_world_m=contact.pos[i].copy(),
                normal_world=frame[0].copy(),
                force_n=np.asarray(force),
                distance_m=float(contact.dist[i]),
            )

    def _known(self, object_id: str) -> None:
        if object_id not in self._physics.built.objects:
            raise UnknownNameError("object", object_id, self.object_ids)

    def _link(self, object_id: str, link: str) -> LinkIndex:
        self._known(object_id)
        links = self._physics.built.links
        found = links.get((object_id, link))
        if found is None and link == "base":
            found = links[object_id, self._physics.built.objects[object_id].root.name]
        if found is None:
            raise UnknownNameError(f"link of {object_id}", link, [name for owner, name in links if owner == object_id])
        return found


def _carries(force_n: Array) -> bool:
    """Tell whether a force (3,) on an object is more than a graze and pushes up rather than aside."""
    size = float(np.linalg.norm(force_n))
    return size > _GRAZE_N and float(force_n[2]) > _UPWARD * size
