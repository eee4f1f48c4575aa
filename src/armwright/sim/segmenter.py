"""The segmenter `simulated`: true masks with stated faults, so that what comes after can be measured by itself."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation, map_coordinates

from armwright.core.camera import RgbdFrame
from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.seeds import rng_for
from armwright.perception.segmenters import Segment
from armwright.sim.cameras import RENDERERS
from armwright.sim.world import World

_HIDDEN_M = 0.03
_CELL_PX = 16
_NEAR_PX = 3
_TICKS_PER_S = 10_000


@dataclass(frozen=True)
class SegmentFaults:
    """What a segmenter gets wrong; every probability holds for each object in each frame.

    Attributes:
        jitter_px: Standard deviation of the smooth field that displaces the masks' outlines [px].
        missed: Probability that an object is not found.
        split: Probability that it falls into two along a line through its middle.
        merged: Probability that it becomes one with a neighbour that it touches in the image.
        smallest_px: Objects of fewer pixels are never found.

    Raises:
        UsageError: A probability outside 0 to 1, or a negative length.
    """

    jitter_px: float = 1.0
    missed: float = 0.02
    split: float = 0.03
    merged: float = 0.03
    smallest_px: int = 120

    def __post_init__(self) -> None:
        if not all(0 <= p <= 1 for p in (self.missed, self.split, self.merged)):
            raise UsageError(
                f"probabilities lie in 0 to 1, got missed {self.missed}, split {self.split}, merged {self.merged}."
            )
        if self.jitter_px < 0:
            raise UsageError(f"the jitter must not be negative, got {self.jitter_px} px.")


FAULTS = MappingProxyType(
    {
        "none": SegmentFaults(0.0, 0.0, 0.0, 0.0, 1),
        "usual": SegmentFaults(),
        "many": SegmentFaults(2.5, 0.08, 0.1, 0.1, 300),
    }
)
"""Faults by name; ``usual`` errs about as often as the built-in network on its test renders."""


class SimulatedSegmenter:
    """Cuts a frame by what truly stands in a simulated world, then errs as stated.

    The world is looked at as it is now: ask before anything moves. Where the frame's depth shows something nearer than
    the objects (the arm that has left since), nothing is marked.

    Args:
        world: The world in which the frame was taken.
        faults: A model of the faults, or its name in `FAULTS`.
        seed: Of the faults; the same frame meets the same ones.
        background: Ids of objects that are no objects here: shelves, racks. Static objects never are.

    Raises:
        UnknownNameError: No faults of that name.
    """

    name = "simulated"

    def __init__(
        self, world: World, *, faults: SegmentFaults | str = "usual", seed: int = 0, background: Iterable[str] = ()
    ) -> None:
        if isinstance(faults, str):
            if faults not in FAULTS:
                raise UnknownNameError("segmenter's faults", faults, FAULTS)
            faults = FAULTS[faults]
        self.faults, self.seed = faults, seed
        self._world = world
        self._background = frozenset(background)

    def segment(self, frame: RgbdFrame, *, labels: Sequence[str] = ()) -> list[Segment]:
        """Return one segment per object that is seen, but for the faults; words are not used."""
        rng = rng_for(self.seed, "simulated-segmenter", round(frame.stamp_s * _TICKS_PER_S))
        return degraded_segments(self.true_labels(frame), self.faults, rng)

    def true_labels(self, frame: RgbdFrame) -> NDArray[np.int32]:
        """Return (H, W): 1, 2, … for the objects in the world's order, 0 for everything else."""
        built = self._world.built
        height, width = frame.depth_m.shape
        renderer = RENDERERS.get(built.model, width=width, height=height, backend=None, shadows=False, samples=0)
        seen = renderer.render(self._posed(), frame.camera, rgb=False, depth=True, segmentation=True)
        assert seen.segmentation is not None and seen.depth_m is not None
        ids = self.object_ids()
        number = np.zeros(built.model.nbody + 1, np.int32)
        for (object_id, _), link in built.links.items():
            if object_id in ids:
                number[link.body] = ids.index(object_id) + 1
        out = number[seen.segmentation]
        hidden = (frame.depth_m > 0) & (frame.depth_m < seen.depth_m - _HIDDEN_M)
        return np.where(hidden, 0, out).astype(np.int32)

    def object_ids(self) -> list[str]:
        """Return the ids of the objects in the order in which `true_labels` numbers them from 1."""
        fixed = {link.object_id for link in self._world.built.links.values() if link.fixed}
        return [i for i in self._world.truth.object_ids if i not in fixed and i not in self._background]

    def _posed(self) -> Any:
        """Return data with every body where it is now; those of the world are as old as its last step."""
        import mujoco

        truth = self._world.truth
        data = mujoco.MjData(truth.model)
        data.qpos[:] = truth.data.qpos
        mujoco.mj_kinematics(truth.model, data)
        mujoco.mj_camlight(truth.model, data)
        return data


def degraded_segments(labels: NDArray[np.int32], faults: SegmentFaults, rng: np.random.Generator) -> list[Segment]:
    """Return the objects of a label image (H, W), 0 background, with faults.

    Outlines are displaced first, then objects merge, split, and are missed, each drawn by itself.
    """
    shaken = _displaced(labels, faults.jitter_px, rng)
    masks = {int(k): shaken == k for k in np.unique(shaken) if k > 0}
    masks = {k: mask for k, mask in masks.items() if mask.sum() >= faults.smallest_px}
    chances = {k: rng.random(4) for k in sorted(masks)}
    for k in sorted(masks):
        if k not in masks or chances[k][0] >= faults.merged:
            continue
        around = binary_dilation(masks[k], iterations=_NEAR_PX)
        touching = [j for j in sorted(masks) if j != k and (around & masks[j]).any()]
        if touching:
            other = touching[int(chances[k][1] * len(touching))]
            masks[k] = masks[k] | masks.pop(other)
    out: list[Segment] = []
    for k, mask in masks.items():
        if chances[k][2] < faults.missed:
            continue
        sure = float(np.clip(0.9 + 0.05 * rng.standard_normal(), 0.5, 1.0))
        pieces = _halves(mask, rng) if chances[k][3] < faults.split else [mask]
        out += [Segment(piece, sure) for piece in pieces if piece.sum() >= faults.smallest_px]
    return out


def _displaced(labels: NDArray[np.int32], jitter_px: float, rng: np.random.Generator) -> NDArray[np.int32]:
    if jitter_px == 0:
        return labels
    height, width = labels.shape
    v, u = np.mgrid[0:height, 0:width].astype(np.float32)
    cells = height // _CELL_PX + 2, width // _CELL_PX + 2
    shifts = []
    for _ in range(2):
        field = rng.standard_normal(cells).astype(np.float32) * jitter_px
        shifts.append(map_coordinates(field, [v / _CELL_PX, u / _CELL_PX], order=1))
    rows = np.clip(np.rint(v + shifts[0]), 0, height - 1).astype(int)
    columns = np.clip(np.rint(u + shifts[1]), 0, width - 1).astype(int)
    return np.asarray(labels[rows, columns])


def _halves(mask: NDArray[np.bool_], rng: np.random.Generator) -> list[NDArray[np.bool_]]:
    v, u = np.nonzero(mask)
    angle = rng.uniform(0, np.pi)
    side = np.cos(angle) * (u - u.mean()) + np.sin(angle) * (v - v.mean()) > 0
    out = []
    for chosen in (side, ~side):
        piece = np.zeros_like(mask)
        piece[v[chosen], u[chosen]] = True
        out.append(piece)
    return out
