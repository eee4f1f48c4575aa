"""Fixed phrases and word sets that only cutting a sentence into items needs."""

from __future__ import annotations

from armwright.language import lexicon as lex

EXIST = (
    ("there", "is"),
    ("there", "are"),
    ("there", "'s"),
    ("there", "stands"),
    ("there", "sits"),
    ("there", "lies"),
    ("you", "see"),
    ("you", "can", "see"),
    ("you", "have"),
    ("we", "have"),
    ("i", "have"),
    ("contains",),
    ("containing",),
    ("includes",),
    ("including",),
    ("has",),
    ("holds",),
    ("holding",),
    ("ignore",),
    ("ignoring",),
    ("consists", "of"),
    ("given",),
    ("imagine",),
    ("suppose",),
)
IGNORED_PHRASES = (
    ("go", "ahead", "and"),
    ("a", "bit"),
    ("if", "you", "don", "t", "mind"),
    ("if", "you", "do", "not", "mind"),
    ("if", "you", "please"),
    ("a", "little", "bit"),
    ("then", "stop"),
    ("and", "stop"),
    ("go", "ahead"),
    ("as", "a", "distractor"),
    ("as", "an", "obstacle"),
    ("as", "distractors"),
    ("as", "clutter"),
    ("as", "well"),
    ("at", "the", "same", "time"),
    ("one", "at", "a", "time"),
    ("one", "by", "one"),
    ("one", "after", "another"),
    ("one", "after", "the", "other"),
    ("by", "hand"),
    ("for", "me"),
    ("for", "us"),
    ("if", "possible"),
    ("if", "you", "can"),
    ("if", "you", "would"),
    ("in", "the", "air"),
    ("in", "air"),
    ("in", "place"),
    ("into", "place"),
    ("in", "position"),
    ("in", "your", "hand"),
    ("in", "your", "gripper"),
    ("in", "hand"),
    ("of", "course"),
    ("in", "the", "scene"),
    ("in", "the", "background"),
    ("nearby",),
    ("as", "usual"),
    ("in", "order", "to"),
    ("by", "themselves"),
    ("you", "are", "holding"),
    ("make", "sure", "to"),
    ("make", "sure", "that"),
    ("from", "the", "scene"),
    ("over", "there"),
    ("right", "now"),
    ("hold", "of"),
    ("at", "once"),
    ("in", "total"),
    ("so", "that", "it", "is"),
    ("so", "that", "it", "sits"),
    ("so", "that", "it", "stands"),
    ("so", "that", "it", "rests"),
    ("so", "it", "is"),
    ("so", "it", "sits"),
    ("such", "that", "it", "is"),
    ("until", "it", "is"),
    ("so", "that", "it", "'s"),
    ("so", "it", "'s"),
    ("such", "that", "it", "'s"),
    ("until", "it", "'s"),
    ("so", "that"),
    ("right", "away"),
    ("in", "a", "row"),
    ("where", "it", "is"),
    ("where", "they", "are"),
    ("while", "you", "are", "at", "it"),
)
HOLD_OF = (("get", "hold", "of"), ("take", "hold", "of"), ("get", "a", "hold", "of"), ("take", "a", "hold", "of"))
ORIGINS = (
    ("to", "its", "place"),
    ("in", "its", "place"),
    ("to", "where", "it", "was"),
    ("where", "it", "was"),
    ("where", "it", "came", "from"),
    ("where", "you", "found", "it"),
    ("to", "its", "original", "place"),
    ("to", "its", "original", "position"),
    ("in", "its", "original", "place"),
    ("in", "its", "original", "position"),
)
LET_GO = (("let", "go", "of"), ("letting", "go", "of"), ("let", "go"))
STACKING = (
    ("on", "top", "of", "each", "other"),
    ("on", "top", "of", "one", "another"),
    ("onto", "each", "other"),
    ("on", "each", "other"),
    ("on", "one", "another"),
    ("one", "on", "top", "of", "the", "other"),
    ("one", "on", "the", "other"),
    ("into", "each", "other"),
    ("inside", "each", "other"),
    ("into", "a", "tower"),
    ("in", "a", "tower"),
    ("into", "a", "stack"),
    ("in", "a", "stack"),
    ("into", "a", "pile"),
    ("in", "a", "pile"),
    ("to", "form", "a", "tower"),
    ("to", "make", "a", "tower"),
)
SPOTS = lex.bag("middle center centre edge corner")
"""Words by which a relation names a spot on a thing (``in the middle of``); no spot is aimed at."""
APPROACHES = lex.bag("left right front back top above behind")
WISHES = lex.bag("want wants wanted need needs like prefer have")
BUILD = lex.bag("build make create form construct assemble")
TOWERS = lex.bag("tower stack pile")
HERE = (
    ("inside",),
    ("within",),
    ("in",),
    ("on",),
    ("underneath",),
    ("beneath",),
    ("on", "top"),
    ("alongside",),
    ("in", "there"),
    ("on", "there"),
    ("behind",),
    ("beside",),
)
"""Relations that may stand alone: to the thing last spoken of."""
BE = lex.bag(
    "is are was were be being been sits stands lies rests hangs sit stand lie stay stays remain remains located"
)
LOCATED = lex.bag(
    "hanging leaning standing sitting lying resting located placed positioned situated found currently that which"
)
REGION_LEADS = lex.bag("by from at around using holding grasping gripping via with grabbing through")
NEGATIONS = lex.bag("not never without avoid avoiding except don t or neither nor") | {"n't"}
RESULTS = {"open": "open", "closed": "closed", "shut": "closed"}
NONE = (
    ("no",),
    ("none", "of"),
    ("neither", "of"),
    ("neither",),
    ("zero",),
    ("0",),
    ("not", "any"),
    ("not", "a", "single"),
)
"""What makes a clause be about nothing."""
EXCEPTIONS = (
    ("except", "for"),
    ("except",),
    ("excepting",),
    ("excluding",),
    ("apart", "from"),
    ("aside", "from"),
    ("other", "than"),
    ("save", "for"),
    ("but", "not"),
    ("but",),
)
"""What leaves something out of *all* or *everything*; ``but`` only after those."""
TOO = (("too",), ("also",), ("as", "well"))
IDIOMS = (("set", "the", "table"), ("lay", "the", "table"), ("clear", "the", "table"), ("tidy", "up"))
"""What a task is called, before it is said what to do."""
CONTENTS = (
    ("what", "is", "in", "it"),
    ("what", "'s", "in", "it"),
    ("whatever", "is", "in", "it"),
    ("whatever", "it", "holds"),
    ("what", "it", "holds"),
    ("what", "it", "contains"),
    ("what", "is", "inside"),
)
"""What names what a vessel holds."""
MEASURES = lex.bag("cm mm m centimeters centimetres millimeters millimetres meters metres inches inch degrees")
