"""From ranked places to a planned placing: S(g, p) over grasps and places, planned in descending order (OMAR §IV-D)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array
from armwright.shelf.candidates import Candidates
from armwright.shelf.feasibility import Feasibility, choose_places, feasible_pairs, joined, ways_in
from armwright.shelf.grasps import TargetGrasps
from armwright.shelf.motions import PlanningReport, plan_best
from armwright.shelf.obstacles import MapObstacles
from armwright.shelf.records import Box, Orientation
from armwright.shelf.target import TargetFit
from armwright.skills.context import SkillContext

LAST_RESORT = 1e-3
"""P_sem given to the best-fitting place that no proposal names, once none of those named can be done."""
PLACES = 60
"""Places considered at once with all grasps."""
BATCHES = 5
"""Such batches, as long as none has a pair that can be planned."""


@dataclass(frozen=True, eq=False)
class Round:
    """One batch of places with all grasps.

    Attributes:
        proposed: Whether they are places that a proposal names.
        places: Candidates considered.
        pairs: What came of them; its ``table`` is S(g, p).
    """

    proposed: bool
    places: tuple[int, ...]
    pairs: Feasibility


@dataclass(frozen=True, eq=False)
class Decision:
    """What is to be done, or why nothing can be.

    Attributes:
        motion: The planned pair, if there is one.
        rounds: Batches of places in the order in which they were considered: those that the proposals name, then,
            where none of these can be done, all others.
        box: The chosen place in the shelf frame.
        proposed: Whether it is one that a proposal names.
    """

    motion: PlanningReport | None
    rounds: tuple[Round, ...]
    box: Box | None
    proposed: bool

    @property
    def ok(self) -> bool:
        """Whether there is something to execute."""
        return self.motion is not None and self.motion.planned is not None

    def ruled_out(self) -> dict[str, int]:
        """Return check -> how many pairs it ruled out, over all places considered."""
        counts: Counter[str] = Counter()
        for round_ in self.rounds:
            counts.update({str(name): n for name, n in round_.pairs.ruled_out.items() if n})
        return dict(counts)

    def summary(self) -> str:
        """Say what was looked at, what was ruled out by which check, and what was planned."""
        lines = []
        for proposed, title in ((True, "proposed places"), (False, "all other places")):
            tables = [r.pairs for r in self.rounds if r.proposed == proposed]
            if tables:
                lines.append(f"{title}: {joined(tables)}")
        if self.motion is not None:
            stopped = ", ".join(f"{n} at {stage}" for stage, n in self.motion.stopped.items())
            end = "planned" if self.ok else f"none could be planned ({self.motion.detail})"
            lines.append(
                f"motion planning: {self.motion.tried} tried, {end}" + (f"; stopped: {stopped}" if stopped else "")
            )
        elif not any(r.pairs.pairs for r in self.rounds):
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
    p_sem = np.asarray(p_sem, float)
    turns = [(True, p_sem, np.asarray(order, np.intp))]
    if fits is not None:
        rest = np.flatnonzero(p_sem <= 0)
        worth = np.where(p_sem > 0, 0.0, LAST_RESORT * (0.1 + np.asarray(fits, float)))
        turns.append((False, worth, rest[np.argsort(-worth[rest], kind="stable")]))
    rounds: list[Round] = []
    motion: PlanningReport | None = None
    for proposed, worth, wanted in turns:
        entered = np.isfinite(ways_in(candidates, list(map(int, wanted)), obstacles))
        # Those without a way in come last, for the report to say so.
        for places in _batches(p_sem if proposed else np.ones(len(p_sem)), wanted[entered], wanted[~entered]):
            table = feasible_pairs(
                ctx.planner,
                ctx.gripper,
                fit.solid,
                grasps.candidates,
                candidates,
                places,
                worth,
                pose_base_target=ctx.pose_base(fit.pose_world_target),
                pose_base_shelf=obstacles.pose_base_shelf,
                start_rad=ctx.arm.state().target_rad,
                obstacles=obstacles,
                as_found=as_found,
                front_known=front_known,
            )
            rounds.append(Round(proposed, tuple(places), table))
            if not table.pairs:
                continue
            motion = plan_best(ctx, table.pairs, grasps.candidates, obstacles, rear_m=_rears(candidates, table))
            if motion.planned is not None:
                box = candidates.box(motion.planned.pair.place)
                return Decision(motion, tuple(rounds), box, proposed)
    return Decision(motion, tuple(rounds), None, False)


def _batches(level: Array, open_: NDArray[np.intp], shut: NDArray[np.intp]) -> Iterator[list[int]]:
    """Yield places to consider together, best first, each batch spread over the levels of P_sem."""
    left = list(map(int, open_))
    for _ in range(BATCHES):
        batch = choose_places(level, np.array(left, np.intp), most=PLACES)
        if not batch:
            break
        yield batch
        taken = set(batch)
        left = [i for i in left if i not in taken]
    if len(shut):
        yield choose_places(level, shut, most=PLACES)


def _rears(candidates: Candidates, table: Feasibility) -> Sequence[float]:
    return [float(candidates.high_m[pair.place, 0]) for pair in table.pairs]
