"""Tasks on several processes of this machine. `Cluster.finished` is the same for the workers of a Dask cluster."""

import os
import threading
import time
import warnings
from collections.abc import Callable, Generator, Sequence
from typing import Any, TypeVar

from telltree.errors import TelltreeError

T = TypeVar("T")
_MOST = 256
_LOOK = 1.0  # seconds between checks that the parent process still runs


def processes_for(jobs: int | None, tasks: int) -> int:
    """Return the number of processes worth starting; `jobs`: None for one per core."""
    from joblib import cpu_count

    return max(1, min(tasks, jobs or cpu_count(), _MOST))


def finished(
    work: Callable[..., T],
    tasks: Sequence[Any],
    shared: Any,
    processes: int,
    *,
    begin: Callable[[], None] | None = None,
    remedy: str = "",
) -> Generator[tuple[int, T]]:
    """Yield the results of `work(task, shared)`, with the tasks' numbers, as they finish.

    Large arrays are shared by the processes through memory-mapped files. Each process first calls `begin`. If one is
    killed, that is a TelltreeError, which ends with the `remedy`.
    """
    from joblib import Parallel, delayed
    from joblib.externals.loky.process_executor import TerminatedWorkerError

    workers = Parallel(
        processes, batch_size=1, max_nbytes="100K", return_as="generator_unordered",
        idle_worker_timeout=30, initializer=_begin, initargs=(begin, os.getpid()),
    )  # fmt: skip
    try:
        yield from workers(delayed(_numbered)(number, work, task, shared) for number, task in enumerate(tasks))
    except TerminatedWorkerError as error:
        raise TelltreeError(
            f"a process was killed, most likely because memory ran out: try fewer jobs than {processes}{remedy}"
        ) from error


def stop(results: Generator[Any]) -> None:
    """Stop the work that is still running, if any."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # joblib warns of lost work
        results.close()


def _numbered(number: int, work: Callable[..., T], task: Any, shared: Any) -> tuple[int, T]:
    return number, work(task, shared)


def _begin(begin: Callable[[], None] | None, parent: int) -> None:
    """Start a worker process: watch for the end of its parent, and prepare."""
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    if begin is not None:
        begin()


def _end_with(parent: int) -> None:
    """End this process when its parent is gone, which nothing else would notice."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)
