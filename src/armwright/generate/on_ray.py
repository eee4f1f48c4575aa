"""The compute engine ``ray``: tasks on a Ray cluster, or on processes that Ray starts here.

Ray is an optional dependency and imported only when the engine is used. A task whose worker or node dies is done again
by another one. armwright must be installed on every node, and robots are baked into each node's own cache unless
``ARMWRIGHT_CACHE_DIR`` names a shared one.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any, TypeVar

from armwright.core.errors import ArmwrightError, MissingDependencyError, UsageError, in_one_line
from armwright.core.pool import THREAD_COUNTS, WorkerDiedError
from armwright.core.settings import exported_settings

Task = TypeVar("Task")
Result = TypeVar("Result")

# How often a task is done again because its worker died; a task that kills every worker must end some time.
RETRIES = 3
# Tasks handed out per core, so that none is idle while answers travel.
QUEUED_PER_CORE = 2
# Ray gives its own processes 30 s to start, which on a busy machine is sometimes too little.
STARTS = 3
# A Ray that is started here sends no usage statistics.
_RAY_DEFAULTS = {"RAY_USAGE_STATS_ENABLED": "0"}


@dataclass(frozen=True)
class RayEngine:
    """Tasks of one core each on a Ray cluster.

    It joins the cluster that ``RAY_ADDRESS`` names or that ``ray start`` began on this machine; without either, Ray
    starts processes here for as long as the command runs.
    """

    shards: bool = True

    def check(self) -> None:
        """Refuse to begin without Ray.

        Raises:
            MissingDependencyError: It is not installed.
        """
        if find_spec("ray") is None:
            raise MissingDependencyError(
                "the engine 'ray' needs Ray, which is not installed.", hint="Run: pip install 'armwright[ray]'"
            )

    def run(
        self,
        work: Callable[[Task], Result],
        next_task: Callable[[int], Task | None],
        done: Callable[[Result], None],
        *,
        workers: int,
    ) -> None:
        """Hand out tasks; see `armwright.generate.engines.Engine.run`.

        Raises:
            UsageError: There is no cluster at the address that was given.
            WorkerDiedError: Every worker that was given one of the tasks died, or its node did.
        """
        first = next_task(0)
        if first is None:  # then Ray need not be started
            return
        import ray

        variables = {**dict.fromkeys(THREAD_COUNTS, "1"), **exported_settings()}
        with _connection(ray):
            remote = ray.remote(num_cpus=1, max_retries=RETRIES, runtime_env={"env_vars": variables})(work)
            running: dict[Any, Task] = {remote.remote(first): first}
            try:
                while True:
                    room = workers or QUEUED_PER_CORE * max(1, int(ray.cluster_resources().get("CPU", 1)))
                    while len(running) < room and (task := next_task(len(running))) is not None:
                        running[remote.remote(task)] = task
                    if not running:
                        return
                    for reference in ray.wait(list(running), num_returns=1)[0]:
                        done(_result(ray, reference, running.pop(reference)))
            finally:
                for reference in running:
                    ray.cancel(reference, force=True)


def _result(ray: Any, reference: Any, task: object) -> Any:
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as error:
        cause = error.cause
        if isinstance(cause, ArmwrightError | OSError):
            raise cause from None
        raise
    except (
        ray.exceptions.WorkerCrashedError,
        ray.exceptions.NodeDiedError,
        ray.exceptions.OutOfMemoryError,
        ray.exceptions.ObjectLostError,
    ) as error:
        raise WorkerDiedError(
            f"{1 + RETRIES} workers died one after the other doing {task}: {in_one_line(error)}.",
            hint="What was finished is kept: go on with --resume. Ray's logs are in /tmp/ray/session_latest/logs.",
        ) from error


@contextmanager
def _connection(ray: Any) -> Iterator[None]:
    """Be connected to Ray while the block runs; a program that is connected already stays so."""
    if ray.is_initialized():
        yield
        return
    before = signal.getsignal(signal.SIGTERM)
    with redirect_stdout(sys.stderr):  # Ray tells of workers that died on stdout, where only a record may be
        with _ray_defaults():
            _join_or_start(ray)
        try:
            if threading.current_thread() is threading.main_thread():
                signal.signal(signal.SIGTERM, before)  # Ray replaces it
            yield
        finally:
            ray.shutdown()


def _join_or_start(ray: Any) -> None:
    for left in reversed(range(STARTS)):
        try:
            ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR")
            return
        except ConnectionError as error:
            raise UsageError(
                f"no Ray cluster can be reached: {in_one_line(error)}.",
                hint="Set RAY_ADDRESS to a cluster's HOST:PORT, or to 'local' to start Ray here.",
            ) from error
        except Exception as error:  # Ray raises plain ones when its processes do not come up
            ray.shutdown()
            if not left:
                raise ArmwrightError(
                    f"Ray could not be started: {in_one_line(error)}.",
                    hint="Try again when the machine is less busy; Ray's logs are in /tmp/ray/session_latest/logs.",
                ) from error


@contextmanager
def _ray_defaults() -> Iterator[None]:
    """Let a Ray that is started within behave as we would have it, unless the user chose otherwise."""
    added = [name for name in _RAY_DEFAULTS if name not in os.environ]
    os.environ.update({name: _RAY_DEFAULTS[name] for name in added})
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)
