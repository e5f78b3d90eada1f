"""Simulated encounters of two aircraft with a collision avoidance logic on board.

In the order of the work: `advisories` and `table` (the logic, solved offline), `avoidance` (the logic in flight),
`flight` (aircraft and pilots), `families` (the plans that are flown), `recording` (the records of flights), `make`
(draw, fly, accept and record).
"""

from telltree.datasets.encounters.avoidance import CODES, advised
from telltree.datasets.encounters.make import Encounters, make_encounters
from telltree.datasets.encounters.recording import ADVISORIES, PROXIMITY

__all__ = ["ADVISORIES", "CODES", "PROXIMITY", "Encounters", "advised", "make_encounters"]
