"""Products as objects that can be simulated and seen: a mesh with printed labels, collision hulls, a mass."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from armwright.assets.hulls import on_four_feet
from armwright.assets.hulls import turned as turned_hull
from armwright.assets.model import LinkModel, ObjectModel
from armwright.core.pose import Array, Pose
from armwright.core.seeds import rng_for
from armwright.shelf.label_art import Picture, Rgb, draw_label, rgb
from armwright.shelf.patches import Patch, PrintedMesh, join, quad, turned
from armwright.shelf.products import Product
from armwright.shelf.records import Orientation, Packaging

BODY = "package"
DENSITY_KG_M3: dict[Packaging, float] = {"box": 350.0, "carton": 900.0, "can": 1000.0, "bottle": 900.0, "tube": 850.0}
"""Mass over the volume of the package, air included."""
FRICTION = 0.7
_SEGMENTS = 40
_READABLE_ARC = 2.0
"""Of a wrapped label, the words stay inside this many radii across: farther round they turn away."""
_METAL: Rgb = (176, 180, 186)

_Shape = tuple[list[Patch], list[Array]]


@lru_cache(maxsize=512)
def product_model(product: Product) -> ObjectModel:
    """Return a product as an object: upright, the label's front towards -x, as on a shelf (records.py).

    What is drawn and shaped freely depends on the product's name alone, so a product looks the same everywhere.
    """
    patches, hulls = _SHAPES[product.packaging](product)
    mesh = join(patches)
    return ObjectModel(
        category=product.packaging,
        links=(_link(product, mesh, hulls),),
        attributes={"label": product.label, "content": product.content},
        regions={},
        params=dict(zip(("width_m", "depth_m", "height_m"), product.extent_m, strict=True)),
        friction=FRICTION,
    )


def standing(orientation: Orientation, depth_m: float) -> Pose:
    """Return the object's frame for a product that stands at the origin, before it is turned about z.

    Lying, it is on its back with its top to the rear (+x) and its label up.

    Args:
        orientation: How it stands.
        depth_m: Depth of the upright product [m].
    """
    if orientation == "upright":
        return Pose()
    half = np.pi / 4
    return Pose(np.array([0.0, 0.0, depth_m / 2]), np.array([np.cos(half), 0.0, np.sin(half), 0.0]))


def _link(product: Product, mesh: PrintedMesh, hulls: list[Array]) -> LinkModel:
    a, b, c = (mesh.vertices_m[mesh.faces[:, k]] for k in range(3))
    volume = float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum()) / 6
    red, green, blue = (v / 255 for v in rgb(product.colours[0]))
    return LinkModel(
        name="base",
        vertices_m=mesh.vertices_m,
        faces=mesh.faces,
        part_names=(BODY,),
        face_part=np.zeros(len(mesh.faces), np.int32),
        part_rgba={BODY: (red, green, blue, 1.0)},
        hulls=tuple(hulls),
        hull_part=(BODY,) * len(hulls),
        mass_kg=round(DENSITY_KG_M3[product.packaging] * volume, 4),
        surfaces={BODY: mesh.surface},
    )


class _Artist:
    """Draws a product's faces in its own colours and typeface."""

    def __init__(self, product: Product) -> None:
        self.words = product.words
        self.ground, self.ink = (rgb(colour) for colour in product.colours)
        self._name = product.name

    def label(self, size_m: tuple[float, float], *, face: str = "front", words_m: float | None = None) -> Picture:
        """Draw the words on a face; the artwork of each face differs."""
        ground, ink = (self.ink, self.ground) if face == "side" else (self.ground, self.ink)
        style = rng_for(0, "label", self._name, face)
        return draw_label(self.words, size_m, ground=ground, ink=ink, style=style, text_width_m=words_m)

    def wrapped(self, girth_m: float, height_m: float, radius_m: float) -> Picture:
        """Draw a label once round, its words at the front and again at the back."""
        half = self.label((girth_m / 2, height_m), words_m=_READABLE_ARC * radius_m)
        return np.roll(np.concatenate([half, half], 1), half.shape[1] // 2, axis=1)

    def end(self, size_m: tuple[float, float]) -> Picture:
        """Draw a top or bottom: words alone."""
        style = rng_for(0, "label", self._name, "end")
        return draw_label(self.words, size_m, ground=self.ground, ink=self.ink, style=style, plain=True)


def _plain(colour: Rgb) -> Picture:
    return np.full((8, 8, 3), colour, np.uint8)


def _cuboid(artist: _Artist, width: float, depth: float, height: float, *, top: bool = True) -> list[Patch]:
    """Return the faces of a cuboid; a lying one shows its bottom to the front, so the words are there as well."""
    z = height / 2
    patches = [
        Patch(quad((-depth / 2, 0, z), (-1, 0, 0), (0, 0, 1), (width, height)), artist.label((width, height))),
        Patch(
            quad((depth / 2, 0, z), (1, 0, 0), (0, 0, 1), (width, height)), artist.label((width, height), face="back")
        ),
        Patch(quad((0, 0, 0), (0, 0, -1), (-1, 0, 0), (width, depth)), artist.end((width, depth))),
    ]
    for sign in (-1, 1):
        points = quad((0, sign * width / 2, z), (0, sign, 0), (0, 0, 1), (depth, height))
        patches.append(Patch(points, artist.label((depth, height), face="side")))
    if top:
        patches.append(Patch(quad((0, 0, height), (0, 0, 1), (1, 0, 0), (width, depth)), artist.end((width, depth))))
    return patches


def _box_hull(width: float, depth: float, low: float, high: float) -> Array:
    x, y, z = np.meshgrid((-depth / 2, depth / 2), (-width / 2, width / 2), (low, high), indexing="ij")
    return np.stack([x, y, z], -1).reshape(-1, 3)


def _box(product: Product) -> _Shape:
    width, depth, height = product.extent_m
    return _cuboid(_Artist(product), width, depth, height), [_box_hull(width, depth, 0.0, height)]


def _carton(product: Product) -> _Shape:
    """A carton with a gable where it is tall enough, else a brick with a cap."""
    width, depth, height = product.extent_m
    artist = _Artist(product)
    if height > 1.7 * width:
        return _gable(artist, width, depth, height)
    cap = min(0.012, 0.12 * height)
    radius = min(0.013, 0.3 * depth)
    body = height - cap
    patches = _cuboid(artist, width, depth, body)
    lid = artist.ink
    side = turned([(radius, height), (radius, body - 0.001)], segments=20)
    patches += [
        Patch(_shifted(side, 0.0, 0.2 * width), _plain(lid)),
        Patch(_shifted(_disc(radius, height, up=True, segments=20), 0.0, 0.2 * width), _plain(lid)),
        Patch(_shifted(_disc(radius, body - 0.001, up=False, segments=20), 0.0, 0.2 * width), _plain(lid)),
    ]
    post = _shifted(turned_hull([(radius, body - 0.001), (radius, height)], segments=12), 0.0, 0.2 * width)
    return patches, [_box_hull(width, depth, 0.0, body), post]


def _gable(artist: _Artist, width: float, depth: float, height: float) -> _Shape:
    """A cuboid under a roof whose ridge runs along the label's width and ends in an upright seam."""
    seam = 0.25 * min(0.045, 0.6 * depth)
    body = height - seam - 0.75 * min(0.045, 0.6 * depth)
    ridge, thick = height - seam, 0.0015
    patches = _cuboid(artist, width, depth, body, top=False)
    roof = _plain(artist.ground)
    y = width / 2
    for sign in (-1, 1):
        low = [(sign * depth / 2, -sign * -y, body), (sign * depth / 2, -sign * y, body)]
        high = [(sign * thick, -sign * -y, ridge), (sign * thick, -sign * y, ridge)]
        end = [(sign * thick, -sign * -y, height), (sign * thick, -sign * y, height)]
        if sign > 0:
            low, high, end = low[::-1], high[::-1], end[::-1]
            low, high, end = ([(a, b, c) for a, b, c in row] for row in (low, high, end))
        patches.append(Patch(_rows(high, low, outward=(sign, 0, 1)), roof))
        patches.append(Patch(_rows(end, high, outward=(sign, 0, 0)), _plain(artist.ink)))
        # The gable's end: a trapezoid, and the end of the seam above it.
        wall_low = [(-depth / 2, sign * y, body), (depth / 2, sign * y, body)]
        wall_high = [(-thick, sign * y, ridge), (thick, sign * y, ridge)]
        wall_end = [(-thick, sign * y, height), (thick, sign * y, height)]
        patches.append(Patch(_rows(wall_high, wall_low, outward=(0, sign, 0)), roof))
        patches.append(Patch(_rows(wall_end, wall_high, outward=(0, sign, 0)), roof))
    top = [[(-thick, y, height), (-thick, -y, height)], [(thick, y, height), (thick, -y, height)]]
    patches.append(Patch(_rows(top[1], top[0], outward=(0, 0, 1)), _plain(artist.ink)))
    roof_hull = np.concatenate([_box_hull(width, depth, body, body), _box_hull(width, 2 * thick, ridge, height)])
    return patches, [_box_hull(width, depth, 0.0, body), roof_hull]


def _rows(
    upper: list[tuple[float, float, float]],
    lower: list[tuple[float, float, float]],
    *,
    outward: tuple[float, float, float],
) -> Array:
    """Return a (2, 2, 3) patch from its upper and lower edge, turned so that it looks outward."""
    points = np.array([upper, lower], float)
    normal = np.cross(points[1, 0] - points[0, 0], points[0, 1] - points[0, 0])
    longer = np.cross(points[1, 1] - points[0, 0], points[1, 1] - points[1, 0])
    if (normal + longer) @ np.asarray(outward, float) < 0:
        points = points[:, ::-1]
    return points


def _shifted(points: Array, x: float, y: float) -> Array:
    return np.asarray(points + np.array([x, y, 0.0]))


def _disc(radius: float, height: float, *, up: bool, segments: int = _SEGMENTS, squash: float = 1.0) -> Array:
    profile = [(0.0, height), (radius, height)] if up else [(radius, height), (0.0, height)]
    return turned(profile, segments=segments, squash=squash)


def _can(product: Product) -> _Shape:
    """A cylinder with a rim at both ends and a label between them."""
    width, depth, height = product.extent_m
    artist = _Artist(product)
    radius, squash = width / 2, depth / width
    rim = min(0.004, 0.06 * height)
    inner = radius - 0.0012
    label = turned([(inner, height - rim), (inner, rim)], segments=_SEGMENTS, squash=squash)
    patches = [Patch(label, artist.wrapped(2 * np.pi * inner, height - 2 * rim, inner))]
    for low, high in ((0.0, rim), (height - rim, height)):
        ring = [(inner, high), (radius, high - 0.25 * rim), (radius, low + 0.25 * rim), (inner, low)]
        patches.append(Patch(turned(ring, segments=_SEGMENTS, squash=squash), _plain(_METAL)))
    patches.append(Patch(_disc(inner, height, up=True, squash=squash), _plain((200, 203, 208))))
    patches.append(Patch(_disc(inner, 0.0, up=False, squash=squash), _plain(_METAL)))
    return patches, [_round_hull([(radius, 0.0), (radius, height)], squash)]


def _bottle(product: Product) -> _Shape:
    """A body with a wrapped label, a shoulder, a neck and a cap."""
    width, depth, height = product.extent_m
    artist = _Artist(product)
    radius, squash = width / 2, depth / width
    cap_height = min(0.028, 0.13 * height)
    neck = min(0.45 * radius, 0.016)
    cap = neck * 1.15
    cap_low = height - cap_height
    shoulder = min(0.9 * (radius - neck) + 0.012, 0.28 * height)
    body = cap_low - 0.008 - shoulder
    turn = np.linspace(0, np.pi / 2, 5)
    bend = [(neck + (radius - neck) * float(np.sin(t)), body + shoulder * float(np.cos(t))) for t in turn]
    foot = 0.1 * body
    image = artist.wrapped(2 * np.pi * radius, body - foot, radius)

    def around(profile: list[tuple[float, float]]) -> Array:
        return turned(profile, segments=_SEGMENTS, squash=squash)

    lid = artist.ink
    patches = [
        Patch(around([(radius, body), (radius, foot)]), image),
        Patch(around([(neck, cap_low), *bend]), _plain(artist.ground)),
        Patch(around([(radius, foot), (0.97 * radius, 0.0)]), _plain(artist.ground)),
        Patch(_disc(0.97 * radius, 0.0, up=False, squash=squash), _plain(artist.ground)),
        Patch(around([(cap, height), (cap, cap_low)]), _plain(lid)),
        Patch(_disc(cap, height, up=True, squash=squash), _plain(lid)),
        Patch(around([(cap, cap_low), (neck, cap_low)]), _plain(lid)),
    ]
    low = _round_hull([(0.97 * radius, 0.0), (radius, foot), (radius, body), *bend[3::-1]], squash)
    high = _round_hull([(neck, body + shoulder), (cap, cap_low), (cap, height)], squash, stands=False)
    return patches, [low, high]


def _tube(product: Product) -> _Shape:
    """A squeeze tube that stands on its cap and flattens towards the seam at its top."""
    width, depth, height = product.extent_m
    artist = _Artist(product)
    cap_high = min(0.022, 0.16 * height)
    cap = 0.46 * depth
    round_at = cap_high + 0.006
    seam = 0.010
    heights = np.array([height - seam, *np.linspace(height - seam, round_at, 9)[1:]])
    share = (height - seam - heights) / (height - seam - round_at)
    columns = _SEGMENTS + 1
    angle = np.linspace(-np.pi, np.pi, columns)
    angle[-1] = -np.pi
    thick = 0.0015
    half_x = thick + (depth / 2 - thick) * np.sqrt(np.clip(share, 0, 1))
    half_y = width / 2 + (depth / 2 - width / 2) * np.clip(share, 0, 1)
    body = np.stack(
        [
            -half_x[:, None] * np.cos(angle),
            -half_y[:, None] * np.sin(angle),
            np.broadcast_to(heights[:, None], (len(heights), columns)),
        ],
        -1,
    )
    crimp = np.stack([body[0], body[0]])
    crimp[0, :, 2] = height
    middle = np.broadcast_to(np.array([0.0, 0.0, height]), (columns, 3))
    neck = np.stack([body[-1], body[-1] * [cap / (depth / 2), cap / (depth / 2), 0.0] + [0.0, 0.0, cap_high]])
    half = artist.label((0.5 * np.pi * (width + depth) / 2, height - seam - round_at), words_m=0.48 * (width + depth))
    image = np.roll(np.concatenate([half, half], 1), half.shape[1] // 2, axis=1)
    lid = artist.ink
    patches = [
        Patch(body, image),
        Patch(crimp, _plain(artist.ink)),
        Patch(np.stack([middle, crimp[0]]), _plain(artist.ink)),
        Patch(neck, _plain(artist.ground)),
        Patch(turned([(cap, cap_high), (cap, 0.0)], segments=_SEGMENTS), _plain(lid)),
        Patch(_disc(cap, 0.0, up=False), _plain(lid)),
    ]
    # The body's hull must end in what the mesh has: every second column is close enough.
    hull = np.concatenate([crimp[0, ::2], body[0, ::2], body[4, ::2], body[-1, ::2]])
    return patches, [hull, _round_hull([(cap, 0.0), (cap, cap_high + 0.002)], 1.0)]


def _round_hull(section: list[tuple[float, float]], squash: float, *, stands: bool = True) -> Array:
    hull = turned_hull(section, segments=16)
    hull[:, 0] *= squash
    return on_four_feet(hull, 0.0) if stands else hull


_SHAPES: dict[Packaging, Callable[[Product], _Shape]] = {
    "box": _box,
    "carton": _carton,
    "can": _can,
    "bottle": _bottle,
    "tube": _tube,
}
