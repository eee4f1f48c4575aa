"""The chat describer: a vision-language model looks at a frame with numbered outlines (OMAR §IV-A); labels step in."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from PIL import Image, ImageDraw, ImageFont
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from scipy.ndimage import binary_dilation

from armwright.core.camera import RgbdFrame
from armwright.core.errors import ModelError, OutputError
from armwright.core.files import write_bytes
from armwright.core.settings import Settings, get_settings
from armwright.models.chat import ChatModel, ModelUse, chat_model
from armwright.perception.describers import WORLD_UP, Describer
from armwright.perception.descriptions import Description

GIVE_UP_AFTER = 2
"""Frames in a row without an answer after which the model is left alone."""
_EDGE_RGB = (255, 40, 200)


class _Answer(BaseModel):
    model_config = ConfigDict(extra="forbid")


class SaidObject(_Answer):
    """One outlined thing."""

    number: int = Field(description="The number at its outline.")
    label: str = Field(max_length=120, description="What it is called, as printed; empty if you cannot tell.")
    content: str = Field(max_length=120, description="What is inside, in plain words without brand; empty if unknown.")
    packaging: Literal["box", "bottle", "can", "carton", "tube", ""] = Field(description="Empty if unknown.")
    edible: bool | None = Field(description="Food or drink; null if unknown.")
    orientation: Literal["upright", "lying", ""] = Field(description="As it is now; empty if unknown.")
    extent_m: list[float] | None = Field(
        default=None, description="Three typical sides of such a package in metres, in any order; null if unknown."
    )
    confidence: float = Field(ge=0, le=1, description="How sure you are of the label.")


class SaidFrame(_Answer):
    """Every outlined thing, each once."""

    objects: list[SaidObject]


_SYSTEM = (
    "You describe packaged grocery and household objects for a robot. You get one camera picture twice: as it is, and "
    "with the outlines of the objects in question, each with a number in its colour. Describe every numbered object "
    "exactly once: what its label says, what is inside, how it is packaged, whether it is food or drink, whether it "
    "stands upright or lies. Read; do not guess: what you cannot see stays empty or null, with a low confidence."
)


class ChatDescriber:
    """Asks a chat model that sees pictures, one request a frame; answers are checked and kept on disk.

    An answer that is no JSON of the schema, or names wrong numbers, is asked again with the error. Where no usable
    answer comes, the frame is described by the fallback and `note` says so; after `GIVE_UP_AFTER` frames in a row the
    model is not asked again.

    Args:
        model: ``openai:NAME``, ``anthropic:NAME`` or a chat model.
        settings: Keys, endpoints, timeout, retries and the cache; by default what the environment says.
        fallback: Makes the describer that steps in, by default the built-in ``labels``.
        cached: Whether answers are kept under the cache directory and used again for the same picture and question.
    """

    name = "chat"

    def __init__(
        self,
        model: str | ChatModel,
        *,
        settings: Settings | None = None,
        fallback: Callable[[], Describer] | None = None,
        cached: bool = True,
    ) -> None:
        settings = settings or get_settings()
        self._model = chat_model(model, settings=settings) if isinstance(model, str) else model
        self._folder = settings.cache_dir / "descriptions" if cached else None
        self._make_fallback = fallback or _labels
        self._fallback: Describer | None = None
        self._failures = 0
        self.note = ""
        self.last_use: ModelUse | None = None

    def describe(
        self, frame: RgbdFrame, masks: Sequence[NDArray[np.bool_]], *, up: ArrayLike = WORLD_UP
    ) -> list[Description]:
        """Return one description per mask (see `Describer.describe`); a mask without pixels is not asked about."""
        self.note, self.last_use = "", None
        shown = {k + 1: mask for k, mask in enumerate(masks) if mask.any()}
        if not shown:
            return [Description("", confidence=0.0) for _ in masks]
        try:
            said = self._ask(frame, shown)
        except ModelError as error:
            self._failures += 1
            return self._instead(frame, masks, up, str(error))
        self._failures = 0
        return [
            _description(said[k + 1]) if k + 1 in said else Description("", confidence=0.0) for k in range(len(masks))
        ]

    def _ask(self, frame: RgbdFrame, shown: dict[int, NDArray[np.bool_]]) -> dict[int, SaidObject]:
        prompt = f"Describe the objects with these numbers: {', '.join(map(str, shown))}."
        place = self._place(frame, shown, prompt)
        known = _stored(place, shown)
        if known is not None:
            return known
        if self._failures >= GIVE_UP_AFTER:
            raise ModelError(f"model {self._model.name} gave no answer for {self._failures} frames in a row.")
        images = [_encoded(frame.rgb), _encoded(numbered(frame.rgb, shown))]
        answer = self._model.ask(
            prompt, SaidFrame, system=_SYSTEM, check=lambda value: _check(value, shown), images=images
        )
        self.last_use = answer.use
        if place is not None:
            with contextlib.suppress(OutputError):
                write_bytes(place, answer.value.model_dump_json().encode())
        return {one.number: one for one in answer.value.objects}

    def _place(self, frame: RgbdFrame, shown: dict[int, NDArray[np.bool_]], prompt: str) -> Path | None:
        """Return the file of the answer to this question about this picture."""
        if self._folder is None:
            return None
        image = hashlib.sha256(repr(frame.rgb.shape).encode() + np.ascontiguousarray(frame.rgb).tobytes())
        for number, mask in shown.items():
            image.update(str(number).encode() + np.packbits(mask).tobytes())
        schema = json.dumps(SaidFrame.model_json_schema(), sort_keys=True)
        question = hashlib.sha256("\n".join([self._model.name, _SYSTEM, prompt, schema]).encode())
        return self._folder / f"{image.hexdigest()[:32]}-{question.hexdigest()[:16]}.json"

    def _instead(
        self, frame: RgbdFrame, masks: Sequence[NDArray[np.bool_]], up: ArrayLike, why: str
    ) -> list[Description]:
        if self._fallback is None:
            self._fallback = self._make_fallback()
        said = self._fallback.describe(frame, masks, up=up)
        rest = f" {self._fallback.note}" if self._fallback.note else ""
        self.note = f"The chat model did not describe a frame, {self._fallback.name} did: {why}{rest}"
        return said


def numbered(rgb: NDArray[np.uint8], masks: dict[int, NDArray[np.bool_]]) -> NDArray[np.uint8]:
    """Return a picture with the masks' outlines and their numbers, each number on a tag at the mask's upper edge.

    Args:
        rgb: (H, W, 3).
        masks: Number -> (H, W), each with a pixel.
    """
    out = rgb.copy()
    for mask in masks.values():
        out[binary_dilation(mask) & ~mask] = _EDGE_RGB
    picture = Image.fromarray(out)
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(size=max(12, rgb.shape[0] // 30))
    for number, mask in masks.items():
        rows, columns = np.nonzero(mask)
        top = int(rows.min())
        at = (float(columns[rows <= top + 2].mean()), float(top))
        box = pen.textbbox(at, str(number), font=font, anchor="mm")
        pen.rectangle((box[0] - 2, box[1] - 2, box[2] + 2, box[3] + 2), fill=_EDGE_RGB)
        pen.text(at, str(number), font=font, fill="white", anchor="mm")
    return np.asarray(picture)


def _labels() -> Describer:
    from armwright.perception.labels import LabelDescriber

    return LabelDescriber()


def _encoded(rgb: NDArray[np.uint8]) -> bytes:
    buffer = io.BytesIO()
    Image.fromarray(rgb).save(buffer, "PNG")
    return buffer.getvalue()


def _check(said: SaidFrame, shown: dict[int, NDArray[np.bool_]]) -> None:
    """Raise ``ValueError`` with what the model should change."""
    numbers = [one.number for one in said.objects]
    wanted = ", ".join(map(str, shown))
    unknown = sorted(set(numbers) - set(shown))
    if unknown:
        raise ValueError(f"there is no object {', '.join(map(str, unknown))}. Numbers: {wanted}.")
    missing = sorted(set(shown) - set(numbers))
    if missing:
        raise ValueError(f"object {', '.join(map(str, missing))} is missing. Numbers: {wanted}.")
    if len(set(numbers)) < len(numbers):
        raise ValueError("an object is described twice; give each number once.")
    for one in said.objects:
        if one.extent_m is not None and (len(one.extent_m) != 3 or not all(0.002 < s < 2 for s in one.extent_m)):
            raise ValueError(f"extent_m of object {one.number} must be three sides in metres, got {one.extent_m}.")


def _stored(place: Path | None, shown: dict[int, NDArray[np.bool_]]) -> dict[int, SaidObject] | None:
    """Return the answer that was kept; None where there is none, or a damaged one."""
    if place is None:
        return None
    try:
        said = SaidFrame.model_validate_json(place.read_bytes())
        _check(said, shown)
    except (OSError, ValidationError, ValueError):
        return None
    return {one.number: one for one in said.objects}


def _description(said: SaidObject) -> Description:
    sides = said.extent_m
    return Description(
        said.label.strip(),
        content=said.content.strip(),
        packaging=said.packaging,
        edible=said.edible,
        orientation=said.orientation,
        extent_m=None if sides is None else (sides[0], sides[1], sides[2]),
        confidence=said.confidence if said.label.strip() else min(said.confidence, 0.2),
    )
