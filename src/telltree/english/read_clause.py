"""Parser of clauses, which are about one signal at a step; they may have an adverb, or lack a verb."""

import math
from dataclasses import dataclass, replace
from typing import TypeAlias

from telltree.english.conversion import expression_of, is_boolean
from telltree.english.cursor import Cursor
from telltree.english.operator_phrases import EXTREMES
from telltree.english.read_signal import SignalReader
from telltree.english.read_times_and_positions import CountReader, PositionReader
from telltree.english.terms import Opaque, OrderIn, ValueIn
from telltree.english.tokens import ALONE, BOUNDS, number_words
from telltree.english.value_sets import ORDERS, Interval, Names, Orders, Reals, Truths, Values
from telltree.english.vocabulary import STAYING, Fact, Noun, Scale, attribute
from telltree.errors import SpeechError
from telltree.logic import Attribute, Expression, Number, Type, operator_named
from telltree.logic.operators import (
    CHANGE,
    DIFFERENCE,
    DISTANCE,
    EPISODES,
    FALL,
    LATEST,
    LONGEST,
    MAX_WITHIN,
    MIN_WITHIN,
    NOT,
    RISE,
    TIMES,
    Operator,
)
from telltree.logic.types import fits

ADVERBS = ("always", "never", "ever")
_LOOKS = {"looks like": True, "look like": True, "does not look like": False, "do not look like": False}
_CHANGING = {
    "it never changes from false to true that": RISE,
    "it never changes from true to false that": FALL,
}
Simple: TypeAlias = ValueIn | OrderIn | Opaque
_PREDICATES = {
    Type.REAL_VECTOR: (*BOUNDS, "missing", "known", "other than", "exactly", "between", "from", "within", "beyond"),
    Type.CATEGORICAL_VECTOR: ("missing", "known", "not", "neither"),
    Type.BOOLEAN_VECTOR: ("true", "false", "missing", "known", "not true", "not false"),
}
"""First words of predicates."""


@dataclass(frozen=True, slots=True)
class ReadClause:
    """A literal with the form of its clause."""

    literal: Simple
    adverb: str = ""
    verbless: bool = False


class ClauseReader:
    """Reads clauses at a cursor."""

    def __init__(self, cursor: Cursor, signals: SignalReader, positions: PositionReader, times: CountReader) -> None:
        self._cursor = cursor
        self._positions = positions
        self._counts = times
        self._signals = signals

    def clause(self, lone: bool) -> ReadClause:
        """Read a clause; `lone` if an "or" in it cannot belong to an enclosing list."""
        found = (
            self._known_or_unknown(lone)
            or self._never_changing()
            or self._runs()
            or self._value_at_last()
            or self._likeness_of_last()
        )
        if found is not None:
            return found
        found = self._simple(lone)
        literal = found.literal
        if found.adverb in STAYING:
            return ReadClause(self._run_after(literal, found.adverb == "never stays"))
        plain = isinstance(literal, ValueIn | OrderIn) and not found.adverb and not found.verbless
        numbers = self._counts.take_stretches() if plain else None
        return found if numbers is None else ReadClause(self._counted(EPISODES, literal, numbers))

    def _simple(self, lone: bool) -> ReadClause:
        """Read a clause about one step, or by an operator's phrase."""
        start = self._cursor.at
        entry = self._signals.entry()
        match entry:
            case Fact(column=column, true=true, adverb=adverb, verbless=verbless):
                return ReadClause(ValueIn(attribute(column), Truths(true, not true, False)), adverb, verbless)
            case list():
                return ReadClause(self._scale(entry))
            case Expression() if is_boolean(entry):
                return ReadClause(Opaque(entry, True))
        self._cursor.at = start
        subject = self._signals.noun()
        if is_boolean(subject) and not isinstance(subject.head, Attribute):
            return ReadClause(_opaque(subject))
        return self._predicate_clause(subject, lone)

    def _never_changing(self) -> ReadClause | None:
        """Read that something never becomes true, or never stops being true; None if that does not come next."""
        word = self._cursor.take(*_CHANGING)
        operator = None if word is None else _CHANGING[word]
        return (
            None
            if operator is None
            else ReadClause(Opaque(Expression(operator, (self._signals.truth(),)), True), "never")
        )

    def _runs(self) -> ReadClause | None:
        """Read a number of stretches, or of steps in a row, before the condition."""
        cursor, start = self._cursor, self._cursor.at
        numbers = self._counts.take_stretches()
        if numbers is not None:
            cursor.take(",")
            return ReadClause(self._counted(EPISODES, self._signals.truth(), numbers))
        never = cursor.take("it is never so") is not None
        run = self._counts.take_in_a_row()
        if run is None:
            cursor.at = start
            return None
        if never:
            cursor.expect("that")
        else:
            cursor.take(",")
        return ReadClause(self._run_literal(self._signals.truth(), *run, never))

    def _run_after(self, literal: Simple, never: bool) -> Opaque:
        """Read for how many steps in a row a literal is true, after it."""
        run = self._counts.take_in_a_row()
        if run is None:
            self._cursor.fail("for how many steps, as in 'for more than 3 steps in a row'")
        return self._run_literal(expression_of(literal), *run, never)

    def _run_literal(self, part: Expression, numbers: Reals, longest: bool, never: bool) -> Opaque:
        """Make the literal for a number of steps in a row that occurs, or never occurs, or is the longest."""
        if not longest and (len(numbers.intervals) != 1 or numbers.intervals[0].bounded_above):
            self._cursor.fail("'at the longest' behind a number of steps in a row that may be too large")
        return self._counted(LONGEST, part, (~numbers).whole if never else numbers)

    def _counted(self, head: Operator, part: Expression | Simple, numbers: Reals) -> Opaque:
        """Make the literal that compares a number of stretches, or of steps in a row."""
        operand = part if isinstance(part, Expression) else expression_of(part)
        count = self._signals.applied(head, operand)
        for relation in ("=", ">=", "<="):
            for holds in (True, False):
                allowed = numbers if holds else (~numbers).whole
                for bound in {end for i in allowed.intervals for end in (i.low, i.high) if math.isfinite(end)}:
                    if Reals.compared(relation, bound).whole == allowed:
                        compared = Expression(operator_named(relation), (count, Expression(Number(bound))))
                        return Opaque(compared, holds)
        return self._cursor.fail("a single bound")

    def _value_at_last(self) -> ReadClause | None:
        """Read the value of a signal at the last step so far at which something else is true."""
        cursor = self._cursor
        if not cursor.take("at the last step so far at which"):
            return None
        event = self._signals.truth()
        cursor.expect(",")
        if_any = cursor.take("if there is one ,") is not None
        inside = self._simple(lone=False).literal
        if not isinstance(inside, ValueIn) or not isinstance(inside.values, Reals):
            cursor.fail("what a number is at that step")
        values = replace(inside.values, missing=inside.values.missing or if_any)
        return ReadClause(ValueIn(Expression(LATEST, (inside.signal, event)), values))

    def of_record(self) -> Opaque | None:
        """Read an operator's phrase for whole records; None, without moving the cursor, if none comes next."""
        found = self._signals.of_record()
        return None if found is None else _opaque(found)

    def sees_other_steps(self) -> bool:
        """Return True if a part about other steps comes next."""
        return self._cursor.sees("at the last step so far at which") or self._signals.sees_other_steps()

    def several_columns(self, joint: str, verb: str) -> list[ReadClause]:
        """Read a predicate of several columns: "x and y are below 5"; empty, without moving the cursor, if none."""
        cursor, start = self._cursor, self._cursor.place
        found: list[ReadClause] = []
        ends = set()
        try:
            subjects = self._subjects(joint)
            cursor.expect(verb)
            begin = cursor.at
            for subject in () if cursor.sees(*ALONE) else subjects:
                cursor.at = begin
                cursor.count_part()
                found.append(ReadClause(self._predicate(subject, lone=False, verbless=False)))
                ends.add(cursor.at)
        except SpeechError:  # a list of clauses: let the error be about these
            ends.clear()
        if len(ends) != 1:
            cursor.place = start
            return []
        return found

    def _subjects(self, joint: str) -> list[Expression]:
        """Read columns, the last after `joint`."""
        cursor, last = self._cursor, False
        found: list[Expression] = []
        while not last:
            last = bool(found) and cursor.take(joint) is not None
            if found and not last:
                cursor.expect(",")
            entry = self._signals.entry()
            if not isinstance(entry, Noun):
                cursor.fail("what a column is called")
            found.append(attribute(entry.column))
        return found

    def same_subject(self, first: ReadClause) -> list[ReadClause]:
        """Read further predicates for the subject of a Boolean column's clause: "never open or stuck"."""
        facts: dict[str, Fact] = {}
        match first.literal:
            case ValueIn(signal=Expression(head=Attribute(name=name)), values=Truths(true=true)):
                facts = self._cursor.vocabulary.like(self._cursor.vocabulary.schema[name], true)
        cursor, found = self._cursor, []
        joint = {"never": "or", "always": "and"}.get(first.adverb, "")
        while facts and joint:
            start = cursor.at
            words = cursor.take_longest(facts) if cursor.take(joint, ",") else None
            if words is None:
                cursor.at = start
                break
            values = Truths(facts[words].true, not facts[words].true, False)
            found.append(ReadClause(ValueIn(attribute(facts[words].column), values), first.adverb))
        return found

    def _known_or_unknown(self, lone: bool) -> ReadClause | None:
        """Read "it is known whether …", "it is false or unknown that …" and the like; None if they do not come next."""
        cursor, start = self._cursor, self._cursor.at
        adverb = (cursor.take(*ADVERBS) or "") if cursor.take("it is") else ""
        doubt = cursor.take("false or unknown that", "true or unknown that") if cursor.at > start else None
        if doubt is not None:
            return self._or_unknown(doubt, adverb, lone)
        kind = cursor.take("known whether", "unknown whether", "false that") if cursor.at > start else None
        if kind is None:
            cursor.at = start
            return None
        entry = self._signals.entry()
        if not isinstance(entry, Fact) or entry.adverb or entry.verbless:
            cursor.fail("what is so if a Boolean column is true")
        if kind == "false that":
            values = Truths(not entry.true, entry.true, False)
        else:
            values = Truths(kind == "known whether", kind == "known whether", kind == "unknown whether")
        return ReadClause(ValueIn(attribute(entry.column), values), adverb)

    def _or_unknown(self, doubt: str, adverb: str, lone: bool) -> ReadClause:
        """Read what is true (or false) or unknown."""
        inside = self._simple(lone)
        literal = inside.literal
        if inside.adverb or inside.verbless or isinstance(literal, Opaque):
            self._cursor.fail("what may be unknown: what a column or a number is")
        values = literal.orders if isinstance(literal, OrderIn) else literal.values
        doubted = ~values if doubt == "false or unknown that" else ~replace(~values, missing=False)
        if isinstance(literal, OrderIn):
            assert isinstance(doubted, Orders)
            return ReadClause(replace(literal, orders=doubted), adverb)
        return ReadClause(replace(literal, values=doubted), adverb)

    def _scale(self, scales: list[Scale]) -> ValueIn:
        """Read a constant in the column's own words for high or low."""
        cursor, start = self._cursor, self._cursor.at
        for scale in sorted(scales, key=lambda scale: -len(scale.after)):
            cursor.at = start
            constant = cursor.take_number([scale.column.unit or ""])
            if constant is not None and (not scale.after or cursor.take_words(scale.after)):
                return ValueIn(attribute(scale.column), Reals.compared(">" if scale.high else "<", constant))
        cursor.at = start
        return cursor.fail("a number and " + " or ".join(repr(scale.after) for scale in scales))

    def _predicate_clause(self, subject: Expression, lone: bool) -> ReadClause:
        cursor = self._cursor
        for joint, verb, word in (("and", "are", "known"), ("or", "is", "missing")):
            if cursor.take(joint):
                other = self._signals.noun()
                cursor.expect(verb)
                adverb = cursor.take(*ADVERBS) or ""
                cursor.expect(word)
                known = word == "known"
                return ReadClause(compares(subject, other, Orders(known, known, known, not known)), adverb)
        moved = self._rise_or_fall(subject) or self._time_of_extreme(subject) or self._likeness(subject)
        if moved is not None:
            return moved
        stays = cursor.take(*STAYING)
        if stays is not None:
            return ReadClause(self._predicate(subject, lone, verbless=False), stays)
        verbless = cursor.take("is") is None
        adverb = (not verbless and cursor.take(*ADVERBS)) or ""
        return ReadClause(self._predicate(subject, lone, verbless), adverb, verbless)

    def _rise_or_fall(self, subject: Expression) -> ReadClause | None:
        """Read that the subject rises or falls; None, without moving the cursor, if that does not follow."""
        cursor, start = self._cursor, self._cursor.at
        adverb = cursor.take(*ADVERBS) or ""
        word = cursor.take("rises", "falls") or (None if adverb else cursor.take("has risen", "has fallen"))
        if word is None or subject.type is not Type.REAL_VECTOR:
            cursor.at = start
            return None
        values = Reals.compared(">", 0.0)
        if cursor.take("by"):
            relation = BOUNDS[cursor.expect("more than", "at least")]
            values = Reals.compared(relation, self._number(subject))
        cursor.expect("within")
        rises = word in ("rises", "has risen")
        extreme = MIN_WITHIN if rises else MAX_WITHIN
        last = self._signals.parameter(extreme.parameters[1])
        farthest = Expression(extreme, (subject, Expression(Number(0.0)), last))
        sides = (subject, farthest) if rises else (farthest, subject)
        return ReadClause(ValueIn(Expression(DIFFERENCE, sides), values), adverb)

    def _time_of_extreme(self, subject: Expression) -> ReadClause | None:
        """Read when the subject first reaches its extreme; None, without moving the cursor, if that does not follow."""
        for operator, extreme in EXTREMES.items():
            if self._cursor.take(f"first reaches {extreme}"):
                return ReadClause(ValueIn(self._signals.applied(operator, subject), self._positions.after_start()))
        return None

    def _likeness_of_last(self) -> ReadClause | None:
        """Read that last values look like a shapelet; None, without moving the cursor, if that does not follow."""
        cursor, start = self._cursor, self._cursor.at
        number = cursor.take_number(()) if cursor.take("the last") else None
        if number is None or not cursor.take("values of"):
            cursor.at = start
            return None
        subject = self._signals.noun()
        cursor.expect("so far")
        found = self._likeness(subject, number)
        return cursor.fail("'look like'") if found is None else found

    def _likeness(self, subject: Expression, number: float | None = None) -> ReadClause | None:
        """Read that the subject, or `number` values of it, looks like a shapelet; None if that does not follow."""
        cursor, start = self._cursor, self._cursor.at
        adverb = cursor.take(*ADVERBS) or ""
        word = cursor.take(*_LOOKS)
        if word is None or subject.type is not Type.REAL_VECTOR or (adverb and not _LOOKS[word]):
            cursor.at = start
            return None
        shape = self._signals.shape()
        if number not in (None, len(shape.values)):
            cursor.at -= 1
            cursor.fail(f"the picture of a shape of {number_words(number or 0.0)} steps")
        signal = Expression(DISTANCE, (subject, Expression(shape)))
        cursor.expect("within")
        cursor.take("a distance of")
        values = Reals.compared("<", self._number(signal))
        return ReadClause(ValueIn(signal, values if _LOOKS[word] else ~values), adverb)

    def _predicate(self, subject: Expression, lone: bool, verbless: bool) -> Simple:
        """Read one predicate of the subject, or a list of them that ends with "or"."""
        if fits(subject.type, Type.COUNT):
            return self._count(subject)
        closed = self._cursor.take("either") is not None
        first = self._one(subject)
        if not isinstance(first, Reals | Names | Truths):
            return first
        values: Values = first
        joint = "," if closed else ""
        while not (closed and joint == "or") and (found := self._joint(subject, closed, lone, verbless)):
            joint = found
            values = values | self._further(subject)
        if joint == ",":
            self._cursor.expect("or")
        return ValueIn(subject, values)

    def _joint(self, subject: Expression, closed: bool, lone: bool, verbless: bool) -> str | None:
        """Skip the word that joins another predicate, and return it; None, without moving, if none follows."""
        cursor, start = self._cursor, self._cursor.at
        found = None if verbless and not closed else cursor.take("or", ",")
        sure = closed or (found == "or" and lone)
        if found and (sure or self._sees_predicate(subject)):
            return found
        cursor.at = start
        return None

    def _further(self, subject: Expression) -> Values:
        self._cursor.count_part()
        start = self._cursor.at
        more = self._one(subject)
        if isinstance(more, Reals | Names | Truths):
            return more
        self._cursor.at = start
        return self._cursor.fail("what else the same may be")

    def further(self, subject: Expression) -> ValueIn | None:
        """Read a further predicate of the subject; None if none comes next."""
        return ValueIn(subject, self._further(subject)) if self._sees_predicate(subject) else None

    def _sees_predicate(self, subject: Expression) -> bool:
        """Return True if another predicate of the subject comes next, and not the next part of a list."""
        cursor, start = self._cursor, self._cursor.at
        if cursor.entries()[0] or cursor.sees_quotation() or cursor.sees("from then", "from the start"):
            return False
        if self._positions.sees_passed():
            return False
        if cursor.sees(*_PREDICATES[subject.type]):
            return True
        levels = self._levels(subject) if subject.type is Type.CATEGORICAL_VECTOR else ()
        column = cursor.vocabulary.schema[subject.head.name] if isinstance(subject.head, Attribute) else None
        own = (column.high, column.low) if column else ()
        found = cursor.take_longest(levels, numbers=True, fold=True) is not None or any(
            map(cursor.take_words, filter(None, own))
        )
        cursor.at = start
        return found

    def _one(self, subject: Expression) -> Reals | Names | Truths | Simple:
        match subject.type:
            case Type.CATEGORICAL_VECTOR:
                return self._category(subject)
            case Type.BOOLEAN_VECTOR:
                return self._truth()
        return self._amount(subject)

    def _truth(self) -> Truths:
        match self._cursor.expect("true", "false", "missing", "known", "not true", "not false"):
            case "true" | "false" as word:
                return Truths(word == "true", word == "false", False)
            case "not true" | "not false" as word:  # a missing value is neither
                return Truths(word == "not false", word == "not true", True)
            case word:
                return Truths(word == "known", word == "known", word == "missing")

    def _category(self, subject: Expression) -> Names | Simple:  # noqa: PLR0911  one return a keyword
        cursor = self._cursor
        match cursor.take("missing", "known", "not", "neither", "the same as", "different from"):
            case "missing":
                return Names(frozenset(), False, True)
            case "known":
                return Names(frozenset(), True, False)
            case "not":
                return Names(frozenset([self._level(subject)]), True, False)
            case "neither":
                names = [self._level(subject)]
                while (joint := cursor.take("nor", ",")) is not None:
                    cursor.count_part()
                    names.append(self._level(subject))
                    if joint == "nor" and not cursor.sees("nor"):
                        break
                return Names(frozenset(names), True, False)
            case "the same as":
                return self._compared(subject, "=")
            case "different from":
                return self._compared(subject, "!=")
        return Names(frozenset([self._level(subject)]), False, False)

    def _level(self, subject: Expression) -> str:
        levels = self._levels(subject)
        found = self._cursor.take_longest(levels, numbers=True, fold=True) if levels else self._cursor.take_quoted()
        if found is None:
            self._cursor.fail(f"a category of {str(subject)!r}", levels)
        return found

    def _levels(self, subject: Expression) -> tuple[str, ...]:
        assert isinstance(subject.head, Attribute)
        return self._cursor.vocabulary.schema[subject.head.name].levels

    def _compared(self, subject: Expression, relation: str) -> Simple:
        """Read a comparison of the subject with another signal, or with its own earlier value."""
        change = self._change(subject)
        if change is not None:
            values = Reals.compared(relation.replace("!", ""), 0.0)
            return ValueIn(change, replace(~values, missing=False) if relation == "!=" else values)
        other = self._signals.noun()
        if other.type is not subject.type:
            self._cursor.fail(f"something like {str(subject)!r} to compare it with; {str(other)!r} is a {other.type}")
        return compares(subject, other, ORDERS[relation])

    def _change(self, subject: Expression) -> Expression | None:
        """Read the change of the subject since an earlier value of it; None if that does not come next."""
        cursor = self._cursor
        if subject.type is not Type.REAL_VECTOR or cursor.entries()[0] or not cursor.take("its value"):
            return None
        steps = self._signals.parameter(CHANGE.parameters[0])
        cursor.expect("earlier")
        if cursor.take("or at the start , whichever is later") and cursor.sees(", while"):
            cursor.at += 1  # the comma ends these words, not an item of a list
        return Expression(CHANGE, (subject, steps))

    def _count(self, subject: Expression) -> Opaque:
        cursor = self._cursor
        word = cursor.expect(*BOUNDS, "equal to", "unequal to")
        value = cursor.take_number(())
        other = Expression(Number(value)) if value is not None else self._signals.noun()
        if not fits(other.type, Type.COUNT):
            cursor.fail(f"a number of steps to compare with, not {str(other)!r}")
        compared = self._signals.applied(operator_named(BOUNDS.get(word, "=")), subject, other)
        return Opaque(compared, word != "unequal to")

    def _amount(self, subject: Expression) -> Reals | Simple:  # noqa: PLR0911  one return a keyword
        """Read a range of numbers, or a comparison with another signal."""
        cursor = self._cursor
        scaled = self._scale_bound(subject)
        if scaled is not None:
            return scaled
        match cursor.take("missing", "known", "other than", "exactly", "between", "from", "within", "beyond"):
            case "missing":
                return Reals((), True)
            case "known":
                return Reals((Interval(),), False)
            case "other than":
                return replace(~Reals.compared("=", self._number(subject)), missing=False)
            case "exactly":
                return Reals.compared("=", self._number(subject))
            case "between":
                return self._between(subject, "and", inclusive=False)
            case "from":
                return self._between(subject, "to", inclusive=True)
            case "beyond":
                edge = self._take_number(subject, "±")
                edge = self._number(subject) if edge is None else edge
                return Reals.compared(">=" if cursor.take("inclusive") else ">", edge).under_abs
            case "within":
                edge = self._take_number(subject, "±")
                apart = edge is None
                edge = self._number(subject) if edge is None else edge
                inclusive = cursor.take("inclusive") is not None
                values = Reals.of([Interval(-edge, edge, inclusive, inclusive)])
                return self._distance(subject, values) if apart and not inclusive and cursor.take("of") else values
        word = cursor.expect(*BOUNDS, "equal to", "unequal to")
        relation = BOUNDS.get(word, "=" if word == "equal to" else "!=")
        edge = self._take_number(subject, "±") if word in BOUNDS else None
        if edge is not None:
            return Reals.compared(relation, edge).under_abs
        value = None if self._signals.sees_difference() else self._take_number(subject)
        if value is None or word not in BOUNDS:
            return self._compared(subject, relation)
        return self._bound(subject, relation, value)

    def _bound(self, subject: Expression, relation: str, value: float) -> Reals | Simple:
        """Read what may follow a bound: the other bound, or the signal that a distance is measured from."""
        cursor = self._cursor
        bound = Reals.compared(relation, value)
        side = cursor.take("either way", "from", "above", "below")
        if side in ("above", "below"):
            if relation not in (">", ">="):
                cursor.at -= 1
                cursor.fail("'more than' or 'at least' before a distance above or below something")
            return self._distance(subject, bound if side == "above" else bound.mirrored)
        if side is not None:
            edges = bound.under_abs
            return edges if side == "either way" else self._distance(subject, edges)
        if relation in (">", ">=") and cursor.take("up to"):
            return bound & Reals.compared("<=", self._number(subject))
        if relation in (">", ">=") and cursor.sees("and at most", "and below", "and less than"):
            cursor.at += 1
            if not cursor.entries()[0] and not self._positions.sees_passed():
                return bound & Reals.compared(BOUNDS[cursor.expect(*BOUNDS)], self._number(subject))
            cursor.at -= 1  # the next item of a list that happens to begin with this word
        return bound

    def _between(self, subject: Expression, joint: str, inclusive: bool) -> Reals:
        low = self._number(subject)
        self._cursor.expect(joint)
        below = inclusive and self._cursor.take("below", "less than") is not None
        return Reals.of([Interval(low, self._number(subject), inclusive, inclusive and not below)])

    def _distance(self, subject: Expression, values: Reals) -> ValueIn:
        """Read the signal, or earlier value, that a distance is measured from."""
        change = self._change(subject)
        if change is not None:
            return ValueIn(change, values)
        signal = Expression(DIFFERENCE, (subject, self._signals.part()))
        if signal.args[1].type is not Type.REAL_VECTOR:
            self._cursor.fail("a signal to measure the distance from")
        return ValueIn(signal, values)

    def _scale_bound(self, subject: Expression) -> Reals | None:
        """Read a bound in the column's own words for high and low; None if that does not come next."""
        if not isinstance(subject.head, Attribute):
            return None
        column, start = self._cursor.vocabulary.schema[subject.head.name], self._cursor.at
        for relation, words in ((">", column.high), ("<", column.low)):
            if words and self._cursor.take_words(words):
                value = self._take_number(subject)
                if value is not None:
                    return Reals.compared(relation, value)
                self._cursor.at = start
        return None

    def _number(self, subject: Expression) -> float:
        value = self._take_number(subject)
        return self._cursor.fail("a number") if value is None else value

    def _take_number(self, subject: Expression, sign: str = "") -> float | None:
        if subject.head not in TIMES:
            return self._cursor.take_number(self._signals.units(subject), sign)
        units, steps = self._signals.steps.units, self._signals.steps
        number = self._cursor.take_number(units, sign)
        unit = self._cursor.unit or self._cursor.unit_ahead(units)
        return None if number is None else steps.amount(number, unit)


def compares(first: Expression, second: Expression, orders: Orders) -> OrderIn:
    """Make a comparison with its sides in the order of their text."""
    if str(second) < str(first):
        return OrderIn(second, first, replace(orders, less=orders.greater, greater=orders.less))
    return OrderIn(first, second, orders)


def _opaque(e: Expression) -> Opaque:
    """Make an opaque literal; a negation becomes one that does not hold."""
    return Opaque(e.args[0], False) if e.head is NOT else Opaque(e, True)
