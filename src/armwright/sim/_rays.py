"""Drawing without any graphics library: MuJoCo casts the rays, NumPy shades what they hit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.core.camera import CameraModel
from armwright.core.pose import Array
from armwright.sim.render import RenderedFrame

_DRAWN_GROUPS = np.array([1, 1, 1, 0, 0, 0], np.uint8)
_SKY_TOP = np.array([0.93, 0.95, 0.97])
_SKY_BOTTOM = np.array([0.62, 0.68, 0.75])


class RayPainter:
    """Ray casting at one image size; colours are the geoms' and materials', light is Lambert's."""

    def __init__(self, model: Any, width: int, height: int) -> None:
        import mujoco

        self._mj = mujoco
        self._model = model
        n = width * height
        self._geom = np.zeros(n, np.int32)
        self._distance = np.zeros(n)
        self._normal = np.zeros(3 * n)
        self._reach_m = float(model.vis.map.zfar) * float(model.stat.extent)
        self._color, self._texture = _geom_colors(mujoco, model)

    def draw(self, data: Any, camera: CameraModel, *, rgb: bool, depth: bool, segmentation: bool) -> RenderedFrame:
        shape = (camera.height, camera.width)
        in_camera = camera.rays().reshape(-1, 3)
        length = np.linalg.norm(in_camera, axis=1)
        direction = camera.pose_world_camera.rotate(in_camera / length[:, None])
        origin = np.array(camera.pose_world_camera.position_m)
        self._mj.mj_multiRay(
            self._model,
            data,
            origin,
            direction.ravel(),
            _DRAWN_GROUPS,
            1,
            -1,
            self._geom,
            self._distance,
            self._normal if rgb else None,
            len(direction),
            self._reach_m,
        )
        hit = self._geom >= 0
        color = meters = labels = None
        if depth:
            meters = np.where(hit, self._distance / length, 0.0).astype(np.float32).reshape(shape)
        if segmentation:
            bodies = self._model.geom_bodyid[np.maximum(self._geom, 0)]
            labels = np.where(hit, bodies, -1).astype(np.int32).reshape(shape)
        if rgb:
            color = self._shade(data, origin, camera.pose_world_camera.rotation[:, 2], direction, hit).reshape(
                *shape, 3
            )
        return RenderedFrame(camera, color, meters, labels)

    def close(self) -> None:
        """Nothing is held."""

    def _shade(
        self, data: Any, origin: Array, forward: Array, direction: Array, hit: NDArray[np.bool_]
    ) -> NDArray[np.uint8]:
        up = 0.5 + 0.5 * direction[:, 2]
        out = _SKY_BOTTOM + up[:, None] * (_SKY_TOP - _SKY_BOTTOM)
        geom, normal = self._geom[hit], self._normal.reshape(-1, 3)[hit]
        toward = -direction[hit]
        normal = np.where((normal * toward).sum(1, keepdims=True) < 0, -normal, normal)
        points = origin + self._distance[hit, None] * direction[hit]
        light = self._light(data, points, normal, forward)
        out[hit] = np.clip(self._albedo(data, geom, points) * light, 0.0, 1.0)
        return np.asarray((255.0 * out + 0.5).astype(np.uint8))

    def _light(self, data: Any, points: Array, normal: Array, forward: Array) -> Array:
        head = self._model.vis.headlight
        facing = np.maximum(-(normal @ forward), 0.0)[:, None]
        light = np.asarray(head.ambient, float) + facing * np.asarray(head.diffuse, float)
        for i in np.flatnonzero(self._model.light_active):
            lit = self._lit(data, int(i), points, normal)[:, None]
            light = light + lit * self._model.light_diffuse[i] + self._model.light_ambient[i]
        return np.asarray(light)

    def _lit(self, data: Any, i: int, points: Array, normal: Array) -> Array:
        """Return (n,) how directly a light falls on each point, and how much of its cone gets there."""
        if self._model.light_type[i] == self._mj.mjtLightType.mjLIGHT_DIRECTIONAL:
            return np.asarray(np.maximum(-(normal @ data.light_xdir[i]), 0.0))
        along = points - data.light_xpos[i]
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
        lit = np.maximum(-(normal * along).sum(1), 0.0)
        if self._model.light_type[i] == self._mj.mjtLightType.mjLIGHT_SPOT:
            within = along @ data.light_xdir[i]
            edge = np.cos(np.deg2rad(float(self._model.light_cutoff[i])))
            lit *= np.where(within > edge, np.maximum(within, 0.0) ** float(self._model.light_exponent[i]), 0.0)
        return np.asarray(lit)

    def _albedo(self, data: Any, geom: NDArray[np.int32], points: Array) -> Array:
        albedo = self._color[geom]
        for g, image in self._texture.items():
            on = geom == g
            if on.any():
                local = (points[on] - data.geom_xpos[g]) @ data.geom_xmat[g].reshape(3, 3)
                uv = self._texture_uv(g, local)
                h, w = image.shape[:2]
                column = np.clip((uv[:, 0] * w).astype(int), 0, w - 1)
                row = np.clip(((1 - uv[:, 1]) * h).astype(int), 0, h - 1)
                albedo[on] *= image[row, column]
        return albedo

    def _texture_uv(self, g: int, local: Array) -> Array:
        """Return (n, 2) texture coordinates in [0, 1] of points (n, 3) in a geom's frame."""
        if self._model.geom_type[g] == self._mj.mjtGeom.mjGEOM_PLANE:
            uv = 0.5 + 0.5 * local[:, :2] / np.maximum(self._model.geom_size[g, :2], 1e-6)
            return np.asarray((uv * self._model.mat_texrepeat[self._model.geom_matid[g]]) % 1.0)
        # A cube around the geom, each face of which shows the whole image.
        face = np.abs(local).argmax(1)
        rows = np.arange(len(local))
        across = np.stack([local[rows, (face + 1) % 3], local[rows, (face + 2) % 3]], axis=1)
        return np.asarray(0.5 + 0.5 * across / np.maximum(np.abs(local[rows, face]), 1e-9)[:, None])


def _geom_colors(mujoco: Any, model: Any) -> tuple[Array, dict[int, Array]]:
    """Return (ngeom, 3) plain colours and, where there are textures, their images (H, W, 3) in [0, 1]."""
    color = np.array(model.geom_rgba[:, :3], float)
    textures: dict[int, Array] = {}
    for g in range(model.ngeom):
        material = int(model.geom_matid[g])
        if material < 0:
            continue
        color[g] = model.mat_rgba[material, :3]
        texture = int(model.mat_texid[material, mujoco.mjtTextureRole.mjTEXROLE_RGB])
        cube = texture >= 0 and model.tex_type[texture] == mujoco.mjtTexture.mjTEXTURE_CUBE
        if texture >= 0 and (cube or model.geom_type[g] == mujoco.mjtGeom.mjGEOM_PLANE):
            start = int(model.tex_adr[texture])
            h, w, c = (int(a[texture]) for a in (model.tex_height, model.tex_width, model.tex_nchannel))
            h = h // 6 if cube else h
            textures[g] = model.tex_data[start : start + h * w * c].reshape(h, w, c)[..., :3] / 255.0
    return color, textures
