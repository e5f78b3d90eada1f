"""Text to syntax tree; anything wrong with the text is a GrammarError with its place.

The syntax, where `operand` may be any of those that `_TextParser._operand` lists::

    grammar      = rule+
    rule         = NAME "::=" alternatives
    alternatives = alternative ("|" alternative)*
    alternative  = expression ("@" number | STRING)*     # a weight, an English sentence
    expression   = operands, with the operators of _PRECEDENCE between them and `not` before them

This is an operator-precedence parser: operands and operators wait on stacks until an operator that binds less tightly,
or a closing bracket, completes them. As the stacks are its own, no depth of nesting exhausts Python's.
"""

import json
import math
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple, TypeVar

from telltree.errors import GrammarError
from telltree.grammar.limits import check_size, check_tokens
from telltree.grammar.syntax_tree import (
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
    Source,
    Supply,
    TextPlace,
    any_of,
)
from telltree.logic.operators import ABS, AND, COMPARISONS, DIFFERENCE, IMPLIES, NOT, OR, Operator

T = TypeVar("T")

RESERVED = frozenset(
    {"each", "other", "grid", "quantiles", "thresholds", "levels", "random", "real", "Boolean", "categorical", "kind"}
)
"""Reserved words besides the operators; an attribute with such a name is written in backticks."""


def parse_grammar(text: str, columns: int = 0, most_tokens: int | None = None) -> list[Definition]:
    """Return the definitions of a grammar's text, in order. With more `columns` it may be longer."""
    check_size(text, "the grammar", columns)
    if most_tokens is not None:
        check_tokens(text, "the grammar", most_tokens)
    return _TextParser(text.removeprefix("\ufeff"), "an operator, or the next alternative or rule,").grammar()


def parse_expression(text: str) -> Source:
    """Return the syntax tree of a formula's text."""
    check_size(text, "the formula")
    check_tokens(text, "the formula")
    return _TextParser(text.removeprefix("\ufeff"), "an operator or the end").formula()


# ---- Tokens


class _Infix(NamedTuple):
    """An infix operator, or the brace that opens a set of comparisons."""

    precedence: int
    operator: Operator | None


_PRECEDENCE = ((IMPLIES,), (OR,), (AND,), (NOT,), COMPARISONS, (DIFFERENCE,))
"""The operators that are not written as calls, loosest first. `implies` groups to the right, `not` stands before its
operand, comparisons do not chain, all others group to the left.
"""
_OF_NOT, _OF_COMPARISON, _OF_DIFFERENCE = 3, 4, 5
_SPELLINGS = {
    spelling: _Infix(precedence, operator)
    for precedence, operators in enumerate(_PRECEDENCE)
    for operator in operators
    for spelling in operator.spellings
}
_COMPARISONS = {spelling: operator for operator in COMPARISONS for spelling in operator.spellings}
_INFIX = {spelling: found for spelling, found in _SPELLINGS.items() if found.operator is not NOT} | {
    "{": _Infix(_OF_COMPARISON, None)
}
_SIGNS = ["::=", *"(){}[],|@", *(spelling for spelling in _SPELLINGS if not spelling.isalpha())]
_WORDS = RESERVED | {spelling for spelling in _SPELLINGS if spelling.isalpha()}

# All patterns are possessive: a pattern that backtracks takes quadratic time, or gigabytes, on a hostile text.
_NUMBER = r"(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+"
_TOKENS = re.compile(
    r"[^\S\n]*+(?:"
    r"(?P<head>[^\W\d]\w*(?=\s*::=))"
    r"|(?P<name>[^\W\d]\w*)"
    r"|(?P<newline>\n)"
    # A list of numbers is one token, as most of a large grammar is such lists; one with a comment in it is not.
    rf"|(?P<numbers>\[\s*+[-−]?\s*+{_NUMBER}\s*+(?:,\s*+[-−]?\s*+{_NUMBER}\s*+)*+\])"
    rf"|(?P<number>{_NUMBER})"
    rf"|(?P<sign>{'|'.join(map(re.escape, sorted(_SIGNS, key=len, reverse=True)))})"
    r'|(?P<string>"(?:[^"\\\n]++|\\.)*+")'
    r"|(?P<quoted>`(?:[^`\\\n]++|\\.)*+`)"
    r"|(?P<comment>\#[^\n]*+)"
    r"|(?P<unknown>\S)"
    r"|\Z)"  # without it, a million blanks at the end would take quadratic time
)

_SUPPLIES = {"grid": (1, 3), "quantiles": (1,), "random": (0, 2), "thresholds": (0,), "levels": (0,), "other": (0,)}
"""The numbers of arguments that each source of constants may have."""
_CONSTANTS = frozenset({"number", "string", *DIFFERENCE.spellings})
_OPERANDS = _CONSTANTS | {"name", "quoted", "numbers", "(", "[", "|", "each", *_SUPPLIES}
"""The tokens with which an operand may begin."""
_AFTER_ALTERNATIVE = frozenset({"@", "string", "|", ",", ")", "]", "head", "end"})
_AFTER_OPERAND = _AFTER_ALTERNATIVE | _INFIX.keys()
"""The tokens that may follow an operand in some bracket; the innermost bracket decides which of them may."""


def _tokens(text: str) -> Iterator[tuple[str, str, TextPlace]]:
    """Yield the kind of each token (signs and words of the language are a kind each), its text and place."""
    line, line_start = 1, 0
    for found in _TOKENS.finditer(text):
        kind = found.lastgroup
        if kind == "newline":
            line, line_start = line + 1, found.end()
        elif kind is not None and kind != "comment":
            token, start = found[kind], found.start(kind)
            place = TextPlace(line, start - line_start + 1)
            if kind == "unknown":
                raise _unknown_character(token, place)
            is_own = kind == "sign" or (kind == "name" and token in _WORDS)
            yield token if is_own else kind, token, place
            if kind == "numbers" and "\n" in token:
                line, line_start = line + token.count("\n"), start + token.rindex("\n") + 1


def _unknown_character(character: str, place: TextPlace) -> GrammarError:
    advice = {
        '"': "the quoted text does not end on its line",
        "`": "the quoted name does not end on its line",
        "&": "write and, or ∧",
        "!": "write not, or ¬",
        "~": "write not, or ¬",
        "+": "there is a difference (a - b), but no sum",
        ":": "rules are written name ::= ...",
    }.get(character, "names with unusual characters are quoted in backticks")
    return GrammarError(f"found {character!r}, which means nothing here; {advice}", *place)


# ---- The parser

_EXPRESSION = "an expression"
_RULE = "a rule (name ::= ...)"
_LIKE_DEFINE = re.compile(r"\s*(:=|:|->|→|=)")
_AFTER_NOTE = ("')'", "','", "'@'", "']'", "'|'", _RULE, "a text in quotes", "the end")


@dataclass(slots=True)
class _Bracket:
    """A formula, the alternatives of a rule, or the contents of an open bracket, as far as they were read."""

    closing: tuple[str, ...]
    """The tokens that close it."""
    expected: tuple[str, ...]
    """The tokens besides operators that may follow an operand in it, for messages."""
    place: TextPlace
    least: int = 0
    """The precedence of the loosest operators that may stand in it."""
    has_alternatives: bool = True
    has_commas: bool = False
    name: str = ""
    """The name in front of it."""
    window: list[Source] | None = None
    """The contents of the brackets before the parentheses of a call."""
    alternatives: list[Alternative] = field(default_factory=list)
    """The finished alternatives of the current argument."""
    args: list[Source] = field(default_factory=list)
    """The finished arguments."""


class _TextParser:
    def __init__(self, text: str, operator_expected: str) -> None:
        """`operator_expected` describes in messages what may follow an operand."""
        self._text, self._operator_expected = text, operator_expected
        self._brackets: list[_Bracket] = []
        self._operands: list[Source] = []
        self._operators: list[tuple[int, tuple[Operator, ...], TextPlace]] = []
        """Operators that wait for their right operand, with their precedence.

        An open bracket is one without operators, whose precedence stops those behind it from taking operands before it.
        """
        self._following = partial(next, _tokens(text), ("end", "", TextPlace(0, 0)))
        self._advance()

    def _advance(self) -> None:
        self._kind, self._token, self._place = self._following()

    # ---- rules and formulas

    def grammar(self) -> list[Definition]:
        if self._kind != "head":
            quoted = self._kind == "quoted"
            raise self._unexpected(
                _RULE, remedy="; names in backticks are attributes, and cannot be defined" if quoted else ""
            )
        definitions = []
        while self._kind == "head":
            symbol, place = self._token, self._place
            self._advance()
            self._advance()  # past ::=, by which the name was known to be a head
            rule = _Bracket(("head", "end"), (self._operator_expected,), place)
            self._read(rule)
            definitions.append(Definition(symbol, tuple(rule.alternatives), place))
        return definitions

    def formula(self) -> Source:
        self._read(_Bracket(("end",), ("the end",), self._place, has_alternatives=False))
        return self._operands.pop()

    def _read(self, outermost: _Bracket) -> None:
        """Read up to the end of a rule or formula."""
        self._open(outermost)
        while self._brackets:
            self._read_operand()
            self._read_operator()

    def _open(self, bracket: _Bracket) -> None:
        self._brackets.append(bracket)
        self._operators.append((bracket.least - 1, (), bracket.place))

    # ---- operands

    def _read_operand(self) -> None:
        """Read an operand, and the `not` and opening brackets before it."""
        operand: Source | None = None
        while operand is None:
            if self._kind in _CONSTANTS:
                operand = self._constant()
            elif self._kind in _OPERANDS:
                operand = self._operand()
            elif self._kind in NOT.spellings and self._operators[-1][0] <= _OF_NOT:
                self._operators.append((_OF_NOT, (NOT,), self._place))
                self._advance()
            else:
                raise self._unexpected(_EXPRESSION)
        self._operands.append(operand)

    def _operand(self) -> Source | None:  # noqa: PLR0911 - one for each kind
        """Read an operand; return None after an opening bracket, which an operand must follow."""
        kind, token, place = self._kind, self._token, self._place
        self._advance()
        match kind:
            case "name":
                return self._named(token, place)
            case "(":
                self._open(_Bracket((")",), ("')'",), place))
                return None
            case "|":
                self._open(_Bracket(("|",), (), place, least=_OF_DIFFERENCE, has_alternatives=False))
                return None
            case "quoted":
                self._check_follows()
                return Name(_unquoted(token, place), True, place)
            case "numbers":
                self._check_follows()
                return Supply("list", _numbers(token, place), place)
            case "[":
                constants = self._items(self._constant, "]")
                self._check_follows()
                if any(constant.unit for constant in constants):
                    return any_of(constants)
                return Supply("list", tuple(constant.value for constant in constants), place)
            case "each":
                return self._each(place)
        return self._supply(kind, place)

    def _named(self, name: str, place: TextPlace) -> Source | None:
        """Read a name, or an empty call; return None after an opening bracket, which arguments must follow."""
        match self._kind:
            case "(":
                self._advance()
                if self._kind != ")":
                    self._open_arguments(name, place)
                    return None
                self._advance()
                self._check_follows()
                return Call(name, (), place)
            case "numbers":
                numbers, start = self._token, self._place
                self._advance()
                self._check("(")
                window: list[Source] = [Constant(value, start) for value in _numbers(numbers, start)]
                self._advance()
                self._open_arguments(name, place, window)
                return None
            case "[":
                self._advance()
                self._open(_Bracket(("]",), ("','", "']'"), place, has_commas=True, name=name))
                return None
        self._check_follows()
        return Name(name, False, place)

    def _open_arguments(self, name: str, place: TextPlace, window: list[Source] | None = None) -> None:
        self._open(_Bracket((")",), ("')'", "','"), place, has_commas=True, name=name, window=window))

    def _each(self, place: TextPlace) -> Each:
        word, kind = self._kind, ""
        if word not in ("real", "Boolean", "categorical", "kind"):
            raise self._unexpected("Boolean", "categorical", 'kind "..."', "real")
        self._advance()
        if word == "kind":
            self._check("string", "a text in quotes")
            token, start = self._token, self._place
            self._advance()
            self._check_follows()
            kind = _unquoted(token, start)
        self._check_follows()
        return Each(word, kind, place)

    def _supply(self, word: str, place: TextPlace) -> Supply:
        sizes = _SUPPLIES[word]
        numbers: list[Constant] = []
        if 0 not in sizes:
            self._check("(")
        if self._kind == "(" and max(sizes) > 0:
            self._advance()
            numbers = self._items(self._number, ")", sizes)
        self._check_follows()
        return Supply(word, tuple(number.value for number in numbers), place)

    def _items(self, read: Callable[[], T], closing: str, sizes: Collection[int] = ()) -> list[T]:
        """Read the items in an opened bracket, and its end; `sizes` are the allowed numbers of items."""
        self._brackets.append(_Bracket((closing,), (), self._place))
        items: list[T] = []
        while True:
            items.append(read())
            may_end, may_continue = (len(items) in sizes, len(items) < max(sizes)) if sizes else (True, True)
            if may_end and self._kind == closing:
                break
            if not (may_continue and self._kind == ","):
                raise self._unexpected(*sorted([f"'{closing}'"] * may_end + ["','"] * may_continue))
            self._advance()
        self._brackets.pop()
        self._advance()
        return items

    def _constant(self) -> Constant:
        """Read a text, a number, or an amount of time."""
        kind, token, place = self._kind, self._token, self._place
        if kind in DIFFERENCE.spellings:
            return self._negative()
        if kind not in _CONSTANTS:
            raise self._unexpected("'-'", "a number", "a text in quotes")
        self._advance()
        if kind == "string":
            self._check_follows()
            return Constant(_unquoted(token, place), place)
        if self._kind == "name":
            unit, unit_place = self._token, self._place
            self._advance()
            self._check_follows()
            return Constant(_finite(token, place), place, unit, unit_place)
        if self._kind not in _AFTER_OPERAND:
            raise self._unexpected(_EXPRESSION)
        return Constant(_finite(token, place), place)

    def _number(self) -> Constant:
        """Read a number without a unit."""
        token, place = self._token, self._place
        if self._kind in DIFFERENCE.spellings:
            return self._negative()
        if self._kind != "number":
            raise self._unexpected("'-'", "a number")
        self._advance()
        if self._kind not in _AFTER_ALTERNATIVE:
            raise self._unexpected(*_AFTER_NOTE)
        return Constant(_finite(token, place), place)

    def _negative(self) -> Constant:
        place = self._place
        self._advance()
        self._check("number", "a number")
        digits, start = self._token, self._place
        self._advance()
        self._check_follows()
        return Constant(-_finite(digits, start), place)

    # ---- operators

    def _read_operator(self) -> None:
        """Read up to the next place for an operand, closing brackets on the way; or up to the end."""
        while True:
            bracket, infix = self._brackets[-1], _INFIX.get(self._kind)
            if infix is not None and infix.precedence >= bracket.least:
                self._infix(*infix)
                return
            self._apply(bracket.least)
            if bracket.has_alternatives:
                bracket.alternatives.append(self._alternative())
                if self._kind == "|":
                    break
                bracket.args.append(_choice(bracket.alternatives))
                if self._kind == "," and bracket.has_commas:
                    bracket.alternatives = []
                    break
            if self._kind not in bracket.closing:
                # After a comma, messages do not tell arguments from windows.
                either = len(bracket.args) > 1 and self._kind not in (",", ")", "]")
                raise self._unexpected(*(("')'", "','", "']'") if either else bracket.expected))
            self._brackets.pop()
            self._operators.pop()
            if not self._brackets:
                return
            self._advance()
            operand = self._closed(bracket)
            if operand is None:
                return
            self._operands.append(operand)
        self._advance()

    def _infix(self, precedence: int, operator: Operator | None) -> None:
        """Read an infix operator, once those before it that bind as tightly have their operands."""
        place = self._place
        if precedence == _OF_COMPARISON:
            self._apply(_OF_DIFFERENCE)
            if self._operators[-1][0] == _OF_COMPARISON:
                remedy = "" if operator is None else "; comparisons do not chain, join two of them with and"
                raise self._unexpected(self._operator_expected, remedy=remedy)
        else:
            self._apply(precedence + 1 if operator is IMPLIES else precedence)
        self._advance()
        if operator is None:
            self._operators.append(self._set_of_comparisons())
        else:
            self._operators.append((precedence, (operator,), place))

    def _set_of_comparisons(self) -> tuple[int, tuple[Operator, ...], TextPlace]:
        found = self._items(self._comparison_sign, "}")
        if self._kind not in _OPERANDS:
            raise self._unexpected(_EXPRESSION)
        operators = tuple(operator for operator, _, _ in found)
        for i, (operator, spelling, place) in enumerate(found):
            if operator in operators[:i]:
                raise GrammarError(f"{spelling} stands twice in one set of operators", *place)
        return _OF_COMPARISON, operators, found[0][2]

    def _comparison_sign(self) -> tuple[Operator, str, TextPlace]:
        operator = _COMPARISONS.get(self._kind)
        if operator is None:
            raise self._unexpected(" ".join(operator.name for operator in COMPARISONS))
        found = operator, self._token, self._place
        self._advance()
        return found

    def _apply(self, least: int) -> None:
        """Apply the waiting operators of at least this precedence to their operands."""
        operators, operands = self._operators, self._operands
        while operators[-1][0] >= least:
            precedence, found, place = operators.pop()
            right = operands.pop()
            if precedence == _OF_COMPARISON:
                operands.append(Comparison(found, operands.pop(), right, place))
            else:
                args = (right,) if precedence == _OF_NOT else (operands.pop(), right)
                operands.append(Apply(found[0], args, place))

    # ---- ends of alternatives and brackets

    def _alternative(self) -> Alternative:
        """Read the weight and the English of an alternative, whose body was read before."""
        body = self._operands.pop()
        if self._kind not in ("@", "string"):
            return Alternative(body)
        weights: list[Constant] = []
        sentences: list[English] = []
        while self._kind in ("@", "string"):
            kind, token, place = self._kind, self._token, self._place
            self._advance()
            if kind == "@":
                weights.append(self._number())
            if self._kind not in _AFTER_ALTERNATIVE:
                raise self._unexpected(*_AFTER_NOTE)
            if kind == "string":
                sentences.append(English(_unquoted(token, place), place))
        for notes, what in ((weights, "weight"), (sentences, "English sentence")):
            if len(notes) > 1:
                raise GrammarError(f"an alternative has one {what}, this one has two", *notes[1].place)
        weight = _weight(weights[0]) if weights else 1.0
        return Alternative(body, weight, sentences[0] if sentences else None)

    def _closed(self, bracket: _Bracket) -> Source | None:
        """Return the operand that a closed bracket makes; None if it held a window, which arguments must follow."""
        name, place = bracket.name, bracket.place
        if bracket.closing == ("]",):
            self._check("(")
            self._advance()
            self._open_arguments(name, place, bracket.args)
            return None
        self._check_follows()
        if bracket.closing == ("|",):
            return Call(ABS.name, (self._operands.pop(),), place)
        if not name:
            return bracket.args[0]
        if bracket.window is None:
            return Call(name, tuple(bracket.args), place)
        return Call(f"{name}[]", (*bracket.args, *bracket.window), place, len(bracket.window))

    # ---- errors, in the terms of a grammar's author

    def _check(self, kind: str, shown: str = "") -> None:
        if self._kind != kind:
            raise self._unexpected(shown or f"'{kind}'")

    def _check_follows(self) -> None:
        """Raise GrammarError if the current token may follow an operand in no bracket."""
        if self._kind not in _AFTER_OPERAND:
            raise self._unexpected(self._operator_expected)

    def _unexpected(self, *expected: str, remedy: str = "") -> GrammarError:
        """Return the error that the current token is not one of those expected."""
        kind, token, place = self._kind, self._token, self._place
        if kind == "name" and (self._operator_expected in expected or _RULE in expected):
            misspelt = self._misspelt_define(rule_only=expected == (_RULE,))
            if misspelt is not None:
                return misspelt
        if kind == "end":
            lines = self._text.rstrip().split("\n")
            found, place = "the text ends", TextPlace(len(lines), len(lines[-1]) + 1)
        elif kind == "head":
            found = f"found a new rule ({token} ::= ...)"
        else:
            found = f"found {'[' if kind == 'numbers' else token!r}"
        if expected == (_EXPRESSION,):
            if kind in RESERVED:
                remedy = f"; an attribute called {token} is written `{token}`"
        elif self._brackets and self._brackets[-1].closing == ("|",):
            bar = self._brackets[-1].place
            return GrammarError(
                f"{found} where '|' was expected: the one at line {bar.line}, column {bar.column} begins an absolute "
                f"value, such as |x - y|; or an alternative is missing before it",
                *place,
            )
        wanted = expected[0] if len(expected) == 1 else ", ".join(expected[:-1]) + " or " + expected[-1]
        return GrammarError(f"{found} where {wanted} was expected{remedy}", *place)

    def _misspelt_define(self, rule_only: bool) -> GrammarError | None:
        """Return the error that ::= is misspelt; None if it is not. A lone = counts as a misspelling if `rule_only`."""
        lines = self._text.split("\n")[: self._place.line - 1]
        end = sum(len(line) + 1 for line in lines) + self._place.column - 1 + len(self._token)
        sign = _LIKE_DEFINE.match(self._text, end)
        if sign is None or (sign[1] == "=" and not rule_only):
            return None
        before = self._text[: sign.start(1)]
        place = TextPlace(before.count("\n") + 1, len(before) - before.rfind("\n"))
        return GrammarError(f"found {sign[1]!r} after {self._token}; rules are written {self._token} ::= ...", *place)


def _choice(alternatives: list[Alternative]) -> Source:
    """Return a choice among alternatives; a single one without English is its body."""
    first = alternatives[0]
    if len(alternatives) == 1 and first.english is None and getattr(first.body, "depth", 0) < DEEPEST:
        return first.body
    return Choice(tuple(alternatives), first.body.place)  # raises an error if it is nested too deep


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


# ---- Values of tokens

_DIGITS = re.compile(r"[0-9.]+(?:[eE][+-]?[0-9]+)?")
_ESCAPED = re.compile(r'\\.|"')


def _finite(digits: str, place: TextPlace) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise GrammarError(f"{digits} is too large for a number", *place)
    return value


def _numbers(token: str, place: TextPlace) -> tuple[float, ...]:
    """Return the numbers of a list in brackets."""
    written = token[1:-1].split(",")
    try:
        values = tuple(map(float, written))
    except ValueError:  # a minus that is no hyphen, or stands apart
        values = tuple(float("".join(number.split()).replace("−", "-")) for number in written)
    if all(map(math.isfinite, values)):
        return values
    digits = next(digits for digits in _DIGITS.finditer(token) if not math.isfinite(float(digits[0])))
    before = token[: digits.start()]
    lines = before.count("\n")
    column = len(before) - before.rfind("\n") if lines else place.column + len(before)
    raise GrammarError(f"{digits[0]} is too large for a number", place.line + lines, column)


def _unquoted(quoted: str, place: TextPlace) -> str:
    """Return the text between quotation marks or backticks, with JSON's escapes read."""
    inside = quoted[1:-1]
    if "\\" not in inside and inside.isprintable():
        return inside
    try:
        text: str = json.loads('"' + _ESCAPED.sub(lambda part: '\\"' if part[0] == '"' else part[0], inside) + '"')
    except json.JSONDecodeError as error:
        raise GrammarError(
            f"{quoted} is not escaped as JSON is ({error.msg.lower()}); write a backslash as \\\\", *place
        ) from None
    return text
