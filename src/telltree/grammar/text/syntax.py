"""Text to source tree; anything wrong with the text is a GrammarError with its place.

Lark's LALR parser reads what `quick.py` does not, and says what is wrong.
"""

import json
import math
import re
from functools import cache
from importlib.resources import files
from typing import Any

from lark import Lark, Token, Transformer, UnexpectedInput, v_args

from telltree.errors import GrammarError
from telltree.grammar.text.amount import check_parts
from telltree.grammar.text.complaint import complaint
from telltree.grammar.text.quick import quick_formula, quick_grammar
from telltree.grammar.text.source import (
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
    any_of,
)
from telltree.operators import Operator, operator_named
from telltree.operators.table import ABS

_DIGITS = re.compile(r"[0-9.]+(?:[eE][+-]?[0-9]+)?")
LONGEST = 4_000_000  # characters; a grammar for ten thousand columns, written out, has two million
MOST_OF = {"::=": 10_000, "|": 100_000, ",": 1_000_000}
"""The most rules, alternatives and constants, which take the time in parsing; counted beforehand."""
FOR_COLUMNS = 10_000
"""The number of columns that these limits are for; a grammar over more columns may be longer."""


def parse_grammar(text: str, columns: int = 0, most_parts: int | None = None) -> list[Definition]:
    """The definitions of a grammar's text, in order. Over very many columns it may be longer."""
    check_size(text, "the grammar", columns)
    if most_parts is not None:
        check_parts(text, "the grammar", most_parts)
    text = text.removeprefix("\ufeff")
    definitions: list[Definition] | None = quick_grammar(text)
    return _parse(text, "grammar") if definitions is None else definitions


def parse_expression(text: str) -> Source:
    """The source tree of a formula's text."""
    check_size(text, "the formula")
    check_parts(text, "the formula")
    text = text.removeprefix("\ufeff")
    source: Source | None = quick_formula(text)
    return _parse(text, "formula") if source is None else source


def check_size(text: str, what: str, columns: int = 0) -> None:
    """Refuse a text of more than is read."""
    if not isinstance(text, str):
        raise GrammarError(f"{what} is written as text, got {type(text).__name__}")
    times = max(1, columns / FOR_COLUMNS)
    if len(text) > LONGEST * times:
        raise GrammarError(f"{what} has {len(text):,} characters; at most {LONGEST * times:,.0f} are read")
    for sign, most in MOST_OF.items():
        if text.count(sign) > most * times:
            found = f"{text.count(sign):,} times {sign!r}"
            raise GrammarError(f"{what} has {found}; at most {most * times:,.0f} are read")


def _parse(text: str, start: str) -> Any:
    try:
        return _parser().parse(text, start=start)
    except UnexpectedInput as error:
        raise complaint(error, text, start) from None


@cache
def _parser() -> Lark:
    grammar = files("telltree.grammar.text").joinpath("syntax.lark").read_text(encoding="utf-8")
    # The basic lexer reads a word the same way everywhere, so that messages can name it.
    return Lark(grammar, parser="lalr", lexer="basic", start=["grammar", "formula"], transformer=_Builder())


def _place(token: Token) -> Place:
    return Place(token.line or 1, token.column or 1)


def _unquoted(token: Token) -> str:
    """The text inside quotes or backticks, with JSON's escapes read."""
    inside = re.sub(r'\\.|"', lambda part: '\\"' if part[0] == '"' else part[0], token[1:-1])
    try:
        text: str = json.loads(f'"{inside}"')
    except json.JSONDecodeError as error:
        raise GrammarError(
            f"{token} is not escaped as JSON is ({error.msg.lower()}); write a backslash as \\\\", *_place(token)
        ) from None
    return text


def _number(token: Token, sign: float = 1.0) -> float:
    value = sign * float(token)
    if not math.isfinite(value):
        raise GrammarError(f"{token} is too large for a number", *_place(token))
    return value


def _numbers(token: Token) -> tuple[float, ...]:
    """The numbers of a list in brackets."""
    values = tuple(float("".join(number.split()).replace("−", "-")) for number in token[1:-1].split(","))
    if all(map(math.isfinite, values)):
        return values
    digits = next(d for d in re.finditer(_DIGITS, token) if not math.isfinite(float(d[0])))
    before = token[: digits.start()]
    line = (token.line or 1) + before.count("\n")
    column = len(before) - before.rfind("\n") if "\n" in before else (token.column or 1) + len(before)
    raise GrammarError(f"{digits[0]} is too large for a number", line, column)


def _weight(written: Constant) -> float:
    weight = float(written.value)
    if weight <= 0:
        raise GrammarError(
            f"a weight must be greater than 0, found {weight:g}; leave the alternative out instead", *written.place
        )
    if not LEAST_WEIGHT <= weight <= MOST_WEIGHT:
        raise GrammarError(
            f"a weight must lie between {LEAST_WEIGHT:g} and {MOST_WEIGHT:g}, found {weight:g}; only the ratio of an "
            f"alternative's weight to the others' matters, so scale them all",
            *written.place,
        )
    return weight


@v_args(inline=True)
class _Builder(Transformer[Token, Any]):
    """Builds the tree while Lark parses, so that no depth of nesting can exhaust the stack."""

    def grammar(self, *definitions: Definition) -> list[Definition]:
        return list(definitions)

    def formula(self, source: Source) -> Source:
        return source

    def definition(self, head: Token, define: Token, choice: Choice) -> Definition:
        return Definition(str(head), choice.alternatives, _place(head))

    def alternatives(self, first: tuple[Alternative, Place], *others: Any) -> Choice:
        # Without the bars between the alternatives.
        return Choice((first[0], *(other[0] for other in others[1::2])), first[1])

    def alternative(self, body: Source, *notes: Constant | English) -> tuple[Alternative, Place]:
        weights = [note for note in notes if isinstance(note, Constant)]
        sentences = [note for note in notes if isinstance(note, English)]
        for twice, what in ((weights, "weight"), (sentences, "English sentence")):
            if len(twice) > 1:
                raise GrammarError(f"an alternative has one {what}, this one has two", *twice[1].place)
        weight = _weight(weights[0]) if weights else 1.0
        return Alternative(body, weight, sentences[0] if sentences else None), body.place

    def weight(self, at: Token, number: Constant) -> Constant:
        return number

    def english(self, token: Token) -> English:
        return English(_unquoted(token), _place(token))

    def infix(self, left: Source, operator: Token, right: Source) -> Apply:
        return Apply(operator_named(str(operator)), (left, right), _place(operator))

    def prefix(self, operator: Token, source: Source) -> Apply:
        return Apply(operator_named(str(operator)), (source,), _place(operator))

    def comparison(self, left: Source, by: tuple[tuple[Operator, ...], Place], right: Source) -> Comparison:
        return Comparison(by[0], left, right, by[1])

    def operators(self, *tokens: Token) -> tuple[tuple[Operator, ...], Place]:
        found = [operator_named(str(token)) for token in tokens]
        for i, token in enumerate(tokens):
            if found[i] in found[:i]:
                raise GrammarError(f"{token} stands twice in one set of operators", *_place(token))
        return tuple(found), _place(tokens[0])

    def name(self, token: Token) -> Name:
        return Name(str(token), False, _place(token))

    def quoted(self, token: Token) -> Name:
        return Name(_unquoted(token), True, _place(token))

    def call(self, name: Token, *args: Choice) -> Call:
        return Call(str(name), tuple(map(self.group, args)), _place(name))

    def window(self, name: Token, bounds: list[Source], *args: Choice) -> Call:
        return Call(f"{name}[]", (*map(self.group, args), *bounds), _place(name), len(bounds))

    def bounds(self, numbers: Token, *bounds: Choice) -> list[Source]:
        if bounds:
            return [self.group(bound) for bound in bounds]
        return [Constant(value, _place(numbers)) for value in _numbers(numbers)]

    def group(self, choice: Choice) -> Source:
        only = choice.alternatives[0]
        return only.body if len(choice.alternatives) == 1 and only.english is None else choice

    def absolute(self, bar: Token, source: Source, _: Token) -> Call:
        return Call(ABS.name, (source,), _place(bar))

    def constant(self, token: Token | Constant) -> Constant:
        return token if isinstance(token, Constant) else Constant(_unquoted(token), _place(token))

    def duration(self, token: Token, unit: Token) -> Constant:
        return Constant(_number(token), _place(token), str(unit), _place(unit))

    def number(self, token: Token) -> Constant:
        return Constant(_number(token), _place(token))

    def signed(self, minus: Token, token: Token) -> Constant:
        return Constant(_number(token, -1.0), _place(minus))

    def numbers(self, token: Token) -> Supply:
        return Supply("list", _numbers(token), _place(token))

    def listed(self, bracket: Token, *constants: Constant) -> Source:
        if any(constant.unit for constant in constants):
            return any_of(constants)
        return Supply("list", tuple(constant.value for constant in constants), _place(bracket))

    def supply(self, word: Token, *numbers: Constant) -> Supply:
        return Supply(str(word), tuple(number.value for number in numbers), _place(word))

    def each(self, each: Token, word: Token, kind: Token | None = None) -> Each:
        return Each(str(word), "" if kind is None else _unquoted(kind), _place(each))
