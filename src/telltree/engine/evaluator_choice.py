"""The choice of an evaluator by hand, so that a small reproduction runs the same code as a large data set."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

from telltree.errors import SettingsError

EVALUATORS = ("auto", "interpreted", "compiled", "bitsets")
VARIABLE = "TELLTREE_EVALUATOR"
_chosen: list[str] = []


@contextmanager
def use_evaluator(name: str) -> Iterator[None]:
    """Evaluate the formulas of trees, users and reports with one evaluator, in all threads of this process.

    "interpreted" traces each record step by step in plain Python, "compiled" does so compiled, and "bitsets" evaluates
    64 records at a time, as searches always do; "auto" takes the fastest, by the amount of work and the code that is
    compiled already. Results are the same; the choice is for debugging. The environment variable TELLTREE_EVALUATOR
    chooses for a whole process.
    """
    _chosen.append(_checked(name, "use_evaluator"))
    try:
        yield
    finally:
        _chosen.pop()


def chosen_evaluator() -> str:
    """Return the name of the evaluator in use."""
    return _chosen[-1] if _chosen else _checked(os.environ.get(VARIABLE, "auto"), VARIABLE)


def _checked(name: str, place: str) -> str:
    if name not in EVALUATORS:
        raise SettingsError(f"{place} must be one of {', '.join(map(repr, EVALUATORS))}, got {name!r}")
    return name
