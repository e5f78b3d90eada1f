"""Learning trees: the criterion, the search for each split, induction, pruning, and the tree itself."""

from typing import TYPE_CHECKING

from telltree.lazy import lazily

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what runs
    from telltree.tree.criterion import MDL as MDL
    from telltree.tree.criterion import Criterion as Criterion
    from telltree.tree.criterion import GiniSize as GiniSize
    from telltree.tree.induction import GrowthResult as GrowthResult
    from telltree.tree.induction import grow as grow
    from telltree.tree.settings import Greedy as Greedy
    from telltree.tree.settings import Growth as Growth
    from telltree.tree.settings import LookAhead as LookAhead
    from telltree.tree.settings import Optimal as Optimal
    from telltree.tree.settings import TreeSettings as TreeSettings
    from telltree.tree.split_search import NodeProgress as NodeProgress
    from telltree.tree.tree import Leaf as Leaf
    from telltree.tree.tree import Node as Node
    from telltree.tree.tree import Tree as Tree

_HOMES = {
    "MDL": "criterion",
    "Criterion": "criterion",
    "GiniSize": "criterion",
    "Leaf": "tree",
    "GrowthResult": "induction",
    "Greedy": "settings",
    "Growth": "settings",
    "LookAhead": "settings",
    "Node": "tree",
    "NodeProgress": "split_search",
    "Optimal": "settings",
    "Tree": "tree",
    "TreeSettings": "settings",
    "grow": "induction",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - the keys of the table are strings

__getattr__, __dir__ = lazily(__name__, _HOMES)
