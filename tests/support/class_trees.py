"""Trees of classes, written by hand: leaves by their counts, which their tree tells what the classes are called."""

from dataclasses import replace

from telltree.tree import Leaf, Tree
from telltree.tree.class_target import ClassSummary, ClassTarget


def class_leaf(counts, weights=None):
    """A leaf of so many records of each class, and their weights if they do not weigh one each."""
    weights = tuple(map(float, counts)) if weights is None else weights
    return Leaf(ClassSummary(ClassTarget(tuple(range(len(counts)))), tuple(counts), weights))


def class_tree(root, classes, schema, *more, **named):
    """A tree whose leaves are of these classes."""
    target = ClassTarget(tuple(classes))

    def below(node):
        if isinstance(node, Leaf):
            return replace(node, summary=replace(node.summary, target=target))
        return replace(node, true=below(node.true), false=below(node.false))

    return Tree(below(root), schema, *more, **named)
