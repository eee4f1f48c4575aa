"""Forward kinematics kernels; a link's frame is the upper three rows of its homogeneous matrix."""

from __future__ import annotations

import math

from armwright.planning._jit import F64, Floats, pure_kernel


@pure_kernel
def link_frames(offset: Floats, q: Floats, frame: Floats) -> None:
    """Fill frame (n + 1, 3, 4) of every link in the base frame at q (n,); offset is (n, 3 or 4, 4)."""
    for i in range(3):
        for j in range(4):
            frame[0, i, j] = 1.0 if i == j else 0.0
    for k in range(q.shape[0]):
        s = math.sin(q[k])
        c = math.cos(q[k])
        for i in range(3):
            r0 = frame[k, i, 0]
            r1 = frame[k, i, 1]
            r2 = frame[k, i, 2]
            x = r0 * offset[k, 0, 0] + r1 * offset[k, 1, 0] + r2 * offset[k, 2, 0]
            y = r0 * offset[k, 0, 1] + r1 * offset[k, 1, 1] + r2 * offset[k, 2, 1]
            frame[k + 1, i, 0] = c * x + s * y
            frame[k + 1, i, 1] = c * y - s * x
            frame[k + 1, i, 2] = r0 * offset[k, 0, 2] + r1 * offset[k, 1, 2] + r2 * offset[k, 2, 2]
            frame[k + 1, i, 3] = frame[k, i, 3] + r0 * offset[k, 0, 3] + r1 * offset[k, 1, 3] + r2 * offset[k, 2, 3]


@pure_kernel
def tool_poses(offset: F64, tool: F64, q: F64, frame: F64, out: F64) -> None:
    """Fill out (b, 4, 4), the tool frame in the base frame at q (b, n); frame (n + 1, 3, 4) is scratch."""
    n = q.shape[1]
    for b in range(q.shape[0]):
        link_frames(offset, q[b], frame)
        for i in range(3):
            for j in range(4):
                value = frame[n, i, 3] if j == 3 else 0.0
                for k in range(3):
                    value += frame[n, i, k] * tool[k, j]
                out[b, i, j] = value
            out[b, 3, i] = 0.0
        out[b, 3, 3] = 1.0


@pure_kernel
def copy_row(source: Floats, out: Floats) -> None:
    """Copy (n,) to (n,), whatever the precision; slice assignment would compile its error messages too."""
    for j in range(source.shape[0]):
        out[j] = source[j]
