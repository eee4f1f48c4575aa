"""Refinement of a Gaussian field against its photographs, in torch, with any rasteriser of gsplat's signature."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from armwright.core.seeds import rng_for
from armwright.sim.gaussians import SH_0, GaussianField

if TYPE_CHECKING:
    from armwright.sim.reconstruction import Views

# Learning rates of Kerbl et al. 2023; that of the means is per metre of the scene's extent.
_RATES = {"means": 1.6e-4, "quats": 1e-3, "scales": 5e-3, "opacities": 5e-2, "colours": 2.5e-3}
_WINDOW = 11
_WINDOW_SIGMA = 1.5
_C1, _C2 = 0.01**2, 0.03**2


def refine_field(
    field: GaussianField,
    views: Views,
    *,
    rasterization: Callable[..., Any],
    iterations: int,
    ssim_weight: float,
    device: str,
) -> GaussianField:
    """Fit means, sizes, turns, opacities and colours to the photographs, one of which is drawn per iteration.

    The loss is the mean absolute difference plus ``ssim_weight`` times one minus the structural similarity. The number
    of Gaussians stays: depth has put one wherever something is.

    Args:
        field: Where to begin; of degree 0.
        views: Photographs with cameras.
        rasterization: ``gsplat.rendering.rasterization``.
        iterations: How many.
        ssim_weight: Weight of the structural part.
        device: Torch's device.
    """
    import torch

    def leaf(values: Any) -> Any:
        return torch.tensor(np.asarray(values, np.float32), device=device, requires_grad=True)

    opacity = np.clip(field.opacity, 1e-4, 1 - 1e-4)
    fitted = {
        "means": leaf(field.mean_m),
        "quats": leaf(field.quat_wxyz),
        "scales": leaf(np.log(field.scale_m)),
        "opacities": leaf(np.log(opacity / (1 - opacity))),
        "colours": leaf(field.sh[:, :1]),
    }
    extent = float(np.ptp(field.mean_m, axis=0).max())
    rates = {**_RATES, "means": _RATES["means"] * extent}
    optimiser = torch.optim.Adam([{"params": [fitted[name]], "lr": rate} for name, rate in rates.items()], eps=1e-15)
    photos = torch.tensor(views.rgb, device=device)
    poses = torch.tensor(views.camera_from_world, dtype=torch.float32, device=device)
    pinholes = torch.tensor(views.intrinsics, dtype=torch.float32, device=device)
    height, width = views.rgb.shape[1:3]
    rng = rng_for(0, "reconstruction", "views")
    for _ in range(iterations):
        k = int(rng.integers(len(photos)))
        drawn, _, _ = rasterization(
            fitted["means"],
            torch.nn.functional.normalize(fitted["quats"], dim=-1),
            torch.exp(fitted["scales"]),
            torch.sigmoid(fitted["opacities"]),
            fitted["colours"],
            poses[k : k + 1],
            pinholes[k : k + 1],
            width,
            height,
            sh_degree=0,
            packed=False,
        )
        wanted = photos[k : k + 1].float() / 255.0
        loss = (drawn - wanted).abs().mean() + ssim_weight * (1.0 - similarity(drawn, wanted))
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()

    def value(tensor: Any) -> Any:
        return tensor.detach().cpu().numpy().astype(np.float32)

    limit = 0.5 / SH_0  # colours outside [0, 1] would be cut off in every picture
    return GaussianField(
        value(fitted["means"]),
        value(torch.exp(fitted["scales"])),
        value(torch.nn.functional.normalize(fitted["quats"], dim=-1)),
        value(torch.sigmoid(fitted["opacities"])),
        np.clip(value(fitted["colours"]), -limit, limit),
    )


def similarity(a: Any, b: Any) -> Any:
    """Return the mean structural similarity (Wang et al. 2004) of torch images (n, H, W, 3) in [0, 1]."""
    import torch

    axis = torch.arange(_WINDOW, dtype=a.dtype, device=a.device) - _WINDOW // 2
    bell = torch.exp(-(axis**2) / (2 * _WINDOW_SIGMA**2))
    bell = bell / bell.sum()
    kernel = (bell[:, None] * bell[None, :]).expand(3, 1, _WINDOW, _WINDOW)

    def smooth(image: Any) -> Any:
        return torch.nn.functional.conv2d(image, kernel, padding=_WINDOW // 2, groups=3)

    a, b = a.permute(0, 3, 1, 2), b.permute(0, 3, 1, 2)
    mean_a, mean_b = smooth(a), smooth(b)
    var_a, var_b = smooth(a * a) - mean_a**2, smooth(b * b) - mean_b**2
    both = smooth(a * b) - mean_a * mean_b
    top = (2 * mean_a * mean_b + _C1) * (2 * both + _C2)
    return (top / ((mean_a**2 + mean_b**2 + _C1) * (var_a + var_b + _C2))).mean()
