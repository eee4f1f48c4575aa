"""Grade a placing by the simulator's truth, here and nowhere else: SR within 6 cm, upright, neighbours (OMAR §V-C)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armwright.core.pose import Array, Pose
from armwright.shelf.candidates import Candidates, sample_candidates
from armwright.shelf.experts import expert_weights
from armwright.shelf.fit import EQUAL_WEIGHTS, attribute_fits, semantic_fit
from armwright.shelf.metrics import PlacementScore, score_placement
from armwright.shelf.records import ATTRIBUTES, Box, Orientation, ShelfObject
from armwright.shelf.scenes import ShelfScene

if TYPE_CHECKING:
    from armwright.shelf.worlds import ShelfWorld

SETTLE_S = 1.0
"""World time after the release before anything is judged, so that what tips has time to fall."""


@dataclass(frozen=True, eq=False)
class Truth:
    """What really stands where at one moment.

    Attributes:
        boxes: Id -> box around it in the shelf frame.
        poses_world: Id -> pose.
    """

    boxes: Mapping[str, Box]
    poses_world: Mapping[str, Pose]


def truth_of(world: ShelfWorld) -> Truth:
    """Return the truth of a `worlds.ShelfWorld` now."""
    found = world.truth_objects()
    return Truth({o.id: o.box for o in found}, {o.id: o.pose_world for o in found})


def grade(
    before: Truth,
    after: Truth,
    planned: Box,
    *,
    executed: bool,
    target_id: str = "target",
    as_found: Orientation = "upright",
    wanted: Orientation = "upright",
) -> PlacementScore:
    """Grade a run.

    Args:
        before: The truth before the robot moved.
        after: The truth at least ``SETTLE_S`` after it let go.
        planned: The chosen place, in the shelf frame.
        executed: Every component did its part.
        target_id: Which object was placed.
        as_found, wanted: How the target stood before, and how it was to stand.
    """
    start, end = before.poses_world[target_id], after.poses_world[target_id]
    # What was up in the object's own frame is to be up again; turned over, a product's top is at +z, its label at -x.
    up = start.rotation.T @ np.array([0.0, 0.0, 1.0])
    if as_found != wanted:
        up = np.array([0.0, 0.0, 1.0]) if as_found == "lying" else np.array([-1.0, 0.0, 0.0])
    own = end.rotation @ up
    moved = [
        end_pose.distance_to(before.poses_world[name])
        for name, end_pose in after.poses_world.items()
        if name != target_id
    ]
    placed = after.boxes[target_id]
    return score_placement(
        planned.center_m,
        placed.center_m,
        executed=executed,
        placed_up=(float(own[0]), float(own[1]), float(own[2])),
        moved_m=moved,
    )


def true_records(world: ShelfWorld) -> list[ShelfObject]:
    """Return what truly stands on the shelf now."""
    return [
        ShelfObject(o.id, o.box, o.product.nature(o.orientation)) for o in world.truth_objects() if o.id != "target"
    ]


def true_fits(
    scene: ShelfScene, objects: Sequence[ShelfObject], candidates: Candidates, place: int
) -> dict[str, float]:
    """Return C, P, E and O of a place by true attributes, and the semantic fit with two kinds of weights (OMAR Eq. 4).

    Args:
        scene: The truth as it was drawn.
        objects: What truly stood on the shelf before (`true_records`).
        candidates: Places in the shelf frame.
        place: Which of them.

    Returns:
        Attribute -> fit, ``sf_equal`` with equal weights, and ``sf_experts`` with the weights that the three built-in
        estimators give this scene (`shelf.experts`); these are no language models.
    """
    fits = _all_fits(scene, objects, candidates)[[place]]
    values: dict[str, float] = {name: float(v) for name, v in zip(ATTRIBUTES, fits[0], strict=True)}
    return {**values, **{name: float(sf[0]) for name, sf in _weighted(scene, fits).items()}}


def best_fits(scene: ShelfScene, objects: Sequence[ShelfObject]) -> dict[str, float]:
    """Return the highest ``sf_equal`` and ``sf_experts`` of the places that are truly free, reachable or not."""
    target = scene.target_record()
    candidates = sample_candidates(scene.shelf, [o.box for o in objects], target)
    if not len(candidates):
        return {"sf_equal": 0.0, "sf_experts": 0.0}
    return {name: float(sf.max()) for name, sf in _weighted(scene, _all_fits(scene, objects, candidates)).items()}


def _all_fits(scene: ShelfScene, objects: Sequence[ShelfObject], candidates: Candidates) -> Array:
    nature = scene.target.nature(scene.target_orientation)
    places = candidates.low_m, candidates.high_m, candidates.board
    return attribute_fits(scene.shelf, objects, nature, *places, candidates.orientation)


def _weighted(scene: ShelfScene, fits: Array) -> dict[str, Array]:
    return {
        "sf_equal": semantic_fit(fits, EQUAL_WEIGHTS),
        "sf_experts": semantic_fit(fits, expert_weights([scene])),
    }
