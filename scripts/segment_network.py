"""The boundary network: a U-Net on cells of 4 x 4 pixels whose heads answer at the full and at half the resolution."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from armwright.perception._segment_decode import OFFSETS
from armwright.perception._segment_features import CHANNELS

WIDTHS = (32, 64, 96, 128)
"""Multiples of 16: the runtime's fast convolution takes no others."""


class _Residual(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(inplace=True),
            nn.Conv2d(width, width, 3, padding=1, bias=False),
            nn.BatchNorm2d(width),
        )

    def forward(self, x: Tensor) -> Tensor:
        return F.relu(x + self.body(x))


def _unit(before: int, after: int, size: int, stride: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(before, after, size, stride=stride, padding=size // 3, bias=False),
        nn.BatchNorm2d(after),
        nn.ReLU(inplace=True),
    )


class BoundaryNetwork(nn.Module):
    """From packed features (n, CHANNELS, H/4, W/4) to logits.

    Returns:
        fine: (n, 3, H, W) foreground, and whether a pixel and the next to the right, and below, are of one object.
        coarse: (n, len(OFFSETS), H/2, W/2) whether a pixel and the one at each offset are of one object.
    """

    def __init__(self) -> None:
        super().__init__()
        a, b, c, d = WIDTHS
        self.stem = _unit(CHANNELS, a, 1)
        self.down = nn.ModuleList([_unit(a, b, 2, 2), _unit(b, c, 2, 2), _unit(c, d, 2, 2)])
        self.encode = nn.ModuleList(
            [
                _unit(a, a, 3),
                _Residual(b),
                nn.Sequential(_Residual(c), _Residual(c)),
                nn.Sequential(_Residual(d), _Residual(d)),
            ]
        )
        self.up = nn.ModuleList([_unit(d, c, 1), _unit(c, b, 1), _unit(b, a, 1)])
        self.decode = nn.ModuleList([_Residual(c), _Residual(b), _Residual(a)])
        self.fine = nn.Conv2d(a, 3 * 16, 1)
        self.coarse = nn.Conv2d(a, len(OFFSETS) * 4, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        fine, coarse = self.heads(x)
        return F.pixel_shuffle(fine, 4), F.pixel_shuffle(coarse, 2)

    def heads(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the same logits before they are spread over the pixels: (n, 48, H/4, W/4), (n, 40, H/4, W/4)."""
        x = self.encode[0](self.stem(x))
        kept = [x]
        for k in range(3):
            x = self.encode[k + 1](self.down[k](x))
            kept.append(x)
        for k in range(3):
            x = F.interpolate(self.up[k](x), scale_factor=2.0, mode="nearest")
            x = self.decode[k](x + kept[2 - k])
        return self.fine(x), self.coarse(x)


def folded(network: BoundaryNetwork) -> BoundaryNetwork:
    """Return a copy for inference with every batch normalisation folded into its convolution."""
    import copy

    out = copy.deepcopy(network).eval().float()
    for module in out.modules():
        if isinstance(module, nn.Sequential):
            for k in range(len(module) - 1):
                if isinstance(module[k], nn.Conv2d) and isinstance(module[k + 1], nn.BatchNorm2d):
                    module[k] = nn.utils.fuse_conv_bn_eval(module[k], module[k + 1])
                    module[k + 1] = nn.Identity()
    return out


def export(network: BoundaryNetwork, path: Path) -> None:
    """Write ONNX with weights of 16 bits, which are widened when they are loaded, and check it against torch."""
    import onnx
    import onnxruntime as ort
    from onnx import TensorProto, helper, numpy_helper

    ready = folded(network)
    x = torch.randn(1, CHANNELS, 56, 64)
    size = {2: "rows", 3: "columns"}
    torch.onnx.export(
        ready,
        (x,),
        str(path),
        input_names=["x"],
        output_names=["fine", "coarse"],
        opset_version=17,
        dynamo=False,
        dynamic_axes={
            "x": size,
            "fine": {2: "fine_rows", 3: "fine_columns"},
            "coarse": {2: "coarse_rows", 3: "coarse_columns"},
        },
    )
    model = onnx.load(str(path))
    casts = []
    for tensor in list(model.graph.initializer):
        value = numpy_helper.to_array(tensor)
        if value.dtype == np.float32 and value.size > 64:
            name = tensor.name
            model.graph.initializer.remove(tensor)
            model.graph.initializer.append(numpy_helper.from_array(value.astype(np.float16), name + "_half"))
            casts.append(helper.make_node("Cast", [name + "_half"], [name], to=TensorProto.FLOAT))
    for cast in reversed(casts):
        model.graph.node.insert(0, cast)
    onnx.checker.check_model(model)
    onnx.save(model, str(path))
    with torch.no_grad():
        expected = ready(x)
    got = ort.InferenceSession(str(path)).run(None, {"x": x.numpy()})
    for want, have in zip(expected, got, strict=True):
        error = float((want - torch.from_numpy(have)).abs().max())
        if error > 0.1:
            raise SystemExit(f"the exported network answers otherwise than torch: {error:.3g}.")
