"""Wording of signals: columns, differences, counts, and calls of functions."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from telltree.english.conversion import is_boolean
from telltree.english.operator_phrases import PHRASES, Opposite, Phrase, Span, pieces
from telltree.english.terms import has_own_phrase
from telltree.english.tokens import bare_or_quoted, number_words, quoted, shape_words
from telltree.english.vocabulary import Vocabulary
from telltree.english.write_times_and_positions import Steps
from telltree.errors import SettingsError
from telltree.logic import Attribute, Expression, Level, Number, Type, UserFunction
from telltree.logic.operators import DIFFERENCE, NOT, TIMES, Operator, Parameter, Quantity
from telltree.panel import Column
from telltree.panel.schema import require_known

_PLACE = re.compile(r"\{\{|\}\}|\{(\d+)\}")


@dataclass
class SignalWriter:
    """Names signals by a vocabulary. Words that could not be read back are quoted; `sentences` has their meanings."""

    vocabulary: Vocabulary
    quote_all: bool
    write_condition: Callable[[Expression], str]
    """Writes a Boolean operand."""
    sentences: dict[str, Expression] = field(default_factory=dict)
    steps: Steps = field(default_factory=Steps)
    explicit: bool = False
    """Prefer wordings whose end is clear."""

    def noun(self, e: Expression) -> str:
        """Write a signal as the subject of a sentence: "x minus y"."""
        if e.head is DIFFERENCE and e.type is not Type.COUNT and not has_own_phrase(e):
            unit = self.unit(e)
            return " minus ".join(self._operand(arg, unit) for arg in e.args)
        return self.part(e)

    def part(self, e: Expression) -> str:  # noqa: PLR0911  one return a kind of signal
        """Write a signal as an operand of a larger one."""
        if isinstance(e.head, Attribute):
            return self.vocabulary.noun(self.column(e), self.quote_all)
        if has_own_phrase(e):
            return self.quotation(e)
        if isinstance(e.head, UserFunction):
            return self.call(e)
        if e.head is DIFFERENCE and e.type is Type.COUNT:
            first, second = (self._operand(arg, None) for arg in e.args)
            return f"the excess of {first} over {second}"
        if e.head is DIFFERENCE:
            return f"the difference {self.noun(e)}"
        if isinstance(e.head, Operator) and (e.head in PHRASES or PHRASES.about(e.head)):
            return self._phrase(e, PHRASES[e.head])
        return self.quotation(e)

    def whole(self, e: Expression, of_record: bool) -> str:
        """Write an opaque expression, by its operator's phrase for whole records if there is one and `of_record`."""
        phrase = _phrase_of(e).of_record if of_record and not has_own_phrase(e) else None
        return self.part(e) if phrase is None else self._phrase(e, phrase)

    def denied(self, e: Expression, of_record: bool) -> str | None:
        """Write the negation of an opaque expression, or return None if its operator has no phrase for it."""
        phrase = None if has_own_phrase(e) else _phrase_of(e).denied
        return None if phrase is None else self._phrase(e, (phrase.of_record if of_record else None) or phrase)

    def _phrase(self, e: Expression, phrase: Phrase) -> str:
        """Write an expression by a phrase of its operator."""
        operator = e.head
        assert isinstance(operator, Operator)
        words = []
        for piece in pieces(operator, phrase.fitting(e, self.explicit)):
            match piece:
                case str():
                    words.append(piece)
                case int():
                    operand = e.args[piece]
                    words.append(self.write_condition(operand) if is_boolean(operand) else self.part(operand))
                case Opposite():
                    words.append(self.write_condition(Expression(NOT, (e.args[piece.operand],))))
                case Parameter():
                    words.append(self.parameter(e, piece))
                case Span():
                    bounds = e.parameter(piece.first.name), e.parameter(piece.last.name)
                    words.append(self.steps.span(*bounds, self.quote_all))
        return " ".join(words).replace(" ,", ",")

    def parameter(self, e: Expression, row: Parameter) -> str:
        """Write a parameter; numbers of steps become times if steps have one length."""
        if row.quantity is Quantity.SHAPE:
            return shape_words(e.shape)
        value = e.parameter(row.name)
        if row.quantity is Quantity.STEPS:
            return self.steps.window(value, self.quote_all)
        return number_words(value) + (" s" if row.quantity is Quantity.SECONDS else "")

    def column(self, e: Expression) -> Column:
        """Return the column of an attribute; raise DataError if the schema has none of that name."""
        assert isinstance(e.head, Attribute)
        require_known(e.head.name, self.vocabulary.schema.names, "column")
        return self.vocabulary.schema[e.head.name]

    def call(self, e: Expression) -> str:
        """Write a call by the function's phrase, in quotes if that is ambiguous."""
        assert isinstance(e.head, UserFunction)
        call = None if self.quote_all else self.vocabulary.call(e.head)
        if call is None:
            return self.quotation(e)
        words = [call.before]
        for arg, piece in zip(e.args, call.pieces, strict=True):
            words += [self.write_condition(arg) if is_boolean(arg) else self._operand(arg, None), piece]
        return " ".join(filter(None, words))

    def quotation(self, e: Expression) -> str:
        """Quote the words of an expression; or its formula, if another expression or a column has the same words."""
        words = self.words(e).replace("“", "").replace("”", "")  # one pair of quotes is enough
        if not self._is_free(words, e):
            words = str(e)
        while not self._is_free(words, e):
            words = f"the formula {words}"
        self.sentences[words] = e
        return quoted(words)

    def _is_free(self, words: str, e: Expression) -> bool:
        taken = any(
            words in known for known in (self.vocabulary.by_words, self.vocabulary.by_negated, self.vocabulary.schema)
        )
        return not taken and self.sentences.get(words, e) == e

    def words(self, e: Expression) -> str:
        """Write an expression by the phrase of its rule or function."""
        if e.english is not None:
            return filled(e.english, [self.words(part) for part in e.parts])
        if isinstance(e.head, UserFunction):
            return filled(e.head.phrase, [self.words(arg) for arg in e.args])
        if isinstance(e.head, Number):
            return number_words(e.head.value)
        if isinstance(e.head, Level):
            return e.head.name
        return self.write_condition(e) if is_boolean(e) else self.noun(e)

    def own_words(self, columns: Iterable[Expression]) -> tuple[tuple[str, str], ...]:
        """Return a grammar's phrases for columns with the columns' names: for each, the first that no other has."""
        found: dict[str, str] = {}
        for e in columns:
            if e.english is not None and isinstance(e.head, Attribute):
                found.setdefault(e.head.name, filled(e.english, []))
        names = {words: name for name, words in reversed(found.items())}
        return tuple((words, name) for name, words in found.items() if words and names[words] == name)

    def number(self, value: float, unit: str | None) -> str:
        """Write a constant with its unit."""
        return number_words(value) + (f" {bare_or_quoted(unit, self.quote_all)}" if unit else "")

    def unit(self, *signals: Expression) -> str | None:
        """Return the unit of constants that are compared with these signals, if they all have the same."""
        units = set().union(*map(self._units, signals))
        return units.pop() if len(units) == 1 else None

    def _operand(self, e: Expression, unit: str | None) -> str:
        return self.number(e.head.value, unit) if isinstance(e.head, Number) else self.part(e)

    def _units(self, e: Expression) -> set[str | None]:
        match e.head:
            case Attribute():
                return {self.column(e).unit}
            case Number():
                return set()
        if e.head in TIMES:
            return {self.steps.unit or None}
        if isinstance(e.head, Operator) and e.head.traits.keeps_unit:
            return set().union(*map(self._units, e.signals))
        return {None}


def _phrase_of(e: Expression) -> Phrase:
    if isinstance(e.head, Operator) and (e.head in PHRASES or PHRASES.about(e.head)):
        return PHRASES[e.head]
    return _NO_PHRASE


_NO_PHRASE = Phrase("")


def filled(template: str, operands: list[str]) -> str:
    """Fill operands in for {0}, {1} … of a template, and replace doubled braces by single ones."""

    def filling(found: re.Match[str]) -> str:
        if found[1] is None:
            return found[0][0]
        if int(found[1]) >= len(operands):
            raise SettingsError(
                f"the phrase {template!r} has {found[0]}, but operands go up to {{{len(operands) - 1}}}"
            )
        return operands[int(found[1])]

    return _PLACE.sub(filling, template)
