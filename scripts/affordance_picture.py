"""Draw what the learned network answers on objects it never saw: ``python scripts/affordance_picture.py``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

from armwright.affordance.labelled.soup import library_soup
from armwright.affordance.labelled.views import seen_cloud, whole_cloud
from armwright.affordance.networks import NetworkAffordance
from armwright.affordance.protocol import ObjectCloud
from armwright.affordance.registry import affordance_model

OUT = Path(__file__).parents[1] / "docs" / "images" / "affordance.png"
INSTANCE = 960_000
CELL, COLUMNS = 260, 4
TURNS = {"microwave": 215.0}
"""Where the camera stands [degrees], for what has its front on the other side."""
GREY, RED = np.array([188, 190, 194]), np.array([214, 48, 38])
ROWS: tuple[tuple[str, str, bool], ...] = (
    ("mug", "hold the mug by its handle", False),
    ("mug", "inside of the mug", False),
    ("kettle", "spout of the kettle", False),
    ("bowl", "the rim", False),
    ("microwave", "open the door", False),
    ("phone", "press the button", False),
    ("mug_rack", "a hook to hang things on", False),
    ("cube", "the spout", False),
    ("pan", "the grip", False),
    ("teapot", "where the liquid comes out", False),
    ("jar", "unscrew the lid of the jar", False),
    ("pan", "the grip", True),
)
"""Category, phrase, whether from one camera only; the last row's categories were never trained on."""


def cell(model: NetworkAffordance, category: str, phrase: str, one_view: bool) -> Image.Image:
    """Return one picture: the cloud from a slanted view, the answer in red."""
    rng = np.random.default_rng(INSTANCE)
    soup = library_soup(category, INSTANCE)
    seen = seen_cloud(soup, rng=rng) if one_view else whole_cloud(soup, 8192, rng=rng)
    answer = model.predict_phrases(ObjectCloud(category, category, seen.points_m, seen.normals), [phrase])[0]
    turn, tilt = np.deg2rad(TURNS.get(category, 40.0)), np.deg2rad(28)
    x = seen.points_m @ [-np.sin(turn), np.cos(turn), 0.0]
    back = np.array([np.cos(turn) * np.cos(tilt), np.sin(turn) * np.cos(tilt), np.sin(tilt)])
    up = np.array([-np.cos(turn) * np.sin(tilt), -np.sin(turn) * np.sin(tilt), np.cos(tilt)])
    y, depth, light = seen.points_m @ up, seen.points_m @ back, seen.normals @ back
    size = max(np.ptp(x), np.ptp(y)) * 1.25
    column = (x - (x.min() + x.max()) / 2) / size * CELL + CELL / 2
    row = CELL / 2 - (y - (y.min() + y.max()) / 2) / size * CELL
    picture = Image.new("RGB", (CELL, CELL + 36), "white")
    draw = ImageDraw.Draw(picture)
    for k in np.argsort(depth):
        if light[k] < -0.05:
            continue
        shade = 0.6 + 0.4 * max(0.0, float(light[k]))
        colour = tuple(int(v) for v in (RED if answer.mask[k] else GREY) * shade)
        draw.ellipse([column[k] - 2, row[k] - 2, column[k] + 2, row[k] + 2], fill=colour)
    view = ", one view" if one_view else ""
    draw.text((6, CELL + 2), f'"{phrase}"', fill="black")
    draw.text((6, CELL + 17), f"{category}{view}: {answer.status}, {answer.presence:.2f}", fill=(90, 90, 90))
    return picture


def main() -> None:
    """Write the picture."""
    model = affordance_model("learned")
    assert isinstance(model, NetworkAffordance)
    sheet = Image.new("RGB", (COLUMNS * CELL, (CELL + 36) * -(-len(ROWS) // COLUMNS)), "white")
    for k, row in enumerate(ROWS):
        sheet.paste(cell(model, *row), ((k % COLUMNS) * CELL, (k // COLUMNS) * (CELL + 36)))
    sheet.save(OUT, optimize=True)


if __name__ == "__main__":
    main()
