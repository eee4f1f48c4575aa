"""What pours and what keeps: names, words and regions."""

from __future__ import annotations

from collections.abc import Mapping

from armwright.assets.entries._entry import BODY, HANDLE, RIM, CategoryInfo
from armwright.core.task import RegionName

_OPEN: Mapping[RegionName, tuple[str, ...]] = {
    BODY: ("body",),
    RIM: ("rim",),
    "Pour Out": ("rim",),
    "Pour In": ("interior", "rim"),
    "Containment": ("interior",),
}

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "pitcher",
        ("pitcher", "jug", "water jug", "milk jug", "carafe", "ewer"),
        {HANDLE: ("handle",), **_OPEN, "Pour Out": ("spout",), "Hanging Handle": ("handle",)},
        HANDLE,
        (0.165, 0.10, 0.19),
        ("white", "blue", "green", "grey"),
        receives_in=True,
    ),
    CategoryInfo(
        "teapot",
        ("teapot", "tea pot"),
        {HANDLE: ("handle",), BODY: ("body",), "Pour Out": ("spout",), "Graspable Lid": ("lid_knob",)},
        HANDLE,
        (0.22, 0.122, 0.128),
        ("white", "blue", "brown", "green", "red"),
    ),
    CategoryInfo(
        "watering_can",
        ("watering can", "plant waterer"),
        {HANDLE: ("handle",), **_OPEN, "Pour Out": ("rose", "spout")},
        HANDLE,
        (0.30, 0.112, 0.16),
        ("green", "blue", "red", "yellow"),
        receives_in=True,
    ),
    CategoryInfo(
        "wine_glass",
        ("wine glass", "wineglass", "goblet", "chalice", "stem glass", "champagne glass"),
        {HANDLE: ("stem",), **_OPEN},
        HANDLE,
        (0.068, 0.068, 0.176),
        ("white", "grey", "green", "blue"),
        receives_in=True,
    ),
    CategoryInfo(
        "jar",
        ("jar", "jam jar", "glass jar", "cookie jar", "mason jar"),
        {**_OPEN, "Graspable Lid": ("lid",)},
        BODY,
        (0.062, 0.062, 0.12),
        ("white", "green", "blue", "yellow"),
        receives_in=True,
    ),
    CategoryInfo(
        "vase",
        ("vase", "flower vase"),
        _OPEN,
        BODY,
        (0.095, 0.095, 0.20),
        ("white", "blue", "green", "red", "purple"),
        receives_in=True,
    ),
    CategoryInfo(
        "flower_pot",
        ("flower pot", "flowerpot", "plant pot", "planter"),
        _OPEN,
        RIM,
        (0.11, 0.11, 0.10),
        ("brown", "white", "grey", "green"),
        receives_in=True,
    ),
    CategoryInfo(
        "bucket",
        ("bucket", "pail", "ice bucket"),
        {HANDLE: ("handle",), **_OPEN, "Hanging Handle": ("handle",)},
        RIM,
        (0.19, 0.165, 0.132),
        ("blue", "red", "green", "grey", "yellow"),
        receives_in=True,
    ),
)
