"""Simulated cameras: drawn from the state stream when somebody asks, so that an unread camera costs nothing."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel, RgbdFrame
from armwright.core.pose import Pose
from armwright.core.settings import RendererName
from armwright.sim.looks import Appearance
from armwright.sim.physics import Physics, Sample
from armwright.sim.render import RenderedFrame, Renderer, camera_model

_KEPT_RENDERERS = 3


class RendererPool:
    """The renderers used last; an OpenGL context with a robot's meshes takes longer to make than many pictures."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[object, ...], Renderer] = OrderedDict()

    def get(
        self, model: Any, *, width: int, height: int, backend: RendererName | None, shadows: bool, samples: int
    ) -> Renderer:
        """Return a renderer of a compiled model, which is kept alive with it."""
        key = (id(model), width, height, backend, shadows, samples)
        renderer = self._open.pop(key, None)
        if renderer is None:
            renderer = Renderer(model, width=width, height=height, backend=backend, shadows=shadows, samples=samples)
        self._open[key] = renderer
        while len(self._open) > _KEPT_RENDERERS:
            _, old = self._open.popitem(last=False)
            old.close()
        return renderer

    def clear(self) -> None:
        """Close all renderers."""
        while self._open:
            self._open.popitem()[1].close()


RENDERERS = RendererPool()


@dataclass(frozen=True, eq=False)
class Beside:
    """A camera that moves along with one of the model's.

    Attributes:
        camera: Name of that camera.
        pose_camera_this: Pose in its frame (OpenCV axes).
        fovy_deg: Vertical field of view.
    """

    camera: str
    pose_camera_this: Pose
    fovy_deg: float


class SimulatedCamera:
    """A camera of the world, fixed or carried by the arm.

    Args:
        name: ``front``, ``wrist`` …
        physics: The world's stepping core.
        mount: A fixed pinhole, the name of a camera of the model, or a place beside one.
        width, height: Image size [px].
        backend: Renderer by name; None for the settings' choice.
        shadows, samples: As for `Renderer`.
    """

    def __init__(
        self,
        name: str,
        physics: Physics,
        mount: CameraModel | str | Beside,
        *,
        width: int,
        height: int,
        backend: RendererName | None = None,
        shadows: bool = False,
        samples: int = 0,
    ) -> None:
        self._name = name
        self._physics = physics
        self._mount = mount
        self._width, self._height = width, height
        self._backend, self._shadows, self._samples = backend, shadows, samples
        self._appearance: Appearance | None = None

    def dress(self, appearance: Appearance | None) -> None:
        """Draw with an episode's looks from now on; None is the plain look."""
        self._appearance = appearance

    @property
    def name(self) -> str:
        """Name of the camera."""
        return self._name

    @property
    def model(self) -> CameraModel:
        """Intrinsics and present pose."""
        return self._pinhole(self._physics.posed())

    def capture(self) -> RgbdFrame:
        """Take a picture of the present moment."""
        return self._frame(None, depth=True)

    def frames(self, since_s: float = float("-inf"), *, depth: bool = True) -> Sequence[RgbdFrame]:
        """Draw the sampled moments of the stream after ``since_s``, oldest first.

        Args:
            since_s: Only frames later than this; every call draws anew, so ask for each moment once.
            depth: Without it ``depth_m`` is all zeros (no reading) and drawing is faster.
        """
        return [self._frame(s, depth=depth) for s in self._physics.since(since_s)]

    def images(self, since_s: float = float("-inf")) -> Iterator[NDArray[np.uint8]]:
        """Draw the moments of `frames` one by one, colours only, so that none is kept: (H, W, 3) each."""
        for sample in self._physics.since(since_s):
            yield self._frame(sample, depth=False).rgb

    def stamps(self, since_s: float = float("-inf")) -> list[float]:
        """Return the times [s] of the moments of `frames`, drawing nothing."""
        return [sample.stamp_s for sample in self._physics.since(since_s)]

    def picture(self, since_s: float, index: int, width: int, height: int) -> NDArray[np.uint8]:
        """Draw one moment of the stream, the ``index``-th after ``since_s``, at another size and with shadows.

        The vertical field of view stays.
        """
        sample = self._physics.since(since_s)[index]
        data = self._physics.posed(sample)
        own = self._pinhole(data)
        scale = height / own.height
        camera = CameraModel(
            width, height, own.fx * scale, own.fy * scale, width / 2, height / 2, own.pose_world_camera
        )
        drawn = self._drawn(data, camera, shadows=True, samples=4)
        assert drawn.rgb is not None
        return drawn.rgb

    def render(self, *, rgb: bool = True, depth: bool = False, segmentation: bool = False) -> RenderedFrame:
        """Draw layers of the present moment; segmentation is truth, only for judges and `simulated` fillings."""
        return self._draw(self._physics.posed(), rgb=rgb, depth=depth, segmentation=segmentation)

    def _frame(self, sample: Sample | None, *, depth: bool) -> RgbdFrame:
        data = self._physics.posed(sample)
        drawn = self._draw(data, rgb=True, depth=depth, segmentation=False)
        assert drawn.rgb is not None
        meters = drawn.depth_m
        if meters is None:
            meters = np.zeros((self._height, self._width), np.float32)
        return RgbdFrame(drawn.rgb, meters, drawn.camera, float(data.time))

    def _draw(self, data: Any, *, rgb: bool, depth: bool, segmentation: bool) -> RenderedFrame:
        return self._drawn(
            data,
            self._pinhole(data),
            shadows=self._shadows,
            samples=self._samples,
            rgb=rgb,
            depth=depth,
            segmentation=segmentation,
        )

    def _drawn(
        self,
        data: Any,
        camera: CameraModel,
        *,
        shadows: bool,
        samples: int,
        rgb: bool = True,
        depth: bool = False,
        segmentation: bool = False,
    ) -> RenderedFrame:
        def renderer(model: Any) -> Renderer:
            return RENDERERS.get(
                model,
                width=camera.width,
                height=camera.height,
                backend=self._backend,
                shadows=shadows,
                samples=samples,
            )

        if self._appearance is None:
            plain = renderer(self._physics.built.model)
            return plain.render(data, camera, rgb=rgb, depth=depth, segmentation=segmentation)
        return self._appearance.draw(
            self._name,
            camera,
            model=self._physics.built.model,
            data=data,
            renderer=renderer,
            rgb=rgb,
            depth=depth,
            segmentation=segmentation,
        )

    def _pinhole(self, data: Any) -> CameraModel:
        if isinstance(self._mount, str):
            return camera_model(self._physics.model, data, self._mount, self._width, self._height)
        if isinstance(self._mount, Beside):
            own = camera_model(self._physics.model, data, self._mount.camera, self._width, self._height)
            return CameraModel.from_fov(
                width=self._width,
                height=self._height,
                fovy_deg=self._mount.fovy_deg,
                pose_world_camera=own.pose_world_camera @ self._mount.pose_camera_this,
            )
        return self._mount
