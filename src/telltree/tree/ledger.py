"""The ledger of a tree: what came of its nodes so far, and how far the search of the node at hand is.

Induction asks it before it asks a node, and tells it afterwards. This one remembers nothing; `tree/checkpoint.py` has
one that does, in a file.
"""

import numpy as np
from numpy.typing import NDArray

from telltree.search.search import Remember
from telltree.search.state import State
from telltree.tree.asking import Answer, Asking, Task


class Ledger:
    """Remembers nothing."""

    def answer(self, task: Task, asking: Asking) -> Answer | None:
        """What came of a node before; None if it must be asked."""
        return None

    def under_way(self, task: Task, cuts: NDArray[np.int64]) -> tuple[State | None, Remember | None]:
        """The state from which the search of a node goes on, and who is told its later ones.

        A state has hashes of splits, so it is of use only where the records are cut into shards alike.
        """
        return None, None

    def finished(self, task: Task, answer: Answer) -> None:
        """Told what came of a node, unless that was cut short."""


NO_LEDGER = Ledger()
