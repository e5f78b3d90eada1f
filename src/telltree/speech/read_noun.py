"""Reading the names of signals."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from telltree.data import Column, ColumnType
from telltree.operators import Attribute, Expression, Number, Operator, Type, UserFunction
from telltree.operators.table import ABS, CHANGE, COUNT, DIFFERENCE, SIGN
from telltree.speech.cursor import Cursor
from telltree.speech.nouns import CLOCK_NOUNS
from telltree.speech.times import Steps
from telltree.speech.tokens import Kind
from telltree.speech.vocabulary import Call, Fact, Noun, Scale, is_clause

_TYPES = {
    ColumnType.REAL: Type.REAL_VECTOR,
    ColumnType.BOOLEAN: Type.BOOLEAN_VECTOR,
    ColumnType.CATEGORICAL: Type.CATEGORICAL_VECTOR,
}
_OF_ONE = {"the absolute value of": ABS, "the sign of": SIGN}
_A_COLUMN = "what a column is called"
_OWN_WORDS = "a grammar's or function's own words are understood only if quotations= gives their meaning"


@dataclass(frozen=True, slots=True)
class NounReader:
    """Reads signals, and looks up the meaning of a user's words."""

    cursor: Cursor
    sentences: Mapping[str, Expression]
    truth: Callable[[], Expression]
    """reads a Boolean operand"""
    steps: Steps

    def noun(self) -> Expression:
        """A signal: a part, or the difference of two."""
        part = self.part()
        if is_truth(part) or part.type is Type.COUNT or not self.cursor.take("minus"):
            return part
        return self.applied(DIFFERENCE, part, self.part())

    def applied(self, head: Operator | UserFunction, *operands: Expression) -> Expression:
        """An expression whose operands fit."""
        found = Expression(head, operands)
        if head.result(tuple(operand.type for operand in operands)) is None:
            kinds = ", ".join(str(operand.type) for operand in operands)
            self.cursor.fail(f"{head.operands} for {head.symbol!r}, not {kinds}")
        return found

    def part(self) -> Expression:
        """A signal as an operand."""
        with self.cursor.deeper():
            known = self._of_time()
            if known is not None:
                return known
            entry = self.entry()
            match entry:
                case Noun(column=column):
                    return attribute(column)
                case Call():
                    return self.call(entry)
                case Expression():
                    return entry
            begins = self.cursor.at == 0 and self.cursor.next.kind is Kind.WORD
            found = self._keyword() or self._number()
            return found or self.cursor.fail(_A_COLUMN, self._choices(), _OWN_WORDS if begins else "")

    def _of_time(self) -> Expression | None:
        """What only telltree's own words say, even if a column has the same words."""
        cursor = self.cursor
        for operator, words in CLOCK_NOUNS.items():
            if cursor.take(words):
                return Expression(operator)
        if not cursor.take("the change of"):
            return None
        signal = self.part()
        cursor.expect("within")
        return self.applied(CHANGE, signal, self.window())

    def window(self) -> Expression:
        """How many steps a change spans, given in steps or as a time."""
        cursor, begun = self.cursor, self.cursor.at
        steps = cursor.take_number(())
        if steps is None or not cursor.take("steps", "step"):
            cursor.at = begun
            amount = cursor.take_number([self.steps.unit]) if self.steps.period is not None else None
            steps = None if amount is None else self.steps.steps(amount)
        if steps is None or steps < 1 or not steps.is_integer():
            cursor.at = begun
            cursor.fail("a whole number of steps" + ("" if self.steps.period is None else ", or the time they take"))
        return Expression(Number(steps))

    def _keyword(self) -> Expression | None:
        cursor = self.cursor
        for keyword, operator in _OF_ONE.items():
            if cursor.take(keyword):
                return self.applied(operator, self.part())
        if found := cursor.take("the difference", "the excess of"):
            first = self.part()
            cursor.expect("minus" if found == "the difference" else "over")
            return self.applied(DIFFERENCE, first, self.part())
        return Expression(COUNT, (self.truth(),)) if cursor.take("the number of steps at which") else None

    def _number(self) -> Expression | None:
        units = {column.unit for column in self.cursor.vocabulary.schema.values() if column.unit}
        units |= {self.steps.unit} if self.steps.unit else set()
        value = self.cursor.take_number(units)
        return None if value is None else Expression(Number(value))

    def sees_difference(self) -> bool:
        """Whether the next number is the minuend of a difference, and so the beginning of a signal."""
        begun = self.cursor.at
        found = self._number() is not None and self.cursor.sees("minus")
        self.cursor.at = begun
        return found

    def entry(self) -> Noun | Fact | Call | list[Scale] | Expression | None:
        """Skip a user's words and return their meaning; None, without moving the cursor, if there are none.

        An expression is a sentence or signal in a grammar's own words, in quotes.
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
        """A column, by its words or name, or a sentence in a grammar's own words."""
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
        """The column, among some, whose name comes next."""
        for entry in entries:
            if self.cursor.sees_quotation() and self.cursor.next.text == entry.column.name:
                self.cursor.at += 1
                return entry
        return self.cursor.fail("the name of a column in quotes", [entry.column.name for entry in entries])

    def call(self, call: Call) -> Expression:
        """The operands of a function and the words between them."""
        operands = []
        for kind, piece in zip(call.function.takes, call.pieces, strict=True):
            operands.append(self.truth() if kind == "Boolean" else self.part())
            if piece and not self.cursor.take_words(piece):
                self.cursor.fail(repr(piece))
        return self.applied(call.function, *operands)

    def _choices(self) -> list[str]:
        return list(self.cursor.vocabulary.by_words)


def is_truth(e: Expression) -> bool:
    """Whether an expression is true or false at a step, rather than a number or a category."""
    return e.type in (Type.BOOLEAN, Type.BOOLEAN_VECTOR)


def attribute(column: Column) -> Expression:
    """A column as an expression."""
    return Expression(Attribute(column.name, _TYPES[column.type]))
