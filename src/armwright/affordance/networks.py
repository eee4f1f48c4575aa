"""Affordance networks from ONNX files: an encoder that sees an object once, and a head that each query asks."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.affordance.prepare import PreparedCloud, prepare
from armwright.affordance.protocol import AffordanceMask, ObjectCloud, PhraseMask
from armwright.affordance.text import word_vectors
from armwright.core.errors import CacheError
from armwright.core.pose import Array
from armwright.core.task import AffordanceQuery

_KEPT_OBJECTS = 32


@dataclass(frozen=True)
class NetworkSpec:
    """Which files make a model, and when it says yes.

    Attributes:
        name: Registry name.
        folder: Where ``STEM_encoder.onnx`` and ``STEM_head.onnx`` lie; None for the package's own data.
        stem: First part of the files' names.
        mask_from: Score from which a point belongs to the region.
        present_from: Presence from which the region is there.
    """

    name: str
    folder: Path | None = None
    stem: str = "learned"
    mask_from: float = 0.5
    present_from: float = 0.5


NETWORKS: Mapping[str, NetworkSpec] = {
    "learned": NetworkSpec("learned"),
    "openad-style": NetworkSpec("openad-style", stem="openad"),
}
"""The networks that ship with the package."""


@dataclass(frozen=True, eq=False)
class Encoded:
    """An object as the head sees it, and its cloud, prepared."""

    points: NDArray[np.float32]
    tokens: NDArray[np.float32]
    ready: PreparedCloud


class NetworkAffordance:
    """Marks what a query names on a cloud, from geometry and words only; labels and categories are never read.

    Args:
        spec: Which network.
    """

    def __init__(self, spec: NetworkSpec) -> None:
        self.spec = spec
        self._encoder, self._head = _session(spec, "encoder"), _session(spec, "head")
        self._kept: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self._encoded: dict[int, Encoded] = {}
        self._lock = threading.Lock()

    @property
    def name(self) -> str:
        """Return the registry name."""
        return self.spec.name

    def predict(self, cloud: ObjectCloud, query: AffordanceQuery) -> AffordanceMask:
        """Return the mask of the region's own name; empty where the object lacks it.

        Raises:
            UsageError: The cloud is empty or not finite.
        """
        answer = self.predict_phrases(cloud, (query.region,))[0]
        return AffordanceMask(query, answer.mask, answer.score, self.name, answer.presence)

    def predict_phrases(self, cloud: ObjectCloud, phrases: Sequence[str]) -> tuple[PhraseMask, ...]:
        """Return one mask per phrase, such as "the spout" or "where to hold it".

        Raises:
            UsageError: The cloud is empty or not finite, or no word of a phrase is known.
        """
        words, known = _vectors(tuple(phrases))
        encoded = self.encode(cloud)
        given = {"points": encoded.points, "tokens": encoded.tokens, "words": words, "known": known}
        logits, presence = _run(self._head, given)
        score, there = _sigmoid(encoded.ready.spread(logits[0])), _sigmoid(presence[0])
        found = (score >= self.spec.mask_from) & (there >= self.spec.present_from)[:, None]
        return tuple(
            PhraseMask(phrase, found[k], score[k].astype(float), self.name, float(there[k]))
            for k, phrase in enumerate(phrases)
        )

    def encode(self, cloud: ObjectCloud, *, ready: PreparedCloud | None = None) -> Encoded:
        """Return the object's encoding, computed once for as long as its points live.

        Args:
            cloud: The object.
            ready: The same cloud prepared, where several networks are asked of it.
        """
        key = id(cloud.points_m)
        with self._lock:
            if self._kept.get(key) is cloud.points_m and key in self._encoded:
                return self._encoded[key]
        ready = prepare(cloud.points_m, cloud.normals) if ready is None else ready
        points, tokens = _run(self._encoder, ready.inputs())
        encoded = Encoded(points, tokens, ready)
        with self._lock:
            while len(self._encoded) >= _KEPT_OBJECTS:
                self._encoded.pop(next(iter(self._encoded)))
            self._encoded[key] = encoded
            self._kept[key] = cloud.points_m
        return encoded


def _run(session: Any, given: Mapping[str, Any]) -> Any:
    """Run a network on those of the arrays that it takes in."""
    return session.run(None, {one.name: given[one.name] for one in session.get_inputs()})


def _sigmoid(logits: NDArray[np.float32]) -> Array:
    return np.asarray(1.0 / (1.0 + np.exp(-np.clip(logits.astype(float), -60.0, 60.0))))


@lru_cache(maxsize=256)
def _vectors(phrases: tuple[str, ...]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    return word_vectors(phrases)


def _session(spec: NetworkSpec, part: str) -> Any:
    """Open one ONNX file on one thread: workers run side by side."""
    import onnxruntime

    file = f"{spec.stem}_{part}.onnx"
    path = (spec.folder or files("armwright.affordance") / "data") / file
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # onnxruntime raises types of its own that have no common public base
        raise CacheError(
            f"cannot read the affordance network {path}: {error}.", hint="Install armwright again, or train it."
        ) from error
