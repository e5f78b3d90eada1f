"""The traits in the rows of operators, compared with what the naive oracle does on records made to tell.

Each trait is computed from the oracle's answers alone: on records without gaps, with infinities, constant, of one step.
A trait that is wrong in the table would show only in rare sentences, such as one that omits "or is missing".
"""

import math
import random

import pytest

from tests.support import oracle, three_valued

from telltree.logic import OPERATORS, Type
from telltree.logic.meaning import Infinities, Makes, Scope
from telltree.logic.operators import Quantity

INF = math.inf
NUMBERS = (-7.0, -2.0, -1.0, 0.0, 1.0, 2.0, 4.0, 8.0)
"""Small whole numbers, which all operators but slope and mean treat without rounding."""
SIGNALS = [
    row for row in OPERATORS if any(result is Type.REAL_VECTOR and len(ts) == row.takes for ts, result in row.uses())
]
OTHERS = [row for row in OPERATORS if isinstance(row.means, Makes) and row not in SIGNALS]
PER_STEP = {"slope"}
"""Operators whose values grow with those of their operands, but in another unit: that of the operands, per step."""
HUGE = 1.7e308


def drawn(numbers, infinities=False):
    """Records of one to six steps with numbers x and y and a condition b, constant in every third record."""
    rng, found = random.Random(0), []
    for k in range(120):
        n = 1 + k % 6
        values = [*numbers, INF, -INF, INF, -INF] if infinities else numbers
        record = {name: [rng.choice(values) for _ in range(n)] for name in "xy"}
        record["b"] = [rng.random() < 0.5 for _ in range(n)]
        found.append(record if k % 3 else {name: [column[0]] * n for name, column in record.items()})
    return found


def given(row):
    """Expressions with an operator, its parameters small or large, as the oracle reads them."""
    (types, _), *_ = (use for use in row.uses() if use[1] is Type.REAL_VECTOR)
    names = iter("xy")
    operands = [("x", "b") if kind in (Type.BOOLEAN, Type.BOOLEAN_VECTOR) else ("x", next(names)) for kind in types]
    if any(one.quantity is Quantity.SHAPE for one in row.parameters):
        return [(row.name, *operands, ("shape", numbers)) for numbers in ((0.0, 1.0), (0.0, 1.0, -1.0))]
    if len(row.parameters) == 2:
        bounds = [(0.0, 0.0), (0.0, 2.0), (0.0, 9.0), (1.0, 1.0), (1.0, 2.0), (2.0, 9.0)]
        return [(row.name, *operands, ("number", low), ("number", high)) for low, high in bounds]
    if row.parameters:
        return [(row.name, *operands, ("number", steps)) for steps in (1.0, 2.0, 9.0)]
    return [(row.name, *operands)]


def begins_now(e):
    """True if a window begins at the current step, so that there always is a step in it."""
    return not e[0].endswith("[]") or e[-1][0] == "shape" or e[-2][1] == 0.0


def values(e, record):
    return oracle.values(e, record, {})


def every(e, records):
    return [value for record in records for value in values(e, record)]


PLAIN, INFINITE, LARGE = drawn(NUMBERS), drawn(NUMBERS, infinities=True), drawn([HUGE, -HUGE])
CONSTANT = [record for record in PLAIN if all(len(set(column)) == 1 for column in record.values())]
LONG = [record for record in PLAIN if len(record["x"]) > 1]


@pytest.fixture(params=SIGNALS, ids=lambda row: row.name)
def row(request):
    return request.param


def test_gaps(row):
    """A signal with gaps is missing somewhere even if all operands are finite, and others nowhere."""
    missing = any(None in every(e, PLAIN) for e in given(row) if begins_now(e))
    assert row.traits.gaps == missing


def test_windows_that_begin_earlier_have_gaps(row):
    late = [e for e in given(row) if not begins_now(e)]
    assert bool(late) == (row.window is not None)
    assert all(None in every(e, PLAIN) for e in late)


def test_infinities(row):
    """Infinite operands leave a signal finite, make it infinite, or also missing, where it would be present."""
    found = cancelled = False  # infinite somewhere; missing only because of infinities
    for e in given(row):
        for record in INFINITE:
            finite = {name: [3.0 if x in (INF, -INF) else x for x in column] for name, column in record.items()}
            pairs = list(zip(values(e, record), values(e, finite), strict=True))
            found |= any(one in (INF, -INF) for one, _ in pairs)
            cancelled |= any(one is None and other is not None for one, other in pairs)
    overflows = any(x is not None and math.isinf(x) for e in given(row) for x in safely(e, LARGE))
    match row.traits.infinities:
        case Infinities.NONE:
            assert not found
            assert not overflows
            assert not cancelled or row.traits.gaps  # it may be missing anyway
        case Infinities.KEPT:
            assert found
            assert not overflows
            assert not cancelled
        case Infinities.CANCEL:
            assert cancelled
            assert found or overflows
        case None:
            pytest.fail("a signal must say what infinities become")


def safely(e, records):
    """The answers; infinite where a sum in plain Python overflows."""
    found = []
    for record in records:
        try:
            found += values(e, record)
        except (OverflowError, ValueError):
            found.append(INF)
    return found


def test_units(row):
    """A signal in the unit of its operands is twice as large if these are; one of another unit is not."""
    scaled = [{**record, "x": [2 * x for x in record["x"]], "y": [2 * y for y in record["y"]]} for record in PLAIN]
    pairs = [
        (one, two)
        for e in given(row)
        for one, two in zip(every(e, PLAIN), every(e, scaled), strict=True)
        if one is not None and two is not None
    ]
    homogeneous = all(two == 2 * one for one, two in pairs)
    assert row.traits.keeps_unit == (homogeneous and row.name not in PER_STEP)


def test_a_slope_is_per_step():
    record = {"x": [0.0, 2.0, 4.0]}
    often = {"x": [0.0, 1.0, 2.0, 3.0, 4.0]}  # the same line, measured twice as often
    assert values(("slope", ("x", "x")), record)[0] == 2 * values(("slope", ("x", "x")), often)[0]


def test_scope(row):
    """A signal of the record is the same at all steps; one of a step changes only with its operands."""
    varies = any(len({*values(e, record)}) > 1 for e in given(row) for record in LONG)
    alone = any(len({*values(e, record)}) > 1 for e in given(row) for record in among(CONSTANT, row))
    assert row.traits.lasts == (not varies)
    assert row.traits.moves == alone
    assert (row.traits.scope is Scope.POSITION) == (alone and row.takes == 0)


def among(constant, row):
    """Records whose numbers are constant; for an operator with a condition, this one varies: a signal depends on it."""
    rng = random.Random(1)
    varied = [{**record, "b": [rng.random() < 0.5 for _ in record["b"]]} for record in constant]
    return varied if any(Type.BOOLEAN_VECTOR in types for types, _ in row.uses()) else constant


def changed(record, step):
    """Yield the record with other values at one step: huge, tiny, and with the condition true and false."""
    for x, b in ((99.0, True), (-99.0, False)):
        other = {name: list(column) for name, column in record.items()}
        other["x"][step], other["b"][step] = x, b
        yield other


def test_the_steps_that_matter(row):
    """A window, and all steps so far, end at the current step or before; only a window forgets the first steps."""
    later = earlier = False
    for e in given(row):
        for record in LONG:
            later |= any(values(e, other)[:-1] != values(e, record)[:-1] for other in changed(record, -1))
        far = e if len(e) < 3 or e[-1][0] == "x" else (*e[:-1], ("number", 2.0)) if e[-1][0] == "number" else e
        for record in (one for one in LONG if len(one["x"]) == 6):
            earlier |= any(values(far, other)[-1] != values(far, record)[-1] for other in changed(record, 0))
    scope = row.traits.scope
    if scope is Scope.RECORD:
        assert later or earlier or row.takes == 0
    else:
        assert not later
        assert earlier == (scope is Scope.SO_FAR)


@pytest.mark.parametrize(
    "row", [row for row in OPERATORS if row.traits.aggregate is not None], ids=lambda row: row.name
)
def test_aggregates_are_alike_over_windows_and_records(row):
    """A window as long as the record gives at its last step what the aggregate over the record gives."""
    aggregate = row.traits.aggregate
    assert row.symbol == aggregate.name
    assert row.traits.infinities is aggregate.infinities
    assert row.traits.scope in (Scope.WINDOW, Scope.RECORD)
    assert (row.traits.scope is Scope.WINDOW) == (row.window is not None)
    whole, window = (aggregate.name, ("x", "x")), (f"{aggregate.name}[]", ("x", "x"), ("number", 0.0), ("number", 9.0))
    for record in (*PLAIN, *INFINITE):
        assert values(whole, record)[-1] == values(window, record)[-1]


def test_existence_in_three_valued_logic(row):
    """A signal without gaps exists at every step, also where values are missing; one with gaps does not."""
    absent = False
    for e in given(row):
        for record in PLAIN:
            gappy = {name: [None if t == 0 else x for t, x in enumerate(column)] for name, column in record.items()}
            found = three_valued.signal(e, gappy, {})
            absent |= begins_now(e) and any(value is three_valued.NOTHING for value in found)
    assert absent == row.traits.gaps


@pytest.mark.parametrize("other", OTHERS, ids=lambda row: row.name)
def test_conditions_have_no_traits_of_signals(other):
    """Comparisons and `missing` make no numbers: they have no unit, no infinities, and the scope of a step."""
    means = other.means
    assert means == Makes(on_counts=means.on_counts, outcomes=means.outcomes)
