"""Wording of literals as clauses, and of lists of clauses as sentences."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce

from telltree.english.conversion import direct_term
from telltree.english.operator_phrases import EXTREMES, is_rise
from telltree.english.terms import (
    Domains,
    Opaque,
    OrderIn,
    Term,
    ValueIn,
    allowed_counts,
    has_own_phrase,
    is_about_length,
    is_about_position,
)
from telltree.english.tokens import (
    ALONE,
    OR_AT_THE_START,
    QUOTED,
    bare_or_quoted,
    joins_items,
    number_words,
    shape_words,
)
from telltree.english.value_sets import Interval, Names, Reals, Truths
from telltree.english.vocabulary import SHARED_VERBS, Clause, Scale, is_clause, scales
from telltree.english.write_signal import SignalWriter
from telltree.english.write_times_and_positions import PositionWriter, suited, unit_words
from telltree.logic import Attribute, Expression, Number, Type
from telltree.logic.operators import (
    CHANGE,
    COMPARISONS,
    DIFFERENCE,
    DISTANCE,
    EPISODES,
    FALL,
    LATEST,
    MIRRORED,
    RISE,
    TIMES,
    Operator,
)
from telltree.panel import Column, ColumnType

# ---- Sets of numbers in words: "within 100 ft", "beyond ±500 ft", "between 2 and 5 bar", "below 2 or above 5".


def amounts(values: Reals, unit: str) -> list[str]:
    """Write a set of numbers as predicates to be joined by "or"."""
    missing = ["missing"] * values.missing
    even = _symmetric(values.intervals)
    if even is not None:
        (inner, outer), edge = even
        side, ends = "within " if inner else "beyond ±", " inclusive" if outer else ""
        return [f"{side}{number_words(edge)}{unit}{ends}", *missing]
    hole = _point_left_out(values.intervals)
    if hole is not None:
        return [f"other than {number_words(hole)}{unit}", *missing]
    first = [_between(interval, "") for interval in values.intervals[:-1]]  # only the last constant has the unit
    return [*first, *(_between(interval, unit) for interval in values.intervals[-1:]), *missing]


def _between(interval: Interval, unit: str) -> str:
    low, high = number_words(interval.low), number_words(interval.high) + unit
    match interval.bounded_below, interval.bounded_above:
        case (False, False):
            return "known"
        case (False, True):
            return f"{'at most' if interval.with_high else 'below'} {high}"
        case (True, False):
            return f"{'at least' if interval.with_low else 'above'} {low}{unit}"
    if interval.low == interval.high:
        return f"exactly {high}"
    words = {(True, True): "from {} to {}", (True, False): "at least {} and below {}",
             (False, True): "above {} and at most {}", (False, False): "between {} and {}"}  # fmt: skip
    return words[interval.with_low, interval.with_high].format(low, high)


def distance(values: Reals, unit: str) -> str | None:
    """Write the words between two signals whose difference has these values; None if there are no simple ones."""
    even = _symmetric(values.intervals)
    if even is not None:
        (inner, with_edge), edge = even
        words = {(True, False): "within {} of", (True, True): "at most {} from", (False, False): "more than {} from",
                 (False, True): "at least {} from"}  # fmt: skip
        return words[inner, with_edge].format(number_words(edge) + unit)
    if len(values.intervals) != 1:
        return None
    (i,) = values.intervals
    match i.bounded_below, i.bounded_above:
        case (True, False) if i.low > 0:
            return f"{'at least' if i.with_low else 'more than'} {number_words(i.low)}{unit} above"
        case (False, True) if i.high < 0:
            return f"{'at least' if i.with_high else 'more than'} {number_words(-i.high)}{unit} below"
    return None


def rise(intervals: tuple[Interval, ...], unit: str) -> str | None:
    """Write the amount of a rise, "by more than 3"; None unless the intervals are one lower bound of at least 0."""
    if len(intervals) != 1 or not intervals[0].bounded_below or intervals[0].bounded_above:
        return None
    edge, with_edge = intervals[0].low, intervals[0].with_low
    if edge == 0 and not with_edge:
        return ""
    if not 0 < edge < math.inf:
        return None
    return f"by {'at least' if with_edge else 'more than'} {number_words(edge)}{unit}"


def only_above(i: Interval) -> float | None:
    """Return the constant c if the interval is everything above c."""
    return i.low if i.bounded_below and not i.bounded_above and not i.with_low else None


def only_below(i: Interval) -> float | None:
    """Return the constant c if the interval is everything below c."""
    return i.high if i.bounded_above and not i.bounded_below and not i.with_high else None


def _symmetric(intervals: tuple[Interval, ...]) -> tuple[tuple[bool, bool], float] | None:
    """Recognise the set of all numbers within a distance of 0, or beyond it.

    Return two flags, for within and for the edge being in the set, and the edge; None for other sets.
    """
    match intervals:
        case (Interval(low=low, high=high, with_low=with_low, with_high=with_high),):
            if low == -high and with_low == with_high and 0 < high < math.inf:
                return (True, with_low), high
        case (Interval(high=low, with_high=with_low), Interval(low=high, with_low=with_high)):
            free = intervals[0].bounded_below or intervals[1].bounded_above
            if low == -high and with_low == with_high and 0 < high < math.inf and not free:
                return (False, with_low), high
    return None


def _point_left_out(intervals: tuple[Interval, ...]) -> float | None:
    match intervals:
        case (Interval(high=low), Interval(low=high)):
            free = intervals[0].bounded_below or intervals[1].bounded_above
            return low if low == high and not free else None
    return None


# ---- Literals as clauses in which an adverb can be placed.

_SIDES = {
    (True, False, False): "below", (True, True, False): "at most", (False, True, False): "equal to",
    (False, False, True): "above", (False, True, True): "at least", (True, False, True): "unequal to",
}  # fmt: skip
_ALIKE = {(False, True, False): "the same as", (True, False, True): "different from"}
_COUNTS = {"<": "below", "<=": "at most", ">": "above", ">=": "at least", "=": "equal to"}

_DENIALS = {"not", "no", "never", "neither", "nor", "nothing"}
"""Words that mark a column's negated phrase as a negation."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A clause for a literal."""

    clause: Clause
    negations: int = 0
    joined: bool = False
    """True if it contains an "or" or "and" that must be kept apart from those of a list."""
    act: Clause | None = None
    """The clause as an event: "x rises by more than 3 within 5 s"."""
    never: str = ""
    """The clause with "never", where putting the adverb at the verb would mean something else."""

    def __str__(self) -> str:
        return str(self.clause)

    def with_adverb(self, adverb: str) -> str:
        """Add "always" or "never" at the verb, or before the whole clause."""
        if adverb == "never" and self.never:
            return self.never
        clause = self.clause if self.act is None else self.act
        return clause.with_adverb(adverb) if clause.verb else f"it is {adverb} the case that {clause}"

    @property
    def happening(self) -> str:
        """The clause after words for when: "at some point x rises by more than 3 within 5 s"."""
        return str(self if self.act is None else replace(self, clause=self.act))

    @property
    def mergeable(self) -> bool:
        """True if several subjects may share the predicate without a change of meaning."""
        simple = self.clause.verb == "is" and not self.negations and not self.never and not self.joined
        return simple and self.act is None and self.clause.predicate not in ALONE

    @property
    def verbless(self) -> str | None:
        """The clause without "is", for lists: "x above 0.52"; None if that is not possible."""
        quoted = self.clause.predicate.startswith("“")  # after a noun, this would be a column's name
        simple = not self.joined and not quoted and self.clause.subject != "it"
        return self.clause.verbless if simple else None


@dataclass(frozen=True, slots=True)
class ClauseWriter:
    """Writes literals as clauses, with `signals` for their signals."""

    signals: SignalWriter
    explicit: bool = False
    """Write lists of predicates of one signal without commas."""
    domains: Domains = field(default_factory=Domains)

    def wording(self, literal: ValueIn | OrderIn | Opaque, closed: bool = False, *, of_record: bool = False) -> Wording:
        """Write a literal as one clause.

        Use `closed` if its "or" might be confused with others: "is either low or missing"; and `of_record` for a
        literal about the record rather than a step.
        """
        match literal:
            case ValueIn(values=Truths()):
                return self._truth(literal, closed)
            case ValueIn():
                return self._value(literal, closed)
            case OrderIn():
                return self._order(literal)
            case Opaque():
                return self._opaque(literal, of_record)

    def _truth(self, literal: ValueIn, closed: bool) -> Wording:
        values, column = literal.values, self.signals.column(literal.signal)
        assert isinstance(values, Truths)
        if not is_clause(column):
            subject = self.signals.part(literal.signal)
            if values == Truths(False, True, True):
                return Wording(Clause(subject, "is", "not true"), 1)
            known = [] if values.true and values.false else ["true"] * values.true + ["false"] * values.false
            predicates = [*known, *["missing"] * values.missing] or ["known"]
            return Wording(Clause(subject, "is", self._one_of(predicates, closed)), joined=len(predicates) > 1)
        if values.true == values.false:
            fact = self._fact(column, True)
            return Wording(Clause("it", "is", f"{'known' if values.true else 'unknown'} whether {fact.clause}"))
        if values.missing:
            return _or_unknown(self._fact(column, True), "true" if values.true else "false")
        return self._fact(column, values.true)

    def _fact(self, column: Column, true: bool) -> Wording:
        """Write that a Boolean column is true, or false."""
        vocabulary, quote_all = self.signals.vocabulary, self.signals.quote_all
        clause = vocabulary.clause(column, true, quote_all)
        if clause is None:
            return Wording(Clause("it", "is", f"false that {vocabulary.noun(column, quote_all)}"), 1)
        words = str(clause).strip("“”")
        straight = words == column.negated and _DENIALS.isdisjoint(words.split())
        return Wording(clause, 0 if true or straight else 1)

    def _value(self, literal: ValueIn, closed: bool) -> Wording:
        signal, values = literal.signal, literal.values
        if isinstance(values, Names):
            names = [
                bare_or_quoted(n, self.signals.quote_all, numbers=True) for n in self._in_order(signal, values.names)
            ]
            predicates = self._categories(names, values)
            return self._is(signal, predicates, closed, negations=int(values.others and bool(names)))
        assert isinstance(values, Reals)
        if self._is_about_time(literal):
            words = self.positions.has if is_about_length(literal) else self.positions.passed
            return Wording(Clause("", "", words(literal, closed)), joined=True)
        return (
            self._special_form(signal, values)
            or self._scale(signal, values)
            or self._is(signal, self._amounts(signal, values), closed)
        )

    def _special_form(self, signal: Expression, values: Reals) -> Wording | None:
        """Write a clause that only this kind of signal has; None if it has none for these values."""
        if has_own_phrase(signal):
            return None
        if signal.head is DIFFERENCE:
            return self._rise_or_fall(signal, values) or self._distance(signal, values)
        words = {CHANGE: self._change, DISTANCE: self._likeness, LATEST: self._value_at_last}
        words |= dict.fromkeys(EXTREMES, self._time_of_extreme)
        if not isinstance(signal.head, Operator) or signal.head not in words or self.signals.quote_all:
            return None
        return words[signal.head](signal, values)

    def _amounts(self, signal: Expression, values: Reals) -> list[str]:
        """Write a set of numbers as predicates, times in a suitable unit."""
        if signal.head not in TIMES or self.signals.quote_all or not self.signals.steps.unit:
            return amounts(values, self._unit(signal))
        ends = [end for i in values.intervals for end in (i.low, i.high)]
        numbers, unit = suited(ends, self.signals.steps.unit)
        scaled = dict(zip(ends, numbers, strict=True))
        intervals = tuple(replace(i, low=scaled[i.low], high=scaled[i.high]) for i in values.intervals)
        unit = self._unit(signal) if unit == self.signals.steps.unit else f" {unit_words(unit, one=False)}"
        return amounts(Reals(intervals, values.missing), unit)

    @property
    def positions(self) -> PositionWriter:
        """Writer of positions in the record."""
        return PositionWriter(self.signals.steps)

    def _is_about_time(self, literal: ValueIn) -> bool:
        return (is_about_position(literal) or is_about_length(literal)) and not self.signals.quote_all

    def _change(self, signal: Expression, values: Reals) -> Wording | None:
        """Write a change as a comparison with the earlier value, or near the start with the first value."""
        if values.missing:
            return _or_unknown_if_any(self._change(signal, ~values))
        relation = next((words for relation, words in _COUNTS.items() if values == Reals.compared(relation, 0.0)), None)
        predicate = relation or distance(values, self._unit(signal))
        if predicate is None:
            return None
        steps = self.signals.parameter(signal, CHANGE.parameters[0])
        earlier = f"its value {steps} earlier {OR_AT_THE_START}"
        return Wording(Clause(self.signals.noun(signal.args[0]), "is", f"{predicate} {earlier}"), joined=True)

    def _rise_or_fall(self, signal: Expression, values: Reals) -> Wording | None:
        """Write a distance from the extreme of the last steps as a rise or fall within these steps."""
        risen = is_rise(signal)
        if risen is None or self.signals.quote_all:
            return None
        if values.missing:
            return _or_unknown_if_any(self._rise_or_fall(signal, ~values))
        rises, extreme, turned = risen
        by = rise((values.mirrored if turned else values).intervals, self._unit(signal))
        if by is None:
            return None
        subject, over = (
            self.signals.noun(extreme.args[0]),
            f"{by} within {self.signals.steps.window(extreme.parameter('b'), self.signals.quote_all)}".lstrip(),
        )
        return Wording(
            Clause(subject, "has", f"{'risen' if rises else 'fallen'} {over}"),
            act=Clause(subject, "rises" if rises else "falls", over),
        )

    def _value_at_last(self, signal: Expression, values: Reals) -> Wording | None:
        """Write the value of a signal at the last step so far at which something else holds."""
        if not values.intervals:
            return None
        value, event = signal.args
        inside = replace(values, missing=values.missing and self.domains.may_be_missing(value))
        clause = self.wording(ValueIn(value, inside), closed=True)
        if_any = " if there is one," * values.missing
        words = f"at the last step so far at which {self.signals.write_condition(event)},{if_any} {clause}"
        return Wording(Clause("", "", words), clause.negations)

    def _time_of_extreme(self, signal: Expression, values: Reals) -> Wording | None:
        """Write when a signal first reaches its minimum or maximum."""
        if values.missing:
            return _or_unknown_if_any(self._time_of_extreme(signal, ~values))
        if len(values.intervals) != 1:
            return None
        assert isinstance(signal.head, Operator)
        when = f"{EXTREMES[signal.head]} {self.positions.after_start(values.intervals[0])}"
        return Wording(Clause(self.signals.noun(signal.args[0]), "first reaches", when))

    def _likeness(self, signal: Expression, values: Reals) -> Wording | None:
        """Write an upper bound on the distance from a shapelet as likeness; missing values are unlike any shapelet."""
        likeness = values if not values.missing else ~values
        if len(likeness.intervals) != 1 or likeness.missing:
            return None
        bound, interval = only_below(likeness.intervals[0]), likeness.intervals[0]
        if bound is None or interval.with_high:
            return None
        subject, like = (
            f"the last {len(signal.shape.values)} values of {self.signals.noun(signal.args[0])} so far",
            f"like {shape_words(signal.shape)} within a distance of {number_words(bound)}",
        )
        if values.missing:
            return Wording(Clause("", "", f"{subject} do not look {like}"), 1)
        return Wording(Clause(subject, "look", like))

    def _unit(self, *signals: Expression) -> str:
        unit = self.signals.unit(*signals)
        return f" {bare_or_quoted(unit, self.signals.quote_all)}" if unit else ""

    def _is(self, signal: Expression, predicates: list[str], closed: bool, negations: int = 0) -> Wording:
        clause = Clause(self.signals.noun(signal), "is", self._one_of(predicates, closed))
        negations += predicates[0].startswith("other than")
        negations += signal.head is CHANGE  # "the change is never above 3" reads better
        return Wording(clause, negations, joined=len(predicates) > 1)

    def _one_of(self, predicates: list[str], closed: bool) -> str:
        """Join predicates by "or"."""
        if len(predicates) == 1:
            return predicates[0]
        return "either " * closed + self._list(predicates, "or", closed)

    def _list(self, items: list[str], joint: str, closed: bool = False) -> str:
        """Join words, with commas unless the parser might misread them, such as before a quotation."""
        commas = closed or not (self.explicit or any("“" in words for words in items))
        return f" {joint} ".join([", ".join(items[:-1]), items[-1]] if commas else items)

    def _categories(self, names: list[str], values: Names) -> list[str]:
        missing = ["missing"] * values.missing
        if not values.others:
            return [*names, *missing]
        if not names:
            return ["known"]
        return [*missing, f"not {names[0]}" if len(names) == 1 else "neither " + self._list(names, "nor")]

    def _scale(self, signal: Expression, values: Reals) -> Wording | None:
        """Write a bound in the column's own words for high and low, or return None if it has none."""
        if (
            self.signals.quote_all
            or not isinstance(signal.head, Attribute)
            or values.missing
            or len(values.intervals) != 1
        ):
            return None
        column, interval = self.signals.column(signal), values.intervals[0]
        high, low = only_above(interval), only_below(interval)
        constant = high if high is not None else low
        words = column.high if high is not None else column.low
        if constant is None or words is None:
            return None
        number = self.signals.number(constant, column.unit)
        if "{" not in words:
            return Wording(Clause(self.signals.noun(signal), "is", f"{words} {number}"))
        usable = column.name not in self.signals.vocabulary.called and any(
            scale == Scale(column, high is not None, scale.after) for scale, _ in scales(column)
        )
        return Wording(Clause("", "", words.replace("{0}", number))) if usable else None

    def _distance(self, signal: Expression, values: Reals) -> Wording | None:
        """Write a difference as the distance of one signal from another, where that is simpler."""
        one, other = signal.args
        if any(isinstance(arg.head, Number) for arg in signal.args) or not values.intervals:
            return None
        if values.missing:
            return _or_unknown_if_any(self._distance(signal, ~values))
        derived = not any(isinstance(arg.head, Attribute) for arg in signal.args)
        if _comes_first(other, one) or (derived and values.intervals[0].high < 0):
            one, other, values = other, one, values.mirrored
        predicate = distance(values, self._unit(one, other))
        if predicate is None:
            return None
        return Wording(Clause(self.signals.part(one), "is", f"{predicate} {self.signals.part(other)}"))

    def _order(self, literal: OrderIn) -> Wording:
        orders, first, second = literal.orders, literal.first, literal.second
        sides = (orders.less, orders.equal, orders.greater)
        if all(sides) or not any(sides):
            subjects, joint = (self.signals.noun(first), self.signals.noun(second)), "and" if any(sides) else "or"
            clause = Clause(f" {joint} ".join(subjects), *(("are", "known") if any(sides) else ("is", "missing")))
            return Wording(clause, joined=True)
        if orders.missing:
            return _or_unknown(self._order(replace(literal, orders=~orders)))
        if _comes_first(second, first):
            first, second, sides = second, first, sides[::-1]
        words = (_ALIKE if first.type is Type.CATEGORICAL_VECTOR else _SIDES)[sides]
        negations = int(words in ("unequal to", "different from"))
        return Wording(Clause(self.signals.noun(first), "is", f"{words} {self.signals.noun(second)}"), negations)

    def _opaque(self, literal: Opaque, of_record: bool) -> Wording:
        e = literal.expression
        if e.head in COMPARISONS and e.english is None and all(self._is_count(arg) for arg in e.args):
            counted = allowed_counts(literal)
            if counted is not None and not self.signals.quote_all:
                return self._runs(*counted, preferred=next(a.head.value for a in e.args if isinstance(a.head, Number)))
            assert isinstance(e.head, Operator)
            turned = isinstance(e.args[0].head, Number)
            subject, other = (self._count(arg) for arg in (reversed(e.args) if turned else e.args))
            relation = MIRRORED[e.head.name] if turned else e.head.name
            clause = Clause(subject, "is", f"{_COUNTS[relation]} {other}")
        elif e.english is not None:
            clause = Clause("", "", self.signals.quotation(e))
        else:
            denied = self.signals.denied(e, of_record)
            if denied is not None and not literal.holds:
                return Wording(Clause("", "", denied), 1)
            clause = Clause("", "", self.signals.whole(e, of_record))
            if denied is not None and e.head in (RISE, FALL):
                return Wording(clause, never=denied.replace("does not change", "never changes"))
        return Wording(clause) if literal.holds else Wording(Clause("it", "is", f"not so that {clause}"), 1)

    def _runs(self, count: Expression, numbers: Reals, preferred: float) -> Wording:
        """Write in how many stretches the operand is true, or for how many steps in a row."""
        steps, simple = self.signals.steps, self._simple(count.args[0])
        if count.head is EPISODES:
            often = steps.stretches(numbers, preferred)
            words = f"{often}, {self.signals.write_condition(count.args[0])}" if simple is None else f"{simple} {often}"
            return Wording(Clause("", "", words))
        never, long = steps.in_a_row(numbers, preferred)
        if simple is not None and simple.verb == "is" and not long.endswith("at the longest"):
            return Wording(Clause(simple.subject, "never stays" if never else "stays", f"{simple.predicate} {long}"))
        words = self.signals.write_condition(count.args[0])
        if never:
            return Wording(Clause("it", "is", f"never so {long} that {words}"), 1)
        return Wording(Clause("", "", f"{long}, {words}"))

    def _simple(self, e: Expression) -> Clause | None:
        """Return the clause of a condition if a count may follow it, because it has no "or" or "not"; else None."""
        term = direct_term(e, self.domains)
        if self.explicit or not isinstance(term, ValueIn | OrderIn):
            return None
        wording = self.wording(term)
        plain = wording.clause.verb and wording.clause.subject != "it" and not wording.joined and not wording.negations
        return wording.clause if plain else None

    def _is_count(self, e: Expression) -> bool:
        return e.type in (Type.COUNT, Type.REAL)

    def _count(self, e: Expression) -> str:
        return number_words(e.head.value) if isinstance(e.head, Number) else self.signals.noun(e)

    def _in_order(self, signal: Expression, names: frozenset[str]) -> list[str]:
        """Sort categories in the order of their column, then of their text."""
        column = self.signals.column(signal)
        places = {name: i for i, name in enumerate(column.levels)} if column.type is ColumnType.CATEGORICAL else {}
        return sorted(names, key=lambda name: (places.get(name, len(places)), name))


def _comes_first(e: Expression, other: Expression) -> bool:
    """Return True if a signal is the better subject of a comparison: a column rather than a composite."""
    return isinstance(e.head, Attribute) and not isinstance(other.head, Attribute)


def _or_unknown(wording: Wording, truth: str = "false") -> Wording:
    """Write that a clause is true (or false) or unknown."""
    return Wording(Clause("it", "is", f"{truth} or unknown that {wording}"), wording.negations + 1)


def _or_unknown_if_any(wording: Wording | None) -> Wording | None:
    return None if wording is None else _or_unknown(wording)


# ---- Sentences, joined by "and" or "or" to a text.
#
# Words that several sentences share are written once: a subject, "whenever", "at some point".

_POINT, _FEWEST_GATHERED = "at some point ", 3


@dataclass(frozen=True, slots=True)
class WeighedText:
    """Text with its reading effort: 1 for each word, 3 for a negation, 2 for a nested list."""

    text: str
    cost: int
    about: Wording | None = None
    """Clause of the literal, if the sentence only says when one literal is true."""
    given: str = ""
    """Text of A in "whenever A, B"."""
    adverb: str = ""
    """"never" or "always", if the sentence has it at a Boolean column's verb."""
    conditions: tuple[Term, ...] = ()
    """Terms that must occur for the sentence not to be vacuous: A in "whenever A, B"."""

    def __add__(self, other: "WeighedText | str") -> "WeighedText":
        more = other if isinstance(other, WeighedText) else weighed(other)
        text = f"{self.text} {more.text}" if self.text else more.text
        return WeighedText(text, self.cost + more.cost, conditions=(*self.conditions, *more.conditions))

    def mark(self, mark: str) -> "WeighedText":
        """Append a comma or semicolon."""
        return replace(self, text=self.text + mark)


def weighed(text: str, more: int = 0) -> WeighedText:
    """Weigh a text, with a cost beyond the number of its words."""
    return WeighedText(text, len(text.split()) + more)


def with_shared_subjects(sentences: list[WeighedText]) -> list[WeighedText]:
    """Merge sentences about one subject."""
    return _with_shared_rules(_with_shared_adverbs(sentences))


def _with_shared_adverbs(sentences: list[WeighedText]) -> list[WeighedText]:
    """Merge sentences with "never" or "always" about one subject: "the valve is never open or stuck"."""
    found: dict[Hashable, list[tuple[WeighedText, Clause]]] = {}
    for i, sentence in enumerate(sentences):
        about = sentence.about if sentence.adverb else None
        clause = Clause("", "", "") if about is None or about.joined else about.clause
        shared = (clause.opening, sentence.adverb) if clause.verb in SHARED_VERBS else i
        found.setdefault(shared, []).append((sentence, clause))
    return [alike[0][0] if len(alike) == 1 else _one_adverb(alike) for alike in found.values()]


def _one_adverb(alike: list[tuple[WeighedText, Clause]]) -> WeighedText:
    sentence, clause = alike[0]
    predicates = [weighed(clause.predicate) for _, clause in alike]
    joint = "or" if sentence.adverb == "never" else "and"
    return weighed(f"{clause.opening} {sentence.adverb}") + listed(predicates, joint)


def _with_shared_rules(sentences: list[WeighedText]) -> list[WeighedText]:
    """Merge sentences with "whenever" about one signal: "x is low whenever A, and up whenever B"."""
    found: dict[str | int, list[tuple[WeighedText, Clause]]] = {}
    for i, sentence in enumerate(sentences):
        about = sentence.about if sentence.given else None
        clause = Clause("", "", "") if about is None or about.joined else about.clause
        shared = clause.verb == "is" and clause.subject != "it"
        found.setdefault(clause.subject if shared else i, []).append((sentence, clause))
    return [rules[0][0] if len(rules) == 1 else _one_rule(rules) for rules in found.values()]


def _one_rule(rules: list[tuple[WeighedText, Clause]]) -> WeighedText:
    parts = [f"{clause.predicate} whenever {sentence.given}" for sentence, clause in rules]
    given = tuple(condition for sentence, _ in rules for condition in sentence.conditions)
    return replace(weighed(f"{rules[0][1].subject} is {', and '.join(parts)}"), conditions=given)


def gathered(sentences: list[WeighedText]) -> list[WeighedText]:
    """Merge sentences with "at some point" into one "each at some point: …" at the end of the text."""
    points = [sentence for sentence in sentences if sentence.text.startswith(_POINT)]
    if len(points) < _FEWEST_GATHERED:
        return sentences
    verbless = [point.about.verbless if point.about is not None else None for point in points]
    if all(verbless):
        bare = [weighed(text) for text in verbless if text]
    else:
        bare = [
            replace(point, text=point.text.removeprefix(_POINT), cost=point.cost - len(_POINT.split()), about=None)
            for point in points
        ]
    rest = [sentence for sentence in sentences if sentence not in points]
    return [*rest, weighed("each at some point:") + bare[0], *bare[1:]]


def all_true(sentences: list[WeighedText]) -> WeighedText:
    """Join sentences by "and", with semicolons where commas would be misread."""
    if len(sentences) == 2 and not any("," in sentence.text or " while " in sentence.text for sentence in sentences):
        return sentences[0].mark(",") + "and" + sentences[1]
    *first, last = sentences
    text = WeighedText("", 0)
    for sentence in first:
        text = text + sentence.mark(";")
    return text + "and" + last if first else last


def one_true(sentences: list[WeighedText]) -> WeighedText:
    """Join sentences by "or"."""
    text = sentences[0]
    for sentence in sentences[1:]:
        text = text.mark(";") + "or" + sentence
    return text


def listed(parts: Sequence[WeighedText], joint: str) -> WeighedText:
    """Join items to a list, with a comma before the last if items are lists too."""
    *first, last = parts
    if not first:
        return last
    text = reduce(lambda one, other: one.mark(",") + other, first)
    closed, bare = last.text.startswith(("either ", "both ", "all of ", "it is ")), QUOTED.sub("", last.text)
    if joint == "and":  # a comma might seem to end the sentence, and the list is clear without it
        bare = bare.replace(OR_AT_THE_START, "")
    apart = any(map(is_list, first)) or " while " in bare or (" or " in bare and not closed)
    later = last.text.startswith(("then or later", "from then on"))
    return (text.mark(",") if apart and not later else text) + joint + last


def is_list(part: WeighedText) -> bool:
    """Return True if a text joins items outside quotes."""
    return joins_items(part.text)
