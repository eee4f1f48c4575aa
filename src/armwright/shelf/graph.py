"""The 3D semantic scene graph: shelf, boards, objects, and how they stand to each other (OMAR §IV-B)."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import networkx as nx
from pydantic import BaseModel, ConfigDict, ValidationError

from armwright.core.errors import UsageError, in_one_line, quoted
from armwright.shelf.neighbours import DIRECTIONS, boards, corners, nearest
from armwright.shelf.records import Box, Described, Orientation, Packaging, Shelf, ShelfObject, Vector

SCHEMA = "armwright.shelf_graph/1"
SHELF_ID = "shelf"
Relation = Literal["part_of", "has_part", "on_top_of", "supports", "left_of", "right_of", "in_front_of", "behind"]
INVERSE: Mapping[Relation, Relation] = {
    "part_of": "has_part",
    "has_part": "part_of",
    "on_top_of": "supports",
    "supports": "on_top_of",
    "left_of": "right_of",
    "right_of": "left_of",
    "in_front_of": "behind",
    "behind": "in_front_of",
}
_RELATION_OF: Mapping[str, Relation] = dict(
    zip(DIRECTIONS, ("left_of", "right_of", "in_front_of", "behind"), strict=True)
)
"""Where the neighbour is -> what the neighbour is to the object."""


def board_id(board: int) -> str:
    """Return the node of a board; boards count from the lowest, 0."""
    return f"board_{board}"


@dataclass(frozen=True, eq=False)
class SceneGraph:
    """A shelf and what is on it.

    ``nodes`` is a `networkx.MultiDiGraph`, its edges keyed by their relation; an edge reads *first* relation *second*.

    Attributes:
        shelf: The shelving unit.
        objects: What stands on it, in the order of their ids.
        board: Board of each object (number), by id.
        nodes: Nodes with ``kind`` shelf, board or object and their attributes; each edge has its inverse.
    """

    shelf: Shelf
    objects: tuple[ShelfObject, ...]
    board: Mapping[str, int]
    nodes: nx.MultiDiGraph

    def object(self, name: str) -> ShelfObject:
        """Return an object by id."""
        return self._by_id[name]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_by_id", {o.id: o for o in self.objects})

    _by_id: dict[str, ShelfObject] = dataclasses.field(init=False, repr=False)

    def relations(self) -> list[tuple[str, Relation, str]]:
        """Return every edge (first, relation, second), sorted."""
        return sorted((a, key, b) for a, b, key in self.nodes.edges(keys=True))

    def to_json(self) -> str:
        """Return the graph as JSON; `from_json` reads it back."""
        objects = []
        for one in self.objects:
            nature = {k: v for k, v in dataclasses.asdict(one.nature).items() if v not in (None, {})}
            objects.append({"id": one.id, **nature, "center_m": one.box.center_m, "size_m": one.box.size_m})
        record = {
            "schema": SCHEMA,
            "shelf": dataclasses.asdict(self.shelf),
            "objects": objects,
            "relations": self.relations(),
        }
        return json.dumps(record, indent=1)


def build_graph(shelf: Shelf, objects: Iterable[ShelfObject]) -> SceneGraph:
    """Build the graph from plain records.

    Each board is part of the shelf; each object is on top of the board whose height is nearest to its centroid's. An
    object is joined to its nearest neighbour on the same board to the left, right, front and behind (`nearest`), by the
    order of their centroids; every edge comes with its inverse.

    Raises:
        UsageError: An id repeats, or is that of the shelf or a board.
    """
    things = tuple(sorted(objects, key=lambda o: o.id))
    names = [o.id for o in things]
    taken = {SHELF_ID, *(board_id(k) for k in range(len(shelf.boards_m)))}
    for name in names:
        if name in taken:
            raise UsageError(
                f"the id {quoted(name)} is used twice on this shelf.", hint="Give every object its own id."
            )
        taken.add(name)
    low, high = corners([o.box for o in things])
    on = boards(shelf, low, high)
    graph = nx.MultiDiGraph()
    graph.add_node(SHELF_ID, kind="shelf", **dataclasses.asdict(shelf))
    for k, height in enumerate(shelf.boards_m):
        graph.add_node(board_id(k), kind="board", height_m=height, clearance_m=shelf.clearance_m(k))
        _join(graph, board_id(k), "part_of", SHELF_ID)
    for one, board in zip(things, on, strict=True):
        graph.add_node(
            one.id,
            kind="object",
            **dataclasses.asdict(one.nature),
            center_m=one.box.center_m,
            size_m=one.box.size_m,
        )
        _join(graph, one.id, "on_top_of", board_id(int(board)))
    index, _ = nearest(low, high, on)
    for i, row in enumerate(index):
        for column, j in enumerate(row):
            if j >= 0:
                _join(graph, names[j], _RELATION_OF[DIRECTIONS[column]], names[i])
    return SceneGraph(shelf, things, dict(zip(names, map(int, on), strict=True)), graph)


def _join(graph: nx.MultiDiGraph, first: str, relation: Relation, second: str) -> None:
    graph.add_edge(first, second, key=relation)
    graph.add_edge(second, first, key=INVERSE[relation])


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _StoredShelf(_Strict):
    width_m: float
    depth_m: float
    boards_m: tuple[float, ...]
    top_m: float
    thickness_m: float


class _StoredObject(_Strict):
    id: str
    label: str | None = None
    content: str | None = None
    packaging: Packaging | None = None
    edible: bool | None = None
    orientation: Orientation | None = None
    confidences: dict[str, float] = {}
    center_m: Vector
    size_m: Vector


class _Stored(_Strict):
    schema_: str
    shelf: _StoredShelf
    objects: list[_StoredObject]
    relations: list[tuple[str, Relation, str]]


def from_json(text: str) -> SceneGraph:
    """Read a graph that `SceneGraph.to_json` wrote; relations follow from the boxes and are checked against them.

    Raises:
        UsageError: Not such a graph, or its relations contradict its boxes.
    """
    try:
        data: dict[str, Any] = json.loads(text)
        stored = _Stored.model_validate({("schema_" if k == "schema" else k): v for k, v in data.items()})
    except (ValueError, AttributeError, ValidationError) as error:
        raise UsageError(f"this is no scene graph: {in_one_line(error)}.", hint=f"Expected {SCHEMA}.") from error
    if stored.schema_ != SCHEMA:
        raise UsageError(f"this scene graph is {quoted(stored.schema_)}; this version reads {SCHEMA}.")
    graph = build_graph(Shelf(**stored.shelf.model_dump()), [_object(o) for o in stored.objects])
    if graph.relations() != sorted(stored.relations):
        wrong = sorted(set(graph.relations()) ^ set(stored.relations))
        raise UsageError(
            f"the relations of this scene graph contradict its boxes, first at {wrong[0] if wrong else '(repeats)'}.",
            hint="Build it again from the objects with build_graph.",
        )
    return graph


def _object(stored: _StoredObject) -> ShelfObject:
    nature = Described(
        stored.label, stored.content, stored.packaging, stored.edible, stored.orientation, stored.confidences
    )
    return ShelfObject(stored.id, Box(stored.center_m, stored.size_m), nature)


def order_on_board(graph: SceneGraph, board: int) -> Sequence[ShelfObject]:
    """Return a board's objects from left to right, as seen from the front."""
    mine = [o for o in graph.objects if graph.board[o.id] == board]
    return sorted(mine, key=lambda o: (-o.box.center_m[1], o.box.center_m[0]))
