"""Things on a desk: names, words and regions."""

from __future__ import annotations

from armwright.assets.entries._entry import BODY, CategoryInfo

ENTRIES: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "pen",
        ("pen", "biro", "ink pen"),
        {BODY: ("body",)},
        BODY,
        (0.137, 0.0105, 0.0135),
        ("blue", "black", "red", "green"),
    ),
    CategoryInfo(
        "marker",
        ("marker", "marker pen", "felt pen", "felt tip pen", "highlighter", "whiteboard marker"),
        {BODY: ("body",), "Graspable Lid": ("cap",)},
        BODY,
        (0.127, 0.017, 0.017),
        ("blue", "black", "red", "green", "yellow", "pink"),
    ),
    CategoryInfo(
        "stapler",
        ("stapler",),
        {BODY: ("arm", "base"), "Button": ("arm",)},
        BODY,
        (0.135, 0.034, 0.048),
        ("black", "red", "blue", "grey"),
    ),
    CategoryInfo(
        "tape",
        ("tape", "roll of tape", "tape roll", "duct tape", "adhesive tape", "sticky tape", "masking tape"),
        {BODY: ("body",), "Hanging Handle": ("core",)},
        BODY,
        (0.058, 0.058, 0.032),
        ("grey", "yellow", "brown", "white", "blue"),
    ),
    CategoryInfo(
        "book",
        ("book", "novel", "textbook", "paperback", "cookbook"),
        {BODY: ("cover", "spine"), "Support Surface": ("top",)},
        BODY,
        (0.144, 0.21, 0.028),
        ("red", "blue", "green", "brown", "black", "yellow"),
        receives_on=True,
    ),
    CategoryInfo(
        "phone",
        ("phone", "smartphone", "mobile phone", "cell phone", "cellphone", "telephone"),
        {BODY: ("body",), "Button": ("button",)},
        BODY,
        (0.148, 0.067, 0.0105),
        ("black", "white", "blue", "pink"),
    ),
    CategoryInfo(
        "remote_control",
        ("remote control", "remote", "remote controller"),
        {BODY: ("body",), "Button": ("button",)},
        BODY,
        (0.175, 0.045, 0.020),
        ("black", "grey", "white"),
    ),
    CategoryInfo(
        "computer_mouse",
        ("computer mouse", "mouse", "wireless mouse"),
        {BODY: ("body",), "Button": ("button",)},
        BODY,
        (0.107, 0.059, 0.039),
        ("black", "white", "grey", "red"),
    ),
)
