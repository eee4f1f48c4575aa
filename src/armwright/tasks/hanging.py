"""The predicate of hanging: a peg goes through the handle's hole, and nothing else is touched."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from armwright.affordance.holes import Hole, hole_of
from armwright.affordance.oracle import OracleAffordance
from armwright.affordance.pegs import Peg, pegs_of
from armwright.affordance.protocol import ObjectCloud
from armwright.assets.cloud import sample_cloud
from armwright.assets.model import ObjectModel
from armwright.core.pose import Array
from armwright.core.task import AffordanceQuery, Primitive, RegionName
from armwright.tasks.evidence import Evidence
from armwright.tasks.predicates import Verdict

# Points from which holes and pegs are made out; pegs are thin and need more.
HOLE_POINTS = 8192
PEG_POINTS = 40_000


def hung_objects(primitives: Sequence[Primitive]) -> tuple[str, ...]:
    """Return the objects that a task leaves hanging."""
    last = {p.object: p.name for p in primitives if p.name in ("hang", "pick", "place", "push", "pull")}
    return tuple(object_id for object_id, name in last.items() if name == "hang")


def hung(evidence: Evidence, subject: str, carrier: str) -> Verdict:
    """A peg of the carrier goes through the hole of the subject's handle, and the subject touches only the carrier.

    Args:
        evidence: The moment to judge.
        subject: What should hang, by its "Hanging Handle".
        carrier: What it should hang on, by its "Hook".
    """
    name = f"hung({subject}, {carrier})"
    o, c = evidence.objects[subject], evidence.objects[carrier]
    others = o.touching - {carrier}
    if others:
        return Verdict(False, name, f"it touches {', '.join(sorted(others))}")
    if carrier not in o.supported_by:
        return Verdict(False, name, f"carried by {', '.join(sorted(o.supported_by)) or 'nothing'}")
    hole = _hole(o.model)
    if hole is None:
        return Verdict(False, name, f"{subject} has no hole to hang by")
    there = hole.at(o.pose_world)
    through = any(pierces(peg.at(c.pose_world).line_m, there) for peg in _pegs(c.model))
    return Verdict(through, name, "" if through else "no peg goes through its handle")


def pierces(line_m: Array, hole: Hole) -> bool:
    """Say whether a line (k, 3) goes through a hole: in more often than back out.

    Args:
        line_m: Way points.
        hole: In the same frame.
    """
    side = (line_m - hole.center_m) @ hole.normal
    through = 0
    for k in np.flatnonzero((side[:-1] > 0) != (side[1:] > 0)):
        share = side[k] / (side[k] - side[k + 1])
        if hole.holds(line_m[k] + share * (line_m[k + 1] - line_m[k])):
            through += 1
    return through % 2 == 1


@lru_cache(maxsize=64)
def _hole(model: ObjectModel) -> Hole | None:
    cloud = _cloud(model, HOLE_POINTS)
    return hole_of(cloud, OracleAffordance(model.regions).predict(cloud, _query(model, "Hanging Handle")))


@lru_cache(maxsize=16)
def _pegs(model: ObjectModel) -> tuple[Peg, ...]:
    cloud = _cloud(model, PEG_POINTS)
    return tuple(pegs_of(cloud, OracleAffordance(model.regions).predict(cloud, _query(model, "Hook"))))


def _cloud(model: ObjectModel, n: int) -> ObjectCloud:
    points, normals, part, link = sample_cloud(model, n, rng=np.random.default_rng(0))
    return ObjectCloud(model.category, model.category, points, normals, part, link)


def _query(model: ObjectModel, region: RegionName) -> AffordanceQuery:
    return AffordanceQuery(object=model.category, region=region, role="use")
