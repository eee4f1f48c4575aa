"""Open and close by a loose lid: lift it off and lay it beside, or pick it up and put it on its seat."""

from __future__ import annotations

from armwright.assets.parts import owner_of
from armwright.control.protocols import StageReport
from armwright.core.task import TABLE, AffordanceQuery, RelationName
from armwright.skills.context import SkillContext
from armwright.skills.pick import pick
from armwright.skills.place import place, usable_for
from armwright.skills.places import placement_poses


def open_lid(ctx: SkillContext, query: AffordanceQuery, lid: str) -> StageReport:
    """Lift a lid off and lay it next to what it belongs to, or elsewhere on the table where there is no room.

    Args:
        ctx: Arm, planner, scene.
        query: The object and the region to hold its lid by.
        lid: The lid's own id.
    """
    name = f"open {query.object}"
    if lid in ctx.scene.objects():
        return StageReport(name, True, "done", "its lid is off already")
    owner = owner_of(lid)[0]
    stand = ctx.scene.pose_world(lid)
    if placement_poses(ctx, lid, owner, "next_to", stand=stand):
        return _carry(ctx, query, lid, owner, "next_to", name)
    return _carry(ctx, query, lid, TABLE, "on", name)


def close_lid(ctx: SkillContext, query: AffordanceQuery, lid: str) -> StageReport:
    """Pick a lid up and put it on its seat; arguments as for `open_lid`."""
    name = f"close {query.object}"
    if lid not in ctx.scene.objects():
        return StageReport(name, True, "done", "its lid is on")
    report = _carry(ctx, query, lid, owner_of(lid)[0], "on", name)
    if report.ok and lid in ctx.scene.objects():
        return StageReport(name, False, "not_seated", "the lid was let go, but does not lie on its seat")
    return report


def _carry(
    ctx: SkillContext, query: AffordanceQuery, lid: str, target: str, relation: RelationName, name: str
) -> StageReport:
    usable = usable_for(ctx, lid, target, relation, gap_m=ctx.options.place_gap_m)
    report = pick(ctx, query.model_copy(update={"object": lid}), usable=usable)
    if report.ok:
        report = place(ctx, target, relation)
    if not report.ok:
        return StageReport(name, False, report.status, f"{report.name}: {report.detail}", report.data)
    return StageReport(name, True, "done", report.detail, report.data)
