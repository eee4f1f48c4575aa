"""How a world's pictures look in one episode: dressed model, background behind the foreground, pixel noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.assets.randomise import FLOOR, TABLE, Looks
from armwright.core.camera import CameraModel
from armwright.core.pose import Pose
from armwright.core.seeds import rng_for
from armwright.sim.backdrop import Backdrop, open_backdrop
from armwright.sim.dress import Wardrobe
from armwright.sim.render import RenderedFrame, Renderer

# Stamps are told apart by this when the noise of a frame is seeded.
_TICKS_PER_S = 10_000


class Appearance:
    """Draws a world's moments as its looks say; what is simulated is never written to.

    Args:
        looks: The episode's looks.
        owners: Scene id per body.
        wardrobe: Where a dressed model comes from, if textures or lights need one.
        pose_world_base: The arm's base, which a background field is anchored to.

    Raises:
        UsageError: A file that the looks name is gone or has changed.
    """

    def __init__(self, looks: Looks, *, owners: tuple[str, ...], wardrobe: Wardrobe, pose_world_base: Pose) -> None:
        self.looks = looks
        self._backdrop: Backdrop | None = None
        behind = {FLOOR}
        if looks.background is not None:
            self._backdrop = open_backdrop(looks.background, pose_world_base)
            behind |= {TABLE} if looks.background.field is not None else set()
        # The last entry is what label -1, nothing at all, refers to.
        self._behind = np.array([owner in behind for owner in owners] + [True])
        self._model: Any = None
        self._data: Any = None
        if looks.surfaces or looks.lights is not None or looks.ambient is not None:
            import mujoco

            self._mj = mujoco
            self._model = wardrobe.dressed(looks)
            self._data = mujoco.MjData(self._model)

    def draw(
        self,
        name: str,
        camera: CameraModel,
        *,
        model: Any,
        data: Any,
        renderer: Callable[[Any], Renderer],
        rgb: bool,
        depth: bool,
        segmentation: bool,
    ) -> RenderedFrame:
        """Draw one moment.

        Args:
            name: The camera's name, which seeds its noise together with the moment.
            camera: Where from.
            model: The model that is stepped.
            data: Its posed data.
            renderer: Model -> an open renderer of it.
            rgb, depth, segmentation: Which layers.
        """
        if self._model is not None:
            model, data = self._model, self._posed(model, data)
        composed = rgb and self._backdrop is not None
        drawn = renderer(model).render(data, camera, rgb=rgb, depth=depth, segmentation=segmentation or composed)
        if drawn.rgb is None:
            return drawn
        image = drawn.rgb
        if self._backdrop is not None and drawn.segmentation is not None:
            hidden = self._behind[drawn.segmentation]
            image[hidden] = self._backdrop.draw(camera, hidden)
        if self.looks.noise_sigma > 0:
            image = self._noisy(image, name, float(data.time))
        return replace(drawn, rgb=image, segmentation=drawn.segmentation if segmentation else None)

    def _noisy(self, image: NDArray[np.uint8], name: str, stamp_s: float) -> NDArray[np.uint8]:
        rng = rng_for(self.looks.noise_seed, name, round(_TICKS_PER_S * stamp_s))
        noise = rng.standard_normal(image.shape, dtype=np.float32)
        noise *= self.looks.noise_sigma
        noise += image
        noise += 0.5  # rounds to nearest, as the cast cuts off
        return np.asarray(np.clip(noise, 0.0, 255.0, out=noise).astype(np.uint8))

    def _posed(self, model: Any, data: Any) -> Any:
        own = self._data
        self._model.body_pos[:], self._model.body_quat[:] = model.body_pos, model.body_quat
        own.qpos[:] = data.qpos
        own.time = data.time
        self._mj.mj_kinematics(self._model, own)
        self._mj.mj_comPos(self._model, own)
        self._mj.mj_camlight(self._model, own)
        return own
