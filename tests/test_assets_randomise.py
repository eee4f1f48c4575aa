"""Ranges of domain randomisation, and looks as a function of seed and names alone."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from armwright.assets.randomise import AXES, FLOOR, ORBIT_DEG, TABLE, ImageFile, Looks, Randomisation, draw_looks
from armwright.assets.scene import ObjectSpec, SceneSpec

SCENE = SceneSpec(
    objects=(
        ObjectSpec(id="mug_1", category="mug", attributes={"colour": "red"}),
        ObjectSpec(id="bowl_1", category="bowl"),
    )
)
EVERYTHING = Randomisation().switched(AXES)


def test_without_being_asked_only_poses_are_drawn() -> None:
    assert Randomisation().axes == ("pose",)
    assert draw_looks(Randomisation(), SCENE, 3) == Looks()


@pytest.mark.parametrize("axis", AXES)
def test_each_axis_has_a_switch_of_its_own(axis: str) -> None:
    only = Randomisation().switched([axis])
    assert only.axes == (axis,)
    looks = draw_looks(only, SCENE, 3)
    changed = {name for name in type(looks).model_fields if getattr(looks, name) != getattr(Looks(), name)}
    assert (
        changed
        == {
            "pose": set(),
            "texture": {"surfaces"},
            "lighting": {"lights", "ambient"},
            "background": {"background"},
            "noise": {"noise_sigma", "noise_seed"},
        }[axis]
    )


def test_poses_that_are_not_randomised_come_from_a_point() -> None:
    window = Randomisation().switched(["texture"]).window()
    assert (window.size_m, window.yaw_deg) == (0.0, 0.0)
    assert (Randomisation().window().size_m, Randomisation().window().yaw_deg) == (0.30, 60.0)


@given(seed=st.integers(0, 2**40))
@settings(max_examples=60, deadline=None)
def test_looks_lie_in_their_ranges_and_survive_their_record(seed: int) -> None:
    looks = draw_looks(EVERYTHING, SCENE, seed)
    assert (
        Looks.model_validate_json(looks.model_dump_json(by_alias=True)) == looks == draw_looks(EVERYTHING, SCENE, seed)
    )
    light = EVERYTHING.lighting
    assert looks.lights is not None and 1 <= len(looks.lights) <= 3
    strength = sum(max(lamp.diffuse) for lamp in looks.lights)
    assert light.intensity[0] * (1 - light.tint) - 1e-5 <= strength <= light.intensity[1] + 1e-5
    for lamp in looks.lights:
        assert np.linalg.norm(lamp.direction) == pytest.approx(1, abs=1e-5)
        assert lamp.position_m[2] > 0.5
        assert lamp.direction[2] < 0
    assert EVERYTHING.noise.sigma[0] <= looks.noise_sigma <= EVERYTHING.noise.sigma[1]
    assert set(looks.surfaces) <= {"bowl_1", TABLE, FLOOR}  # the mug was asked for in red


def test_seeds_and_surfaces_differ() -> None:
    drawn = [draw_looks(EVERYTHING, SCENE, seed) for seed in range(40)]
    assert len({look.model_dump_json() for look in drawn}) == 40
    patterns = {s.pattern for look in drawn for s in look.surfaces.values()}
    assert patterns == {"noise", "checker", "wood", "stripes"}
    assert {lamp.kind for look in drawn for lamp in look.lights or ()} == {"directional", "spot", "point"}


def test_one_axis_does_not_move_another() -> None:
    alone = draw_looks(Randomisation().switched(["lighting"]), SCENE, 9)
    assert alone.lights == draw_looks(EVERYTHING, SCENE, 9).lights


def test_files_are_drawn_where_there_are_any() -> None:
    image, field = ImageFile(path="/a.png", sha256="0"), ImageFile(path="/f.ply", sha256="1")
    files = {"texture": (image,), "splats": (field,)}
    drawn = [draw_looks(EVERYTHING, SCENE, seed, files) for seed in range(60)]
    shares = np.mean([s.image is not None for look in drawn for s in look.surfaces.values()])
    assert 0.3 < shares < 0.7
    backgrounds = [look.background for look in drawn]
    assert all(b is not None and b.field == field and b.texture is None for b in backgrounds)
    assert {b.orbit_deg for b in backgrounds if b is not None} == set(ORBIT_DEG)
    assert len(ORBIT_DEG) == 12


@pytest.mark.parametrize(
    "wrong",
    [
        {"noise": {"sigma": [8, 1]}},
        {"texture": {"share": 1.5}},
        {"lighting": {"kinds": []}},
        {"lighting": {"kinds": ["laser"]}},
        {"colour": {"enabled": True}},
        {"noise": {"sigma": [0, float("nan")]}},
    ],
)
def test_wrong_ranges_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Randomisation.model_validate(wrong)
