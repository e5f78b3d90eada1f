"""What the paper reports, for comparison with what is measured here."""

from collections.abc import Mapping
from typing import NamedTuple

SOURCE = (
    "R. Lee, M. J. Kochenderfer, O. J. Mengshoel, J. Silbermann: Interpretable Categorization of Heterogeneous Time "
    "Series Data, SIAM International Conference on Data Mining, 2018"
)


class Figures(NamedTuple):
    """One column of a table of the paper: means over 20 trials; precision, recall and F1 are macro averages."""

    accuracy: float
    f1: float
    precision: float
    recall: float
    terminals: float | None = None


AUSLAN: Mapping[str, Figures] = {  # table 1
    "mc": Figures(0.9840, 0.9840, 0.9857, 0.9840, 3.70),
    "ge": Figures(0.9847, 0.9845, 0.9872, 0.9847, 3.74),
    "gp": Figures(0.9868, 0.9867, 0.9884, 0.9868, 3.59),
    "tree": Figures(0.7585, 0.7085, 0.6869, 0.7672),
    "forest": Figures(0.9838, 0.9838, 0.9851, 0.9841),
    "bayes": Figures(0.6862, 0.6674, 0.7025, 0.6867),
}
ACASX: Mapping[str, Figures] = {  # table 2
    "mc": Figures(0.9577, 0.8765, 0.8505, 0.9102, 5.54),
    "ge": Figures(0.9583, 0.8768, 0.8546, 0.9050, 5.56),
    "gp": Figures(0.9587, 0.8779, 0.8553, 0.9053, 5.38),
    "tree": Figures(0.9378, 0.8038, 0.8025, 0.8083),
    "forest": Figures(0.9251, 0.6130, 0.8961, 0.5778),
    "bayes": Figures(0.8705, 0.7126, 0.6799, 0.8187),
}
TERMINALS_NOTE = (
    "terminals: by the paper's definition F(x < c) has four, F, x, < and c, and so has any rule on real attributes at "
    "least; how the paper comes to fewer on Auslan it does not say"
)
