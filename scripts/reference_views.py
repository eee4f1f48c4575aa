"""Draw objects from front, side and top with a millimetre grid, to write reference affordances by; or with them on.

Run: ``python scripts/reference_views.py OUT.png mug_01 mug_03`` for bare objects,
``python scripts/reference_views.py --regions OUT.png`` for every reference region in colour.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw

from armwright.assets.cloud import LabelledCloud, sample_cloud
from armwright.assets.index import instance
from armwright.assets.reference import reference_instances, reference_mask, reference_regions

POINTS = 60_000
VIEWS = (("front", 0, 2, 1, 1.0), ("side", 1, 2, 0, 1.0), ("top", 0, 1, 2, -1.0))
"""Name, axis to the right, axis up, axis of sight, and its sign: a smaller value of sign x axis is nearer."""


def _grid_mm(extent_mm: float) -> int:
    return next(step for step in (5, 10, 20, 50, 100, 200) if extent_mm / step <= 14)


def view(
    cloud: LabelledCloud, which: int, *, px: int, mask: NDArray[np.bool_] | None, title: str = ""
) -> NDArray[np.uint8]:
    """Return one orthographic view, shaded, with a grid in millimetres; points of the mask are red."""
    name, right, up, sight, sign = VIEWS[which]
    points = 1e3 * cloud.points_m
    low, high = points.min(0), points.max(0)
    margin = 16
    scale = (px - 2 * margin) / max(high[right] - low[right], high[up] - low[up])

    def across(value: float | NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(margin + scale * (value - low[right]))

    def down(value: float | NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(px - margin - scale * (value - low[up]))

    light = np.array([-0.4, -0.5, 0.77])
    shade = 0.45 + 0.5 * np.clip(cloud.normals @ light, -0.4, 1)
    colour = np.repeat(shade[:, None], 3, axis=1) * np.array([0.75, 0.8, 0.85])
    if mask is not None:
        colour[mask] = shade[mask, None] * np.array([1.3, 0.15, 0.1])
    order = np.argsort(-sign * points[:, sight])
    image = np.full((px, px, 3), 255, np.uint8)
    x, y = across(points[order, right]).astype(int), down(points[order, up]).astype(int)
    for dx in (0, 1):
        for dy in (0, 1):
            image[np.clip(y + dy, 0, px - 1), np.clip(x + dx, 0, px - 1)] = np.clip(255 * colour[order], 0, 255)
    picture = Image.fromarray(image)
    draw = ImageDraw.Draw(picture, "RGBA")
    step = _grid_mm(float(max(high[right] - low[right], high[up] - low[up])))
    for k in range(int(np.ceil(low[right] / step)), int(high[right] // step) + 1):
        at = float(across(float(k * step)))
        draw.line([at, 0, at, px], fill=(0, 0, 160, 60))
        draw.text((at + 1, px - 12), str(k * step), fill=(0, 0, 160))
    for k in range(int(np.ceil(low[up] / step)), int(high[up] // step) + 1):
        at = float(down(float(k * step)))
        draw.line([0, at, px, at], fill=(160, 0, 0, 60))
        draw.text((1, at - 11), str(k * step), fill=(160, 0, 0))
    draw.text((18, 2), f"{title} {name}", fill=(0, 0, 0))
    return np.asarray(picture)


def rows_of(name: str, *, px: int, regions: bool) -> list[NDArray[np.uint8]]:
    """Return the rows of views of one object: one, or one per region."""
    cloud = sample_cloud(instance(name).build(), POINTS, rng=np.random.default_rng(0))
    if not regions:
        return [np.hstack([view(cloud, k, px=px, mask=None, title=name) for k in range(3)])]
    rows = []
    for region in reference_regions(name):
        mask = reference_mask(name, region, cloud.points_m, cloud.normals)
        rows.append(np.hstack([view(cloud, k, px=px, mask=mask, title=f"{name} {region}") for k in range(3)]))
    return rows


def main() -> None:
    """Draw what the command line asks for, three objects or regions beside each other."""
    regions = sys.argv[1] == "--regions"
    out, *names = sys.argv[2:] if regions else sys.argv[1:]
    names = names or list(reference_instances())
    rows = [row for name in names for row in rows_of(name, px=190 if regions else 230, regions=regions)]
    columns = 3 if regions else 2
    while len(rows) % columns:
        rows.append(np.full_like(rows[0], 255))
    sheet = np.vstack([np.hstack(rows[k : k + columns]) for k in range(0, len(rows), columns)])
    Image.fromarray(sheet).save(Path(out), optimize=True)


if __name__ == "__main__":
    main()
