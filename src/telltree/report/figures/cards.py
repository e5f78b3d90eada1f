"""Cards: the content of each box in a figure of a tree, and the size of the box. Nothing is drawn here."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from telltree.amounts import counted
from telltree.data import Panel
from telltree.report.figures.layout import Box
from telltree.report.figures.style import BODY, SMALL, lines_height
from telltree.report.figures.words import BOLD, drawable, width, wrapped
from telltree.tree import Leaf, Node, Tree
from telltree.tree.target import Summary, Target

PAD = 0.09
BAR = 0.11
_NARROWEST, _LEAF_TEXT, _MOST_LINES = 1.25, 1.5, 16

Counts = tuple[int, ...]


@dataclass(frozen=True)
class Card:
    """One box: a formula or a category, how many records of each part came here, and the boxes below."""

    lines: tuple[str, ...]
    counts: Counts
    """Records in each part of the target; empty if their labels are not known."""
    told: str
    """The same in words."""
    part: int | None
    """In whose colours what a leaf predicts is drawn."""
    width: float
    children: tuple["Card", ...] = ()

    @property
    def height(self) -> float:
        """In inches: the lines, a bar if there are parts to show, the counts, and room round them."""
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

    target: Target
    parts: tuple[Any, ...]
    """Those of the target that are shown; none if labels are not known."""
    counts: tuple[Counts, ...]
    totals: tuple[int, ...]


def census(tree: Tree, panel: Panel | None, y: Any) -> Census:
    """Of the training records, or of those of a panel; by part of the target if labels are given."""
    if panel is None:
        found = list(_trained(tree.root))
        supports = tuple(said.support for said in found)
        return Census(tree.target, tree.target.parts, tuple(said.parts for said in found), supports)
    passes = tree.passes(panel)
    totals = tuple(int(n) for n in passes.sum(axis=0))
    if y is None:
        return Census(tree.target, (), ((),) * len(totals), totals)
    labels = tree.target.read(y, panel)
    counts = tuple(labels[here].summary().parts for here in passes.T)
    return Census(labels.target, labels.target.parts, counts, totals)


def _trained(node: Node | Leaf) -> Iterator[Summary]:
    yield node.summary
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
            lines = wrapped(f"[{next(numbers)}] {node.summary.title}", _LEAF_TEXT, BODY, lines=3)
            lines += [node.summary.brief_remark] if node.summary.brief_remark else []
            children: tuple[Card, ...] = ()
        else:
            lines = wrapped(says(node), inches, BODY, lines=_MOST_LINES)
            children = make(node.true), make(node.false)
        wider = BOLD if isinstance(node, Leaf) else 1.0
        told = _told(seen, counts, seen.totals[place])
        across = max(_NARROWEST, width(told, SMALL), *(wider * width(line, BODY) for line in lines))
        part = node.summary.part if isinstance(node, Leaf) else None
        return Card(tuple(lines), counts, told, part, across + 2 * PAD, children)

    return make(tree.root)


def _told(seen: Census, counts: Counts, total: int) -> str:
    """How many records of each part, largest first; of all parts together if that is too much to say."""
    largest = sorted((k for k, n in enumerate(counts) if n), key=lambda k: -counts[k])
    named = drawable(", ".join(f"{seen.parts[k]}: {counts[k]}" for k in largest))
    if largest and width(named, SMALL) <= _LEAF_TEXT:
        return named
    several = f", {len(largest)} {seen.target.words.parts}" if len(largest) > 1 else ""
    return f"{counted(total, 'record')}{several}"
