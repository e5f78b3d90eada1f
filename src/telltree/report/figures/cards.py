"""Cards: the content of each box in a figure of a tree, and the size of the box. Nothing is drawn here."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from telltree.amounts import counted, percent
from telltree.data import Panel, check_labels
from telltree.report.figures.layout import Box
from telltree.report.figures.style import BODY, SMALL, lines_height
from telltree.report.figures.words import BOLD, drawable, width, wrapped
from telltree.tree import Leaf, Node, Tree

PAD = 0.09
BAR = 0.11
_NARROWEST, _LEAF_TEXT, _MOST_LINES = 1.25, 1.5, 16

Counts = tuple[int, ...]


@dataclass(frozen=True)
class Card:
    """One box: a formula or a category, how many records of each class came here, and the boxes below."""

    lines: tuple[str, ...]
    counts: Counts
    """Records of each class; empty if their labels are not known."""
    told: str
    """The same in words."""
    label: int | None
    """The class that a leaf predicts."""
    width: float
    children: tuple["Card", ...] = ()

    @property
    def height(self) -> float:
        """In inches: the lines, a bar if there are classes to show, the counts, and padding."""
        bar = BAR + PAD / 2 if self.counts else 0.0
        return 2 * PAD + lines_height(len(self.lines), BODY) + bar + lines_height(1, SMALL)

    def walk(self) -> Iterator["Card"]:
        """This card and all below it, in preorder."""
        yield self
        for child in self.children:
            yield from child.walk()

    def box(self) -> Box:
        """Only the sizes."""
        return Box(self.width, self.height, tuple(child.box() for child in self.children))


@dataclass(frozen=True)
class Census:
    """How many records come to each node and leaf, in preorder."""

    classes: tuple[Any, ...]
    """The classes to show; none if labels are not known."""
    counts: tuple[Counts, ...]
    totals: tuple[int, ...]


def census(tree: Tree, panel: Panel | None, y: Any) -> Census:
    """For the training records, or for those of a panel; by class if labels are given."""
    if panel is None:
        counts = tuple(_trained(tree.root))
        return Census(tree.classes, counts, tuple(map(sum, counts)))
    passes = tree.passes(panel)
    totals = tuple(int(n) for n in passes.sum(axis=0))
    if y is None:
        return Census((), ((),) * len(totals), totals)
    labels = check_labels(y, panel).tolist()
    classes = tuple(dict.fromkeys((*tree.classes, *labels)))  # unknown to the tree: last
    codes = np.array([classes.index(label) for label in labels], np.int64)
    counts = tuple(tuple(np.bincount(codes[here], minlength=len(classes)).tolist()) for here in passes.T)
    return Census(classes, counts, totals)


def _trained(node: Node | Leaf) -> Iterator[Counts]:
    yield node.counts
    if isinstance(node, Node):
        yield from _trained(node.true)
        yield from _trained(node.false)


def deal(tree: Tree, seen: Census, says: Callable[[Node], str], inches: float) -> Card:
    """The cards of a tree. `says` words its nodes, in lines of at most this many inches."""
    places, numbers = iter(range(len(seen.totals))), iter(range(1, len(tree.leaves) + 1))

    def make(node: Node | Leaf) -> Card:
        place = next(places)
        counts = seen.counts[place]
        if isinstance(node, Leaf):
            lines = wrapped(f"[{next(numbers)}] {tree.classes[node.label]}", _LEAF_TEXT, BODY, lines=3)
            lines += [f"by weight: {percent(node.weighted_share, 0)}"] if node.decided_by_weights else []
            children: tuple[Card, ...] = ()
        else:
            lines = wrapped(says(node), inches, BODY, lines=_MOST_LINES)
            children = make(node.true), make(node.false)
        wider = BOLD if isinstance(node, Leaf) else 1.0
        told = _told(seen.classes, counts, seen.totals[place])
        across = max(_NARROWEST, width(told, SMALL), *(wider * width(line, BODY) for line in lines))
        label = node.label if isinstance(node, Leaf) else None
        return Card(tuple(lines), counts, told, label, across + 2 * PAD, children)

    return make(tree.root)


def _told(classes: Sequence[Any], counts: Counts, total: int) -> str:
    """How many records of each class, largest first; of all classes together if that is too long."""
    largest = sorted((k for k, n in enumerate(counts) if n), key=lambda k: -counts[k])
    named = drawable(", ".join(f"{classes[k]}: {counts[k]}" for k in largest))
    if largest and width(named, SMALL) <= _LEAF_TEXT:
        return named
    several = f", {len(largest)} classes" if len(largest) > 1 else ""
    return f"{counted(total, 'record')}{several}"
