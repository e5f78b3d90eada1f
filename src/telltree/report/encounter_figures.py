"""Pictures of aircraft encounters: both aircraft against time, their advisories, and the pilots' responses.

They draw panels with the columns of `telltree.datasets.make_encounters`; those of `load_acasx` get them from
`telltree.datasets.acasx.advised_flights`.
"""

from collections.abc import Iterator
from functools import reduce
from typing import Any, Literal, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from telltree.errors import DataError, SettingsError
from telltree.panel import Panel
from telltree.panel.schema import require_known
from telltree.report.style import (
    BODY,
    COLOURS,
    INK,
    LEADING,
    PAPER,
    POINTS,
    QUIET,
    SMALL,
    Label,
    Looks,
    add_axes,
    drawable,
    figure_of,
    inches_of,
    legend,
    lines_height,
    name_axis,
    new_figure,
    room_for,
    spread,
    width,
    wrapped,
    write,
    write_lines,
)
from telltree.report.time_axes import clock, runs, time_name

_AIRCRAFT = (1, 2)
_CLEAR = "Clear of Conflict"
_COLOURS = {
    _CLEAR: COLOURS[0], "Do Not Climb": "#E69F00", "Do Not Descend": "#8C7E00", "Descend": "#D55E00",
    "Climb": "#009E73", "Increase Descent": "#CC79A7", "Increase Descend": "#CC79A7", "Increase Climb": "#56B4E9",
}  # fmt: skip
_VARIANTS = (
    "Level-off, ",
    "Crossing ",
    "Maintain ",
    " Now",
)  # parts of a name that change the advisory, but not its colour
_ASTERISK = (6, 2, 0)
_PHASES: dict[str, Looks] = {
    "delay": {"marker": "_", "markersize": 7},
    "following": {"marker": _ASTERISK, "markersize": 5},
}
_NMAC: Looks = {"marker": "o", "markersize": 11, "markerfacecolor": "none", "markeredgewidth": 1.4, "color": "#C00000"}
_WIDE, _TALL = 7.2, 5.4  # inches


class _Flight(NamedTuple):
    """The data of one aircraft to draw."""

    number: int
    at: NDArray[np.float64]
    values: NDArray[np.float64]
    advisory: NDArray[np.int64]
    names: tuple[str, ...]
    """The names of the codes of advisories."""
    phase: NDArray[Any]

    def colour(self, code: int) -> str:
        """Return the colour of an advisory; grey if it is missing or unknown."""
        if code < 0:
            return QUIET
        return _COLOURS.get(reduce(lambda name, part: name.replace(part, ""), _VARIANTS, self.names[code]), QUIET)

    def changes(self) -> Iterator[tuple[int, str]]:
        """Yield the steps at which the advisory changes, and the new one; no advisory at the start is not a change."""
        for start, _, code in runs(self.advisory):
            if code >= 0 and (start or self.names[code] != _CLEAR):
                yield start, self.names[code]


def plot_encounter(
    panel: Panel,
    record: int,
    *,
    show: Literal["altitude", "vertical_rate"] = "altitude",
    caption: str | None = None,
    ax: Axes | None = None,
) -> Figure:
    """Draw one encounter, given by its position in the panel, with everything annotated.

    The altitude or vertical rate of both aircraft is drawn against time, with their numbers at both ends. Lines are
    blue where there is no advisory, else of the advisory's colour; words mark its changes. A dash marks a pilot's
    response delay, an asterisk that the pilot is following the advisory, and a ring the first moment of a near mid-air
    collision, where the panel has a column `nmac`. A caption stands below, unless the axes are given.
    """
    flights = _flights(panel, record, show)
    own = ax is None
    caption_lines = [
        line for part in (caption or "").splitlines() for line in wrapped(drawable(part), _WIDE - 0.4, BODY)
    ]
    if ax is None:
        ax = add_axes(new_figure(_WIDE, _TALL + lines_height(len(caption_lines), BODY)), 0.9, 0.15, 6.0, 4.5)
    for flight in flights:
        _draw(ax, flight, 1.6)
        _mark(ax, flight)
    collides = _mark_nmac(ax, panel, record, flights)
    _announce(ax, flights)
    _number(ax, flights, BODY)
    column = panel.schema[f"{show}_1"]
    unit = f" ({column.unit})" if column.unit else ""
    name_axis(ax, x=time_name(panel), y=show.replace("_", " ") + unit)
    if own:
        _explain(figure_of(ax), collides)
        write_lines(figure_of(ax), 0.2, _TALL, caption_lines)
    return figure_of(ax)


def draw_encounter(ax: Axes, panel: Panel, record: int) -> None:
    """Draw the altitudes of both aircraft against time, coloured by advisory, for collages.

    `plot_collage(tree, panel, y, draw=draw_encounter, only_label="NMAC")`.
    """
    flights = _flights(panel, record, "altitude")
    for flight in flights:
        _draw(ax, flight, 1.2)
    ax.margins(x=0.1, y=0.1)
    ax.locator_params(nbins=4)
    _number(ax, flights, SMALL)


def _flights(panel: Panel, record: int, show: str) -> list[_Flight]:
    if show not in ("altitude", "vertical_rate"):
        raise SettingsError(f'show must be "altitude" or "vertical_rate", got {show!r}')
    if not 0 <= record < len(panel):
        raise DataError(f"there is no record {record}: the panel has {len(panel)}, counted from 0")
    at, found = clock(panel, record), []
    for number in _AIRCRAFT:
        columns = [f"{part}_{number}" for part in (show, "advisory", "pilot_phase")]
        for name in columns:
            require_known(name, panel.schema.names, "column")
        values, advisory, phase = (panel.values(name, record) for name in columns)
        phases = np.array([*panel.schema[columns[2]].levels, "", ""], dtype=object)  # the last two: unseen, missing
        found.append(_Flight(number, at, values, advisory, panel.schema[columns[1]].levels, phases[phase]))
    return found


def _draw(ax: Axes, flight: _Flight, thick: float) -> None:
    """Draw the line in parts, each up to the start of the next, with a dot at its start."""
    for start, stop, code in runs(flight.advisory):
        part = slice(start, min(stop + 1, len(flight.at)))
        looks: Looks = {"color": flight.colour(code), "linewidth": thick, "solid_capstyle": "round"}
        ax.plot(flight.at[part], flight.values[part], marker="o", markersize=thick * 1.6, markevery=[0], **looks)


def _number(ax: Axes, flights: list[_Flight], size: float) -> None:
    """Write the aircraft's numbers at both ends of their lines, without overlap. Call it after setting the limits."""
    flown = [(flight, np.flatnonzero(np.isfinite(flight.values))) for flight in flights]
    inch = float(np.diff(ax.get_ylim())[0]) / inches_of(ax)[1]
    for end, side in ((0, "right"), (-1, "left")):
        here = [(flight, int(steps[end])) for flight, steps in flown if len(steps)]
        places = spread([float(flight.values[step]) for flight, step in here], inch * size * LEADING / POINTS)
        for (flight, step), place in zip(here, places, strict=True):
            words = f"{flight.number}  " if side == "right" else f"  {flight.number}"
            write(ax, float(flight.at[step]), place, words, ha=side, va="center", fontsize=size, fontweight="bold")


def _mark(ax: Axes, flight: _Flight) -> None:
    """Mark the pilot's response to the advisory."""
    for phase, marker in _PHASES.items():
        steps = np.flatnonzero(flight.phase == phase)
        looks: Looks = {"color": INK, "linestyle": "none", "markeredgewidth": 0.9, "zorder": 4}
        if len(steps):
            ax.plot(flight.at[steps], flight.values[steps], **looks, **marker)


def _mark_nmac(ax: Axes, panel: Panel, record: int, flights: list[_Flight]) -> bool:
    """Put rings where the aircraft are first too close; return True if they ever are."""
    if "nmac" not in panel.schema or not (panel.values("nmac", record) == 1).any():
        return False
    first = int(np.argmax(panel.values("nmac", record) == 1))
    for flight in flights:
        ax.plot(flight.at[first], flight.values[first], linestyle="none", zorder=5, **_NMAC)
    return True


class _Notice(NamedTuple):
    """An advisory's words, and their place."""

    flight: _Flight
    step: int
    words: str
    above: bool


def _announce(ax: Axes, flights: list[_Flight]) -> None:
    """Write each advisory vertically where it changes: above the higher aircraft there, and below the lower one."""
    notices = [
        _Notice(flight, step, drawable(words), bool(flight.values[step] >= other.values[step]))
        for flight, other in (flights, flights[::-1])
        for step, words in flight.changes()
        if np.isfinite(flight.values[step])
    ]
    both = np.array([flight.values for flight in flights])
    finite = both[np.isfinite(both)]
    if not len(finite):
        return
    low, high = float(finite.min()), float(finite.max())
    room = 0.06 * (high - low) or 1.0
    wide, tall = inches_of(ax)
    at = flights[0].at
    second = float(at[-1] - at[0] or 1.0) * 1.12 / wide  # per inch
    labels = [Label(_clear_of(both, n), 0.32 + width(n.words, SMALL), n.above) for n in notices]
    ax.set_ylim(*room_for(low - room, high + room, labels, tall))
    ax.set_xlim(at[0] - 0.4 * second, at[-1] + 0.4 * second)
    inch = float(np.diff(ax.get_ylim())[0]) / tall
    for above in (True, False):
        here = [(notice, label) for notice, label in zip(notices, labels, strict=True) if notice.above is above]
        places = spread([float(at[n.step]) for n, _ in here], second * SMALL * LEADING / POINTS * 1.15)
        for (notice, label), place in zip(here, places, strict=True):
            _write_notice(ax, notice, place, label.value + (0.2 if above else -0.2) * inch)


def _clear_of(both: NDArray[np.float64], notice: _Notice) -> float:
    """Return the height that words must clear: that of both aircraft, up to two steps to either side."""
    near = both[:, max(0, notice.step - 2) : notice.step + 3]
    return float(np.nanmax(near) if notice.above else np.nanmin(near))


def _write_notice(ax: Axes, notice: _Notice, x: float, y: float) -> None:
    at, value = notice.flight.at[notice.step], notice.flight.values[notice.step]
    colour = notice.flight.colour(int(notice.flight.advisory[notice.step]))
    ax.plot([at, x], [value, y], color=colour, linewidth=0.7, zorder=1)
    paper = {"facecolor": PAPER, "edgecolor": "none", "pad": 1.0, "alpha": 0.9}
    looks = {"rotation": 90, "ha": "center", "va": "bottom" if notice.above else "top", "fontsize": SMALL}
    write(ax, x, y, notice.words, fontweight="bold", bbox=paper, zorder=3, **looks)


def _explain(figure: Figure, collides: bool) -> None:
    marks = [Line2D([], [], color=INK, linestyle="none", **marker) for marker in _PHASES.values()]
    signs = [Line2D([], [], color=_COLOURS[_CLEAR], linewidth=1.6), *marks]
    names = ["no advisory", "response delay", "following the advisory"]
    if collides:
        signs.append(Line2D([], [], linestyle="none", **_NMAC | {"markersize": 8}))
        names.append("near mid-air collision")
    above = 1 - _TALL / float(figure.get_size_inches()[1])  # the caption is below it
    legend(figure, signs, names, loc="lower center", ncols=len(names), bbox_to_anchor=(0.5, above))
