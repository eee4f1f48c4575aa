"""Small shelves for tests, written by hand."""

from __future__ import annotations

from armwright.shelf.records import Box, Described, Shelf, ShelfObject, Target

SHELF = Shelf(width_m=0.9, depth_m=0.3, boards_m=(0.02, 0.34), top_m=0.66)
SIZE = (0.06, 0.06, 0.12)


def thing(name: str, x: float, y: float, *, board: int = 0, size=SIZE, shelf: Shelf = SHELF, **nature) -> ShelfObject:
    """Return an object standing on a board, its centre at x, y."""
    known = {"label": name, "content": "rice", "packaging": "box", "edible": True, "orientation": "upright"} | nature
    return ShelfObject(name, Box((x, y, shelf.boards_m[board] + size[2] / 2), size), Described(**known))


def wanted(*, size=SIZE, **nature) -> Target:
    """Return a target."""
    known = {"label": "new", "content": "rice", "packaging": "box", "edible": True, "orientation": "upright"} | nature
    return Target(Described(**known), size)


def sorted_shelf() -> tuple[ShelfObject, ...]:
    """Return a shelf sorted by packaging alone: cans to the left, bottles to the right, contents in turn."""
    contents = ("rice", "shampoo", "milk", "bleach")
    row = []
    for board in (0, 1):
        for k in range(8):
            row.append(
                thing(
                    f"thing_{board}{k}",
                    0.05,
                    0.38 - 0.085 * k - (0.1 if k >= 4 else 0.0),
                    board=board,
                    content=contents[(k + board) % 4],
                    edible=(k + board) % 4 in (0, 2),
                    packaging="can" if k < 4 else "bottle",
                )
            )
    return tuple(row)
