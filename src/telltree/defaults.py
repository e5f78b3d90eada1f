"""Defaults that the library and the command line share, so that both give the same results on the same data."""

DEFAULT_SEARCH = "auto"
"""Name of the search that `search=None` stands for."""
FOLDS = 5
"""Number of folds in which the command line judges a tree."""
RANDOM_STATE = 0
TRIALS = 20
"""Number of trials of an experiment."""
SIMULATED_ENCOUNTERS = 10_000
"""Number of simulated encounters of an experiment."""
