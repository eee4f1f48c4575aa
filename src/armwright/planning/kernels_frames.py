"""Forward kinematics kernels."""

from __future__ import annotations

import math

from armwright.planning._jit import F64, Floats, kernel


@kernel
def link_frames(offset: Floats, q: Floats, rotation: Floats, position: Floats) -> None:
    """Fill rotation (n + 1, 3, 3) and position (n + 1, 3) of every link in the base frame at ``q`` (n,)."""
    for i in range(3):
        position[0, i] = 0.0
        for j in range(3):
            rotation[0, i, j] = 1.0 if i == j else 0.0
    for k in range(q.shape[0]):
        s = math.sin(q[k])
        c = math.cos(q[k])
        for i in range(3):
            r0 = rotation[k, i, 0]
            r1 = rotation[k, i, 1]
            r2 = rotation[k, i, 2]
            x = r0 * offset[k, 0, 0] + r1 * offset[k, 1, 0] + r2 * offset[k, 2, 0]
            y = r0 * offset[k, 0, 1] + r1 * offset[k, 1, 1] + r2 * offset[k, 2, 1]
            rotation[k + 1, i, 0] = c * x + s * y
            rotation[k + 1, i, 1] = c * y - s * x
            rotation[k + 1, i, 2] = r0 * offset[k, 0, 2] + r1 * offset[k, 1, 2] + r2 * offset[k, 2, 2]
            position[k + 1, i] = position[k, i] + r0 * offset[k, 0, 3] + r1 * offset[k, 1, 3] + r2 * offset[k, 2, 3]


@kernel
def tool_poses(offset: F64, tool: F64, q: F64, rotation: F64, position: F64, out: F64) -> None:
    """Fill out (b, 4, 4), the tool frame in the base frame at q (b, n)."""
    n = q.shape[1]
    for b in range(q.shape[0]):
        link_frames(offset, q[b], rotation, position)
        for i in range(3):
            for j in range(4):
                value = position[n, i] if j == 3 else 0.0
                for k in range(3):
                    value += rotation[n, i, k] * tool[k, j]
                out[b, i, j] = value
            out[b, 3, i] = 0.0
        out[b, 3, 3] = 1.0
