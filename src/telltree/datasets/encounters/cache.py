"""The table is solved once and stored in the user's cache folder, under a name derived from its parameters."""

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
_DIGEST = 32  # bytes of the checksum before the numbers
_STORED = np.dtype("<f4")


def load_table(threads: int) -> Table:
    """Return the table from the cache; if it is missing or damaged, solve it and store it there.

    If nothing can be written, it is solved each time.
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
    """Where the table for these parameters is stored."""
    said = "\n".join(_constants(advisories) + _constants(table))
    name = hashlib.sha256(said.encode()).hexdigest()[:16]
    return platformdirs.user_cache_path("telltree", appauthor=False) / f"avoidance-{name}.table"


def _constants(module: ModuleType) -> list[str]:
    """All constants of a module, defined or imported: the names in capitals."""
    values = {name: value for name, value in vars(module).items() if name.isupper()}
    return [f"{name} = {np.asarray(value).tolist()!r}" for name, value in sorted(values.items())]


def _read(place: Path) -> Table | None:
    """The table in a file, or None if the file is missing or damaged."""
    try:
        content = place.read_bytes()
    except OSError:
        return None
    checksum, numbers = content[:_DIGEST], content[_DIGEST:]
    if hashlib.sha256(numbers).digest() != checksum or len(numbers) != np.prod(_SHAPE) * _STORED.itemsize:
        return None
    return np.frombuffer(numbers, _STORED).reshape(_SHAPE).astype(np.float32)
