"""The style of figures: colours, text and layout."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import findfont, fontManager, get_font
from matplotlib.ft2font import FT2Font
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from telltree.logic.shapelet import LEVELS

# Colours are safe for the colour-blind; hatches and dashes survive printing in grey.
# Figures are dark ink on white paper, whatever a user's matplotlib settings are, and text is drawn literally: a `$` in
# a column's name starts no mathematics.

# Okabe and Ito, https://jfly.uni-koeln.de/color/, without black, dark and light in turn
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#F0E442", "#D55E00", "#56B4E9", "#CC79A7")
INKS = (*COLOURS[:3], "#8C7E00", *COLOURS[4:])  # for lines: that yellow would be too faint on white
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "----")
LINES: tuple[Any, ...] = (
    "-",
    (0, (4, 1.5)),
    (0, (1, 1.2)),
    (0, (6, 1.5, 1, 1.5)),
    (0, (8, 3)),
    (0, (3, 1, 1, 1, 1, 1)),
)
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p")
INK, QUIET, FAINT, PAPER = "#222222", "#6E6E6E", "#DDDDDD", "white"
SMALL, BODY, TITLE = 7.5, 9.0, 11.0
LEADING = 1.25  # line spacing, relative to the font size


Looks = dict[str, Any]  # style arguments for matplotlib


class MarkStyle(NamedTuple):
    """The style of one of many things; 42 of them differ in colour or pattern."""

    colour: str
    """For areas."""
    ink: str
    """For lines."""
    hatch: str
    line: Any
    marker: str


def mark_style(number: int) -> MarkStyle:
    """Return the style of the thing with this number, counted from 0."""
    pick = [series[number % len(series)] for series in (COLOURS, INKS, HATCHES, LINES, MARKERS)]
    return MarkStyle(*pick)


def tint(colour: str, share: float) -> tuple[float, float, float]:
    """Return a colour mixed with white: 1 is the colour itself, 0 is white."""
    red, green, blue = (1 - share + share * part for part in to_rgb(colour))
    return red, green, blue


def lines_height(lines: int, size: float) -> float:
    """Return the height of this many lines of text, in inches."""
    return lines * size * LEADING / POINTS


def new_figure(width: float, height: float) -> Figure:
    """Return an empty figure of this size in inches."""
    return Figure(figsize=(width, height), facecolor=PAPER, edgecolor=PAPER)


def figure_of(ax: Axes) -> Figure:
    """Return the figure of these axes, which may be in a subfigure."""
    figure: Any = ax.figure
    whole: Figure = figure.figure
    return whole


def inches_of(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes."""
    share, (wide, high) = ax.get_position(), figure_of(ax).get_size_inches()
    return float(share.width * wide), float(share.height * high)


def add_axes(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes at a position in inches; `top` is measured from the upper edge."""
    across, up = figure.get_size_inches()
    ax = figure.add_axes((left / across, 1 - (top + height) / up, width / across, height / up))
    tidy(ax)
    return ax


def tidy(ax: Axes) -> None:
    """Give axes two spines and small ticks, in our colours."""
    ax.set_facecolor(PAPER)
    ax.grid(visible=False)
    for side, spine in ax.spines.items():
        spine.set_visible(side in ("left", "bottom"))
        spine.set_color(QUIET)
        spine.set_linewidth(0.8)
    ax.tick_params(colors=INK, labelsize=SMALL, width=0.8, length=3, labelfontfamily=FONT)
    for axis in (ax.xaxis, ax.yaxis):
        axis.get_offset_text().set(color=INK, fontsize=SMALL)


def as_it_is() -> Looks:
    """Return arguments for every text, so that it is drawn literally."""
    return {"parse_math": False, "usetex": False, "fontfamily": families()}


def plain(written: Text, **looks: Any) -> Text:
    """Make a text literal, and set its looks."""
    written.set(**as_it_is(), **looks)
    return written


def write(where: Axes | Figure, x: float, y: float, words: str, **looks: Any) -> Text:
    """Write words at a place, literally."""
    looks = {"fontsize": BODY, "color": INK} | looks
    return plain(where.text(x, y, ""), **looks, text=words)


def write_lines(figure: Figure, left: float, top: float, lines: Sequence[str], **looks: Any) -> float:
    """Write lines of text at a place in inches, measured from the upper left corner; return where they end."""
    across, up = figure.get_size_inches()
    usual: Looks = {"fontsize": BODY, "va": "top", "ha": "left", "linespacing": LEADING * 0.85}
    looks = usual | looks
    write(figure, left / across, 1 - top / up, "\n".join(lines), **looks)
    return top + lines_height(len(lines), looks["fontsize"])


def name_axis(ax: Axes, x: str | None = None, y: str | None = None) -> None:
    """Label the axes."""
    wide, high = inches_of(ax)
    for words, axis, room in ((x, ax.xaxis, wide), (y, ax.yaxis, high)):
        if words is not None:
            plain(axis.label, text=clipped(words, max(room, 1.0), BODY), fontsize=BODY, color=INK)


def legend(where: Axes | Figure, handles: Sequence[Artist], names: Sequence[object], **place: Any) -> None:
    """Add a legend; names are drawn literally, even those that begin with an underscore."""
    made = where.legend(handles, [str(i) for i in range(len(handles))], fontsize=SMALL, frameon=False, **place)
    for written, name in zip(made.get_texts(), names, strict=True):
        plain(written, text=drawable(name), color=INK)


def swatch(number: int, **changes: Any) -> Patch:
    """Return the legend entry for the area of a thing."""
    return Patch(**area(number) | changes)


def stroke(number: int, **changes: Any) -> Line2D:
    """Return the legend entry for the line of a thing."""
    it = mark_style(number)
    return Line2D([], [], **{"color": it.ink, "linestyle": it.line, "linewidth": 1.4} | changes)


def area(number: int) -> Looks:
    """Return the fill of the area of a thing: hatched in a dark shade of its own colour."""
    it = mark_style(number)
    dark = tuple(0.55 * part for part in to_rgb(it.colour))
    return {"facecolor": it.colour, "edgecolor": dark, "hatch": it.hatch, "linewidth": 0.4}


# ---- Text in figures: drawable characters, their widths, and line breaks.

FONT = "DejaVu Sans"  # comes with matplotlib, and has the signs of logic
_OTHERS = (
    "Noto Sans", "Noto Sans CJK JP", "Noto Sans CJK SC", "Noto Sans Symbols", "Noto Emoji", "Arial Unicode MS",
    "Segoe UI Symbol", "Microsoft YaHei", "Yu Gothic", "Malgun Gothic", "PingFang SC", "Hiragino Sans",
)  # fmt: skip
_NO_GLYPH = "□"
_PICTURE = 16  # the most characters of a picture of a shapelet
_LONG_PICTURE = re.compile(f"[{LEVELS}]{{{_PICTURE + 1},}}")
_MORE = "…"
BOLD = 1.15  # how much wider bold letters are
_WIDER = 1.065  # on a screen, letters are moved to whole pixels
POINTS = 72  # an inch


@cache
def families() -> list[str]:
    """Return the font of all text, then installed fonts that may have what it lacks."""
    installed = {font.name for font in fontManager.ttflist}
    return [FONT, *(name for name in _OTHERS if name in installed)]


@cache
def _fonts() -> tuple[FT2Font, ...]:
    return tuple(get_font(findfont(name)) for name in families())


@cache
def _advance(character: str) -> float | None:
    """Return the advance width of a character in ems; None if no font has it."""
    for font in _fonts():
        if font.get_char_index(ord(character)):
            font.set_size(POINTS, POINTS)
            return float(font.load_char(ord(character)).linearHoriAdvance) / 65536 / POINTS
    return None


def with_small_pictures(text: str) -> str:
    """Return the text with shorter pictures of shapelets: of long ones, some of their steps."""

    def small(found: re.Match[str]) -> str:
        picture, steps = found[0], len(found[0])
        return "".join(picture[round(i * (steps - 1) / (_PICTURE - 1))] for i in range(_PICTURE))

    return _LONG_PICTURE.sub(small, text)


def drawable(text: object) -> str:
    """Return the text on one line, with a box for every character that no font can draw."""
    return "".join(_drawable(character) for character in str(text))


def _drawable(character: str) -> str:
    if character.isspace():
        return " "
    if unicodedata.category(character).startswith("C"):  # controls, surrogates, unassigned
        return _NO_GLYPH
    return character if _advance(character) is not None else _NO_GLYPH


def width(text: str, size: float) -> float:
    """Return an upper bound of the width of drawable text, in inches, at a size in points."""
    return _WIDER * sum(_advance(character) or 0.0 for character in text) * size / POINTS


def wrapped(text: object, inches: float, size: float, lines: int = 100) -> list[str]:
    """Return the text in lines no wider than `inches`; if it needs too many lines, it ends in an ellipsis."""
    found: list[str] = []
    for line in _lines(drawable(text), inches, size):
        if len(found) == lines:
            found[-1] = _shortened(found[-1] + " " + line, inches, size)
            break
        found.append(line)
    return found or [""]


def clipped(text: object, inches: float, size: float) -> str:
    """Return the text on one line no wider than `inches`, with an ellipsis for what does not fit."""
    return wrapped(text, inches, size, lines=1)[0]


def _lines(text: str, inches: float, size: float) -> Iterator[str]:
    line = ""
    for word in text.split():
        longer = f"{line} {word}" if line else word
        if width(longer, size) <= inches:
            line = longer
            continue
        if line:
            yield line
        *full, line = _pieces(word, inches, size)
        yield from full
    if line:
        yield line


def _pieces(word: str, inches: float, size: float) -> list[str]:
    """Return a word, cut if it must be."""
    pieces, piece = [], ""
    for character in word:
        if piece and width(piece + character, size) > inches:
            pieces.append(piece)
            piece = ""
        piece += character
    return [*pieces, piece]


def _shortened(text: str, inches: float, size: float) -> str:
    while text and width(text + _MORE, size) > inches:
        text = text[:-1]
    return text.rstrip() + _MORE


# ---- Layout: trees of boxes that do not overlap, and labels that keep a distance. Numbers only.


@dataclass(frozen=True)
class Box:
    """The size of a node, and its children."""

    width: float
    height: float
    children: tuple["Box", ...] = ()


class Placed(NamedTuple):
    """The centre of each box in preorder, y upwards, and the size of the whole, whose lower left corner is (0, 0)."""

    middles: tuple[tuple[float, float], ...]
    width: float
    height: float


class _Reach(NamedTuple):
    """The extent of a subtree from its root's centre: at each of its levels, to either side."""

    offsets: list[float]  # of every box in preorder
    levels: list[int]
    sides: list[tuple[float, float]]  # of every level


def place(root: Box, *, down: bool, apart: float, between: float) -> Placed:
    """Put children side by side below their parent (`down`), or one below the other to its right.

    Subtrees are as close as possible, with `apart` between the boxes of one level. A parent is centred over its
    children. Levels are as deep as their deepest box, with `between` from one to the next.
    """
    reach = _arrange(root, down, apart)
    boxes = list(_preorder(root))
    depths = [0.0] * len(reach.sides)
    for box, level in zip(boxes, reach.levels, strict=True):
        depths[level] = max(depths[level], box.height if down else box.width)
    starts = [sum(depths[:level]) + level * between for level in range(len(depths))]
    first = min(low for low, _ in reach.sides)
    across = [offset - first for offset in reach.offsets]
    along = [
        starts[level] + (box.height if down else box.width) / 2 for box, level in zip(boxes, reach.levels, strict=True)
    ]
    breadth, length = max(high for _, high in reach.sides) - first, starts[-1] + depths[-1]
    if down:
        return Placed(tuple((x, length - y) for x, y in zip(across, along, strict=True)), breadth, length)
    return Placed(tuple((x, breadth - y) for x, y in zip(along, across, strict=True)), length, breadth)


def _arrange(box: Box, down: bool, apart: float) -> _Reach:
    half = (box.width if down else box.height) / 2
    placed = [_arrange(child, down, apart) for child in box.children]
    if not placed:
        return _Reach([0.0], [0], [(-half, half)])
    shifts, taken = [0.0], list(placed[0].sides)
    for reach in placed[1:]:
        shift = max(high - low + apart for (_, high), (low, _) in zip(taken, reach.sides, strict=False))
        shifts.append(shift)
        taken = _beside(taken, [(low + shift, high + shift) for low, high in reach.sides])
    middle = (shifts[0] + shifts[-1]) / 2
    offsets, levels = [0.0], [0]
    for reach, shift in zip(placed, shifts, strict=True):
        offsets += [offset + shift - middle for offset in reach.offsets]
        levels += [level + 1 for level in reach.levels]
    return _Reach(offsets, levels, [(-half, half), *((low - middle, high - middle) for low, high in taken)])


def _beside(left: list[tuple[float, float]], right: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the extents of both; for a level that only one has, its own."""
    shared = [(low, high) for (low, _), (_, high) in zip(left, right, strict=False)]
    return shared + left[len(right) :] + right[len(left) :]


def _preorder(box: Box) -> list[Box]:
    return [box, *(below for child in box.children for below in _preorder(child))]


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Return positions at least `gap` apart, in the same order and near the wanted ones, for labels."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    groups: list[tuple[float, int]] = []  # middle and number of labels that touch
    for i in order:
        middle, size = float(wanted[i]), 1
        while groups and middle - groups[-1][0] < gap * (size + groups[-1][1]) / 2:
            before, others = groups.pop()
            middle, size = (middle * size + before * others) / (size + others), size + others
        groups.append((middle, size))
    places = [middle + gap * (k - (size - 1) / 2) for middle, size in groups for k in range(size)]
    found = [0.0] * len(wanted)
    for i, at in zip(order, places, strict=True):
        found[i] = at
    return found


class Label(NamedTuple):
    """A label above or below a value, this many inches tall."""

    value: float
    inches: float
    above: bool


def room_for(low: float, high: float, labels: Sequence[Label], height: float) -> tuple[float, float]:
    """Return the limits of an axis of this height, in inches, that shows values from `low` to `high` and all labels.

    Labels take at most four fifths of the height, so that the values stay visible.
    """
    above, below = (
        max((label.inches for label in labels if label.above is side), default=0.0) for side in (True, False)
    )
    squeeze = min(1.0, 0.8 * height / (above + below)) if above + below else 1.0
    top, bottom = high, low
    for _ in range(60):  # squeezing the values lets labels reach further; this converges
        inch = (top - bottom) / height
        reach = [label.value + (1 if label.above else -1) * squeeze * label.inches * inch for label in labels]
        top, bottom = max([high, *reach]), min([low, *reach])
    return bottom, top
