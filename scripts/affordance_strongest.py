"""The strongest of what a point's neighbours say, with its gradient, compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numba import njit
from torch import Tensor


@njit(cache=True, fastmath=True)
def _forward(values, near, at, center, weight, scale, out, arg):  # type: ignore[no-untyped-def]  # pragma: no cover
    width = values.shape[2]
    for b in range(near.shape[0]):
        for i in range(near.shape[1]):
            best, which = out[b, i], arg[b, i]
            best[:] = np.float32(-1e30)
            for j in range(near.shape[2]):
                q = near[b, i, j]
                x = (at[b, q, 0] - center[b, i, 0]) * scale
                y = (at[b, q, 1] - center[b, i, 1]) * scale
                z = (at[b, q, 2] - center[b, i, 2]) * scale
                r = np.sqrt(x * x + y * y + z * z)
                said = values[b, q]
                for c in range(width):
                    edge = said[c] + x * weight[0, c] + y * weight[1, c] + z * weight[2, c] + r * weight[3, c]
                    better = edge > best[c]
                    best[c] = edge if better else best[c]
                    which[c] = np.int32(j) if better else which[c]


@njit(cache=True, fastmath=True)
def _backward(grad, near, at, center, scale, arg, to_values, to_weight):  # type: ignore[no-untyped-def]  # pragma: no cover
    offset = np.empty((near.shape[2], 4), np.float32)
    for b in range(near.shape[0]):
        for i in range(near.shape[1]):
            for j in range(near.shape[2]):
                square = np.float32(0.0)
                for k in range(3):
                    step = (at[b, near[b, i, j], k] - center[b, i, k]) * scale
                    offset[j, k] = step
                    square += step * step
                offset[j, 3] = np.sqrt(square)
            for c in range(grad.shape[2]):
                g = grad[b, i, c]
                j = arg[b, i, c]
                to_values[b, near[b, i, j], c] += g
                for k in range(4):
                    to_weight[k, c] += g * offset[j, k]


class Strongest(torch.autograd.Function):
    """Largest over j of ``values[near[i, j]] + weight @ (offset, distance)``.

    ``values`` (b, n, c), ``near`` (b, m, k), places of the neighbours ``at`` (b, n, 3) and of the points ``center``
    (b, m, 3), ``weight`` (c, 4); gradients go to ``values`` and ``weight``.
    """

    @staticmethod
    def forward(
        ctx: Any, values: Tensor, near: Tensor, at: Tensor, center: Tensor, weight: Tensor, scale: float
    ) -> Tensor:
        flat = [one.detach().float().contiguous().numpy() for one in (values, at, center, weight.T)]
        index = near.contiguous().numpy()
        out = np.empty((*index.shape[:2], values.shape[2]), np.float32)
        arg = np.zeros(out.shape, np.int32)
        _forward(flat[0], index, flat[1], flat[2], flat[3], np.float32(scale), out, arg)
        ctx.kept = (values.shape, index, flat[1], flat[2], np.float32(scale), arg)
        ctx.kinds = (values.dtype, weight.dtype)
        return torch.from_numpy(out)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        shape, index, at, center, scale, arg = ctx.kept
        to_values = np.zeros(shape, np.float32)
        to_weight = np.zeros((4, shape[2]), np.float32)
        _backward(grad.float().contiguous().numpy(), index, at, center, scale, arg, to_values, to_weight)
        weight = torch.from_numpy(to_weight).T
        return torch.from_numpy(to_values).to(ctx.kinds[0]), None, None, None, weight.to(ctx.kinds[1]), None
