"""Tests of pouring: the skill on real vessels, its geometry, and the predicate's near misses."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from armwright.affordance.registry import affordance_model
from armwright.assets.library import default_library
from armwright.control.protocols import StageReport
from armwright.core.pose import Pose
from armwright.core.task import AffordanceQuery
from armwright.generate.episode import EpisodeRequest, run_episode
from armwright.generate.parsing import parse_sentence
from armwright.generate.session import Session
from armwright.skills import dispatch
from armwright.skills import pour as pouring
from armwright.skills.dispatch import perform
from armwright.skills.lips import Opening, full_tilt, lips_of, opening_of
from armwright.skills.pour import FURTHER, HIGHER_M, LITTLE_HIGHER_M, TILTS, _tiers, _way_back, ways_to_tilt
from armwright.tasks.evidence import observe
from armwright.tasks.pouring import poured

UP = np.array([0.0, 0.0, 1.0])


@pytest.fixture(scope="module")
def session():
    return Session.open("franka")


@pytest.fixture(scope="module")
def episode(session):
    parsed, _ = parse_sentence("pour the mug into the bowl")
    return run_episode(session, EpisodeRequest(parsed=parsed, seed=7))


def _evidence(episode):
    models = dict(episode.world.objects)
    return observe(episode.world.truth, models, episode.world.arm.pose_world_base)


def test_a_mug_is_emptied_into_a_bowl_and_still_held(episode):
    assert episode.ok, episode.graded.detail
    assert [s.name.split()[0] for s in episode.stages] == ["pick", "pour"]
    mug = _evidence(episode).objects["mug_1"]
    assert mug.held and mug.up[2] > 0.9


def _with_mug(evidence, **changes):
    objects = dict(evidence.objects)
    objects["mug_1"] = replace(objects["mug_1"], **changes)
    return replace(evidence, objects=objects)


def test_poured_fails_on_near_misses(episode):
    evidence = _evidence(episode)
    beads = evidence.objects["mug_1"].contents_m
    assert poured(evidence, "mug_1", "bowl_1").ok
    spilled = beads.copy()
    spilled[:5] += [0.3, 0.0, 0.0]
    assert not poured(_with_mug(evidence, contents_m=spilled), "mug_1", "bowl_1").ok
    above = beads + np.array([0.0, 0.0, 0.15])
    assert not poured(_with_mug(evidence, contents_m=above), "mug_1", "bowl_1").ok
    assert not poured(_with_mug(evidence, held=False), "mug_1", "bowl_1").ok
    assert not poured(_with_mug(evidence, contents_m=np.zeros((0, 3))), "mug_1", "bowl_1").ok
    assert not poured(evidence, "bowl_1", "mug_1").ok


def _region(session, category, region):
    from armwright.affordance.protocol import ObjectCloud
    from armwright.assets.cloud import sample_cloud

    model = default_library().build(category, instance=2, attributes={})
    points, normals, part, link = sample_cloud(model, 4096, rng=np.random.default_rng(0))
    cloud = ObjectCloud(category, category, points, normals, part, link)
    query = AffordanceQuery(object=category, region=region, role="use")
    return model, cloud, affordance_model("oracle").predict(cloud, query)


def test_a_rim_has_lips_all_around_and_a_beak_has_one(session):
    model, cloud, mask = _region(session, "mug", "Pour Out")
    lips = lips_of(cloud, mask, UP)
    assert len(lips) == 12
    for lip in lips:
        assert abs(np.hypot(*lip.point_m[:2]) - model.params["top_radius_m"]) < 0.004
        assert abs(lip.point_m[2] - model.params["height_m"]) < 0.003
    _, cloud, mask = _region(session, "kettle", "Pour Out")
    (beak,) = lips_of(cloud, mask, UP)
    assert beak.outward @ [-1.0, 0.0, 0.0] > 0.98
    assert beak.beak and not any(lip.beak for lip in lips)


@pytest.mark.parametrize("category", ["kettle", "pitcher"])
@pytest.mark.parametrize("parts", [("rim", "spout"), ("rim",)])
def test_a_beak_wins_over_the_rim_that_was_marked_with_or_without_it(session, category, parts):
    _, cloud, mask = _region(session, category, "Pour Out")
    ring = replace(mask, mask=np.isin(cloud.part, parts))
    (beak,) = lips_of(cloud, ring, UP, handle=cloud.part == "handle")
    (asked,) = lips_of(cloud, mask, UP)
    assert beak.beak and beak.outward @ [-1.0, 0.0, 0.0] > 0.98
    assert np.linalg.norm(beak.point_m - asked.point_m) < 0.01


@pytest.mark.parametrize("category", ["mug", "pan", "basket", "bucket"])
def test_neither_handles_nor_corners_are_beaks(session, category):
    _, cloud, mask = _region(session, category, "Pour Out")
    handle = cloud.part == "handle"
    root = handle & (
        np.linalg.norm(cloud.points_m[:, :2], axis=1)
        < np.quantile(np.linalg.norm(cloud.points_m[handle][:, :2], axis=1), 0.2)
    )
    for marked in (mask.mask, mask.mask | root):
        assert len(lips_of(cloud, replace(mask, mask=marked), UP, handle=handle & ~marked)) > 6


def test_ways_over_the_middle_and_from_higher_come_after_those_that_are_as_low_as_can_be(session):
    _, cloud, mask = _region(session, "mug", "Pour Out")
    lips = lips_of(cloud, mask, UP)
    for radius_m, rise_m in ((0.08, HIGHER_M), (0.04, LITTLE_HIGHER_M)):
        ways = ways_to_tilt(lips, Opening(np.array([0.5, 0.0, 0.06]), radius_m), UP, cloud.points_m)
        behind, middle, *higher = (ways.poses_world_source[rows] for rows in _tiers(ways))
        assert behind.shape[1] == TILTS + FURTHER
        assert np.allclose((middle - behind)[..., 2, 3], 0.0)
        assert np.linalg.norm((middle - behind)[..., :2, 3], axis=-1) == pytest.approx(0.35 * radius_m)
        for low, way in zip((behind, middle), higher, strict=True):
            assert np.allclose(way[..., :3, 3] - low[..., :3, 3], [0.0, 0.0, rise_m])


def test_a_source_turns_back_from_where_it_stopped():
    path = np.stack([np.linspace(0.0, 1.0, 6), np.linspace(0.0, -2.0, 6)], axis=1)
    back = _way_back(path, np.array([0.5, -1.0]))
    assert back == pytest.approx(np.array([[0.5, -1.0], [0.4, -0.8], [0.2, -0.4], [0.0, 0.0]]))
    assert _way_back(path, path[-1])[0] == pytest.approx(path[-1])


def test_what_is_poured_into_two_is_poured_in_portions(monkeypatch):
    asked = []
    done = StageReport("pour", True, "done")
    monkeypatch.setattr(dispatch, "pour", lambda *_, portions: asked.append(portions) or done)
    monkeypatch.setattr(dispatch, "_not_held", lambda *_: None)
    parsed, _ = parse_sentence("pour some of the kettle into the mug and the rest into the bowl")
    pours = [p for p in parsed.primitives if p.name == "pour"]
    assert len(pours) == 2
    for k, step in enumerate(pours):
        assert perform(None, step, pours[k + 1 :], parsed.queries).ok
    assert asked == [2, 1]


@pytest.mark.parametrize(("shares", "times"), [([1.0, 0.05], 1), ([1.0, 0.55, 0.05], 2), ([1.0, 0.6, 0.6], 2)])
def test_what_fell_back_into_the_source_is_poured_again_while_that_helps(monkeypatch, shares, times):
    poured = []

    def once(*_, **__):
        poured.append(shares[len(poured) + 1])
        return StageReport("pour", True, "done")

    ctx = SimpleNamespace(
        held=SimpleNamespace(object_id="mug", pose_tool_object=Pose()),
        planner=SimpleNamespace(set_world=lambda _: None),
        scene=SimpleNamespace(world_spec=lambda **_: None, fill_share=lambda _: [shares[0], *poured][-1]),
        add_time=lambda *_: None,
    )
    tilt = SimpleNamespace(path_rad=np.zeros((2, 7)))
    for name, found in {
        "_seen": SimpleNamespace(tilt_rad=2.0), "slipped_m": 0.0, "look_again": False, "attach": None,
        "_verified": ([tilt], ""), "go_to_one": (StageReport("pour", True, "done"), 0),
    }.items():  # fmt: skip
        monkeypatch.setattr(pouring, name, lambda *_, found=found, **__: found)
    monkeypatch.setattr(pouring, "_pour_once", once)
    source = AffordanceQuery(object="mug", region="Pour Out", role="use")
    assert pouring.pour(ctx, source, AffordanceQuery(object="bowl", region="Pour In", role="receive")).ok
    assert len(poured) == times


def test_a_pan_needs_less_tilt_than_a_mug(session):
    tilts = {}
    for category in ("pan", "mug"):
        _, cloud, mask = _region(session, category, "Pour Out")
        lip = lips_of(cloud, mask, UP)[0]
        tilts[category] = full_tilt(cloud.points_m, lip, UP)
    assert np.deg2rad(85) < tilts["pan"] < tilts["mug"] < np.deg2rad(140)


def test_the_opening_is_the_rim(session):
    model, cloud, mask = _region(session, "bowl", "Pour In")
    stand = Pose(np.array([0.5, 0.1, 0.0]))
    opening = opening_of(cloud, mask, stand)
    assert opening is not None
    assert np.linalg.norm(opening.center_world_m[:2] - [0.5, 0.1]) < 0.004
    assert abs(opening.center_world_m[2] - model.bounds_m[1][2]) < 0.004


def test_a_bottle_cannot_be_poured(session):
    from armwright.core.errors import SceneError

    parsed, _ = parse_sentence("pour the carton into the bowl")
    with pytest.raises(SceneError, match="no open cavity"):
        run_episode(session, EpisodeRequest(parsed=parsed, seed=1))


def test_a_kettle_lifted_off_its_stand_leaves_the_stand_and_stands_on_nothing(session):
    parsed, _ = parse_sentence("pick up the kettle by its handle")
    for seed in range(4):
        episode = run_episode(session, EpisodeRequest(parsed=parsed, seed=seed))
        kettle = episode.world.objects["kettle_1"]
        if not kettle.left_behind:
            continue
        assert kettle.left_behind == {"stand"}
        assert episode.ok, episode.graded.detail
        assert episode.world.truth.supported_by("kettle_1") == frozenset()
        assert episode.world.truth.pose("kettle_1", "stand").position_m[2] < 0.005
        return
    raise AssertionError("no kettle with a stand was drawn")
