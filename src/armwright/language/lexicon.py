"""The closed part of the vocabulary: verbs, relations, parts, colours and the small words of English."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from armwright.core.task import RelationName, SpotName

FrameName = Literal["pick", "place", "pour", "fill", "push", "pull", "open", "close", "hang", "hold", "stack", "go"]
VerbForm = Literal["base", "ing", "past"]

_VERB_LEMMAS: Mapping[FrameName, str] = {
    "pick": (
        "pick grab grasp take lift get fetch collect retrieve seize clutch grip snatch obtain raise pluck remove hoist "
        "elevate acquire hand give pass gather select extract unload unhook detach withdraw"
    ),
    "place": (
        "place put set lay drop deposit stash stow store position rest insert move relocate transfer shift carry "
        "transport bring deliver return load slot tuck arrange stick pop plop locate settle park stand seat add toss "
        "plop slip leave shelve reposition plonk situate release pack lower throw chuck"
    ),
    "pour": "pour serve empty decant tip drain dump spill tilt",
    "fill": "fill refill",
    "push": "push shove nudge press poke bump slide swing scoot",
    "pull": "pull drag tug yank draw",
    "open": "open unclose uncover uncap",
    "close": "close shut",
    "hang": "hang suspend hook dangle",
    "hold": "hold keep hover",
    "stack": "stack pile",
    "go": "go belong end land sit",
}

_IRREGULAR: Mapping[str, tuple[str, VerbForm]] = {
    "took": ("take", "past"),
    "taken": ("take", "past"),
    "got": ("get", "past"),
    "given": ("give", "past"),
    "laid": ("lay", "past"),
    "put": ("put", "base"),
    "set": ("set", "base"),
    "brought": ("bring", "past"),
    "stuck": ("stick", "past"),
    "stood": ("stand", "past"),
    "hung": ("hang", "past"),
    "held": ("hold", "past"),
    "kept": ("keep", "past"),
    "drawn": ("draw", "past"),
}


def bag(text: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(text.split())


def bag_in_order(text: str) -> tuple[str, ...]:
    """Return the words of a text in order."""
    return tuple(text.split())


def _inflect(lemma: str) -> dict[str, VerbForm]:
    forms: dict[str, VerbForm] = {lemma: "base", lemma + "s": "base", lemma + "es": "base"}
    stem = lemma[:-1] if lemma.endswith("e") else lemma
    forms |= {stem + "ing": "ing", stem + "ed": "past"}
    forms |= {lemma + lemma[-1] + "ing": "ing", lemma + lemma[-1] + "ed": "past"}
    if lemma.endswith("y"):
        forms |= {lemma[:-1] + "ied": "past", lemma[:-1] + "ies": "base"}
    return forms


def _verb_table() -> dict[str, tuple[FrameName, VerbForm]]:
    frames: dict[str, FrameName] = {}
    table: dict[str, tuple[FrameName, VerbForm]] = {}
    for frame, lemmas in _VERB_LEMMAS.items():
        for lemma in lemmas.split():
            frames[lemma] = frame
            for word, form in _inflect(lemma).items():
                table.setdefault(word, (frame, form))
    for word, (lemma, form) in _IRREGULAR.items():
        table[word] = (frames[lemma], form)
    return table


VERBS: Mapping[str, tuple[FrameName, VerbForm]] = _verb_table()
"""Every inflected verb -> its frame and form."""

LIFTING = frozenset({"lift", "raise", "hoist", "elevate", "lifting", "raising", "hoisting", "elevating"})
"""Picking verbs that mean *hold* when a place above something follows."""

UNCOVERING = frozenset({"take", "lift", "remove", "raise", "taking", "lifting", "removing", "raising"})
"""Picking verbs that, with a lid as object, open what it is on."""

CARRYING = frozenset(
    {"take", "bring", "get", "fetch", "taking", "bringing", "taken", "getting", "pass", "hand", "give"}
)
"""Picking verbs that mean *move there* when a goal follows."""

RELEASING = frozenset({"drop", "dropping", "release", "releasing", "lower", "lowering", "let go"})
"""Placing verbs that, without a goal, leave a thing on what is below the hand."""

UNSUPPORTED_VERBS = bag(
    "rotate turn spin twist wipe clean wash scrub cut slice chop peel stir mix kick break crush "
    "squeeze shake flip fold cook boil heat fry eat drink draw write paint sweep screw unscrew plug "
    "unplug light burn inspect look watch measure weigh count sort organise organize tidy swap exchange "
    "juggle balance touch tap knock roll sing dance walk drive fly jump sleep paint photograph scan "
    "switch rinse dry bake"
)
"""Common verbs outside the nine primitives, so that a refusal can name them."""


@dataclass(frozen=True)
class RelationPhrase:
    """How a phrase places one thing against another.

    Attributes:
        relation: The relation, or None when the target decides (``to``, ``from``).
        goal: It can only say where something goes (``into``, ``onto``, ``to``).
        source: It says where something is now (``from``, ``off``, ``out of``).
        unsupported: It is understood, but no relation of the scene.
    """

    relation: RelationName | None
    goal: bool = False
    source: bool = False
    unsupported: bool = False


def _relation_table() -> dict[tuple[str, ...], RelationPhrase]:
    table: dict[tuple[str, ...], RelationPhrase] = {}

    def add(relation: RelationName | None, phrases: str, *, goal: bool = False, source: bool = False) -> None:
        for phrase in phrases.split("|"):
            table[tuple(phrase.split())] = RelationPhrase(relation, goal, source)

    add("on", "on|upon|on top of|on the top of|atop|atop of|at the top of|top of|on the surface of")
    add("on", "onto|on to|onto the top of|up on|up onto|down on|down onto|down on top of|on top", goal=True)
    add(
        "in",
        "in|inside|inside of|within|in the inside of|in the middle of|in the center of|in the centre of|"
        "at the bottom of",
    )
    add("on", "at the center of|at the centre of|at the middle of|at the edge of|on the edge of|in the corner of")
    add("in", "into|in to|down into|down in", goal=True)
    add("above", "above|over|up above|over the top of|high above|directly above|right above|just above|right over")
    add("under", "under|underneath|beneath|below|at the foot of")
    add("in_front_of", "in front of|in the front of|at the front of|to the front of|ahead of|before")
    add("behind", "behind|in back of|at the back of|in the back of|to the back of|to the rear of|at the rear of")
    add(
        "next_to",
        "next to|beside|besides|near|close to|near to|nearby|alongside|adjacent to|by|right next to|right beside|"
        "closest to|nearest|nearest to|"
        "at the side of|by the side of|close by|in the vicinity of|against|along|side by side with|around|at",
    )
    for side in ("left", "right"):
        name: RelationName = "left_of" if side == "left" else "right_of"
        add(
            name,
            f"{side} of|to the {side} of|on the {side} of|at the {side} of|to the {side} side of|on the {side} side of|"
            f"on the {side} hand side of|to the {side} hand side of|at the {side} side of|just {side} of|to {side} of|"
            f"immediately {side} of|immediately to the {side} of|just to the {side} of|directly {side} of|"
            f"on {side} of|directly to the {side} of|further {side} of|on its {side} of",
        )
    add(None, "to|toward|towards|over to|across to|up to|back to|as far as|next", goal=True)
    add(None, "from|off|off of|out of|out from|from out of|from off|from inside|from on top of", source=True)
    for phrase in ("between", "in between", "midway between", "halfway between", "amid", "among", "amongst"):
        table[tuple(phrase.split())] = RelationPhrase(None, unsupported=True)
    del table[("next",)], table[("before",)]
    return table


RELATION_PHRASES: Mapping[tuple[str, ...], RelationPhrase] = _relation_table()

SIDE_PHRASES: Mapping[tuple[str, ...], RelationName] = {
    ("to", "the", "left"): "left_of",
    ("to", "the", "right"): "right_of",
    ("on", "the", "left"): "left_of",
    ("on", "the", "right"): "right_of",
    ("on", "its", "left"): "left_of",
    ("on", "its", "right"): "right_of",
    ("to", "its", "left"): "left_of",
    ("to", "its", "right"): "right_of",
    ("leftwards",): "left_of",
    ("rightwards",): "right_of",
    ("leftward",): "left_of",
    ("rightward",): "right_of",
    ("left",): "left_of",
    ("right",): "right_of",
    ("forward",): "behind",
    ("forwards",): "behind",
    ("away", "from", "you"): "behind",
    ("away", "from", "the", "robot"): "behind",
    ("backward",): "in_front_of",
    ("backwards",): "in_front_of",
    ("toward", "you"): "in_front_of",
    ("towards", "you"): "in_front_of",
    ("toward", "yourself"): "in_front_of",
    ("towards", "yourself"): "in_front_of",
    ("toward", "the", "robot"): "in_front_of",
    ("towards", "the", "robot"): "in_front_of",
    ("closer",): "in_front_of",
}
"""Directions without a reference object: against where the thing stands now, seen from the robot."""

PARTS: Mapping[str, str] = {
    **dict.fromkeys(("handle", "handles", "grip", "ear"), "handle"),
    **dict.fromkeys(("rim", "edge", "edges", "lip", "brim", "border"), "rim"),
    **dict.fromkeys(
        ("body", "side", "sides", "middle", "waist", "center", "centre", "belly", "wall", "walls", "midsection"), "body"
    ),
    **dict.fromkeys(("lid", "knob", "cap", "cover"), "lid"),
    **dict.fromkeys(("stem", "leaves", "stalk", "greens"), "stem"),
    **dict.fromkeys(("door", "doors"), "door"),
    **dict.fromkeys(("button", "buttons", "trigger", "pump", "lever", "switch"), "button"),
    **dict.fromkeys(("neck", "shaft"), "neck"),
    **dict.fromkeys(("blade", "head"), "head"),
    **dict.fromkeys(("spout",), "spout"),
    **dict.fromkeys(("base", "bottom"), "base"),
    **dict.fromkeys(("top", "surface", "lid top"), "top"),
}
"""A part as people say it -> the part meant."""

DRAWER_SPOTS: Mapping[str, SpotName] = {
    **dict.fromkeys(bag("top upper topmost uppermost highest"), "top"),
    **dict.fromkeys(bag("middle central centre center"), "middle"),
    **dict.fromkeys(bag("bottom lower bottommost lowest"), "bottom"),
}
"""Which of several drawers, one above the other."""

SURFACES = bag(
    "table desk desktop counter countertop tabletop worktop workbench bench workspace floor ground worksurface"
)
"""Words for the table the robot stands at; its id in relations is ``table``."""

COLOUR_WORDS: Mapping[str, str] = {
    **{name: name for name in bag("red green blue yellow orange purple pink brown black white grey")},
    **dict.fromkeys(("crimson", "scarlet", "ruby", "maroon", "cherry"), "red"),
    **dict.fromkeys(("gray", "silver", "silvery"), "grey"),
    **dict.fromkeys(("navy", "azure", "turquoise", "teal", "cyan"), "blue"),
    **dict.fromkeys(("violet", "lilac", "lavender"), "purple"),
    **dict.fromkeys(("golden", "gold"), "yellow"),
    **dict.fromkeys(("olive", "lime", "emerald"), "green"),
    **dict.fromkeys(("magenta", "rose"), "pink"),
    **dict.fromkeys(("tan", "beige", "chestnut"), "brown"),
    **dict.fromkeys(("ivory", "cream"), "white"),
}

SIZE_WORDS: Mapping[str, str] = {
    **dict.fromkeys(bag("large big huge tall giant bigger larger biggest largest long wide"), "large"),
    **dict.fromkeys(bag("small little tiny mini short smaller smallest miniature compact"), "small"),
}

MATERIAL_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("wooden", "wood", "oak"), "wood"),
    **dict.fromkeys(("metal", "metallic", "iron", "aluminium", "aluminum", "copper"), "metal"),
    **dict.fromkeys(("steel", "stainless"), "steel"),
    "bamboo": "bamboo",
    "rubber": "rubber",
    "cardboard": "cardboard",
    **dict.fromkeys(("plastic",), "plastic"),
    **dict.fromkeys(("ceramic", "porcelain", "china", "clay", "earthenware", "stoneware"), "ceramic"),
    **dict.fromkeys(("glass", "crystal"), "glass"),
    "paper": "paper",
    **dict.fromkeys(("wicker", "woven"), "wicker"),
}

NUMBERS: Mapping[str, int] = {
    **{
        word: n
        for n, word in enumerate(
            bag_in_order(
                "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
                "seventeen eighteen nineteen"
            ),
            start=1,
        )
    },
    **{word: 10 * n for n, word in enumerate(bag_in_order("twenty thirty forty fifty sixty seventy eighty ninety"), 2)},
    **{str(n): n for n in range(1, 100)},
    "both": 2,
    "pair": 2,
    "couple": 2,
    "pairs": 2,
    "dozen": 12,
    "hundred": 100,
    "thousand": 1000,
    "single": 1,
}

DEFINITE = bag("the this that these those your my its his her their our said")
INDEFINITE = frozenset(["a", "an", "some", "any", "one"])
OTHER = bag("another other second third remaining last")
ALL = frozenset(["all", "both", "each", "every"])
DETERMINERS = DEFINITE | INDEFINITE | frozenset(("another", "all", "both", "each", "every"))
POSSESSIVE = frozenset(["its", "their", "his", "her"])

PRONOUNS: Mapping[str, str] = {
    "it": "it",
    "them": "them",
    "they": "them",
    "itself": "itself",
    "themselves": "itself",
    "this": "it",
    "that": "it",
    "these": "them",
    "those": "them",
    "both": "them",
    "there": "there",
}

EVERYTHING = "everything"
GENERIC_NOUNS: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(("object", "item", "thing", "objects", "items", "things"), ()),
    EVERYTHING: (),
    "fruit": ("banana",),
    "vegetable": ("carrot",),
    "veggie": ("carrot",),
    "cookware": ("pan", "pot"),
    "utensil": ("scoop",),
    "crockery": ("plate", "bowl"),
    "appliance": ("microwave", "coffee_machine"),
    "cups": (),
}
"""Nouns that name no category of their own -> categories they may stand for."""

SUBSTANCES = bag(
    "water soup coffee tea milk juice liquid contents content content's cereal rice beans bean sugar salt "
    "flour drink soda cola cocoa sauce oil wine beer grain grains pasta ingredients beads marbles stuff "
    "nuts candy candies oats flakes lemonade broth batter pellets powder inside"
)
"""What is poured; it needs no object of its own."""

CONTENT_WORDS = bag(
    "tomato chicken vegetable cheese cheez chocolate cracker soup tuna bean coffee tea water milk juice "
    "cereal sugar salt pudding gelatin ketchup mustard shampoo soap wine beer soda cola coke oil vinegar "
    "sauce beans corn tinned canned spam meat potted snack biscuit cookie rice pasta oatmeal popcorn "
    "bleach cleanser drink storage kitchen lunch shipping gift toy cooking frying drinking fruit orange "
    "apple dinner salad serving baking bread laundry electric espresso instant little hot medicine"
)
"""Words before a noun that say what a package holds or is for; understood and not needed to find the object."""

IGNORED = bag(
    "mind love for but upright d ll ve re "
    "please kindly could would will shall should must may might can you i we he she want wants need needs "
    "like liked now first firstly finally lastly also so just carefully gently safely simply directly "
    "right exactly nicely go ahead make sure try task your job is hello hi hey ok okay thanks thank let "
    "us me robot arm gripper hand fingers lets be able to the a an of do does it's there's what i'd we'd "
    "you'd i'll let's am are next afterwards afterward instead again today quickly robotic manipulator "
    "goal instruction assignment mission ensure that which who has have been being was were once up down "
    "away back along together help using use sir friend dear yourself only properly immediately straight "
    "very really quite some any at all in order there here ready begin start by off out over on such way "
    "as well firmly tightly securely own currently already this these those both then and new same "
    "perhaps maybe someone somebody"
)
"""Words that may stand anywhere without changing what is asked."""

FOREIGN = bag(
    "der die das und den dem ein eine einen nimm nehmen stelle stell auf lege leg tasse teller bitte mit "
    "neben le la les et sur une un du de dans prends prendre mets mettre pose assiette tasse bouteille il "
    "el los y en coge toma pon poner taza plato sobre el por favor con della nel sulla prendi metti "
    "piatto tazza e o na no pegue coloque pratos xicara caneca pak het een op zet beker bord og tag "
    "koppen paa ta muggen och"
) - frozenset(("no", "die", "pose", "leg", "tag", "pak", "con"))
"""Frequent words of other languages, to tell a foreign sentence from a misspelt one."""
