"""Literals in words: what one signal is at a step, as a clause in which an adverb can be placed."""

from dataclasses import dataclass, replace

from telltree.data import Column, ColumnType
from telltree.operators import Attribute, Expression, Number, Operator, Type
from telltree.operators.table import CHANGE, COMPARISONS, DIFFERENCE, DISTANCE, MIRRORED, TIMES
from telltree.speech.amounts import amounts, distance, only_above, only_below, rise
from telltree.speech.atoms import has_own_words, of_length
from telltree.speech.durations import suited, unit_words
from telltree.speech.nouns import Nouns
from telltree.speech.terms import Compares, Own, Says
from telltree.speech.values import Names, Reals, Truths
from telltree.speech.verbs import Clause
from telltree.speech.vocabulary import Scale, is_clause, scales
from telltree.speech.when import When, of_clock
from telltree.speech.words import ALONE, bare_or_quoted, number_words, shape_words

UNKNOWN = "or that is unknown"
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
    tail: str = ""
    joined: bool = False
    """whether it contains an "or" or "and" that must not be mixed up with those of a list"""
    act: Clause | None = None
    """the same as an event: "x rises by more than 3 within 5 s"."""

    def __str__(self) -> str:
        return f"{self.clause} {self.tail}".rstrip()

    def with_adverb(self, adverb: str) -> str:
        """The clause with "always" or "never" at its verb, or after words that say so."""
        clause = self.clause if self.act is None else self.act
        said = clause.with_adverb(adverb) if clause.verb else f"it is {adverb} the case that {clause}"
        return f"{said} {self.tail}".rstrip()

    @property
    def happening(self) -> str:
        """The clause after words for when: "at some point x rises by more than 3 within 5 s"."""
        return str(self if self.act is None else replace(self, clause=self.act))

    @property
    def mergeable(self) -> bool:
        """Whether several subjects may share its predicate: none of its words would change its meaning then."""
        simple = self.clause.verb == "is" and not self.negations and not self.tail and not self.joined
        return simple and self.act is None and self.clause.predicate not in ALONE

    @property
    def verbless(self) -> str | None:
        """The clause without "is", for lists: "x above 0.52"; None where that is not possible."""
        quoted = self.clause.predicate.startswith("“")  # after a noun, this would be a column's name
        simple = not self.tail and not self.joined and not quoted and self.clause.subject != "it"
        return self.clause.verbless if simple else None


@dataclass(frozen=True, slots=True)
class Literals:
    """Says literals; signals are named by `nouns`."""

    nouns: Nouns
    wary: bool = False
    """lists of what one signal may be have no commas"""

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
        fact = self._fact(column, values.true)
        return replace(fact, tail=UNKNOWN) if values.missing else fact

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
        own = has_own_words(signal)
        moved = self._moved(signal, values) if signal.head is CHANGE and not own and not self.nouns.careful else None
        if moved is not None:
            return moved
        alike = self._alike(signal, values) if signal.head is DISTANCE and not own and not self.nouns.careful else None
        if alike is not None:
            return alike
        apart = self._apart(signal, values) if signal.head is DIFFERENCE and not own else None
        if apart is not None:
            return apart
        return self._scaled(signal, values) or self._is(signal, self._amounts(signal, values), closed)

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

    def _moved(self, signal: Expression, values: Reals) -> Wording | None:
        """By how much a signal has risen or fallen, if that is all its change says."""
        if len(values.intervals) != 1:
            return None
        said = rise(values.intervals[0], self._unit(signal))
        if said is None:
            return None
        rises, by = said
        subject, over = (
            self.nouns.noun(signal.args[0]),
            f"{by} within {self.nouns.parameter(signal, CHANGE.parameters[0])}".strip(),
        )
        return Wording(
            Clause(subject, "has", f"{'risen' if rises else 'fallen'} {over}"),
            tail=UNKNOWN if values.missing else "",
            act=Clause(subject, "rises" if rises else "falls", over),
        )

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
            self.nouns.noun(signal.args[0]),
            f"like {shape_words(signal.shape)} within {number_words(bound)}",
        )
        if values.missing:
            return Wording(Clause("", "", f"{subject} does not look {like}"), 1)
        return Wording(Clause(subject, "looks", like))

    def _unit(self, *signals: Expression) -> str:
        unit = self.nouns.unit(*signals)
        return f" {bare_or_quoted(unit, self.nouns.careful)}" if unit else ""

    def _is(self, signal: Expression, said: list[str], closed: bool, negations: int = 0) -> Wording:
        clause = Clause(self.nouns.noun(signal), "is", self._one_of(said, closed))
        negations += said[0].startswith("other than")
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
        predicate = distance(values, self._unit(one, other))
        if predicate is None:
            return None
        clause = Clause(self.nouns.part(one), "is", f"{predicate} {self.nouns.part(other)}")
        return Wording(clause, tail=UNKNOWN if values.missing else "")

    def _order(self, literal: Compares) -> Wording:
        orders, first, second = literal.orders, literal.first, literal.second
        sides = (orders.less, orders.equal, orders.greater)
        subject, second_noun = self.nouns.noun(first), self.nouns.noun(second)
        if all(sides):
            return Wording(Clause(f"{subject} and {second_noun}", "are", "known"), joined=True)
        if not any(sides):
            return Wording(Clause(f"{subject} or {second_noun}", "is", "missing"), joined=True)
        words = (_ALIKE if first.type is Type.CATEGORICAL_VECTOR else _SIDES)[sides]
        negations = int(words in ("unequal to", "different from"))
        return Wording(Clause(subject, "is", f"{words} {second_noun}"), negations, UNKNOWN if orders.missing else "")

    def _own(self, literal: Own, of_record: bool) -> Wording:
        e = literal.expression
        if e.head in COMPARISONS and e.english is None and all(self._is_count(arg) for arg in e.args):
            assert isinstance(e.head, Operator)
            turned = isinstance(e.args[0].head, Number)
            subject, other = (self._count(arg) for arg in (reversed(e.args) if turned else e.args))
            relation = MIRRORED[e.head.name] if turned else e.head.name
            clause = Clause(subject, "is", f"{_COUNTS[relation]} {other}")
        else:
            words = self.nouns.of_record if of_record else self.nouns.part
            clause = Clause("", "", self.nouns.quotation(e) if e.english is not None else words(e))
        if literal.holds:
            return Wording(clause)
        return Wording(Clause("it", "is", f"not so that {clause}"), 1)

    def _is_count(self, e: Expression) -> bool:
        return e.type in (Type.COUNT, Type.REAL)

    def _count(self, e: Expression) -> str:
        return number_words(e.head.value) if isinstance(e.head, Number) else self.nouns.noun(e)

    def _in_order(self, signal: Expression, names: frozenset[str]) -> list[str]:
        """Categories in the order of their column, then of their text."""
        column = self.nouns.column(signal)
        places = {name: i for i, name in enumerate(column.levels)} if column.type is ColumnType.CATEGORICAL else {}
        return sorted(names, key=lambda name: (places.get(name, len(places)), name))
