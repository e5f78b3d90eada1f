"""The aircraft encounters that the paper analyses: two aircraft that meet, both with ACAS X 0.9.8 aboard."""

from telltree.datasets.acasx.advisories import advised_flights
from telltree.datasets.acasx.load import Acasx, find_acasx, load_acasx

__all__ = ["Acasx", "advised_flights", "find_acasx", "load_acasx"]
