"""Candidates for headlines: short formulas that might describe the records of a leaf."""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from functools import cached_property, reduce
from itertools import chain, combinations, islice, product
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from telltree.engine.formula_evaluator import FormulaEvaluator
from telltree.engine.signals import Signals
from telltree.engine.trace import signals_of
from telltree.english import cost, expression_of, term_of, word_count
from telltree.english.conversion import direct_term
from telltree.english.terms import (
    FALSE,
    TRUE,
    And,
    CountIn,
    Domains,
    Eventually,
    Globally,
    Opaque,
    Or,
    OrderIn,
    Term,
    ValueIn,
    joined,
)
from telltree.english.value_sets import Interval, Names, Reals, Truths, Values
from telltree.english.vocabulary import attribute
from telltree.logic import Attribute, Expression, Type
from telltree.logic.expression import rounded
from telltree.logic.operators import AND, NOT
from telltree.panel import Column, ColumnType, Panel
from telltree.tree.tree import Tree

# ---- Training records for the choice of headlines and short descriptions: all of them, and a sample for speed.
#
# The sample selects a few of thousands of formulas; the reported counts are over all records.

_MOST_SAMPLED = 1_500  # more if there are small leaves
_LEAST_OF_A_LEAF = 40


class TrainingRecords:
    """Training records, and the leaf of a tree that each of them reaches."""

    def __init__(self, tree: Tree, panel: Panel) -> None:
        self.records = tree.aligned(panel)
        self._formulas = FormulaEvaluator(self.records)
        self.answers = self.truth([node.formula.expression for node in tree.nodes])
        """Truth of every node's formula for every record: nodes × records."""
        self.clusters = tree.apply_truth(self.answers)
        self.support = np.bincount(self.clusters, minlength=len(tree.leaves) + 1)[1:]
        """Number of records in each leaf."""

    def truth(self, formulas: Sequence[Expression]) -> NDArray[np.bool_]:
        """Return the truth of formulas for every record: formulas × records."""
        return self._formulas.truth(formulas)

    def true(self, formula: Expression) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Return the truth of a formula for every record, and the number of true ones in each leaf."""
        truth: NDArray[np.bool_] = self.truth([formula])[0]
        return truth, np.bincount(self.clusters[truth], minlength=len(self.support) + 1)[1:]

    @cached_property
    def sample(self) -> "LeafSample":
        """A sample of the records; all of them if they are few."""
        return LeafSample(self.records, self._formulas.signals, self.clusters, self.support)


class LeafSample:
    """A sample with the same share of the records of each leaf, evenly spaced, and a larger share of small leaves.

    Truth is packed in bits. Those of a leaf start at a byte boundary, so that whole bytes are counted.
    """

    def __init__(
        self, records: Panel, signals: Signals, clusters: NDArray[np.int64], support: NDArray[np.int64]
    ) -> None:
        """Draw the sample. `signals` are those of all records, which serve the sample unless records are on disk."""
        fair = np.ceil(support * min(1.0, _MOST_SAMPLED / max(1, len(records)))).astype(np.int64)
        sizes = np.minimum(support, np.maximum(fair, _LEAST_OF_A_LEAF))
        leaves = [np.flatnonzero(clusters == number) for number in range(1, len(support) + 1)]
        chosen = [rows[np.arange(n) * len(rows) // max(1, n)] for rows, n in zip(leaves, sizes, strict=True)]
        self.rows: NDArray[np.int64] = np.concatenate(chosen)
        """Indices of the records in the sample, leaf by leaf."""
        self.panel, self.signals = records[self.rows], signals
        if records.on_disk:
            self.panel = self.panel.alone()
            self.signals = signals_of(self.panel)
        self._formulas = FormulaEvaluator(self.panel, self.signals)
        self._stands_for = support / np.maximum(1, sizes)
        widths = np.maximum(1, -(-sizes // 8))
        self._starts = np.cumsum(widths) - widths
        before = np.cumsum(sizes) - sizes
        self._places = np.repeat(8 * self._starts - before, sizes) + np.arange(len(self.rows))
        self.bytes = int(widths.sum())

    def truth(self, formulas: Sequence[Expression]) -> NDArray[np.bool_]:
        """Return the truth of formulas for the sample: formulas × records."""
        return self._formulas.truth(formulas)

    def packed(self, truth: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """Pack truth for the sample in bits."""
        spaced = np.zeros((len(truth), 8 * self.bytes), np.bool_)
        spaced[:, self._places] = truth
        return np.packbits(spaced, axis=1)

    def true(self, answers: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Estimate the number of true records of each leaf from packed truth."""
        counted = np.add.reduceat(np.bitwise_count(answers), self._starts, axis=1, dtype=np.int64)
        found: NDArray[np.float64] = counted * self._stands_for
        return found


# ---- Bounds on signals, at some point or always: decided by the largest and the smallest value of each record.

DIGITS = 3  # of constants that no search chose
_STEPS = 16  # steps between the constants to try for one signal
Compared = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.bool_]]


class Bound(NamedTuple):
    """A kind of comparison of a signal with a constant."""

    over_time: type[Eventually] | type[Globally]
    relation: str
    compared: Compared
    greatest: bool
    """True if the largest value decides, else the smallest."""


_BOUNDS = (
    Bound(Eventually, ">", np.greater, True),
    Bound(Eventually, "<", np.less, False),
    Bound(Globally, "<=", np.less_equal, True),
    Bound(Globally, ">=", np.greater_equal, False),
)
_EXTREMES = {True: np.fmax, False: np.fmin}


class Bounds:
    """Makes bounds on signals for the records of a sample."""

    def __init__(self, sample: LeafSample, domains: Domains) -> None:
        self._signals, self._domains = sample.signals, domains
        self._rows, lengths = sample.panel.rows(), sample.panel.lengths
        self._starts = np.cumsum(lengths) - lengths

    def of(self, signal: Expression) -> Iterator[tuple[list[Term], NDArray[np.bool_]]]:
        """Yield lists of bounds on a signal that differ only in the constant, with their truth: terms × records.

        If values lie on both sides of 0, there are also bounds on their distance from 0. Of constants that split the
        records alike only one is taken, and none that is true, or false, for all records.
        """
        values = self._signals.values(signal)[self._rows]
        yield from self._of_values(signal, values, Reals.compared, -math.inf)
        if np.nanmin(values, initial=0.0) < 0 < np.nanmax(values, initial=0.0):
            yield from self._of_values(signal, np.abs(values), _from_zero, 0.0)

    def _of_values(
        self, signal: Expression, values: NDArray[np.float64], made: Callable[[str, float], Reals], above: float
    ) -> Iterator[tuple[list[Term], NDArray[np.bool_]]]:
        ends = {greatest: extreme.reduceat(values, self._starts) for greatest, extreme in _EXTREMES.items()}
        constants = np.array([c for c in _constants(ends[True], ends[False]) if c > above])
        gaps = np.logical_or.reduceat(np.isnan(values), self._starts)
        static = self._domains.is_static(ValueIn(signal, Reals((), True)))
        for bound in _BOUNDS:
            if static and bound.over_time is Globally:
                continue
            truth = bound.compared(ends[bound.greatest], constants[:, None])
            if bound.over_time is Globally:
                truth &= ~gaps
            often, first = np.unique(np.count_nonzero(truth, axis=1), return_index=True)
            kept = np.sort(first[(often > 0) & (often < truth.shape[1])])
            found = (ValueIn(signal, made(bound.relation, c)) for c in constants[kept].tolist())
            yield [bound.over_time(literal) for literal in found], truth[kept]


def _from_zero(relation: str, distance: float) -> Reals:
    """Return the numbers whose distance from 0 is in this relation to a constant."""
    return Reals.compared(relation, distance).under_abs


def _constants(*ends: NDArray[np.float64]) -> list[float]:
    """Return constants with few digits that separate records by their largest and smallest values."""
    found: dict[float, None] = {}
    for values in ends:
        finite = values[np.isfinite(values)]
        quantiles = np.quantile(finite, np.linspace(0, 1, _STEPS + 1)) if len(finite) else ()
        found |= dict.fromkeys(float(f"{c:.{DIGITS}g}") for c in quantiles)
    return [c for c in found if math.isfinite(c)]


# ---- Paths to the leaves of a tree, as terms, and the number of words of a term.

_POINT, _COUNTED = ("at", "some", "point"), ("for", "at", "least", "5", "steps")


class DecisionPaths:
    """The paths to the leaves of a tree; results are cached."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.domains = Domains(tree.missing, tree.static)
        self.claims = [
            [f.expression if truth else Expression(NOT, (f.expression,)) for f, truth in branches]
            for _, branches in tree.leaves
        ]
        """Conjuncts of the path to each leaf."""
        self._terms: dict[Expression, Term] = {}
        self._words: dict[Hashable, int] = {}
        self._estimates: dict[Term, int] = {}

    def whole(self, leaf: int) -> Term:
        """Return the term of the whole path to a leaf, counted from 0."""
        return self.term(reduce(lambda left, right: Expression(AND, (left, right)), self.claims[leaf]))

    def term(self, claim: Expression) -> Term:
        """Return the simplest normal form that is found."""
        if claim not in self._terms:
            self._terms[claim] = term_of(claim, self.tree.missing, static=self.tree.static)
        return self._terms[claim]

    def written(self, term: Term) -> Expression:
        """Write a term as an expression, even if it mentions no column but only the number of steps."""
        witness = next((e for claims in self.claims for claim in claims for e in claim.walk() if _is_column(e)), None)
        return expression_of(term, self.tree.missing, witness)

    def words(self, term: Term) -> int:
        """Return the approximate number of words of a term: that of another term which differs only in constants."""
        shape = _shape(term)
        if shape not in self._words:
            tree = self.tree
            self._words[shape] = word_count(term, tree.schema, step=tree.step, missing=tree.missing)
        return self._words[shape]

    def estimated_words(self, term: Term) -> int:
        """Estimate the number of words of a term from its literals: fast, and seldom far off."""
        if term not in self._estimates:
            self._estimates[term] = self._estimated_words(term)
        return self._estimates[term]

    def _estimated_words(self, term: Term) -> int:
        match term:
            case And(parts) | Or(parts):
                return sum(map(self.estimated_words, parts)) + len(parts) - 1
            case Eventually(part):
                return len(_POINT) + self.estimated_words(part)
            case Globally(part):
                return 1 + self.estimated_words(part)
            case CountIn(part=part):
                return len(_COUNTED) + self.estimated_words(part)
            case Opaque(expression=e) if e.type is Type.BOOLEAN:
                return self.words(term)
        return self.words(Eventually(term)) - len(_POINT)


def _is_column(e: Expression) -> bool:
    return isinstance(e.head, Attribute)


def _shape(term: Term) -> Hashable:
    match term:
        case Eventually(ValueIn(signal=signal, values=Reals() as values)):
            return Eventually, signal, values.missing, tuple(map(_ends, values.intervals))
        case Globally(ValueIn(signal=signal, values=Reals() as values)):
            return Globally, signal, values.missing, tuple(map(_ends, values.intervals))
    return term


def _ends(interval: Interval) -> tuple[Hashable, ...]:
    """Return what the wording of an interval depends on besides its constants: signs, symmetry, closed ends."""
    signs = tuple(
        end if math.isinf(end) or end == 0 else math.copysign(1, end) for end in (interval.low, interval.high)
    )
    return *signs, interval.with_low, interval.with_high, interval.point, interval.low == -interval.high


# ---- Short terms about the columns and atoms of a tree's formulas.

_MOST_LEVELS = 20
_MOST_SIGNALS = 30  # signals whose constants are tried
_MOST_ATOMS = 16  # atoms to count, and to join with each other
_TIMES = (2, 5, 10, 20, 50, 100)  # round numbers of steps
Atom: TypeAlias = ValueIn | OrderIn | Opaque


def simple_terms(columns: Iterable[Column], atoms: Sequence[Atom], longest: int, domains: Domains) -> Iterator[Term]:
    """Yield terms about columns and atoms: at some point, always, at a number of steps, two at the same time.

    `longest` is the greatest number of steps. The negation of each is as good a term.
    """
    for column in columns:
        signal = attribute(column)
        yield from _ever(signal, _kinds(column, domains.may_be_missing(signal)), domains)
    changing = [atom for atom in atoms if not domains.is_static(atom)][:_MOST_ATOMS]
    for atom in changing:
        yield from (CountIn(atom, Reals((Interval(float(n)),), False)) for n in _TIMES if n <= longest)
    for one, other in combinations(changing, 2):
        together = joined(And, (one, other), domains)
        if isinstance(together, And):
            yield Eventually(together)


def signals_to_bound(columns: Iterable[Column], atoms: Iterable[Atom]) -> list[Expression]:
    """Collect signals for bounds: real columns, and those that atoms compare with constants."""
    own = [attribute(c) for c in columns if c.type is ColumnType.REAL]
    made = [atom.signal for atom in atoms if isinstance(atom, ValueIn) and isinstance(atom.values, Reals)]
    return list(dict.fromkeys([*own, *made]))[:_MOST_SIGNALS]


def atoms_of(terms: Iterable[Term]) -> list[Atom]:
    """Collect the atoms of terms."""
    return list(dict.fromkeys(chain.from_iterable(map(_atoms, terms))))


def _atoms(term: Term) -> Iterator[Atom]:
    match term:
        case And(parts) | Or(parts):
            yield from chain.from_iterable(map(_atoms, parts))
        case Eventually(part) | Globally(part) | CountIn(part=part):
            yield from _atoms(part)
        case Opaque(expression=e) if e.type is Type.BOOLEAN:
            return
        case _:
            yield term


def _ever(signal: Expression, kinds: Iterable[Values], domains: Domains) -> Iterator[Term]:
    """Yield terms by which a signal is in one of these sets at some point, or always."""
    for values in kinds:
        literal = ValueIn(signal, values)
        yield Eventually(literal)
        if not domains.is_static(literal):
            yield Globally(literal)


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


# ---- Candidates for a leaf: parts of the path to it, and short terms about the same columns.

_MOST_COST = 12  # a costlier term takes more words than a headline has
_MOST_PIECES = 40  # of one claim
_MOST_RUNNERS_UP = 4  # of one node


def implied(whole: Term, claims: Sequence[Expression], domains: Domains) -> dict[Term, int]:
    """Return short terms that follow from all claims together, for every possible record, with their costs.

    `whole` is the term of all claims. Claims with a grammar's own phrases are not taken apart.
    """
    if not all(map(_in_common_words, claims)):
        return {}
    terms = [whole, *(direct_term(claim, domains) for claim in claims)]
    return short(chain([whole], *(_pieces(term, domains, implied=True) for term in terms)))


def related_terms(tree: Tree, longest: int) -> tuple[list[Term], list[Expression]]:
    """Return terms about columns of the tree: parts of its formulas and their runners-up, and terms from their atoms.

    The negation of each is as good a term, and neither depends on a leaf. The longest record has `longest` steps. Also
    return the signals that these formulas compare with constants.
    """
    domains = Domains(tree.missing, tree.static)
    others = (
        rounded(other.formula.expression, DIGITS) for node in tree.nodes for other in node.runners_up[:_MOST_RUNNERS_UP]
    )
    known = (e for e in others if all(name in tree.schema for name in e.attributes()))
    own = list(filter(_in_common_words, (node.formula.expression for node in tree.nodes)))
    formulas = dict.fromkeys(chain(own, filter(_in_common_words, known)))
    terms = (direct_term(e, domains) for e in formulas)
    atoms = atoms_of(direct_term(e, domains, truth) for e in own for truth in (True, False))
    made = simple_terms(tree.schema.values(), atoms, longest, domains)
    found = dict.fromkeys(chain(*(_pieces(term, domains, implied=False) for term in terms), made))
    return [term for term in found if not _is_constant(term)], signals_to_bound(tree.schema.values(), atoms)


def _in_common_words(e: Expression) -> bool:
    """Return True if no part of an expression has a grammar's own phrase."""
    return all(part.english is None for part in e.walk())


def short(terms: Iterable[Term]) -> dict[Term, int]:
    """Select the terms that may take few words, with their costs."""
    costs = {term: cost(term) for term in dict.fromkeys(terms) if not _is_constant(term)}
    return {term: paid for term, paid in costs.items() if paid <= _MOST_COST}


def _is_constant(term: Term) -> bool:
    """Return True if a term is constant, as a runner-up with rounded constants may be."""
    return term in (TRUE, FALSE) or (isinstance(term, Eventually | Globally | CountIn) and _is_constant(term.part))


def _pieces(term: Term, domains: Domains, *, implied: bool) -> Iterator[Term]:
    """Yield small terms made of parts of a term; with `implied`, only those that follow from it."""
    for claim in term.parts if isinstance(term, And) else (term,):
        yield claim
        yield from islice(_within(claim, domains, implied), _MOST_PIECES)


def _within(term: Term, domains: Domains, implied: bool) -> Iterator[Term]:
    """Yield one part of a list, or two; but all parts of an "or" if the result must follow."""
    found: Iterable[Term] = (term,)
    match term:
        case Or(parts) if implied:
            ways = product(*(list(islice(_within(part, domains, implied), 3)) for part in parts))
            found = (joined(Or, way, domains) for way in ways)
        case And(parts) | Or(parts):
            pieces = [list(islice(_within(part, domains, implied), 3)) for part in parts]
            pairs = (pair for a, b in combinations(pieces, 2) for pair in product(a, b))
            found = chain(chain.from_iterable(pieces), (joined(type(term), pair, domains) for pair in pairs))
        case Eventually(part) | Globally(part):
            found = map(type(term), _within(part, domains, implied))
    return (piece for piece in found if piece not in (TRUE, FALSE))
