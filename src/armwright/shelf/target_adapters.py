"""Where the target's mesh and pose come from, by name: the built-in fit, SAM 3D Objects' mesh, FoundationPose's pose.

OMAR §IV-A takes the mesh from SAM 3D and §IV-C the pose from FoundationPose. Both need a large GPU and are no part of
armwright: the adapters here load and call them by their published signatures. Neither was run here; what is tested is
everything on this side of the calls, with stand-ins of the same signatures.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.errors import MissingDependencyError, UnknownNameError, UsageError, quoted
from armwright.core.plugins import load_plugin, plugin_names
from armwright.core.pose import Array, Pose
from armwright.shelf.target_solids import Solid, mesh_solid

MESH_GROUP = "armwright.target_meshes"
POSE_GROUP = "armwright.target_poses"
Mask = NDArray[np.bool_]
_POINTS = 400


@runtime_checkable
class MeshSource(Protocol):
    """Makes a closed solid of what a mask shows, in the frame of a `Solid`, and says where it stands."""

    @property
    def name(self) -> str: ...

    def mesh(self, frame: RgbdFrame, mask: Mask) -> tuple[Solid, Pose]: ...


@runtime_checkable
class PoseSource(Protocol):
    """Says where a known solid is in a view."""

    @property
    def name(self) -> str: ...

    def pose(self, solid: Solid, frame: RgbdFrame, mask: Mask) -> Pose: ...


def mesh_source_names() -> tuple[str, ...]:
    """Return the names that `mesh_source` accepts."""
    return tuple(sorted({"sam3d", *plugin_names(MESH_GROUP)}))


def pose_source_names() -> tuple[str, ...]:
    """Return the names that `pose_source` accepts."""
    return tuple(sorted({"foundationpose", *plugin_names(POSE_GROUP)}))


def mesh_source(name: str, *, folder: Path | None = None) -> MeshSource:
    """Return the mesh source of a name: ``sam3d``, or an entry point in ``armwright.target_meshes``.

    Args:
        name: Which.
        folder: Where SAM 3D Objects is checked out.

    Raises:
        UnknownNameError: There is none of that name.
        UsageError, MissingDependencyError: It cannot be loaded.
    """
    made: Any = Sam3dMeshes.load(folder) if name == "sam3d" else _plugin(MESH_GROUP, name, mesh_source_names)
    if not isinstance(made, MeshSource):
        raise UsageError(f"the target mesh source {quoted(name)} is a {type(made).__name__} without name and mesh().")
    return made


def pose_source(name: str, *, folder: Path | None = None) -> PoseSource:
    """Return the pose source of a name: ``foundationpose``, or an entry point in ``armwright.target_poses``.

    Args:
        name: Which.
        folder: Where FoundationPose is checked out.

    Raises:
        UnknownNameError: There is none of that name.
        UsageError, MissingDependencyError: It cannot be loaded.
    """
    made: Any = (
        FoundationPoses.load(folder) if name == "foundationpose" else _plugin(POSE_GROUP, name, pose_source_names)
    )
    if not isinstance(made, PoseSource):
        raise UsageError(f"the target pose source {quoted(name)} is a {type(made).__name__} without name and pose().")
    return made


@dataclass(frozen=True)
class Sam3dMeshes:
    """Meshes by SAM 3D Objects (facebookresearch/sam-3d-objects, ``notebook/inference.py``).

    ``Inference(config_file, compile=False)`` is called with ``(image, mask, seed=…)``, image (H, W, 3) uint8 and mask
    (H, W) bool, and returns a dict whose ``glb`` is a trimesh. That mesh has no metric scale: it is scaled and placed
    by the depth under the mask, its lowest point on the lowest seen one. It is taken to have y up, as glTF has; how it
    is turned about the vertical is left to a pose source or to `registration.register`.

    Attributes:
        inference: The loaded ``Inference``.
        seed: Of its sampling.
    """

    inference: Callable[..., Any]
    seed: int = 0
    name: str = "sam3d"

    @classmethod
    def load(cls, folder: Path | None) -> Sam3dMeshes:
        """Load it from a checkout with its checkpoints under ``checkpoints/hf``.

        Raises:
            UsageError: There is no such checkout.
            MissingDependencyError: It cannot be imported.
        """
        config = None if folder is None else folder / "checkpoints" / "hf" / "pipeline.yaml"
        if folder is None or config is None or not config.is_file():
            raise UsageError(
                f"SAM 3D Objects' checkpoints are not at {config}."
                if config
                else "SAM 3D Objects' folder is not given.",
                hint="Check out https://github.com/facebookresearch/sam-3d-objects and fetch its checkpoints.",
            )
        module = _module("inference", folder / "notebook", "SAM 3D Objects")
        return cls(module.Inference(str(config), compile=False))

    def mesh(self, frame: RgbdFrame, mask: Mask) -> tuple[Solid, Pose]:
        """Return the mesh of what a mask shows, and where it stands.

        Raises:
            UsageError: Nothing with depth is marked, or no mesh came back.
        """
        seen = _points(frame, mask)
        result = self.inference(frame.rgb, mask, seed=self.seed)
        mesh = result.get("glb") if isinstance(result, dict) else None
        if mesh is None or not len(mesh.faces):
            raise UsageError(
                "SAM 3D Objects returned no mesh.", hint="Its pipeline must decode meshes; the key glb is read."
            )
        vertices = np.asarray(mesh.vertices, float) @ np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])
        low, high = vertices.min(0), vertices.max(0)
        height = float(np.quantile(seen[:, 2], 0.98) - np.quantile(seen[:, 2], 0.02))
        vertices = (vertices - [*(low + high)[:2] / 2, low[2]]) * (height / max(high[2] - low[2], 1e-9))
        middle = (np.quantile(seen, 0.02, axis=0) + np.quantile(seen, 0.98, axis=0)) / 2
        stand = Pose(np.array([*middle[:2], np.quantile(seen[:, 2], 0.02)]))
        return mesh_solid(vertices, np.asarray(mesh.faces)), stand


@dataclass(frozen=True)
class FoundationPoses:
    """Poses by FoundationPose (NVlabs/FoundationPose, ``estimater.py``).

    ``FoundationPose(model_pts=…, model_normals=…, mesh=…)`` is built per solid, and ``register(K=…, rgb=…, depth=…,
    ob_mask=…, iteration=…)`` returns the (4, 4) pose of the mesh in the camera (OpenCV axes).

    Attributes:
        estimator: The class, imported.
        iterations: Refinements; its demo uses 5.
    """

    estimator: Callable[..., Any]
    iterations: int = 5
    name: str = "foundationpose"

    @classmethod
    def load(cls, folder: Path | None) -> FoundationPoses:
        """Import it from a checkout with its weights.

        Raises:
            UsageError: There is no such checkout.
            MissingDependencyError: It cannot be imported.
        """
        if folder is None or not (folder / "estimater.py").is_file():
            raise UsageError(
                f"FoundationPose is not at {folder}." if folder else "FoundationPose's folder is not given.",
                hint="Check out https://github.com/NVlabs/FoundationPose and fetch its weights.",
            )
        return cls(_module("estimater", folder, "FoundationPose").FoundationPose)

    def pose(self, solid: Solid, frame: RgbdFrame, mask: Mask) -> Pose:
        """Return where a solid is, in the world."""
        import trimesh

        mesh = trimesh.Trimesh(solid.vertices_m, solid.faces, process=False)
        found = self.estimator(model_pts=mesh.vertices, model_normals=mesh.vertex_normals, mesh=mesh)
        pose_camera = found.register(
            K=_matrix(frame.camera),
            rgb=frame.rgb,
            depth=frame.depth_m,
            ob_mask=mask.astype(np.uint8),
            iteration=self.iterations,
        )
        if hasattr(pose_camera, "detach"):
            pose_camera = pose_camera.detach().cpu().numpy()
        return frame.camera.pose_world_camera @ Pose.from_matrix(np.asarray(pose_camera, float).reshape(4, 4))


def _plugin(group: str, name: str, names: Callable[[], tuple[str, ...]]) -> Any:
    factory = load_plugin(group, name)
    if factory is None:
        raise UnknownNameError(group.rpartition(".")[2].replace("_", " "), name, names())
    return factory()


def _module(name: str, folder: Path, title: str) -> Any:
    sys.path.insert(0, str(folder))
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingDependencyError(
            f"{title} cannot be imported from {folder}: {error}.", hint="Install what its own instructions ask for."
        ) from error
    finally:
        sys.path.remove(str(folder))


def _matrix(camera: CameraModel) -> Array:
    return np.array([[camera.fx, 0.0, camera.cx], [0.0, camera.fy, camera.cy], [0.0, 0.0, 1.0]])


def _points(frame: RgbdFrame, mask: Mask) -> Array:
    """Return the marked depth in the world (n, 3) [m]."""
    own = mask & (frame.depth_m > 0)
    if own.sum() < 20:
        raise UsageError(f"the target's mask shows depth in {int(own.sum())} pixels.", hint="Look from nearer.")
    rows, columns = np.nonzero(own)
    return frame.camera.deproject(columns, rows, frame.depth_m[own])
