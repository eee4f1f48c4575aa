"""Self-collision: which link pairs can touch at all, and which spheres block poses that are free."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array
from armwright.core.seeds import rng_for
from armwright.robots.kinematics import Ints, SphereSet

if TYPE_CHECKING:
    import mujoco

_POSES = 12_000
_FREE_POSES = 2_500
_NEAR_M = 0.004
_CHUNK = 250


def link_of_body(model: mujoco.MjModel, joints: list[int], body: int) -> int:
    """Return the chain link that a body moves with: 0 for the base, k behind joint k."""
    while body > 0:
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        for joint in range(first, first + count):
            if joint in joints:
                return joints.index(joint) + 1
        body = int(model.body_parentid[body])
    return 0


def self_contact(
    model: mujoco.MjModel, joints: list[int], limits_rad: Array, settled: Sequence[Array], seed: int
) -> tuple[Ints, Array]:
    """Sample poses within the limits with the gripper at each settled state.

    Returns:
        The (p, 2) link pairs that touch, or come within a few millimetres, in some pose; and (m, n) poses of the
        first settled state in which no two links touch.
    """
    import mujoco

    link = np.array([link_of_body(model, joints, int(body)) for body in model.geom_bodyid])
    addresses = model.jnt_qposadr[joints]
    rng = rng_for(seed, "robots.fit", "pairs")
    touching = np.zeros((len(joints) + 1, len(joints) + 1), bool)
    free: list[Array] = []
    data = mujoco.MjData(model)
    margins = model.geom_margin.copy()
    model.geom_margin[:] = _NEAR_M
    try:
        for state, qpos in enumerate(settled):
            data.qpos[:] = qpos
            for q in rng.uniform(limits_rad[:, 0], limits_rad[:, 1], (_POSES // len(settled), len(joints))):
                data.qpos[addresses] = q
                mujoco.mj_kinematics(model, data)
                mujoco.mj_comPos(model, data)
                mujoco.mj_collision(model, data)
                pairs = link[data.contact.geom]
                touching[pairs[:, 0], pairs[:, 1]] = True
                if state == 0 and len(free) < _FREE_POSES:
                    apart = pairs[:, 0] != pairs[:, 1]
                    if not (apart & (data.contact.dist < 0)).any():
                        free.append(q)
    finally:
        model.geom_margin[:] = margins
    touching |= touching.T
    return np.argwhere(np.triu(touching, 1)).astype(np.int32), np.array(free).reshape(-1, len(joints))


def blocking_spheres(
    offset: Array, spheres: SphereSet, self_pairs: Ints, free_rad: Array, *, allowed: float
) -> NDArray[np.int64]:
    """Find the spheres to tighten so that self-collision blocks fewer free poses.

    Args:
        offset: (n, 4, 4) chain constants.
        spheres: The spheres now.
        self_pairs: (p, 2) link pairs to test.
        free_rad: (m, n) poses that the exact geometry calls free.
        allowed: Share of the poses that may stay blocked.

    Returns:
        Indices of few spheres which, between them, have a part in enough of the wrongly blocked poses; empty if no
        more than ``allowed`` are blocked.
    """
    involved = np.concatenate(
        [
            _involved(offset, spheres, self_pairs, free_rad[first : first + _CHUNK])
            for first in range(0, len(free_rad), _CHUNK)
        ]
    )
    blocked = involved.any(axis=1)
    budget = allowed * len(free_rad)
    chosen: list[int] = []
    left = involved[blocked]
    while len(left) > 0.5 * budget and blocked.sum() > budget:
        best = int(left.sum(axis=0).argmax())
        chosen.append(best)
        left = left[~left[:, best]]
    return np.asarray(chosen, dtype=np.int64)


def _involved(offset: Array, spheres: SphereSet, self_pairs: Ints, poses_rad: Array) -> NDArray[np.bool_]:
    """Return (m, s): whether each sphere overlaps one of another tested link in each pose."""
    frames = chain_frames(offset, poses_rad)[:, spheres.link]
    centers = np.einsum("psij,sj->psi", frames[..., :3, :3], spheres.center_m) + frames[..., :3, 3]
    involved = np.zeros(centers.shape[:2], bool)
    for a, b in self_pairs:
        first, second = np.flatnonzero(spheres.link == a), np.flatnonzero(spheres.link == b)
        if len(first) == 0 or len(second) == 0:
            continue
        p, q = centers[:, first], centers[:, second]
        square = (p * p).sum(-1)[:, :, None] + (q * q).sum(-1)[:, None] - 2 * p @ q.transpose(0, 2, 1)
        overlap = square < (spheres.radius_m[first][:, None] + spheres.radius_m[second]) ** 2
        involved[:, first] |= overlap.any(axis=2)
        involved[:, second] |= overlap.any(axis=1)
    return involved


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
