"""Makes a data set of encounters."""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel
from telltree.data.records.assemble import Parts
from telltree.data.store import Store
from telltree.datasets.encounters.attributes import schema
from telltree.datasets.encounters.cache import load_table
from telltree.datasets.encounters.chance import Chance
from telltree.datasets.encounters.families import FAMILIES
from telltree.datasets.encounters.flight import STEPS
from telltree.datasets.encounters.generate import BATCH, Accepted, Progress, accept, fly_plans
from telltree.datasets.encounters.recording import Columns, encoded, record
from telltree.datasets.encounters.table import Table, usable_cores
from telltree.errors import SettingsError
from telltree.whole import require_whole

_ORDER, _NOISE = 100, 101  # streams beside those of the families


class Encounters(NamedTuple):
    """Encounters of two aircraft, how each ended, and what family it is of. Unpacks as `panel, y, family`."""

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
    panel = Panel._whole(Parts(schema(), Store(lengths, columns, {}), np.arange(n), 1.0, "s", ()))
    names = np.array([family.name for family in FAMILIES])
    return Encounters(panel, np.where(near, "NMAC", "safe"), names[accepted.family])


def _check(n: int, nmac: int, seed: int, threads: int | None) -> None:
    for name, value, least in (("n", n, 1), ("nmac", nmac, 0), ("seed", seed, 0), ("threads", threads, 1)):
        if not (name == "threads" and value is None):
            require_whole(name, value, least)
    if nmac > n:
        raise SettingsError(f"nmac must not be more than n: there cannot be {nmac} collisions in {n} encounters")


def _identity(accepted: Accepted) -> NDArray[np.int64]:
    """A number for each encounter that depends only on its family and candidate number."""
    return accepted.candidate * len(FAMILIES) + accepted.family


def _shuffled(accepted: Accepted, seed: int) -> Accepted:
    """In random order, so that every part of the panel has all families."""
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
