"""What stands fast is not moved by pulling or pushing: its drawer or door is, so it is opened or closed."""

from __future__ import annotations

from collections.abc import Mapping

from armwright.assets.catalog import category_info
from armwright.assets.scene import ParsedTask
from armwright.core.errors import UsageError
from armwright.core.task import AffordanceQuery, Primitive, PrimitiveName, RegionName, RelationName

HANDLE: RegionName = "Openable Handle"
# What pulling and pushing come to, and the only directions that go with them, as the arm sees it.
_MEANT: Mapping[str, tuple[PrimitiveName, RelationName]] = {
    "pull": ("open", "in_front_of"),
    "push": ("close", "behind"),
}


def as_swings(parsed: ParsedTask) -> ParsedTask:
    """Read ``pull the drawer`` as opening and ``push the drawer`` as closing; a pressed button stays pressed.

    Raises:
        UsageError: A piece of furniture is to be pushed or pulled somewhere.
    """
    buttons = {q.object for q in parsed.queries if q.region == "Button"}
    fixed = {
        node.id
        for node in parsed.scene.objects
        if (info := category_info(node.category)).static and HANDLE in info.regions and node.id not in buttons
    }
    steps = tuple(_meant(p, parsed) if p.object in fixed and p.name in _MEANT else p for p in parsed.primitives)
    if steps == parsed.primitives:
        return parsed
    changed = {p.object for p, q in zip(parsed.primitives, steps, strict=True) if p != q}
    # Its panel is no longer pushed as such: leaves are known by their handles.
    kept = [q for q in parsed.queries if q.object not in changed or q.region == HANDLE or q.role == "receive"]
    have = {q.object for q in kept if q.region == HANDLE and q.role == "grasp"}
    for name in dict.fromkeys(p.object for p in steps if p.object in changed - have):
        kept.append(AffordanceQuery(object=name, region=HANDLE, role="grasp"))
    return parsed.model_copy(update={"primitives": steps, "queries": tuple(kept)})


def _meant(primitive: Primitive, parsed: ParsedTask) -> Primitive:
    name, way = _MEANT[primitive.name]
    if primitive.target is not None or primitive.relation not in (None, way):
        category = parsed.scene.object(primitive.object).category.replace("_", " ")
        raise UsageError(
            f"the {category} stands fast and cannot be {primitive.name}ed anywhere.",
            hint=f"Its door or drawer can be {'pulled open' if name == 'open' else 'pushed shut'}.",
        )
    return Primitive(name=name, object=primitive.object, spot=primitive.spot)
