"""Shards on the workers of a Dask cluster, and recovery when workers die. Dask is imported here alone."""

import threading
import time
from asyncio import CancelledError as Cancelled
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from telltree.engine.trace import signals_of
from telltree.errors import ClusterError, DataError, SettingsError, warn
from telltree.extras import extras
from telltree.grammar import Grammar
from telltree.panel import Panel
from telltree.panel.table_files import StoredRecords, stored_records
from telltree.scale.out_of_core import local_backend
from telltree.scale.shards import Message, NotOpenError, Shard, ShardedBackend, ShardPlaces, answered, even_bounds

if TYPE_CHECKING:
    from distributed import Client


T = TypeVar("T")

_LOOK = 2.0
"""Seconds after which the worker is checked if it has not answered."""
_START = 120.0
"""Seconds to wait for a worker if there is none: they may have died, and take some time to start again."""
_MEMORY = 0.5
"""The share of a worker's memory to use; Dask begins to write what it holds to disk from 0.6 on."""
_ATTEMPTS = 4
"""The number of times that a shard is placed before it is given up."""


class Cluster:
    """A Dask client whose workers hold the records and evaluate formulas, while this process searches.

    Workers forget the records when it is exited.
    """

    def __init__(self, client: "Client") -> None:
        with extras():
            from distributed import Client
        if not isinstance(client, Client):
            raise SettingsError(f"client must be a dask.distributed.Client, got {type(client).__name__}")
        self._client, self._places = client, list[_WorkerShards]()

    @property
    def workers(self) -> int:
        """The number of workers."""
        return len(_workers(self._client))

    def backend(self, panel: Panel, grammar: Grammar) -> ShardedBackend:
        """Return the backend for the nodes of one tree."""
        places = _WorkerShards(self._client, panel, grammar)
        self._places.append(places)
        return ShardedBackend(places, panel.schema, grammar, signals_of(panel).deviation)

    def finished(self, work: Callable[..., T], tasks: Sequence[Any], shared: Any) -> Generator[tuple[int, T]]:
        """Yield the results of `work(task, shared)`, with the tasks' numbers, as they finish on the workers.

        Tasks whose worker died are done again elsewhere; if all workers died that had the shared data, it is sent
        again.
        """
        left = dict(enumerate(tasks))
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                for number, found in self._once(work, left, shared):
                    del left[number]
                    yield number, found
                return
            except _lost() as error:
                if attempt == _ATTEMPTS or _is_deadly(error):
                    raise ClusterError(
                        f"the workers were lost ({error}); see their logs, and whether memory ran out"
                    ) from error

    def _once(self, work: Callable[..., T], tasks: dict[int, Any], shared: Any) -> Generator[tuple[int, T]]:
        """Yield one attempt, which fails if all copies of the shared data are lost."""
        from distributed import as_completed

        everywhere = self._everywhere(shared)
        futures = {
            self._client.submit(work, task, everywhere, pure=False, retries=_ATTEMPTS): number
            for number, task in tasks.items()
        }
        try:
            for future in as_completed(list(futures)):
                yield futures[future], future.result()
        finally:
            if self._client.status == "running":
                self._client.cancel(list(futures))

    def _everywhere(self, shared: Any, attempts: int = _ATTEMPTS) -> Any:
        """Return the future of the data that every worker gets; it is sent again if one of them dies meanwhile."""
        _workers(self._client)
        try:
            return self._client.scatter(shared, broadcast=True, hash=False)
        except _lost() as error:
            if attempts > 1:
                return self._everywhere(shared, attempts - 1)
            raise ClusterError(
                f"workers were lost {_ATTEMPTS} times in a row while records were sent to them ({error}); see their "
                "logs, and whether memory ran out"
            ) from error

    def __enter__(self) -> "Cluster":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        for places in self._places:
            places.close()


@contextmanager
def connected(address: str) -> "Iterator[Client]":
    """A client of the scheduler at an address, such as tcp://10.0.0.1:8786."""
    with extras():
        from distributed import Client
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise ClusterError(
            f"there is no Dask scheduler at {address!r}; start one with `dask scheduler`, and give the address it "
            "prints, such as tcp://10.0.0.1:8786"
        ) from error
    with client:
        yield client


class _WorkerShards(ShardPlaces):
    """The shards of one tree, each an actor: an object that stays on its worker."""

    nodes_at_once = 2
    """Two: while workers evaluate formulas for one node, this process breeds formulas for the other."""

    def __init__(self, client: "Client", panel: Panel, grammar: Grammar) -> None:
        workers = _workers(client)
        super().__init__(even_bounds(panel, len(workers)))
        self._client, self._panel, self._grammar = client, panel, grammar
        self._sending, self._lock = False, threading.RLock()
        """True if workers were found not to see the files of the records."""
        used = [workers[shard % len(workers)] for shard in range(len(self.bounds) - 1)]
        beginnings = [self._beginning(shard, worker) for shard, worker in enumerate(used)]  # all at the same time
        self._homes = [self._begun(shard, used[shard], *beginning) for shard, beginning in enumerate(beginnings)]

    def ask(self, messages: Sequence[Message]) -> list[Any]:
        """Return the answers, in the order of the messages; shards whose worker died are placed elsewhere."""
        submitted = [(message, self._submit(message)) for message in messages]
        return [self._answer(message, *call) for message, call in submitted]

    def close(self) -> None:
        """Release the records, and all that workers made of them."""
        self._homes.clear()

    def _submit(self, message: Message) -> "tuple[_Home, Any | None]":
        """Send a message to a shard; return its home, and the future of the answer (None: the worker is lost)."""
        needed = message if message.open_first else message._replace(opening=None)  # an opened node need not be sent
        home = self._homes[message.shard]
        try:
            return home, None if home.actor is None else home.actor.ask(needed)
        except RuntimeError:
            return home, None

    def _answer(self, message: Message, home: "_Home", future: Any) -> Any:
        for _ in range(_ATTEMPTS):
            try:
                if future is not None:
                    return self._waited(home.worker, future)
            except _lost():
                pass  # the shard begins anew
            message = message._replace(open_first=True)
            self._move(message.shard, home)
            home, future = self._submit(message)
        low, high = self.bounds[message.shard : message.shard + 2].tolist()
        first, last, part = self._panel.ids[low], self._panel.ids[high - 1], self._part(message.shard)
        where = "" if part is None else f" ({part})"
        raise ClusterError(
            f"the shard with records {first} to {last}{where} failed {_ATTEMPTS} times in a row; see the workers' "
            "logs, and whether they have enough memory, or use more workers"
        )

    def _waited(self, worker: str, future: Any) -> Any:
        """Return the result of a future; check its worker meanwhile, since that of a dead one may never be done."""
        while True:
            try:
                return future.result(timeout=_LOOK)
            except TimeoutError:
                if worker not in _workers(self._client):
                    raise CancelledError from None

    def _move(self, shard: int, lost: "_Home") -> None:
        """Begin a shard anew on a live worker, unless that was done since it was lost."""
        with self._lock:
            if self._homes[shard] is not lost:
                return
            alive, worker = _workers(self._client), lost.worker
            if worker not in alive:
                used = [home.worker for home in self._homes]
                worker = min(alive, key=lambda one: (used.count(one), one))
            self._homes[shard] = self._begun(shard, worker, *self._beginning(shard, worker))

    def _beginning(self, shard: int, worker: str) -> tuple[Any | None, bool]:
        """Let a worker read the records of its shard, or send them, and begin to make the shard there.

        Return its future, None if the worker is lost, and True if the worker reads them.
        """
        low, high = self.bounds[shard : shard + 2].tolist()
        home, part = [worker], self._part(shard)
        try:
            records = part or self._client.scatter(self._panel[low:high], workers=home, hash=False)
            begun = self._client.submit(_begin, records, self._grammar, workers=home, actor=True, pure=False)
        except _lost(also=KeyError):  # the scheduler may know no such worker any more
            begun = None
        return begun, part is not None

    def _begun(self, shard: int, worker: str, beginning: Any | None, reads: bool) -> "_Home":
        """Return the home of a shard that was begun; without an actor if the worker is lost."""
        try:
            return _Home(worker, None if beginning is None else self._waited(worker, beginning))
        except _lost(also=KeyError):
            return _Home(worker, None)
        except DataError as error:
            if not reads:
                raise
            if not self._sending:
                warn(f"a worker could not read records by itself ({error}), so they are sent to the workers")
                self._sending = True
            return self._begun(shard, worker, *self._beginning(shard, worker))

    def _part(self, shard: int) -> StoredRecords | None:
        """Return the part of files that the worker reads by itself; None if the records must be sent."""
        low, high = self.bounds[shard : shard + 2].tolist()
        return None if self._sending else stored_records(self._panel[low:high])


@dataclass(frozen=True, eq=False)
class _Home:
    """The home of a shard: a worker, and the actor there; None if it was lost."""

    worker: str
    actor: Any | None


class RemoteShard(Shard):
    """A shard on a worker."""

    seconds = 0.0
    """The time it has worked; the rest of the time it was idle."""

    def ask(self, message: Message) -> Any:
        """Return the answer to a message."""
        began = time.perf_counter()
        found = answered(self, message)
        self.seconds += time.perf_counter() - began
        return found


def _begin(records: Panel | StoredRecords, grammar: Grammar) -> RemoteShard:
    from distributed import get_worker

    panel, worker = records.read() if isinstance(records, StoredRecords) else records, get_worker()
    limit = worker.memory_manager.memory_limit
    most = None if limit is None else int(limit * _MEMORY)
    return RemoteShard(local_backend(panel, grammar, worker.state.nthreads, most, firm=False, quiet=True))


def _is_deadly(error: BaseException) -> bool:
    """Return True if a task has killed one worker after the other, and would go on."""
    from distributed import KilledWorker

    return isinstance(error, KilledWorker)


def _lost(also: type[BaseException] = CancelledError) -> tuple[type[BaseException], ...]:
    """Return the errors that are raised when a worker died, or was started again."""
    from distributed import KilledWorker

    return CancelledError, Cancelled, KilledWorker, OSError, TimeoutError, NotOpenError, also


def _workers(client: "Client") -> list[str]:
    """Return the addresses of the workers; ClusterError if there are none, or the scheduler does not answer."""
    try:
        found: list[str] = []
        while not found:  # the last one may die meanwhile
            client.wait_for_workers(1, timeout=_START)
            found = sorted(client.scheduler_info(n_workers=-1)["workers"])
        return found
    except (OSError, TimeoutError, RuntimeError) as error:
        raise ClusterError(
            f"the Dask scheduler does not answer, or has no workers ({error}); start the cluster again, and fit again"
        ) from error
