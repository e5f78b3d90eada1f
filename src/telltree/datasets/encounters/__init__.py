"""Simulated encounters of two aircraft with a collision avoidance logic on board.

In the order of the work: `advisories` and `table` (the logic, solved offline), `cache` (where it is stored),
`avoidance` (the logic in flight), `flight` (aircraft and pilots), `plans` and `families` (what is flown), `generate`
(draw and accept), `attributes` and `recording` (what is recorded), `make` (all together), `policy` (what the logic
would say).
"""

from telltree.datasets.encounters.avoidance import CODES, advised
from telltree.datasets.encounters.make import Encounters, make_encounters
from telltree.datasets.encounters.recording import ADVISORIES, PROXIMITY

__all__ = ["ADVISORIES", "CODES", "PROXIMITY", "Encounters", "advised", "make_encounters"]
