"""Pictures of the report that are not line drawings: clouds with their masks, and frames as data URIs."""

from __future__ import annotations

import base64
import io

import numpy as np

from armwright.core.pose import Array
from armwright.recording.episode import Image
from armwright.recording.report_data import MaskView

_MOST_POINTS = 6000
_MASK_RGB = np.array([213, 94, 0], float)
_BODY_RGB = np.array([168, 180, 200], float)


def data_uri(image: Image, *, quality: int = 86, png: bool = False) -> str:
    """Return a picture as text that a page can hold."""
    from PIL import Image as Picture

    buffer = io.BytesIO()
    if png:
        Picture.fromarray(image).save(buffer, "PNG", optimize=True)
    else:
        Picture.fromarray(image).save(buffer, "JPEG", quality=quality)
    return f"data:image/{'png' if png else 'jpeg'};base64,{base64.b64encode(buffer.getvalue()).decode()}"


def draw_mask(view: MaskView, *, size_px: int = 320) -> Image:
    """Draw the cloud from two sides, masked points orange, the chosen grasp's pads and approach in black.

    Returns:
        (size, 2 size, 3) uint8.
    """
    frames = [_view_frame(azimuth, elevation_rad=0.45) for azimuth in (-0.6, 1.6)]
    extra = [part for part in (view.pads_m, _shaft(view)) if part is not None]
    everything = np.concatenate([np.asarray(view.points_m, float), *extra])
    span = max(float(np.ptp(everything @ frame[:2].T, axis=0).max()) for frame in frames)
    return np.concatenate([_draw_side(view, frame, everything, span, size_px=size_px) for frame in frames], axis=1)


def _draw_side(view: MaskView, frame: Array, everything: Array, span: float, *, size_px: int) -> Image:
    from PIL import Image as Picture
    from PIL import ImageDraw

    scale_up = 2
    side = size_px * scale_up
    points = np.asarray(view.points_m, float)
    mask = np.asarray(view.mask, bool)
    step = max(1, -(-len(points) // _MOST_POINTS))
    chosen = np.arange(0, len(points), step)
    seen = everything @ frame.T
    middle = (seen.min(0) + seen.max(0)) / 2
    scale = 0.88 * side / max(span, 1e-6)

    def pixels(at: Array) -> Array:
        seen = at @ frame.T
        return np.column_stack(
            [side / 2 + scale * (seen[:, 0] - middle[0]), side / 2 - scale * (seen[:, 1] - middle[1])]
        )

    spots = pixels(points[chosen])
    depth = (points[chosen] @ frame.T)[:, 2]
    light = np.ones(len(chosen))
    if view.normals is not None:
        light = 0.72 + 0.33 * np.clip(np.asarray(view.normals, float)[chosen] @ frame.T @ [0.3, 0.5, 0.81], 0, 1)
    near = (depth - depth.min()) / max(float(np.ptp(depth)), 1e-9)
    color = np.where(mask[chosen, None], _MASK_RGB, _BODY_RGB) * (light * (0.86 + 0.14 * near))[:, None]
    picture = Picture.new("RGB", (side, side), "white")
    draw = ImageDraw.Draw(picture)
    radius = float(np.clip(0.62 * side / np.sqrt(max(len(chosen), 1)), 3.0, 10.0))
    for index in np.argsort(depth):
        x, y = spots[index]
        red, green, blue = (int(value) for value in np.minimum(color[index], 255))
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=(red, green, blue))
    if view.pads_m is not None:
        for x, y in pixels(np.asarray(view.pads_m, float)):
            draw.ellipse((x - 11, y - 11, x + 11, y + 11), fill=(20, 24, 35), outline="white", width=3)
    shaft = _shaft(view)
    if shaft is not None:
        tail, tip = pixels(shaft)
        draw.line([*tail, *tip], fill=(20, 24, 35), width=6)
        along = (tip - tail) / max(float(np.linalg.norm(tip - tail)), 1e-9)
        across = np.array([-along[1], along[0]])
        head = [tip, tip - 24 * along + 12 * across, tip - 24 * along - 12 * across]
        draw.polygon([tuple(corner) for corner in head], fill=(20, 24, 35))
    small = picture.resize((size_px, size_px), Picture.Resampling.LANCZOS)
    return np.asarray(small)


def _shaft(view: MaskView) -> Array | None:
    if view.pads_m is None or view.approach is None:
        return None
    middle = np.asarray(view.pads_m, float).mean(0)
    reach = 0.45 * float(np.ptp(np.asarray(view.points_m, float), axis=0).max())
    return np.stack([middle - reach * np.asarray(view.approach, float), middle])


def _view_frame(azimuth_rad: float, *, elevation_rad: float) -> Array:
    """Return the rows right, up, towards the viewer for a look from this side and height, z up."""
    c, s = np.cos(azimuth_rad), np.sin(azimuth_rad)
    back = np.array([np.cos(elevation_rad) * c, np.cos(elevation_rad) * s, np.sin(elevation_rad)])
    right = np.array([-s, c, 0.0])
    return np.stack([right, np.cross(back, right), back])
