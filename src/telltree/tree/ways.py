"""The paths to the leaves of a tree: as terms, and in how many words."""

import math
from collections.abc import Hashable
from functools import reduce

from telltree.operators import Attribute, Expression, Type
from telltree.operators.table import AND, NOT
from telltree.speech import expression_of, term_of, words_in
from telltree.speech.possible import Possible
from telltree.speech.terms import All, Always, HowOften, Own, Says, Some, Sometime, Term
from telltree.speech.values import Interval, Reals
from telltree.tree.tree import Tree

_POINT, _COUNTED = ("at", "some", "point"), ("for", "at", "least", "5", "steps")


class Ways:
    """The paths to the leaves of a tree; results are cached."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.possible = Possible(tree.missing, tree.static)
        self.claims = [
            [f.expression if truth else Expression(NOT, (f.expression,)) for f, truth in branches]
            for _, branches in tree.leaves
        ]
        """For each leaf, what is true of its records."""
        self._terms: dict[Expression, Term] = {}
        self._words: dict[Hashable, int] = {}
        self._rough: dict[Term, int] = {}

    def whole(self, leaf: int) -> Term:
        """Everything that is true of the records of a leaf, counted from 0, in plain terms."""
        return self.term(reduce(lambda left, right: Expression(AND, (left, right)), self.claims[leaf]))

    def term(self, claim: Expression) -> Term:
        """The simplest normal form that is found."""
        if claim not in self._terms:
            self._terms[claim] = term_of(claim, self.tree.missing, static=self.tree.static)
        return self._terms[claim]

    def written(self, term: Term) -> Expression:
        """An expression for the term, even if it mentions no column: how many steps there are."""
        witness = next((e for claims in self.claims for claim in claims for e in claim.walk() if _is_column(e)), None)
        return expression_of(term, self.tree.missing, witness)

    def words(self, term: Term) -> int:
        """About how many words a term takes: those of another term that differs only in constants."""
        shape = _shape(term)
        if shape not in self._words:
            tree = self.tree
            self._words[shape] = words_in(term, tree.schema, step=tree.step, missing=tree.missing)
        return self._words[shape]

    def roughly(self, term: Term) -> int:
        """An estimate of how many words a term takes, from its literals: fast, and seldom far off."""
        if term not in self._rough:
            self._rough[term] = self._roughly(term)
        return self._rough[term]

    def _roughly(self, term: Term) -> int:
        match term:
            case All(parts) | Some(parts):
                return sum(map(self.roughly, parts)) + len(parts) - 1
            case Sometime(part):
                return len(_POINT) + self.roughly(part)
            case Always(part):
                return 1 + self.roughly(part)
            case HowOften(part=part):
                return len(_COUNTED) + self.roughly(part)
            case Own(expression=e) if e.type is Type.BOOLEAN:
                return self.words(term)
        return self.words(Sometime(term)) - len(_POINT)


def _is_column(e: Expression) -> bool:
    return isinstance(e.head, Attribute)


def _shape(term: Term) -> Hashable:
    match term:
        case Sometime(Says(signal=signal, values=Reals() as values)):
            return Sometime, signal, values.missing, tuple(map(_ends, values.intervals))
        case Always(Says(signal=signal, values=Reals() as values)):
            return Always, signal, values.missing, tuple(map(_ends, values.intervals))
    return term


def _ends(interval: Interval) -> tuple[Hashable, ...]:
    """The form of an interval's ends, wherever they are: below 0, or symmetric about it, the words may differ."""
    signs = tuple(
        end if math.isinf(end) or end == 0 else math.copysign(1, end) for end in (interval.low, interval.high)
    )
    return *signs, interval.with_low, interval.with_high, interval.point, interval.low == -interval.high
