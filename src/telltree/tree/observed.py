"""Short terms about what a tree's formulas speak of, with constants from the records: what might tell some of them."""

import math
from collections.abc import Iterable, Iterator
from itertools import chain, combinations

import numpy as np

from telltree.data import Column, ColumnType, Panel
from telltree.logic.formulas import signals_of
from telltree.logic.signals import Signals
from telltree.operators import Attribute, Expression, Type
from telltree.speech.lists import joined
from telltree.speech.possible import Possible
from telltree.speech.terms import All, Always, Compares, HowOften, Own, Says, Some, Sometime, Term
from telltree.speech.values import Interval, Names, Reals, Truths, Values

_DIGITS = 3  # of constants that nobody chose with care
_STEPS = 16  # between the constants that are tried of one signal
_MOST_LEVELS = 20
_MOST_SIGNALS = 30  # whose constants are tried
_MOST_ATOMS = 16  # that are counted, and joined with each other
_TIMES = (2, 5, 10, 20, 50, 100)  # how often something may be so, in round numbers
_RELATIONS = ("<", "<=", ">", ">=")
_TYPES = {
    ColumnType.REAL: Type.REAL_VECTOR,
    ColumnType.BOOLEAN: Type.BOOLEAN_VECTOR,
    ColumnType.CATEGORICAL: Type.CATEGORICAL_VECTOR,
}


def observed(columns: Iterable[Column], asked: Iterable[Term], panel: Panel, possible: Possible) -> Iterator[Term]:
    """Terms about these columns and about the atoms of what is `asked`: at some point, always, so often, or at once."""
    atoms = list(dict.fromkeys(chain.from_iterable(map(_atoms, asked))))
    columns = list(columns)
    own = [Expression(Attribute(c.name, _TYPES[c.type])) for c in columns if c.type is ColumnType.REAL]
    made = [atom.signal for atom in atoms if isinstance(atom, Says) and isinstance(atom.values, Reals)]
    signals = signals_of(panel)
    for signal in list(dict.fromkeys([*own, *made]))[:_MOST_SIGNALS]:
        yield from _ever(signal, _ranges(signal, signals, panel, possible), possible)
    for column in columns:
        if column.type is not ColumnType.REAL:
            signal = Expression(Attribute(column.name, _TYPES[column.type]))
            yield from _ever(signal, _kinds(column, possible.misses(signal)), possible)
    changing = [atom for atom in atoms if not possible.lasts(atom)][:_MOST_ATOMS]
    longest = int(panel.lengths.max(initial=0))
    for atom in changing:
        yield from (HowOften(atom, Reals((Interval(float(n)),), False)) for n in _TIMES if n <= longest)
        yield from (HowOften(atom, Reals((Interval(0.0, n - 1.0),), False)) for n in _TIMES if n <= longest)
    for one, other in combinations(changing, 2):
        together = joined(All, (one, other), possible)
        if isinstance(together, All):
            yield Sometime(together)
            yield Always(possible.negated(together))


def _atoms(term: Term) -> Iterator[Says | Compares | Own]:
    """What a term says of single steps, each atom as it stands there."""
    match term:
        case All(parts) | Some(parts):
            yield from chain.from_iterable(map(_atoms, parts))
        case Sometime(part) | Always(part) | HowOften(part=part):
            yield from _atoms(part)
        case Own(expression=e) if e.type is Type.BOOLEAN:
            return
        case _:
            yield term


def _ever(signal: Expression, kinds: Iterable[Values], possible: Possible) -> Iterator[Term]:
    """At some point, or always, a signal has a value of some kind."""
    for values in kinds:
        literal = Says(signal, values)
        if not _closed(values):  # "above 2", and its opposite, "always at most 2"
            yield Sometime(literal)
        if not possible.lasts(literal) and not _open(values):
            yield Always(literal)


def _open(values: Values) -> bool:
    """Whether a set of numbers ends before a constant."""
    return isinstance(values, Reals) and any(not (i.with_low and i.with_high) for i in values.intervals)


def _closed(values: Values) -> bool:
    """Whether a set of numbers ends with a constant."""
    return isinstance(values, Reals) and bool(values.intervals) and not _open(values)


def _ranges(signal: Expression, signals: Signals, panel: Panel, possible: Possible) -> Iterator[Values]:
    """Above or below a constant; where values lie on both sides of 0, also nearer to it or farther away."""
    values, starts = signals.values(signal)[panel.rows()], np.cumsum(panel.lengths) - panel.lengths
    for constant in _constants(values, starts):
        yield from (Reals.compared(how, constant) for how in _RELATIONS)
    if np.nanmin(values, initial=0.0) < 0 < np.nanmax(values, initial=0.0):
        for constant in _constants(np.abs(values), starts):
            if constant > 0:
                yield from (Reals.compared(how, constant).under_abs for how in _RELATIONS)
    if possible.misses(signal):
        yield Reals((), True)


def _constants(values: np.ndarray, starts: np.ndarray) -> list[float]:
    """Constants that tell records by the greatest and the least of their values, in few digits."""
    found: dict[float, None] = {}
    for extreme in (np.fmax, np.fmin):
        ends = extreme.reduceat(values, starts)
        ends = ends[np.isfinite(ends)]
        quantiles = np.quantile(ends, np.linspace(0, 1, _STEPS + 1)) if len(ends) else ()
        found |= dict.fromkeys(float(f"{c:.{_DIGITS}g}") for c in quantiles)
    return [c for c in found if math.isfinite(c)]


def _kinds(column: Column, misses: bool) -> Iterator[Values]:
    missing: Values
    if column.type is ColumnType.BOOLEAN:
        yield Truths(True, False, False)
        yield Truths(False, True, False)
        missing = Truths(False, False, True)
    else:
        for level in column.levels[:_MOST_LEVELS]:
            yield Names(frozenset({level}), False, False)
            yield Names(frozenset({level}), True, misses)
        missing = Names(frozenset(), False, True)
    if misses:
        yield missing
