"""Random schemas, ragged mixed panels and formulas over them; all choices are made by a `random.Random`.

Hypothesis has such a generator too (`st.randoms(use_true_random=False)`), so that the same code draws the bulk of
cases fast and small ones that shrink.
"""

import math
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

import numpy as np
import polars as pl

from tests.support.oracle import ARITHMETIC, COMPARE, UNSEEN

from telltree.errors import DataWarning
from telltree.grammar.derivation import Population
from telltree.grammar.normal_form import Rule
from telltree.logic import OPERATORS, Expression, Hole, Number, Operator, Type, user_function
from telltree.logic.expression import RandomNumber
from telltree.logic.operators import COUNT, Quantity
from telltree.panel import Panel

REAL_NAMES = ("x1", "x2", "x3", "vertical rate", "F", "größe")
BOOLEAN_NAMES = ("b1", "b2", "b3", "and", 'a "b" \\ `c`')
CATEGORICAL_NAMES = ("c1", "c2", "mode of flight", "levels")
LEVELS = ("up", "down", "é", 'say "hi"', "`\\n`", "")
NUMBERS = (0.0, 1.0, 2.0, -1.0, 0.5, 3.0, -2.5, 1e6)
DTYPES = {"real": pl.Float64, "Boolean": pl.Boolean, "categorical": pl.String}
STRANGER = "a level that no schema has"
EDGES = (2, 3, 4, 6, 7, 8, 11, 12, 62, 63, 64, 65)
"""Steps about whole vectors, blocks and words: windows of so many end just before, at or after them."""


@dataclass(frozen=True)
class Column:
    """A column's name, type and levels, without telltree's classes."""

    name: str
    type: str
    levels: tuple[str, ...] = ()
    static: bool = False


@dataclass(frozen=True)
class Case:
    """Records as the oracle reads them; `panel` is the same as telltree does."""

    columns: tuple[Column, ...]
    records: tuple[dict, ...]
    rows: tuple[int, ...] | None = None
    """The records that the panel is cut to, if any."""

    @cached_property
    def panel(self):
        whole = panel_of(self.columns, self.records)
        return whole if self.rows is None else whole[list(self.rows)]

    @property
    def seen(self):
        """The records of the panel, in its order."""
        return self.records if self.rows is None else [self.records[row] for row in self.rows]


def panel_of(columns, records):
    """The panel that holds these records."""
    lengths = [len(record[columns[0].name]) for record in records]
    table = {"id": pl.Series([i for i, length in enumerate(lengths) for _ in range(length)])}
    for column in columns:
        steps = [STRANGER if v is UNSEEN else v for record in records for v in record[column.name]]
        table[column.name] = pl.Series(steps, dtype=DTYPES[column.type], strict=False)
    overrides = {c.name: {"type": c.type} | ({"levels": c.levels} if c.levels else {}) for c in columns}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # infinite values and categories that no schema has are meant
        static = [column.name for column in columns if column.static]
        return Panel.from_frame(pl.DataFrame(table), id="id", static=static, schema=overrides)


def draw_columns(rng):
    """One to three columns of each type, some of them static."""
    columns = []
    for kind, names in (("real", REAL_NAMES), ("Boolean", BOOLEAN_NAMES), ("categorical", CATEGORICAL_NAMES)):
        for name in rng.sample(names, rng.randint(1, 3)):
            levels = tuple(rng.sample(LEVELS, rng.randint(1, 4))) if kind == "categorical" else ()
            columns.append(Column(name, kind, levels, static=rng.random() < 0.2))
    rng.shuffle(columns)
    return tuple(columns)


def draw_case(rng, columns, lengths):
    """Records of these lengths; columns differ in how often they are missing, from never to always."""
    blank = {column.name: rng.choice((0.0, 0.0, 0.1, 0.4, 1.0 if rng.random() < 0.1 else 0.2)) for column in columns}
    skew = {column.name: rng.choice((0.02, 0.5, 0.98)) for column in columns}  # F and G are seldom equal to their start

    def value(column):
        if rng.random() < blank[column.name]:
            return math.nan if column.type == "real" and rng.random() < 0.5 else None
        if column.type == "Boolean":
            return rng.random() < skew[column.name]
        if column.type == "categorical":
            return UNSEEN if rng.random() < 0.05 else rng.choice(column.levels)
        if rng.random() < 0.05:
            return rng.choice((math.inf, -math.inf, -0.0, 0.1, 1e300))
        return rng.choice(NUMBERS[:5]) if rng.random() < skew[column.name] else rng.choice(NUMBERS)

    def steps(column, length):
        return [value(column)] * length if column.static else [value(column) for _ in range(length)]

    records = tuple({column.name: steps(column, length) for column in columns} for length in lengths)
    return Case(columns, records)


def cut(rng, case):
    """The same case with its panel cut to some records, in any order, some of them more than once."""
    return replace(case, rows=tuple(rng.choices(range(len(case.records)), k=rng.randint(1, len(case.records)))))


def written(rng, operator, *operands):
    """An operator with its operands, and parameters that it allows."""
    given = [draw_parameter(rng, row) for row in operator.parameters]
    if operator.is_empty(given):
        given.reverse()  # a window ends where it begins, or later
    return (operator.name, *operands, *(("number" if isinstance(value, float) else "shape", value) for value in given))


def draw_parameter(rng, row):
    """A value that a parameter may have: few steps, or about as many as the memory layout has together."""
    if row.quantity is Quantity.SHAPE:
        steps = rng.choice((1, 2, 3, 8))
        levels = rng.choice((range(8), (0.0, 1.0, -2.5, 1e6)))
        return (3.0, *(float(rng.choice(levels)) for _ in range(steps - 1)), float(rng.choice((0, 1, 7))))
    few = [row.least, row.least + 1, row.least + 2, row.least + 9, row.example]
    choices = few if rng.random() < 0.5 else [row.least + steps for steps in EDGES]
    return float(rng.choice([value for value in choices if row.allows(value)]))


def usable(result, *types):
    """The operators that make what has one type of operands of these types."""
    return [row for row in OPERATORS if (types, result) in set(row.uses())]


class RandomFormulas:
    """Draws formulas over the columns of a case: every type of expression has its method. Operators are drawn from the
    table, whatever is in it."""

    looks_back = True
    """True to draw operators that depend on the place of a step in its record, or on earlier steps."""

    def __init__(self, rng, columns):
        self.rng = rng
        self.calls = 0
        self.of_type = {kind: [c for c in columns if c.type == kind] for kind in DTYPES}
        joins = [row for row in OPERATORS if row.joins]
        self.connectives = [row for row in joins if not row.looks]
        self.temporal = [row for row in joins if row.looks and Type.BOOLEAN in {result for _, result in row.uses()}]
        self.past = [row for row in joins if row.looks and row not in self.temporal]
        self.clocks = usable(Type.REAL_VECTOR)
        self.of_one = usable(Type.REAL_VECTOR, Type.REAL_VECTOR)
        self.of_two = usable(Type.REAL_VECTOR, Type.REAL_VECTOR, Type.REAL_VECTOR)
        self.of_event = usable(Type.REAL_VECTOR, Type.REAL_VECTOR, Type.BOOLEAN_VECTOR)
        self.counted = [row.name for row in usable(Type.COUNT, Type.BOOLEAN_VECTOR)]
        self.of_counts = usable(Type.COUNT, Type.COUNT)

    def boolean(self, depth):
        """One truth value per record."""
        rng = self.rng
        if depth <= 1 or rng.random() < 0.4:
            return self.over_time(depth)
        if rng.random() < 0.35:
            return self.comparison_of_counts(depth - 1)
        return self.connective(depth, self.boolean)

    def over_time(self, depth):
        operator = self.rng.choice(self.temporal)
        return written(self.rng, operator, *(self.vector(depth - 1) for _ in range(operator.takes)))

    def connective(self, depth, operand):
        operator = self.rng.choice(self.connectives)
        return written(self.rng, operator, *(operand(depth - 1) for _ in range(operator.takes)))

    def vector(self, depth):
        """A truth value at every step."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.25:
            return self.atom(depth)
        if rng.random() < 0.3:
            return self.boolean(depth)
        past = self.looks_back and rng.random() < 0.3
        return self.behind(depth) if past else self.connective(depth, self.vector)

    def behind(self, depth):
        """A truth value at every step by what was before."""
        operator = self.rng.choice(self.past)
        return written(self.rng, operator, *(self.vector(depth - 1) for _ in range(operator.takes)))

    def atom(self, depth):
        kinds = (self.on, self.against_number, self.against_number, self.against_other, self.level, self.categories)
        return self.rng.choice((*kinds, self.missing, self.boolean_call))(depth)

    def on(self, depth):
        return self.attribute("Boolean")

    def against_number(self, depth):
        return self.compared(self.real(depth), self.number())

    def against_other(self, depth):
        return self.compared(self.real(depth), self.real(depth))

    def compared(self, *sides):
        return (self.rng.choice(list(COMPARE)), *self.rng.sample(sides, 2))

    def level(self, depth):
        column = self.rng.choice(self.of_type["categorical"])
        return ("=", ("x", column.name), ("level", self.rng.choice(column.levels)))

    def categories(self, depth):
        return ("=", self.attribute("categorical"), self.attribute("categorical"))

    def missing(self, depth):
        asked = [self.attribute(kind) for kind in DTYPES]
        asked += [self.real(depth), self.boolean_call(depth), ("not", self.attribute("Boolean"))]
        return ("missing", self.rng.choice(asked))

    def boolean_call(self, depth):
        return self.call("Boolean", depth)

    def real(self, depth):
        """A number at every step that depends on the record."""
        rng = self.rng
        if depth < -2 or rng.random() < 0.6:
            return self.attribute("real")
        ways = [self.difference, lambda depth: ("abs", self.difference(depth)), self.real_call]
        return rng.choice([*ways, *[self.made] * 4, *[self.clock, self.event] * self.looks_back])(depth)

    def clock(self, depth):
        return written(self.rng, self.rng.choice(self.clocks))

    def made(self, depth):
        """A signal of another."""
        operators = [row for row in self.of_one if self.looks_back or row.name in ARITHMETIC]
        return written(self.rng, self.rng.choice(operators), self.real(depth - 1))

    def event(self, depth):
        """A signal of another and of a condition."""
        return written(self.rng, self.rng.choice(self.of_event), self.real(depth - 1), self.vector(depth - 1))

    def difference(self, depth):
        """A signal of two."""
        other = self.number() if self.rng.random() < 0.3 else self.real(depth - 1)
        return written(self.rng, self.rng.choice(self.of_two), *self.rng.sample((self.real(depth - 1), other), 2))

    def real_call(self, depth):
        return self.call("real", depth)

    def call(self, gives, depth):
        rng = self.rng
        function = rng.choice([function for function in FUNCTIONS if function.gives == gives])
        self.calls += 1
        operands = []
        for kind in function.takes:
            if kind == "categorical" or self.calls > 2 or rng.random() < 0.3:
                operands.append(self.attribute(kind))
            else:
                draw = self.real if kind == "real" else rng.choice((self.vector, self.boolean))
                operands.append(draw(rng.randint(0, 3)))
        self.calls -= 1
        return ("call", function.name, *operands)

    def comparison_of_counts(self, depth):
        return self.compared(self.count(depth), self.rng.choice((self.whole, self.count))(depth))

    def count(self, depth):
        """One number per record, which depends on the record."""
        rng = self.rng
        if depth <= 0 or rng.random() < 0.6:
            return (rng.choice(self.counted), self.vector(depth - 1))
        difference = ("-", *rng.sample((self.count(depth - 1), rng.choice((self.whole, self.count))(depth - 1)), 2))
        return rng.choice((difference, *(written(rng, row, difference) for row in self.of_counts)))

    def whole(self, depth):
        return ("number", float(self.rng.choice((0, 1, 2, 3, -1, 63, 64, 0.5))))

    def number(self):
        return ("number", self.rng.choice(NUMBERS))

    def attribute(self, kind):
        return ("x", self.rng.choice(self.of_type[kind]).name)


def derived(rng, expressions):
    """Rules of a grammar that can say these formulas, its symbols, and the derivations of them.

    Formulas are cut into rules wherever `rng` says so; numbers may become random constants.
    """
    templates = {"Start": {}}  # of each symbol: its templates, in order
    derivations = []

    def derive(e, symbol):
        """The templates that write an expression, in prefix order, each with its random constant."""
        below = []

        def template(part):
            args = []
            for arg in part.args:
                if rng.random() < 0.5:
                    hole = Hole(*_symbol(rng, part, arg))
                    below.extend(derive(arg, hole.symbol))
                    args.append(Expression(hole))
                else:
                    args.append(template(arg))
            return Expression(part.head, tuple(args))

        constant = math.nan
        made = template(e)
        if isinstance(e.head, Number) and rng.random() < 0.5:
            constant, made = e.head.value, Expression(RandomNumber(-1e9, 1e9))
        known = templates.setdefault(symbol, {})
        return [(symbol, known.setdefault(made, len(known)), constant), *below]

    for e in expressions:
        derivations.append(derive(e, "Start"))
    rules = [Rule(symbol, made, 1 / len(known)) for symbol, known in templates.items() for made in known]
    first = dict(zip(templates, accumulate(map(len, templates.values()), initial=0), strict=False))
    population = Population.empty(len(derivations), max(map(len, derivations)), constants=True)
    for i, nodes in enumerate(derivations):
        population.lengths[i] = len(nodes)
        population.rules[i, : len(nodes)] = [first[symbol] + number for symbol, number, _ in nodes]
        population.constants[i, : len(nodes)] = [constant for _, _, constant in nodes]
    return rules, list(templates), population


def _symbol(rng, above, e):
    """The symbol of a hole and its type: that of the expression in it, or a wider one that will do in its place."""
    wider = e.type
    types = {arg.type for arg in above.operands}
    if e.type is Type.BOOLEAN and isinstance(above.head, Operator) and (above.head.looks or above.head is COUNT):
        wider = Type.BOOLEAN_VECTOR
    elif e.type is Type.REAL and types != {Type.REAL} and any(e is operand for operand in above.operands):
        (wider,) = types - {Type.REAL}
    kind = rng.choice((e.type, wider))
    return f"{kind.name}{rng.randint(1, 2)}", kind


@user_function(takes=["real"], gives="real", elementwise=True)
def half(x):
    return x / 2


@user_function(takes=["real"], gives="real")
def jump(x):
    """From the step before; 0 at the first step."""
    with np.errstate(invalid="ignore"):
        return np.diff(x, prepend=x[:1])


@user_function(takes=["Boolean"], gives="real")
def so_often(b):
    return np.cumsum(b)


@user_function(takes=["real", "Boolean"], gives="Boolean", elementwise=True)
def both(x, b):
    return (x > 0) & b


@user_function(takes=["Boolean"], gives="Boolean")
def so_far(b):
    return np.logical_or.accumulate(b)


@user_function(takes=["categorical"], gives="Boolean", elementwise=True)
def short(c):
    return np.array([name is not None and len(name) < 3 for name in c], dtype=bool)


@user_function(takes=["categorical"], gives="Boolean")
def stays(c):
    return np.concatenate([[False], c[1:] == c[:-1]]).astype(bool)


FUNCTIONS = (half, jump, so_often, both, so_far, short, stays)


def _jump(x):
    before = [x[0], *x[:-1]]
    return [None if a is None or b is None else b - a for a, b in zip(before, x, strict=True)]


PLAIN_FUNCTIONS = {
    "half": lambda x: [None if value is None else value / 2 for value in x],
    "jump": _jump,
    "so_often": lambda b: [float(total) for total in accumulate(value is True for value in b)],
    "both": lambda x, b: [value is not None and value > 0 and on is True for value, on in zip(x, b, strict=True)],
    "so_far": lambda b: [any(value is True for value in b[: t + 1]) for t in range(len(b))],
    "short": lambda c: [name is not None and len(name) < 3 for name in c],
    "stays": lambda c: [t > 0 and c[t] == c[t - 1] for t in range(len(c))],
}
"""The same functions as the oracle calls them, on lists with None where a value is missing."""
