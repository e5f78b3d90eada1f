"""Domains of signals, and flat lists of terms without duplicates."""

import math
from collections.abc import Container, Hashable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from telltree.english.terms import (
    FALSE,
    TRUE,
    And,
    CountIn,
    Eventually,
    Globally,
    Interval,
    Literal,
    Names,
    Opaque,
    Or,
    OrderIn,
    Orders,
    Reals,
    Term,
    Truths,
    ValueIn,
    Values,
    of_counts,
    of_length,
    subject,
    values_of,
    with_values,
)
from telltree.logic import Attribute, Expression, Number, UserFunction
from telltree.logic.meaning import Finite, Makes
from telltree.logic.operators import Operator

# ---- Domains: the values that signals may have, and terms that are the same at several steps.

_FREE = (Interval(),)
_NONE = Makes()
_COUNTS = Reals((Interval(0.0),), False)


@dataclass(frozen=True, slots=True)
class Domains:
    """The records that are possible, by which columns may be missing and which are static."""

    missing: Container[str] | None = None
    """Columns that may have missing or infinite values; None if any may."""
    static: Container[str] = ()
    """Columns with one value per record."""

    def misses(self, signal: Expression) -> bool:
        """Return True if a signal may be missing, even where no column is: inf - inf, or no earlier step."""
        if isinstance(signal.head, Attribute):
            return self._may_be_missing(signal.head.name)
        if signal.has_gaps or (_traits(signal).subtracts and not any(map(self._finite, signal.operands))):
            return True
        return isinstance(signal.head, UserFunction) or any(map(self.misses, signal.signals))

    def _may_be_missing(self, column: str) -> bool:
        return self.missing is None or column in self.missing

    def _finite(self, signal: Expression) -> bool:
        """Return True if a signal is certainly finite; the difference of large finite values may overflow."""
        match signal.head:
            case Attribute(name=name):
                return not self._may_be_missing(name)
            case Number(value=value):
                return math.isfinite(value)
        finite = _traits(signal).finite
        return finite is Finite.ALWAYS or (finite is Finite.LIKE_OPERANDS and all(map(self._finite, signal.signals)))

    def lasts(self, literal: Literal) -> bool:
        """Return True if a literal has the same truth at every step of a record."""
        match literal:
            case ValueIn(signal=signal):
                return self._one_value(signal)
            case OrderIn(first=first, second=second):
                return self._one_value(first) and self._one_value(second)
            case _:
                return of_counts(literal)

    def _one_value(self, signal: Expression) -> bool:
        if isinstance(signal.head, Attribute):
            return signal.head.name in self.static
        if _traits(signal).moves or _traits(signal).lasts:
            return _traits(signal).lasts
        return not isinstance(signal.head, UserFunction) and all(map(self._one_value, signal.operands))

    def eventual(self, term: Term) -> bool:
        """Return True if a term that is true at a step is true at all earlier steps."""
        match term:
            case And(parts) | Or(parts):
                return all(map(self.eventual, parts))
            case Eventually() | Globally():
                return isinstance(term, Eventually)
        return self.lasts(term)

    def enduring(self, term: Term) -> bool:
        """Return True if a term that is true at a step is true at all later steps."""
        match term:
            case And(parts) | Or(parts):
                return all(map(self.enduring, parts))
            case Eventually(part):
                return self.enduring(part)
            case Globally():
                return True
        return self.lasts(term)

    def values(self, literal: Literal) -> Values:
        """Return all possible values of a literal's subject."""
        match literal:
            case ValueIn(signal=signal, values=Reals()):
                return Reals(_FREE, self.misses(signal))
            case ValueIn(signal=signal, values=Names()):
                return Names(frozenset(), True, self.misses(signal))
            case ValueIn(signal=signal):
                return Truths(True, True, self.misses(signal))
            case OrderIn(first=first, second=second):
                return Orders(True, True, True, self.misses(first) or self.misses(second))
            case CountIn():
                return _COUNTS
            case Opaque():
                return Truths(True, True, False)

    def literal(self, literal: Literal, values: Values | None = None) -> Term:
        """Restrict a literal, or other values for it, to its domain; TRUE if all of it is allowed, FALSE if none."""
        wanted, all_values = values_of(literal) if values is None else values, self.values(literal)
        kept = _whole(literal, wanted & all_values)
        if kept.empty:
            return FALSE
        return TRUE if all_values.within(kept) else with_values(literal, kept)

    def negated(self, term: Term) -> Term:
        """Return the negation of a term."""
        match term:
            case And(parts):
                return Or(tuple(map(self.negated, parts)))
            case Or(parts):
                return And(tuple(map(self.negated, parts)))
            case Eventually(part):
                return Globally(self.negated(part))
            case Globally(part):
                return Eventually(self.negated(part))
        return with_values(term, _whole(term, ~values_of(term) & self.values(term)))


def _whole(literal: Literal, values: Values) -> Values:
    """Restrict the values of a record's number of steps to whole numbers."""
    return values.lengths if isinstance(values, Reals) and of_length(literal) else values


def _traits(signal: Expression) -> Makes:
    """Return the traits of the operator that makes a signal."""
    return signal.head.traits if isinstance(signal.head, Operator) else _NONE


# ---- Flat lists: terms joined by "and" or "or", with one literal for each subject.

Kind: TypeAlias = type[And] | type[Or]


def joined(kind: Kind, parts: Iterable[Term], domains: Domains) -> Term:
    """Join parts into one flat list without duplicates, with literals on one subject merged; unwrap a single part."""
    decisive = FALSE if kind is And else TRUE
    found: dict[Hashable, Term] = {}
    for part in _flat(kind, parts):
        place: Hashable = part if isinstance(part, And | Or | Eventually | Globally) else subject(part)
        found[place] = _merged(kind, found[place], part, domains) if place in found else part
        if found[place] == decisive:
            return decisive
    return next(iter(found.values())) if len(found) == 1 else kind(tuple(found.values()))


def _merged(kind: Kind, first: Term, second: Term, domains: Domains) -> Term:
    """Merge two equal parts of a list, or two literals on one subject."""
    if isinstance(first, And | Or | Eventually | Globally) or isinstance(second, And | Or | Eventually | Globally):
        return first
    mine, yours = values_of(first), values_of(second)
    return domains.literal(first, mine & yours if kind is And else mine | yours)


def _flat(kind: Kind, parts: Iterable[Term]) -> Iterable[Term]:
    for part in parts:
        if isinstance(part, kind):
            yield from _flat(kind, part.parts)
        else:
            yield part
