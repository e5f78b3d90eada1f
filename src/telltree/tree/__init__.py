"""What is learned: fitness, induction, and the tree itself."""

from typing import TYPE_CHECKING

from telltree.lazy import lazily

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what runs
    from telltree.tree.asking import Limits as Limits
    from telltree.tree.asking import NodeProgress as NodeProgress
    from telltree.tree.bits import Bits as Bits
    from telltree.tree.fitness import Fitness as Fitness
    from telltree.tree.fitness import GiniSize as GiniSize
    from telltree.tree.growth.settings import LookAhead as LookAhead
    from telltree.tree.growth.settings import Optimal as Optimal
    from telltree.tree.induction import Induction as Induction
    from telltree.tree.induction import Learned as Learned
    from telltree.tree.tree import Leaf as Leaf
    from telltree.tree.tree import Node as Node
    from telltree.tree.tree import Tree as Tree

_HOMES = {
    "Bits": "bits",
    "Fitness": "fitness",
    "GiniSize": "fitness",
    "Induction": "induction",
    "Leaf": "tree",
    "Learned": "induction",
    "Limits": "asking",
    "LookAhead": "growth.settings",
    "Node": "tree",
    "NodeProgress": "asking",
    "Optimal": "growth.settings",
    "Tree": "tree",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - the keys of the table are strings

__getattr__, __dir__ = lazily(__name__, _HOMES)
