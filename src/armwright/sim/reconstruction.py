"""From 10 to 20 photographs of a place to a Gaussian field: Depth Anything 3, then 3D Gaussian splatting (Appendix Q).

The two networks' packages (``depth_anything_3``, ``gsplat``, both on torch and a GPU) are called by their published
signatures and are not part of this package. What is around them runs anywhere and is tested with views whose depth is
known; the refinement is tested with a rasteriser of gsplat's signature on a CPU. Neither package itself has been run
with this module, so its speed and the quality of real reconstructions are unknown.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from armwright.core.errors import MissingDependencyError, UsageError
from armwright.core.pose import Pose
from armwright.core.seeds import rng_for
from armwright.sim.gaussians import Float32, GaussianField, colour_field
from armwright.sim.splat_files import write_field
from armwright.sim.textures import folder_images

MIN_PHOTOS, MAX_PHOTOS = 10, 20
# Working resolution, iterations and weight of the structural loss (Appendix Q).
PROCESS_PX, ITERATIONS, SSIM_WEIGHT = 504, 1000, 0.05
# The nested model is the one whose depth and poses are metric.
DEPTH_MODEL = "depth-anything/DA3NESTED-GIANT-LARGE"
# Depths less sure than this share of all are left out.
UNSURE_SHARE = 0.4
MAX_GAUSSIANS = 200_000
_NEIGHBOURS = 4
_INITIAL_OPACITY = 0.9


class Prediction(Protocol):
    """What ``DepthAnything3.inference`` returns, as far as it is used; n views of one size.

    ``extrinsics`` are camera from world, OpenCV axes, (n, 3 or 4, 4); ``conf`` is larger where depth is surer.
    """

    depth: NDArray[Any]
    conf: NDArray[Any] | None
    sky: NDArray[Any] | None
    extrinsics: NDArray[Any] | None
    intrinsics: NDArray[Any] | None
    processed_images: NDArray[Any] | None


class DepthModel(Protocol):
    """``depth_anything_3.api.DepthAnything3``, as far as it is used."""

    def inference(
        self, image: list[Any], *, process_res: int, process_res_method: str, export_dir: str | None
    ) -> Prediction: ...


@dataclass(frozen=True, eq=False)
class Views:
    """Photographs with depth and cameras.

    Attributes:
        rgb: (n, H, W, 3) uint8.
        depth_m: (n, H, W), 0 where it is unknown or unsure.
        camera_from_world: (n, 4, 4).
        intrinsics: (n, 3, 3) [px].
    """

    rgb: NDArray[np.uint8]
    depth_m: Float32
    camera_from_world: NDArray[np.float64]
    intrinsics: NDArray[np.float64]


Refine = Callable[[GaussianField, Views], GaussianField]


def photographs(folder: Path) -> tuple[Path, ...]:
    """Return the photographs of a folder, in order of their names.

    Raises:
        UsageError: There are fewer than 10 or more than 20, or something else is in the folder.
    """
    found = folder_images(folder)
    if not MIN_PHOTOS <= len(found) <= MAX_PHOTOS:
        raise UsageError(
            f"{folder} holds {len(found)} photographs; a place is reconstructed from {MIN_PHOTOS} to {MAX_PHOTOS}.",
            hint="Take them all around what the camera will see.",
        )
    return tuple(Path(image.path) for image in found)


def load_depth_model(name: str = DEPTH_MODEL, *, device: str = "cuda") -> DepthModel:
    """Load Depth Anything 3; the first time it fetches its weights.

    Raises:
        MissingDependencyError: It is not installed.
    """
    api = _imported("depth_anything_3.api", "git+https://github.com/ByteDance-Seed/Depth-Anything-3")
    model: DepthModel = api.DepthAnything3.from_pretrained(name).to(device=device)
    return model


def gsplat_refine(*, device: str = "cuda", iterations: int = ITERATIONS) -> Refine:
    """Return the refinement by gsplat.

    Raises:
        MissingDependencyError: gsplat or torch is not installed.
    """
    _imported("torch", "torch")
    rasterization = _imported("gsplat.rendering", "gsplat").rasterization
    from armwright.sim._refine import refine_field

    return lambda field, views: refine_field(
        field,
        views,
        rasterization=rasterization,
        iterations=iterations,
        ssim_weight=SSIM_WEIGHT,
        device=device,
    )


def _imported(module: str, package: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingDependencyError(
            f"reconstruction needs {module}, which cannot be imported: {error}.", hint=f'pip install "{package}"'
        ) from error


def reconstruct(
    folder: Path,
    out: Path,
    *,
    depth_model: DepthModel | None = None,
    refine: Refine | None = None,
    pose_base_first: Pose | None = None,
) -> GaussianField:
    """Reconstruct a place and write its field, for ``--splat``.

    Args:
        folder: 10 to 20 photographs.
        out: A .ply or .splat file.
        depth_model: None loads Depth Anything 3.
        refine: None loads gsplat.
        pose_base_first: Camera of the first photograph in the arm's base frame; None leaves the field in the frame of
            the depth model, where the scale and offset of the background axis anchor it.

    Raises:
        UsageError: The photographs cannot be used, or the model's answer does not fit them.
        MissingDependencyError: A network's package is not installed.
    """
    paths = photographs(folder)
    if out.suffix.lower() not in (".ply", ".splat"):
        raise UsageError(f"{out} is neither a .ply nor a .splat file.", hint="Choose another name.")
    model = depth_model or load_depth_model()
    improve = refine or gsplat_refine()
    prediction = model.inference(
        [str(path) for path in paths],
        process_res=PROCESS_PX,
        process_res_method="upper_bound_resize",
        export_dir=None,
    )
    views = views_of(prediction, len(paths))
    field = improve(initial_field(views), views)
    if pose_base_first is not None:
        first = Pose.from_matrix(views.camera_from_world[0])
        field = field.transformed(pose_base_first @ first)
    write_field(out, field)
    return field


def views_of(prediction: Prediction, count: int) -> Views:
    """Check what the depth model said and leave out depths that it is unsure of.

    Raises:
        UsageError: Something is missing, has another shape, or is not finite.
    """
    parts = {name: getattr(prediction, name) for name in ("processed_images", "depth", "extrinsics", "intrinsics")}
    missing = [name for name, value in parts.items() if value is None]
    if missing:
        raise UsageError(
            f"the depth model gave no {', '.join(missing)}.", hint=f"Use a model with poses, such as {DEPTH_MODEL}."
        )
    rgb, depth = np.asarray(parts["processed_images"]), np.asarray(parts["depth"], np.float32)
    extrinsics, intrinsics = np.asarray(parts["extrinsics"], float), np.asarray(parts["intrinsics"], float)
    n, height, width = count, *depth.shape[-2:]
    shapes = {
        "depth": (depth.shape, (n, height, width)),
        "processed_images": (rgb.shape, (n, height, width, 3)),
        "intrinsics": (intrinsics.shape, (n, 3, 3)),
        "extrinsics": (extrinsics.shape[:1] + extrinsics.shape[2:], (n, 4)),
    }
    for name, (have, wanted) in shapes.items():
        if have != wanted:
            raise UsageError(f"the depth model's {name} is {have}; for {n} photographs it should be {wanted}.")
    pose = np.tile(np.eye(4), (n, 1, 1))
    pose[:, :3] = extrinsics[:, :3]
    if not (np.isfinite(pose).all() and np.isfinite(intrinsics).all()):
        raise UsageError("the depth model's cameras are not finite.", hint="Take photographs that overlap more.")
    usable = np.isfinite(depth) & (depth > 0)
    if prediction.conf is not None:
        conf = np.asarray(prediction.conf, float)
        usable &= conf >= np.quantile(conf, UNSURE_SHARE)
    if prediction.sky is not None:
        usable &= ~(np.asarray(prediction.sky) > 0.5)
    if not usable.any():
        raise UsageError("the depth model is sure of no depth.", hint="Take photographs that overlap more.")
    return Views(rgb.astype(np.uint8), np.where(usable, depth, 0).astype(np.float32), pose, intrinsics)


def initial_field(views: Views, *, limit: int = MAX_GAUSSIANS) -> GaussianField:
    """Put a Gaussian at each depth, as large as the distance to its neighbours; at most ``limit`` of them."""
    points, colours = [], []
    for rgb, depth, pose, k in zip(views.rgb, views.depth_m, views.camera_from_world, views.intrinsics, strict=True):
        row, column = np.nonzero(depth > 0)
        z = depth[row, column].astype(float)
        x = (column + 0.5 - k[0, 2]) / k[0, 0] * z
        y = (row + 0.5 - k[1, 2]) / k[1, 1] * z
        points.append((np.stack([x, y, z], 1) - pose[:3, 3]) @ pose[:3, :3])
        colours.append(rgb[row, column] / 255.0)
    mean, colour = np.concatenate(points), np.concatenate(colours)
    if len(mean) > limit:
        chosen = rng_for(0, "reconstruction").choice(len(mean), limit, replace=False)
        mean, colour = mean[chosen], colour[chosen]
    if len(mean) < _NEIGHBOURS:
        raise UsageError(f"only {len(mean)} depths are known.", hint="Take photographs that overlap more.")
    distance = cKDTree(mean).query(mean, k=_NEIGHBOURS)[0][:, 1:]
    size = np.maximum(distance.mean(1), 1e-4)
    # A thing far from all others would cover a large part of the picture.
    size = np.minimum(size, 4 * np.median(size))
    return colour_field(
        mean.astype(np.float32),
        np.repeat(size[:, None], 3, 1).astype(np.float32),
        colour.astype(np.float32),
        opacity=_INITIAL_OPACITY,
    )
