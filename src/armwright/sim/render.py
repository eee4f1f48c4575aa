"""Pictures of a world: one call for rgb, depth and segmentation, whichever backend draws them."""

from __future__ import annotations

from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel
from armwright.core.errors import RendererError, UnknownNameError, UsageError
from armwright.core.pose import Pose
from armwright.core.settings import RendererName, get_settings
from armwright.sim.backend import BackendChoice, choose_backend

# MuJoCo's cameras look along -z with y up; ours along +z with y down.
_FLIP = np.diag([1.0, -1.0, -1.0])


@dataclass(frozen=True, eq=False)
class RenderedFrame:
    """What one camera sees; layers that were not asked for are None.

    Attributes:
        camera: The camera that was drawn from.
        rgb: (H, W, 3) uint8.
        depth_m: (H, W) float32, distance along the optical axis, 0 where there is nothing.
        segmentation: (H, W) int32 body id, -1 where there is nothing.
    """

    camera: CameraModel
    rgb: NDArray[np.uint8] | None = None
    depth_m: NDArray[np.float32] | None = None
    segmentation: NDArray[np.int32] | None = None


class Painter(Protocol):
    """One way to draw; the renderer's backend."""

    def draw(self, data: Any, camera: CameraModel, *, rgb: bool, depth: bool, segmentation: bool) -> RenderedFrame: ...

    def close(self) -> None: ...


class Renderer:
    """Draws one model at one image size.

    Args:
        model: The ``MjModel``.
        width, height: Image size [px].
        backend: Which renderer; None takes the settings' choice (``auto``: EGL, OSMesa, rays).
        shadows: Draw shadows: they cost more than everything else together, and rays have none.
        samples: Samples per pixel of OpenGL; 0 is fastest, 4 is for pictures that people look at.

    Raises:
        RendererError: The backend asked for does not work here.
        UsageError: The size is not positive.
    """

    def __init__(
        self,
        model: Any,
        *,
        width: int,
        height: int,
        backend: RendererName | None = None,
        shadows: bool = False,
        samples: int = 0,
    ) -> None:
        if width < 1 or height < 1:
            raise UsageError(f"an image needs a positive size, got {width}x{height}.")
        self.model = model
        self.width, self.height = int(width), int(height)
        self.choice, self._painter = _open(self, backend, shadows=shadows, samples=samples)

    def render(
        self,
        data: Any,
        camera: str | CameraModel,
        *,
        rgb: bool = True,
        depth: bool = False,
        segmentation: bool = False,
    ) -> RenderedFrame:
        """Draw the layers asked for; ``data`` must have current body poses.

        Args:
            data: The ``MjData``, after ``mj_forward`` or ``mj_kinematics`` and ``mj_camlight``.
            camera: A camera of the model by name, or any camera with this renderer's image size.
            rgb, depth, segmentation: Which layers to draw; each costs time.

        Raises:
            UnknownNameError: The model has no such camera.
            UsageError: The camera has another image size.
        """
        seen = camera_model(self.model, data, camera, self.width, self.height) if isinstance(camera, str) else camera
        if (seen.width, seen.height) != (self.width, self.height):
            raise UsageError(
                f"the camera is {seen.width}x{seen.height}, this renderer draws {self.width}x{self.height}.",
                hint="Make a renderer of the camera's size.",
            )
        return self._painter.draw(data, seen, rgb=rgb, depth=depth, segmentation=segmentation)

    def close(self) -> None:
        """Free what the backend holds."""
        self._painter.close()

    def __enter__(self) -> Renderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def camera_model(model: Any, data: Any, name: str, width: int, height: int) -> CameraModel:
    """Return the pinhole model of one of the model's cameras at its present pose.

    Raises:
        UnknownNameError: There is no such camera.
    """
    names = [model.camera(i).name for i in range(model.ncam)]
    if name not in names:
        raise UnknownNameError("camera", name, names)
    i = names.index(name)
    pose = Pose.from_rotation(data.cam_xmat[i].reshape(3, 3) @ _FLIP, data.cam_xpos[i])
    return CameraModel.from_fov(width=width, height=height, fovy_deg=float(model.cam_fovy[i]), pose_world_camera=pose)


def _open(
    renderer: Renderer, backend: RendererName | None, *, shadows: bool, samples: int
) -> tuple[BackendChoice, Painter]:
    wanted = backend or get_settings().renderer
    choice = choose_backend(wanted)
    if choice.name == "rays":
        return choice, _rays(renderer)
    try:
        return choice, _gl(renderer, choice, shadows=shadows, samples=samples)
    except RendererError:
        raise
    except Exception as error:  # GL drivers raise whatever they like
        # The answer on disk may be older than the driver: ask the machine again before giving up.
        again = choose_backend(wanted, refresh=True)
        if again.name == "rays":
            return again, _rays(renderer)
        raise RendererError(
            f"{choice.name} drew in the probe but not here: {type(error).__name__}: {error}.",
            hint="Set ARMWRIGHT_RENDERER=rays to cast rays instead.",
        ) from error


def _rays(renderer: Renderer) -> Painter:
    from armwright.sim._rays import RayPainter

    return RayPainter(renderer.model, renderer.width, renderer.height)


def _gl(renderer: Renderer, choice: BackendChoice, *, shadows: bool, samples: int) -> Painter:
    from armwright.sim._gl import GlPainter

    assert choice.name != "rays"
    return GlPainter(
        renderer.model, renderer.width, renderer.height, backend=choice.name, shadows=shadows, samples=samples
    )
