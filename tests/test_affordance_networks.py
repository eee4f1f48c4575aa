"""The shipped networks: what they answer, what they never read, what they cost on disk."""

from __future__ import annotations

from importlib.resources import files

import numpy as np
import pytest

from armwright.affordance.labelled.soup import library_soup
from armwright.affordance.labelled.views import seen_cloud, whole_cloud
from armwright.affordance.networks import NETWORKS, NetworkAffordance, NetworkSpec
from armwright.affordance.protocol import AffordanceModel, ObjectCloud, OpenVocabularyModel
from armwright.affordance.registry import affordance_model
from armwright.core.errors import CacheError, UsageError
from armwright.core.task import AffordanceQuery, RegionName

UNSEEN = 950_000
"""Instance numbers from here were drawn neither for training nor for tuning nor for the benchmark."""


def cloud_of(category: str, *, instance: int = UNSEEN, view: bool = False):
    rng = np.random.default_rng(instance)
    soup = library_soup(category, instance)
    cloud = seen_cloud(soup, rng=rng) if view else whole_cloud(soup, 8192, rng=rng)
    return ObjectCloud(f"{category}_1", category, cloud.points_m, cloud.normals), cloud


def ask(region: RegionName) -> AffordanceQuery:
    return AffordanceQuery(object="thing_1", region=region, role="grasp")


def iou(mask: np.ndarray, truth: np.ndarray) -> float:
    return float((mask & truth).sum() / (mask | truth).sum())


@pytest.fixture(scope="module")
def model() -> NetworkAffordance:
    built = affordance_model("learned")
    assert isinstance(built, NetworkAffordance)
    return built


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_networks_are_affordance_models_that_can_be_asked_in_words(name: str) -> None:
    built = affordance_model(name)
    assert built.name == name and isinstance(built, AffordanceModel) and isinstance(built, OpenVocabularyModel)
    thing, _ = cloud_of("mug")
    answer = built.predict(thing, ask("Graspable Body"))
    assert answer.mask.shape == (len(thing.points_m),) and answer.model == name and answer.status == "present"


@pytest.mark.parametrize(
    ("category", "region"),
    [
        ("mug", "Graspable Handle"),
        ("mug", "Containment"),
        ("bowl", "Graspable Rim"),
        ("plate", "Support Surface"),
        ("screwdriver", "Graspable Handle"),
        ("pot", "Graspable Lid"),
    ],
)
def test_regions_of_unseen_objects_are_found(model: NetworkAffordance, category: str, region: RegionName) -> None:
    from armwright.core.task import REGIONS

    scores = []
    for k in range(5):
        thing, cloud = cloud_of(category, instance=UNSEEN + k)
        truth = (cloud.regions >> REGIONS.index(region) & 1) > 0
        scores.append(iou(model.predict(thing, ask(region)).mask, truth))
    assert np.mean(scores) > 0.6


@pytest.mark.parametrize(
    ("category", "region"),
    [("cube", "Hook"), ("egg", "Openable Handle"), ("plate", "Graspable Lid"), ("bowl", "Button")],
)
def test_a_region_that_is_nowhere_is_answered_absent(
    model: NetworkAffordance, category: str, region: RegionName
) -> None:
    thing, _ = cloud_of(category)
    answer = model.predict(thing, ask(region))
    assert answer.status == "absent" and not answer.mask.any()
    assert answer.presence is not None and answer.presence < 0.5


def test_labels_and_category_are_never_read(model: NetworkAffordance) -> None:
    thing, _ = cloud_of("mug")
    plain = model.predict(thing, ask("Graspable Handle"))
    lying = ObjectCloud(
        "x", "cabinet", thing.points_m.copy(), thing.normals, part=np.full(len(thing.points_m), "drawer"), link=None
    )
    again = model.predict(lying, ask("Graspable Handle"))
    np.testing.assert_array_equal(plain.mask, again.mask)


def test_turning_the_object_hardly_changes_the_answer(model: NetworkAffordance) -> None:
    thing, _ = cloud_of("mug")
    plain = model.predict(thing, ask("Graspable Handle")).mask
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    turned = ObjectCloud("x", "mug", thing.points_m @ turn.T, thing.normals @ turn.T)
    assert iou(model.predict(turned, ask("Graspable Handle")).mask, plain) > 0.8


def test_queries_asked_together_are_answered_as_alone(model: NetworkAffordance) -> None:
    thing, _ = cloud_of("kettle")
    phrases = ["the spout", "handle of the kettle", "the lid"]
    together = model.predict_phrases(thing, phrases)
    for phrase, answer in zip(phrases, together, strict=True):
        alone = model.predict_phrases(thing, [phrase])[0]
        np.testing.assert_allclose(answer.score, alone.score, atol=1e-5)
        assert answer.phrase == phrase and answer.score.shape == (len(thing.points_m),)


def test_different_words_ask_for_different_places(model: NetworkAffordance) -> None:
    thing, _ = cloud_of("mug")
    handle, inside = model.predict_phrases(thing, ["hold it by the handle", "inside of the mug"])
    assert iou(handle.mask, inside.mask) < 0.1 and handle.mask.any() and inside.mask.any()


def test_a_single_view_is_answered_point_by_point(model: NetworkAffordance) -> None:
    thing, _ = cloud_of("mug", view=True)
    answer = model.predict(thing, ask("Graspable Body"))
    assert answer.mask.shape == (len(thing.points_m),) and answer.status == "present"


def test_an_object_is_encoded_once_and_a_new_cloud_anew(model: NetworkAffordance) -> None:
    thing, _ = cloud_of("bottle")
    assert model.encode(thing) is model.encode(thing)
    other = ObjectCloud("bottle_1", "bottle", thing.points_m.copy(), thing.normals)
    assert model.encode(other) is not model.encode(thing)


def test_what_cannot_be_answered_is_refused(model: NetworkAffordance) -> None:
    thing, _ = cloud_of("mug")
    with pytest.raises(UsageError, match="no word"):
        model.predict_phrases(thing, ["..."])
    empty = ObjectCloud("x", "mug", np.zeros((0, 3)), np.zeros((0, 3)))
    with pytest.raises(UsageError, match="n > 0"):
        model.predict(empty, ask("Button"))


def test_missing_and_damaged_files_are_named(tmp_path) -> None:
    with pytest.raises(CacheError, match="learned_encoder"):
        NetworkAffordance(NetworkSpec("learned", folder=tmp_path))
    (tmp_path / "learned_encoder.onnx").write_bytes(b"not a network")
    with pytest.raises(CacheError, match="learned_encoder"):
        NetworkAffordance(NetworkSpec("learned", folder=tmp_path))


@pytest.mark.parametrize("name", sorted(NETWORKS))
def test_networks_stay_small(name: str) -> None:
    folder = files("armwright.affordance") / "data"
    size = sum(len((folder / f"{NETWORKS[name].stem}_{part}.onnx").read_bytes()) for part in ("encoder", "head"))
    assert size <= 5_000_000
