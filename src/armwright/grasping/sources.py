"""The plug point for grasp sources: a cloud, a region and a gripper in, candidates out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.pose import Array
from armwright.grasping.options import GraspOptions
from armwright.grasping.types import GraspSet
from armwright.robots.spec import GripperSpec

ENTRY_POINT_GROUP = "armwright.grasps"


@runtime_checkable
class GraspSource(Protocol):
    """Proposes grasps of one object; an empty set is a normal answer."""

    @property
    def name(self) -> str: ...

    def sample(
        self,
        points_m: Array,
        normals: Array,
        mask: NDArray[np.bool_],
        gripper: GripperSpec,
        *,
        support_plane: Array | None = None,
        obstacles: Sequence[Array] = (),
        thorough: bool = False,
    ) -> GraspSet:
        """Return candidates in the object's frame; arguments as in `armwright.grasping.affordance.sample_grasps`.

        ``thorough`` asks for more of them, after none of the first could be used.
        """
        ...


@dataclass(frozen=True)
class AffordanceGrasps:
    """Grasps sampled on the affordance peak (AffordSim §3.2), the default."""

    options: GraspOptions = field(default_factory=GraspOptions)
    name: str = "affordance"

    def sample(
        self,
        points_m: Array,
        normals: Array,
        mask: NDArray[np.bool_],
        gripper: GripperSpec,
        *,
        support_plane: Array | None = None,
        obstacles: Sequence[Array] = (),
        thorough: bool = False,
    ) -> GraspSet:
        """Return the candidates of `sample_grasps` with this source's options."""
        from armwright.grasping.affordance import sample_grasps

        options = self.options.thorough() if thorough else self.options
        return sample_grasps(
            points_m, normals, mask, gripper, options=options, support_plane=support_plane, obstacles=obstacles
        )


_BUILT_IN: dict[str, Callable[[], GraspSource]] = {"affordance": AffordanceGrasps}


def grasp_source_names() -> tuple[str, ...]:
    """Return every name that `grasp_source` accepts, sorted."""
    return tuple(sorted({*_BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINT_GROUP))}))


def grasp_source(name: str = "affordance") -> GraspSource:
    """Build the grasp source of this name.

    Args:
        name: A built-in one, or one that an installed package offers: an entry point in ``armwright.grasps`` that
            loads a callable without arguments, such as a class.

    Raises:
        UnknownNameError: There is none of that name.
        UsageError: The entry point's object is no grasp source.
    """
    built: Any
    if name in _BUILT_IN:
        return _BUILT_IN[name]()
    for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
        built = point.load()()
        if not isinstance(built, GraspSource):
            raise UsageError(
                f"entry point {point.value!r} gave a {type(built).__name__}, which has no name and sample().",
                hint="It must load a callable without arguments that returns a GraspSource.",
            )
        return built
    raise UnknownNameError("grasp source", name, grasp_source_names())
