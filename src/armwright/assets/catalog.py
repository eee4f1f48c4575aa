"""The vocabulary of objects: what categories exist, what people call them, which regions they have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from armwright.core.errors import UnknownNameError
from armwright.core.task import RegionName

COLOURS: Mapping[str, tuple[float, float, float]] = {
    "red": (0.78, 0.11, 0.11),
    "green": (0.16, 0.55, 0.22),
    "blue": (0.13, 0.32, 0.72),
    "yellow": (0.93, 0.78, 0.15),
    "orange": (0.92, 0.48, 0.12),
    "purple": (0.46, 0.22, 0.60),
    "pink": (0.93, 0.55, 0.68),
    "brown": (0.45, 0.29, 0.16),
    "black": (0.10, 0.10, 0.11),
    "white": (0.92, 0.92, 0.90),
    "grey": (0.55, 0.56, 0.57),
}


@dataclass(frozen=True)
class CategoryInfo:
    """What language and scenes need to know of a category without building one.

    Attributes:
        name: Registry name.
        words: What people call it, singular, most usual first.
        regions: Region name -> part names.
        grasp: Region grasped when the sentence names none.
        colours: Colours an instance is drawn from when the sentence names none.
        size_m: Typical extent x, y, z [m], for layout before an instance is drawn.
        static: Fixed by nature.
        receives_in, receives_on: Something may be put in it, on it.
        fits_in_hand: A parallel gripper with 70 mm opening can hold it by its grasp region.
    """

    name: str
    words: tuple[str, ...]
    regions: Mapping[RegionName, tuple[str, ...]]
    grasp: RegionName
    size_m: tuple[float, float, float]
    colours: tuple[str, ...] = ("white", "red", "blue", "green", "yellow", "grey")
    static: bool = False
    receives_in: bool = False
    receives_on: bool = False
    fits_in_hand: bool = True
    extra: Mapping[str, str] = field(default_factory=dict)


_BODY: RegionName = "Graspable Body"
_HANDLE: RegionName = "Graspable Handle"
_RIM: RegionName = "Graspable Rim"

_ALL: tuple[CategoryInfo, ...] = (
    CategoryInfo(
        "mug",
        ("mug", "coffee mug", "mugcup", "mug cup", "coffee cup", "beer mug", "tankard", "stein"),
        {
            _HANDLE: ("handle",),
            _BODY: ("body",),
            _RIM: ("rim",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
            "Hanging Handle": ("handle",),
        },
        _HANDLE,
        (0.12, 0.085, 0.095),
        receives_in=True,
    ),
    CategoryInfo(
        "cup",
        (
            "cup",
            "teacup",
            "tea cup",
            "drinking cup",
            "tumbler",
            "glass",
            "drinking glass",
            "beaker",
            "goblet",
            "chalice",
        ),
        {
            _BODY: ("body",),
            _RIM: ("rim",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
        },
        _BODY,
        (0.063, 0.063, 0.10),
        receives_in=True,
    ),
    CategoryInfo(
        "paper_cup",
        ("paper cup", "papercup", "disposable cup", "takeaway cup", "takeout cup", "to go cup", "cardboard cup"),
        {
            _BODY: ("body",),
            _RIM: ("rim",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
        },
        _BODY,
        (0.075, 0.075, 0.11),
        ("white", "brown", "green"),
        receives_in=True,
    ),
    CategoryInfo(
        "bowl",
        ("bowl", "dish", "basin", "soup bowl", "salad bowl", "mixing bowl", "cereal bowl"),
        {
            _RIM: ("rim",),
            _BODY: ("body",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
        },
        _RIM,
        (0.16, 0.16, 0.065),
        receives_in=True,
    ),
    CategoryInfo(
        "plate",
        ("plate", "saucer", "dinner plate", "side plate", "platter"),
        {_RIM: ("rim",), "Support Surface": ("top",)},
        _RIM,
        (0.22, 0.22, 0.025),
        receives_on=True,
    ),
    CategoryInfo(
        "can",
        ("can", "soup can", "tin", "tin can", "soupcan", "coffee can", "soda can", "canister"),
        {_BODY: ("body",), "Support Surface": ("top", "seam"), "Pushable Surface": ("body",)},
        _BODY,
        (0.066, 0.066, 0.10),
        ("red", "blue", "green", "yellow"),
        receives_on=True,
    ),
    CategoryInfo(
        "bottle",
        ("bottle", "water bottle", "scrub bottle", "scrubbottle", "wine bottle", "flask"),
        {
            _BODY: ("body", "label"),
            "Graspable Lid": ("cap",),
            "Pour Out": ("cap",),
            "Pushable Surface": ("body", "label"),
        },
        _BODY,
        (0.065, 0.065, 0.20),
        ("blue", "green", "white", "red"),
    ),
    CategoryInfo(
        "box",
        (
            "box",
            "cardboard box",
            "package",
            "packet",
            "parcel",
            "cracker box",
            "sugar box",
            "cereal box",
            "chocolate box",
        ),
        {_BODY: ("body", "label"), "Support Surface": ("top",), "Pushable Surface": ("body", "label")},
        _BODY,
        (0.06, 0.10, 0.14),
        ("brown", "red", "yellow", "blue"),
        receives_on=True,
    ),
    CategoryInfo(
        "carton",
        ("carton", "milk carton", "juice carton", "milk box", "juice box"),
        {_BODY: ("body", "label"), "Pour Out": ("spout",), "Pushable Surface": ("body", "label")},
        _BODY,
        (0.065, 0.065, 0.18),
        ("white", "blue", "green", "orange"),
    ),
    CategoryInfo(
        "tube",
        ("tube", "toothpaste", "toothpaste tube"),
        {_BODY: ("body",), "Graspable Lid": ("cap",)},
        _BODY,
        (0.16, 0.045, 0.035),
        ("white", "blue", "red"),
    ),
    CategoryInfo(
        "banana",
        ("banana",),
        {_BODY: ("body",), "Graspable Handle": ("stem",)},
        _BODY,
        (0.18, 0.05, 0.035),
        ("yellow",),
    ),
    CategoryInfo(
        "carrot",
        ("carrot", "leek", "parsnip"),
        {_BODY: ("body",), _HANDLE: ("leaves",)},
        _BODY,
        (0.17, 0.035, 0.035),
        ("orange",),
    ),
    CategoryInfo(
        "cube",
        ("cube", "block", "toy block", "building block", "brick", "dice"),
        {_BODY: ("body",), "Support Surface": ("top",)},
        _BODY,
        (0.04, 0.04, 0.04),
        ("red", "green", "blue", "yellow"),
        receives_on=True,
    ),
    CategoryInfo(
        "cutting_board",
        ("cutting board", "chopping board", "board", "chopping block", "breadboard", "bread board"),
        {_RIM: ("edge",), _HANDLE: ("handle",), "Support Surface": ("top",)},
        _HANDLE,
        (0.30, 0.19, 0.018),
        ("brown", "white"),
        receives_on=True,
    ),
    CategoryInfo(
        "pan",
        ("pan", "frying pan", "skillet", "fry pan", "frypan", "wok"),
        {
            _HANDLE: ("handle",),
            _RIM: ("rim",),
            _BODY: ("body",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
        },
        _HANDLE,
        (0.38, 0.20, 0.06),
        ("black", "grey", "red"),
        receives_in=True,
    ),
    CategoryInfo(
        "pot",
        ("pot", "cooking pot", "saucepan", "stockpot", "stew pot", "soup pot", "casserole"),
        {
            _HANDLE: ("handle",),
            "Graspable Lid": ("lid_knob",),
            _BODY: ("body",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
            _RIM: ("rim",),
        },
        _HANDLE,
        (0.26, 0.18, 0.14),
        ("grey", "red", "blue", "black"),
        receives_in=True,
    ),
    CategoryInfo(
        "kettle",
        ("kettle", "teapot", "tea pot", "tea kettle", "teakettle", "electric kettle"),
        {_HANDLE: ("handle",), _BODY: ("body",), "Pour Out": ("spout",), "Graspable Lid": ("lid_knob",)},
        _HANDLE,
        (0.21, 0.14, 0.19),
        ("grey", "white", "blue", "red"),
    ),
    CategoryInfo(
        "scoop",
        ("scoop", "ladle", "spoon", "measuring scoop", "serving spoon", "tablespoon", "teaspoon"),
        {_HANDLE: ("handle",), "Pour Out": ("rim",), "Containment": ("interior",)},
        _HANDLE,
        (0.19, 0.06, 0.04),
        ("grey", "white", "red"),
    ),
    CategoryInfo(
        "tray",
        ("tray", "serving tray", "tea tray"),
        {_RIM: ("rim",), _HANDLE: ("handle",), "Support Surface": ("top",)},
        _RIM,
        (0.23, 0.33, 0.065),
        ("grey", "brown", "black"),
        receives_on=True,
    ),
    CategoryInfo(
        "basket",
        ("basket", "bin", "container", "hamper", "crate", "bread basket", "fruit basket"),
        {
            _HANDLE: ("handle",),
            _RIM: ("rim",),
            "Pour Out": ("rim",),
            "Pour In": ("interior", "rim"),
            "Containment": ("interior",),
        },
        _HANDLE,
        (0.18, 0.24, 0.145),
        ("brown", "white", "grey"),
        receives_in=True,
    ),
    CategoryInfo(
        "mug_rack",
        (
            "mug rack",
            "rack",
            "mug tree",
            "cup rack",
            "cup tree",
            "mug hook",
            "hook",
            "mug holder",
            "cup holder",
            "mug stand",
        ),
        {"Hook": ("hook",), _BODY: ("post",)},
        _BODY,
        (0.20, 0.16, 0.34),
        ("brown", "black"),
        static=True,
        fits_in_hand=False,
    ),
    CategoryInfo(
        "shelf",
        ("shelf", "bookshelf", "woodshelf", "rack shelf", "bookcase", "shelving unit"),
        {"Support Surface": ("board",), _BODY: ("side",)},
        _BODY,
        (0.26, 0.60, 0.42),
        ("brown", "white"),
        static=True,
        receives_on=True,
        fits_in_hand=False,
    ),
    CategoryInfo(
        "coffee_machine",
        ("coffee machine", "coffee maker", "coffeemaker", "espresso machine", "espresso maker", "coffee brewer"),
        {"Support Surface": ("tray",), "Button": ("button",), _BODY: ("body",)},
        _BODY,
        (0.26, 0.22, 0.32),
        ("black", "grey", "red"),
        static=True,
        receives_on=True,
        fits_in_hand=False,
    ),
    CategoryInfo(
        "cabinet",
        ("cabinet", "drawer cabinet", "drawer", "chest of drawers", "cupboard", "dresser", "drawer unit"),
        {
            "Openable Handle": ("handle",),
            "Pushable Surface": ("front",),
            "Support Surface": ("top",),
            "Containment": ("interior",),
        },
        "Openable Handle",
        (0.30, 0.34, 0.34),
        ("brown", "white"),
        static=True,
        receives_in=True,
        receives_on=True,
        fits_in_hand=False,
    ),
    CategoryInfo(
        "microwave",
        ("microwave", "microwave oven", "oven"),
        {
            "Openable Handle": ("handle",),
            "Pushable Surface": ("door", "window"),
            "Containment": ("interior",),
            "Button": ("button",),
            "Support Surface": ("top",),
        },
        "Openable Handle",
        (0.36, 0.44, 0.26),
        ("white", "black", "grey"),
        static=True,
        receives_in=True,
        receives_on=True,
        fits_in_hand=False,
    ),
)

CATALOG: Mapping[str, CategoryInfo] = {info.name: info for info in _ALL}


def category_info(name: str) -> CategoryInfo:
    """Return what is known of a category.

    Raises:
        UnknownNameError: There is none of that name.
    """
    try:
        return CATALOG[name]
    except KeyError:
        raise UnknownNameError("category", name, CATALOG) from None
