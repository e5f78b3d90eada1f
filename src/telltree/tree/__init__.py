"""What is learned: fitness, induction, and the tree itself."""

from telltree.tree.asking import Limits, NodeProgress
from telltree.tree.bits import Bits
from telltree.tree.fitness import Fitness, GiniSize
from telltree.tree.induction import Induction, Learned
from telltree.tree.tree import Leaf, Node, Tree

__all__ = ["Bits", "Fitness", "GiniSize", "Induction", "Leaf", "Learned", "Limits", "Node", "NodeProgress", "Tree"]
