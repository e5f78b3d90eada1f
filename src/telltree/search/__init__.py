"""How to look: searches for the formula of a grammar that minimises a fitness."""

from telltree.search.archive import Candidate, Moment
from telltree.search.genetic_programming import GeneticProgramming
from telltree.search.grammatical_evolution import GrammaticalEvolution
from telltree.search.monte_carlo import MonteCarlo
from telltree.search.search import Found, Objective, Progress, Scores, Search

__all__ = [
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
