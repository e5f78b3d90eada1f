"""How all figures look: colour-blind safe colours, with hatches and dashes that survive printing in grey.

Whatever a user's matplotlib settings say, figures are dark ink on white paper, and words are drawn as they are: a `$`
in a column's name starts no mathematics.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from telltree.report.figures.words import FONT, POINTS, clipped, drawable, families

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


class Look(NamedTuple):
    """The style that tells one of many things from the others; 42 things differ in colour or pattern."""

    colour: str
    """For areas."""
    ink: str
    """For lines."""
    hatch: str
    line: Any
    marker: str


def look(number: int) -> Look:
    """The style of the thing with this number, counted from 0."""
    pick = [series[number % len(series)] for series in (COLOURS, INKS, HATCHES, LINES, MARKERS)]
    return Look(*pick)


def tint(colour: str, share: float) -> tuple[float, float, float]:
    """A colour mixed with white: 1 is the colour itself, 0 is white."""
    red, green, blue = (1 - share + share * part for part in to_rgb(colour))
    return red, green, blue


def lines_height(lines: int, size: float) -> float:
    """The height of this many lines of text, in inches."""
    return lines * size * LEADING / POINTS


def new_figure(width: float, height: float) -> Figure:
    """An empty figure of this size in inches."""
    return Figure(figsize=(width, height), facecolor=PAPER, edgecolor=PAPER)


def figure_of(ax: Axes) -> Figure:
    """The figure of these axes, which may be in a subfigure."""
    figure: Any = ax.figure
    whole: Figure = figure.figure
    return whole


def inches_of(ax: Axes) -> tuple[float, float]:
    """The width and height of axes."""
    share, (wide, high) = ax.get_position(), figure_of(ax).get_size_inches()
    return float(share.width * wide), float(share.height * high)


def add_axes(figure: Figure, left: float, top: float, width: float, height: float) -> Axes:
    """Add axes at a position in inches; `top` is measured from the upper edge."""
    across, up = figure.get_size_inches()
    ax = figure.add_axes((left / across, 1 - (top + height) / up, width / across, height / up))
    tidy(ax)
    return ax


def tidy(ax: Axes) -> None:
    """Axes with two spines and small ticks, in our colours."""
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
    """Arguments for every text, so that it is drawn literally."""
    return {"parse_math": False, "usetex": False, "fontfamily": families()}


def plain(written: Text, **looks: Any) -> Text:
    """Make a text draw its words literally."""
    written.set(**as_it_is(), **looks)
    return written


def write(where: Axes | Figure, x: float, y: float, words: str, **looks: Any) -> Text:
    """Put words at a place, literally."""
    looks = {"fontsize": BODY, "color": INK} | looks
    return plain(where.text(x, y, ""), **looks, text=words)


def write_lines(figure: Figure, left: float, top: float, lines: Sequence[str], **looks: Any) -> float:
    """Put lines of text at a place in inches, measured from the upper left corner; returns where they end."""
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
    """A legend; names are drawn literally, even those that begin with an underscore."""
    made = where.legend(handles, [str(i) for i in range(len(handles))], fontsize=SMALL, frameon=False, **place)
    for written, name in zip(made.get_texts(), names, strict=True):
        plain(written, text=drawable(name), color=INK)


def swatch(number: int, **changes: Any) -> Patch:
    """The legend entry for the area of a thing."""
    return Patch(**area(number) | changes)


def stroke(number: int, **changes: Any) -> Line2D:
    """The legend entry for the line of a thing."""
    it = look(number)
    return Line2D([], [], **{"color": it.ink, "linestyle": it.line, "linewidth": 1.4} | changes)


def area(number: int) -> Looks:
    """How the area of a thing is filled: hatched in a dark shade of its own colour."""
    it = look(number)
    dark = tuple(0.55 * part for part in to_rgb(it.colour))
    return {"facecolor": it.colour, "edgecolor": dark, "hatch": it.hatch, "linewidth": 0.4}
