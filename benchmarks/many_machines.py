"""What a Dask cluster on this machine gains: one process against a LocalCluster of one and of two, on the same records.

    python benchmarks/many_machines.py                     # 500,000 records
    python benchmarks/many_machines.py --linear            # how the cost grows from 10,000 to 1,000,000 records
    python benchmarks/many_machines.py --parts             # what more machines than there are would do

The first two want two idle cores and 16 GB. Threads are one a process throughout, so that processes are all that
differs. The third runs in one process: the shards of so many machines are asked one after the other, and what each of
them and the client spend of the processor is told apart, so other work on this machine matters little.
"""

import argparse
import pickle
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster
from larger_than_memory import NAMES, STEPS, make

import telltree
from telltree import Grammar, GrammarTreeClassifier, Panel
from telltree.engine.trace import signals_of
from telltree.scale import dask as on_cluster
from telltree.scale import run_context
from telltree.scale.shards import Message, Shard, ShardedBackend, ShardPlaces, answered, even_bounds
from telltree.search import GeneticProgramming
from telltree.tree import Greedy
from telltree.tree.backend import LocalBackend

COLUMNS = 10
BITSETS = 4 << 30
"""Bytes for the bitsets of all shards together."""
WIRE, ROUND_TRIP = 1.25e8, 2e-3
"""What is assumed of a network: bytes a second, and seconds for a question and its answer beside the work."""


@dataclass
class Traffic:
    """What goes between the client and its workers."""

    calls: int = 0
    generations: int = 0
    sent: int = 0
    received: int = 0
    busy: float = 0.0
    """Seconds in which workers evaluated, summed over workers."""
    waited: float = 0.0
    """Seconds in which the client waited for them."""


def records_of(number: int, folder: Path) -> tuple[Panel, np.ndarray]:
    """Random walks in a Parquet file, read; workers read it themselves."""
    path = folder / f"{number}.parquet"
    if not path.exists():
        make(path, number, COLUMNS)
    panel, y = telltree.read(path, **NAMES)
    return panel, np.asarray(y)


def model_for(panel: Panel, evaluations: int, depth: int = 3) -> GrammarTreeClassifier:
    search = GeneticProgramming(evaluations=evaluations)
    return GrammarTreeClassifier(
        Grammar.generic(panel), search, max_depth=depth, random_state=0, growth=Greedy(thresholds="midpoint")
    )


@contextmanager
def watched() -> Iterator[Traffic]:
    """Count what is sent and received, and how long workers work."""
    traffic, ask, close = Traffic(), on_cluster._WorkerShards.ask, on_cluster._WorkerShards.close

    def asked(self: on_cluster._WorkerShards, messages: list) -> list:
        began = time.perf_counter()
        answers = ask(self, messages)
        traffic.waited += time.perf_counter() - began
        traffic.calls += 1
        traffic.generations += messages[0].call.method == "shard_tally"
        traffic.sent += sum(
            len(pickle.dumps(one if one.open_first else one._replace(opening=None))) for one in messages
        )
        traffic.received += len(pickle.dumps(answers))
        return answers

    def closed(self: on_cluster._WorkerShards) -> None:
        traffic.busy = sum(home.actor.seconds for home in self._homes)
        close(self)

    on_cluster._WorkerShards.ask, on_cluster._WorkerShards.close = asked, closed
    try:
        yield traffic
    finally:
        on_cluster._WorkerShards.ask, on_cluster._WorkerShards.close = ask, close


def timed(panel: Panel, y: np.ndarray, evaluations: int, workers: int, depth: int = 3) -> tuple[float, Traffic, str]:
    """Seconds for a whole fit, the traffic, and the tree; no workers: in this process alone."""
    model = model_for(panel, evaluations, depth)
    if not workers:
        began = time.perf_counter()
        model.fit(panel, y)
        return time.perf_counter() - began, Traffic(), str(model.tree_)
    with (
        LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=":0") as local,
        Client(local) as client,
    ):
        model_for(panel[:200], 200).fit(panel[:200], y[:200], client=client)  # loads what was compiled
        with watched() as traffic:
            began = time.perf_counter()
            model.fit(panel, y, client=client)
            return time.perf_counter() - began, traffic, str(model.tree_)


def compare(records: int, evaluations: int, folder: Path, depth: int) -> None:
    panel, y = records_of(records, folder)
    model_for(panel[:200], 200).fit(panel[:200], y[:200])  # compiles
    found = {workers: timed(panel, y, evaluations, workers, depth) for workers in (0, 1, 2)}
    assert len({tree for _, _, tree in found.values()}) == 1, "the trees differ"
    alone = found[0][0]
    print(
        f"{records:,} records × {STEPS} steps × {COLUMNS} attributes, {evaluations:,} evaluations a node, depth {depth}"
    )
    print("| processes | seconds | speed | bytes a generation: sent, received | workers idle |")
    print("|---|---|---|---|---|")
    for workers, (seconds, traffic, _) in found.items():
        name = f"{workers} of a LocalCluster" if workers else "1, without Dask"
        each = max(1, traffic.generations)
        told = f"{traffic.sent // each:,}, {traffic.received // each:,}" if workers else ""
        idle = f"{1 - traffic.busy / (workers * seconds):.0%}" if workers else ""
        print(f"| {name} | {seconds:.1f} | {alone / seconds:.2f} × | {told} | {idle} |")


class InTurn(ShardPlaces):
    """Shards in this process, asked through bytes as if they were elsewhere."""

    def __init__(self, panel: Panel, grammar: Grammar, shards: int, traffic: Traffic) -> None:
        super().__init__(even_bounds(panel, shards))
        each = BITSETS // shards  # machines have memory of their own; these share that of one
        self._shards = [
            Shard(LocalBackend(panel[low:high].alone(), grammar, memory=each))
            for low, high in pairwise(self.bounds.tolist())
        ]
        self.spent, self._traffic = np.zeros(len(self.bounds) - 1), traffic

    def ask(self, messages: Sequence[Message]) -> list[Any]:
        traffic, answers = self._traffic, []
        traffic.calls += 1
        traffic.generations += messages[0].call.method == "shard_tally"
        for message in messages:
            asked = pickle.dumps(message if message.open_first else message._replace(opening=None))
            began = time.process_time()
            told = pickle.dumps(answered(self._shards[message.shard], pickle.loads(asked)))  # noqa: S301 - our own
            self.spent[message.shard] += time.process_time() - began
            traffic.sent += len(asked)
            traffic.received += len(told)
            answers.append(pickle.loads(told))  # noqa: S301 - our own
        return answers


def parts(records: int, evaluations: int, folder: Path) -> None:
    """What a fit consists of, by the number of machines."""
    panel, y = records_of(records, folder)
    model_for(panel[:200], 200).fit(panel[:200], y[:200])  # compiles
    wires = "| machines | questions | client | busiest shard | all shards | bytes a generation to and from a machine |"
    print(f"{records:,} records × {STEPS} steps × {COLUMNS} attributes, {evaluations:,} evaluations a node, depth 3")
    print(f"{wires} seconds |\n|---|---|---|---|---|---|---|")
    for machines in (1, 10, 100, 1000):
        traffic, places = Traffic(), list[InTurn]()

        class Elsewhere(on_cluster.Cluster):
            def __init__(self, _client: object) -> None:
                self._places = []

            def backend(self, panel: Panel, grammar: Grammar, traffic: Traffic = traffic, places: list = places) -> Any:
                places.append(InTurn(panel, grammar, machines, traffic))  # noqa: B023 - called within this turn
                return ShardedBackend(places[0], panel.schema, grammar, signals_of(panel).spread)

        run_context.Cluster = Elsewhere
        began = time.process_time()
        model_for(panel, evaluations).fit(panel, y, client=True)
        spent, own = time.process_time() - began, places[0].spent
        client, busiest = spent - own.sum(), own.max()
        wire = (traffic.sent + traffic.received) / WIRE
        each = traffic.generations * len(own)
        seconds = client + busiest + wire + traffic.calls * ROUND_TRIP
        print(
            f"| {machines:,} | {traffic.calls:,} | {client:.1f} | {busiest:.2f} | {own.sum():.1f} | "
            f"{traffic.sent // each:,}, {traffic.received // each:,} | {seconds:.1f} |",
            flush=True,
        )
    print(
        f"seconds: of client, busiest shard, {WIRE / 1e6:g} MB/s at the client, and {1e3 * ROUND_TRIP:g} ms a question"
    )


def linear(evaluations: int, folder: Path) -> None:
    sizes, costs = [10_000, 30_000, 100_000, 300_000, 1_000_000], []
    whole, labels = records_of(sizes[-1], folder)
    print("| records | seconds on two processes | seconds for 100,000 |\n|---|---|---|")
    for size in sizes:
        seconds, _, _ = timed(whole[:size], labels[:size], evaluations, 2)
        costs.append(seconds)
        print(f"| {size:,} | {seconds:.1f} | {seconds / size * 1e5:.2f} |", flush=True)
    slopes = [np.log(b / a) / np.log(n / m) for (a, b), (m, n) in zip(pairwise(costs), pairwise(sizes), strict=True)]
    print("log-log slopes:", ", ".join(f"{slope:.2f}" for slope in slopes))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=500_000)
    parser.add_argument("--evaluations", type=int, default=5_000, help="for each node")
    parser.add_argument("--depth", type=int, default=3, help="of the tree, where processes are compared")
    parser.add_argument("--linear", action="store_true")
    parser.add_argument("--parts", action="store_true")
    parser.add_argument("--folder", type=Path, help="where the records are, or are written to and kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        if options.linear:
            linear(options.evaluations, folder)
        elif options.parts:
            parts(options.records, options.evaluations, folder)
        else:
            compare(options.records, options.evaluations, folder, options.depth)
