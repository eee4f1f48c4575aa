"""One affordance query per functional region and role (AffordSim §3.1 and its query-conversion appendix)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from armwright.assets.catalog import CategoryInfo, category_info
from armwright.core.errors import UsageError
from armwright.core.task import AffordanceQuery, Primitive, RegionName, RoleName

_BY_PART: Mapping[str, tuple[RegionName, ...]] = {
    "handle": ("Graspable Handle", "Openable Handle"),
    "rim": ("Graspable Rim",),
    "body": ("Graspable Body",),
    "lid": ("Graspable Lid",),
    "stem": ("Graspable Handle",),
    "neck": ("Graspable Handle", "Graspable Body"),
    "head": ("Graspable Body",),
    "door": ("Openable Handle",),
    "button": ("Button",),
    "top": ("Graspable Lid", "Graspable Rim"),
}
_PUSHED: tuple[RegionName, ...] = ("Pushable Surface", "Graspable Body", "Graspable Rim")


def region_for_part(info: CategoryInfo, part: str) -> RegionName:
    """Return the region by which a thing is held or pressed when the sentence names a part.

    Raises:
        UsageError: It has no such region; the message lists those it has.
    """
    for region in _BY_PART.get(part, ()):
        if region in info.regions:
            return region
    graspable = [name for name in info.regions if name.startswith(("Graspable", "Openable"))]
    raise UsageError(
        f"a {info.name.replace('_', ' ')} has no {part} to take hold of or press.",
        hint=f"Regions it can be held by: {', '.join(graspable) or 'none'}.",
    )


def infer_grasp(info: CategoryInfo, actions: set[str]) -> RegionName:
    """Return the region to hold when the sentence names none.

    What is poured is held by its handle, else by its body; what is hung is held by its body, to keep the handle free
    for the hook; everything else by the region its category is usually held by.
    """
    regions = info.regions
    if "hang" in actions and "Graspable Body" in regions:
        return "Graspable Body"
    if "pour" in actions:
        if "Graspable Handle" in regions:
            return "Graspable Handle"
        if "Graspable Body" in regions:
            return "Graspable Body"
    return info.grasp


def queries_for(
    primitives: Sequence[Primitive], *, categories: Mapping[str, str], stated: Mapping[str, str]
) -> tuple[AffordanceQuery, ...]:
    """Derive the queries of a task: what each primitive touches, and in which role.

    Args:
        primitives: In order.
        categories: Category per object id.
        stated: Part named by the sentence per object id.

    Raises:
        UsageError: A stated part is not a region of its object.
    """
    actions: dict[str, set[str]] = {}
    for primitive in primitives:
        actions.setdefault(primitive.object, set()).add(primitive.name)
    found: dict[tuple[str, str, str], AffordanceQuery] = {}

    def add(object_id: str, region: RegionName, role: RoleName, *, said: bool = False) -> None:
        found.setdefault(
            (object_id, region, role), AffordanceQuery(object=object_id, region=region, role=role, stated=said)
        )

    for primitive in primitives:
        name, thing = primitive.name, primitive.object
        info = category_info(categories[thing])
        part = stated.get(thing)
        if name == "pick":
            region = region_for_part(info, part) if part else infer_grasp(info, actions[thing])
            add(thing, region, "grasp", said=part is not None)
        elif name == "pour" and primitive.target is not None:
            add(thing, "Pour Out", "use")
            add(primitive.target, "Pour In", "receive")
        elif name == "hang" and primitive.target is not None:
            add(primitive.target, "Hook", "receive")
        elif name == "push":
            region = (
                region_for_part(info, part)
                if part == "button"
                else next(r for r in (*_PUSHED, info.grasp) if r in info.regions)
            )
            add(thing, region, "use", said=part == "button")
        elif name in ("open", "close", "pull"):
            region = next(r for r in ("Openable Handle", "Graspable Lid", info.grasp) if r in info.regions)
            if name == "pull" and "Openable Handle" not in info.regions:
                region = region_for_part(info, part) if part else info.grasp
            add(thing, region, "grasp", said=part in ("handle", "lid"))
    return tuple(found.values())
