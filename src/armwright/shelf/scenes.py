"""Shelf scenes as records: single-row, multi-row, varying-clearance, and dominated by an attribute (OMAR §V-B).

No physics: boxes on boards. Objects are drawn in local groups, in columns from left to right; a column is one object
deep or, in multi-row scenes, several. Places of the target's size are reserved and left free: some on each board or,
on the fuller shelves that an attribute dominates, one in each group.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import SceneError, UnknownNameError
from armwright.core.seeds import rng_for
from armwright.shelf.candidates import CLEARANCE_M, HEADROOM_M
from armwright.shelf.likeness import text_likeness
from armwright.shelf.products import Product, load_products
from armwright.shelf.records import (
    ATTRIBUTES,
    ORIENTATIONS,
    Attribute,
    Box,
    Orientation,
    Shelf,
    ShelfObject,
    Target,
    Vector,
)

Layout = Literal["single-row", "multi-row", "varying-clearance"]
LAYOUTS: tuple[Layout, ...] = get_args(Layout)
SHELF = Shelf(width_m=0.90, depth_m=0.30, boards_m=(0.02, 0.34, 0.66), top_m=0.98)
YAW_RAD = math.radians(10.0)
CLEARANCES_M = (0.22, 0.36)
"""Range of a compartment's height where clearance varies [m]; the tallest products fit only the upper part."""
GROUP_COLUMNS = (2, 4)
"""Columns of one group in a row, both ends included."""
GROUP_BIAS = 0.85
"""Share of objects drawn from the group of their column, the others from all products."""
RESERVED_PER_BOARD = 2
FINGER_M = 0.028
"""Kept free to each side of a reserved place and of the way to it: a gripper's finger holds the target there."""
SIMILAR = 0.7
"""Least likeness of contents that stand together where content organises a shelf."""
SMALLEST_GROUP = 3
"""Products of a group: the target and two others."""
Array = NDArray[np.float64]
_GAP_M = (0.012, 0.035)
_TRIES = 12


@dataclass(frozen=True)
class PlacedProduct:
    """A product on the shelf.

    Attributes:
        id: Its name and a number.
        product: What it is.
        orientation: How it stands.
        yaw_rad: Turn about the vertical [rad].
        box: The aligned box around it, in the shelf frame.
    """

    id: str
    product: Product
    orientation: Orientation
    yaw_rad: float
    box: Box

    def record(self) -> ShelfObject:
        """Return the true record that a perfect map would hold."""
        return ShelfObject(self.id, self.box, self.product.nature(self.orientation))


@dataclass(frozen=True)
class ShelfScene:
    """A scene, all of it true.

    Attributes:
        name: Layout, or the attribute that dominates.
        seed: What it was drawn from.
        shelf: The shelving unit.
        objects: What stands on it.
        target: What is to be placed, in the orientation it is found in.
        target_orientation: That orientation.
        reserved: Places that were left free for it.
    """

    name: str
    seed: int
    shelf: Shelf
    objects: tuple[PlacedProduct, ...]
    target: Product
    target_orientation: Orientation
    reserved: tuple[Box, ...]

    def records(self) -> tuple[ShelfObject, ...]:
        """Return the objects as a perfect map would."""
        return tuple(o.record() for o in self.objects)

    def target_record(self) -> Target:
        """Return the target as a perfect describer would."""
        return Target(self.target.nature(self.target_orientation), self.target.size_m(self.target_orientation))


def scene(layout: Layout, seed: int, *, products: Sequence[Product] | None = None, shelf: Shelf = SHELF) -> ShelfScene:
    """Draw a scene whose local groups are of one category each.

    Args:
        layout: One of ``LAYOUTS``.
        seed: Same seed, same scene.
        products: To draw from; by default the list of the package.
        shelf: Its boards are moved where clearance varies.

    Raises:
        UnknownNameError: There is no such layout.
        SceneError: No place for the target was found.
    """
    if layout not in LAYOUTS:
        raise UnknownNameError("shelf layout", layout, LAYOUTS)
    pool = tuple(products or load_products())
    rng = rng_for(seed, "shelf", "scene", layout)
    if layout == "varying-clearance":
        shelf = _varied(shelf, rng)
    groups: dict[str, list[tuple[Product, Orientation]]] = {}
    for product in pool:
        for category in product.categories:
            groups.setdefault(category, []).append((product, product.orientations[0]))
    return _draw(layout, seed, shelf, groups, rng, rows=layout != "single-row", full=False)


def dominated_scene(
    attribute: Attribute, seed: int, *, products: Sequence[Product] | None = None, shelf: Shelf = SHELF
) -> ShelfScene:
    """Draw a scene grouped by one attribute, the others as they fall (OMAR Table III).

    Groups share similar content (one content and those ``SIMILAR`` to it within a category), a packaging, edibility or
    an orientation. Within a group any product that has the value may stand, and boxes and cartons stand or lie with
    equal chance, except where orientation is what groups them. There, all products are such as may do either, or
    orientation would follow from packaging.

    Raises:
        UnknownNameError: There is no such attribute.
        SceneError: No place for the target was found.
    """
    if attribute not in ATTRIBUTES:
        raise UnknownNameError("shelf attribute", attribute, ATTRIBUTES)
    pool = tuple(products or load_products())
    if attribute == "orientation":
        pool = tuple(p for p in pool if len(p.orientations) > 1)
    rng = rng_for(seed, "shelf", "dominated", attribute)
    groups: dict[str, list[tuple[Product, Orientation]]] = {}
    kinds = {p.content: p for p in pool}
    for product in pool:
        values = [str(getattr(product, attribute))] if attribute != "orientation" else []
        if attribute == "content":
            values = [c for c, other in sorted(kinds.items()) if _similar(other, product)]
        for orientation in product.orientations:
            for value in values or [orientation]:
                groups.setdefault(value, []).append((product, orientation))
    groups = {k: g for k, g in groups.items() if len({p.name for p, _ in g}) >= SMALLEST_GROUP}
    return _draw(attribute, seed, shelf, groups, rng, rows=True, full=True)


def _similar(a: Product, b: Product) -> bool:
    """Return whether two contents are alike and of one category: soy milk is like milk, soy sauce is not."""
    alike = text_likeness(a.content, b.content) >= SIMILAR
    return a.content == b.content or (alike and bool(set(a.categories) & set(b.categories)))


def _varied(shelf: Shelf, rng: np.random.Generator) -> Shelf:
    heights = [shelf.boards_m[0]]
    for _ in shelf.boards_m:
        heights.append(round(heights[-1] + shelf.thickness_m + float(rng.uniform(*CLEARANCES_M)), 3))
    return Shelf(shelf.width_m, shelf.depth_m, tuple(heights[:-1]), heights[-1], shelf.thickness_m)


def _draw(
    name: str,
    seed: int,
    shelf: Shelf,
    groups: Mapping[str, Sequence[tuple[Product, Orientation]]],
    rng: np.random.Generator,
    *,
    rows: bool,
    full: bool,
) -> ShelfScene:
    keys = sorted(groups)
    everything = sorted({item for g in groups.values() for item in g}, key=lambda item: (item[0].name, item[1]))
    for _ in range(_TRIES):
        order = [keys[i] for i in rng.permutation(len(keys))]
        target, standing = _pick(groups[order[0]], rng)
        own = target.size_m(standing)
        reserved = [] if full else _reserve(shelf, own, rng, rows=rows)
        filler = _Filler(shelf, reserved, rng, rows=rows, without=target, hole_m=own if full else None)
        # The target's own group comes in somewhere, never only first.
        few = order[: max(3, min(len(order), 8))]
        sequence = [few[i] for i in rng.permutation(len(few))]
        placed = filler.fill(sequence, groups, everything, bias=1.0 if full else GROUP_BIAS)
        if not filler.reserved:
            continue
        if any(p.product.name != target.name and (p.product, p.orientation) in groups[order[0]] for p in placed):
            return ShelfScene(name, seed, shelf, tuple(placed), target, standing, tuple(filler.reserved))
    raise SceneError(
        f"no {name} scene with room for a target was found in {_TRIES} draws of seed {seed}.",
        hint="Use another seed, a larger shelf, or smaller products.",
    )


def _pick(group: Sequence[tuple[Product, Orientation]], rng: np.random.Generator) -> tuple[Product, Orientation]:
    """Return a product of the group, each equally likely, in one of its orientations there."""
    names = sorted({p.name for p, _ in group})
    name = names[int(rng.integers(len(names)))]
    ways = [item for item in group if item[0].name == name]
    return ways[int(rng.integers(len(ways)))]


def _reserve(shelf: Shelf, size_m: Vector, rng: np.random.Generator, *, rows: bool) -> list[Box]:
    """Return places of the target's size, spread over the boards that are high enough for it."""
    depth, width, height = size_m
    room = CLEARANCE_M + 0.004
    found: list[Box] = []
    if depth + room > shelf.depth_m:
        return []
    for board, base in enumerate(shelf.boards_m):
        if height + HEADROOM_M > shelf.clearance_m(board):
            continue
        mine: list[Box] = []
        for _ in range(8 * RESERVED_PER_BOARD):
            if len(mine) == RESERVED_PER_BOARD:
                break
            half = shelf.width_m / 2 - width / 2 - room
            y = float(rng.uniform(-half, half))
            deepest = shelf.depth_m - depth / 2 - room
            x = float(rng.uniform(depth / 2, deepest)) if rows and deepest > depth / 2 else depth / 2
            box = Box((x, y, base + height / 2), (depth + 2 * room, width + 2 * room, height))
            if all(abs(y - other.center_m[1]) > 2 * width + 0.12 for other in mine):
                mine.append(box)
        found += mine
    return found


def _lane(place: Box) -> tuple[Array, Array]:
    """Return the corners of what stays free for a place: the way in from the front, and a finger beside it."""
    low, high = np.array(place.low_m), np.array(place.high_m)
    return np.array([0.0, low[1] - FINGER_M, low[2]]), np.array([high[0], high[1] + FINGER_M, high[2]])


class _Filler:
    """Puts columns of objects on the boards, from left to right."""

    def __init__(
        self,
        shelf: Shelf,
        reserved: Sequence[Box],
        rng: np.random.Generator,
        *,
        rows: bool,
        without: Product,
        hole_m: Vector | None,
    ) -> None:
        self._shelf = shelf
        self.reserved = list(reserved)
        self._hole_m = hole_m
        self._taken = [_lane(b) for b in reserved]
        self._rng = rng
        self._rows = rows
        self._without = without.name
        self._count: dict[str, int] = {}
        self.placed: list[PlacedProduct] = []

    def fill(
        self,
        sequence: Sequence[str],
        groups: Mapping[str, Sequence[tuple[Product, Orientation]]],
        everything: Sequence[tuple[Product, Orientation]],
        *,
        bias: float,
    ) -> list[PlacedProduct]:
        """Fill all boards with groups in turn."""
        turn = 0
        for board in range(len(self._shelf.boards_m)):
            y = self._shelf.width_m / 2 - float(self._rng.uniform(0.005, 0.03))
            while y > -self._shelf.width_m / 2 + 0.05:
                group = groups[sequence[turn % len(sequence)]]
                turn += 1
                columns = int(self._rng.integers(GROUP_COLUMNS[0], GROUP_COLUMNS[1] + 1))
                holed = int(self._rng.integers(columns))
                for k in range(columns):
                    y = self._column(board, y, group, everything, bias, hole=k == holed)
        return self.placed

    def _column(
        self,
        board: int,
        left_m: float,
        group: Sequence[tuple[Product, Orientation]],
        everything: Sequence[tuple[Product, Orientation]],
        bias: float,
        *,
        hole: bool,
    ) -> float:
        """Fill one column whose left edge is at ``left_m``; return where the next one begins."""
        x = float(self._rng.uniform(0.0, 0.02))
        widest = 0.0
        put = 0
        hole_at = int(self._rng.integers(2)) if hole and self._hole_m is not None else -1
        for _ in range(_TRIES):
            if put == hole_at and self._hole_m is not None:
                hole_at = -1
                box = self._hole(board, x, left_m, self._hole_m)
                if box is not None:
                    widest, x, put = max(widest, box.size_m[1]), box.high_m[0], put + 1
                    continue
            kind = group if self._rng.random() < bias else everything
            product, orientation = _pick(kind, self._rng)
            if product.name == self._without:
                continue
            depth, width, height = product.size_m(orientation)
            yaw = float(self._rng.uniform(-YAW_RAD, YAW_RAD))
            c, s = abs(math.cos(yaw)), abs(math.sin(yaw))
            size = (depth * c + width * s, width * c + depth * s, height)
            base = self._shelf.boards_m[board]
            box = Box((x + size[0] / 2, left_m - size[1] / 2, base + height / 2), size)
            if not self._accepts(box, board):
                # What is reserved may lie in front: step back behind it, once per try.
                if self._rows:
                    x += 0.04
                continue
            number = self._count[product.name] = self._count.get(product.name, 0) + 1
            self.placed.append(PlacedProduct(f"{product.name}_{number}", product, orientation, yaw, box))
            self._taken.append((np.array(box.low_m), np.array(box.high_m)))
            widest = max(widest, size[1])
            put += 1
            x = box.high_m[0] + float(self._rng.uniform(*_GAP_M))
            if not self._rows or (self._hole_m is None and (put == 3 or self._rng.random() < 0.25)):
                break
        return left_m - (widest if put else 0.03) - float(self._rng.uniform(*_GAP_M))

    def _hole(self, board: int, x_m: float, left_m: float, size_m: Vector) -> Box | None:
        """Reserve a place of the target's size in a column, if there is room."""
        depth, width, height = size_m
        room = CLEARANCE_M + 0.004
        size = (depth + 2 * room, width + 2 * room, height)
        middle = (x_m + size[0] / 2, left_m - size[1] / 2, self._shelf.boards_m[board] + height / 2)
        box = Box(middle, size)
        if not self._accepts(box, board):
            return None
        self._taken.append((np.array(box.low_m), np.array(box.high_m)))
        self.reserved.append(box)
        return box

    def _accepts(self, box: Box, board: int) -> bool:
        """Bounds, height, no collision (OMAR §V-B)."""
        low, high = np.array(box.low_m), np.array(box.high_m)
        half = self._shelf.width_m / 2
        if low[0] < 0 or high[0] > self._shelf.depth_m or low[1] < -half or high[1] > half:
            return False
        if box.size_m[2] + HEADROOM_M > self._shelf.clearance_m(board):
            return False
        keep = 0.004
        return all(bool((low >= b + keep).any() or (high <= a - keep).any()) for a, b in self._near(board))

    def _near(self, board: int) -> list[tuple[np.ndarray, np.ndarray]]:
        base = self._shelf.boards_m[board]
        return [(a, b) for a, b in self._taken if abs(a[2] - base) < 0.01]


def orientations_of(product: Product) -> tuple[Orientation, ...]:
    """Return the orientations in which a product may stand, in the order of ``ORIENTATIONS``."""
    return tuple(o for o in ORIENTATIONS if o in product.orientations)
