"""Words around a request that ask for it without being part of it: ``it would be great if you could …``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from armwright.language import lexicon as lex

_ASKING = lex.bag(
    "appreciate appreciated grateful great nice good lovely wonderful fantastic awesome perfect cool best helpful "
    "wonder wondering hope hoping wish expect expected ask asked asks asking tell told tells order command commanded "
    "instruct instructed request requested supposed meant important necessary favor favour kind kindness enough mind "
    "bother trouble pleasure user operator person my our love loved if prefer preferred have get getting had "
    "glad happy ideally basically objective purpose next step action thing idea time assist mean see plan m it"
)
"""Words that only ask, in a stretch before the verb."""
_CAUSING = lex.bag("have get make let ask tell want need like expect command instruct order request prefer")
_AGENTS = lex.bag("robot arm gripper manipulator machine hand system")


def lead_end(words: Sequence[str], at: int, *, wishes: Callable[[int], bool]) -> int:
    """Return the end of the words that only ask, which start a sentence at ``at``; ``at`` if there are none.

    Args:
        words: Of the whole text.
        at: Where the sentence starts.
        wishes: Tells whether the word at an index asks for a state of things (``want the mug on the plate``).
    """
    k = at
    while k < len(words) and not wishes(k) and (words[k] in _ASKING or words[k] in lex.IGNORED or words[k] in ",'s"):
        k += 1
    ends = k < len(words) and (words[k] in lex.VERBS or wishes(k))
    said = words[at:k]
    return k if ends and any(word in _ASKING for word in said) and set(said) != {"it"} else at


def agent_end(words: Sequence[str], at: int) -> int:
    """Return the end of ``have the robot`` or ``want your arm to``, from ``at`` on; else ``at``."""
    k = at + 1
    if words[at] not in _CAUSING:
        return at
    if words[k : k + 1] == ["for"]:
        k += 1
    while k < len(words) and (words[k] in lex.DEFINITE or words[k] in ("robot", "robotic")) and k < at + 4:
        if words[k] in _AGENTS and not (k + 1 < len(words) and words[k + 1] in _AGENTS):
            break
        k += 1
    return k + 1 if k < len(words) and words[k] in _AGENTS else at
