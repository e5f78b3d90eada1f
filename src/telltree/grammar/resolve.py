"""From syntax tree to draft: names looked up, groups written out, English checked."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from telltree.errors import GrammarError, SettingsError
from telltree.grammar.limits import most_group_members
from telltree.grammar.parser import RESERVED
from telltree.grammar.syntax_tree import (
    Alternative,
    Apply,
    Call,
    Choice,
    Comparison,
    Constant,
    Definition,
    Draft,
    Each,
    English,
    Name,
    Option,
    Pick,
    Source,
    Supply,
    Symbol,
    Term,
    TextPlace,
    open_places,
    pick,
)
from telltree.logic import OPERATORS, Attribute, Level, Number, Shape, Type, UserFunction
from telltree.logic.expression import RandomNumber, level_text, name_text
from telltree.logic.operators import Form, Operator, Quantity, is_word
from telltree.logic.types import number_text
from telltree.panel import Column, ColumnType, Panel, Schema, unusable
from telltree.panel.dates import UNITS, StepLength
from telltree.panel.statistics import Statistics
from telltree.text import alike, counted

# ---- Names, and the errors about those that do not exist

_CALLED = (Form.CALL, Form.WINDOW)
_TYPE_OF = {
    ColumnType.REAL: Type.REAL_VECTOR,
    ColumnType.BOOLEAN: Type.BOOLEAN_VECTOR,
    ColumnType.CATEGORICAL: Type.CATEGORICAL_VECTOR,
}


def attribute(column: Column) -> Attribute:
    """Return the column as an expression."""
    return _attribute(column.name, column.type)


@lru_cache(maxsize=10_000)
def _attribute(name: str, kind: ColumnType) -> Attribute:
    return Attribute(name, _TYPE_OF[kind])


def is_reserved(name: str) -> bool:
    """Return True if a name is a word of the language, which symbols cannot have."""
    return name in RESERVED or is_word(name)


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """Return a hint at the most similar known name, for the end of a message; empty if none is similar."""
    close = alike(name, known, likeness=likeness)
    return f"; did you mean {close[0]}?" if close else ""


def left_out_text(left_out: dict[str, str]) -> str:
    """Return the first columns that were left out, with the reasons, for messages."""
    shown = [f"{name!r} ({reason})" for name, reason in list(left_out.items())[:5]]
    return ", ".join(shown) + (f" and {len(left_out) - 5} more" if len(left_out) > 5 else "") or "nothing"


@dataclass
class KnownNames:
    """The attributes, symbols and functions that a text may mention."""

    schema: Schema
    functions: Sequence[UserFunction] = ()
    symbols: frozenset[str] = frozenset()
    _called: dict[str, Operator | UserFunction] = field(init=False)

    def __post_init__(self) -> None:
        by_name = {function.name: function for function in self.functions}
        for name in by_name:
            if name in RESERVED:
                raise SettingsError(f"a user function cannot be called {name!r}, a word of the grammar language")
        if len(by_name) < len(self.functions):
            raise SettingsError("two user functions have the same name")
        operators = {operator.name: operator for operator in OPERATORS if operator.form in _CALLED}
        self._called = {**operators, **by_name}

    def attribute(self, name: str, place: TextPlace) -> Attribute:
        """Return the attribute of this name; GrammarError if there is none."""
        if name in self.schema:
            return attribute(self.schema[name])
        if name in self._called:
            needs = f"operands: write {name}(...)" if self._called[name].arity else f"parentheses: write {name}()"
            raise GrammarError(f"{name} needs {needs}", *place)
        known = [*map(name_text, self.schema), *self.symbols]
        what = "attribute or symbol" if self.symbols else "attribute"
        hint = nearest(name, known) or self._category(name) or nearest(name, self._called)
        raise GrammarError(f"there is no {what} called {name_text(name)}{hint}", *place)

    def _category(self, name: str) -> str:
        """Return a hint at the most similar category; empty if none is similar."""
        close = alike(name, (level for column in self.schema.values() for level in column.levels))
        return f"; a category is written in quotes: {level_text(close[0])}" if close else ""

    def called(self, name: str, place: TextPlace) -> Operator | UserFunction:
        """Return the operator or user function that is written `name(...)`; GrammarError if there is none."""
        if name in self._called:
            return self._called[name]
        if name.endswith("[]"):
            windows = ", ".join(operator.example for operator in OPERATORS if operator.form is Form.WINDOW)
            raise GrammarError(f"{name[:-2]} takes no window in brackets; what does is written {windows}", *place)
        what = "a symbol" if name in self.symbols else "an attribute" if name in self.schema else "no function"
        hint = nearest(name, self._called, likeness=0.65) if what == "no function" else "; it takes no operands"
        raise GrammarError(f"{name} is {what}{hint}", *place)


# ---- Groups: attributes selected by type or kind, and the constants that each is compared with.

MOST_POINTS = 10_000  # of one grid
_MORE_DECIMALS = 3  # beyond the fewest, that a grid may have if they are exact: eighths stay eighths
_ARITHMETIC = 1e-14  # rounding errors, as a share of the largest number
OWN = frozenset({"grid", "quantiles", "random", "thresholds", "levels", "other"})
"""Supplies that depend on the attribute they are compared with, unless their range is given."""


@lru_cache(maxsize=10_000)
def constant(value: float | str) -> Number | Level:
    """Return a number or level; −0 becomes 0. Cached, since most recur, and one object is found fastest."""
    return Level(value) if isinstance(value, str) else Number(value + 0.0)


def needs_attribute(supply: Supply) -> bool:
    """Return True if the supply may only stand to the right of an attribute."""
    return supply.word in OWN and len(supply.values) < 2


@dataclass
class Groups:
    """Writes out the groups of one grammar; `left_out` collects the columns that selectors left out, and why."""

    schema: Schema
    panel: Panel | None
    left_out: dict[str, str] = field(default_factory=dict)
    _made: int = 0

    @cached_property
    def _unusable(self) -> dict[str, str]:
        return {} if self.panel is None else dict(unusable(self.panel))

    def columns(self, each: Each) -> list[Column]:
        """Return the columns that a selector selects."""
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
            hint = "".join(f"; {name_text(name)} is left out: {reason}" for name, reason in list(reasons.items())[:3])
            raise GrammarError(f"{_selector_text(each)} selects no column{hint}", *each.place)
        return kept

    def attributes(self, each: Each) -> Draft:
        """Return a choice among the attributes that a selector selects."""
        return self._any([Term(attribute(column), (), each.place) for column in self.columns(each)], each.place)

    def comparisons(
        self, each: Each | Column, operators: tuple[Operator, ...], supply: Supply, place: TextPlace
    ) -> Draft:
        """Return the group `each … {operators} supply`: attribute, then operator, then constant."""
        columns = self.columns(each) if isinstance(each, Each) else [each]
        if supply.word == "thresholds":
            _require_thresholds(columns, supply.place)
        of_kind = isinstance(each, Each) and each.word == "kind"
        alike = supply.word == "list" or (of_kind and supply.word in ("grid", "quantiles", "random"))
        shared = self.constants(supply, columns) if alike else None
        choices: list[Draft] = []
        for column in columns:
            self._count(len(shared.options) if isinstance(shared, Pick) else 0, place)  # written for each column
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
        """Return the right-hand sides for one column; None if `other` finds nothing to compare it with.

        `other` looks among the selected columns, or among all if `selected` is None.
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
        """Return a choice among the constants of a supply, or a random one; if needed, from the values of these
        columns.
        """
        place = supply.place
        if supply.word == "list":  # they stand in the text, and were counted there
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

    def _choice(self, values: Sequence[float | str], place: TextPlace) -> Draft:
        distinct = dict.fromkeys(values)
        return self._any([Term(constant(v), (), place) for v in distinct], place)

    def _any(self, terms: list[Draft], place: TextPlace) -> Draft:
        self._count(len(terms), place)
        return pick(terms, place)

    def _count(self, terms: int, place: TextPlace) -> None:
        """Raise GrammarError if groups become too large, before they are written out."""
        self._made += terms
        if self._made > self._room:
            raise GrammarError(
                f"all groups up to here, written out, have more than the {self._room:,} attributes and constants that "
                f"are read; choose from fewer attributes, or make grids coarser",
                *place,
            )

    @cached_property
    def _room(self) -> int:
        return most_group_members(self.schema)

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


def _selector_text(each: Each) -> str:
    return f"each {each.word}" + (f" {level_text(each.kind)}" if each.word == "kind" else "")


def _need_data(supply: Supply) -> NoReturn:
    explicit = {"grid": "grid(low, high, points)", "random": "random(low, high)"}.get(supply.word, "a list [1, 2, 5]")
    raise GrammarError(
        f"{supply.word} without a range needs data to take it from: parse with a panel instead of a schema, or write "
        f"{explicit}",
        *supply.place,
    )


def _require_thresholds(columns: list[Column], place: TextPlace) -> None:
    bare = [name_text(column.name) for column in columns if not column.thresholds]
    if bare:
        more = f" and {len(bare) - 5} more" if len(bare) > 5 else ""
        raise GrammarError(f"the schema gives no thresholds for {', '.join(bare[:5])}{more}", *place)


def _range(numbers: list[float], place: TextPlace) -> tuple[float, float]:
    low, high = numbers
    if low > high:
        raise GrammarError(f"a range goes from low to high, found {low:g}, {high:g}", *place)
    return low, high


def _points(number: float, word: str, place: TextPlace) -> int:
    if number != int(number) or not 2 <= number <= MOST_POINTS:
        raise GrammarError(f"{word} takes a whole number of points from 2 to {MOST_POINTS:,}, found {number:g}", *place)
    return int(number)


def _spread(low: float, high: float, points: int) -> NDArray[np.float64]:
    if np.isfinite(high - low):
        return np.linspace(low, high, points)
    share = np.linspace(0, 1, points)  # the width of the range overflows a float
    return low * (1 - share) + high * share


def _shortened(spread: NDArray[np.float64]) -> NDArray[np.float64]:
    """Round evenly spread numbers to few decimals, each by at most 5 % of a step; the ends stay."""
    low, high = spread[[0, -1]].tolist()
    step = (high / 2 - low / 2) / (len(spread) - 1) * 2
    if not 0 < step < math.inf:
        return spread
    fewest = math.ceil(-math.log10(step)) + 1
    noise = _ARITHMETIC * np.abs(spread).max()
    choices = [np.round(spread, fewest + more) for more in range(_MORE_DECIMALS + 1)]
    found = next((choice for choice in choices if np.abs(choice - spread).max() <= noise), choices[0])
    found[[0, -1]] = low, high
    return found if np.all(np.diff(found) > 0) else spread  # a step may be the smallest difference between floats


# ---- Amounts of time in place of numbers of steps: `F[0 s, 5 s](x)`.

_NEARLY_WHOLE = 1e-6


def steps_in(duration: Constant, step: StepLength | None) -> float:
    """Return an amount of time as a number of steps; GrammarError if that is not whole, or unknown."""
    amount_text = f"{number_text(float(duration.value))} {duration.unit}"
    period, unit = step or (None, "")
    if period is None or not unit:
        lacks = "steps of different lengths" if unit else "steps without a length"
        remedy = "give a panel with a period and a time_unit, or write a number of steps"
        raise GrammarError(
            f"{amount_text} is an amount of time, but these records have {lacks}; {remedy}", *duration.place
        )
    if duration.unit != unit and not {duration.unit, unit} <= UNITS.keys():
        raise GrammarError(f"{amount_text} cannot be turned into {unit!r}, the unit of these records", *duration.place)
    amount = float(duration.value) * (1.0 if duration.unit == unit else UNITS[duration.unit] / UNITS[unit])
    steps = amount / period
    if not math.isfinite(steps) or abs(steps - round(steps)) > _NEARLY_WHOLE:
        length = f"{number_text(period)} {unit}"
        raise GrammarError(
            f"{amount_text} is {steps:.6g} steps of {length}, and no whole number of them", *duration.place
        )
    return float(round(steps))


# ---- The draft


def resolve(
    definitions: Sequence[Definition], data: Panel | Schema, functions: Sequence[UserFunction]
) -> tuple[dict[str, tuple[Option, ...]], dict[str, str]]:
    """Return the draft of each symbol, and the columns that selectors left out with the reasons."""
    places: dict[str, TextPlace] = {}
    for definition in definitions:
        symbol, place = definition.symbol, definition.place
        if symbol in places:
            raise GrammarError(
                f"{symbol} is defined twice, first in line {places[symbol].line}; join the two with |", *place
            )
        if is_reserved(symbol):
            raise GrammarError(f"{symbol} is a word of the language; a symbol needs another name", *place)
        places[symbol] = place
    step = None if isinstance(data, Schema) else data.step
    resolver = Resolver(data, functions, frozenset(places), step)
    drafts = {d.symbol: tuple(map(resolver.option, d.alternatives)) for d in definitions}
    return drafts, resolver.groups.left_out


class Resolver:
    """Looks up names in syntax trees; without symbols it resolves formulas."""

    def __init__(
        self,
        data: Panel | Schema,
        functions: Sequence[UserFunction],
        symbols: frozenset[str],
        step: StepLength | None = None,
    ) -> None:
        self._step = step
        schema = data if isinstance(data, Schema) else data.schema
        self.names = KnownNames(schema, functions, symbols)
        self.groups = Groups(schema, None if isinstance(data, Schema) else data)

    def option(self, alternative: Alternative) -> Option:
        """Return one alternative as a draft."""
        body = self.draft(alternative.body)
        english = None if alternative.english is None else _indexed(alternative.english, body)
        return Option(body, alternative.weight, english)

    def draft(self, source: Source) -> Draft:  # noqa: PLR0911 - one for each case
        """Return any part of an alternative as a draft."""
        match source:
            case Name():
                return Term(self._named(source), (), source.place)
            case Constant(value, place):
                if source.unit:
                    raise _no_unit(source)
                return Term(constant(value), (), place)
            case Supply():
                if needs_attribute(source):
                    _refuse(source)
                return self.groups.constants(source, [])
            case Each():
                return self.groups.attributes(source)
            case Choice():
                return Pick(tuple(map(self.option, source.alternatives)), source.place)
            case Comparison():
                return self._comparison(source)
            case Call():
                return self._call(source)
            case Apply(operator, args, place):
                return Term(operator, tuple(map(self.draft, args)), place)

    def _named(self, name: Name) -> Attribute | Symbol:
        if not name.quoted and name.text in self.names.symbols:
            return Symbol(name.text)
        return self.names.attribute(name.text, name.place)

    def _call(self, call: Call) -> Term:
        head = self.names.called(call.name, call.place)
        if isinstance(head, Operator) and any(row.quantity is Quantity.SHAPE for row in head.parameters):
            return self._like_a_shape(head, call)
        if len(call.args) != head.arity:
            raise GrammarError(
                f"{call.name} takes {counted(head.arity, 'operand')}, found {len(call.args)}", *call.place
            )
        takes = head.takes if isinstance(head, Operator) else head.arity
        parameters = map(self._parameter, call.args[takes:])
        return Term(head, (*map(self.draft, call.args[:takes]), *parameters), call.place)

    def _like_a_shape(self, head: Operator, call: Call) -> Term:
        """Return a call whose brackets hold the numbers of a shape."""
        operands, given = call.args[: -call.bounds], call.args[-call.bounds :]
        if len(operands) != head.takes:
            raise GrammarError(
                f"{call.name} takes {counted(head.takes, 'operand')}, found {len(operands)}", *call.place
            )
        numbers = [one.value for one in given if isinstance(one, Constant) and not one.unit]
        values = tuple(value + 0.0 for value in numbers if not isinstance(value, str))
        if len(values) < len(given):
            raise GrammarError(f"a shape is made of numbers alone; write {head.example}", *call.place)
        return Term(head, (*map(self.draft, operands), Term(Shape(values), (), call.place)), call.place)

    def _parameter(self, source: Source) -> Draft:
        """Return a parameter of an operator; an amount of time becomes a number of steps."""
        match source:
            case Constant(unit=unit) if unit:
                return Term(Number(steps_in(source, self._step)), (), source.place)
            case Choice(alternatives, place):
                return Pick(tuple(Option(self._parameter(one.body), one.weight) for one in alternatives), place)
        return self.draft(source)

    def _comparison(self, comparison: Comparison) -> Draft:
        left, right, place = comparison.left, comparison.right, comparison.place
        if isinstance(right, Supply):
            if isinstance(left, Each):
                return self.groups.comparisons(left, comparison.operators, right, place)
            if needs_attribute(right):
                head = self._named(left) if isinstance(left, Name) else None
                if not isinstance(head, Attribute):
                    _refuse(right)
                column = self.names.schema[head.name]
                return self.groups.comparisons(column, comparison.operators, right, place)
        args = (self.draft(left), self.draft(right))
        return pick([Term(operator, args, place) for operator in comparison.operators], place)


def _refuse(supply: Supply) -> NoReturn:
    instead = {
        "grid": ", or give it a range: grid(low, high, points)",
        "random": ", or give it a range: random(low, high)",
    }
    raise GrammarError(
        f"{supply.word} belongs to an attribute: write it right of a comparison with `each ...` or an attribute on the "
        f"left{instead.get(supply.word, '')}",
        *supply.place,
    )


_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")


def _no_unit(source: Constant) -> GrammarError:
    """Return the error about a unit behind a number that is not an amount of time."""
    if source.unit not in UNITS:
        return GrammarError(f"found {source.unit!r} behind a number; write the number alone", *source.unit_place)
    return GrammarError(
        f"{source.value:g} {source.unit} is an amount of time, which only says how many steps an operator looks at, as "
        "in F[0 s, 5 s](x); write a number",
        *source.place,
    )


def _indexed(english: English, body: Draft) -> str:
    """Return the sentence with numbers for the names of its placeholders."""
    if isinstance(body, Term) and isinstance(body.head, RandomNumber):
        raise GrammarError("a random constant speaks for itself; it takes no English", *english.place)
    holes = [
        hole.head.name if isinstance(hole, Term) and isinstance(hole.head, Symbol) else "" for hole in open_places(body)
    ]
    used: dict[str, int] = {}

    def numbered(found: re.Match[str]) -> str:
        name = found[1]
        if found[0] in ("{{", "}}"):
            return found[0]
        if name is None:
            raise GrammarError(
                f"a lone {found[0]} in the English; write {found[0] * 2} for the character", *english.place
            )
        if re.fullmatch("[0-9]{1,9}", name) and int(name) < len(holes):
            return f"{{{int(name)}}}"
        numbers = [i for i, hole in enumerate(holes) if hole and hole == name]
        if not numbers:
            allowed = (
                ", ".join(f"{{{hole or i}}}" for i, hole in enumerate(holes)) or "none: nothing in it is left open"
            )
            raise GrammarError(f"{found[0]} in the English stands for nothing; it may use {allowed}", *english.place)
        turn = used[name] = used.get(name, -1) + 1
        return f"{{{numbers[min(turn, len(numbers) - 1)]}}}"

    return _PLACEHOLDER.sub(numbered, english.text)
