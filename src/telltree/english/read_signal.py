"""Parser of signals: columns, phrases of operators, and calls of functions."""

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from telltree.english.conversion import is_boolean, opposite
from telltree.english.cursor import Cursor
from telltree.english.operator_phrases import PHRASES, Opposite, Piece, Span, pieces, takes_boolean
from telltree.english.tokens import Token, TokenKind, shape_of, shape_words
from telltree.english.vocabulary import Fact, FunctionPhrase, Noun, Scale, attribute, is_clause
from telltree.english.write_times_and_positions import Steps
from telltree.logic import Expression, Number, Shape, Type, UserFunction
from telltree.logic.operators import DIFFERENCE, TIMES, Operator, Parameter, Quantity

_A_COLUMN = "what a column is called"
_OWN_WORDS = "a grammar's or function's own words are understood only if quotations= gives their meaning"


@dataclass(frozen=True, slots=True)
class SignalReader:
    """Reads signals, and looks up the meanings of a user's words."""

    cursor: Cursor
    sentences: Mapping[str, Expression]
    truth: Callable[[], Expression]
    """Reads a Boolean operand."""
    steps: Steps
    _units: dict[int, tuple[Expression, str]] = field(default_factory=dict)
    """Units that were given for numbers, by the identities of their expressions."""

    def noun(self) -> Expression:
        """Read a signal: a part, or the difference of two."""
        part = self.part()
        if is_boolean(part) or part.type is Type.COUNT or not self.cursor.take("minus"):
            return part
        return self.applied(DIFFERENCE, part, self.part())

    def applied(self, head: Operator | UserFunction, *operands: Expression) -> Expression:
        """Apply an operator or function; raise SpeechError if the operands do not fit."""
        found = Expression(head, operands)
        if head.result(tuple(operand.type for operand in operands)) is None:
            kinds = ", ".join(str(operand.type) for operand in operands)
            self.cursor.fail(f"{head.operands} for {head.symbol!r}, not {kinds}")
        for operand in operands:
            unit = self._units[id(operand)][1] if id(operand) in self._units else ""
            if unit and unit not in self.units(found):
                self.cursor.fail(f"a number in the unit of {str(found)!r}, which {unit!r} is not, before this")
        return found

    def units(self, signal: Expression) -> set[str]:
        """Return the units that constants compared with a signal may have."""
        schema = self.cursor.vocabulary.schema
        found = {schema[name].unit for name in signal.attributes() if name in schema}
        timed = any(e.head in TIMES for e in signal.walk())
        return {unit for unit in (*found, self.steps.unit if timed else "") if unit}

    def part(self) -> Expression:
        """Read a signal as an operand."""
        with self.cursor.deeper():
            known = self._phrase(first=True)
            if known is not None:
                return known
            entry = self.entry()
            match entry:
                case Noun(column=column):
                    return attribute(column)
                case FunctionPhrase():
                    return self.call(entry)
                case Expression():
                    return entry
            begins = self.cursor.at == 0 and self.cursor.next.kind is TokenKind.WORD
            found = self._keyword() or self._number()
            return found or self.cursor.fail(_A_COLUMN, self._choices(), _OWN_WORDS if begins else "")

    def _phrase(self, first: bool) -> Expression | None:
        """Read a phrase of an operator: one tried before columns (`first`), or after them; None if none comes next."""
        return self._read_form(form for form in _forms(self.cursor.next) if form.first == first)

    def of_record(self) -> Expression | None:
        """Read an operator's phrase for whole records; None if none comes next."""
        truths = (form for form in _forms(self.cursor.next) if form.first and not form.operator.makes_numbers)
        return self._read_form([*truths, *_forms(self.cursor.next, of_record=True)])

    def sees_other_steps(self) -> bool:
        """Return True if the phrase of an operator on other steps comes next."""
        forms = (form for form in _forms(self.cursor.next) if form.operator.looks and form.first)
        user = self.cursor.entries()[0]
        openings = (form.pieces[0] for form in forms)
        return any(isinstance(o, str) and len(o.split()) >= user and self.cursor.sees(o) for o in openings)

    def _read_form(self, forms: Iterable["_PhraseForm"]) -> Expression | None:
        """Read one of these phrases, which may begin alike; None, without moving the cursor, if none comes next."""
        left = list(forms)
        if not left:
            return None
        user = self.cursor.entries()[0]  # columns with more words take precedence
        left = [form for form in left if isinstance(form.pieces[0], str) and len(form.pieces[0].split()) >= user]
        operands: dict[int | Opposite, Expression] = {}
        values: dict[Parameter, Expression] = {}
        place = 0
        while nexts := [form.pieces[place] for form in left if place < len(form.pieces)]:
            words = sorted(dict.fromkeys(piece for piece in nexts if isinstance(piece, str)), key=len, reverse=True)
            piece: Piece | None = self.cursor.take(*words)
            if piece is None and place == 0:
                return None
            if piece is None and len(nexts) < len(left):
                break  # one of the phrases ends here
            if piece is None:
                piece = next((other for other in nexts if not isinstance(other, str)), None)
                if piece is None:
                    self.cursor.expect(*words)
            match piece:
                case int() | Opposite():
                    operands[piece] = self._operand(left[0].operator, piece)
                case Parameter():
                    values[piece] = self.parameter(piece)
                case Span():
                    values |= self._span(piece)
            left = [form for form in left if form.pieces[place : place + 1] == (piece,)]
            place += 1
        form = next((form for form in left if len(form.pieces) == place), None)
        return None if form is None else self._filled(form, operands, values)

    def _operand(self, operator: Operator, place: int | Opposite) -> Expression:
        if isinstance(place, Opposite):
            return opposite(self.truth())
        return self.truth() if takes_boolean(operator, place) else self.part()

    def _filled(
        self, form: "_PhraseForm", operands: Mapping[int | Opposite, Expression], values: Mapping[Parameter, Expression]
    ) -> Expression:
        """Build the expression of a phrase, with omitted parameters; negated if the phrase is that of the negation."""
        rows = form.operator.parameters
        named = {row.name: values[row] for row in rows if row in values}
        for name, value in form.left_out.items():
            named[name] = named[value] if isinstance(value, str) else Expression(Number(value))
        placed = {place.operand if isinstance(place, Opposite) else place: e for place, e in operands.items()}
        whole = self.applied(
            form.operator, *(placed[place] for place in sorted(placed)), *(named[r.name] for r in rows)
        )
        if form.operator.window is not None and form.operator.is_empty([whole.parameter(row.name) for row in rows]):
            self.cursor.fail("a window that does not end before it begins")
        return opposite(whole) if form.denied else whole

    def _span(self, span: Span) -> dict[Parameter, Expression]:
        """Read both bounds of a window; the first may lack its unit."""
        cursor, start = self.cursor, self.cursor.at
        if cursor.take("exactly"):
            both = self.parameter(span.last)
            return {span.first: both, span.last: both}
        number = cursor.take_number(())
        if number is None or not cursor.take("to"):
            cursor.at = start
            first = self.parameter(span.first)
            cursor.expect("to")
            return {span.first: first, span.last: self.parameter(span.last)}
        last, unit = self._counted(span.last)
        steps = number if unit == "steps" else self.steps.steps(self.steps.amount(number, unit))
        if not span.first.allows(steps):
            cursor.at = start
            cursor.fail(self._some_steps)
        return {span.first: Expression(Number(steps)), span.last: last}

    def parameter(self, row: Parameter) -> Expression:
        """Read a parameter; numbers of steps may be given as times."""
        if row.quantity is Quantity.STEPS:
            return self._steps(row)
        if row.quantity is Quantity.SHAPE:
            return Expression(self.shape())
        cursor, start = self.cursor, self.cursor.at
        value = cursor.take_number(["s"] if row.quantity is Quantity.SECONDS else ())
        if value is None or not row.allows(value):
            cursor.at = start
            cursor.fail(row.wanted)
        return Expression(Number(value))

    def shape(self) -> Shape:
        """Read a shapelet: its name, and its picture or numbers."""
        cursor = self.cursor
        cursor.expect("a")
        name = cursor.next.text
        cursor.at += cursor.next.kind is TokenKind.WORD
        shape = shape_of(cursor.next.text)
        if shape is None:
            cursor.fail(f"a shape, such as {shape_words(Shape((0.0, 4.0, 7.0, 3.0)))!r}")
        if name != shape.name:
            cursor.fail(f"the picture of a {name}; this one is a {shape.name}")
        cursor.at += 1
        return shape

    def _steps(self, row: Parameter) -> Expression:
        return self._counted(row)[0]

    def _counted(self, row: Parameter) -> tuple[Expression, str]:
        """Read a number of steps, and return it with the unit in which it was given."""
        cursor, start, unit = self.cursor, self.cursor.at, "steps"
        steps = cursor.take_number(())
        if steps is None or not cursor.take("steps", "step"):
            cursor.at = start
            amount = cursor.take_number(self.steps.units) if self.steps.period is not None else None
            unit = cursor.unit or self.steps.unit
            steps = None if amount is None else self.steps.steps(self.steps.amount(amount, unit))
        if steps is None or not row.allows(steps):
            cursor.at = start
            cursor.fail(self._some_steps)
        return Expression(Number(steps)), unit

    @property
    def _some_steps(self) -> str:
        return "a whole number of steps" + ("" if self.steps.period is None else ", or the time they take")

    def _keyword(self) -> Expression | None:
        if not self.cursor.take("the excess of"):
            return self._phrase(first=False)
        first = self.part()
        self.cursor.expect("over")
        return self.applied(DIFFERENCE, first, self.part())

    def _number(self) -> Expression | None:
        known = {column.unit for column in self.cursor.vocabulary.schema.values() if column.unit}
        known |= {self.steps.unit} if self.steps.unit else set()
        start = self.cursor.at
        value = self.cursor.take_number(known)
        if value is None or not math.isfinite(value):  # formulas cannot contain infinity
            self.cursor.at = start
            return None
        found = Expression(Number(value))
        self._units[id(found)] = found, self.cursor.unit
        return found

    def sees_difference(self) -> bool:
        """Return True if the next number is the minuend of a difference, and so the beginning of a signal."""
        start = self.cursor.at
        found = self._number() is not None and self.cursor.sees("minus")
        self.cursor.at = start
        return found

    def entry(self) -> Noun | Fact | FunctionPhrase | list[Scale] | Expression | None:
        """Skip a user's words and return their meaning; None, without moving the cursor, if none come next.

        An expression is the meaning of a grammar's own phrase in quotes.
        """
        cursor = self.cursor
        if cursor.sees_quotation():
            return self._quotation()
        length, entries = cursor.entries()
        if not length:
            return None
        cursor.at += length
        if cursor.sees_quotation() and isinstance(entries[0], Noun | Fact):
            return self._named([entry for entry in entries if isinstance(entry, Noun | Fact)])
        first = entries[0]
        if isinstance(first, Scale):
            return [entry for entry in entries if isinstance(entry, Scale)]
        if len(entries) > 1:
            cursor.fail(f"the name of the column in quotes, for {len(entries)} columns are called so")
        return first

    def _quotation(self) -> Noun | Fact | Expression:
        """Read a quotation: the words or name of a column, or a grammar's own phrase."""
        cursor, schema = self.cursor, self.cursor.vocabulary.schema
        words = cursor.next.text
        columns = cursor.vocabulary.by_words.get(words, [])
        if columns:
            cursor.at += 1
            entries = [Fact(column, True) if is_clause(column) else Noun(column) for column in columns]
            named = cursor.sees_quotation() or len(entries) > 1
            return self._named(entries) if named else entries[0]
        if words in self.sentences:
            cursor.at += 1
            return self.sentences[words]
        if words in cursor.vocabulary.by_negated:
            cursor.at += 1
            return Fact(cursor.vocabulary.by_negated[words], False)
        if words in schema:
            cursor.at += 1
            return Fact(schema[words], True) if is_clause(schema[words]) else Noun(schema[words])
        return cursor.fail(_A_COLUMN, [*self._choices(), *self.sentences], _OWN_WORDS)

    def _named(self, entries: list[Noun | Fact]) -> Noun | Fact:
        """Select the column whose name comes next."""
        for entry in entries:
            if self.cursor.sees_quotation() and self.cursor.next.text == entry.column.name:
                self.cursor.at += 1
                return entry
        return self.cursor.fail("the name of a column in quotes", [entry.column.name for entry in entries])

    def call(self, call: FunctionPhrase) -> Expression:
        """Read the operands of a function and the words between them."""
        operands = []
        for kind, piece in zip(call.function.takes, call.pieces, strict=True):
            operands.append(self.truth() if kind == "Boolean" else self.part())
            if piece and not self.cursor.take_words(piece):
                self.cursor.fail(repr(piece))
        return self.applied(call.function, *operands)

    def _choices(self) -> list[str]:
        return list(self.cursor.vocabulary.by_words)


@dataclass(frozen=True, slots=True)
class _PhraseForm:
    """A phrase of an operator as pieces, and the parameters that it omits."""

    operator: Operator
    pieces: tuple[Piece, ...]
    left_out: Mapping[str, float | str]
    first: bool
    denied: bool


def _forms(begin: Token, of_record: bool = False) -> list[_PhraseForm]:
    """Return the phrases that begin with a token; with `of_record`, those for whole records only."""
    return (
        _by_first_word(of_record, PHRASES.changes).get(begin.text.lower(), []) if begin.kind is TokenKind.WORD else []
    )


@lru_cache(maxsize=2)
def _by_first_word(of_record: bool, changes: int) -> dict[str, list[_PhraseForm]]:
    """Group all phrases by their first word; `changes` identifies the state of the table, for the cache."""
    found: dict[str, list[_PhraseForm]] = {}
    for operator, usual in PHRASES.items():
        for denied, either in enumerate((usual, usual.denied)):
            phrase = either.of_record if of_record and either is not None else either
            for words, left_out in () if phrase is None else phrase.templates():
                form = _PhraseForm(
                    operator, pieces(operator, words), left_out, phrase is not None and phrase.first, bool(denied)
                )
                found.setdefault(words.split()[0], []).append(form)
    return found
