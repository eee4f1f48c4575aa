"""Static embeddings beside MiniLM on phrases that are in no word list: ``python benchmarks/embeddings.py [--json]``.

*right*, *wrong* and *refused* are shares of the phrases that mean a category; *false* is the share of words for other
things that are taken for a category. Both encoders go through the same threshold and margin.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml

from armwright.language.vocabulary import MIN_LIKENESS, MIN_MARGIN, default_vocabulary
from armwright.models.embeddings import StaticEmbedder

ROOT = Path(__file__).parents[1]


class MiniLmEmbedder:
    """The encoder that the static vectors were distilled from."""

    name = "minilm"

    def __init__(self) -> None:
        spec = importlib.util.spec_from_file_location("distil", ROOT / "scripts" / "distil_embeddings.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self._model = module.load_encoder()
        vocabulary = self._model.vocabulary
        self._pieces = StaticEmbedder(list(vocabulary), np.zeros((0, 1), np.int8), np.zeros(0, np.float16)).pieces

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        rows = []
        for text in texts:
            pieces = [piece for word in text.replace("-", " - ").split() for piece in self._pieces(word)]
            ids = [self._model.vocabulary[piece] for piece in ["[CLS]", *pieces, "[SEP]"]]
            rows.append(self._model.encode_ids(np.array([ids]))[0])
        return np.stack(rows)


def score(embedder, phrases: dict) -> dict:
    vocabulary = default_vocabulary()
    names = [name for name, _ in vocabulary.phrases()]
    started = time.perf_counter()
    known = embedder.embed([phrase for _, phrase in vocabulary.phrases()])
    result = {}

    def decide(words: Sequence[str]) -> list[str | None]:
        chosen = []
        for row in embedder.embed(words) @ known.T:
            best: dict[str, float] = {}
            for name, value in zip(names, row, strict=True):
                best[name] = max(best.get(name, -1.0), float(value))
            (first, top), (_, second) = sorted(best.items(), key=lambda pair: -pair[1])[:2]
            chosen.append(first if top >= MIN_LIKENESS and top - second >= MIN_MARGIN else None)
        return chosen

    for group in ("paraphrases", "new_words"):
        pairs = [(name, word) for name, words in phrases[group].items() for word in words]
        chosen = decide([word for _, word in pairs])
        n = len(pairs)
        right = sum(got == name for got, (name, _) in zip(chosen, pairs, strict=True))
        refused = sum(got is None for got in chosen)
        result[group] = {"n": n, "right": right / n, "wrong": (n - right - refused) / n, "refused": refused / n}
    chosen = decide(phrases["elsewhere"])
    result["elsewhere"] = {"n": len(chosen), "false": sum(got is not None for got in chosen) / len(chosen)}
    result["seconds"] = time.perf_counter() - started
    return result


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--json", action="store_true")
    arguments = options.parse_args()
    phrases = yaml.safe_load((ROOT / "tests" / "data" / "phrases.yaml").read_text())
    started = time.perf_counter()
    static = StaticEmbedder.load()
    load_s = time.perf_counter() - started
    record = {"static": score(static, phrases) | {"load_s": load_s}, "minilm": score(MiniLmEmbedder(), phrases)}
    if arguments.json:
        print(json.dumps(record, indent=2))
        return
    for name, result in record.items():
        for group in ("paraphrases", "new_words"):
            print(f"{name:7} {group:12} " + " ".join(f"{k} {v:.2f}" for k, v in result[group].items()))
        print(f"{name:7} elsewhere    n {result['elsewhere']['n']} false {result['elsewhere']['false']:.3f}")
        print(f"{name:7} {result['seconds']:.2f} s for all")
    ratio = record["minilm"]["seconds"] / record["static"]["seconds"]
    print(f"static is {ratio:.0f} times faster; it loads in {load_s:.2f} s")


if __name__ == "__main__":
    main()
