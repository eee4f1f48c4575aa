"""Scene-dependent weights of the semantic fit, by experts that share nothing with the reasoner (OMAR §V-C, Table III).

The paper asks three language models. Offline, three estimators stand in, each a different statistic of the truth: how
much more akin near pairs are, other attributes equal (`Lift`), what an attribute adds to a regression of closeness
(`Closeness`), and how well an object's nearest ones foretell it (`Foretelling`). They see the true scene, with
categories in place of the embeddings, and use none of the reasoner's code. `ChatExpert` asks a chat model instead.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field

from armwright.core.settings import Settings
from armwright.models.chat import ChatModel, chat_model
from armwright.shelf.records import Attribute
from armwright.shelf.scenes import PlacedProduct, ShelfScene

Array = NDArray[np.float64]
_NAMES: tuple[Attribute, ...] = ("content", "packaging", "edible", "orientation")
FLOOR = 0.02
"""Least skill of an attribute, so that none is ever worth nothing."""
NEAR_M = 0.16


class Expert(Protocol):
    """Says how much each attribute matters on a true scene."""

    name: str

    def weights(self, scene: ShelfScene) -> dict[Attribute, float]:
        """Return attribute -> weight, summing to 1."""
        ...


def kinship(a: PlacedProduct, b: PlacedProduct) -> tuple[float, float, float, float]:
    """Return how akin two true objects are in each attribute; contents of one category are half akin."""
    p, q = a.product, b.product
    content = 1.0 if p.content == q.content else 0.5 * bool(set(p.categories) & set(q.categories))
    return (
        content,
        float(p.packaging == q.packaging),
        float(p.edible == q.edible),
        float(a.orientation == b.orientation),
    )


def _kin(scene: ShelfScene) -> Array:
    return np.array([[kinship(a, b) for b in scene.objects] for a in scene.objects]).reshape(
        len(scene.objects), len(scene.objects), 4
    )


def _distances(scene: ShelfScene) -> Array:
    """Return horizontal distances of objects on one board, infinite across boards and to itself (n, n) [m]."""
    middle = np.array([o.box.center_m[:2] for o in scene.objects]).reshape(-1, 2)
    base = np.array([o.box.low_m[2] for o in scene.objects])
    out = np.linalg.norm(middle[:, None] - middle[None], axis=2)
    out[np.abs(base[:, None] - base[None]) > 0.02] = np.inf
    np.fill_diagonal(out, np.inf)
    return np.asarray(out)


def normalised(skill: Sequence[float] | Array) -> dict[Attribute, float]:
    """Return weights proportional to skill above 0, at least ``FLOOR`` each before they are scaled to sum to 1."""
    values = np.maximum(np.nan_to_num(np.asarray(skill, float)), FLOOR)
    return {name: float(v) for name, v in zip(_NAMES, values / values.sum(), strict=True)}


def _pairs(scene: ShelfScene) -> tuple[Array, Array]:
    """Return each pair's kinship (pairs, 4), and its distance, infinite across boards (pairs,) [m]."""
    first, second = np.triu_indices(len(scene.objects), 1)
    return _kin(scene)[first, second], _distances(scene)[first, second]


class Lift:
    """How much more akin near pairs are than others that are equally akin in all the other attributes.

    Averaged over those strata, each weighted as Mantel and Haenszel do, as a share of what is possible: what an
    attribute shows only because it follows another one cancels within a stratum.
    """

    name = "lift"

    def weights(self, scene: ShelfScene) -> dict[Attribute, float]:
        """Return attribute -> weight."""
        if len(scene.objects) < 3:
            return normalised([0.0] * 4)
        kin, distance = _pairs(scene)
        near = distance < NEAR_M
        skill = []
        for k in range(4):
            stratum = np.unique(np.delete(kin, k, axis=1), axis=0, return_inverse=True)[1].ravel()
            size = stratum.max() + 1
            n_near, n_far = (np.bincount(stratum[m], minlength=size).astype(float) for m in (near, ~near))
            s_near, s_far = (np.bincount(stratum[m], kin[m, k], minlength=size) for m in (near, ~near))
            both = (n_near > 0) & (n_far > 0)
            weight = (n_near * n_far / np.maximum(n_near + n_far, 1))[both]
            usual = (s_far / np.maximum(n_far, 1))[both]
            excess = (s_near / np.maximum(n_near, 1))[both] - usual
            skill.append(float((weight * excess).sum() / max(float((weight * (1 - usual)).sum()), 1e-9)))
        return normalised(skill)


class Closeness:
    """What each kinship adds to a ridge regression of how close the pairs on one board are, in standard units."""

    name = "closeness"
    _DECAY_M = 0.15
    _RIDGE = 0.02

    def weights(self, scene: ShelfScene) -> dict[Attribute, float]:
        """Return attribute -> weight."""
        if len(scene.objects) < 3:
            return normalised([0.0] * 4)
        kin, distance = _pairs(scene)
        together = np.isfinite(distance)
        close = np.exp(-distance[together] / self._DECAY_M)
        if len(close) < 5 or close.std() < 1e-9:
            return normalised([0.0] * 4)
        spread = kin[together].std(0)
        known = (kin[together] - kin[together].mean(0)) / np.where(spread > 0, spread, 1.0)
        told = (close - close.mean()) / close.std()
        gram = known.T @ known / len(known) + self._RIDGE * np.eye(4)
        return normalised(np.linalg.solve(gram, known.T @ told / len(known)))


class Foretelling:
    """How much better the three nearest objects foretell an attribute than its commonest value does."""

    name = "foretelling"

    def weights(self, scene: ShelfScene) -> dict[Attribute, float]:
        """Return attribute -> weight."""
        if len(scene.objects) < 5:
            return normalised([0.0] * 4)
        order = np.argsort(_distances(scene), axis=1, kind="stable")[:, :3]
        skill = []
        for values in _values(scene).T:
            told = np.array([np.bincount(values[row]).argmax() for row in order])
            blind = np.bincount(values).max() / len(values)
            skill.append((float((told == values).mean()) - blind) / max(1 - blind, 1e-9))
        return normalised(skill)


def _values(scene: ShelfScene) -> NDArray[np.intp]:
    """Return each object's value of each attribute as a number (n, 4); of contents, the first category."""
    columns: list[list[str]] = [
        [o.product.categories[0] for o in scene.objects],
        [o.product.packaging for o in scene.objects],
        [str(o.product.edible) for o in scene.objects],
        [o.orientation for o in scene.objects],
    ]
    return np.stack([np.unique(c, return_inverse=True)[1] for c in columns], 1)


class _Weights(BaseModel):
    model_config = ConfigDict(extra="forbid")

    content: float = Field(ge=0, le=1)
    packaging: float = Field(ge=0, le=1)
    edible: float = Field(ge=0, le=1)
    orientation: float = Field(ge=0, le=1)


class ChatExpert:
    """Asks a chat model for the weights of a scene.

    Args:
        model: ``openai:NAME``, ``anthropic:NAME`` or a chat model.
        settings: Keys, endpoints, timeout and retries; by default what the environment says.
    """

    def __init__(self, model: str | ChatModel, *, settings: Settings | None = None) -> None:
        self._model = chat_model(model, settings=settings) if isinstance(model, str) else model
        self.name = f"chat:{self._model.name}"

    def weights(self, scene: ShelfScene) -> dict[Attribute, float]:
        """Return attribute -> weight.

        Raises:
            ModelError: The model gave no usable answer; weights of a metric are never made up.
        """
        lines = []
        for level in sorted({round(o.box.low_m[2], 2) for o in scene.objects}):
            row = [o for o in scene.objects if round(o.box.low_m[2], 2) == level]
            row.sort(key=lambda o: (-o.box.center_m[1], o.box.center_m[0]))
            lines.append(f"Board at {level:.2f} m, from left to right (how far back in cm):")
            lines += [
                f"  {o.product.label}: content {o.product.content}, packaging {o.product.packaging}, "
                f"{'edible' if o.product.edible else 'not edible'}, {o.orientation}, {100 * o.box.center_m[0]:.0f} cm"
                for o in row
            ]
        answer = self._model.ask("\n".join(lines), _Weights, system=_SYSTEM, check=_some)
        values = [getattr(answer.value, name) for name in _NAMES]
        return {name: v / sum(values) for name, v in zip(_NAMES, values, strict=True)}


_SYSTEM = (
    "You judge how a shelf is organised. Say how much each attribute (content, packaging, edible, orientation) "
    "explains which objects stand next to each other, as four weights from 0 to 1. Judge the arrangement you are "
    "shown, not what is usual. An attribute that all objects share, or whose values are mixed among neighbours, "
    "explains nothing."
)


def _some(weights: _Weights) -> None:
    if weights.content + weights.packaging + weights.edible + weights.orientation <= 0:
        raise ValueError("all four weights are 0; at least one must be positive.")


BUILT_IN: tuple[Expert, ...] = (Lift(), Closeness(), Foretelling())


def expert_weights(scenes: Sequence[ShelfScene], experts: Sequence[Expert] = BUILT_IN) -> Mapping[Attribute, float]:
    """Return the mean weights of experts over scenes, summing to 1."""
    rows = [[w[name] for name in _NAMES] for s in scenes for w in (e.weights(s) for e in experts)]
    mean = np.mean(rows, axis=0)
    return {name: float(v) for name, v in zip(_NAMES, mean / mean.sum(), strict=True)}
