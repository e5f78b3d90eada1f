"""Candidates are drawn, flown and accepted in order, until each family has its encounters."""

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.datasets.encounters.families import FAMILIES, draw
from telltree.datasets.encounters.flight import CHANNELS, STEPS, fly
from telltree.datasets.encounters.plans import Floats, Plans, Whole, offsets
from telltree.datasets.encounters.table import Table

BATCH = 256  # candidates flown together, whatever the number of threads
Batch = tuple[Plans, NDArray[np.bool_]]  # candidates, and which of them nearly collide
Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Flights:
    """The results of flown plans."""

    trace: Floats  # encounter, second, aircraft, channel
    near: NDArray[np.bool_]
    alerts: Whole  # ticks of the first advisories


@dataclass(frozen=True)
class Accepted:
    """The plans of the accepted encounters; family and candidate number tell where each came from."""

    plans: Plans
    family: Whole
    candidate: Whole


def fly_plans(table: Table, plans: Plans, logic: bool = True) -> Flights:
    """Fly all of them, with the logic or without."""
    count = len(plans)
    trace = np.empty((count, STEPS, 2, CHANNELS))
    near, alerts = np.empty(count, np.bool_), np.empty((count, 2), np.int64)
    fly(table, offsets(plans.paths), plans.climbs, plans.biases, logic, 0, count, trace, near, alerts)
    return Flights(trace, near, alerts)


def quotas(n: int, nmac: int) -> Whole:
    """How many encounters of each family to make without (column 0) and with a near mid-air collision (column 1)."""
    wanted = [[family.safe for family in FAMILIES], [family.near for family in FAMILIES]]
    return np.stack([_shared_out(n - nmac, wanted[0]), _shared_out(nmac, wanted[1])], axis=1)


def _shared_out(total: int, shares: list[int]) -> Whole:
    """A total divided in these proportions, as integers: the largest remainders are rounded up."""
    exact = [total * share for share in shares]  # in units of 1 / sum(shares), so that nothing is rounded yet
    whole = [part // sum(shares) for part in exact]
    by_remainder = sorted(range(len(shares)), key=lambda i: -(exact[i] % sum(shares)))
    for i in by_remainder[: total - sum(whole)]:
        whole[i] += 1
    return np.array(whole, np.int64)


def accept(table: Table, n: int, nmac: int, seed: int, *, threads: int, progress: Progress | None = None) -> Accepted:
    """Draw until every family has its numbers."""
    parts, family, candidates = [], [], []
    with ThreadPoolExecutor(threads) as pool:
        for number, (safe, near) in enumerate(quotas(n, nmac).tolist()):
            with closing(_flown_ahead(table, number, seed, pool, threads)) as batches:
                for plans, chosen in _accepted_of(batches, np.array([safe, near])):
                    parts.append(plans)
                    candidates.append(chosen)
                    family.append(np.full(len(chosen), number))
                    if progress is not None:
                        progress(sum(map(len, candidates)), n)
    return Accepted(Plans.joined(parts), np.concatenate(family), np.concatenate(candidates))


def _accepted_of(batches: Iterator[Batch], wanted: Whole) -> Iterator[tuple[Plans, Whole]]:
    """The accepted candidates of a family and their numbers; `wanted` are those without and with a near collision."""
    first = 0
    while wanted.any():
        plans, near = next(batches)
        kept = np.sort(np.concatenate([np.flatnonzero(near == end)[: wanted[int(end)]] for end in (False, True)]))
        wanted = wanted - [np.sum(~near[kept]), np.sum(near[kept])]
        yield plans.take(kept), first + kept
        first += BATCH


def _flown_ahead(
    table: Table, number: int, seed: int, pool: ThreadPoolExecutor, threads: int
) -> Generator[Batch, None, None]:
    """Batches of a family in order; a thread pool works ahead."""
    waiting: deque[Future[Batch]] = deque()
    try:
        for first in itertools.count(0, BATCH):
            waiting.append(pool.submit(_flown, table, number, seed, first))
            if len(waiting) == threads:
                yield waiting.popleft().result()
    finally:
        for task in waiting:  # no longer needed
            task.cancel()


def _flown(table: Table, number: int, seed: int, first: int) -> Batch:
    """A batch of candidates, and which of them nearly collide."""
    plans, chance = draw(number, seed, first, BATCH)
    complete = FAMILIES[number].complete
    if complete is not None:
        plans = complete(chance, plans, fly_plans(table, plans).alerts)
    return plans, fly_plans(table, plans).near
