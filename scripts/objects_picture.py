"""Draw the contact sheet of the documentation, one object per category: ``python scripts/objects_picture.py``."""

from __future__ import annotations

import tempfile
from pathlib import Path

from PIL import Image

from armwright.assets.catalog import CATALOG
from armwright.assets.library import default_library
from armwright.generate.pictures import contact_sheet

OUT = Path(__file__).parents[1] / "docs" / "images" / "objects.jpg"
TILE_PX = 112


def main() -> None:
    """Draw and save the sheet."""
    library = default_library()
    objects = [(name.replace("_", " "), library.build(name, instance=1)) for name in CATALOG]
    with tempfile.TemporaryDirectory() as folder:
        sheet, _ = contact_sheet(objects, Path(folder) / "objects.png", columns=11, px=TILE_PX)
        with Image.open(sheet) as picture:
            picture.convert("RGB").save(OUT, quality=85, optimize=True)


if __name__ == "__main__":
    main()
