"""Literals in words: what one signal is at a step, as a clause in which an adverb can be placed."""

from dataclasses import dataclass, field, replace

from telltree.data import Column, ColumnType
from telltree.operators import Attribute, Expression, Number, Operator, Type
from telltree.operators.table import (
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
)
from telltree.speech.amounts import amounts, distance, only_above, only_below, rise
from telltree.speech.atoms import has_own_words, of_length
from telltree.speech.durations import suited, unit_words
from telltree.speech.literals import how_many
from telltree.speech.normal import taken_apart
from telltree.speech.nouns import Nouns
from telltree.speech.phrases import EXTREMES, is_rise
from telltree.speech.possible import Possible
from telltree.speech.terms import Compares, Own, Says
from telltree.speech.values import Names, Reals, Truths
from telltree.speech.verbs import Clause
from telltree.speech.vocabulary import Scale, is_clause, scales
from telltree.speech.when import When, of_clock
from telltree.speech.words import ALONE, OR_AT_THE_START, bare_or_quoted, number_words, shape_words

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
    """A clause that says a literal."""

    clause: Clause
    negations: int = 0
    joined: bool = False
    """whether it contains an "or" or "and" that must not be mixed up with those of a list"""
    act: Clause | None = None
    """the same as an event: "x rises by more than 3 within 5 s"."""
    never: str = ""
    """that it never is so, where "never" in the clause would say something else"""

    def __str__(self) -> str:
        return str(self.clause)

    def with_adverb(self, adverb: str) -> str:
        """The clause with "always" or "never" at its verb, or after words that say so."""
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
        """Whether several subjects may share its predicate: none of its words would change its meaning then."""
        simple = self.clause.verb == "is" and not self.negations and not self.never and not self.joined
        return simple and self.act is None and self.clause.predicate not in ALONE

    @property
    def verbless(self) -> str | None:
        """The clause without "is", for lists: "x above 0.52"; None where that is not possible."""
        quoted = self.clause.predicate.startswith("“")  # after a noun, this would be a column's name
        simple = not self.joined and not quoted and self.clause.subject != "it"
        return self.clause.verbless if simple else None


@dataclass(frozen=True, slots=True)
class Literals:
    """Says literals; signals are named by `nouns`."""

    nouns: Nouns
    wary: bool = False
    """lists of what one signal may be have no commas"""
    possible: Possible = field(default_factory=Possible)

    def wording(self, literal: Says | Compares | Own, closed: bool = False, *, of_record: bool = False) -> Wording:
        """The literal as one clause; `closed` if its "or" might be confused with others: "is either low or missing";
        `of_record` if it is said of the record, not of a step."""
        match literal:
            case Says(values=Truths()):
                return self._truth(literal, closed)
            case Says():
                return self._value(literal, closed)
            case Compares():
                return self._order(literal)
            case Own():
                return self._own(literal, of_record)

    def _truth(self, literal: Says, closed: bool) -> Wording:
        values, column = literal.values, self.nouns.column(literal.signal)
        assert isinstance(values, Truths)
        if not is_clause(column):
            subject = self.nouns.part(literal.signal)
            if values == Truths(False, True, True):
                return Wording(Clause(subject, "is", "not true"), 1)
            known = [] if values.true and values.false else ["true"] * values.true + ["false"] * values.false
            said = [*known, *["missing"] * values.missing] or ["known"]
            return Wording(Clause(subject, "is", self._one_of(said, closed)), joined=len(said) > 1)
        if values.true == values.false:
            fact = self._fact(column, True)
            return Wording(Clause("it", "is", f"{'known' if values.true else 'unknown'} whether {fact.clause}"))
        if values.missing:
            return _doubted(self._fact(column, True), "true" if values.true else "false")
        return self._fact(column, values.true)

    def _fact(self, column: Column, true: bool) -> Wording:
        """What a Boolean column's truth or falsehood means in words."""
        vocabulary, careful = self.nouns.vocabulary, self.nouns.careful
        clause = vocabulary.clause(column, true, careful)
        if clause is None:
            return Wording(Clause("it", "is", f"false that {vocabulary.noun(column, careful)}"), 1)
        words = str(clause).strip("“”")
        straight = words == column.negated and _DENIALS.isdisjoint(words.split())
        return Wording(clause, 0 if true or straight else 1)

    def _value(self, literal: Says, closed: bool) -> Wording:
        signal, values = literal.signal, literal.values
        if isinstance(values, Names):
            names = [bare_or_quoted(n, self.nouns.careful, numbers=True) for n in self._in_order(signal, values.names)]
            said = self._categories(names, values)
            return self._is(signal, said, closed, negations=int(values.others and bool(names)))
        assert isinstance(values, Reals)
        if self._speaks_of_time(literal):
            words = self.when.has if of_length(literal) else self.when.passed
            return Wording(Clause("", "", words(literal, closed)), joined=True)
        return (
            self._in_particular(signal, values)
            or self._scaled(signal, values)
            or self._is(signal, self._amounts(signal, values), closed)
        )

    def _in_particular(self, signal: Expression, values: Reals) -> Wording | None:
        """In words that only this kind of signal has; None if it has none for these values."""
        if has_own_words(signal):
            return None
        if signal.head is DIFFERENCE:
            return self._moved(signal, values) or self._apart(signal, values)
        words = {CHANGE: self._changed, DISTANCE: self._alike, LATEST: self._at_the_last}
        words |= dict.fromkeys(EXTREMES, self._reached)
        if not isinstance(signal.head, Operator) or signal.head not in words or self.nouns.careful:
            return None
        return words[signal.head](signal, values)

    def _amounts(self, signal: Expression, values: Reals) -> list[str]:
        """What a number may be; a time in the unit that suits it."""
        if signal.head not in TIMES or self.nouns.careful or not self.nouns.steps.unit:
            return amounts(values, self._unit(signal))
        ends = [end for i in values.intervals for end in (i.low, i.high)]
        numbers, unit = suited(ends, self.nouns.steps.unit)
        scaled = dict(zip(ends, numbers, strict=True))
        intervals = tuple(replace(i, low=scaled[i.low], high=scaled[i.high]) for i in values.intervals)
        unit = self._unit(signal) if unit == self.nouns.steps.unit else f" {unit_words(unit, one=False)}"
        return amounts(Reals(intervals, values.missing), unit)

    @property
    def when(self) -> When:
        """How to say where in its record a step is."""
        return When(self.nouns.steps)

    def _speaks_of_time(self, literal: Says) -> bool:
        return (of_clock(literal) or of_length(literal)) and not self.nouns.careful

    def _changed(self, signal: Expression, values: Reals) -> Wording | None:
        """How a signal stands to its earlier value, or near the start to its first, if that is all its change says."""
        if values.missing:
            return _denied(self._changed(signal, ~values))
        relation = next((words for relation, words in _COUNTS.items() if values == Reals.compared(relation, 0.0)), None)
        predicate = relation or distance(values, self._unit(signal))
        if predicate is None:
            return None
        steps = self.nouns.parameter(signal, CHANGE.parameters[0])
        earlier = f"its value {steps} earlier {OR_AT_THE_START}"
        return Wording(Clause(self.nouns.noun(signal.args[0]), "is", f"{predicate} {earlier}"), joined=True)

    def _moved(self, signal: Expression, values: Reals) -> Wording | None:
        """By how much a signal has risen or fallen within some steps: how far it is from its extreme of these."""
        risen = is_rise(signal)
        if risen is None or self.nouns.careful:
            return None
        if values.missing:
            return _denied(self._moved(signal, ~values))
        rises, extreme, turned = risen
        by = rise((values.mirrored if turned else values).intervals, self._unit(signal))
        if by is None:
            return None
        subject, over = (
            self.nouns.noun(extreme.args[0]),
            f"{by} within {self.nouns.steps.window(extreme.parameter('b'), self.nouns.careful)}".lstrip(),
        )
        return Wording(
            Clause(subject, "has", f"{'risen' if rises else 'fallen'} {over}"),
            act=Clause(subject, "rises" if rises else "falls", over),
        )

    def _at_the_last(self, signal: Expression, values: Reals) -> Wording | None:
        """What a signal is at the last step so far at which something else holds."""
        if not values.intervals:
            return None
        value, event = signal.args
        inside = replace(values, missing=values.missing and self.possible.misses(value))
        said = self.wording(Says(value, inside), closed=True)
        if_any = " if there is one," * values.missing
        words = f"at the last step so far at which {self.nouns.says(event)},{if_any} {said}"
        return Wording(Clause("", "", words), said.negations)

    def _reached(self, signal: Expression, values: Reals) -> Wording | None:
        """When a signal first reaches its minimum or maximum."""
        if values.missing:
            return _denied(self._reached(signal, ~values))
        if len(values.intervals) != 1:
            return None
        assert isinstance(signal.head, Operator)
        when = f"{EXTREMES[signal.head]} {self.when.after_start(values.intervals[0])}"
        return Wording(Clause(self.nouns.noun(signal.args[0]), "first reaches", when))

    def _alike(self, signal: Expression, values: Reals) -> Wording | None:
        """That a signal looks like a shape, or does not, if that is all its distance says.

        What is missing looks like nothing.
        """
        likeness = values if not values.missing else ~values
        if len(likeness.intervals) != 1 or likeness.missing:
            return None
        bound, interval = only_below(likeness.intervals[0]), likeness.intervals[0]
        if bound is None or interval.with_high:
            return None
        subject, like = (
            f"the last {len(signal.shape.values)} values of {self.nouns.noun(signal.args[0])} so far",
            f"like {shape_words(signal.shape)} within a distance of {number_words(bound)}",
        )
        if values.missing:
            return Wording(Clause("", "", f"{subject} do not look {like}"), 1)
        return Wording(Clause(subject, "look", like))

    def _unit(self, *signals: Expression) -> str:
        unit = self.nouns.unit(*signals)
        return f" {bare_or_quoted(unit, self.nouns.careful)}" if unit else ""

    def _is(self, signal: Expression, said: list[str], closed: bool, negations: int = 0) -> Wording:
        clause = Clause(self.nouns.noun(signal), "is", self._one_of(said, closed))
        negations += said[0].startswith("other than") + (signal.head is CHANGE)  # that it never is more reads better
        return Wording(clause, negations, joined=len(said) > 1)

    def _one_of(self, said: list[str], closed: bool) -> str:
        """Predicates, at least one of which is true."""
        if len(said) == 1:
            return said[0]
        return "either " * closed + self._list(said, "or", closed)

    def _list(self, said: list[str], joint: str, closed: bool = False) -> str:
        """A list; a quotation in it might be mistaken for what follows a comma."""
        commas = closed or not (self.wary or any("“" in words for words in said))
        return f" {joint} ".join([", ".join(said[:-1]), said[-1]] if commas else said)

    def _categories(self, names: list[str], values: Names) -> list[str]:
        missing = ["missing"] * values.missing
        if not values.others:
            return [*names, *missing]
        if not names:
            return ["known"]
        return [*missing, f"not {names[0]}" if len(names) == 1 else "neither " + self._list(names, "nor")]

    def _scaled(self, signal: Expression, values: Reals) -> Wording | None:
        """In the column's own words for high and low, if it has them."""
        if self.nouns.careful or not isinstance(signal.head, Attribute) or values.missing or len(values.intervals) != 1:
            return None
        column, interval = self.nouns.column(signal), values.intervals[0]
        high, low = only_above(interval), only_below(interval)
        constant = high if high is not None else low
        words = column.high if high is not None else column.low
        if constant is None or words is None:
            return None
        number = self.nouns.number(constant, column.unit)
        if "{" not in words:
            return Wording(Clause(self.nouns.noun(signal), "is", f"{words} {number}"))
        usable = column.name not in self.nouns.vocabulary.called and any(
            scale == Scale(column, high is not None, scale.after) for scale, _ in scales(column)
        )
        return Wording(Clause("", "", words.replace("{0}", number))) if usable else None

    def _apart(self, signal: Expression, values: Reals) -> Wording | None:
        """How far one signal is from another, where that is simpler than their difference."""
        one, other = signal.args
        if any(isinstance(arg.head, Number) for arg in signal.args) or not values.intervals:
            return None
        if values.missing:
            return _denied(self._apart(signal, ~values))
        derived = not any(isinstance(arg.head, Attribute) for arg in signal.args)
        if _comes_first(other, one) or (derived and values.intervals[0].high < 0):
            one, other, values = other, one, values.mirrored
        predicate = distance(values, self._unit(one, other))
        if predicate is None:
            return None
        return Wording(Clause(self.nouns.part(one), "is", f"{predicate} {self.nouns.part(other)}"))

    def _order(self, literal: Compares) -> Wording:
        orders, first, second = literal.orders, literal.first, literal.second
        sides = (orders.less, orders.equal, orders.greater)
        if all(sides) or not any(sides):
            subjects, joint = (self.nouns.noun(first), self.nouns.noun(second)), "and" if any(sides) else "or"
            clause = Clause(f" {joint} ".join(subjects), *(("are", "known") if any(sides) else ("is", "missing")))
            return Wording(clause, joined=True)
        if orders.missing:
            return _doubted(self._order(replace(literal, orders=~orders)))
        if _comes_first(second, first):
            first, second, sides = second, first, sides[::-1]
        words = (_ALIKE if first.type is Type.CATEGORICAL_VECTOR else _SIDES)[sides]
        negations = int(words in ("unequal to", "different from"))
        return Wording(Clause(self.nouns.noun(first), "is", f"{words} {self.nouns.noun(second)}"), negations)

    def _own(self, literal: Own, of_record: bool) -> Wording:
        e = literal.expression
        if e.head in COMPARISONS and e.english is None and all(self._is_count(arg) for arg in e.args):
            counted = how_many(literal)
            if counted is not None and not self.nouns.careful:
                return self._stretches(*counted, named=next(a.head.value for a in e.args if isinstance(a.head, Number)))
            assert isinstance(e.head, Operator)
            turned = isinstance(e.args[0].head, Number)
            subject, other = (self._count(arg) for arg in (reversed(e.args) if turned else e.args))
            relation = MIRRORED[e.head.name] if turned else e.head.name
            clause = Clause(subject, "is", f"{_COUNTS[relation]} {other}")
        elif e.english is not None:
            clause = Clause("", "", self.nouns.quotation(e))
        else:
            denied = self.nouns.denied(e, of_record)
            if denied is not None and not literal.holds:
                return Wording(Clause("", "", denied), 1)
            clause = Clause("", "", self.nouns.whole(e, of_record))
            if denied is not None and e.head in (RISE, FALL):
                return Wording(clause, never=denied.replace("does not change", "never changes"))
        return Wording(clause) if literal.holds else Wording(Clause("it", "is", f"not so that {clause}"), 1)

    def _stretches(self, count: Expression, numbers: Reals, named: float) -> Wording:
        """In how many stretches something is so, or for how many steps in a row."""
        steps, simple = self.nouns.steps, self._simple(count.args[0])
        if count.head is EPISODES:
            often = steps.stretches(numbers, named)
            words = f"{often}, {self.nouns.says(count.args[0])}" if simple is None else f"{simple} {often}"
            return Wording(Clause("", "", words))
        never, long = steps.in_a_row(numbers, named)
        if simple is not None and simple.verb == "is" and not long.endswith("at the longest"):
            return Wording(Clause(simple.subject, "never stays" if never else "stays", f"{simple.predicate} {long}"))
        words = self.nouns.says(count.args[0])
        if never:
            return Wording(Clause("it", "is", f"never so {long} that {words}"), 1)
        return Wording(Clause("", "", f"{long}, {words}"))

    def _simple(self, e: Expression) -> Clause | None:
        """A clause without "or" and "not", behind which may stand how often it is so; None if it is no such clause."""
        term = taken_apart(e, self.possible)
        if self.wary or not isinstance(term, Says | Compares):
            return None
        wording = self.wording(term)
        plain = wording.clause.verb and wording.clause.subject != "it" and not wording.joined and not wording.negations
        return wording.clause if plain else None

    def _is_count(self, e: Expression) -> bool:
        return e.type in (Type.COUNT, Type.REAL)

    def _count(self, e: Expression) -> str:
        return number_words(e.head.value) if isinstance(e.head, Number) else self.nouns.noun(e)

    def _in_order(self, signal: Expression, names: frozenset[str]) -> list[str]:
        """Categories in the order of their column, then of their text."""
        column = self.nouns.column(signal)
        places = {name: i for i, name in enumerate(column.levels)} if column.type is ColumnType.CATEGORICAL else {}
        return sorted(names, key=lambda name: (places.get(name, len(places)), name))


def _comes_first(e: Expression, other: Expression) -> bool:
    """Whether a signal makes the better subject of a comparison: a column, rather than what is made of some."""
    return isinstance(e.head, Attribute) and not isinstance(other.head, Attribute)


def _doubted(wording: Wording, truth: str = "false") -> Wording:
    """What is also so where nothing is known."""
    return Wording(Clause("it", "is", f"{truth} or unknown that {wording}"), wording.negations + 1)


def _denied(wording: Wording | None) -> Wording | None:
    return None if wording is None else _doubted(wording)
