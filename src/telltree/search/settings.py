"""Checks of settings: a search refuses what makes no sense before it starts."""

import math
from numbers import Real
from typing import Literal, get_args

import numpy as np

from telltree.errors import SettingsError

PaperExperiment = Literal["auslan", "acasx"]
"""The paper's experiments, which its authors ran with different budgets."""


MOST_INDIVIDUALS = 1_000_000
"""Of a population: some gigabytes. Beyond it, machines fall silent before they refuse."""
MOST_CODONS = 10_000
MOST_TRIED = 2**53
MOST_KEPT = 100_000


def require_whole(name: str, value: object, least: int | None = None, most: int | None = None) -> None:
    """SettingsError unless the setting is a whole number, of at least `least` and at most `most` if they are given."""
    whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not whole or (least is not None and value < least) or (most is not None and value > most):  # type: ignore[operator]
        much = whole and most is not None and value > most  # type: ignore[operator]
        bounds = f" of at most {most:,}" if much else "" if least is None else f" of at least {least}"
        raise SettingsError(f"{name} must be a whole number{bounds}, got {_shown(value)}")


def _shown(value: object) -> str:
    """The value as Python has it, which refuses to write whole numbers of thousands of digits."""
    return "one of very many digits" if isinstance(value, int) and value.bit_length() > 1_000 else repr(value)


def require_positive(name: str, value: object) -> None:
    """SettingsError unless the setting is a number of more than 0."""
    if not (_is_number(value) and value > 0):  # type: ignore[operator]
        raise SettingsError(f"{name} must be a number of more than 0, got {value!r}")


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
