"""Syntax errors in the terms of a grammar's author, not of a parser."""

import re

from lark import Token, UnexpectedCharacters, UnexpectedInput, UnexpectedToken

from telltree.errors import GrammarError
from telltree.grammar.text.source import Place
from telltree.operators.table import COMPARISONS

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
    place = Place(token.line or 1, token.column or 1)
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


def _open_bar(text: str, end: Place) -> Place | None:
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
    return Place(start.count("\n") + 1, len(start) - start.rfind("\n"))


def _misspelt_define(token: Token, text: str, only: bool) -> GrammarError | None:
    """If a rule's name is not followed by ::=, say so. A lone = is a misspelt ::= if `only` a rule can stand here."""
    sign = re.compile(r"\s*(:=|:|->|→|=)").match(text, token.end_pos or len(text)) if token.type == "NAME" else None
    if sign is None or (sign[1] == "=" and not only):
        return None
    before = text[: sign.start(1)]
    place = Place(before.count("\n") + 1, len(before) - before.rfind("\n"))
    return GrammarError(f"found {sign[1]!r} after {token}; rules are written {token} ::= ...", *place)


def _wanted(expected: set[str], start: str) -> str:
    if "NAME" in expected:
        return "an expression"
    if "AND" in expected or expected == {"HEAD", "$END"}:
        return "an operator, or the next alternative or rule," if start == "grammar" else "an operator or the end"
    shown = sorted(_SHOWN.get(name, name.lower()) for name in expected)
    return shown[0] if len(shown) == 1 else ", ".join(shown[:-1]) + " or " + shown[-1]


def _end(text: str) -> Place:
    """Just after the last token."""
    lines = text.rstrip().split("\n")
    return Place(len(lines), len(lines[-1]) + 1)
