"""Hand tools: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import BODY, HANDLE, CategoryInfo

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "hammer",
        ("hammer", "claw hammer", "mallet"),
        {HANDLE: ("handle",), BODY: ("head", "face", "claw")},
        HANDLE,
        (0.26, 0.11, 0.027),
        ("brown", "red", "blue", "yellow"),
    ),
    CategoryInfo(
        "screwdriver",
        ("screwdriver",),
        {HANDLE: ("handle",), BODY: ("shaft",)},
        HANDLE,
        (0.21, 0.031, 0.031),
        ("red", "yellow", "blue", "green", "black"),
    ),
    CategoryInfo(
        "wrench",
        ("wrench", "spanner", "combination wrench"),
        {HANDLE: ("handle",), BODY: ("jaw",), "Hanging Handle": ("ring",)},
        HANDLE,
        (0.21, 0.036, 0.0095),
        ("grey",),
    ),
    CategoryInfo(
        "scissors",
        ("scissors", "pair of scissors", "shears"),
        {HANDLE: ("handle",), BODY: ("blade",), "Hanging Handle": ("handle",)},
        HANDLE,
        (0.165, 0.085, 0.0105),
        ("red", "blue", "black", "green"),
    ),
    CategoryInfo(
        "drill",
        ("drill", "power drill", "cordless drill", "electric drill"),
        {HANDLE: ("handle",), BODY: ("body",), "Button": ("trigger",)},
        HANDLE,
        (0.235, 0.073, 0.21),
        ("yellow", "red", "green", "blue"),
    ),
)
