"""The circumstances of a fit: Ctrl-C, checkpoint, cluster, memory, threads and callback. None affects the tree."""

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


@contextmanager
def run_context(
    *,
    client: Any = None,
    checkpoint: str | os.PathLike[str] | None = None,
    max_memory: str | float | None = None,
    threads: int = 1,
    callback: Callable[[NodeProgress], None] | None = None,
) -> Iterator["RunContext"]:
    """The context of one fit, in which errors about its checkpoint name the file."""
    most = None if max_memory is None else size_of(max_memory)
    if max_memory is not None and most is None:
        raise SettingsError(f"max_memory must be a size such as '4 GB', or a number of bytes, got {max_memory!r}")
    make_backend = partial(local_backend, threads=threads, max_memory=most)
    if checkpoint is None:
        yield RunContext(make_backend, client, None, callback)
    else:
        with naming(checkpoint):
            yield RunContext(make_backend, client, Checkpoint(checkpoint), callback)


class RunContext:
    """Checkpoint, cluster, memory and callback of a fit: provides the runs of its trees."""

    def __init__(
        self,
        make_backend: "partial[Backend]",
        client: Any,
        checkpoint: Checkpoint | None,
        callback: Callable[[NodeProgress], None] | None,
    ) -> None:
        self.interruption = Interruption()
        """Enter it while what was learned must not be lost."""
        self._make_backend, self._client, self._checkpoint, self._callback = make_backend, client, checkpoint, callback
        self._shared: LocalBackend | None = None

    @property
    def is_distributed(self) -> bool:
        """True if workers of a cluster evaluate formulas."""
        return self._client is not None

    def resumed_seed(self, otherwise: int) -> int:
        """Return the seed of the fit in the checkpoint; `otherwise` if there is none."""
        return otherwise if self._checkpoint is None else self._checkpoint.seed(otherwise)

    def require(self, describe: Callable[[], dict[str, str]]) -> None:
        """Raise CheckpointError if the checkpoint belongs to another fit."""
        if self._checkpoint is not None:
            self._checkpoint.require(describe())

    def share_bitsets(self, panel: Panel, grammar: Grammar) -> None:
        """Let all trees, which have this grammar, share the bitsets of all records if these fit in memory."""
        if self._client is None:
            backend = self._make_backend(panel, grammar, quiet=True)
            self._shared = backend if isinstance(backend, LocalBackend) else None

    @contextmanager
    def whole_tree(self) -> Iterator[TreeRun]:
        """The run of the tree of all records; workers forget the records at the end."""
        with nullcontext() if self._client is None else Cluster(self._client) as cluster:
            shared = self._shared
            local = self._make_backend if shared is None else lambda panel, grammar: shared
            yield TreeRun(local if cluster is None else cluster.backend, self._callback, self._store(0))

    def fold(self, number: int, train: NDArray[np.int64], *, of: int) -> TreeRun:
        """Return the run of the tree of a fold in this process.

        number: that of the fold, from 0, among `of`. train: the positions of its training records.
        """
        callback, shared = self._callback, self._shared
        if callback is not None:
            report = callback

            def callback(event: NodeProgress) -> None:
                report(event._replace(fold=(number + 1, of)))

        if shared is None:
            return TreeRun(partial(self._make_backend, quiet=True), callback, self._store(number + 1))
        part = shared.part(train)
        return TreeRun(lambda panel, grammar: part, callback, self._store(number + 1))

    def on_workers(self, work: Callable[..., T], tasks: Sequence[Any], shared: Any) -> Generator[tuple[int, T]]:
        """Yield the results of `work(task, shared)` on the cluster, with the numbers of their tasks, as they finish."""
        return Cluster(self._client).finished(work, tasks, shared)

    def write_checkpoint(self) -> None:
        """Write the checkpoint, if there is one."""
        if self._checkpoint is not None:
            self._checkpoint.write()

    def _store(self, tree: int) -> CheckpointStore:
        return NO_CHECKPOINT if self._checkpoint is None else self._checkpoint.tree(tree)
