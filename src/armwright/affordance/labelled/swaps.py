"""Part-swapped shapes: a handle on a bowl, a spout on a can, so that no body tells which regions it has."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armwright.affordance.labelled.soup import Soup, bits_of
from armwright.core.pose import Array
from armwright.core.task import RegionName

MakeSoup = Callable[[str, np.random.Generator], Soup]
"""Category and generator -> an object of that category."""

BODIES: tuple[str, ...] = (
    *("cup", "paper_cup", "bowl", "can", "bottle", "box", "carton", "vase", "flower_pot", "wine_glass"),
    *("paper_box", "bucket", "mug", "basket", "pot", "apple", "pear", "cube", "soap_dispenser", "toaster"),
)
"""Bodies that something can be put on; those of categories held out are left out by whoever draws."""


@dataclass(frozen=True)
class _Donor:
    """A part that can be taken off a category, what it is there, and where it goes on the new body."""

    category: str
    part: str
    regions: tuple[RegionName, ...]
    onto: str


DONORS: tuple[_Donor, ...] = (
    *(_Donor(name, "handle", ("Graspable Handle",), "side") for name in ("mug", "kettle", "watering_can", "pot")),
    *(_Donor(name, "handle", ("Graspable Handle",), "end") for name in ("scoop", "ladle", "screwdriver", "hammer")),
    *(_Donor(name, "handle", ("Graspable Handle",), "end") for name in ("spatula", "brush", "cutting_board")),
    *(_Donor(name, "handle", ("Graspable Handle",), "end") for name in ("pan", "knife", "toothbrush", "drill")),
    *(_Donor(name, "handle", ("Graspable Handle",), "side") for name in ("teapot", "pitcher", "tray")),
    *(_Donor(name, "spout", ("Pour Out",), "side") for name in ("kettle", "teapot", "watering_can")),
    *(_Donor(name, "lid_knob", ("Graspable Lid",), "top") for name in ("pot", "kettle", "teapot")),
    _Donor("bottle", "cap", ("Graspable Lid",), "top"),
    _Donor("tube", "cap", ("Graspable Lid",), "top_from_end"),
    *(_Donor(name, "handle", ("Openable Handle",), "front") for name in ("microwave", "cabinet", "fridge", "oven")),
    *(_Donor(name, "button", ("Button",), "front") for name in ("coffee_machine", "microwave", "oven")),
    *(_Donor(name, "button", ("Button",), "top") for name in ("phone", "remote_control", "lamp")),
    _Donor("mug_rack", "hook", ("Hook",), "side"),
)

_WEIGHTS = {"Graspable Handle": 3.0, "Pour Out": 1.5, "Hook": 0.5}
_CLOSED_TOPS = frozenset({"can", "box", "cube", "apple", "pear", "toaster", "carton"})
_FLAT_FRONTS = frozenset({"box", "cube", "paper_box", "toaster", "carton"})


def swap(make: MakeSoup, allowed: frozenset[str], *, rng: np.random.Generator) -> Soup | None:
    """Return a body with its own handle or spout perhaps taken off and one or two parts of others put on.

    Args:
        make: Builds objects.
        allowed: Categories that may be used.
        rng: Source of randomness.

    Returns:
        The new shape, or None where the draw did not fit together.
    """
    bodies = [name for name in BODIES if name in allowed]
    body = make(str(rng.choice(bodies)), rng)
    if rng.random() < 0.7:
        body = _without(body, ("handle", "spout", "lid_knob"))
    for _ in range(1 + int(rng.random() < 0.4)):
        donors = [
            donor
            for donor in DONORS
            if donor.category in allowed
            and (not donor.onto.startswith("top") or body.category in _CLOSED_TOPS)
            and (donor.onto != "front" or body.category in _FLAT_FRONTS)
        ]
        # First what kind of region, then whose: there are many more handles than buttons.
        kinds = sorted({donor.regions[0] for donor in donors})
        weight = np.array([_WEIGHTS.get(kind, 1.0) for kind in kinds])
        kind = str(rng.choice(kinds, p=weight / weight.sum()))
        alike = [donor for donor in donors if donor.regions[0] == kind]
        donor = alike[int(rng.integers(len(alike)))]
        placed = _attach(body, make(donor.category, rng), donor, rng)
        if placed is None:
            return None
        body = placed
    return body


def _without(soup: Soup, parts: tuple[str, ...]) -> Soup:
    kept = ~np.isin(soup.parts, parts)
    left = int(np.bitwise_or.reduce(soup.regions[kept]))
    # A kettle without its spout neither has nor lacks a place to pour from.
    gone = soup.present & ~left
    return Soup(soup.category, soup.triangles_m[kept], soup.regions[kept], soup.parts[kept], left, soup.judged & ~gone)


def _attach(body: Soup, donor: Soup, kind: _Donor, rng: np.random.Generator) -> Soup | None:
    own = donor.parts == kind.part
    if not own.any():
        return None
    rest = donor.triangles_m[~own].reshape(-1, 3)
    part = donor.triangles_m[own]
    points = part.reshape(-1, 3)
    center = (points.min(0) + points.max(0)) / 2
    body_center = (rest.min(0) + rest.max(0)) / 2
    if kind.onto in ("side", "end", "front"):
        out = center - body_center
        out[2] = 0.0
        if np.linalg.norm(out) < 1e-3:
            return None
        out /= np.linalg.norm(out)
        part = (part - center) @ _to_x(out).T
    else:
        part = part - center
    size = float(np.ptp(part.reshape(-1, 3), axis=0).max())
    want = size if kind.onto == "end" and rng.random() < 0.7 else _fitting(body, kind, size, rng)
    part = part * (want / size)
    low, high = body.triangles_m.reshape(-1, 3).min(0), body.triangles_m.reshape(-1, 3).max(0)
    local = part.reshape(-1, 3)
    overlap = 0.0015
    if kind.onto in ("top", "top_from_end"):
        if kind.onto == "top_from_end":
            # A tube lies: its cap looks along x.
            part = part[..., [1, 2, 0]]
            local = part.reshape(-1, 3)
        at = _top_of(body, float(np.ptp(local[:, :2], axis=0).max()))
        part = part + (at - [0.0, 0.0, float(local[:, 2].min()) + overlap])
    else:
        azimuth = rng.uniform(0, 2 * np.pi) if kind.onto != "front" else float(rng.integers(4)) * np.pi / 2
        c, s = np.cos(azimuth), np.sin(azimuth)
        turn = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        height = float(np.ptp(local[:, 2]))
        room = float(high[2] - low[2]) - height
        z = low[2] + height / 2 + rng.uniform(0.25, 0.95) * max(room, 0.0)
        width = float(np.ptp(local[:, 1]))
        reach = _reach(body, turn[:, 0], turn[:, 1], z, width / 2, height / 2)
        if reach is None:
            return None
        side = 0.0
        if kind.onto == "front":
            across = np.ptp(body.triangles_m.reshape(-1, 3) @ turn[:, 1])
            side = float(rng.uniform(-0.3, 0.3) * max(0.0, across - width))
        shift = np.array([reach - float(local[:, 0].min()) - overlap, side, 0.0])
        middle = np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, z])
        part = (part + shift) @ turn.T + middle
    bits = bits_of(frozenset(kind.regions))
    regions = np.concatenate([body.regions, np.full(len(part), bits, np.int32)])
    triangles = np.concatenate([body.triangles_m, part])
    grown = triangles.copy()
    grown[..., 2] -= triangles[..., 2].min()
    # A body with a spout pours there, and no longer over its rim; with a new handle it may hang by it or not.
    judged, present = body.judged | bits, body.present | bits
    if "Pour Out" in kind.regions:
        regions[: len(body.regions)] &= ~bits
    if "Graspable Handle" in kind.regions:
        judged &= ~(bits_of(frozenset({"Hanging Handle"})) & ~body.present)
    return Soup(body.category, grown, regions, np.concatenate([body.parts, donor.parts[own]]), present, judged)


def _fitting(body: Soup, kind: _Donor, size_m: float, rng: np.random.Generator) -> float:
    extent, onto = body.extent_m, kind.onto
    if kind.regions[0] == "Pour Out":
        return float(rng.uniform(0.3, 0.7) * max(extent[2], 0.5 * extent.max()))
    if onto in ("side", "end"):
        return float(rng.uniform(0.5, 1.1) * max(extent[2], 0.4 * extent.max()))
    if onto == "front":
        return float(min(size_m, rng.uniform(0.3, 0.8) * extent.min()))
    return float(rng.uniform(0.25, 0.7) * min(extent[0], extent[1]))


def _to_x(out: Array) -> Array:
    """Return the rotation about z that turns a horizontal unit vector to x."""
    return np.array([[out[0], out[1], 0.0], [-out[1], out[0], 0.0], [0.0, 0.0, 1.0]])


def _reach(body: Soup, out: Array, across: Array, z: float, half_width: float, half_height: float) -> float | None:
    """Return how far the body goes out where the part will meet it, from the middle of its footprint."""
    points = body.triangles_m.mean(1)
    points = np.concatenate([points, body.triangles_m.reshape(-1, 3)])
    low, high = points.min(0), points.max(0)
    moved = points - [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, 0.0]
    grow = 0.008
    near = (np.abs(moved @ across) < half_width + grow) & (np.abs(moved[:, 2] - z) < half_height + grow)
    far = moved @ out
    near &= far > 0
    if not near.any():
        # A box has corners only: its silhouette is as far out as any of it.
        return float(far.max()) if body.category in _FLAT_FRONTS else None
    return float(far[near].max())


def _top_of(body: Soup, width_m: float) -> Array:
    points = body.triangles_m.reshape(-1, 3)
    low, high = points.min(0), points.max(0)
    middle = (low + high) / 2
    return np.array([middle[0], middle[1], high[2]])
