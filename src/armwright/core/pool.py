"""Episodes in parallel: worker processes that keep a session each, watched, and handed seeds in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from typing import Any, TypeVar

from armwright.core.errors import ArmwrightError

Task = TypeVar("Task")
Result = TypeVar("Result")

# An episode computes for seconds, the first of a process for half a minute more; one that computes for this long is
# stuck and its seed is recorded as bad. Computing time counts, not the clock: a busy machine must not fail episodes.
WATCHDOG_S = 180.0
CRASH = "crash"
CRASHES_IN_A_ROW = 5
# Seeds of one run; runs with different --seed never share one.
SEEDS_PER_RUN = 1_000_000
# What tells the usual libraries how many threads to use; each worker has a core of its own.
THREAD_COUNTS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


class EpisodeTimeoutError(ArmwrightError):
    """An episode ran into the watchdog."""

    exit_code = 1


class WorkerDiedError(ArmwrightError):
    """A worker process ended without an answer."""

    exit_code = 1


class CrashCount:
    """Ends a run in which one episode after the other crashes: then it is not the seed."""

    def __init__(self, limit: int = CRASHES_IN_A_ROW) -> None:
        self._limit = limit
        self._row = 0

    def note(self, failed: str | None) -> None:
        """Take in how an episode failed, None if it did not.

        Raises:
            ArmwrightError: Too many crashed in a row.
        """
        self._row = self._row + 1 if failed is not None and failed.startswith(CRASH) else 0
        if self._row >= self._limit:
            raise ArmwrightError(f"{self._row} episodes crashed in a row; the last: {failed}.", hint="Report this.")


def crash_text(error: Exception) -> str:
    """Write the traceback to stderr and return what a journal keeps of it."""
    sys.stderr.write("".join(traceback.format_exception(error)))
    return f"{CRASH}: {type(error).__name__}: {error}"


def episode_seed(seed: int, index: int) -> int:
    """Return the seed of an episode; unique over runs and indices."""
    if not 0 <= index < SEEDS_PER_RUN:
        raise ArmwrightError(f"episode {index} is outside 0 to {SEEDS_PER_RUN - 1}.")
    return seed * SEEDS_PER_RUN + index


def cores() -> int:
    """Return the number of cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def threads_here(*, most: int = 2) -> int:
    """Return how many threads a network may use in this process: what OMP_NUM_THREADS says, else a few of the cores."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    return int(said) if said.isdigit() and int(said) > 0 else max(1, min(most, cores()))


@contextmanager
def watchdog(limit_s: float = WATCHDOG_S) -> Iterator[None]:
    """Raise `EpisodeTimeoutError` in the main thread when the block computes for longer than ``limit_s``."""
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "setitimer"):
        yield
        return

    def stop(signum: int, frame: object) -> None:
        raise EpisodeTimeoutError(f"the episode did not end within {limit_s:.0f} s of computing.")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, limit_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        signal.signal(signal.SIGPROF, before)


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let processes started within do their linear algebra on one thread; more only wait for each other here."""
    added = [name for name in THREAD_COUNTS if name not in os.environ]
    os.environ.update(dict.fromkeys(added, "1"))
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def _start_worker(parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with, args=(parent,), daemon=True).start()


def _die_with(parent: int) -> None:
    """End this worker when the process that started it is gone, however it went."""
    import time

    while os.getppid() == parent:
        time.sleep(0.2)
    os._exit(1)


def run_in_order(
    work: Callable[[Task], Result],
    next_task: Callable[[int], Task | None],
    done: Callable[[Result], None],
    *,
    workers: int,
) -> None:
    """Hand out tasks until ``next_task`` has none, in this process or in several.

    Args:
        work: A function of a module, so that workers can import it.
        next_task: Number of tasks under way -> the next task, or None to wait (or to end, when none is under way).
        done: Called in this process with each result.
        workers: Processes; 1 works here.

    Raises:
        WorkerDiedError: A worker was killed, e.g. for want of memory.
    """
    if workers <= 1:
        while (task := next_task(0)) is not None:
            done(work(task))
        return
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_start_worker, initargs=(os.getpid(),))
    running: set[Future[Any]] = set()
    try:
        while True:
            with one_thread_each():  # a submission may start a worker
                while len(running) < workers and (task := next_task(len(running))) is not None:
                    running.add(pool.submit(work, task))
            if not running:
                return
            finished, running = wait(running, return_when=FIRST_COMPLETED)
            for future in finished:
                done(future.result())
    except BrokenProcessPool as error:
        raise WorkerDiedError(
            "a worker process was killed; the system may have run out of memory.",
            hint="What was finished is kept: go on with --resume, perhaps with fewer --workers.",
        ) from error
    finally:
        # The pool forgets its processes in shutdown, and would wait for the tasks under way.
        processes = list((pool._processes or {}).values())
        pool.shutdown(wait=False, cancel_futures=True)
        for process in processes:
            process.terminate()
