"""Domain randomisation by five axes, each with a switch and a range, and the looks that one episode draws from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from armwright.assets.scene import SceneSpec, WindowSpec
from armwright.core.seeds import int_seed, rng_for

Axis = Literal["pose", "texture", "lighting", "background", "noise"]
AXES: tuple[Axis, ...] = ("pose", "texture", "lighting", "background", "noise")
Pattern = Literal["noise", "checker", "wood", "stripes"]
PATTERNS: tuple[Pattern, ...] = ("noise", "checker", "wood", "stripes")
LightKind = Literal["directional", "spot", "point"]
Rgb = tuple[float, float, float]

# Surfaces that are not objects of the scene.
TABLE, FLOOR = "table", "floor"
# The orbit of the paper's background renders (Appendix Q): 12 views.
ORBIT_DEG: tuple[float, ...] = tuple(float(a) for a in range(-120, 46, 15))
# Rigid offset and scale that anchor a reconstruction to the arm's base (Appendix Q).
FIELD_SCALE, FIELD_OFFSET_M = 0.8, (-0.2, 0.4, -0.2)
MAX_LIGHTS = 4


def _ordered(value: tuple[float, float]) -> tuple[float, float]:
    low, high = value
    if not low <= high:
        raise ValueError(f"the lower end {low:g} lies above the upper end {high:g}")
    return value


Range = Annotated[tuple[float, float], AfterValidator(_ordered)]


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True, allow_inf_nan=False)


class PoseAxis(WindowSpec):
    """Where the manipulated object stands: a square window and a range of yaw around the nominal pose."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)
    enabled: bool = True


class TextureAxis(_Model):
    """What surfaces are covered with.

    Attributes:
        enabled: The axis is randomised.
        share: Chance that a surface gets a texture; others keep their own look.
        patterns: Procedural textures to draw from.
        folder: Images of the user's, which are drawn beside the procedural ones.
        folder_share: Chance that a textured surface takes an image where there is a folder.
        repeats: Range of how often a pattern repeats across a surface.
        table, floor: Cover these too.
    """

    enabled: bool = False
    share: float = Field(default=0.8, ge=0, le=1)
    patterns: tuple[Pattern, ...] = Field(default=PATTERNS, min_length=1)
    folder: str | None = None
    folder_share: float = Field(default=0.5, ge=0, le=1)
    repeats: Range = (2.0, 8.0)
    table: bool = True
    floor: bool = True


class LightingAxis(_Model):
    """Type, position, intensity and colour of the lights.

    Attributes:
        enabled: The axis is randomised.
        kinds: Types to draw from.
        count: Range of their number.
        distance_m, azimuth_deg, elevation_deg: Where they hang, around the middle of the work area.
        intensity: Sum of all lights' diffuse intensities.
        tint: How far a colour channel may be dimmed.
        ambient: Light from everywhere.
    """

    enabled: bool = False
    kinds: tuple[LightKind, ...] = Field(default=("directional", "spot", "point"), min_length=1)
    count: Annotated[tuple[int, int], AfterValidator(_ordered)] = (1, 3)
    distance_m: Range = (1.0, 2.2)
    azimuth_deg: Range = (-180.0, 180.0)
    elevation_deg: Range = (35.0, 85.0)
    intensity: Range = (0.6, 1.3)
    tint: float = Field(default=0.25, ge=0, le=1)
    ambient: Range = (0.2, 0.4)


class BackgroundAxis(_Model):
    """What stands behind the robot and the objects.

    Attributes:
        enabled: The axis is randomised.
        patterns, folder, folder_share: As for textures.
        splats: Files of Gaussian fields (.ply or .splat); where there are any they are used instead of textures.
        orbit_deg: Angles about the base's vertical axis that a field is seen from.
        scale, offset_m: Anchor of a field in the arm's base frame.
    """

    enabled: bool = False
    patterns: tuple[Pattern, ...] = Field(default=PATTERNS, min_length=1)
    folder: str | None = None
    folder_share: float = Field(default=0.5, ge=0, le=1)
    splats: tuple[str, ...] = ()
    orbit_deg: tuple[float, ...] = Field(default=ORBIT_DEG, min_length=1)
    scale: float = Field(default=FIELD_SCALE, gt=0)
    offset_m: tuple[float, float, float] = FIELD_OFFSET_M


class NoiseAxis(_Model):
    """Gaussian noise on the rendered colours, its standard deviation in steps of 255."""

    enabled: bool = False
    sigma: Range = (1.0, 8.0)


class Randomisation(_Model):
    """The five axes (AffordSim §3.3); the default draws poses only, as every scene does."""

    schema_name: Literal["armwright.randomisation/1"] = Field(default="armwright.randomisation/1", alias="schema")
    pose: PoseAxis = PoseAxis()
    texture: TextureAxis = TextureAxis()
    lighting: LightingAxis = LightingAxis()
    background: BackgroundAxis = BackgroundAxis()
    noise: NoiseAxis = NoiseAxis()

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The axes that are on."""
        return tuple(axis for axis in AXES if getattr(self, axis).enabled)

    @property
    def visual(self) -> bool:
        """Whether any axis changes how pictures look."""
        return any(axis != "pose" for axis in self.axes)

    def switched(self, axes: Sequence[Axis]) -> Randomisation:
        """Return a copy in which exactly these axes are on."""
        return self.model_copy(update={a: getattr(self, a).model_copy(update={"enabled": a in axes}) for a in AXES})

    def window(self) -> WindowSpec:
        """Return the window that manipulated objects are drawn from: a point where poses are not randomised."""
        pose = self.pose
        return (
            WindowSpec(size_m=pose.size_m, yaw_deg=pose.yaw_deg)
            if pose.enabled
            else WindowSpec(size_m=0.0, yaw_deg=0.0)
        )


class ImageFile(_Model):
    """A file that looks depend on."""

    path: str
    sha256: str


class SurfaceLook(_Model):
    """One texture: a pattern in two colours, or an image.

    Attributes:
        pattern: Procedural texture, or ``image``.
        seed: Seed of the pattern's details.
        colours: The two colours of a pattern, in [0, 1].
        repeats: How often it repeats.
        image: The file, where it is one.
    """

    pattern: Pattern | Literal["image"]
    seed: int = 0
    colours: tuple[Rgb, Rgb] = ((0.2, 0.2, 0.2), (0.8, 0.8, 0.8))
    repeats: float = 4.0
    image: ImageFile | None = None


class LightLook(_Model):
    """One light, in the world's frame.

    Attributes:
        kind: Type.
        position_m: Where it hangs.
        direction: Unit vector that it shines along.
        diffuse: Intensity times colour.
        shadow: It casts shadows, where shadows are drawn.
    """

    kind: LightKind
    position_m: tuple[float, float, float]
    direction: tuple[float, float, float]
    diffuse: Rgb
    shadow: bool = False


class BackgroundLook(_Model):
    """A texture all around, or a Gaussian field in its place.

    Attributes:
        texture: Seen by direction, as from far away; it replaces floor and sky, and leaves the table.
        field: File of a Gaussian field; it replaces the table as well.
        orbit_deg: The field is turned by the opposite of this about the base's vertical axis.
        scale, offset_m: The field's anchor in the base frame.
    """

    texture: SurfaceLook | None = None
    field: ImageFile | None = None
    orbit_deg: float = 0.0
    scale: float = FIELD_SCALE
    offset_m: tuple[float, float, float] = FIELD_OFFSET_M


class Looks(_Model):
    """How the pictures of one episode look; drawing again with it gives the same pictures.

    Attributes:
        surfaces: Texture by object id, ``table`` or ``floor``.
        lights: What replaces the usual lights; None keeps them.
        ambient: Light from everywhere; None keeps the usual.
        background: What is composited behind the foreground.
        noise_sigma: Standard deviation of the pixel noise, in steps of 255.
        noise_seed: Its seed.
    """

    schema_name: Literal["armwright.looks/1"] = Field(default="armwright.looks/1", alias="schema")
    surfaces: dict[str, SurfaceLook] = Field(default_factory=dict)
    lights: tuple[LightLook, ...] | None = Field(default=None, max_length=MAX_LIGHTS)
    ambient: float | None = None
    background: BackgroundLook | None = None
    noise_sigma: float = Field(default=0.0, ge=0)
    noise_seed: int = 0


Images = Mapping[str, Sequence[ImageFile]]
"""The checked files of each axis: ``texture``, ``background`` and ``splats``."""


def draw_looks(ranges: Randomisation, scene: SceneSpec, seed: int, images: Images | None = None) -> Looks:
    """Draw how one episode looks; each axis and each surface has a generator of its own.

    Objects whose colour was asked for keep it: "the red mug" must stay red.

    Args:
        ranges: The axes.
        scene: The solved scene.
        seed: The episode's seed.
        images: Files to draw from, as `Images`.
    """
    files = images or {}
    looks: dict[str, object] = {}
    if ranges.texture.enabled:
        looks["surfaces"] = _surfaces(ranges.texture, scene, seed, files.get("texture", ()))
    if ranges.lighting.enabled:
        rng = rng_for(seed, "looks", "lighting")
        looks["lights"] = _lights(ranges.lighting, rng)
        looks["ambient"] = float(rng.uniform(*ranges.lighting.ambient))
    if ranges.background.enabled:
        looks["background"] = _background(ranges.background, seed, files)
    if ranges.noise.enabled:
        looks["noise_sigma"] = float(rng_for(seed, "looks", "noise").uniform(*ranges.noise.sigma))
        looks["noise_seed"] = int_seed(seed, "looks", "pixels")
    return Looks.model_validate(looks)


def _surfaces(axis: TextureAxis, scene: SceneSpec, seed: int, images: Sequence[ImageFile]) -> dict[str, SurfaceLook]:
    names = [node.id for node in scene.objects if "colour" not in node.attributes]
    names += [TABLE] * axis.table + [FLOOR] * axis.floor
    found: dict[str, SurfaceLook] = {}
    for name in names:
        rng = rng_for(seed, "looks", "texture", name)
        if rng.random() < axis.share:
            found[name] = _surface(rng, axis.patterns, axis.repeats, images, axis.folder_share)
    return found


def _surface(
    rng: np.random.Generator,
    patterns: Sequence[Pattern],
    repeats: tuple[float, float],
    images: Sequence[ImageFile],
    share: float,
) -> SurfaceLook:
    take_image = bool(rng.random() < share) and len(images) > 0
    image = images[int(rng.integers(len(images)))] if take_image else None
    pattern = patterns[int(rng.integers(len(patterns)))]
    first, second = rng.uniform(0.05, 1.0, (2, 3))
    return SurfaceLook(
        pattern=pattern if image is None else "image",
        seed=int(rng.integers(2**31)),
        colours=(_rgb(first), _rgb(second)),
        repeats=float(rng.uniform(*repeats)),
        image=image,
    )


def _lights(axis: LightingAxis, rng: np.random.Generator) -> tuple[LightLook, ...]:
    low, high = axis.count
    count = int(rng.integers(min(max(low, 1), MAX_LIGHTS), min(max(high, 1), MAX_LIGHTS) + 1))
    shares = rng.dirichlet(np.full(count, 3.0)) * rng.uniform(*axis.intensity)
    lights: list[LightLook] = []
    for share in shares:
        azimuth, elevation = np.deg2rad(rng.uniform(*axis.azimuth_deg)), np.deg2rad(rng.uniform(*axis.elevation_deg))
        outward = np.array(
            [np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)]
        )
        aim = np.array([0.5, 0.0, 0.0]) + np.append(rng.uniform(-0.15, 0.15, 2), 0.0)
        colour = share * (1.0 - axis.tint * rng.random(3))
        lights.append(
            LightLook(
                kind=axis.kinds[int(rng.integers(len(axis.kinds)))],
                position_m=_rgb(aim + rng.uniform(*axis.distance_m) * outward),
                direction=_rgb(-outward),
                diffuse=_rgb(colour),
                shadow=len(lights) == 0,
            )
        )
    return tuple(lights)


def _background(axis: BackgroundAxis, seed: int, files: Images) -> BackgroundLook:
    rng = rng_for(seed, "looks", "background")
    fields = files.get("splats", ())
    if fields:
        return BackgroundLook(
            field=fields[int(rng.integers(len(fields)))],
            orbit_deg=axis.orbit_deg[int(rng.integers(len(axis.orbit_deg)))],
            scale=axis.scale,
            offset_m=axis.offset_m,
        )
    return BackgroundLook(
        texture=_surface(rng, axis.patterns, (3.0, 12.0), files.get("background", ()), axis.folder_share)
    )


def _rgb(values: np.ndarray) -> Rgb:
    """Round to what is recorded, so that drawing from the record is drawing from the original."""
    x, y, z = (round(float(v), 6) for v in values)
    return x, y, z
