"""Checks of settings that are numbers."""

import math
from numbers import Integral, Real
from typing import Literal, get_args

from telltree.errors import SettingsError

# ---- Checks of integer settings.


def is_whole(value: object, least: int | None = None, most: int | None = None) -> bool:
    """Return True if the value is an integer within the bounds; True and False are none."""
    if not isinstance(value, Integral) or isinstance(value, bool):
        return False
    return (least is None or int(value) >= least) and (most is None or int(value) <= most)


def require_whole(name: str, value: object, least: int | None = None, most: int | None = None) -> None:
    """Raise SettingsError unless the setting is an integer within the bounds."""
    if is_whole(value, least, most):
        return
    too_much = most is not None and is_whole(value, most)
    bounds = f" of at most {most:,}" if too_much else "" if least is None else f" of at least {least}"
    raise SettingsError(f"{name} must be a whole number{bounds}, got {_shown(value)}")


def _shown(value: object) -> str:
    """The value for messages; Python refuses to write integers of thousands of digits."""
    return "one of very many digits" if isinstance(value, int) and value.bit_length() > 1_000 else repr(value)


# ---- Checks of settings: a search refuses invalid ones before it starts.

PaperExperiment = Literal["auslan", "acasx"]
"""The paper's experiments, which its authors ran with different budgets."""

PAPER_DEPTHS = {"auslan": 6, "acasx": 4}
"""The depth of the trees in each of them."""

MOST_INDIVIDUALS = 1_000_000
"""The largest population, which takes some gigabytes. With more, machines hang before they refuse."""
MOST_CODONS = 10_000
MOST_TRIED = 2**53
MOST_KEPT = 100_000


def require_positive(name: str, value: object) -> None:
    """Raise SettingsError unless the setting is a number above 0."""
    if not (is_number(value) and value > 0):  # type: ignore[operator]
        raise SettingsError(f"{name} must be a number of more than 0, got {value!r}")


def require_not_negative(name: str, value: object) -> None:
    """Raise SettingsError unless the setting is a finite number of at least 0."""
    if not (is_number(value) and 0 <= value < math.inf):  # type: ignore[operator]
        raise SettingsError(f"{name} must be a number of at least 0, got {value!r}")


def require_share(name: str, value: object) -> None:
    """Raise SettingsError unless the setting is a probability or share."""
    if not (is_number(value) and 0 <= value <= 1):  # type: ignore[operator]
        raise SettingsError(f"{name} must be a number between 0 and 1, got {value!r}")


def require_experiment(name: object) -> None:
    """Raise SettingsError unless the setting names one of the paper's experiments."""
    known = get_args(PaperExperiment)
    if name not in known:
        raise SettingsError(f"the paper's experiments are {' and '.join(map(repr, known))}, got {name!r}")


def is_number(value: object) -> bool:
    """Return True if the value is a real number; infinite ones are."""
    return isinstance(value, Real) and not math.isnan(value)
