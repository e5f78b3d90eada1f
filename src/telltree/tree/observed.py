"""Short terms about what a tree's formulas mention, which might describe some of its records."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations
from typing import TypeAlias

from telltree.data import Column, ColumnType
from telltree.operators import Attribute, Expression, Type
from telltree.speech.lists import joined
from telltree.speech.possible import Possible
from telltree.speech.terms import All, Always, Compares, HowOften, Own, Says, Some, Sometime, Term
from telltree.speech.values import Interval, Names, Reals, Truths, Values

_MOST_LEVELS = 20
_MOST_SIGNALS = 30  # signals whose constants are tried
_MOST_ATOMS = 16  # atoms to count, and to join with each other
_TIMES = (2, 5, 10, 20, 50, 100)  # how often something may hold, in round numbers
Atom: TypeAlias = Says | Compares | Own
_TYPES = {
    ColumnType.REAL: Type.REAL_VECTOR,
    ColumnType.BOOLEAN: Type.BOOLEAN_VECTOR,
    ColumnType.CATEGORICAL: Type.CATEGORICAL_VECTOR,
}


def observed(columns: Iterable[Column], atoms: Sequence[Atom], longest: int, possible: Possible) -> Iterator[Term]:
    """Terms about these columns and atoms: at some point, always, how often in `longest` steps, or at the same time.

    The opposite of each is as good a term.
    """
    for column in columns:
        signal = Expression(Attribute(column.name, _TYPES[column.type]))
        yield from _ever(signal, _kinds(column, possible.misses(signal)), possible)
    changing = [atom for atom in atoms if not possible.lasts(atom)][:_MOST_ATOMS]
    for atom in changing:
        yield from (HowOften(atom, Reals((Interval(float(n)),), False)) for n in _TIMES if n <= longest)
    for one, other in combinations(changing, 2):
        together = joined(All, (one, other), possible)
        if isinstance(together, All):
            yield Sometime(together)


def signals_asked(columns: Iterable[Column], atoms: Iterable[Atom]) -> list[Expression]:
    """The signals that may be above or below a constant: real columns, and those that atoms compare with constants."""
    own = [Expression(Attribute(c.name, _TYPES[c.type])) for c in columns if c.type is ColumnType.REAL]
    made = [atom.signal for atom in atoms if isinstance(atom, Says) and isinstance(atom.values, Reals)]
    return list(dict.fromkeys([*own, *made]))[:_MOST_SIGNALS]


def atoms_of(terms: Iterable[Term]) -> list[Atom]:
    """The atoms of terms, as written there."""
    return list(dict.fromkeys(chain.from_iterable(map(_atoms, terms))))


def _atoms(term: Term) -> Iterator[Atom]:
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
    """A signal has such a value at some point, or always."""
    for values in kinds:
        literal = Says(signal, values)
        yield Sometime(literal)
        if not possible.lasts(literal):
            yield Always(literal)


def _kinds(column: Column, misses: bool) -> Iterator[Values]:
    missing: Values = Reals((), True)
    if column.type is ColumnType.BOOLEAN:
        yield Truths(True, False, False)
        yield Truths(False, True, False)
        missing = Truths(False, False, True)
    elif column.type is ColumnType.CATEGORICAL:
        for level in column.levels[:_MOST_LEVELS]:
            yield Names(frozenset({level}), False, False)
            yield Names(frozenset({level}), True, misses)
        missing = Names(frozenset(), False, True)
    if misses:
        yield missing
