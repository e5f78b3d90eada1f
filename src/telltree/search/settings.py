"""Checks of settings: a search refuses invalid ones before it starts."""

import math
from numbers import Real
from typing import Literal, get_args

from telltree.errors import SettingsError

PaperExperiment = Literal["auslan", "acasx"]
"""The paper's experiments, which its authors ran with different budgets."""

PAPER_DEPTHS = {"auslan": 6, "acasx": 4}
"""Of the trees in each of them."""

MOST_INDIVIDUALS = 1_000_000
"""The largest population, which takes some gigabytes. With more, machines hang before they refuse."""
MOST_CODONS = 10_000
MOST_TRIED = 2**53
MOST_KEPT = 100_000


def require_positive(name: str, value: object) -> None:
    """SettingsError unless the setting is a number above 0."""
    if not (_is_number(value) and value > 0):  # type: ignore[operator]
        raise SettingsError(f"{name} must be a number of more than 0, got {value!r}")


def require_not_negative(name: str, value: object) -> None:
    """SettingsError unless the setting is a number of at least 0, and not infinite."""
    if not (_is_number(value) and 0 <= value < math.inf):  # type: ignore[operator]
        raise SettingsError(f"{name} must be a number of at least 0, got {value!r}")


def require_share(name: str, value: object) -> None:
    """SettingsError unless the setting is a probability or share."""
    if not (_is_number(value) and 0 <= value <= 1):  # type: ignore[operator]
        raise SettingsError(f"{name} must be a number between 0 and 1, got {value!r}")


def require_experiment(name: object) -> None:
    """SettingsError unless it is one of the paper's experiments."""
    known = get_args(PaperExperiment)
    if name not in known:
        raise SettingsError(f"the paper's experiments are {' and '.join(map(repr, known))}, got {name!r}")


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not math.isnan(value)
