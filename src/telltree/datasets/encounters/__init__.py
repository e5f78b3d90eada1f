"""Simulated encounters of two aircraft with a collision avoidance logic on board.

In the order of the work: `advisories` (what the logic may advise, and its costs), `logic_table` (the logic, solved
offline), `avoidance` (the logic in flight), `flight` (aircraft and pilots), `families` (what they intend), `attributes`
(what is recorded), `make` (encounters are drawn, flown and accepted).
"""

from telltree.datasets.encounters.attributes import ADVISORIES, PROXIMITY
from telltree.datasets.encounters.avoidance import CODES, advised
from telltree.datasets.encounters.make import Encounters, make_encounters

__all__ = ["ADVISORIES", "CODES", "PROXIMITY", "Encounters", "advised", "make_encounters"]
