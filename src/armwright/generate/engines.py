"""The plug point for compute engines: who works, and where; built-in are processes here and a Ray cluster."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.plugins import load_plugin, plugin_names
from armwright.core.pool import run_in_order

ENTRY_POINT_GROUP = "armwright.engines"
BUILT_IN = ("local", "ray")
Task = TypeVar("Task")
Result = TypeVar("Result")


class Engine(Protocol):
    """Does tasks on workers."""

    @property
    def shards(self) -> bool:
        """Whether workers may be far away or die, so that they are better given shards than single episodes."""
        ...

    def check(self) -> None:
        """Refuse to begin where the engine cannot work.

        Raises:
            MissingDependencyError: A package is missing; the hint is the line that installs it.
        """
        ...

    def run(
        self,
        work: Callable[[Task], Result],
        next_task: Callable[[int], Task | None],
        done: Callable[[Result], None],
        *,
        workers: int,
    ) -> None:
        """Hand out tasks until ``next_task`` has none.

        Args:
            work: A function of a module that workers can import; asked again for the same task, it gives the same.
            next_task: Number of tasks under way -> the next task, or None to wait (or to end, when none is under way).
            done: Called in this process with each result.
            workers: Most tasks at a time; 0: as many as there is room for.

        Raises:
            WorkerDiedError: A task could not be done because its workers died.
        """
        ...


@dataclass(frozen=True)
class LocalEngine:
    """Processes on this machine."""

    shards: bool = False

    def check(self) -> None:
        """Nothing is needed."""

    def run(
        self,
        work: Callable[[Task], Result],
        next_task: Callable[[int], Task | None],
        done: Callable[[Result], None],
        *,
        workers: int,
    ) -> None:
        """Hand out tasks to worker processes, or do them in this one."""
        from armwright.core.pool import cores

        run_in_order(work, next_task, done, workers=workers or cores())


def engine_names() -> tuple[str, ...]:
    """Return the names of all engines, those of installed packages included."""
    return tuple(sorted({*BUILT_IN, *plugin_names(ENTRY_POINT_GROUP)}))


def compute_engine(name: str) -> Engine:
    """Return an engine that can work here.

    Packages add theirs as classes without arguments in the entry-point group ``armwright.engines``.

    Raises:
        UnknownNameError: There is none of that name.
        MissingDependencyError: It needs a package that is not installed.
        UsageError: A package offers something else under that name.
    """
    made: Any
    if name == "local":
        made = LocalEngine()
    elif name == "ray":
        from armwright.generate.on_ray import RayEngine

        made = RayEngine()
    else:
        factory = load_plugin(ENTRY_POINT_GROUP, name)
        if factory is None:
            raise UnknownNameError("engine", name, engine_names())
        made = factory()
        if not all(hasattr(made, part) for part in ("shards", "check", "run")):
            raise UsageError(
                f"{name!r} of the plug point {ENTRY_POINT_GROUP} is no engine: it lacks shards, check or run."
            )
    engine = cast("Engine", made)
    engine.check()
    return engine
