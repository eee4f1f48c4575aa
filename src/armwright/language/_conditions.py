"""Finds conditions: *if*, *unless*, *until*, *while* and states to wait for. None is tested, so none is acted on."""

from __future__ import annotations

from collections.abc import Sequence

from armwright.language import lexicon as lex

_OPENERS = (
    ("if",),
    ("unless",),
    ("whenever",),
    ("until",),
    ("till",),
    ("otherwise",),
    ("in", "case"),
    ("provided",),
    ("providing",),
    ("assuming",),
    ("as", "long", "as"),
    ("so", "long", "as"),
    ("every", "time"),
    ("each", "time"),
    ("depending", "on"),
    ("whether",),
)
_COURTESY = (
    ("if", "you", "please"),
    ("if", "you", "don", "t", "mind"),
    ("if", "you", "do", "not", "mind"),
    ("if", "possible"),
    ("if", "it", "is", "possible"),
    ("if", "it", "'s", "possible"),
    ("if", "you", "can"),
    ("if", "you", "could"),
    ("if", "you", "would"),
    ("if", "you", "like"),
    ("if", "you", "want"),
    ("if", "you", "will"),
    ("if", "i", "may"),
)
_REACHED = (("until", "it", "is"), ("until", "it", "'s"), ("till", "it", "is"), ("till", "it", "'s"))
"""What an action brings about itself may end it: ``push the drawer until it is closed``."""
_EVENTS = (("when",), ("once",), ("after",), ("as", "soon", "as"))
_BECOMES = lex.bag("is are 's was gets get becomes has have looks seems feels reaches reach says say")
_ENDS = ".,;:!?\n()"


def condition_at(words: Sequence[str], at: int, *, acted: bool | None) -> int:
    """Return the end of a condition that begins at ``at``; ``at`` if there is none.

    Args:
        words: Of the whole text.
        at: Where it may begin.
        acted: Whether the same sentence has asked for an action so far; None if it has said how things are.
    """
    if any(_has(words, at, phrase) for phrase in _OPENERS):
        allowed = _courtesy(words, at) or _reached(words, at)
        return at if allowed else _end(words, at + 1)
    if words[at] == "while" and acted is not None and _goes_on(words, at):
        return _end(words, at + 1)
    for phrase in _EVENTS:
        if _has(words, at, phrase) and _waits(words, at + len(phrase) - 1):
            return _end(words, at + 1)
    return at


def _has(words: Sequence[str], at: int, phrase: tuple[str, ...]) -> bool:
    return tuple(words[at : at + len(phrase)]) == phrase


def _end(words: Sequence[str], at: int) -> int:
    return next((k for k in range(at, len(words)) if words[k] in _ENDS), len(words))


def _courtesy(words: Sequence[str], at: int) -> bool:
    """Return whether ``if you can`` only asks politely: then the request or the end of the clause follows."""
    for phrase in _COURTESY:
        if _has(words, at, phrase):
            k = at + len(phrase)
            while k < len(words) and words[k] in ("please", "to", "kindly"):
                k += 1
            if k == len(words) or words[k] in _ENDS or words[k] in lex.VERBS or words[k] in ("and", "then", "but"):
                return True
    return False


def _reached(words: Sequence[str], at: int) -> bool:
    """Return whether what is waited for is what the action does: it opens, closes, or gets somewhere."""
    phrase = next((phrase for phrase in _REACHED if _has(words, at, phrase)), None)
    if phrase is None:
        return False
    state = list(words[at + len(phrase) : at + len(phrase) + 3])
    state = state[1:] if state[:1] and state[0] in ("fully", "completely", "all", "right") else state
    return bool(state) and (state[0] in ("open", "closed", "shut") or _place(state))


def _place(words: Sequence[str]) -> bool:
    return any(tuple(words[:n]) in lex.RELATION_PHRASES for n in (1, 2, 3))


def _goes_on(words: Sequence[str], at: int) -> bool:
    """Return whether ``while …`` asks for two things at a time, rather than how or what not to do."""
    following = words[at + 1 : at + 2]
    harmless = ("avoiding", "not", "never", "you")
    return bool(following) and following[0] not in harmless and not _by_part(words, at + 1)


def _by_part(words: Sequence[str], at: int) -> bool:
    """Return whether ``holding its handle`` follows: by which part, no second action."""
    held = words[at] in ("holding", "gripping", "grasping", "keeping")
    return held and any(word in lex.PARTS for word in words[at + 1 : _end(words, at + 1)])


def _waits(words: Sequence[str], at: int) -> bool:
    """Return whether a state is waited for that no action brings about: ``once it is full``, ``when I say so``."""
    stretch = list(words[at + 1 : _end(words, at + 1)])
    if any(_has(stretch, k, ("told",)) or _has(stretch, k, ("say", "so")) for k in range(len(stretch))):
        return True
    for k, word in enumerate(stretch[:-1]):
        if word not in _BECOMES:
            continue
        state = [w for w in stretch[k + 1 :] if w not in ("fully", "completely", "been", "all", "now", "being")]
        if not state or word in ("has", "have") or _place(state):
            return False
        verb = lex.VERBS.get(state[0])
        done = (verb is not None and verb[1] == "past") or state[0] in ("open", "closed", "shut", "put", "set")
        return not done and state[0] not in ("done", "finished", "there", "gone", "hanging", "standing", "held")
    return False
