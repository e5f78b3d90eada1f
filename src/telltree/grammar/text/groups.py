"""Groups: attributes selected by type or kind, and the constants each is compared with."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from telltree.data import Column, ColumnType, Panel, Schema, unusable
from telltree.data.statistics import Statistics
from telltree.errors import GrammarError
from telltree.grammar.text.amount import room_for_groups
from telltree.grammar.text.draft import Draft, Pick, Term, pick
from telltree.grammar.text.names import attribute, nearest
from telltree.grammar.text.source import Each, Place, Supply
from telltree.operators import Level, Number, Operator
from telltree.operators.expression import RandomNumber, level_text, name_text

MOST_POINTS = 10_000  # of one grid
_MORE_DECIMALS = 3  # beyond the fewest, that a grid may have if they are exact: eighths stay eighths
_ARITHMETIC = 1e-14  # what it leaves, as a share of the largest number
OWN = frozenset({"grid", "quantiles", "random", "thresholds", "levels", "other"})
"""Supplies that depend on the attribute they are compared with, unless their range is given."""


@lru_cache(maxsize=10_000)
def constant(value: float | str) -> Number | Level:
    """The constant that this text stands for: −0 becomes 0. Most recur, and one object is found fastest."""
    return Level(value) if isinstance(value, str) else Number(value + 0.0)


def needs_attribute(supply: Supply) -> bool:
    """Whether the supply may only stand to the right of an attribute."""
    return supply.word in OWN and len(supply.values) < 2


@dataclass
class Groups:
    """Writes out the groups of one grammar; `left_out` collects the columns that selectors passed over, and why."""

    schema: Schema
    panel: Panel | None
    left_out: dict[str, str] = field(default_factory=dict)
    _made: int = 0

    @cached_property
    def _unusable(self) -> dict[str, str]:
        return {} if self.panel is None else dict(unusable(self.panel))

    def columns(self, each: Each) -> list[Column]:
        """The columns a selector selects."""
        if each.word == "kind":
            found = self.schema.kinds().get(each.kind)
            if found is None:
                hint = nearest(each.kind, self.schema.kinds()) or "; kinds are given in the schema"
                raise GrammarError(f"no column is of kind {level_text(each.kind)}{hint}", *each.place)
        else:
            found = self.schema.of_type(each.word)
        reasons = {column.name: self._unusable[column.name] for column in found if column.name in self._unusable}
        self.left_out |= reasons
        kept = [column for column in found if column.name not in reasons]
        if not kept:
            told = "".join(f"; {name_text(name)} is left out: {reason}" for name, reason in list(reasons.items())[:3])
            raise GrammarError(f"{_said(each)} selects no column{told}", *each.place)
        return kept

    def attributes(self, each: Each) -> Draft:
        """A choice among the attributes a selector selects."""
        return self._any([Term(attribute(column), (), each.place) for column in self.columns(each)], each.place)

    def comparisons(self, each: Each | Column, operators: tuple[Operator, ...], supply: Supply, place: Place) -> Draft:
        """The group `each … {operators} supply`: attribute, then operator, then constant."""
        columns = self.columns(each) if isinstance(each, Each) else [each]
        if supply.word == "thresholds":
            _require_thresholds(columns, supply.place)
        of_kind = isinstance(each, Each) and each.word == "kind"
        alike = supply.word == "list" or (of_kind and supply.word in ("grid", "quantiles", "random"))
        shared = self.constants(supply, columns) if alike else None
        choices: list[Draft] = []
        for column in columns:
            self._count(len(shared.options) if isinstance(shared, Pick) else 0, place)  # they are written for each
            against = shared or self._against(column, columns if isinstance(each, Each) else None, supply)
            if against is not None:
                left = Term(attribute(column), (), place)
                choices.append(self._any([Term(operator, (left, against), place) for operator in operators], place))
        if not choices:
            raise GrammarError(
                "other finds no two attributes of one kind to compare; give columns a kind in the schema", *supply.place
            )
        return pick(choices, place)

    def _against(self, column: Column, selected: list[Column] | None, supply: Supply) -> Draft | None:
        """What one column is compared with; None if `other` finds nothing among the selected columns, or among all if
        `selected` is None.
        """
        if supply.word == "levels":
            if not column.levels:
                raise GrammarError(f"{name_text(column.name)} is {column.type} and has no levels", *supply.place)
            return self._choice(column.levels, supply.place)
        if supply.word == "other":
            pool = [c for c in self.schema.values() if c.name not in self._unusable] if selected is None else selected
            like = [c for c in pool if c.kind == column.kind and c.type == column.type and c.name != column.name]
            if column.kind is None or not like:
                return None
            return self._any([Term(attribute(c), (), supply.place) for c in like], supply.place)
        return self.constants(supply, [column])

    def constants(self, supply: Supply, columns: list[Column]) -> Draft:
        """A choice among the constants of a supply, or a random one; from the values of these columns if needed."""
        place = supply.place
        if supply.word == "list":  # which stands in the text, and counted there
            return pick([Term(constant(v), (), place) for v in dict.fromkeys(supply.values)], place)
        numbers = [float(v) for v in supply.values if not isinstance(v, str)]
        if supply.word == "thresholds":
            return self._choice(columns[0].thresholds or (), place)
        if supply.word == "random":
            low, high = _range(numbers, place) if numbers else self._extent(columns, supply)
            return Term(RandomNumber(low, high), (), place)
        points = _points(numbers[-1], supply.word, place)
        if supply.word == "quantiles":
            values = self._values(columns, supply).quantiles(np.linspace(0, 1, points))
        else:
            given = len(numbers) == 3
            low, high = _range(numbers[:2], place) if given else self._extent(columns, supply)
            values = _spread(low, high, points)
            if given:  # ends that come from the data have the digits of the data, so the others may as well
                values = _shortened(values)
        return self._choice(np.unique(values).tolist(), place)

    def _choice(self, values: Sequence[float | str], place: Place) -> Draft:
        distinct = dict.fromkeys(values)
        return self._any([Term(constant(v), (), place) for v in distinct], place)

    def _any(self, terms: list[Draft], place: Place) -> Draft:
        self._count(len(terms), place)
        return pick(terms, place)

    def _count(self, terms: int, place: Place) -> None:
        """Refuse groups that say too much before they are written out."""
        self._made += terms
        if self._made > self._room:
            raise GrammarError(
                f"all groups up to here, written out, have more than the {self._room:,} attributes and constants that "
                f"are read; choose from fewer attributes, or make grids coarser",
                *place,
            )

    @cached_property
    def _room(self) -> int:
        return room_for_groups(self.schema)

    def _values(self, columns: list[Column], supply: Supply) -> Statistics:
        for column in columns:
            if column.type is not ColumnType.REAL:
                raise GrammarError(
                    f"{name_text(column.name)} is {column.type}; {supply.word} is for real attributes", *supply.place
                )
        if self.panel is None:
            _need_data(supply)
        values = Statistics.joined(self.panel.statistics(column.name) for column in columns)
        if not values.extent.finite:
            raise GrammarError(f"{name_text(columns[0].name)} has no finite values to choose from", *supply.place)
        return values

    def _extent(self, columns: list[Column], supply: Supply) -> tuple[float, float]:
        extent = self._values(columns, supply).extent
        return extent.low, extent.high


def _said(each: Each) -> str:
    return f"each {each.word}" + (f" {level_text(each.kind)}" if each.word == "kind" else "")


def _need_data(supply: Supply) -> NoReturn:
    explicit = {"grid": "grid(low, high, points)", "random": "random(low, high)"}.get(supply.word, "a list [1, 2, 5]")
    raise GrammarError(
        f"{supply.word} without a range needs data to take it from: parse with a panel instead of a schema, or write "
        f"{explicit}",
        *supply.place,
    )


def _require_thresholds(columns: list[Column], place: Place) -> None:
    bare = [name_text(column.name) for column in columns if not column.thresholds]
    if bare:
        more = f" and {len(bare) - 5} more" if len(bare) > 5 else ""
        raise GrammarError(f"the schema gives no thresholds for {', '.join(bare[:5])}{more}", *place)


def _range(numbers: list[float], place: Place) -> tuple[float, float]:
    low, high = numbers
    if low > high:
        raise GrammarError(f"a range goes from low to high, found {low:g}, {high:g}", *place)
    return low, high


def _points(number: float, word: str, place: Place) -> int:
    if number != int(number) or not 2 <= number <= MOST_POINTS:
        raise GrammarError(f"{word} takes a whole number of points from 2 to {MOST_POINTS:,}, found {number:g}", *place)
    return int(number)


def _spread(low: float, high: float, points: int) -> NDArray[np.float64]:
    if np.isfinite(high - low):
        return np.linspace(low, high, points)
    share = np.linspace(0, 1, points)  # the width of the range overflows a float
    return low * (1 - share) + high * share


def _shortened(spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Evenly spread numbers with few decimals, off their places by at most 5 % of a step; the ends stay."""
    low, high = spread[[0, -1]].tolist()
    step = (high / 2 - low / 2) / (len(spread) - 1) * 2
    if not 0 < step < math.inf:
        return spread
    fewest = math.ceil(-math.log10(step)) + 1
    noise = _ARITHMETIC * np.abs(spread).max()
    choices = [np.round(spread, fewest + more) for more in range(_MORE_DECIMALS + 1)]
    found = next((choice for choice in choices if np.abs(choice - spread).max() <= noise), choices[0])
    found[[0, -1]] = low, high
    return found if np.all(np.diff(found) > 0) else spread  # a step may be as small as what a float can tell apart
