"""The affordance networks in torch, for training and export: ours, and an OpenAD-style baseline on the same data."""

from __future__ import annotations

import torch
from affordance_strongest import Strongest
from torch import Tensor, nn
from torch.nn import functional as F

from armwright.affordance.prepare import FEATURES
from armwright.affordance.text import WORDS
from armwright.core.task import REGIONS

TEXT = 128
POINT, TOKEN, QUERY = 48, 96, 96


def gather(values: Tensor, index: Tensor) -> Tensor:
    """Return rows (b, ..., c) of (b, n, c) values."""
    batch, count, width = values.shape
    offset = (torch.arange(batch, device=values.device) * count).view(batch, *([1] * (index.dim() - 1)))
    return values.reshape(-1, width)[(index + offset).reshape(-1)].reshape(*index.shape, width)


class Gather(nn.Module):
    """The same for a batch of one, which exports as one ONNX node."""

    def forward(self, values: Tensor, index: Tensor) -> Tensor:
        if torch.onnx.is_in_onnx_export():
            return values[0][index[0]].unsqueeze(0)
        return gather(values, index)


class Down(nn.Module):
    """Points of the next level take the strongest of what their neighbours say (PointNet++ set abstraction).

    The layer's first product is taken before neighbours are gathered, which costs a fraction of doing it after.
    """

    def __init__(self, width: int, out: int) -> None:
        super().__init__()
        self.value = nn.Linear(width, out)
        self.offset = nn.Linear(4, out, bias=False)
        self.after = nn.Sequential(nn.Linear(out + width, out), nn.ReLU())
        self.gather = Gather()

    def forward(self, at: Tensor, values: Tensor, index: Tensor, near: Tensor) -> tuple[Tensor, Tensor]:
        center = self.gather(at, index)
        said = self.value(values)
        if torch.onnx.is_in_onnx_export():
            offset = (self.gather(at, near) - center.unsqueeze(2)) * 8.0
            offset = torch.cat([offset, offset.pow(2).sum(-1, keepdim=True).sqrt()], -1)
            strongest = (self.gather(said, near) + self.offset(offset)).amax(2)
        else:
            strongest = Strongest.apply(said, near, at, center, self.offset.weight, 8.0)
        # The strongest first and then what is positive: the same, and several passes over all edges less.
        return center, self.after(torch.cat([F.relu(strongest), self.gather(values, index)], -1))


def silent(width: int, out: int) -> nn.Linear:
    """Return a layer that says zero until it is trained."""
    layer = nn.Linear(width, out)
    nn.init.zeros_(layer.weight)
    nn.init.zeros_(layer.bias)
    return layer


class Around(nn.Module):
    """What a point's neighbours of its own level know and where they lie, put to what it knows itself.

    An offset's product is the difference of two places', so that only sums are gathered.
    """

    def __init__(self, width: int, hidden: int = 32) -> None:
        super().__init__()
        self.value, self.place = nn.Linear(width, hidden), nn.Linear(3, hidden, bias=False)
        self.after = nn.Sequential(nn.Linear(hidden + width, 64), nn.ReLU(), silent(64, width))
        self.gather = Gather()

    def forward(self, at: Tensor, values: Tensor, near: Tensor) -> Tensor:
        place = self.place(at * 24.0)
        said = self.value(values) + place
        if torch.onnx.is_in_onnx_export():
            strongest = self.gather(said, near).amax(2)
        else:
            strongest = Strongest.apply(said, near, at, at, torch.zeros(said.shape[-1], 4), 0.0)
        return values + self.after(torch.cat([F.relu(strongest - place), values], -1))


class Layer(nn.Module):
    """One transformer layer on the coarse points."""

    def __init__(self, width: int, heads: int = 4) -> None:
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.into, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.mix = nn.Sequential(nn.Linear(width, 2 * width), nn.ReLU(), nn.Linear(2 * width, width))

    def forward(self, x: Tensor) -> Tensor:
        b, n, c = x.shape
        q, k, v = self.into(self.first(x)).reshape(b, n, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        weight = (q @ k.transpose(-1, -2) * (c // self.heads) ** -0.5).softmax(-1)
        x = x + self.out((weight @ v).transpose(1, 2).reshape(b, n, c))
        return x + self.mix(self.second(x))


class Encoder(nn.Module):
    """A prepared cloud to one vector per point and one per coarse region."""

    def __init__(self, *, layers: int = 2, described: bool = True) -> None:
        super().__init__()
        # The baseline sees what OpenAD's encoder sees: places and normals.
        self.described = described
        self.register_buffer("mean", torch.zeros(len(FEATURES)))
        self.register_buffer("spread", torch.ones(len(FEATURES)))
        width = len(FEATURES) if described else 6
        self.point = nn.Sequential(nn.Linear(width, POINT), nn.ReLU(), nn.Linear(POINT, POINT), nn.ReLU())
        self.around = Around(POINT) if described else None
        self.down_middle, self.down_coarse = Down(POINT, 64), Down(64, TOKEN)
        self.place = nn.Linear(3, TOKEN)
        self.layers = nn.ModuleList([Layer(TOKEN) for _ in range(layers)])
        self.norm = nn.LayerNorm(TOKEN)
        self.up_middle = nn.Sequential(nn.Linear(TOKEN + 64, 96), nn.ReLU(), nn.Linear(96, 64), nn.ReLU())
        self.up_fine = nn.Sequential(nn.Linear(64 + POINT, 64), nn.ReLU(), nn.Linear(64, POINT))
        self.finer = nn.Sequential(nn.Linear(64 + POINT, 160), nn.ReLU(), silent(160, POINT)) if described else None
        self.gather = Gather()

    def forward(
        self,
        features: Tensor,
        middle: Tensor,
        coarse: Tensor,
        near_fine: Tensor,
        near_middle: Tensor,
        near_coarse: Tensor,
        up_middle: Tensor,
        weight_middle: Tensor,
        up_fine: Tensor,
        weight_fine: Tensor,
        rows: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        at = features[..., :3]
        normed = (features - self.mean) / self.spread
        fine = self.point(normed if self.described else normed[..., :6])
        if self.around is not None:
            fine = self.around(at, fine, near_fine)
        at_middle, mid = self.down_middle(at, fine, middle, near_middle)
        at_coarse, tokens = self.down_coarse(at_middle, mid, coarse, near_coarse)
        tokens = tokens + self.place(at_coarse)
        for layer in self.layers:
            tokens = layer(tokens)
        tokens = self.norm(tokens)
        spread = (self.gather(tokens, up_middle) * weight_middle.unsqueeze(-1)).sum(2)
        mid = self.up_middle(torch.cat([spread, mid], -1))
        spread = (self.gather(mid, up_fine) * weight_fine.unsqueeze(-1)).sum(2)
        own = fine if rows is None else gather(fine, rows)
        both = torch.cat([spread, own], -1)
        points = self.up_fine(both)
        return (points if self.finer is None else points + self.finer(both)), tokens


class TextTower(nn.Module):
    """A phrase's word vectors to one query vector: words are weighed, so that fillers and nouns hardly count."""

    def __init__(self) -> None:
        super().__init__()
        self.word = nn.Sequential(nn.Linear(TEXT, 192), nn.ReLU(), nn.Dropout(0.2), nn.Linear(192, QUERY))
        self.weigh = nn.Sequential(nn.Linear(TEXT, 64), nn.Tanh(), nn.Linear(64, 1))
        self.whole = nn.Sequential(nn.Linear(TEXT, 192), nn.ReLU(), nn.Dropout(0.3), nn.Linear(192, QUERY))
        self.norm = nn.LayerNorm(QUERY)
        self.concept = nn.Linear(QUERY, len(REGIONS))

    def forward(self, words: Tensor, known: Tensor) -> Tensor:
        """Map (q, t, 128) word vectors, (q, t) 1 where there is a word, to (q, 96)."""
        weight = self.weigh(words).squeeze(-1) + (known - 1) * 1e4
        pooled = (self.word(words) * weight.softmax(-1).unsqueeze(-1)).sum(1)
        mean = words.sum(1) / known.sum(1, keepdim=True).clamp(min=1.0).sqrt()
        return self.norm(pooled + self.whole(mean))


class QueryHead(nn.Module):
    """Queries look at the object and become one weight vector per query; presence is a question of its own."""

    def __init__(self, heads: int = 4) -> None:
        super().__init__()
        self.text = TextTower()
        self.heads = heads
        self.ask, self.key, self.value = nn.Linear(QUERY, TOKEN), nn.Linear(TOKEN, TOKEN), nn.Linear(TOKEN, TOKEN)
        self.out = nn.Linear(TOKEN, QUERY)
        self.norm = nn.LayerNorm(QUERY)
        self.mix = nn.Sequential(nn.Linear(QUERY, 128), nn.ReLU(), nn.Linear(128, QUERY))
        self.weight, self.bias = nn.Linear(QUERY, POINT), nn.Linear(QUERY, 1)
        self.presence = nn.Sequential(nn.Linear(QUERY + TOKEN + 2, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, points: Tensor, tokens: Tensor, words: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        """Return mask logits (b, q, n) and presence logits (b, q)."""
        batch = points.shape[0]
        query = self.text(words, known)
        return self.answer(points, tokens, query.reshape(batch, -1, QUERY))

    def answer(self, points: Tensor, tokens: Tensor, query: Tensor) -> tuple[Tensor, Tensor]:
        b, n, c = tokens.shape
        q = self.ask(query).reshape(b, -1, self.heads, c // self.heads).transpose(1, 2)
        k = self.key(tokens).reshape(b, n, self.heads, c // self.heads).transpose(1, 2)
        v = self.value(tokens).reshape(b, n, self.heads, c // self.heads).transpose(1, 2)
        weight = (q @ k.transpose(-1, -2) * (c // self.heads) ** -0.5).softmax(-1)
        met = (weight @ v).transpose(1, 2).reshape(b, -1, c)
        x = query + self.out(met)
        x = x + self.mix(self.norm(x))
        logits = (self.weight(x) @ points.transpose(-1, -2)) * POINT**-0.5 + self.bias(x)
        best = torch.cat([logits.amax(-1, keepdim=True), logits.sigmoid().mean(-1, keepdim=True)], -1)
        return logits, self.presence(torch.cat([x, met, best], -1)).squeeze(-1)


class CorrelationHead(nn.Module):
    """OpenAD's idea (Nguyen et al. 2023): the cosine of a point's feature and a phrase's frozen embedding.

    Our regions overlap, so that each label is a yes or no against a learned threshold and not one class of a softmax.
    """

    def __init__(self) -> None:
        super().__init__()
        self.point = nn.Linear(POINT, TEXT)
        self.scale = nn.Parameter(torch.tensor(2.5))
        self.bias = nn.Parameter(torch.tensor(-2.0))

    def forward(self, points: Tensor, tokens: Tensor, words: Tensor, known: Tensor) -> tuple[Tensor, Tensor]:
        batch = points.shape[0]
        phrase = F.normalize(words.sum(1), dim=-1).reshape(batch, -1, TEXT)
        logits = phrase @ F.normalize(self.point(points), dim=-1).transpose(-1, -2) * self.scale.exp() + self.bias
        # It has no presence of its own: a region is there if some point says so. Tokens are named to be an input.
        return logits, logits.amax(-1) + 0.0 * tokens.sum((1, 2)).unsqueeze(-1)


def words_shape() -> tuple[int, int]:
    """Return (words, width) of one phrase."""
    return WORDS, TEXT
