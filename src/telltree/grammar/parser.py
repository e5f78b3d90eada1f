"""Text to syntax tree; anything wrong with the text is a GrammarError with its place."""

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from functools import cache, partial
from importlib.resources import files
from itertools import islice
from typing import Any, TypeVar

from lark import Lark, Token, Transformer, UnexpectedCharacters, UnexpectedInput, UnexpectedToken, v_args

from telltree.errors import GrammarError
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
from telltree.logic import operator_named
from telltree.logic.operators import ABS, AND, COMPARISONS, DIFFERENCE, IMPLIES, NOT, OR, Operator
from telltree.panel import Schema

# ---- How much a text has to read, and how much may be read: counted before any of it is.

_PART = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|`(?:[^`\\\n]++|\\.)*+`|[\w.]++|[^\w\s]')
MOST_PARTS = 40_000
"""Each takes some ten microseconds to read, and some hundred bytes."""
PARTS_A_COLUMN, PARTS_A_LEVEL = 300, 10
"""What telltree itself may have to say of a column; whoever has hundreds of columns reads grammars as long as that."""
_MANY_PARTS, _PARTS_OF_MANY = 64_000, 100
"""From so many parts on, fewer for each column: telltree has less to say of each of many."""


def has_more_parts(texts: Iterable[str], most: int) -> bool:
    """Whether texts have more words and signs than that; no more of them are looked at."""
    found = (part for text in texts for part in _PART.finditer(text))
    return next(islice(found, most, None), None) is not None


def room_for(schema: Schema) -> int:
    """How many parts a grammar over these columns may have."""
    columns = len(schema)
    needed = max(min(PARTS_A_COLUMN * columns, _MANY_PARTS), _PARTS_OF_MANY * columns)
    return max(MOST_PARTS, needed + PARTS_A_LEVEL * _levels(schema))


def room_for_groups(schema: Schema) -> int:
    """How many attributes and constants the groups of such a grammar may have, written out."""
    return max(MOST_PARTS, PARTS_A_COLUMN * len(schema) + PARTS_A_LEVEL * _levels(schema))


def _levels(schema: Schema) -> int:
    return sum(len(column.levels) for column in schema.values())


def check_parts(text: str, what: str, most: int = MOST_PARTS) -> None:
    """Refuse a text that would take long to read."""
    if len(text) > most and has_more_parts((text,), most):
        raise GrammarError(
            f"{what} has {len(text):,} characters, and more than the {most:,} words and signs that are read; leave "
            f"some of it out, or write groups such as `each real < grid(10)`"
        )


# ---- Syntax errors in the terms of a grammar's author, not of a parser.

WORDS = frozenset(
    {"each", "other", "grid", "quantiles", "thresholds", "levels", "random", "real", "Boolean", "categorical", "kind"}
)
"""Reserved words besides the operators; an attribute with such a name is written in backticks."""

_SHOWN = {
    "DEFINE": "'::='", "BAR": "'|'", "AT": "'@'", "LIST": "'['", "RSQB": "']'", "LPAR": "'('", "RPAR": "')'",
    "LBRACE": "'{'", "RBRACE": "'}'", "COMMA": "','", "NUMBER": "a number", "MINUS": "'-'",
    "STRING": "a text in quotes",
    "COMPARE": " ".join(operator.name for operator in COMPARISONS), "HEAD": "a rule (name ::= ...)",
    "REAL": "real", "BOOLEAN": "Boolean", "CATEGORICAL": "categorical", "KIND": 'kind "..."', "$END": "the end",
}  # fmt: skip


def complaint(error: UnexpectedInput, text: str, start: str) -> GrammarError:
    """What to tell the author about a text that does not parse."""
    if isinstance(error, UnexpectedToken):
        return _about_token(error.token, error.expected, text, start)
    assert isinstance(error, UnexpectedCharacters)
    found = str(error.char)
    advice = {
        '"': "the quoted text does not end on its line",
        "`": "the quoted name does not end on its line",
        "&": "write and, or ∧",
        "!": "write not, or ¬",
        "~": "write not, or ¬",
        "+": "there is a difference (a - b), but no sum",
        ":": "rules are written name ::= ...",
    }.get(found, "names with unusual characters are quoted in backticks")
    return GrammarError(f"found {found!r}, which means nothing here; {advice}", error.line, error.column)


def _about_token(token: Token, expected: set[str], text: str, start: str) -> GrammarError:
    found = f"found {'[' if token.type == 'NUMBERS' else str(token)!r}"
    place = TextPlace(token.line or 1, token.column or 1)
    remedy = ""
    misspelt = _misspelt_define(token, text, only=expected == {"HEAD"}) if "HEAD" in expected else None
    if misspelt is not None:
        return misspelt
    if token.type == "$END":
        found, place = "the text ends", _end(text)
    elif token.type == "HEAD":
        found = f"found a new rule ({token} ::= ...)"
    elif token.type == "QUOTED" and "HEAD" in expected and len(expected) == 1:
        remedy = "; names in backticks are attributes, and cannot be defined"
    elif token.type == "COMPARE" and "AND" in expected:
        remedy = "; comparisons do not chain, join two of them with and"
    elif str(token) in WORDS and "NAME" in expected:
        remedy = f"; an attribute called {token} is written `{token}`"
    bar = None if "NAME" in expected else _open_bar(text, place)
    if bar is not None:
        return GrammarError(
            f"{found} where '|' was expected: the one at line {bar.line}, column {bar.column} begins an absolute "
            f"value, such as |x - y|; or an alternative is missing before it",
            *place,
        )
    return GrammarError(f"{found} where {_wanted(expected, start)} was expected{remedy}", *place)


_SIGNS = re.compile(r'#[^\n]*+|"(?:[^"\\\n]++|\\.)*+"|`(?:[^`\\\n]++|\\.)*+`|::=|[<>=!]=|=>|[\w.]++|[^\s]')
_BEGINNING = frozenset({"::=", "(", ",", "{", "[", "-", "−", "<", ">", "<=", ">=", "=", "==", "≤", "≥", "=>", "⇒", "∧",
                        "∨", "¬", "and", "or", "not", "implies"})  # fmt: skip
"""After which an expression must begin."""


def _open_bar(text: str, end: TextPlace) -> TextPlace | None:
    """Where an absolute value begins that does not end before this place, if there is one."""
    lines = text.split("\n")
    before = "\n".join([*lines[: end.line - 1], lines[end.line - 1][: end.column - 1]])
    opened: list[tuple[str, int]] = []
    begins = True
    for found in _SIGNS.finditer(before):
        sign = found[0]
        if sign.startswith("#"):
            continue
        if sign == "::=":
            opened = []
        elif sign in ("(", "[", "{") or (sign == "|" and begins):
            opened.append((sign, found.start()))
        elif opened and (sign in (")", "]", "}") or (sign == "|" and opened[-1][0] == "|")):
            opened.pop()
            begins = False
            continue
        begins = sign in _BEGINNING or sign == "|"
    if not opened or opened[-1][0] != "|":
        return None
    start = before[: opened[-1][1]]
    return TextPlace(start.count("\n") + 1, len(start) - start.rfind("\n"))


def _misspelt_define(token: Token, text: str, only: bool) -> GrammarError | None:
    """If a rule's name is not followed by ::=, say so. A lone = is a misspelt ::= if `only` a rule can stand here."""
    sign = re.compile(r"\s*(:=|:|->|→|=)").match(text, token.end_pos or len(text)) if token.type == "NAME" else None
    if sign is None or (sign[1] == "=" and not only):
        return None
    before = text[: sign.start(1)]
    place = TextPlace(before.count("\n") + 1, len(before) - before.rfind("\n"))
    return GrammarError(f"found {sign[1]!r} after {token}; rules are written {token} ::= ...", *place)


def _wanted(expected: set[str], start: str) -> str:
    if "NAME" in expected:
        return "an expression"
    if "AND" in expected or expected == {"HEAD", "$END"}:
        return "an operator, or the next alternative or rule," if start == "grammar" else "an operator or the end"
    shown = sorted(_SHOWN.get(name, name.lower()) for name in expected)
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1]


def _end(text: str) -> TextPlace:
    """Just after the last token."""
    lines = text.rstrip().split("\n")
    return TextPlace(len(lines), len(lines[-1]) + 1)


# ---- Texts read without Lark, in a quarter of its time: a grammar of thousands of columns has a hundred thousand
# words, a model of a thousand leaves thousands of formulas.
#
# `syntax.lark` says what the language is; this reads it in one pass from the left. Whatever it is not sure of, and all
# that is wrong, is None: Lark reads it, or says what is the matter.

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
    return _whole(text, _TextReader.grammar)


def quick_formula(text: str) -> Source | None:
    """The source tree of a formula's text; None if Lark should look at it."""
    return _whole(text, _TextReader.formula)


def _whole(text: str, read: "Callable[[_TextReader], T]") -> T | None:
    try:
        reader = _TextReader(text)
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


class _TextReader:
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
        place = TextPlace(self._line, self._column)
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
            place = TextPlace(self._line, self._column)
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
            place = TextPlace(self._line, self._column)
            self._advance()
            assert operator is not None
            right = self._within(self.formula) if operator is IMPLIES else self.formula(binds + 1)
            left = Apply(operator, (left, right), place)

    def _negation(self, least: int) -> Apply:
        if least > _NEGATING:
            raise _UnlikeError
        place = TextPlace(self._line, self._column)
        self._advance()
        return Apply(NOT, (self._within(lambda: self.formula(_NEGATING)),), place)

    def _comparison(self, left: Source) -> Comparison:
        several = self._taken("{")
        place = TextPlace(self._line, self._column)
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
        kind, text, place = self.kind, self._text, TextPlace(self._line, self._column)
        if kind in DIFFERENCE.spellings:
            return Constant(self._number(), place)
        self._advance()
        match kind:
            case "name":
                return self._call(text, place) if self.kind in ("(", "numbers", "[") else Name(text, False, place)
            case "numbers":
                return Supply("list", _numbers_in(text), place)
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

    def _call(self, name: str, place: TextPlace) -> Call:
        bounds = self._bounds()
        self._take("(")
        args = [] if self.kind == ")" and bounds is None else self._within(lambda: self._several(self._group))
        if bounds is None:
            return self._closed(Call(name, tuple(args), place), ")")
        return self._closed(Call(f"{name}[]", (*args, *bounds), place, len(bounds)), ")")

    def _bounds(self) -> list[Source] | None:
        """The window in brackets behind the name of an operator, if there is one."""
        place = TextPlace(self._line, self._column)
        if self.kind == "numbers":
            return [Constant(bound, place) for bound in _numbers_in(self._take("numbers"))]
        return self._closed(self._within(lambda: self._several(self._group)), "]") if self._taken("[") else None

    def _group(self) -> Source:
        """What stands in brackets, or is an argument: a choice, unless there is but one."""
        found = self._several(self._alternative, "|")
        if len(found) == 1 and found[0].english is None:
            return found[0].body
        return Choice(tuple(found), found[0].body.place)

    def _each(self, place: TextPlace) -> Each:
        if self._taken("kind"):
            return Each("kind", _inside(self._take("string")), place)
        if self.kind not in ("real", "Boolean", "categorical"):
            raise _UnlikeError
        return Each(self._take(self.kind), "", place)

    def _supply(self, word: str, place: TextPlace) -> Supply:
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


def _numbers_in(text: str) -> tuple[float, ...]:
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


# ---- Text to source tree; anything wrong with the text is a GrammarError with its place.
#
# Lark's LALR parser reads what `quick.py` does not, and says what is wrong.

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
    grammar = files("telltree.grammar").joinpath("syntax.lark").read_text(encoding="utf-8")
    # The basic lexer reads a word the same way everywhere, so that messages can name it.
    return Lark(grammar, parser="lalr", lexer="basic", start=["grammar", "formula"], transformer=_Builder())


def _place(token: Token) -> TextPlace:
    return TextPlace(token.line or 1, token.column or 1)


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

    def alternatives(self, first: tuple[Alternative, TextPlace], *others: Any) -> Choice:
        # Without the bars between the alternatives.
        return Choice((first[0], *(other[0] for other in others[1::2])), first[1])

    def alternative(self, body: Source, *notes: Constant | English) -> tuple[Alternative, TextPlace]:
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

    def comparison(self, left: Source, by: tuple[tuple[Operator, ...], TextPlace], right: Source) -> Comparison:
        return Comparison(by[0], left, right, by[1])

    def operators(self, *tokens: Token) -> tuple[tuple[Operator, ...], TextPlace]:
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
