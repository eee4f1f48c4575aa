"""From ranked places to a planned placing: S(g, p) over grasps and places, planned in descending order (OMAR §IV-D)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array
from armwright.shelf.candidates import Candidates
from armwright.shelf.feasibility import Feasibility, choose_places, feasible_pairs, ways_in
from armwright.shelf.grasps import TargetGrasps
from armwright.shelf.motions import PlanningReport, plan_best
from armwright.shelf.obstacles import MapObstacles
from armwright.shelf.records import Box, Orientation
from armwright.shelf.target import TargetFit
from armwright.skills.context import SkillContext

LAST_RESORT = 1e-3
"""P_sem given to the best-fitting place that no proposal names, once none of those named can be done."""
PLACES = 60


@dataclass(frozen=True, eq=False)
class Decision:
    """What is to be done, or why nothing can be.

    Attributes:
        motion: The planned pair, if there is one.
        rounds: What came of all pairs: first of the places that the proposals name, then of all others.
        box: The chosen place in the shelf frame.
        proposed: Whether it is one that a proposal names.
        places: Which candidates each round considered.
    """

    motion: PlanningReport | None
    rounds: tuple[Feasibility, ...]
    box: Box | None
    proposed: bool
    places: tuple[tuple[int, ...], ...]

    @property
    def ok(self) -> bool:
        """Whether there is something to execute."""
        return self.motion is not None and self.motion.planned is not None

    def summary(self) -> str:
        """Say what was looked at, what was ruled out by which check, and what was planned."""
        lines = [
            f"{'proposed places' if k == 0 else 'all other places'}: {round_.summary()}"
            for k, round_ in enumerate(self.rounds)
        ]
        if self.motion is not None:
            stopped = ", ".join(f"{n} at {stage}" for stage, n in self.motion.stopped.items())
            end = "planned" if self.ok else f"none could be planned ({self.motion.detail})"
            lines.append(
                f"motion planning: {self.motion.tried} tried, {end}" + (f"; stopped: {stopped}" if stopped else "")
            )
        elif not any(r.pairs for r in self.rounds):
            lines.append("no placement is feasible")
        return "; ".join(lines)


def decide(
    ctx: SkillContext,
    fit: TargetFit,
    grasps: TargetGrasps,
    candidates: Candidates,
    p_sem: Array,
    order: NDArray[np.intp],
    obstacles: MapObstacles,
    *,
    fits: Array | None = None,
    as_found: Orientation = "upright",
    front_known: bool = False,
) -> Decision:
    """Choose the pair of the largest S(g, p) that can be planned.

    Args:
        ctx: Over a `PerceivedScene`; its arm is where the placing is to begin.
        fit: The target.
        grasps: Of it.
        candidates: Free places.
        p_sem, order: `fit.semantic_scores` and `fit.order_candidates`.
        obstacles: What stands where, the target included.
        fits: Semantic fit of all candidates; with it, places that no proposal names are tried last, best first.
        as_found: How the target stands.
        front_known: Whether -x of the fit is its front.
    """
    rounds: list[Feasibility] = []
    used: list[tuple[int, ...]] = []
    motion: PlanningReport | None = None
    named = np.asarray(p_sem, float)
    for again in range(1 if fits is None else 2):
        if again:
            assert fits is not None
            rest = np.flatnonzero(named <= 0)
            named = np.where(named > 0, 0.0, LAST_RESORT * (0.1 + np.asarray(fits, float)))
            order = rest[np.argsort(-named[rest], kind="stable")]
        entered = np.isfinite(ways_in(candidates, list(map(int, order)), obstacles))
        open_, shut = order[entered], order[~entered]
        level = p_sem if not again else np.ones(len(named))
        places = choose_places(level, open_, most=PLACES)
        if not places:  # so that the report says what is wrong with them
            places = choose_places(level, shut, most=PLACES)
        table = feasible_pairs(
            ctx.planner,
            ctx.gripper,
            fit.solid,
            grasps.candidates,
            candidates,
            places,
            named,
            pose_base_target=ctx.pose_base(fit.pose_world_target),
            pose_base_shelf=obstacles.pose_base_shelf,
            start_rad=ctx.arm.state().target_rad,
            obstacles=obstacles,
            as_found=as_found,
            front_known=front_known,
        )
        rounds.append(table)
        used.append(tuple(places))
        if not table.pairs:
            continue
        motion = plan_best(ctx, table.pairs, grasps.candidates, obstacles, rear_m=_rears(candidates, table))
        if motion.planned is not None:
            box = candidates.box(motion.planned.pair.place)
            return Decision(motion, tuple(rounds), box, not again, tuple(used))
    return Decision(motion, tuple(rounds), None, False, tuple(used))


def _rears(candidates: Candidates, table: Feasibility) -> Sequence[float]:
    return [float(candidates.high_m[pair.place, 0]) for pair in table.pairs]
