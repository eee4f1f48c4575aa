"""Drawing with OpenGL (EGL or OSMesa) through MuJoCo's classic renderer, with exact pinhole cameras."""

from __future__ import annotations

import atexit
import weakref
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel
from armwright.sim._probe import GlName, load_model, open_gl
from armwright.sim.backend import claim_gl
from armwright.sim.render import RenderedFrame

_MAX_GEOMS = 4000
_SHADOW_PX = 2048
_DRAWN_GROUPS = (1, 1, 1, 0, 0, 0)


_OPEN: weakref.WeakSet[GlPainter] = weakref.WeakSet()


class GlPainter:
    """One model's meshes in the process's OpenGL context."""

    def __init__(self, model: Any, width: int, height: int, *, backend: GlName, shadows: bool, samples: int) -> None:
        import mujoco

        self._mj = mujoco
        self._model = model
        quality, view = model.vis.quality, model.vis.global_
        quality.offsamples = samples
        quality.shadowsize = _SHADOW_PX if shadows else 0
        view.offwidth, view.offheight = width, height
        self._gl = _shared_gl(backend)
        self._gl.make_current()
        self._resources = load_model(model, backend)
        _OPEN.add(self)
        self._resources.readDepthMap = mujoco.mjtDepthMap.mjDEPTH_ZEROFAR.value
        self._scene = mujoco.MjvScene(model, maxgeom=_MAX_GEOMS)
        self._flags = self._scene.flags
        self._flags[mujoco.mjtRndFlag.mjRND_SHADOW] = shadows
        self._flags[mujoco.mjtRndFlag.mjRND_REFLECTION] = False
        self._option = mujoco.MjvOption()
        self._option.geomgroup[:] = _DRAWN_GROUPS
        self._option.sitegroup[:] = 0
        self._view = mujoco.MjrRect(0, 0, width, height)
        self._free_camera = mujoco.MjvCamera()
        self._color = np.zeros((height, width, 3), np.uint8)
        self._depth = np.zeros((height, width), np.float32)
        extent = float(model.stat.extent)
        self._near, self._far = float(model.vis.map.znear) * extent, float(model.vis.map.zfar) * extent

    def draw(self, data: Any, camera: CameraModel, *, rgb: bool, depth: bool, segmentation: bool) -> RenderedFrame:
        mj = self._mj
        self._gl.make_current()
        mj.mjr_setBuffer(mj.mjtFramebuffer.mjFB_OFFSCREEN.value, self._resources)
        mj.mjv_updateScene(
            self._model, data, self._option, None, self._free_camera, mj.mjtCatBit.mjCAT_ALL.value, self._scene
        )
        self._aim(camera)
        color = meters = labels = None
        if rgb:
            # Depth comes with the same pass, so it is free unless the segmentation pass gives it anyway.
            read_depth = depth and not segmentation
            self._pass(labels=False, read_depth=read_depth)
            color = self._color[::-1].copy()
            if read_depth:
                meters = self._meters()
        if segmentation or (depth and meters is None):
            self._pass(labels=True, read_depth=depth)
            if depth:
                meters = self._meters()
            if segmentation:
                labels = self._bodies()
        return RenderedFrame(camera, color, meters, labels)

    def close(self) -> None:
        """Free the model's resources; the OpenGL context stays, for others."""
        if self._resources is not None:
            self._gl.make_current()
            self._resources.free()
            self._resources = None

    def _pass(self, *, labels: bool, read_depth: bool) -> None:
        mj = self._mj
        self._flags[mj.mjtRndFlag.mjRND_SEGMENT] = labels
        self._flags[mj.mjtRndFlag.mjRND_IDCOLOR] = labels
        mj.mjr_render(self._view, self._scene, self._resources)
        mj.mjr_readPixels(self._color, self._depth if read_depth else None, self._view, self._resources)

    def _aim(self, camera: CameraModel) -> None:
        """Write the pinhole straight into the scene's two cameras (they are averaged when there is no stereo)."""
        rotation = camera.pose_world_camera.rotation
        near = self._near
        top, bottom = camera.cy / camera.fy * near, (camera.cy - camera.height) / camera.fy * near
        left, right = -camera.cx / camera.fx * near, (camera.width - camera.cx) / camera.fx * near
        for eye in self._scene.camera:
            eye.pos[:] = camera.pose_world_camera.position_m
            eye.forward[:] = rotation[:, 2]
            eye.up[:] = -rotation[:, 1]
            eye.frustum_near, eye.frustum_far = near, self._far
            eye.frustum_bottom, eye.frustum_top = bottom, top
            eye.frustum_center = 0.5 * (left + right)
            eye.frustum_width = 0.5 * (right - left)
            eye.orthographic = 0

    def _meters(self) -> NDArray[np.float32]:
        """Turn reversed-z depth (1 near, 0 far) into metres along the optical axis."""
        z = self._depth[::-1].astype(np.float64)
        near, far = self._near, self._far
        meters = near * far / (near + z * (far - near))
        return np.where(z > 0, meters, 0.0).astype(np.float32)

    def _bodies(self) -> NDArray[np.int32]:
        c = self._color[::-1].astype(np.int32)
        segment = c[..., 0] | (c[..., 1] << 8) | (c[..., 2] << 16)
        body = np.full(self._scene.ngeom + 1, -1, np.int32)
        is_geom = int(self._mj.mjtObj.mjOBJ_GEOM)
        for geom in self._scene.geoms[: self._scene.ngeom]:
            if geom.segid >= 0 and geom.objtype == is_geom:
                body[geom.segid + 1] = self._model.geom_bodyid[geom.objid]
        return np.asarray(body[np.minimum(segment, self._scene.ngeom)])


@lru_cache(maxsize=1)
def _shared_gl(backend: GlName) -> Any:
    """Return the process's one OpenGL context: making it takes ten times as long as loading a model into it."""
    claim_gl(backend)
    context = open_gl(backend)
    # MuJoCo ends the display in an exit handler of its own, registered before this one and so called after it.
    atexit.register(_close_all, context)
    return context


def _close_all(context: Any) -> None:
    for painter in list(_OPEN):
        painter.close()
    context.free()
