"""Arms by name: their specs and bake recipes, read from the YAML files of the package."""

from __future__ import annotations

from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from armwright.core.errors import UnknownNameError
from armwright.robots.recipe import ArmRecipe, GripperRecipe
from armwright.robots.spec import GripperSpec, RobotSpec

_SPECS = Path(__file__).parent / "specs"


@lru_cache(maxsize=1)
def robot_names() -> tuple[str, ...]:
    """Return the names of all arms, sorted."""
    return tuple(sorted(path.stem for path in _SPECS.glob("*.yaml")))


def _read(path: Path) -> dict[str, Any]:
    import yaml

    loaded: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return loaded


def _documents(name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    if name not in robot_names():
        raise UnknownNameError("robot", name, robot_names())
    arm = _read(_SPECS / f"{name}.yaml")
    return arm, _read(_SPECS / "grippers" / f"{arm['bake']['gripper']}.yaml")


@cache
def load_spec(name: str) -> RobotSpec:
    """Return the spec of the arm called ``name``; its gripper's table is empty until the arm is baked.

    Raises:
        UnknownNameError: There is no such arm.
    """
    arm, gripper = _documents(name)
    fields = {key: value for key, value in arm.items() if key != "bake"}
    hand = GripperSpec.model_validate({key: value for key, value in gripper.items() if key != "bake"})
    return RobotSpec.model_validate({**fields, "name": name, "gripper": hand})


@cache
def load_recipe(name: str) -> tuple[ArmRecipe, GripperRecipe]:
    """Return how the arm called ``name`` and its gripper are baked.

    Raises:
        UnknownNameError: There is no such arm.
    """
    arm, gripper = _documents(name)
    return ArmRecipe.model_validate(arm["bake"]), GripperRecipe.model_validate(gripper["bake"])


def spec_bytes(name: str) -> bytes:
    """Return the raw YAML of an arm and its gripper, for digests."""
    recipe, _ = load_recipe(name)
    return (_SPECS / f"{name}.yaml").read_bytes() + (_SPECS / "grippers" / f"{recipe.gripper}.yaml").read_bytes()
