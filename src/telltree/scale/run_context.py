"""What surrounds a fit: Ctrl-C, checkpoint, cluster, memory, threads and callback. None of it affects the tree."""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from telltree.errors import SettingsError
from telltree.grammar import Grammar
from telltree.panel import Panel
from telltree.scale.checkpoint import Checkpoint, naming
from telltree.scale.dask import Cluster
from telltree.scale.out_of_core import local_backend
from telltree.text import size_of
from telltree.tree import NodeProgress
from telltree.tree.backend import Backend, LocalBackend
from telltree.tree.induction import NO_CHECKPOINT, CheckpointStore, TreeRun
from telltree.tree.interruption import Interruption

T = TypeVar("T")
Fold = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Positions of the training records, and of those held out."""


@contextmanager
def run_context(
    *,
    client: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    max_memory: str | float | None = None,
    threads: int = 1,
    callback: Callable[[NodeProgress], None] | None = None,
) -> Iterator["RunContext"]:
    """The context of one fit; errors about its checkpoint name the file."""
    most = None if max_memory is None else size_of(max_memory)
    if max_memory is not None and most is None:
        raise SettingsError(f"max_memory must be a size such as '4 GB', or a number of bytes, got {max_memory!r}")
    local = partial(local_backend, threads=threads, max_memory=most)
    if checkpoint is None:
        yield RunContext(local, client, None, callback)
    else:
        with naming(checkpoint):
            yield RunContext(local, client, Checkpoint(checkpoint), callback)


class RunContext:
    """Provides the run of each tree of a fit: that of all records, and those of folds."""

    def __init__(
        self,
        local: "partial[Backend]",
        client: Any,
        checkpoint: Checkpoint | None,
        callback: Callable[[NodeProgress], None] | None,
    ) -> None:
        self.interruption = Interruption()
        """Enter it while what was learned must not be lost."""
        self._local, self._client, self._checkpoint, self._callback = local, client, checkpoint, callback
        self._shared: LocalBackend | None = None

    @property
    def is_distributed(self) -> bool:
        """True if workers of a cluster evaluate formulas."""
        return self._client is not None

    def resumed_seed(self, otherwise: int) -> int:
        """The seed of the fit in the checkpoint; another if there is none."""
        return otherwise if self._checkpoint is None else self._checkpoint.seed(otherwise)

    def require(self, describe: Callable[[], dict[str, str]]) -> None:
        """Raise CheckpointError if the checkpoint belongs to another fit."""
        if self._checkpoint is not None:
            self._checkpoint.require(describe())

    def write_checkpoint(self) -> None:
        """Write the checkpoint, if there is one."""
        if self._checkpoint is not None:
            self._checkpoint.write()

    def share(self, panel: Panel, grammar: Grammar) -> None:
        """Let the trees of all folds, which have this grammar, share bitsets, if those of all records fit in memory."""
        if self._client is None:
            backend = self._local(panel, grammar, quiet=True)
            self._shared = backend if isinstance(backend, LocalBackend) else None

    @contextmanager
    def of_all(self) -> Iterator[TreeRun]:
        """The run of the tree of all records."""
        with nullcontext() if self._client is None else Cluster(self._client) as cluster:
            shared = self._shared
            local = self._local if shared is None else lambda panel, grammar: shared
            backend = local if cluster is None else cluster.backend
            yield TreeRun(backend, self._callback, self._store(0))

    def of_fold(self, number: int, folds: Sequence[Fold]) -> TreeRun:
        """The run of the tree of a fold, by its number from 0, in this process."""
        callback, shared = self._callback, self._shared
        if callback is not None:
            whole = callback

            def callback(event: NodeProgress) -> None:
                whole(event._replace(fold=(number + 1, len(folds))))

        if shared is None:
            return TreeRun(partial(self._local, quiet=True), callback, self._store(number + 1))
        part = shared.part(folds[number][0])
        return TreeRun(lambda panel, grammar: part, callback, self._store(number + 1))

    def on_workers(self, work: Callable[..., T], tasks: Sequence[Any], shared: Any) -> Generator[tuple[int, T]]:
        """The results of `work(task, shared)` on the cluster, with the numbers of their tasks, as they finish."""
        return Cluster(self._client).finished(work, tasks, shared)

    def _store(self, tree: int) -> CheckpointStore:
        return NO_CHECKPOINT if self._checkpoint is None else self._checkpoint.tree(tree)
