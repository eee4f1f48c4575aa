"""Training samples: one shape, seen one way, prepared for the networks, with the bits of its regions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.affordance.concepts import vocabulary
from armwright.affordance.labelled.deform import close_up, stretched, turned
from armwright.affordance.labelled.soup import Soup, library_soup
from armwright.affordance.labelled.swaps import swap
from armwright.affordance.labelled.views import RegionCloud, seen_cloud, whole_cloud
from armwright.affordance.prepare import POINTS, prepare
from armwright.assets.catalog import CATALOG
from armwright.core.seeds import rng_for
from armwright.core.task import REGIONS, RegionName

CLOUD_POINTS = 8192
SWAPPED = "swapped"
"""Name under which part-swapped shapes are drawn, beside the categories."""
LEAST_SEEN = 5
"""A region with fewer of the chosen points in view neither teaches nor tests presence."""
RARE: frozenset[RegionName] = frozenset({"Hook", "Button", "Openable Handle", "Hanging Handle", "Graspable Lid"})
HARD: frozenset[RegionName] = frozenset({"Button", "Openable Handle", "Pour Out", "Pushable Surface"})
"""Regions that a network finds last; rounds for finishing show their categories once more, handles of doors thrice."""

_DRAWS_PER_OBJECT = 2
_CLOSE_UP_M = 0.2


def training_round(number: int) -> tuple[str, ...]:
    """Return what is drawn in one round: each category that training may see, those with rare regions twice."""
    names = vocabulary().training_categories()
    rare = tuple(name for name in names if RARE.intersection(CATALOG[name].regions))
    return (*names, *rare, *([SWAPPED] * (len(names) // 2)))


def finishing_round(number: int) -> tuple[str, ...]:
    """Return what is drawn in one round of the last samples: more of what is found last, fewer swapped shapes."""
    names = vocabulary().training_categories()
    hard = tuple(name for name in names if HARD.intersection(CATALOG[name].regions))
    doors = tuple(name for name in names if "Openable Handle" in CATALOG[name].regions)
    return (*names, *hard, *doors, *doors, *([SWAPPED] * (len(names) // 6)))


def draw_shape(name: str, number: int, *, split: str) -> Soup:
    """Return a category's shape number ``number``, or a part-swapped one; stretched two times in three.

    Args:
        name: A category or ``SWAPPED``.
        number: Which draw.
        split: ``train`` or ``validation``; their objects share no parameter draws.
    """
    rng = rng_for(number, "affordance", split, name)
    base = {"train": 10_000, "validation": 500_000}[split]

    def make(category: str, rng: np.random.Generator) -> Soup:
        return library_soup(category, base + int(rng.integers(5000)), rng=rng)

    if name == SWAPPED:
        allowed = frozenset(vocabulary().training_categories())
        shape = None
        while shape is None:
            shape = swap(make, allowed, rng=rng)
    else:
        shape = library_soup(name, base + number // _DRAWS_PER_OBJECT, rng=rng)
    if rng.random() < 2 / 3:
        shape = stretched(shape, rng=rng)
    return turned(shape, rng=rng)


def draw_view(shape: Soup, *, rng: np.random.Generator, finishing: bool = False) -> RegionCloud:
    """Return a shape's cloud: whole, from one camera, or a close-up of one of its smaller regions.

    Args:
        shape: The labelled shape.
        rng: Draws the kind of view and what it shows.
        finishing: Two in three are whole and at full density, as a scene source gives them.
    """
    kind = rng.random()
    if finishing and kind < 0.65:
        return _noisy(whole_cloud(shape, CLOUD_POINTS, rng=rng), rng)
    if finishing:
        kind = 0.0 if kind < 0.9 else 1.0
    if kind < 0.4:
        seen = seen_cloud(shape, rng=rng, noise_m=float(rng.uniform(0, 0.0015)))
        if len(seen.points_m) > 200:
            return seen
    if kind > 0.8 and shape.extent_m.max() > 0.25:
        close = _close_up_of(shape, rng)
        if close is not None:
            return close
    cloud = whole_cloud(shape, CLOUD_POINTS if rng.random() < 0.7 else int(rng.integers(1500, 8000)), rng=rng)
    return _noisy(cloud, rng)


def training_sample(name: str, number: int, *, split: str = "train", finishing: bool = False) -> Mapping[str, Any]:
    """Return one sample as small arrays.

    ``regions`` are bits per chosen point and ``mass`` is how many points of the cloud each stands for; ``present`` and
    ``judged`` are bits per object.
    """
    rng = rng_for(number, "affordance", split, "view", name)
    shape = draw_shape(name, number, split=split)
    cloud = draw_view(shape, rng=rng, finishing=finishing)
    ready = prepare(cloud.points_m, cloud.normals, seed=int(rng.integers(1 << 30)))
    regions = cloud.regions[ready.chosen]
    return {
        "features": ready.features.astype(np.float16),
        "middle": ready.middle.astype(np.int16),
        "coarse": ready.coarse.astype(np.int16),
        "near_fine": ready.near_fine.astype(np.int16),
        "near_middle": ready.near_middle.astype(np.int16),
        "near_coarse": ready.near_coarse.astype(np.int16),
        "up_middle": ready.up_middle.astype(np.int16),
        "weight_middle": ready.weight_middle.astype(np.float16),
        "up_fine": ready.up_fine.astype(np.int16),
        "weight_fine": ready.weight_fine.astype(np.float16),
        "regions": regions.astype(np.int16),
        "mass": np.bincount(ready.nearest[:, 0], minlength=POINTS).astype(np.int16),
        "present": shape.present,
        "judged": shape.judged,
        "presence_judged": shape.judged & ~unseen_bits(regions, shape.present),
        "category": name,
    }


def unseen_bits(regions: NDArray[np.int32], present: int) -> int:
    """Return the bits of the regions that are there but hardly in view."""
    count = ((regions[:, None] >> np.arange(len(REGIONS))) & 1).sum(0)
    seen = sum(1 << k for k in range(len(REGIONS)) if count[k] >= LEAST_SEEN)
    return present & ~seen


def _close_up_of(shape: Soup, rng: np.random.Generator) -> RegionCloud | None:
    small = [k for k, region in enumerate(REGIONS) if region in RARE and shape.present >> k & 1]
    wanted = [k for k in range(len(REGIONS)) if shape.present >> k & 1]
    pick = int(rng.choice(small if small and rng.random() < 0.7 else wanted))
    own = np.flatnonzero(shape.regions >> pick & 1)
    center = shape.triangles_m[int(rng.choice(own))].mean(0) + rng.normal(0, 0.02, 3)
    dense = whole_cloud(shape, 6 * CLOUD_POINTS, rng=rng)
    close = close_up(dense, center_m=center, radius_m=_CLOSE_UP_M)
    return _noisy(close, rng) if len(close.points_m) > 500 else None


def _noisy(cloud: RegionCloud, rng: np.random.Generator) -> RegionCloud:
    if rng.random() < 0.4:
        return cloud
    points = cloud.points_m + rng.normal(0, rng.uniform(0, 0.0012), cloud.points_m.shape)
    normals = cloud.normals + rng.normal(0, rng.uniform(0, 0.1), cloud.normals.shape)
    return RegionCloud(points, normals / np.linalg.norm(normals, axis=1, keepdims=True), cloud.regions)
