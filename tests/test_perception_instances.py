"""The instance map on synthetic shelves: one instance per thing, named by repeated evidence, merged where it is one."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from armwright.core.errors import ArmwrightError
from armwright.core.seeds import rng_for
from armwright.perception.boxes import box_overlap
from armwright.perception.descriptions import Description, by_meaning
from armwright.perception.instances import (
    Detection,
    InstanceMap,
    alternative_labels,
    instance_description,
    match_costs,
    may_merge,
    observe,
)
from armwright.perception.masks import patch
from perception_scenes import Thing, looking, render

BOARD = Thing((0.1, 0.0, -0.01), (0.25, 0.7, 0.01), colour=(120, 90, 60))
WALL = Thing((0.36, 0.0, 0.3), (0.01, 0.7, 0.4), colour=(90, 90, 90))
NAMES = ("ketchup", "mustard", "jam", "tea", "soap")
SIDES = ((0.06, 0.07, 0.19), (0.05, 0.06, 0.17), (0.08, 0.08, 0.1), (0.07, 0.12, 0.15), (0.06, 0.09, 0.05))


def shelf(gap):
    things, y = [], -0.3
    for size in SIDES:
        y += size[1] / 2
        things.append(Thing((0.0, y, size[2] / 2), (size[0] / 2, size[1] / 2, size[2] / 2)))
        y += size[1] / 2 + gap
    return things


CAMERAS = [looking((-0.6 * np.cos(a), 0.6 * np.sin(a), 0.35), (0, -0.05, 0.08)) for a in (-0.7, -0.35, 0.0, 0.35, 0.7)]


def description(index, **changes):
    edible = NAMES[index] != "soap"
    return replace(Description(NAMES[index], content=NAMES[index], edible=edible, extent_m=SIDES[index]), **changes)


@cache
def rendered(gap, number):
    rng = rng_for(3, "tests", "instances", number)
    return render([*shelf(gap), BOARD, WALL], CAMERAS[number], noise=0.001, rng=rng)


def views(gap=0.01, numbers=range(len(CAMERAS)), *, said=lambda k, n: description(k)):
    for number in numbers:
        frame, owner = rendered(gap, number)
        yield frame, [Detection(owner == k, said(k, number), 0.9) for k in range(len(NAMES)) if (owner == k).any()]


def mapped(gap=0.01, **options):
    scene = InstanceMap()
    reports = [observe(scene, frame, detections) for frame, detections in views(gap, **options)]
    return scene, reports


def true_box(thing):
    return np.stack([np.subtract(thing.center, thing.half), np.add(thing.center, thing.half)])


@pytest.mark.parametrize("gap", [0.002, 0.02])
def test_every_thing_becomes_one_instance_in_its_place(gap):
    things = shelf(gap)
    scene, reports = mapped(gap)
    assert len(scene.instances) == len(things)
    assert len(reports[0].created) == len(things) and all(not r.created for r in reports[1:])
    assert all(len(report.matched) == len(things) for report in reports[1:])
    for instance in scene.instances.values():
        believed = instance_description(instance)
        thing = things[NAMES.index(believed.label)]
        assert believed.confidence == 1 and believed.content == believed.label
        assert np.abs(instance.box_m[0] - true_box(thing)[0]).max() < 0.025
        assert float(box_overlap(instance.box_m, true_box(thing))) > 0.8
        assert instance.views == (0, 1, 2, 3, 4)


def test_one_wrong_name_is_outvoted_and_kept():
    wrong = lambda k, n: description(k, label="shampoo", content="shampoo") if (k, n) == (1, 2) else description(k)  # noqa: E731
    scene, _ = mapped(said=wrong)
    assert len(scene.instances) == len(NAMES)
    mustard = next(i for i in scene.instances.values() if "shampoo" in alternative_labels(i))
    assert alternative_labels(mustard) == ("mustard", "shampoo")
    assert instance_description(mustard).content == "mustard"
    assert 0.5 < instance_description(mustard).confidence < 1


def test_a_name_of_another_size_counts_little():
    # Every view is in doubt between two names; only one of them fits what is seen.
    names = lambda k, n: (  # noqa: E731
        description(k) if n % 2 else description(k, label="crate", extent_m=(0.4, 0.3, 0.3))
    )
    scene, _ = mapped(said=names)
    assert {instance_description(i).label for i in scene.instances.values()} == set(NAMES)


def test_a_thing_seen_as_two_halves_is_merged_where_the_halves_overlap():
    scene = InstanceMap()
    for frame, detections in views(0.02, (1, 2, 3)):
        first = detections[0]
        split = replace(first, mask=first.mask & (np.cumsum(first.mask, 0) <= 0.8 * first.mask.sum(0)))
        observe(scene, frame, [*detections, split])
    assert len(scene.instances) == len(NAMES)


def test_firm_names_keep_overlapping_things_apart_and_single_views_do_not():
    scene, _ = mapped(numbers=range(3))
    first, second = list(scene.instances.values())[:2]
    over = replace(second, box_m=first.box_m)
    assert not may_merge(first, over) and not may_merge(over, first)
    weak = {k: replace(h, observations=1) for k, h in second.hypotheses.items()}
    assert may_merge(first, replace(over, hypotheses=weak))
    unsure = {k: replace(h, best_confidence=0.69) for k, h in second.hypotheses.items()}
    assert may_merge(first, replace(over, hypotheses=unsure))
    same = replace(over, hypotheses=first.hypotheses, votes=first.votes)
    assert may_merge(first, same)
    assert not may_merge(first, replace(same, box_m=first.box_m + 0.3))


def test_semantics_rules_a_match_out_only_where_both_sides_are_sure():
    scene, _ = mapped(numbers=range(3))
    ketchup, mustard = (i for i in scene.instances.values() if instance_description(i).label in ("ketchup", "mustard"))
    frame, detections = next(views(numbers=[3]))
    seen = patch(frame, detections[1].mask)
    # The mustard's mask, where the map has both things in the same place.
    known = [replace(ketchup, box_m=seen.box_m), replace(mustard, box_m=seen.box_m)]

    def ruled_out(said, confidence=0.9, instances=known):
        return np.isinf(match_costs([seen], [Detection(detections[1].mask, said, confidence)], instances)[0]).tolist()

    assert ruled_out(description(1)) == [True, False]
    assert ruled_out(description(1), confidence=0.6) == [False, False]
    assert ruled_out(description(1, confidence=0.6)) == [False, False]
    assert ruled_out(description(1, label="relish", content="relish")) == [False, False]
    once = {k: replace(h, observations=1) for k, h in ketchup.hypotheses.items()}
    assert ruled_out(description(1), instances=[replace(known[0], hypotheses=once), known[1]]) == [False, False]
    # Far away no name helps.
    assert ruled_out(description(1), instances=[replace(mustard, box_m=seen.box_m + 1)]) == [True]


def test_the_order_of_detections_does_not_matter():
    plain, mixed = InstanceMap(), InstanceMap()
    for frame, detections in views():
        observe(plain, frame, detections)
        observe(mixed, frame, detections[::-1])

    def state(scene):
        return sorted((instance_description(i).label, *np.round(i.box_m, 6).ravel()) for i in scene.instances.values())

    assert state(plain) == state(mixed)


def test_a_thing_that_nobody_names_any_more_stays():
    scene = InstanceMap()
    for number, (frame, detections) in enumerate(views()):
        observe(scene, frame, detections if number == 0 else detections[1:])
    assert len(scene.instances) == len(NAMES)
    assert sorted(len(i.views) for i in scene.instances.values()) == [1, 5, 5, 5, 5]


def test_what_has_no_depth_or_is_covered_is_said_so():
    frame, detections = next(views())
    empty = Detection(np.zeros_like(detections[0].mask), Description("ghost"))
    covered = replace(detections[0], confidence=0.1, description=Description("shadow"))
    scene = InstanceMap()
    report = observe(scene, frame, [*detections, empty, covered])
    assert report.ignored == ((5, "no_depth"), (6, "hidden"))
    assert len(scene.instances) == len(NAMES)
    assert observe(InstanceMap(), frame, []).created == ()
    with pytest.raises(ArmwrightError, match="mask"):
        observe(scene, frame, [replace(empty, mask=np.zeros((3, 3), bool))])
    with pytest.raises(ArmwrightError, match="confidence"):
        Detection(empty.mask, Description("ghost"), 1.2)


def test_other_words_for_the_same_are_one_thing():
    words = ("tomato ketchup", "red tomato ketchup", "ketchup bottle")
    said = lambda k, n: description(k, label=words[n % 3], content="") if k == 0 else description(k)  # noqa: E731
    scene = InstanceMap()
    for frame, detections in views(said=said):
        observe(scene, frame, detections, alike=by_meaning())
    assert len(scene.instances) == len(NAMES)
