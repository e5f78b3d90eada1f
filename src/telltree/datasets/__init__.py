"""Data sets: the aircraft encounters and the signs of the paper, and simulated encounters.

Names are loaded when first used, so that importing this package compiles nothing and reads nothing.
"""

from typing import TYPE_CHECKING

from telltree.lazy import lazily

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what runs
    from telltree.datasets.acasx.load import Acasx as Acasx
    from telltree.datasets.acasx.load import load_acasx as load_acasx
    from telltree.datasets.auslan import Auslan as Auslan
    from telltree.datasets.auslan import load_auslan as load_auslan
    from telltree.datasets.encounters.make import Encounters as Encounters
    from telltree.datasets.encounters.make import make_encounters as make_encounters

_HOMES = {
    "Acasx": "acasx",
    "load_acasx": "acasx",
    "Auslan": "auslan",
    "load_auslan": "auslan",
    "Encounters": "encounters",
    "make_encounters": "encounters",
}

__all__ = list(_HOMES)

__getattr__, __dir__ = lazily(__name__, _HOMES)
