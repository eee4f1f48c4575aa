"""The adapters against the signatures of the published code; needs torch, which the default installation lacks."""

from __future__ import annotations

import numpy as np
import pytest

from armwright.affordance.labelled.soup import library_soup
from armwright.affordance.labelled.views import whole_cloud
from armwright.affordance.protocol import AffordanceModel, ObjectCloud
from armwright.affordance.published import WORDS, AffordanceLlm, IagNet, Laso, OpenAd
from armwright.core.errors import UsageError
from armwright.core.task import REGIONS, AffordanceQuery

torch = pytest.importorskip("torch")


def upper(xyz):
    """Return (b, n) 1.0 on the upper half of (b, 3, n) points."""
    return (xyz[:, 2] > 0).float()


class LikeOpenAd(torch.nn.Module):
    def forward(self, xyz, affordance):
        assert xyz.shape == (1, 3, 2048) and isinstance(affordance, list)
        logits = torch.zeros(1, len(affordance), 2048)
        logits[:, affordance.index("pour")] = 5 * upper(xyz)
        logits[:, affordance.index("none")] = 1.0
        return torch.log_softmax(logits, dim=1)


class LikeLaso(torch.nn.Module):
    def forward(self, text, xyz):
        assert isinstance(text, tuple) and "pour" in text[0] and xyz.shape == (1, 3, 2048)
        return upper(xyz)


class LikeIagNet(torch.nn.Module):
    def forward(self, img, xyz, sub_box, obj_box):
        assert img.shape == (1, 3, 224, 224) and sub_box.shape == obj_box.shape == (1, 4)
        sub_box[:, :] = sub_box[:, :] * 0.1
        return upper(xyz).unsqueeze(-1), torch.zeros(1, 17), []


class LikeAffordanceLlm:
    def generate(self, sample, num_beams, max_length):
        (points,) = sample["points"]
        assert points.shape == (2048, 3) and sample["question"] == (
            "Please locate the areas of the mug with function of pour."
        )
        return {"masks": [upper(points.T[None]).unsqueeze(1)], "text": ["[SEG]"]}


PICTURE = (np.zeros((3, 224, 224), np.float32), [0.0, 0.0, 50.0, 50.0], [60.0, 60.0, 90.0, 90.0])


@pytest.mark.parametrize(
    "model",
    [
        OpenAd(LikeOpenAd(), device="cpu"),
        Laso(LikeLaso(), device="cpu"),
        IagNet(LikeIagNet(), pictures={"Pour Out": PICTURE}, device="cpu"),
        AffordanceLlm(LikeAffordanceLlm(), device="cpu"),
    ],
    ids=lambda model: model.name,
)
def test_adapter_asks_as_its_authors_do_and_puts_the_answer_back_on_the_cloud(model) -> None:
    cloud = whole_cloud(library_soup("mug", 1), 5000, rng=np.random.default_rng(0))
    assert isinstance(model, AffordanceModel)
    for _ in range(2):
        answer = model.predict(
            ObjectCloud("mug_1", "mug", cloud.points_m, cloud.normals),
            AffordanceQuery(object="mug_1", region="Pour Out", role="use"),
        )
        upper_half = cloud.points_m[:, 2] > cloud.points_m[:, 2].mean()
        assert (answer.mask == upper_half).mean() > 0.97


def test_every_region_has_a_word_and_a_missing_picture_is_named() -> None:
    assert set(WORDS) == set(REGIONS)
    cloud = whole_cloud(library_soup("mug", 1), 100, rng=np.random.default_rng(0))
    with pytest.raises(UsageError, match="Button"):
        IagNet(LikeIagNet(), pictures={"Pour Out": PICTURE}, device="cpu").predict(
            ObjectCloud("mug_1", "mug", cloud.points_m, cloud.normals),
            AffordanceQuery(object="mug_1", region="Button", role="use"),
        )
