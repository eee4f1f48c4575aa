"""Compares what a parser understood with what was expected, whatever the objects are called."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations, product
from typing import Any

from armwright.assets.scene import ParsedTask

Expected = Mapping[str, Any]
"""One item of a sentence file: ``sentence``, and ``error: true`` or ``objects``, ``relations``, ``primitives``,
``queries`` as in the ``parse`` record."""


def grade(
    expected: Expected, parsed: ParsedTask | Exception, *, former: Mapping[str, str] | None = None
) -> tuple[bool, tuple[str, ...]]:
    """Return whether the parse is right, and every difference in words.

    Objects are matched by category and attributes, so ids may differ. Relations and queries are compared as sets,
    primitives in order; relations to the table are not compared, since everything stands on it unless said otherwise.

    Args:
        expected: An item of a sentence file.
        parsed: What the parser returned, or the exception that it raised.
        former: Category -> the one that it was split from after the expectation was written; counts as that one.
    """
    if isinstance(parsed, Exception):
        if expected.get("error"):
            return True, ()
        return False, (f"raised {type(parsed).__name__}: {parsed}",)
    if expected.get("error"):
        return False, ("expected an error",)
    wanted = _wanted(expected)
    got = _got(parsed)
    was = former or {}
    got["objects"] = {name: (was.get(kind, kind), rest) for name, (kind, rest) in got["objects"].items()}
    best: tuple[str, ...] | None = None
    for renaming in _renamings(wanted["objects"], got["objects"]):
        differences = tuple(_differences(wanted, got, renaming))
        if best is None or len(differences) < len(best):
            best = differences
        if not best:
            return True, ()
    return False, best or ("objects cannot be matched",)


def _wanted(expected: Expected) -> dict[str, Any]:
    objects = {
        str(name): (str(spec["category"]), tuple(sorted((spec.get("attributes") or {}).items())))
        for name, spec in (expected.get("objects") or {}).items()
    }
    return {
        "objects": objects,
        "relations": [tuple(map(str, edge)) for edge in expected.get("relations") or ()],
        "primitives": [_padded(step) for step in expected.get("primitives") or ()],
        "queries": [tuple(map(str, query)) for query in expected.get("queries") or ()],
    }


def _padded(step: Sequence[Any]) -> tuple[Any, ...]:
    return (*step, None, None)[:4]


def _got(parsed: ParsedTask) -> dict[str, Any]:
    return {
        "objects": {o.id: (o.category, tuple(sorted(o.attributes.items()))) for o in parsed.scene.objects},
        "relations": [(r.subject, r.relation, r.object) for r in parsed.scene.relations],
        "primitives": [(p.name, p.object, p.target, p.relation) for p in parsed.primitives],
        "queries": [(q.object, q.region, q.role) for q in parsed.queries],
    }


def _renamings(wanted: Mapping[str, Any], got: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    """Yield maps from parsed ids to expected ids that keep category and attributes where they can."""
    kinds = sorted({*wanted.values(), *got.values()})
    choices = []
    for kind in kinds:
        mine = [name for name, other in got.items() if other == kind]
        theirs = [name for name, other in wanted.items() if other == kind]
        theirs += [f"unexpected {kind[0]} {name}" for name in mine[len(theirs) :]]
        choices.append([dict(zip(mine, order, strict=False)) for order in permutations(theirs, len(mine))])
    for combination in product(*choices):
        yield {name: other for part in combination for name, other in part.items()}


def _differences(wanted: Mapping[str, Any], got: Mapping[str, Any], renaming: Mapping[str, str]) -> Iterator[str]:
    def rename(row: tuple[Any, ...], places: tuple[int, ...]) -> tuple[Any, ...]:
        return tuple(renaming.get(v, v) if k in places and v is not None else v for k, v in enumerate(row))

    missing = set(wanted["objects"]) - set(renaming.values())
    yield from (f"missing object {name} {wanted['objects'][name]}" for name in sorted(missing))
    yield from (f"{name} {got['objects'][mine]}" for mine, name in renaming.items() if name.startswith("unexpected"))
    for key, places in (("relations", (0, 2)), ("queries", (0,))):
        mine = {rename(row, places) for row in got[key]}
        theirs = set(wanted[key])
        if key == "relations":
            mine, theirs = ({row for row in rows if row[2] != "table"} for rows in (mine, theirs))
        yield from (f"missing {key[:-1]} {row}" for row in sorted(theirs - mine))
        yield from (f"unexpected {key[:-1]} {row}" for row in sorted(mine - theirs))
    steps = [rename(row, (1, 2)) for row in got["primitives"]]
    if steps != wanted["primitives"]:
        yield f"primitives {steps}, expected {wanted['primitives']}"
