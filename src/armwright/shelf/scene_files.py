"""Scenes on disk: what was drawn as JSON, products by name, and a picture of it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from armwright.core.errors import UnknownNameError, UsageError, in_one_line
from armwright.core.files import atomic_path, write_json
from armwright.shelf.products import Product, load_products
from armwright.shelf.records import ATTRIBUTES, Attribute, Box, Orientation, Shelf, Vector
from armwright.shelf.scenes import LAYOUTS, PlacedProduct, ShelfScene, dominated_scene, scene
from armwright.shelf.worlds import ShelfWorld

SCENE_NAMES: tuple[str, ...] = (*LAYOUTS, *ATTRIBUTES)
"""Three layouts, and four sets in which one attribute organises the shelf."""
PICTURE_PX = (1280, 960)


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class _BoxFile(_Model):
    center_m: Vector
    size_m: Vector

    @classmethod
    def of(cls, box: Box) -> _BoxFile:
        return cls(center_m=box.center_m, size_m=box.size_m)

    def box(self) -> Box:
        return Box(self.center_m, self.size_m)


class _PlacedFile(_Model):
    id: str
    product: str
    orientation: Orientation
    yaw_rad: float
    box: _BoxFile


class _ShelfFile(_Model):
    width_m: float
    depth_m: float
    boards_m: tuple[float, ...]
    top_m: float
    thickness_m: float


class SceneFile(_Model):
    """A scene as JSON; metres and radians in the shelf frame (`shelf.records`)."""

    schema_name: Literal["armwright.shelf-scene/1"] = Field(default="armwright.shelf-scene/1", alias="schema")
    name: str
    seed: int
    shelf: _ShelfFile
    objects: tuple[_PlacedFile, ...]
    target: str
    target_orientation: Orientation
    reserved: tuple[_BoxFile, ...]


def draw_scene(name: str, seed: int) -> ShelfScene:
    """Draw a scene by the name of a layout or of the attribute that organises it.

    Raises:
        UnknownNameError: It is neither.
        SceneError: No scene with room for a target was found.
    """
    layouts = {layout: layout for layout in LAYOUTS}
    if name in layouts:
        return scene(layouts[name], seed)
    attributes: dict[str, Attribute] = {attribute: attribute for attribute in ATTRIBUTES}
    if name not in attributes:
        raise UnknownNameError("shelf scene", name, SCENE_NAMES)
    return dominated_scene(attributes[name], seed)


def scene_json(drawn: ShelfScene) -> dict[str, Any]:
    """Return a scene as JSON-safe data."""
    shelf = drawn.shelf
    file = SceneFile(
        name=drawn.name,
        seed=drawn.seed,
        shelf=_ShelfFile(
            width_m=shelf.width_m,
            depth_m=shelf.depth_m,
            boards_m=shelf.boards_m,
            top_m=shelf.top_m,
            thickness_m=shelf.thickness_m,
        ),
        objects=tuple(
            _PlacedFile(
                id=o.id, product=o.product.name, orientation=o.orientation, yaw_rad=o.yaw_rad, box=_BoxFile.of(o.box)
            )
            for o in drawn.objects
        ),
        target=drawn.target.name,
        target_orientation=drawn.target_orientation,
        reserved=tuple(map(_BoxFile.of, drawn.reserved)),
    )
    return file.model_dump(mode="json", by_alias=True)


def write_scene(path: str | Path, drawn: ShelfScene) -> None:
    """Write a scene as JSON."""
    write_json(Path(path), scene_json(drawn))


def read_scene(path: str | Path, *, products: Sequence[Product] | None = None) -> ShelfScene:
    """Read a scene that `write_scene` wrote.

    Args:
        path: The file.
        products: Where its names are looked up; by default the list of the package.

    Raises:
        UsageError: It cannot be read, or a field is wrong.
        UnknownNameError: A product is not in the list.
    """
    try:
        file = SceneFile.model_validate_json(Path(path).read_bytes())
    except OSError as error:
        raise UsageError(f"cannot read the scene {path}: {in_one_line(error)}.") from error
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"])) or "the file"
        raise UsageError(f"{path}: {field}: {first['msg']}.", hint="Write it with `armwright shelf scenes`.") from error
    known = {p.name: p for p in (products or load_products())}

    def product(name: str) -> Product:
        if name not in known:
            raise UnknownNameError("product", name, known)
        return known[name]

    return ShelfScene(
        name=file.name,
        seed=file.seed,
        shelf=Shelf(**file.shelf.model_dump()),
        objects=tuple(
            PlacedProduct(o.id, product(o.product), o.orientation, o.yaw_rad, o.box.box()) for o in file.objects
        ),
        target=product(file.target),
        target_orientation=file.target_orientation,
        reserved=tuple(box.box() for box in file.reserved),
    )


def write_picture(path: Path, world: ShelfWorld) -> None:
    """Draw a world as it began, from beside the arm.

    Raises:
        RendererError: Nothing can be drawn here.
        OutputError: The file cannot be written.
    """
    from PIL import Image

    drawn = world.world.cameras["front"].picture(float("-inf"), 0, *PICTURE_PX)
    with atomic_path(path) as temporary:
        Image.fromarray(drawn).save(temporary, format="JPEG", quality=88)
