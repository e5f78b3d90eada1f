"""Defaults that the estimator and the command line share, so that both learn the same tree from the same data."""

DEFAULT_SEARCH = "auto"
"""The name of the search that `search=None` stands for."""
FOLDS = 5
"""The number of folds in which the command line evaluates a tree."""
RANDOM_STATE = 0
