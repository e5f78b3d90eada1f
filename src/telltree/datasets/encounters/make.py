"""`make_encounters`: encounters are drawn, flown, accepted and recorded."""

import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.checks import require_whole
from telltree.datasets.encounters.attributes import Columns, encoded, record, schema
from telltree.datasets.encounters.avoidance import load_table
from telltree.datasets.encounters.families import (
    FAMILIES,
    Chance,
    Floats,
    Plans,
    Whole,
    draw,
    offsets,
)
from telltree.datasets.encounters.flight_and_pilots import CHANNELS, STEPS, fly
from telltree.datasets.encounters.logic_table import Table, usable_cores
from telltree.errors import SettingsError
from telltree.panel import Panel
from telltree.panel.panel_data import PanelData
from telltree.panel.store import Store

# ---- Candidates are drawn, flown and accepted in order, until each family has its encounters.

BATCH = 256  # candidates flown together, whatever the number of threads
Batch = tuple[Plans, NDArray[np.bool_]]  # candidates, and flags of near collisions
Progress = Callable[[int, int], object]


@dataclass(frozen=True)
class Flights:
    """The results of flown plans."""

    trace: Floats  # encounter, second, aircraft, channel
    near: NDArray[np.bool_]
    alerts: Whole  # ticks of the first advisories


@dataclass(frozen=True)
class Accepted:
    """The plans of the accepted encounters, with their families and candidate numbers."""

    plans: Plans
    family: Whole
    candidate: Whole


def fly_plans(table: Table, plans: Plans, logic: bool = True) -> Flights:
    """Fly all plans, with the logic or without."""
    count = len(plans)
    trace = np.empty((count, STEPS, 2, CHANNELS))
    near, alerts = np.empty(count, np.bool_), np.empty((count, 2), np.int64)
    fly(table, offsets(plans.paths), plans.climbs, plans.biases, logic, 0, count, trace, near, alerts)
    return Flights(trace, near, alerts)


def quotas(n: int, nmac: int) -> Whole:
    """Return the numbers of encounters of each family without (column 0) and with a near collision (column 1)."""
    wanted = [[family.safe for family in FAMILIES], [family.near for family in FAMILIES]]
    return np.stack([_shared_out(n - nmac, wanted[0]), _shared_out(nmac, wanted[1])], axis=1)


def _shared_out(total: int, shares: list[int]) -> Whole:
    """Divide a total in these proportions into integers; the largest remainders are rounded up."""
    exact = [total * share for share in shares]  # in units of 1 / sum(shares), so that nothing is rounded yet
    whole = [part // sum(shares) for part in exact]
    by_remainder = sorted(range(len(shares)), key=lambda i: -(exact[i] % sum(shares)))
    for i in by_remainder[: total - sum(whole)]:
        whole[i] += 1
    return np.array(whole, np.int64)


def accept(table: Table, n: int, nmac: int, seed: int, *, threads: int, progress: Progress | None = None) -> Accepted:
    """Draw candidates until every family has its numbers."""
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
    """Yield accepted candidates of a family and their numbers; `wanted` are without and with near collisions."""
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
    """Yield batches of a family in order; a thread pool works ahead."""
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
    """Return a batch of candidates, and flags of near collisions."""
    plans, chance = draw(number, seed, first, BATCH)
    complete = FAMILIES[number].complete
    if complete is not None:
        plans = complete(chance, plans, fly_plans(table, plans).alerts)
    return plans, fly_plans(table, plans).near


# ---- Makes a data set of encounters.

_ORDER, _NOISE = 100, 101  # streams beside those of the families


class Encounters(NamedTuple):
    """Encounters of two aircraft, their outcomes and their families. Unpacks as `panel, y, family`."""

    panel: Panel
    y: NDArray[np.str_]
    family: NDArray[np.str_]


def make_encounters(
    n: int = 10_000,
    nmac: int = 863,
    seed: int = 0,
    *,
    threads: int | None = None,
    progress: Progress | None = None,
    logic: bool = True,
) -> Encounters:
    """Simulate encounters of two aircraft, 50 steps of one second each, in 77 mixed attributes.

    n, nmac: how many there are in all, and how many of them end in a near mid-air collision ("NMAC", the aircraft
        closer than 500 ft horizontally and 100 ft vertically at one instant; the others are "safe").
    seed: the same seed gives the same bytes, whatever the number of threads (None for all cores).
    progress: called with the number of encounters found so far, and n.
    logic: False flies the same encounters without the collision avoidance logic; then more of them end in an NMAC.

    The first call on a machine compiles, and solves the table of the logic, which it keeps in the user's cache folder.
    """
    _check(n, nmac, seed, threads)
    n, nmac, seed = int(n), int(nmac), int(seed)
    workers = usable_cores() if threads is None else threads
    table = load_table(workers)
    accepted = _shuffled(accept(table, n, nmac, seed, threads=workers, progress=progress), seed)
    columns, near = _recorded(table, accepted, seed, workers, logic)
    lengths = np.full(n, STEPS, np.int64)
    panel = Panel._of(PanelData(schema(), Store(lengths, columns, {}), np.arange(n), 1.0, "s", ()))
    names = np.array([family.name for family in FAMILIES])
    return Encounters(panel, np.where(near, "NMAC", "safe"), names[accepted.family])


def _check(n: int, nmac: int, seed: int, threads: int | None) -> None:
    for name, value, least in (("n", n, 1), ("nmac", nmac, 0), ("seed", seed, 0), ("threads", threads, 1)):
        if not (name == "threads" and value is None):
            require_whole(name, value, least)
    if nmac > n:
        raise SettingsError(f"nmac must not be more than n: there cannot be {nmac} collisions in {n} encounters")


def _identity(accepted: Accepted) -> NDArray[np.int64]:
    """Return a number for each encounter that depends only on its family and candidate number."""
    return accepted.candidate * len(FAMILIES) + accepted.family


def _shuffled(accepted: Accepted, seed: int) -> Accepted:
    """Shuffle encounters, so that every part of the panel has all families."""
    order = np.argsort(Chance(seed, _ORDER, _identity(accepted)).uniform(0, 1), kind="stable")
    return Accepted(accepted.plans.take(order), accepted.family[order], accepted.candidate[order])


def _recorded(
    table: Table, accepted: Accepted, seed: int, threads: int, logic: bool
) -> tuple[Columns, NDArray[np.bool_]]:
    """Fly the accepted encounters once more, and record them."""
    identity = _identity(accepted)

    def part(first: int) -> tuple[Columns, NDArray[np.bool_]]:
        chosen = slice(first, first + BATCH)
        plans = accepted.plans.take(chosen)
        flights = fly_plans(table, plans, logic)
        columns = record(plans, flights.trace, Chance(seed, _NOISE, identity[chosen]))
        return {name: encoded(values) for name, values in columns.items()}, flights.near

    with ThreadPoolExecutor(threads) as pool:
        parts = list(pool.map(part, range(0, len(identity), BATCH)))
    columns = {name: np.concatenate([columns[name] for columns, _ in parts]) for name in schema()}
    return columns, np.concatenate([near for _, near in parts])
