"""A cap is a part of its bottle; a can on a can is not."""

import numpy as np
import pytest

from armwright.perception.descriptions import Description
from armwright.perception.instances import Detection, InstanceMap, observe
from armwright.perception.tops import is_top, join_tops
from perception_scenes import Thing, looking, render

BODY = Thing((0.0, 0.0, 0.07), (0.035, 0.035, 0.07), (200, 60, 60))
CAP = Thing((0.0, 0.0, 0.16), (0.015, 0.015, 0.02), (230, 230, 230))
STACKED = Thing((0.0, 0.0, 0.20), (0.033, 0.033, 0.06), (60, 60, 200))
HIGHER = Thing((0.0, 0.05, 0.20), (0.015, 0.015, 0.02), (60, 160, 60))


def mapped(things):
    scene = InstanceMap()
    for y in (-0.3, 0.0, 0.3):
        frame, owner = render(things, looking((-0.5, y, 0.25), (0.0, 0.0, 0.1)))
        found = [Detection(owner == k, Description("bottle" if k == 0 else "")) for k in range(len(things))]
        observe(scene, frame, [d for d in found if d.mask.sum() > 60])
    return scene


def test_a_cap_joins_its_bottle():
    scene = mapped([BODY, CAP])
    assert len(scene.instances) == 2
    assert join_tops(scene) == [(0, 1)]
    (one,) = scene.instances.values()
    assert one.box_m[1, 2] > 0.17 and one.hypotheses


@pytest.mark.parametrize("other", [STACKED, HIGHER])
def test_what_is_as_wide_or_beside_stays_a_thing_of_its_own(other):
    scene = mapped([BODY, other])
    assert join_tops(scene) == [] and len(scene.instances) == 2


def test_what_stands_behind_is_no_top():
    low = np.array([[0.0, 0.0, 0.0], [0.06, 0.06, 0.10]])
    behind = np.array([[0.02, 0.02, 0.02], [0.04, 0.04, 0.11]])
    assert not is_top(behind, low) and not is_top(low, low)
