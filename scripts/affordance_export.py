"""Write a trained network as two ONNX files: the object is encoded once, each query asks the head.

    python scripts/affordance_export.py WEIGHTS.pt… --model learned --out src/armwright/affordance/data --cache CACHE

Several files of weights, of runs that went on from the same ones, are averaged. With a cache, says on the validation
draws how often absent regions fire and present ones are kept for a range of thresholds.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import torch
from affordance_networks import CorrelationHead, Encoder, QueryHead, words_shape
from torch import nn

from armwright.affordance.prepare import prepare

OPSET = 17
ADDED = ("encoder.around.", "encoder.finer.")


def networks(model: str) -> nn.ModuleDict:
    """Return an untrained encoder and head."""
    ours = model == "learned"
    encoder = Encoder(described=ours, layers=2 if ours else 0)
    return nn.ModuleDict({"encoder": encoder, "head": QueryHead() if ours else CorrelationHead()})


def export(encoder: nn.Module, head: nn.Module, folder: Path, name: str) -> None:
    """Write ``NAME_encoder.onnx`` and ``NAME_head.onnx``."""
    rng = np.random.default_rng(0)
    points = rng.normal(size=(4000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    inputs = {key: torch.from_numpy(value) for key, value in prepare(points * 0.05, points).inputs().items()}
    folder.mkdir(parents=True, exist_ok=True)
    torch.onnx.export(
        encoder,
        tuple(inputs.values()),
        str(folder / f"{name}_encoder.onnx"),
        input_names=list(inputs),
        output_names=["points", "tokens"],
        opset_version=OPSET,
        dynamo=False,
    )
    with torch.no_grad():
        at, tokens = encoder(*inputs.values())
    words = torch.zeros(2, *words_shape())
    torch.onnx.export(
        head,
        (at, tokens, words, torch.ones(2, words_shape()[0])),
        str(folder / f"{name}_head.onnx"),
        input_names=["points", "tokens", "words", "known"],
        output_names=["logits", "presence"],
        dynamic_axes={"words": {0: "queries"}, "known": {0: "queries"}},
        opset_version=OPSET,
        dynamo=False,
    )


def shipped(folder: Path, model: str) -> dict[str, torch.Tensor]:
    """Return the weights in ``MODEL_encoder.onnx`` and ``MODEL_head.onnx``, to go on training from.

    What only training needs (which region a phrase is of) is not in the files and comes back as zeros; what files of
    before did not have yet (`ADDED`) begins as in an untrained network, where it says nothing.
    """
    import onnx
    from onnx import numpy_helper

    state = networks(model).state_dict()
    missing = set(state)
    for part in ("encoder", "head"):
        graph = onnx.load(folder / f"{model}_{part}.onnx").graph
        values = {one.name: torch.from_numpy(numpy_helper.to_array(one).copy()) for one in graph.initializer}
        found = {f"{part}.{name}": value for name, value in values.items() if f"{part}.{name}" in state}
        for node in graph.node:
            if node.op_type == "MatMul" and node.input[1] in values:
                # A product's weights are stored turned and without their name; the node's name holds the path of it.
                steps = node.name.split("/")[1:-1]
                kept = [a for a, b in zip(steps, [*steps[1:], ""], strict=True) if not b.startswith(f"{a}.")]
                found[".".join([part, *kept, "weight"])] = values[node.input[1]].T
        for name, value in found.items():
            if value.shape != state[name].shape:
                raise ValueError(f"{name} is {tuple(value.shape)} in {folder}, {tuple(state[name].shape)} here.")
        state |= found
        missing -= set(found)
    untold = {name for name in missing if name.startswith("head.text.concept")}
    unexpected = {name for name in missing - untold if not name.startswith(ADDED)}
    if unexpected:
        raise ValueError(f"{folder} lacks {sorted(unexpected)}.")
    return state | {name: torch.zeros_like(state[name]) for name in untold}


def main() -> None:
    """Export kept weights, averaged, and print the thresholds."""
    from affordance_phrases import Phrases
    from train_affordance import Samples, answers

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights", type=Path, nargs="+")
    parser.add_argument("--cache", type=Path)
    parser.add_argument("--model", choices=("learned", "openad"), default="learned")
    parser.add_argument("--out", type=Path, required=True)
    chosen = parser.parse_args()
    both = networks(chosen.model)
    states = [torch.load(path) for path in chosen.weights]
    both.load_state_dict({name: sum(state[name] for state in states) / len(states) for name in states[0]})
    both.eval()
    export(both["encoder"], both["head"], chosen.out, chosen.model)
    if chosen.cache is None:
        return
    validation = Samples(chosen.cache, "validation")
    validation.look()
    there, says, iou = [], [], []
    for batch, logits, presence in answers(both["encoder"], both["head"], validation, Phrases()):
        asked = batch["asked"] > 0
        there.append((batch["there"] > 0)[asked])
        says.append(presence.sigmoid()[asked])
        target, mask = batch["target"] > 0, logits > 0
        iou.append(((target & mask).sum(-1) / (target | mask).sum(-1).clamp(min=1))[asked])
    there, says, iou = torch.cat(there), torch.cat(says), torch.cat(iou)
    for threshold in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9):
        kept = says >= threshold
        sys.stdout.write(
            f"present from {threshold}: absent regions that fire {float(kept[~there].float().mean()):.3f}, "
            f"present ones kept {float(kept[there].float().mean()):.3f}, "
            f"IoU {float((iou * kept)[there].mean()):.3f}\n"
        )


if __name__ == "__main__":
    main()
