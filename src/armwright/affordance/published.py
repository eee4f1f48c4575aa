"""Published affordance networks behind our protocol: their own code and weights, loaded by whoever uses them.

Each adapter takes the network's module as its authors' loader returns it, and calls it with its authors' arguments.
Nothing of theirs is part of this package; torch must be installed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from armwright.affordance.protocol import AffordanceMask, ObjectCloud
from armwright.core.errors import UsageError
from armwright.core.pose import Array
from armwright.core.task import AffordanceQuery, RegionName

Module = Callable[..., Any]
"""A torch module in evaluation mode."""

POINTS = 2048
"""All of them were trained on 2,048 points."""

WORDS: Mapping[RegionName, str] = {
    "Graspable Handle": "grasp",
    "Graspable Body": "wrap_grasp",
    "Graspable Rim": "grasp",
    "Graspable Lid": "open",
    "Pour Out": "pour",
    "Pour In": "contain",
    "Support Surface": "support",
    "Containment": "contain",
    "Openable Handle": "openable",
    "Pushable Surface": "pushable",
    "Hanging Handle": "lift",
    "Hook": "support",
    "Button": "press",
}
"""Each region's nearest word among the labels of 3D AffordanceNet, on which these networks were trained."""


class _Published:
    """What the adapters share: 2,048 points in a unit ball, and scores back on every point of the cloud."""

    name: str

    def predict(self, cloud: ObjectCloud, query: AffordanceQuery) -> AffordanceMask:
        """Return the mask of the queried region."""
        from scipy.spatial import cKDTree

        points = np.asarray(cloud.points_m, float)
        if len(points) == 0:
            raise UsageError(f"the cloud of {cloud.object_id!r} is empty.")
        rng = np.random.default_rng(0)
        chosen = rng.choice(len(points), POINTS, replace=len(points) < POINTS)
        centered = points[chosen] - points[chosen].mean(0)
        ball = centered / max(float(np.linalg.norm(centered, axis=1).max()), 1e-9)
        score, mask = self._answer(ball.astype(np.float32), query)
        if score.shape != (POINTS,) or mask.shape != (POINTS,):
            raise UsageError(f"{self.name} gave scores of shape {score.shape}; ({POINTS},) is expected.")
        nearest = cKDTree(points[chosen]).query(points)[1]
        return AffordanceMask(query, mask[nearest], np.clip(score[nearest], 0.0, 1.0), self.name)

    def _answer(self, ball: Array, query: AffordanceQuery) -> tuple[Array, NDArray[np.bool_]]:
        """Return the score and the mask of 2,048 points in the unit ball."""
        raise NotImplementedError


class OpenAd(_Published):
    """OpenAD (Nguyen et al. 2023): ``module(xyz (1, 3, n), labels) -> log-probabilities (1, labels, n)``.

    A point belongs to the label that is likeliest among all those given, so that the set of labels counts.

    Args:
        module: `OpenAD_PN2` or `OpenAD_DGCNN` with weights, in evaluation mode.
        labels: Region -> label to ask for; others compete with it.
        none: Label for points that belong to no region.
        device: Where the module lives.
    """

    name = "openad"

    def __init__(
        self,
        module: Module,
        *,
        labels: Mapping[RegionName, str] | None = None,
        none: str = "none",
        device: str = "cuda",
    ) -> None:
        self._module, self._labels, self._none, self._device = module, labels or WORDS, none, device

    def _answer(self, ball: Array, query: AffordanceQuery) -> tuple[Array, NDArray[np.bool_]]:
        import torch

        names = [*dict.fromkeys(self._labels[region] for region in get_args(RegionName)), self._none]
        xyz = torch.from_numpy(ball.T[None].copy()).to(self._device)
        with torch.no_grad():
            found = self._module(xyz, names)
        odds = np.exp(found[0].cpu().numpy())
        row = names.index(self._labels[query.region])
        return odds[row], odds.argmax(0) == row


class Laso(_Published):
    """LASO's PointRefer (Li et al. 2024): ``module(questions, xyz (b, 3, 2048)) -> scores (b, 2048)``.

    Args:
        module: `PointRefer` with weights, in evaluation mode.
        question: Makes the question from a region's label.
        device: Where the module lives.
    """

    name = "laso"

    def __init__(
        self,
        module: Module,
        *,
        question: Callable[[str], str] = "Which part should I touch to {} this object?".format,
        device: str = "cuda",
    ) -> None:
        self._module, self._question, self._device = module, question, device

    def _answer(self, ball: Array, query: AffordanceQuery) -> tuple[Array, NDArray[np.bool_]]:
        import torch

        xyz = torch.from_numpy(ball.T[None].copy()).to(self._device)
        with torch.no_grad():
            found = self._module((self._question(WORDS[query.region].replace("_", " ")),), xyz)
        score = np.asarray(found.reshape(-1).cpu().numpy(), float)
        return score, score >= 0.5


class IagNet(_Published):
    """IAGNet (Yang et al. 2023): ``module(image, xyz, subject_box, object_box) -> (scores, ...)``.

    It reads what to do from a picture of somebody doing it, not from words.

    Args:
        module: `IAG` with weights, in evaluation mode.
        pictures: Region -> image (3, 224, 224), normalised as its authors do, and the boxes of the subject and the
            object in it, (4,) pixels each.
        device: Where the module lives.
    """

    name = "iagnet"

    def __init__(
        self,
        module: Module,
        *,
        pictures: Mapping[RegionName, tuple[Array, Sequence[float], Sequence[float]]],
        device: str = "cuda",
    ) -> None:
        self._module, self._pictures, self._device = module, pictures, device

    def _answer(self, ball: Array, query: AffordanceQuery) -> tuple[Array, NDArray[np.bool_]]:
        import torch

        if query.region not in self._pictures:
            raise UsageError(
                f"iagnet has no picture for {query.region!r}.", hint=f"It has: {', '.join(self._pictures) or 'none'}."
            )
        image, subject, thing = (
            torch.from_numpy(np.asarray(part, np.float32)[None].copy()).to(self._device)
            for part in self._pictures[query.region]
        )
        xyz = torch.from_numpy(ball.T[None].copy()).to(self._device)
        with torch.no_grad():
            found = self._module(image, xyz, subject, thing)
        score = np.asarray(found[0].reshape(-1).cpu().numpy(), float)
        return score, score >= 0.5


class AffordanceLlm(_Published):
    """3D-AffordanceLLM (Chu et al. 2025): ``generate({question, points}, ...) -> {masks, text}``.

    Args:
        model: What its ``load_model_and_preprocess`` returns, with weights loaded.
        question: Makes the question from the object's category and the region's label.
        device: Where the model lives.
    """

    name = "3d-affordance-llm"

    def __init__(
        self,
        model: Any,
        *,
        question: Callable[[str, str], str] = "Please locate the areas of the {} with function of {}.".format,
        device: str = "cuda",
    ) -> None:
        self._model, self._question, self._device = model, question, device
        self._category = "object"

    def predict(self, cloud: ObjectCloud, query: AffordanceQuery) -> AffordanceMask:
        """Return the mask of the queried region; the question names the object's category."""
        self._category = cloud.category.replace("_", " ")
        return super().predict(cloud, query)

    def _answer(self, ball: Array, query: AffordanceQuery) -> tuple[Array, NDArray[np.bool_]]:
        import torch

        sample = {
            "question": self._question(self._category, WORDS[query.region]),
            "points": [torch.from_numpy(ball.copy()).to(self._device)],
        }
        with torch.no_grad():
            found = self._model.generate(sample, num_beams=1, max_length=128)
        mask = np.asarray(found["masks"][0].reshape(-1).cpu().numpy()) != 0
        return mask.astype(float), mask
