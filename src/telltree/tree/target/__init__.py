"""What trees learn to tell: a target, what records are worth to it, and what a leaf says of its own."""

from telltree.tree.target.class_sureness import ClassSureness
from telltree.tree.target.classes import ClassLabels, ClassSummary, ClassTarget
from telltree.tree.target.kinds import read_target, register_target
from telltree.tree.target.target import Bar, Cell, Labels, Measure, Scores, Summary, Sureness, Target, Tile, Words

__all__ = [
    "Bar",
    "Cell",
    "ClassLabels",
    "ClassSummary",
    "ClassSureness",
    "ClassTarget",
    "Labels",
    "Measure",
    "Scores",
    "Summary",
    "Sureness",
    "Target",
    "Tile",
    "Words",
    "read_target",
    "register_target",
]
