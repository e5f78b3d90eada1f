"""How hypothesis runs, and what several files of tests share: panels, a tree to draw, a browser, a cache."""

import os
import random
from pathlib import Path

import pytest
from hypothesis import settings

from tests.support.browser import opened_browser
from tests.support.strategies import Column, panel_of

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".numba_cache"))

# The same examples every time, so that a failure here fails there; kernels compile at their first call.
settings.register_profile("telltree", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("telltree")


def mixed_records(number, seed=0):
    """Ragged records of all column types, a few values missing, in plain Python."""
    rng = random.Random(seed)

    def steps(length, draw):
        return [None if rng.random() < 0.03 else draw() for _ in range(length)]

    lengths = [rng.randint(1, 6) for _ in range(number)]
    return [
        {
            "speed": steps(length, lambda: round(rng.gauss(0, 2), 2)),
            "height": steps(length, lambda: float(rng.randrange(5))),
            "on": steps(length, lambda: rng.random() < 0.3),
            "mode": steps(length, lambda: rng.choice(("up", "down", "level"))),
        }
        for length in lengths
    ]


MIXED = (Column("speed", "real"), Column("height", "real"), Column("on", "Boolean"), Column("mode", "categorical"))


def mixed_labels(records):
    """Three classes that formulas tell apart."""
    fast = [any(x is not None and x > 2.5 for x in record["speed"]) for record in records]
    high = [any(h is not None and h >= 4 for h in record["height"]) for record in records]
    return ["fast" if f else "high" if h else "calm" for f, h in zip(fast, high, strict=True)]


@pytest.fixture(scope="session")
def plain():
    """The records of `panel`, as the oracle reads them."""
    return mixed_records(60)


@pytest.fixture(scope="session")
def panel(plain):
    """Sixty ragged records with columns of every type."""
    return panel_of(MIXED, plain)


@pytest.fixture(scope="session")
def labels(plain):
    """Three classes that formulas can nearly tell apart."""
    found = mixed_labels(plain)
    found[7] = "calm" if found[7] != "calm" else "high"
    return found


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    """One browser for all reports that are looked at."""
    with opened_browser(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="session")
def flights():
    """Four records to draw figures of."""
    from tests.support.figure_cases import make_flights  # which imports matplotlib, and few tests need that

    return make_flights()


@pytest.fixture(scope="session")
def ends():
    """How the flights ended."""
    return ["hit", "miss", "miss", "hit"]


@pytest.fixture(scope="session")
def tree(flights):
    """A tree for the flights."""
    from tests.support.figure_cases import make_tree

    return make_tree(flights)


@pytest.fixture(scope="session")
def tables_folder(tmp_path_factory):
    """One for all: a table takes seconds to work out."""
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="module")
def cache_folder(tables_folder):
    """Where tests that use the cache of tables keep it: they leave the user's own alone."""
    import platformdirs

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(platformdirs, "user_cache_path", lambda *args, **kwargs: tables_folder)
        yield tables_folder
