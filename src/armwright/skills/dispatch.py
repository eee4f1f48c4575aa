"""Which skill performs which primitive, and what a pick must allow for: the next use of the object."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from armwright.assets.parts import loose_lids, owner_of, part_id
from armwright.control.protocols import StageReport
from armwright.core.task import TABLE, AffordanceQuery, Primitive
from armwright.skills.articulated import open_part
from armwright.skills.context import SkillContext
from armwright.skills.drag import drag
from armwright.skills.hang import hang, usable_for_hang
from armwright.skills.lids import close_lid, open_lid
from armwright.skills.pick import pick
from armwright.skills.place import hold, place, usable_for
from armwright.skills.pour import pour, usable_for_pour
from armwright.skills.push import goal_of, push
from armwright.skills.rank import Usable
from armwright.skills.shut import close_part

Skill = Callable[[SkillContext, Primitive, Sequence[Primitive], Sequence[AffordanceQuery]], StageReport]
"""Context, the primitive, the primitives after it, all queries of the task -> what came of it."""


RELEASING = ("place", "hang", "pick")
"""Primitives after which another grasp is needed to do more with the object."""


def perform(
    ctx: SkillContext, primitive: Primitive, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> StageReport:
    """Perform one primitive of a task.

    Args:
        ctx: Arm, planner, scene.
        primitive: What to do.
        following: The primitives after it, in order: a grasp must serve them as well.
        queries: The task's affordance queries.

    Returns:
        The skill's report; ``skill_not_available`` for a primitive that none performs.
    """
    skill = SKILLS.get(primitive.name)
    if skill is None:
        detail = f"{primitive.name} is understood but not executed yet"
        return StageReport(f"{primitive.name} {primitive.object}", False, "skill_not_available", detail)
    return skill(ctx, primitive, following, queries)


def query_for(queries: Sequence[AffordanceQuery], object_id: str, role: str) -> AffordanceQuery | None:
    """Return the first query of an object in a role, or None."""
    return next((q for q in queries if q.object == object_id and q.role == role), None)


def _pick(
    ctx: SkillContext, primitive: Primitive, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> StageReport:
    query = query_for(queries, primitive.object, "grasp")
    if query is None:
        return _no_query(primitive, "to grasp")
    return pick(ctx, query, usable=_look_ahead(ctx, primitive.object, following, queries))


def _place(
    ctx: SkillContext, primitive: Primitive, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> StageReport:
    relation = primitive.relation or "on"
    return _not_held(ctx, primitive) or place(ctx, primitive.target, relation, then=_joining(primitive, following))


def _joining(primitive: Primitive, following: Sequence[Primitive]) -> list[str]:
    """Return what is put on the same thing later, in order; a tower's next floor is not."""
    if primitive.target in (None, TABLE) or primitive.relation != "on":
        return []
    return [p.object for p in following if p.name == "place" and (p.target, p.relation) == (primitive.target, "on")]


def _hold(
    ctx: SkillContext, primitive: Primitive, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> StageReport:
    return _not_held(ctx, primitive) or hold(ctx, primitive.target, primitive.relation)


def _pour(
    ctx: SkillContext, primitive: Primitive, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> StageReport:
    source, receiver = _pour_queries(primitive, queries)
    if source is None or receiver is None:
        missing = "to pour from" if source is None else "to pour into"
        return _no_query(primitive, missing)
    return _not_held(ctx, primitive) or pour(ctx, source, receiver, portions=_portions(primitive, following))


def _portions(primitive: Primitive, following: Sequence[Primitive]) -> int:
    """Return how many vessels are still to get something of what is poured: this one, and others later."""
    later = {p.target for p in following if p.name == "pour" and p.object == primitive.object}
    return len(later | {primitive.target})


def _hang(
    ctx: SkillContext, primitive: Primitive, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> StageReport:
    handle, hook = _hang_queries(primitive, queries)
    if hook is None:
        return _no_query(primitive, "to hang it on")
    return _not_held(ctx, primitive) or hang(ctx, handle, hook)


def _hang_queries(
    primitive: Primitive, queries: Sequence[AffordanceQuery]
) -> tuple[AffordanceQuery, AffordanceQuery | None]:
    """Return the regions that meet; what hangs does so by its "Hanging Handle" if no query says otherwise."""
    usual = AffordanceQuery(object=primitive.object, region="Hanging Handle", role="use")
    stated = (q for q in queries if (q.object, q.role, q.region) == (usual.object, usual.role, usual.region))
    target = primitive.target
    return next(stated, usual), query_for(queries, target, "receive") if target is not None else None


def _pour_queries(
    primitive: Primitive, queries: Sequence[AffordanceQuery]
) -> tuple[AffordanceQuery | None, AffordanceQuery | None]:
    target = primitive.target
    receiver = query_for(queries, target, "receive") if target is not None else None
    return query_for(queries, primitive.object, "use"), receiver


def _no_query(primitive: Primitive, purpose: str) -> StageReport:
    return StageReport(f"{primitive.name} {primitive.object}", False, "no_query", f"no region {purpose} was queried")


def _not_held(ctx: SkillContext, primitive: Primitive) -> StageReport | None:
    if ctx.held is not None and ctx.held.object_id == primitive.object:
        return None
    name = f"{primitive.name} {primitive.object}"
    return StageReport(name, False, "nothing_held", f"{primitive.object} is not held")


def _look_ahead(
    ctx: SkillContext, object_id: str, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> Usable | None:
    """A grasp must also serve everything that is done with the object before it is let go."""
    tests = []
    for rank, step in enumerate(following):
        if step.object != object_id:
            continue
        test = _serves(ctx, step, following[rank + 1 :], queries)
        if test is not None:
            tests.append(test)
        if step.name in RELEASING:
            break
    return (lambda pose: min(float(test(pose)) for test in tests)) if tests else None


def _serves(
    ctx: SkillContext, step: Primitive, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> Usable | None:
    if step.name in ("place", "hold") and step.relation is not None:
        gap = ctx.options.place_gap_m if step.name == "place" else 0.0
        then = _joining(step, following) if step.name == "place" else ()
        return usable_for(ctx, step.object, step.target, step.relation, gap_m=gap, then=then)
    if step.name == "pour":
        source, receiver = _pour_queries(step, queries)
        if source is not None and receiver is not None:
            return usable_for_pour(ctx, source, receiver)
    if step.name == "hang":
        handle, hook = _hang_queries(step, queries)
        if hook is not None:
            return usable_for_hang(ctx, handle, hook)
    return None


def _no_leaf(ctx: SkillContext, primitive: Primitive) -> StageReport | None:
    """Refuse to swing an object none of whose parts is hinged or slides."""
    model = ctx.scene.model(primitive.object)
    if any(link.joint is not None for link in model.links):
        return None
    detail = f"{primitive.object} has no hinged or sliding part, and no lid that comes off"
    return StageReport(f"{primitive.name} {primitive.object}", False, "no_leaf", detail)


def _lid_of(ctx: SkillContext, object_id: str) -> str | None:
    """Return the id of the loose lid that an object is opened and closed by, on its seat or off it, or None."""
    on = [part_id(object_id, link.name) for link in loose_lids(ctx.scene.model(object_id))]
    off = [other for other in ctx.scene.objects() if owner_of(other)[0] == object_id != other]
    return next(iter([*off, *on]), None)


def _open(
    ctx: SkillContext, primitive: Primitive, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> StageReport:
    query = query_for(queries, primitive.object, "grasp")
    if query is None:
        return _no_query(primitive, "to open it by")
    lid = _lid_of(ctx, primitive.object)
    if lid is not None:
        return open_lid(ctx, query, lid)
    return _no_leaf(ctx, primitive) or open_part(ctx, query, which=primitive.spot)


def _close(
    ctx: SkillContext, primitive: Primitive, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> StageReport:
    query = query_for(queries, primitive.object, "grasp")
    if query is None:
        return _no_query(primitive, "it closes by")
    lid = _lid_of(ctx, primitive.object)
    if lid is not None:
        return close_lid(ctx, query, lid)
    return _no_leaf(ctx, primitive) or close_part(ctx, query, which=primitive.spot)


def _push(
    ctx: SkillContext, primitive: Primitive, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> StageReport:
    query = query_for(queries, primitive.object, "use") or query_for(queries, primitive.object, "grasp")
    if query is None:
        return _no_query(primitive, "to push at")
    return push(ctx, query, goal_of(ctx, primitive), name=f"push {primitive.object}")


def _pull(
    ctx: SkillContext, primitive: Primitive, following: Sequence[Primitive], queries: Sequence[AffordanceQuery]
) -> StageReport:
    query = query_for(queries, primitive.object, "grasp")
    if query is None:
        return _no_query(primitive, "to pull by")
    return drag(ctx, query, goal_of(ctx, primitive), name=f"pull {primitive.object}")


SKILLS: Mapping[str, Skill] = {
    "pick": _pick,
    "place": _place,
    "hold": _hold,
    "pour": _pour,
    "hang": _hang,
    "open": _open,
    "close": _close,
    "push": _push,
    "pull": _pull,
}
"""The primitives that can be performed, by name."""
