"""Formulas as telltree writes them, read without Lark: a model of a thousand leaves holds thousands of them.

What is written so has brackets round every infix operand, and one spelling for each operator. Anything else, and
anything wrong, is None: Lark reads it, or says what is the matter.
"""

import json
import re
from collections.abc import Iterator

from telltree.grammar.text.complaint import WORDS
from telltree.grammar.text.source import DEEPEST, Apply, Call, Comparison, Constant, Name, Place, Source
from telltree.operators import OPERATORS
from telltree.operators.table import COMPARISONS, DIFFERENCE, Form

_TOKENS = re.compile(
    r" *(?:(?P<name>[^\W\d]\w*)"
    r"|(?P<number>-?(?:[0-9]+\.?[0-9]*)(?:[eE][+-]?[0-9]+)?(?![\w.]))"
    r"|(?P<sign>[(),¬∧∨⇒<>≤≥=\[\]-])"
    r'|(?P<string>"(?:[^"\\\n]++|\\.)*+")'
    r"|(?P<quoted>`(?:[^`\\\n]++|\\.)*+`)"
    r"|(?P<other>.))",
    re.DOTALL,
)
_QUOTE = re.compile(r'\\.|"')
_INFIX = {operator.symbol: operator for operator in OPERATORS if operator.form is Form.INFIX}
_PREFIX = {operator.symbol: operator for operator in OPERATORS if operator.form is Form.PREFIX}
_TIGHT = (*COMPARISONS, DIFFERENCE)
"""What binds tighter than a prefix."""
_WORDS = WORDS | {spelling for o in OPERATORS if o.form is not Form.CALL for spelling in o.spellings}


class _UnlikeError(ValueError):
    """The text is not as telltree writes formulas."""


def parse_canonical(text: str) -> Source | None:
    """The source tree of a formula's text; None if it is not as telltree writes it."""
    try:
        return _Reader(text).whole()
    except _UnlikeError:
        return None


class _Reader:
    def __init__(self, text: str) -> None:
        self._tokens: Iterator[re.Match[str]] = _TOKENS.finditer(text)
        self._depth = 0
        self._advance()

    def _advance(self) -> None:
        """Go to the next token: its kind, its text, and where it stands."""
        token = next(self._tokens, None)
        if token is None:
            self._kind, self._text, self._start = "end", "", 0
            return
        kind = token.lastgroup
        assert kind is not None
        self._kind, self._text, self._start = kind, token[kind], token.start(kind)

    def _take(self, sign: str) -> None:
        if self._kind != "sign" or self._text != sign:
            raise _UnlikeError
        self._advance()

    def whole(self) -> Source:
        source = self._formula()
        if self._kind != "end":
            raise _UnlikeError
        return source

    def _formula(self) -> Source:
        """An operand, or two with an operator between them."""
        before = self._text
        left = self._operand()
        operator = _INFIX.get(self._text) if self._kind == "sign" else None
        if operator is None:
            return left
        place = Place(1, self._start + 1)
        self._advance()
        after = self._text
        right = self._operand()
        if operator in _TIGHT and (before in _PREFIX or after in _PREFIX):
            raise _UnlikeError  # `¬x < 5` is ¬(x < 5)
        if operator in COMPARISONS:
            return Comparison((operator,), left, right, place)
        return Apply(operator, (left, right), place)

    def _operand(self) -> Source:
        kind, text, place = self._kind, self._text, Place(1, self._start + 1)
        self._advance()
        if kind == "name":
            return self._named(text, place)
        if kind == "number":
            return Constant(_finite(text), place)
        if kind in ("string", "quoted"):
            inside = _inside(text)
            return Constant(inside, place) if kind == "string" else Name(inside, True, place)
        if kind != "sign" or self._depth > DEEPEST:
            raise _UnlikeError
        self._depth += 1
        if text in _PREFIX:
            source: Source = Apply(_PREFIX[text], (self._operand(),), place)
        elif text == "(":
            source = self._formula()
            self._take(")")
        else:
            raise _UnlikeError
        self._depth -= 1
        return source

    def _named(self, name: str, place: Place) -> Source:
        if name in _WORDS:
            raise _UnlikeError
        if self._kind != "sign" or self._text not in ("(", "["):
            return Name(name, False, place)
        bounds = self._listed("[", "]") if self._text == "[" else None
        args = self._listed("(", ")")
        return Call(name, tuple(args), place) if bounds is None else Call(f"{name}[]", (*args, *bounds), place)

    def _listed(self, opening: str, closing: str) -> list[Source]:
        """What stands between brackets."""
        self._take(opening)
        args = []
        self._depth += 1
        if self._depth > DEEPEST:
            raise _UnlikeError
        if self._text != closing:
            args.append(self._formula())
            while self._kind == "sign" and self._text == ",":
                self._advance()
                args.append(self._formula())
        self._take(closing)
        self._depth -= 1
        return args


def _finite(digits: str) -> float:
    value = float(digits)
    if value - value != 0:
        raise _UnlikeError
    return value


def _inside(quoted: str) -> str:
    """The text between quotation marks or backticks, with JSON's escapes read."""
    inside = quoted[1:-1]
    if "\\" not in inside and inside.isprintable():
        return inside
    try:
        text: str = json.loads('"' + _QUOTE.sub(lambda part: '\\"' if part[0] == '"' else part[0], inside) + '"')
    except json.JSONDecodeError:
        raise _UnlikeError from None
    return text
