"""The defaults that the estimator and the command line share, so that both learn the same tree of the same data."""

DEFAULT_SEARCH = "auto"
"""The name of the search that `search=None` stands for."""
FOLDS = 5
"""In how many folds the command line judges a tree."""
RANDOM_STATE = 0
