"""The figure of a tree: a formula or its English in each node, bars of classes, a category in each leaf."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch, Rectangle

from telltree.errors import SettingsError
from telltree.explain import Style
from telltree.panel import Panel
from telltree.report.figure_wording import Wording, formula_wording
from telltree.report.style import (
    BODY,
    BOLD,
    INK,
    LEADING,
    PAPER,
    QUIET,
    SMALL,
    Box,
    Looks,
    add_axes,
    area,
    clipped,
    drawable,
    figure_of,
    inches_of,
    lines_height,
    mark_style,
    new_figure,
    place,
    tint,
    width,
    wrapped,
    write,
)
from telltree.text import counted
from telltree.tree import Leaf, Node
from telltree.tree.target import Summary, Target
from telltree.tree.tree import Tree

_MARGIN = 0.15
_BETWEEN = {"down": 0.42, "right": 0.6}
_APART = {"down": 0.22, "right": 0.12}
_TEXT = {"down": 2.1, "right": 2.8}  # inches of a line
_MOST_LEAVES_DOWN = 10  # a larger tree would be a long ribbon
_SWATCH = 0.2
_BRANCH = "#F5F3EC"


def plot_tree(
    tree: Tree,
    *,
    text: Wording = "english",
    digits: int | None = 4,
    style: Style = "plain",
    panel: Panel | None = None,
    y: Any = None,
    direction: Literal["down", "right"] | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw a tree; the figure grows with it.

    Nodes show their question in English, or with `text="formula"` as a formula, constants with this many significant
    `digits` (None: all); `style="paper"` is the paper's English. Bars and counts are those of the training records;
    with `panel`, of its records, by class if their labels `y` are given. Small trees grow downwards and large ones to
    the right, unless `direction` says. With `ax`, the tree is scaled to fit those axes, letters too.
    """
    if direction not in (None, "down", "right"):
        raise SettingsError(f'direction must be "down", "right" or None, got {direction!r}')
    if y is not None and panel is None:
        raise SettingsError("labels y were given without the panel that they belong to")
    layout: str = direction or ("down" if len(tree.leaves) <= _MOST_LEAVES_DOWN else "right")
    wording = formula_wording(tree, panel, text, digits, style)
    counted_records = census(tree, panel, y)
    root = deal(tree, counted_records, lambda node: wording.formula(node.formula.expression), _TEXT[layout])
    return _draw(root, counted_records.parts, layout, ax)


# ---- Cards: the content and size of each box. Nothing is drawn here.

PAD = 0.09
BAR = 0.11
_NARROWEST, _LEAF_TEXT, _MOST_LINES = 1.25, 1.5, 16

Counts = tuple[int, ...]


@dataclass(frozen=True)
class Card:
    """One box: a formula or a category, the records of each part that came here, and the boxes below."""

    lines: tuple[str, ...]
    counts: Counts
    """The records in each part of the target; empty if their labels are not known."""
    counts_text: str
    """The counts in words."""
    part: int | None
    """The part of the target in whose colours the prediction is drawn."""
    width: float
    children: tuple["Card", ...] = ()

    @property
    def height(self) -> float:
        """The height in inches: the lines, a bar if there are parts to show, the counts, and room round them."""
        bar = BAR + PAD / 2 if self.counts else 0.0
        return 2 * PAD + lines_height(len(self.lines), BODY) + bar + lines_height(1, SMALL)

    def walk(self) -> Iterator["Card"]:
        """Yield this card and all below it, in preorder."""
        yield self
        for child in self.children:
            yield from child.walk()

    def box(self) -> Box:
        """Return only the sizes."""
        return Box(self.width, self.height, tuple(child.box() for child in self.children))


@dataclass(frozen=True)
class Census:
    """The number of records that reach each node and leaf, in preorder."""

    target: Target
    parts: tuple[Any, ...]
    """The parts of the target that are shown; none if labels are not known."""
    counts: tuple[Counts, ...]
    totals: tuple[int, ...]


def census(tree: Tree, panel: Panel | None, y: Any) -> Census:
    """Count the training records, or those of a panel; by part of the target if labels are given."""
    if panel is None:
        found = list(_trained(tree.root))
        supports = tuple(summary.support for summary in found)
        return Census(tree.target, tree.target.parts, tuple(summary.parts for summary in found), supports)
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


def deal(tree: Tree, records: Census, words_of: Callable[[Node], str], inches: float) -> Card:
    """Return the cards of a tree. `words_of` words its nodes, in lines of at most this many inches."""
    places, numbers = iter(range(len(records.totals))), iter(range(1, len(tree.leaves) + 1))

    def make(node: Node | Leaf) -> Card:
        place = next(places)
        counts = records.counts[place]
        if isinstance(node, Leaf):
            lines = wrapped(f"[{next(numbers)}] {node.summary.title}", _LEAF_TEXT, BODY, lines=3)
            lines += [node.summary.brief_remark] if node.summary.brief_remark else []
            children: tuple[Card, ...] = ()
        else:
            lines = wrapped(words_of(node), inches, BODY, lines=_MOST_LINES)
            children = make(node.true), make(node.false)
        wider = BOLD if isinstance(node, Leaf) else 1.0
        counts_text = _counts_text(records, counts, records.totals[place])
        across = max(_NARROWEST, width(counts_text, SMALL), *(wider * width(line, BODY) for line in lines))
        part = node.summary.part if isinstance(node, Leaf) else None
        return Card(tuple(lines), counts, counts_text, part, across + 2 * PAD, children)

    return make(tree.root)


def _counts_text(records: Census, counts: Counts, total: int) -> str:
    """Return the number of records of each part, largest first; of all parts together if that is too long."""
    largest = sorted((k for k, n in enumerate(counts) if n), key=lambda k: -counts[k])
    named = drawable(", ".join(f"{records.parts[k]}: {counts[k]}" for k in largest))
    if largest and width(named, SMALL) <= _LEAF_TEXT:
        return named
    several = f", {len(largest)} {records.target.words.parts}" if len(largest) > 1 else ""
    return f"{counted(total, 'record')}{several}"


# ---- Drawing.


def _draw(root: Card, parts: Sequence[Any], layout: str, ax: Axes | None) -> Figure:
    down = layout == "down"
    placed = place(root.box(), down=down, apart=_APART[layout], between=_BETWEEN[layout])
    across = max(placed.width, 3.0)
    key = _key(parts, across)
    wide, high = across + 2 * _MARGIN, placed.height + 2 * _MARGIN + (key[-1][2] + 0.3 if key else 0.0)
    if ax is None:
        ax = add_axes(new_figure(wide, high), 0, 0, wide, high)
    pen = _Pen(ax, wide, high)
    for number, left, top in key:
        pen.swatch(number, parts[number], _MARGIN + left, high - _MARGIN - top)
    shift = _MARGIN + (across - placed.width) / 2
    middles = [(x + shift, y + _MARGIN) for x, y in placed.middles]
    cards = list(root.walk())
    where = {id(card): at for card, at in zip(cards, middles, strict=True)}
    for card in cards:
        for child, answer in zip(card.children, ("yes", "no"), strict=False):
            pen.edge(card, where[id(card)], child, where[id(child)], answer=answer, down=down)
    for card in cards:
        pen.card(card, *where[id(card)])
    return figure_of(ax)


def _key(parts: Sequence[Any], across: float) -> list[tuple[int, float, float]]:
    """Return the places of the swatches of the target's parts, from the upper left corner."""
    found, left, top = [], 0.0, 0.0
    for number, name in enumerate(parts):
        needs = _SWATCH + 0.22 + width(_part_name(name), SMALL)
        if left and left + needs > across:
            left, top = 0.0, top + 0.18
        found.append((number, left, top))
        left += needs
    return found


def _part_name(name: object) -> str:
    return clipped(name, 2.2, SMALL)


class _Pen:
    """Draws in inches on axes that may have another size; scales everything, letters too."""

    def __init__(self, ax: Axes, wide: float, high: float) -> None:
        ax.set_axis_off()
        ax.set(xlim=(0, wide), ylim=(0, high), aspect="equal")
        across, up = inches_of(ax)
        self._ax, self._scale = ax, min(across / wide, up / high)

    def _write(self, x: float, y: float, words: str, size: float = BODY, **looks: Any) -> None:
        write(self._ax, x, y, words, fontsize=size * self._scale, **{"ha": "center", "va": "center"} | looks)

    def _line(self, x: Sequence[float], y: Sequence[float]) -> None:
        self._ax.plot(x, y, color=QUIET, linewidth=1.1 * self._scale, solid_joinstyle="round", zorder=1)

    def swatch(self, number: int, name: object, left: float, top: float) -> None:
        self._ax.add_patch(Rectangle((left, top - BAR), _SWATCH, BAR, **area(number)))
        self._write(left + _SWATCH + 0.05, top - BAR / 2, _part_name(name), SMALL, ha="left")

    def edge(
        self, card: Card, at: tuple[float, float], child: Card, to: tuple[float, float], *, answer: str, down: bool
    ) -> None:
        """Draw the line from a card to one below it, with corners where there are no cards."""
        (x, y), (u, v) = at, to
        if down:
            top = v + child.height / 2
            bend = top + 0.6 * _BETWEEN["down"]
            self._line([x, x, u, u], [y - card.height / 2, bend, bend, top])
            side = -1 if answer == "yes" else 1
            self._write(
                u + side * 0.05, top + 0.3 * _BETWEEN["down"], answer, SMALL, ha="right" if side < 0 else "left"
            )
        else:
            left = u - child.width / 2
            bend = left - 0.7 * _BETWEEN["right"]
            self._line([x + card.width / 2, bend, bend, left], [y, y, v, v])
            self._write(left - 0.33 * _BETWEEN["right"], v + 0.07, answer, SMALL)

    def card(self, card: Card, x: float, y: float) -> None:
        """Draw the box, its lines, the bar and the counts, from the top."""
        colour = None if card.part is None else mark_style(card.part).colour
        left, bottom = x - card.width / 2, y - card.height / 2
        self._ax.add_patch(
            FancyBboxPatch(
                (left, bottom), card.width, card.height,
                boxstyle=f"round,pad=0,rounding_size={0.04 if colour is None else 0.12}",
                facecolor=_BRANCH if colour is None else tint(colour, 0.18), edgecolor=colour or QUIET,
                linewidth=(0.9 if colour is None else 1.5) * self._scale, zorder=2,
            )
        )  # fmt: skip
        text = lines_height(len(card.lines), BODY)
        looks: Looks = {"zorder": 4, "linespacing": LEADING * 0.85, "color": INK}
        weight = "normal" if card.part is None else "bold"
        self._write(x, bottom + card.height - PAD - text / 2, "\n".join(card.lines), fontweight=weight, **looks)
        floor = bottom + PAD
        self._write(x, floor + lines_height(1, SMALL) / 2, card.counts_text, SMALL, zorder=4)
        if card.counts:
            self._bar(card, left + PAD, floor + lines_height(1, SMALL) + PAD / 4)

    def _bar(self, card: Card, left: float, bottom: float) -> None:
        whole, total = card.width - 2 * PAD, sum(card.counts)
        frame: Looks = {"facecolor": PAPER, "edgecolor": QUIET, "linewidth": 0.5 * self._scale, "zorder": 3}
        self._ax.add_patch(Rectangle((left, bottom), whole, BAR, **frame))
        for number, count in enumerate(card.counts):
            if count:
                part = whole * count / total
                self._ax.add_patch(Rectangle((left, bottom), part, BAR, zorder=3, **area(number)))
                left += part
