"""Export to one SQL query over a long table, for both SQLite and DuckDB.

Each row of the table is a step. The query adds columns in layers: an expression that looks at other steps (F, G,
count), or does arithmetic, gets a name in one layer and is used by that name in the next. Missing values are NULL.
Layers are materialized: otherwise SQLite would expand each one wherever it is used, and the query would grow
exponentially.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, TypeAlias

from telltree.errors import SettingsError
from telltree.logic import Attribute, Expression, Level, Number, Type
from telltree.logic import operators as op
from telltree.logic.expression import all_spelt_out, spelt_out
from telltree.logic.meaning import BEHIND, Joins, Scope
from telltree.logic.operators import Cells, Operator
from telltree.logic.shapelet import DECIMALS
from telltree.models.export_common import Chosen, Exported, Refused, common_levels, is_never_missing, unsayable
from telltree.panel import Column, ColumnType, Schema
from telltree.panel.names_and_missing import level_name, says_missing
from telltree.tree.tree import Tree

_GAPS = "'', 'NA', 'N/A', '<NA>', 'NaN', 'nan', 'NAN', 'null', 'NULL'"  # as in `says_missing`
_TRUE = "'true', 'yes', 'on', 'y', 't', '1', '1.0'"
_FALSE = "'false', 'no', 'off', 'n', 'f', '0', '0.0'"
_TRUTHS = {"True": ["true", "1"], "False": ["false", "0"]}  # how databases write levels that were truth values
_DEEPEST = 20  # nested parentheses; SQLite's parser gives up soon after
_INFINITY = "1e308 * 10"  # there is no literal for it that both understand
_WINDOWS = """
    WINDOW ahead AS (PARTITION BY record ORDER BY step ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING),
           behind AS (PARTITION BY record ORDER BY step ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW),
           whole AS (PARTITION BY record)"""
_BEFORE = "OVER (PARTITION BY record ORDER BY step)"
_COUNT = "COUNT(*) OVER whole"
FARTHEST = 2**31 - 1  # steps that a window can look back
LONGEST_WINDOW = 1_000_000  # steps; SQLite counts them one by one
LONGEST_SHAPE = 400  # steps; SQLite adds up less than a thousand numbers at once


def sql(exported: Exported, table: str, id: str, time: str | None) -> str:  # noqa: A002 - as in `export`
    """Write a query for the category and label of each record; for one category, a query for its records."""
    return (f"-- {exported.requirement}\n" if exported.requirement else "") + _query(exported, table, id, time)


def _query(exported: Exported, table: str, id: str, time: str | None) -> str:  # noqa: A002 - as in `export`
    own, truths, categories = (_unused_name(word, table) for word in ("steps", "truths", "categories"))
    steps = _Steps(exported.tree.schema, own, exported.tree.step, time)
    found = [steps.condition(all_spelt_out(node.formula.expression)) for node in exported.tree.nodes]
    layers = steps.layers(_source(exported.tree, steps, table, id, time))
    named = "".join(f",\n         {_bit(truth)} AS n{i}" for i, truth in enumerate(found))
    last = f"{truths} AS MATERIALIZED (\n  SELECT record{named}\n    FROM {own}{len(layers) - 1}\n   WHERE step = 1\n)"
    ctes = ",\n".join([*layers, last])
    numbers = {node.formula.expression: i for i, node in enumerate(exported.tree.nodes)}
    chosen = list(exported.categories)
    if exported.category is not None:
        where = _membership(chosen[0], numbers)
        return f"WITH {ctes}\nSELECT record AS {_name(id)}\n  FROM {truths}\n WHERE {where}\n ORDER BY record;\n"
    cases = "".join(f"\n           WHEN {_membership(one, numbers)} THEN {one.number}" for one in chosen)
    labels = "".join(f"\n           WHEN {one.number} THEN {_literal(one.label)}" for one in chosen)
    return (
        f"WITH {ctes},\n{categories} AS (\n  SELECT record,\n         CASE{cases}\n         END AS category\n"
        f"    FROM {truths}\n)\nSELECT record AS {_name(id)},\n       category,\n       CASE category{labels}\n"
        f"       END AS {exported.tree.target.words.label}\n  FROM {categories}\n ORDER BY record;\n"
    )


def _unused_name(word: str, table: str) -> str:
    """Return a name for a part of the query that differs from the table's."""
    while table.lower().startswith(word):
        word += "_"
    return word


def _membership(chosen: Chosen, numbers: dict[Expression, int]) -> str:
    parts = [f"n{numbers[formula.expression]} = {int(truth)}" for formula, truth in chosen.branches]
    return " AND ".join(parts) or "TRUE"


def _source(tree: Tree, steps: "_Steps", table: str, id: str, time: str | None) -> str:  # noqa: A002
    """Return the subquery that selects the columns of formulas, renamed and converted to doubles, 1 and 0, and text."""
    order = "" if time is None else f" ORDER BY s.{_name(time)}"
    columns = [
        f"s.{_name(id)} AS record",
        f"ROW_NUMBER() OVER (PARTITION BY s.{_name(id)}{order}) AS step",
        *([f"CAST(s.{_name(time)} AS DOUBLE) AS clock"] if steps.timed and time is not None else []),
        *(f"{_value(tree.schema[name])} AS {alias}" for name, alias in steps.columns.items()),
    ]
    return "SELECT " + ",\n         ".join(columns) + f"\n    FROM {_name(table)} AS s"


def _value(column: Column) -> str:
    name = f"s.{_name(column.name)}"  # qualified, or SQLite would take an unknown name for a string
    if column.type is ColumnType.REAL:
        return _number_or_null(f"CAST({_numeric(name)} AS DOUBLE)")
    text = f"CAST({name} AS TEXT) || ''"  # an expression has no collation; a column's may ignore case
    if column.type is ColumnType.BOOLEAN:
        word = f"LOWER(TRIM({text}))"
        return f"CASE WHEN {word} IN ({_TRUE}) THEN 1 WHEN {word} IN ({_FALSE}) THEN 0 END"
    return _category(column, name, text)


def _numeric(name: str) -> str:
    """Return the value of a real column; NULL for text that is no number, which SQLite would read as 0."""
    return (
        f"CASE WHEN TYPEOF({name}) NOT IN ('text', 'VARCHAR') THEN {name} "
        f"WHEN TRIM(CAST({name} AS TEXT)) IN ({_GAPS}) THEN NULL "
        f"WHEN TYPEOF({name}) = 'VARCHAR' THEN {name} WHEN CAST({name} AS DOUBLE) = {name} THEN {name} END"
    )


def _category(column: Column, name: str, text: str) -> str:
    """Return the name of a category, by the rule of all inputs; NULL for text that means a missing value."""
    numbers = any(_as_number(level) is not None for level in column.levels)
    cut = f"WHEN TYPEOF({name}) LIKE 'DECIMAL%' AND {text} LIKE '%.%' THEN RTRIM(RTRIM({text}, '0'), '.') "
    called = f"CASE WHEN TRIM({text}) IN ({_GAPS}) THEN NULL {cut if numbers else ''}ELSE {text} END"
    spelt = "".join(f" WHEN {_text(word)} THEN {_text(level)}" for word, level in _spellings(column.levels).items())
    return f"CASE {text}{spelt} ELSE {called} END" if spelt else called


def _spellings(levels: Sequence[str]) -> dict[str, str]:
    """Map the spellings of databases to levels: 1.0 to 1, 1.0e-05 to 1e-05, true to True."""
    found: dict[str, str] = {level: level for level in levels if says_missing(level)}
    for level in levels:
        number = _as_number(level)
        words = [level_name(level)] if number is None else [level_name(level), repr(number), _sqlite_text(number)]
        words += ["-0.0"] if number == 0 else []
        if {*levels} <= _TRUTHS.keys():
            words += _TRUTHS[level]
        for word in words:
            if word not in levels:
                found.setdefault(word, level)
    return found


def _as_number(level: str) -> float | None:
    """Return the float that a level stands for, or None."""
    try:
        number = float(level)
    except ValueError:
        return None
    return number if level_name(number) == level_name(level) else None


def _sqlite_text(number: float) -> str:
    """Write a float as SQLite does: at most 15 digits, always with a decimal point."""
    mantissa, sign, exponent = f"{number:.15g}".partition("e")
    return mantissa + ("" if "." in mantissa else ".0") + sign + exponent


def _number_or_null(value: str) -> str:
    """Replace NaN, which DuckDB has and treats as greater than infinity, by NULL."""
    return f"CASE WHEN {value} <= {_INFINITY} THEN {value} END"


@dataclass
class _Steps:
    """The columns of the query: those of the data by name, and those added layer by layer."""

    schema: Schema
    name: str
    step: tuple[float | None, str] | None
    """The length of a step (None if steps differ) and the unit of times."""
    time: str | None
    columns: dict[str, str] = field(default_factory=dict)
    _added: list[list[str]] = field(default_factory=list)
    _known: dict[Expression, tuple[str, int]] = field(default_factory=dict)
    """The names of added columns, and the layers from which on they can be used."""
    timed: bool = False
    """True if the query uses the times of the table."""

    @property
    def period(self) -> float | None:
        """The length of a step; None if steps differ."""
        return 1.0 if self.step is None else self.step[0]

    def layers(self, source: str) -> list[str]:
        """Return the common table expressions in order."""
        found = [f"{self.name}0 AS (\n  {source}\n)"]
        for i, added in enumerate(self._added, 1):
            columns = ",\n         ".join(["*", *added])
            found.append(
                f"{self.name}{i} AS MATERIALIZED (\n  SELECT {columns}\n    FROM {self.name}{i - 1}{_WINDOWS}\n)"
            )
        return found

    def _layer(self, e: Expression) -> int:
        """Return the layer in which all columns for the operands of an expression exist."""
        return max((self._known[part][1] for part in e.walk() if part is not e and part in self._known), default=0)

    def _column(self, e: Expression) -> str:
        assert isinstance(e.head, Attribute)
        return self.columns.setdefault(e.head.name, f"c{len(self.columns)}")

    def condition(self, e: Expression) -> str:
        """Write a Boolean expression as a condition that is true or false, never NULL."""
        if isinstance(e.head, Attribute):
            return f"COALESCE({self._column(e)} = 1, FALSE)"
        return self._operation(e)

    def number(self, e: Expression) -> str:
        """Write an expression that yields numbers; NULL where they are missing."""
        if isinstance(e.head, Attribute):
            return self._column(e)
        return _real(e.head.value) if isinstance(e.head, Number) else self._operation(e)

    def _operation(self, e: Expression) -> str:
        if not isinstance(e.head, Operator):
            raise unsayable(e, "SQL")
        cell = SQL[e.head]
        if isinstance(cell, Refused):
            raise cell.error(e, "SQL")
        return cell(self, e)

    def named(self, e: Expression, text: str) -> str:
        """Add a column with an expression to the first layer that has all it refers to; return its name."""
        if e not in self._known:
            layer = self._layer(e)
            while len(self._added) <= layer:
                self._added.append([])
            name = f"v{len(self._known)}"
            self._added[layer].append(f"{text} AS {name}")
            self._known[e] = (name, layer + 1)
        return self._known[e][0]

    def known_as(self, e: Expression, last: Expression, text: str) -> str:
        """Add a column for the last step in computing an expression; return its name."""
        name = self.named(last, text)
        self._known[e] = self._known[last]
        return name

    def joined(self, e: Expression, text: str) -> str:
        """Join conditions; the result becomes a column if it is nested too deeply."""
        text = text.format(*(self.condition(operand) for operand in e.operands))
        return f"({self.named(e, _bit(text))} = 1)" if _nesting(text) > _DEEPEST else text

    def over_time(self, e: Expression, text: str) -> str:
        """Add a column for a condition aggregated over steps; return its name."""
        return self.named(e, text.format(_bit(self.condition(e.args[0]))))

    def missing(self, e: Expression) -> str:
        """Write the condition that a column or signal has no value."""
        (operand,) = e.args
        if is_never_missing(operand):
            return "FALSE"
        return f"({self.number(operand)} IS NULL)"

    def compared(self, e: Expression) -> str:
        """Write a comparison, false where something is missing."""
        assert isinstance(e.head, Operator)
        if e.args[0].type is Type.CATEGORICAL_VECTOR:
            return self._same_category(e)
        left, right = (self.number(arg) for arg in e.args)
        return f"COALESCE({left} {e.head.name} {right}, FALSE)"

    def _same_category(self, e: Expression) -> str:
        levels = [_text(level) for level in common_levels(e, self.schema)]
        if not levels:
            return "FALSE"
        left, right = (self._column(arg) if isinstance(arg.head, Attribute) else levels[0] for arg in e.args)
        known = "" if isinstance(e.args[1].head, Level) else f" AND {left} IN ({', '.join(levels)})"
        return f"COALESCE({left} = {right}{known}, FALSE)"

    def elapsed(self, e: Expression) -> str:
        """Write the time since the first step: counted if steps have one length, else from the times of the table."""
        if self.period is not None:
            return f"((step - 1) * {_real(self.period)})"
        return self.named(e, f"{self.clock(e)} - FIRST_VALUE(clock) {_BEFORE}")

    def clock(self, e: Expression) -> str:
        """Return the column of times, which is needed if steps differ in length."""
        if self.time is None:
            raise unsayable(e, "SQL without a column of times, for steps differ in length; give time=...")
        self.timed = True
        return "clock"


_Cell: TypeAlias = Callable[[_Steps, Expression], str]


def _joins(text: str) -> _Cell:
    return lambda steps, e: steps.joined(e, text)


def _looks(text: str) -> _Cell:
    return lambda steps, e: f"({steps.over_time(e, text)} = 1)"


def _compares(steps: _Steps, e: Expression) -> str:
    return steps.compared(e)


def _absolute(steps: _Steps, e: Expression) -> str:
    text = f"ABS({steps.number(e.args[0])})"
    return steps.named(e, text) if _nesting(text) > _DEEPEST else text


def _difference(steps: _Steps, e: Expression) -> str:
    left, right = (steps.number(arg) for arg in e.args)
    return f"({_number_or_null(steps.named(e, f'{left} - {right}'))})"


def _sign(steps: _Steps, e: Expression) -> str:
    x = steps.number(e.args[0])
    return steps.named(e, f"CASE WHEN {x} > 0 THEN 1 WHEN {x} < 0 THEN -1 WHEN {x} = 0 THEN 0 END")


def _change(steps: _Steps, e: Expression) -> str:
    x, back = steps.number(e.args[0]), int(min(e.parameter("k"), FARTHEST))
    before = f"CASE WHEN step > {back} THEN LAG({x}, {back}) {_BEFORE} ELSE FIRST_VALUE({x}) {_BEFORE} END"
    return f"({_number_or_null(steps.named(e, f'{x} - {before}'))})"


def _gone(steps: _Steps, e: Expression) -> str:
    """Write the share of the record's steps that have passed, or of its time if steps differ in length."""
    if steps.period is not None:
        share = f"(step - 1e0) / ({_COUNT} - 1)"
    else:
        clock = steps.clock(e)
        share = f"({clock} - MIN({clock}) OVER whole) / (MAX({clock}) OVER whole - MIN({clock}) OVER whole)"
    return steps.named(e, f"CASE WHEN step < {_COUNT} THEN {share} ELSE 1e0 END")


def _within(how: str) -> _Cell:
    """Return a cell that aggregates a condition over a window; steps beyond the record do not count."""

    def cell(steps: _Steps, e: Expression) -> str:
        found = steps.over_time(e, f"{how}({{}}) OVER {_frame(e)}")
        return f"(COALESCE({found}, {int(how == 'MIN')}) = 1)"

    return cell


def _frame(e: Expression) -> str:
    """Write the frame of a window."""
    first, last = (int(bound) if bound < LONGEST_WINDOW else "UNBOUNDED" for bound in e.window)
    if first == "UNBOUNDED":
        raise unsayable(e, f"SQL, whose windows begin less than {LONGEST_WINDOW:,} steps away")
    assert isinstance(e.head, Operator)
    ahead = isinstance(e.head.means, Joins) and e.head.means.code not in BEHIND
    rows = f"{first} FOLLOWING AND {last} FOLLOWING" if ahead else f"{last} PRECEDING AND {first} PRECEDING"
    return f"(PARTITION BY record ORDER BY step ROWS BETWEEN {rows})"


def _sum(x: str, over: str, divided: str = "") -> str:
    """Write a sum; infinities are handled apart, since databases subtract values that leave a moving window."""
    return (
        f"CASE WHEN MAX({x}) {over} >= {_INFINITY} THEN CASE WHEN MIN({x}) {over} > -{_INFINITY} THEN {_INFINITY} END "
        f"WHEN MIN({x}) {over} <= -{_INFINITY} THEN -{_INFINITY} "
        f"ELSE SUM(CASE WHEN ABS({x}) < {_INFINITY} THEN {x} END) {over}{divided} END"
    )


def _mean(x: str, over: str) -> str:
    return _sum(x, over, f" / COUNT({x}) {over}")


def _least(x: str, over: str) -> str:
    return f"MIN({x}) {over}"


def _greatest(x: str, over: str) -> str:
    return f"MAX({x}) {over}"


def _spread(x: str, over: str) -> str:
    return f"{_greatest(x, over)} - {_least(x, over)}"


AGGREGATES: dict[str, Callable[[str, str], str] | Refused] = {
    "mean": _mean,
    "min": _least,
    "max": _greatest,
    "spread": _spread,
}
"""Code for each aggregate, by name, given a signal and a window; NULL where there are no numbers."""


def _aggregated(operator: Operator) -> _Cell | Refused | None:
    """Derive the cell of an aggregate from its code."""
    traits = operator.traits
    text = None if traits.aggregate is None else AGGREGATES.get(traits.aggregate.name)
    if text is None or isinstance(text, Refused):
        return text

    def cell(steps: _Steps, e: Expression) -> str:
        over = _frame(e) if traits.scope is Scope.WINDOW else "whole"
        return f"({_number_or_null(steps.named(e, text(steps.number(e.args[0]), f'OVER {over}')))})"

    return cell


def _total(steps: _Steps, e: Expression) -> str:
    return f"({_number_or_null(steps.named(e, _sum(steps.number(e.args[0]), 'OVER behind')))})"


def _slope(steps: _Steps, e: Expression) -> str:
    """Write the slope by least squares; all numbers but the values are integers."""
    x = steps.number(e.args[0])
    known = f"CASE WHEN {x} IS NOT NULL THEN {{}} END"
    first, second = (f"SUM({known.format(power)}) OVER whole" for power in ("step - 1", "(step - 1) * (step - 1)"))
    part = Expression(op.NOT, (e,))  # no formula equals it: keys for intermediate columns
    width = steps.named(part, f"COUNT({x}) OVER whole * {second} - {first} * {first}")
    weight = steps.named(Expression(op.AND, (e, e)), f"COUNT({x}) OVER whole * (step - 1) - {first}")
    slope = (
        f"CASE WHEN MAX(ABS({x})) OVER whole >= {_INFINITY} THEN NULL WHEN {width} = 0 THEN 0e0 "
        f"ELSE SUM(CAST({weight} AS DOUBLE) * {x}) OVER whole / {width} END"
    )
    return f"({_number_or_null(steps.known_as(e, Expression(op.NOT, (part,)), slope))})"


def _end(which: str) -> _Cell:
    """Return a cell for the first (MIN) or last (MAX) present value."""

    def cell(steps: _Steps, e: Expression) -> str:
        x, place = steps.number(e.args[0]), Expression(op.NOT, (e,))
        end = steps.named(place, f"{which}(CASE WHEN {x} IS NOT NULL THEN step END) OVER whole")
        return steps.known_as(e, Expression(op.NOT, (place,)), f"MAX(CASE WHEN step = {end} THEN {x} END) OVER whole")

    return cell


def _when(extreme: Operator) -> _Cell:
    """Return a cell for the time of the first step with the extreme of a signal."""

    def cell(steps: _Steps, e: Expression) -> str:
        x, best, elapsed = steps.number(e.args[0]), Expression(extreme, e.args), Expression(op.ELAPSED)
        time = f"MIN(CASE WHEN {x} = {steps.number(best)} THEN {steps.number(elapsed)} END) OVER whole"
        return steps.known_as(e, Expression(op.AND, (best, elapsed)), time)

    return cell


def _distance(steps: _Steps, e: Expression) -> str:
    """Write the distance of the last steps from a shape."""
    (signal, shape), pattern = e.args, e.shape.pattern
    last = len(pattern) - 1
    if last >= LONGEST_SHAPE:
        raise unsayable(e, f"SQL, where a shape has at most {LONGEST_SHAPE} steps")
    x, over = steps.number(signal), f"OVER {_back(last)}"
    # Keys for intermediate columns, which no formula equals.
    low, high = (Expression(side, (Expression(Number(-len(pattern))), signal)) for side in (op.AND, op.OR))
    total, square, alike = Expression(op.NOT, (low,)), Expression(op.NOT, (high,)), Expression(op.AND, (high, shape))
    least, most = steps.named(low, _least(x, over)), steps.named(high, _greatest(x, over))
    values = [
        steps.named(Expression(op.AND, (Expression(Number(float(back))), signal)), f"LAG({x}, {back}) {_BEFORE}")
        for back in range(last, -1, -1)
    ]
    shares = [f"({value} - {least}) / ({most} - {least})" for value in values]
    parts = (
        steps.named(total, " + ".join(shares)),
        steps.named(square, " + ".join(f"({share}) * ({share})" for share in shares)),
        steps.named(alike, " + ".join(f"{_real(q)} * ({share})" for q, share in zip(pattern, shares, strict=True))),
    )
    apart = "2e0 - 2e0 * {2} / SQRT({1} - {0} * {0} / {3})".format(*parts, _real(len(pattern)))
    found = (
        f"CASE WHEN COUNT({x}) {over} <= {last} OR {most} - {least} >= {_INFINITY} THEN NULL "
        f"WHEN {most} = {least} THEN CASE WHEN ABS({most}) < {_INFINITY} THEN 1e0 END "
        f"ELSE ROUND(SQRT(CASE WHEN {apart} > 0 THEN {apart} ELSE 0e0 END), {DECIMALS}) END"
    )
    return steps.known_as(e, Expression(op.AND, (total, alike)), found)


def _back(steps: int) -> str:
    """Write the window of a step and so many before it."""
    return f"(PARTITION BY record ORDER BY step ROWS BETWEEN {steps} PRECEDING AND CURRENT ROW)"


def _latest(steps: _Steps, e: Expression) -> str:
    """Write the latest value: steps are grouped by the last one at which the condition held."""
    x, holds = steps.number(e.args[0]), steps.condition(e.args[1])
    last = Expression(op.NOT, (e,))  # no formula equals it: a key for an intermediate column
    event = steps.named(last, f"MAX(CASE WHEN {holds} THEN step END) OVER behind")
    value = f"MAX(CASE WHEN step = {event} THEN {x} END) OVER (PARTITION BY record, {event})"
    return steps.known_as(e, Expression(op.NOT, (last,)), value)


def _until(weak: bool) -> _Cell:
    """Return a cell: at the next step at which the second holds or the first does not, the second must hold."""

    def cell(steps: _Steps, e: Expression) -> str:
        first, second = (steps.condition(operand) for operand in e.operands)
        ends = steps.named(
            e, f"MIN(CASE WHEN {second} THEN 2 * step WHEN NOT {first} THEN 2 * step + 1 END) OVER ahead"
        )
        return f"(COALESCE({ends} % 2, {int(not weak)}) = 0)"

    return cell


def _since(steps: _Steps, e: Expression) -> str:
    """Write `since`: at the last step at which the second held or the first did not, the second must have held."""
    first, second = (steps.condition(operand) for operand in e.operands)
    ends = f"MAX(CASE WHEN {second} THEN 2 * step WHEN NOT {first} THEN 2 * step + 1 END) OVER behind"
    return f"(COALESCE({steps.named(e, ends)} % 2, 1) = 0)"


def _longest(steps: _Steps, e: Expression) -> str:
    """Write the longest run: runs are numbered by the steps at which it does not hold, and steps of each counted."""
    holds = steps.condition(e.args[0])
    run = Expression(op.NOT, (e,))  # no formula equals it: a key for an intermediate column
    held, most = Expression(op.NOT, (run,)), Expression(op.NOT, (Expression(op.NOT, (run,)),))
    number = steps.named(run, f"SUM({_bit(f'NOT {holds}')}) OVER behind")
    length = steps.named(held, f"SUM({_bit(holds)}) OVER (PARTITION BY record, {number})")
    return steps.known_as(e, most, f"MAX({length}) OVER whole")


def _left(steps: _Steps, e: Expression) -> str:
    """Write the time until the last step; see `elapsed`."""
    if steps.period is not None:
        return steps.named(e, f"({_COUNT} - step) * {_real(steps.period)}")
    return steps.named(e, f"LAST_VALUE({steps.clock(e)}) OVER ahead - clock")


SQL: Cells[_Cell | Refused] = Cells(
    "SQL",
    "models/export_sql.py",
    {
        op.NOT: _joins("(NOT {})"),
        op.AND: _joins("({} AND {})"),
        op.OR: _joins("({} OR {})"),
        op.IMPLIES: _joins("(NOT {} OR {})"),
        op.EVENTUALLY: _looks("MAX({}) OVER ahead"),
        op.GLOBALLY: _looks("MIN({}) OVER ahead"),
        op.COUNT: lambda steps, e: steps.over_time(e, "SUM({}) OVER whole"),
        op.LESS: _compares,
        op.LESS_EQUAL: _compares,
        op.GREATER: _compares,
        op.GREATER_EQUAL: _compares,
        op.EQUAL: _compares,
        op.MISSING: lambda steps, e: steps.missing(e),
        op.ABS: _absolute,
        op.DIFFERENCE: _difference,
        op.SIGN: _sign,
        op.CHANGE: _change,
        op.GONE: _gone,
        op.LEFT: _left,
        op.LENGTH: lambda steps, e: steps.named(e, _COUNT),
        op.EVENTUALLY_WITHIN: _within("MAX"),
        op.GLOBALLY_WITHIN: _within("MIN"),
        op.NEXT: _within("MAX"),
        op.PREVIOUS: _within("MAX"),
        op.ONCE: _looks("MAX({}) OVER behind"),
        op.HISTORICALLY: _looks("MIN({}) OVER behind"),
        op.ONCE_WITHIN: _within("MAX"),
        op.HISTORICALLY_WITHIN: _within("MIN"),
        op.UNTIL: _until(weak=False),
        op.UNLESS: _until(weak=True),
        op.SINCE: _since,
        **dict.fromkeys(
            (op.RISE, op.FALL, op.BEFORE, op.BEFORE_WITHIN), lambda steps, e: steps.condition(spelt_out(e))
        ),
        op.EPISODES: lambda steps, e: steps.number(spelt_out(e)),
        op.TOTAL: _total,
        op.LATEST: _latest,
        op.SLOPE: _slope,
        op.FIRST: _end("MIN"),
        op.LAST: _end("MAX"),
        op.WHEN_MIN: _when(op.MIN),
        op.WHEN_MAX: _when(op.MAX),
        op.DISTANCE: _distance,
        op.LONGEST: _longest,
        op.ELAPSED: lambda steps, e: steps.elapsed(e),
    },
    derived=_aggregated,
)
"""Code for a condition, or for a number that is NULL where it is missing."""


def _nesting(text: str) -> int:
    """Return the depth of nested parentheses."""
    depths = accumulate((sign == "(") - (sign == ")") for sign in text)
    return max(depths)


def _bit(condition: str) -> str:
    return f"CASE WHEN {condition} THEN 1 ELSE 0 END"


def _real(value: float) -> str:
    """Write a double exactly; without an exponent DuckDB would read a decimal."""
    text = repr(float(value))
    text = text if "e" in text else text + "e0"
    return f"({text})" if text.startswith("-") else text


def _name(name: str) -> str:
    return '"' + _sayable(name).replace('"', '""') + '"'


def _text(text: str) -> str:
    return "'" + _sayable(text).replace("'", "''") + "'"


def _sayable(text: str) -> str:
    if "\0" in text:
        raise SettingsError(f"{text!r:.80} cannot be exported to SQL, which ends at a null character; rename it")
    return text


def _literal(label: Any) -> str:
    if isinstance(label, bool):
        return str(label).upper()
    return repr(label) if isinstance(label, int | float) else _text(str(label))
