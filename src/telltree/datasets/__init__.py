"""Examples to learn from: the Auslan signs of the paper, and simulated encounters of two aircraft.

Names are loaded when first used, so that importing this package compiles nothing and reads nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what runs
    from telltree.datasets.auslan import Auslan as Auslan
    from telltree.datasets.auslan import load_auslan as load_auslan
    from telltree.datasets.encounters import Encounters as Encounters
    from telltree.datasets.encounters import make_encounters as make_encounters

_HOMES = {
    "Auslan": "auslan",
    "load_auslan": "auslan",
    "Encounters": "encounters",
    "make_encounters": "encounters",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> object:
    """Load a public name from its file, and keep it, so that this runs once a name."""
    if name not in _HOMES:
        raise AttributeError(f"module 'telltree.datasets' has no attribute {name!r}")
    value: object = getattr(import_module(f"telltree.datasets.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
