"""The plug point for grasp sources: a cloud, a region and a gripper in, candidates out; built-in ones by name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import Any, Protocol, runtime_checkable

from armwright.core.errors import UnknownNameError, UsageError
from armwright.grasping.options import GraspOptions
from armwright.grasping.request import GraspRequest, SourceNeeds
from armwright.grasping.types import GraspSet

ENTRY_POINT_GROUP = "armwright.grasps"
# Candidates that a source which ranks them itself hands on, and the most that can be asked for.
TOP = 200
MOST = 100_000


@runtime_checkable
class GraspSource(Protocol):
    """Proposes grasps of one object; an empty set is a normal answer."""

    @property
    def name(self) -> str: ...

    @property
    def needs(self) -> SourceNeeds:
        """What the source looks at."""
        ...

    def sample(self, request: GraspRequest) -> GraspSet:
        """Return candidates in the object's frame."""
        ...


@dataclass(frozen=True)
class AffordanceGrasps:
    """Grasps sampled on the affordance peak (AffordSim §3.2), the default."""

    options: GraspOptions = field(default_factory=GraspOptions)
    name: str = "affordance"
    needs: SourceNeeds = field(default_factory=SourceNeeds)

    def sample(self, request: GraspRequest) -> GraspSet:
        """Return the candidates of `armwright.grasping.affordance.sample_grasps` with this source's options."""
        from armwright.grasping.affordance import sample_grasps

        options = self.options.thorough() if request.thorough else self.options
        return sample_grasps(
            request.points_m,
            request.normals,
            request.mask,
            request.gripper,
            options=options.short() if request.short else options,
            support_plane=request.support_plane,
            obstacles=request.obstacles,
        )


def _oracle(top: int) -> GraspSource:
    return AffordanceGrasps(name="oracle", needs=SourceNeeds(affordance="oracle"))


def _manual(top: int) -> GraspSource:
    from armwright.grasping.manual import ManualGrasps

    return ManualGrasps()


def _generic(top: int) -> GraspSource:
    from armwright.grasping.generic import GenericGrasps

    return GenericGrasps(top=top)


def _filtered(top: int) -> GraspSource:
    from armwright.grasping.filtered import FilteredGrasps
    from armwright.grasping.generic import GenericGrasps

    return FilteredGrasps(GenericGrasps(top=top))


def _anygrasp(top: int) -> GraspSource:
    from armwright.grasping.anygrasp import AnyGraspSource

    return AnyGraspSource.load(top=top)


_BUILT_IN: dict[str, Callable[[int], GraspSource]] = {
    "affordance": lambda top: AffordanceGrasps(),
    "oracle": _oracle,
    "manual": _manual,
    "generic": _generic,
    "generic-filtered": _filtered,
    "anygrasp": _anygrasp,
}
_RANKED = ("generic", "generic-filtered", "anygrasp")


def grasp_source_names() -> tuple[str, ...]:
    """Return every name that `grasp_source` accepts, sorted."""
    return tuple(sorted({*_BUILT_IN, *(point.name for point in entry_points(group=ENTRY_POINT_GROUP))}))


def grasp_source(name: str = "affordance") -> GraspSource:
    """Build the grasp source of this name.

    Args:
        name: A built-in one, or one that an installed package offers: an entry point in ``armwright.grasps`` that
            loads a callable without arguments, such as a class. Sources that rank their candidates themselves take
            how many of the best they hand on: ``generic:50``.

    Raises:
        UnknownNameError: There is none of that name.
        UsageError: The entry point's object is no grasp source, or the number is none.
        MissingDependencyError: The source needs a package that is not installed.
    """
    base, colon, count = name.partition(":")
    if base in _BUILT_IN:
        return _BUILT_IN[base](_top(name, base, count) if colon else TOP)
    for point in entry_points(group=ENTRY_POINT_GROUP, name=name):
        built: Any = point.load()()
        if not isinstance(built, GraspSource):
            raise UsageError(
                f"entry point {point.value!r} gave a {type(built).__name__}, which has no name, needs and sample().",
                hint="It must load a callable without arguments that returns a GraspSource.",
            )
        return built
    raise UnknownNameError("grasp source", name, grasp_source_names())


def _top(name: str, base: str, count: str) -> int:
    if base not in _RANKED:
        raise UsageError(
            f"grasp source {name!r}: {base} takes no number of candidates.",
            hint=f"Those that take one: {', '.join(f'{ranked}:N' for ranked in _RANKED)}.",
        )
    if not (count.isascii() and count.isdecimal() and len(count) < 12 and 1 <= int(count) <= MOST):
        raise UsageError(
            f"grasp source {name!r}: {count!r} is no number of candidates from 1 to {MOST}.",
            hint=f"Write {base}:{TOP}, for example.",
        )
    return int(count)
