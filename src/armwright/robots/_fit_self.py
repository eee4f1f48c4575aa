"""Self-collision: which link pairs can touch at all, and how far their spheres overlap before they do."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armwright.core.pose import Array
from armwright.core.seeds import rng_for
from armwright.robots.kinematics import Ints, SphereSet

if TYPE_CHECKING:
    import mujoco

_POSES = 24_000
_MARGIN_M = 0.001
_SHALLOW_M = 0.004
_CHUNK = 100
_SAFETY_M = 0.0005
_TRUST_NEAR = 0.95
_TRUST_FAR = 0.75


@dataclass(frozen=True, eq=False)
class SelfContact:
    """Which links touch in which poses, sampled with exact geometry.

    Attributes:
        pairs: (p, 2) link pairs that touch in some pose.
        poses_rad: Per pair, per settled gripper state: (h, n) poses in which the pair just touches, or nearly does.
    """

    pairs: Ints
    poses_rad: tuple[tuple[Array, ...], ...]


def link_of_body(model: mujoco.MjModel, joints: list[int], body: int) -> int:
    """Return the chain link that a body moves with: 0 for the base, k behind joint k."""
    while body > 0:
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        for joint in range(first, first + count):
            if joint in joints:
                return joints.index(joint) + 1
        body = int(model.body_parentid[body])
    return 0


def sample_self_contact(
    model: mujoco.MjModel, joints: list[int], limits_rad: Array, settled: Sequence[Array], seed: int
) -> SelfContact:
    """Draw poses within the limits, with the gripper at each settled state, and note which links touch."""
    import mujoco

    link = np.array([link_of_body(model, joints, int(body)) for body in model.geom_bodyid])
    addresses = model.jnt_qposadr[joints]
    rng = rng_for(seed, "robots.fit", "pairs")
    touching = set[tuple[int, int]]()
    found: dict[tuple[int, int], list[list[Array]]] = {}
    data = mujoco.MjData(model)
    margins = model.geom_margin.copy(), model.body_margin.copy()
    model.geom_margin[:] = _MARGIN_M
    model.body_margin[:] = _MARGIN_M
    try:
        for state, qpos in enumerate(settled):
            data.qpos[:] = qpos
            for q in rng.uniform(limits_rad[:, 0], limits_rad[:, 1], (_POSES // len(settled), len(joints))):
                data.qpos[addresses] = q
                mujoco.mj_kinematics(model, data)
                mujoco.mj_comPos(model, data)
                mujoco.mj_collision(model, data)
                nearest: dict[tuple[int, int], float] = {}
                for (a, b), distance in zip(link[data.contact.geom].tolist(), data.contact.dist, strict=True):
                    pair = (min(a, b), max(a, b))
                    nearest[pair] = min(nearest.get(pair, np.inf), float(distance))
                for pair, distance in nearest.items():
                    if pair[0] == pair[1]:
                        continue
                    if distance > -_SHALLOW_M:
                        found.setdefault(pair, [[] for _ in settled])[state].append(q)
                    if distance < 0:
                        touching.add(pair)
    finally:
        model.geom_margin[:], model.body_margin[:] = margins
    pairs = sorted(touching)
    none = [list[Array]() for _ in settled]
    poses = tuple(tuple(np.array(p).reshape(-1, len(joints)) for p in found.get(pair, none)) for pair in pairs)
    return SelfContact(np.array(pairs, np.int32).reshape(-1, 2), poses)


def self_slack(offset: Array, spheres: Sequence[SphereSet], contact: SelfContact) -> Array:
    """Return how far the spheres of each link pair may overlap without a contact [m], (p,).

    Spheres stick out of the geometry that they cover. In the sampled poses in which a pair just touches, its spheres
    overlap by some depth; up to the least of these, less a margin, an overlap is no contact. Links up to three joints
    apart have been sampled densely; of pairs farther apart less of the depth is trusted.

    Args:
        offset: (n, 4, 4) chain constants.
        spheres: The spheres at each settled gripper state.
        contact: The sampled contacts.
    """
    slack = np.zeros(len(contact.pairs))
    for k, (a, b) in enumerate(contact.pairs):
        depth = np.concatenate(
            [
                overlap(offset, at_state, (int(a), int(b)), poses[first : first + _CHUNK])
                for at_state, poses in zip(spheres, contact.poses_rad[k], strict=True)
                for first in range(0, len(poses), _CHUNK)
            ]
        )
        trust = _TRUST_NEAR if b - a <= 3 else _TRUST_FAR
        if len(depth):
            slack[k] = max(trust * float(depth.min()) - _SAFETY_M, 0.0)
    return slack


def overlap(offset: Array, spheres: SphereSet, pair: tuple[int, int], poses_rad: Array) -> Array:
    """Return the deepest overlap [m] between two links' spheres in each of (m, n) poses, (m,); negative if apart."""
    frames = chain_frames(offset, poses_rad)
    ends = []
    for link in pair:
        own = spheres.link == link
        rotation, origin = frames[:, link, :3, :3], frames[:, link, :3, 3]
        ends.append((spheres.center_m[own] @ rotation.transpose(0, 2, 1) + origin[:, None], spheres.radius_m[own]))
    (p, r), (q, s) = ends
    square = (p * p).sum(-1)[:, :, None] + (q * q).sum(-1)[:, None] - 2 * p @ q.transpose(0, 2, 1)
    depth = r[:, None] + s - np.sqrt(np.maximum(square, 0.0))
    return np.asarray(depth.max(axis=(1, 2)))


def chain_frames(offset: Array, poses_rad: Array) -> Array:
    """Return (m, n + 1, 4, 4) link frames in the base frame for (m, n) poses."""
    frame = np.tile(np.eye(4), (len(poses_rad), 1, 1))
    frames = [frame]
    for k in range(poses_rad.shape[1]):
        turn = np.tile(np.eye(4), (len(poses_rad), 1, 1))
        c, s = np.cos(poses_rad[:, k]), np.sin(poses_rad[:, k])
        turn[:, 0, 0], turn[:, 0, 1], turn[:, 1, 0], turn[:, 1, 1] = c, -s, s, c
        frame = frame @ offset[k] @ turn
        frames.append(frame)
    return np.stack(frames, axis=1)
