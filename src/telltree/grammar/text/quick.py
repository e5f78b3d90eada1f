"""Texts read without Lark, in a quarter of its time: a grammar of thousands of columns has a hundred thousand words, a
model of a thousand leaves thousands of formulas.

`syntax.lark` says what the language is; this reads it in one pass from the left. Whatever it is not sure of, and all
that is wrong, is None: Lark reads it, or says what is the matter.
"""

import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import TypeVar

from telltree.errors import GrammarError
from telltree.grammar.text.complaint import WORDS
from telltree.grammar.text.source import (
    DEEPEST,
    LEAST_WEIGHT,
    MOST_WEIGHT,
    Alternative,
    Apply,
    Call,
    Choice,
    Comparison,
    Constant,
    Definition,
    Each,
    English,
    Name,
    Place,
    Source,
    Supply,
)
from telltree.operators.table import ABS, AND, COMPARISONS, DIFFERENCE, IMPLIES, NOT, OR, Operator

_NUMBER = r"(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+"
_TOKENS = re.compile(
    r"[^\S\n]*+(?:"
    r"(?P<head>[^\W\d]\w*(?=\s*::=))"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<newline>\n)"
    rf"|(?P<numbers>\[\s*+[-−]?\s*+{_NUMBER}\s*+(?:,\s*+[-−]?\s*+{_NUMBER}\s*+)*+\])"
    rf"|(?P<number>{_NUMBER}(?![\w.]))"
    r"|(?P<sign>::=|=>|<=|>=|==|[(){}\[\],|@¬∧∨⇒<>≤≥=\-−])"
    r'|(?P<string>"(?:[^"\\\n]++|\\.)*+")'
    r"|(?P<quoted>`(?:[^`\\\n]++|\\.)*+`)"
    r"|(?P<comment>\#[^\n]*+)"
    r"|(?P<unknown>\S)"
    r"|\Z)"  # without which a million blanks at the end would be looked at from each of them
)
_ESCAPED = re.compile(r'\\.|"')
_COMPARING = 4
_INFIX = {
    spelling: (operator, binds)
    for binds, operators in enumerate([[IMPLIES], [OR], [AND], [], COMPARISONS, [DIFFERENCE]])
    for operator in operators
    for spelling in operator.spellings
}
"""Infix operators by their spellings, and how tightly they bind; `not` binds between `and` and comparisons."""
_NEGATING = 3
_WORDS = WORDS | {spelling for operator in (AND, OR, NOT, IMPLIES) for spelling in operator.spellings}
_SUPPLIES = {"grid": (1, 3), "quantiles": (1,), "random": (0, 2), "thresholds": (0,), "levels": (0,), "other": (0,)}
"""How many numbers each may have."""

T = TypeVar("T")


class _UnlikeError(ValueError):
    """The text is not as this reader knows it."""


def quick_grammar(text: str) -> list[Definition] | None:
    """The definitions of a grammar's text; None if Lark should look at it."""
    return _whole(text, _Reader.grammar)


def quick_formula(text: str) -> Source | None:
    """The source tree of a formula's text; None if Lark should look at it."""
    return _whole(text, _Reader.formula)


def _whole(text: str, read: "Callable[[_Reader], T]") -> T | None:
    try:
        reader = _Reader(text)
        found = read(reader)
    except (_UnlikeError, GrammarError):  # Lark finds the same error, or an earlier one
        return None
    return found if reader.kind == "end" else None


def _tokens(text: str) -> Iterator[tuple[str, str, int, int]]:
    """The kind of each token (words of the language and signs are a kind each), its text, line and column."""
    line, before = 1, -1
    for found in _TOKENS.finditer(text):
        kind = found.lastgroup
        if kind == "newline":
            line, before = line + 1, found.end() - 1
        elif kind is not None and kind != "comment":
            token, start = found[kind], found.start(kind)
            is_own = kind == "sign" or (kind == "name" and token in _WORDS)
            yield token if is_own else kind, token, line, start - before
            if kind == "numbers" and "\n" in token:
                line, before = line + token.count("\n"), start + token.rindex("\n")


class _Reader:
    def __init__(self, text: str) -> None:
        self._following = partial(next, _tokens(text), ("end", "", 0, 0))
        self._nested = 0
        self._advance()

    def _advance(self) -> None:
        self.kind, self._text, self._line, self._column = self._following()

    def _take(self, kind: str) -> str:
        """The text of a token that must be here."""
        if self.kind != kind:
            raise _UnlikeError
        text: str = self._text
        self._advance()
        return text

    def _taken(self, kind: str) -> bool:
        """Whether there is such a token; if so, go on to the next."""
        if self.kind != kind:
            return False
        self._advance()
        return True

    def _several(self, read: Callable[[], T], between: str = ",") -> list[T]:
        found = [read()]
        while self._taken(between):
            found.append(read())
        return found

    def _within(self, read: Callable[[], T]) -> T:
        """What is read one level deeper; Python's stack bounds how deep this reader goes."""
        self._nested += 1
        if self._nested > DEEPEST:
            raise _UnlikeError
        found = read()
        self._nested -= 1
        return found

    # ---- rules

    def grammar(self) -> list[Definition]:
        definitions = [self._definition()]
        while self.kind != "end":
            definitions.append(self._definition())
        return definitions

    def _definition(self) -> Definition:
        place = Place(self._line, self._column)
        symbol = self._take("head")
        self._take("::=")
        return Definition(symbol, tuple(self._several(self._alternative, "|")), place)

    def _alternative(self) -> Alternative:
        body = self.formula()
        if getattr(body, "depth", 0) >= DEEPEST:
            raise _UnlikeError
        if self.kind not in ("@", "string"):
            return Alternative(body)
        weights: list[float] = []
        sentences: list[English] = []
        while self.kind in ("@", "string"):
            place = Place(self._line, self._column)
            if self._taken("@"):
                weights.append(self._number())
            else:
                sentences.append(English(_inside(self._take("string")), place))
        if len(weights) > 1 or len(sentences) > 1 or any(not LEAST_WEIGHT <= w <= MOST_WEIGHT for w in weights):
            raise _UnlikeError
        return Alternative(body, weights[0] if weights else 1.0, sentences[0] if sentences else None)

    # ---- formulas

    def formula(self, least: int = 0) -> Source:
        """Operands, and the operators between them that bind as tightly as this, or tighter."""
        left = self._negation(least) if self.kind in NOT.spellings else self._operand()
        while True:
            operator, binds = _INFIX.get(self.kind, (None, _COMPARING))
            if binds < least or (operator is None and self.kind != "{"):
                return left
            if binds == _COMPARING:
                left = self._comparison(left)
                continue
            place = Place(self._line, self._column)
            self._advance()
            assert operator is not None
            right = self._within(self.formula) if operator is IMPLIES else self.formula(binds + 1)
            left = Apply(operator, (left, right), place)

    def _negation(self, least: int) -> Apply:
        if least > _NEGATING:
            raise _UnlikeError
        place = Place(self._line, self._column)
        self._advance()
        return Apply(NOT, (self._within(lambda: self.formula(_NEGATING)),), place)

    def _comparison(self, left: Source) -> Comparison:
        several = self._taken("{")
        place = Place(self._line, self._column)
        operators = self._several(self._compared) if several else [self._compared()]
        if several:
            self._take("}")
        found = Comparison(tuple(operators), left, self.formula(_COMPARING + 1), place)
        if (
            len(set(operators)) < len(operators)
            or _INFIX.get(self.kind, (None, 0))[1] == _COMPARING
            or self.kind == "{"
        ):
            raise _UnlikeError  # one stands twice, or comparisons are chained
        return found

    def _compared(self) -> Operator:
        operator, binds = _INFIX.get(self.kind, (None, 0))
        if operator is None or binds != _COMPARING:
            raise _UnlikeError
        self._advance()
        return operator

    def _operand(self) -> Source:  # noqa: PLR0911 - one for each kind
        kind, text, place = self.kind, self._text, Place(self._line, self._column)
        if kind in DIFFERENCE.spellings:
            return Constant(self._number(), place)
        self._advance()
        match kind:
            case "name":
                return self._call(text, place) if self.kind in ("(", "numbers", "[") else Name(text, False, place)
            case "numbers":
                return Supply("list", _numbers(text), place)
            case "number":
                return Constant(_finite(text), place)
            case "quoted":
                return Name(_inside(text), True, place)
            case "string":
                return Constant(_inside(text), place)
            case "(":
                return self._closed(self._within(self._group), ")")
            case "|":
                inside = self._within(lambda: self.formula(_COMPARING + 1))
                return self._closed(Call(ABS.name, (inside,), place), "|")
            case "[":
                return self._closed(Supply("list", tuple(self._several(self._constant)), place), "]")
            case "each":
                return self._each(place)
        return self._supply(kind, place)

    def _closed(self, found: T, bracket: str) -> T:
        self._take(bracket)
        return found

    def _call(self, name: str, place: Place) -> Call:
        bounds = self._bounds()
        self._take("(")
        args = [] if self.kind == ")" and bounds is None else self._within(lambda: self._several(self._group))
        if bounds is None:
            return self._closed(Call(name, tuple(args), place), ")")
        return self._closed(Call(f"{name}[]", (*args, *bounds), place, len(bounds)), ")")

    def _bounds(self) -> list[Source] | None:
        """The window in brackets behind the name of an operator, if there is one."""
        place = Place(self._line, self._column)
        if self.kind == "numbers":
            return [Constant(bound, place) for bound in _numbers(self._take("numbers"))]
        return self._closed(self._within(lambda: self._several(self._group)), "]") if self._taken("[") else None

    def _group(self) -> Source:
        """What stands in brackets, or is an argument: a choice, unless there is but one."""
        found = self._several(self._alternative, "|")
        if len(found) == 1 and found[0].english is None:
            return found[0].body
        return Choice(tuple(found), found[0].body.place)

    def _each(self, place: Place) -> Each:
        if self._taken("kind"):
            return Each("kind", _inside(self._take("string")), place)
        if self.kind not in ("real", "Boolean", "categorical"):
            raise _UnlikeError
        return Each(self._take(self.kind), "", place)

    def _supply(self, word: str, place: Place) -> Supply:
        allowed = _SUPPLIES.get(word, ())
        bracket = max(allowed, default=0) > 0 and self._taken("(")
        numbers = self._closed(self._several(self._number), ")") if bracket else []
        if len(numbers) not in allowed:
            raise _UnlikeError
        return Supply(word, tuple(numbers), place)

    def _constant(self) -> float | str:
        return _inside(self._take("string")) if self.kind == "string" else self._number()

    def _number(self) -> float:
        if self.kind not in DIFFERENCE.spellings:
            return _finite(self._take("number"))
        self._advance()
        return -_finite(self._take("number"))


def _finite(digits: str) -> float:
    value = float(digits)
    if value - value != 0:
        raise _UnlikeError
    return value


def _numbers(text: str) -> tuple[float, ...]:
    """The numbers of a list in brackets."""
    try:
        return tuple(map(_finite, text[1:-1].split(",")))
    except ValueError:  # a minus that is no hyphen, or stands apart; or what Lark should look at
        return tuple(_finite("".join(number.split()).replace("−", "-")) for number in text[1:-1].split(","))


def _inside(quoted: str) -> str:
    """The text between quotation marks or backticks, with JSON's escapes read."""
    inside = quoted[1:-1]
    if "\\" not in inside and inside.isprintable():
        return inside
    try:
        text: str = json.loads('"' + _ESCAPED.sub(lambda part: '\\"' if part[0] == '"' else part[0], inside) + '"')
    except json.JSONDecodeError:
        raise _UnlikeError from None
    return text
