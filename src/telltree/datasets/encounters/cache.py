"""The table is solved once and kept in the user's cache folder, under a name that follows from its parameters."""

import hashlib
import logging
from pathlib import Path
from types import ModuleType

import numpy as np
import platformdirs

from telltree.datasets.encounters import advisories, table
from telltree.datasets.encounters.table import HEIGHTS, RATES, SECONDS, Table, solve_table
from telltree.writing import write_whole

logger = logging.getLogger("telltree")

_SHAPE = SECONDS, len(HEIGHTS), len(RATES), len(RATES), 2, advisories.NUMBER
_DIGEST = 32  # bytes of a checksum in front of the numbers
_STORED = np.dtype("<f4")


def load_table(threads: int) -> Table:
    """Give the table from the cache; if it is not there, or damaged, solve it and put it there.

    Where nothing can be written it is solved each time.
    """
    place = cache_path()
    found = _read(place)
    if found is not None:
        return found
    solved = solve_table(threads=threads)
    numbers = solved.astype(_STORED).tobytes()
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        write_whole(place, hashlib.sha256(numbers).digest() + numbers)
    except OSError as error:
        logger.info("the table of the avoidance logic is not kept: %s", error)
    return solved


def cache_path() -> Path:
    """Where the table of these parameters is kept."""
    said = "\n".join(_constants(advisories) + _constants(table))
    name = hashlib.sha256(said.encode()).hexdigest()[:16]
    return platformdirs.user_cache_path("telltree", appauthor=False) / f"avoidance-{name}.table"


def _constants(module: ModuleType) -> list[str]:
    """Every figure a module defines, or takes from elsewhere, by its name in capitals."""
    values = {name: value for name, value in vars(module).items() if name.isupper()}
    return [f"{name} = {np.asarray(value).tolist()!r}" for name, value in sorted(values.items())]


def _read(place: Path) -> Table | None:
    """The table of a file, or None if the file is not there or is not what was written."""
    try:
        content = place.read_bytes()
    except OSError:
        return None
    checksum, numbers = content[:_DIGEST], content[_DIGEST:]
    if hashlib.sha256(numbers).digest() != checksum or len(numbers) != np.prod(_SHAPE) * _STORED.itemsize:
        return None
    return np.frombuffer(numbers, _STORED).reshape(_SHAPE).astype(np.float32)
