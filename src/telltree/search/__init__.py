"""How to look: searches for the formula of a grammar that minimises a fitness."""

from collections.abc import Mapping

from telltree.search.archive import Candidate, Moment
from telltree.search.genetic_programming import GeneticProgramming
from telltree.search.grammatical_evolution import GrammaticalEvolution
from telltree.search.monte_carlo import MonteCarlo
from telltree.search.search import Found, Objective, Progress, Scores, Search

SEARCHES: Mapping[str, type[Search]] = {"gp": GeneticProgramming, "mc": MonteCarlo, "ge": GrammaticalEvolution}
"""All searches, by the names that they have on the command line."""

__all__ = [
    "SEARCHES",
    "Candidate",
    "Found",
    "GeneticProgramming",
    "GrammaticalEvolution",
    "Moment",
    "MonteCarlo",
    "Objective",
    "Progress",
    "Scores",
    "Search",
]
