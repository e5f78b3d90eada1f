"""Profiles of Hypothesis, a check for skipped tests, and fixtures for several files: panels, figures, a browser."""

import os
import re
from pathlib import Path

import pytest

from tests.support.browser import opened_browser
from tests.support.effort import load_profiles
from tests.support.mixed_records import MIXED, mixed_labels, mixed_records
from tests.support.strategies import panel_of

os.environ.setdefault("NUMBA_CACHE_DIR", str(Path(__file__).parents[1] / ".numba_cache"))

load_profiles()

TESTS = Path(__file__).parent
LONG = (
    "project/test_docs.py",
    "scale/test_dask.py",
    "engine/test_kernels.py",
    "report/test_browser.py",
    "search/test_contract.py",
    "project/test_notebook.py",
    "experiments/test_run.py",
    "scale/test_checkpoint.py",
    "cli/test_verbs.py",
    "cli/test_terminal.py",
    "project/test_locales.py",
    "project/test_read_only.py",
    "logic/test_operators.py",
    "engine/test_boundaries.py",
    "explain/test_categories.py",
    "estimators/test_forest.py",
)
"""The files that take longest. They run first, so that no process is left with one when the other has ended."""
MISSING = pytest.StashKey()
ALLOWED_SKIPS = re.compile("real data|root may|SCIPY_ARRAY_API|mount|cannot be had")
"""Reasons to skip a test although everything is installed that can be."""


def pytest_addoption(parser):
    parser.addoption(
        "--complete", action="store_true", help="fail if a test is skipped for want of a program or package"
    )


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: item.path.relative_to(TESTS).as_posix() not in LONG)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session):
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if session.config.getoption("complete") and reporter is not None:
        reasons = {report.longrepr[2] for report in reporter.stats.get("skipped", []) if report.longrepr}
        session.config.stash[MISSING] = missing = sorted(r for r in reasons if not ALLOWED_SKIPS.search(r))
        if missing and session.exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter, config):
    for reason in config.stash.get(MISSING, ()):
        terminalreporter.write_line(f"--complete: {reason}", red=True)


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
