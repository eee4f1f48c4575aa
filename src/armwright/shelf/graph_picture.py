"""A picture of a shelf's scene graph: each board from above, its objects, their relations, and proposed places."""

from __future__ import annotations

from collections.abc import Sequence

from PIL import Image, ImageDraw, ImageFont

from armwright.shelf.fit import named_place
from armwright.shelf.graph import SceneGraph, board_id, order_on_board
from armwright.shelf.reasoner import Proposal
from armwright.shelf.records import Box, Packaging, Shelf, Target

_PX_PER_M = 1100
_MARGIN = 16
_TITLE = 22
_INK, _MUTED, _BOARD = "#1d2433", "#5c667a", "#f5f6f9"
_FILL: dict[Packaging | None, str] = {
    "box": "#cfe3f5",
    "carton": "#d5efdf",
    "bottle": "#fbe3cd",
    "can": "#ead9ee",
    "tube": "#f3e7bd",
    None: "#e4e6ea",
}
_EDGE = {"left_of": "#0072b2", "in_front_of": "#d55e00"}


def draw_graph(graph: SceneGraph, *, proposals: Sequence[Proposal] = (), target: Target | None = None) -> Image.Image:
    """Draw the boards from above, the front of the shelf below, the upper board first.

    An object is filled by its packaging, hatched if it is not edible, and double-framed if it lies; blue lines join
    neighbours to the side, orange ones those in depth. Proposals are numbered frames of the target's size.

    Args:
        graph: The shelf.
        proposals: To draw; they need ``target``.
        target: What is to be placed.
    """
    shelf = graph.shelf
    width = int(shelf.width_m * _PX_PER_M) + 2 * _MARGIN
    tall = int(shelf.depth_m * _PX_PER_M) + _TITLE + _MARGIN
    image = Image.new("RGB", (width, tall * len(shelf.boards_m) + _MARGIN), "white")
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(13)
    small = ImageFont.load_default(11)
    for board in range(len(shelf.boards_m)):
        top = _MARGIN + tall * (len(shelf.boards_m) - 1 - board) + _TITLE
        pen.text((_MARGIN, top - _TITLE + 3), f"{board_id(board)} at {shelf.boards_m[board]:.2f} m", _MUTED, font)
        floor = Box.between((0.0, -shelf.width_m / 2, 0.0), (shelf.depth_m, shelf.width_m / 2, 1.0))
        pen.rectangle(_pixels(shelf, floor, top), _BOARD, _MUTED)
        mine = order_on_board(graph, board)
        for one in mine:
            frame = _pixels(shelf, one.box, top)
            pen.rectangle(frame, _FILL[one.nature.packaging], _INK)
            if one.nature.edible is False:
                _hatch(image, frame)
            if one.nature.orientation == "lying":
                pen.rectangle((frame[0] + 3, frame[1] + 3, frame[2] - 3, frame[3] - 3), None, _INK)
        names = {o.id for o in mine}
        for first, relation, second in graph.relations():
            if relation in _EDGE and first in names:
                ends = [_middle(_pixels(shelf, graph.object(n).box, top)) for n in (first, second)]
                pen.line(ends, _EDGE[relation], 2)
        for one in mine:
            frame = _pixels(shelf, one.box, top)
            words = (one.nature.content or one.nature.label or one.id).split()
            for k, word in enumerate(words[: max(1, int((frame[3] - frame[1]) // 12))]):
                pen.text((frame[0] + 4, frame[1] + 3 + 12 * k), _cut(word, frame[2] - frame[0] - 6), _INK, small)
    if target is not None:
        sizes = target.sizes()
        for proposal in reversed(proposals):
            if proposal.side == "on_board" or (proposal.orientation or next(iter(sizes))) not in sizes:
                continue
            anchor = graph.object(proposal.anchor)
            size = sizes[proposal.orientation] if proposal.orientation else next(iter(sizes.values()))
            top = _MARGIN + tall * (len(shelf.boards_m) - 1 - graph.board[anchor.id]) + _TITLE
            frame = _pixels(shelf, named_place(anchor.box, proposal.side, size), top)
            pen.rectangle(frame, None, "#b3261e", 3)
            pen.text((frame[0] + 6, frame[3] - 18), str(proposal.rank), "#b3261e", font)
    return image


def _pixels(shelf: Shelf, box: Box, top: int) -> tuple[float, float, float, float]:
    """Return left, upper, right, lower of a box seen from above; left on the shelf is left, its front is below."""
    (x0, y0, _), (x1, y1, _) = box.low_m, box.high_m
    left, right = shelf.width_m / 2 - y1, shelf.width_m / 2 - y0
    return (
        _MARGIN + left * _PX_PER_M,
        top + (shelf.depth_m - x1) * _PX_PER_M,
        _MARGIN + right * _PX_PER_M,
        top + (shelf.depth_m - x0) * _PX_PER_M,
    )


def _middle(frame: tuple[float, float, float, float]) -> tuple[float, float]:
    return (frame[0] + frame[2]) / 2, (frame[1] + frame[3]) / 2


def _hatch(image: Image.Image, frame: tuple[float, float, float, float]) -> None:
    left, upper, right, lower = map(int, frame)
    patch = Image.new("L", (max(right - left, 1), max(lower - upper, 1)), 0)
    pen = ImageDraw.Draw(patch)
    for k in range(-patch.height, patch.width, 9):
        pen.line([(k, patch.height), (k + patch.height, 0)], 90, 1)
    image.paste(Image.new("RGB", patch.size, _MUTED), (left, upper), patch)


def _cut(word: str, width: float) -> str:
    room = max(2, int(width / 6))
    return word if len(word) <= room else word[: room - 1] + "."
