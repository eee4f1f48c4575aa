"""Check the names of a request before anything is built or written."""

from __future__ import annotations


def check_names(*, robots: tuple[str, ...], grasps: tuple[str, ...], affordance: str) -> None:
    """Refuse unknown arms, grasp sources and affordance models.

    Raises:
        UnknownNameError: There is none of that name; the message lists the nearest.
        UsageError: A list is empty.
    """
    from armwright.affordance.registry import affordance_model
    from armwright.core.errors import UsageError
    from armwright.grasping.sources import grasp_source
    from armwright.robots.registry import load_spec, robot_names

    if not robots:
        raise UsageError("no robot is named.", hint=f"Valid: all, {', '.join(robot_names())}.")
    if not grasps:
        raise UsageError("no grasp source is named.", hint="The usual one is affordance.")
    for name in robots:
        load_spec(name)
    for name in grasps:
        grasp_source(name)
    affordance_model(affordance)
