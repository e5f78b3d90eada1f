"""Limits on the length of grammars and formulas, checked before parsing."""

import re
from collections.abc import Iterable
from itertools import islice

from telltree.errors import GrammarError
from telltree.panel import Schema

LONGEST = 4_000_000  # characters; a grammar for ten thousand columns, written out, has two million
MOST_OF = {"::=": 10_000, "|": 100_000, ",": 1_000_000}
"""The most rules, alternatives and constants."""
FOR_COLUMNS = 10_000
"""The number of columns that these limits are for; a grammar over more columns may be longer."""

MOST_TOKENS = 40_000
"""The most words and signs in a text that a user wrote: each takes some microseconds and some hundred bytes."""
TOKENS_PER_COLUMN, TOKENS_PER_LEVEL = 300, 10
"""The most tokens that telltree itself writes about a column, and about each of its levels."""
_MANY_TOKENS, _TOKENS_PER_COLUMN_OF_MANY = 64_000, 100
"""Beyond so many tokens there are fewer for each column: telltree writes less about each of many columns."""

_TOKEN = re.compile(r'"(?:[^"\\\n]++|\\.)*+"|`(?:[^`\\\n]++|\\.)*+`|[\w.]++|[^\w\s]')


def check_size(text: str, what: str, columns: int = 0) -> None:
    """Raise GrammarError if a text has too many characters, rules, alternatives or constants."""
    if not isinstance(text, str):
        raise GrammarError(f"{what} is written as text, got {type(text).__name__}")
    times = max(1, columns / FOR_COLUMNS)
    if len(text) > LONGEST * times:
        raise GrammarError(f"{what} has {len(text):,} characters; at most {LONGEST * times:,.0f} are read")
    for sign, most in MOST_OF.items():
        if text.count(sign) > most * times:
            found = f"{text.count(sign):,} times {sign!r}"
            raise GrammarError(f"{what} has {found}; at most {most * times:,.0f} are read")


def check_tokens(text: str, what: str, most: int = MOST_TOKENS) -> None:
    """Raise GrammarError if a text has too many words and signs."""
    if len(text) > most and has_more_tokens((text,), most):
        raise GrammarError(
            f"{what} has {len(text):,} characters, and more than the {most:,} words and signs that are read; leave "
            f"some of it out, or write groups such as `each real < grid(10)`"
        )


def has_more_tokens(texts: Iterable[str], most: int) -> bool:
    """Return True if the texts have more than `most` words and signs; stop counting there."""
    tokens = (token for text in texts for token in _TOKEN.finditer(text))
    return next(islice(tokens, most, None), None) is not None


def most_tokens(schema: Schema) -> int:
    """The number of tokens that a grammar over these columns may have."""
    columns = len(schema)
    needed = max(min(TOKENS_PER_COLUMN * columns, _MANY_TOKENS), _TOKENS_PER_COLUMN_OF_MANY * columns)
    return max(MOST_TOKENS, needed + TOKENS_PER_LEVEL * _levels(schema))


def most_group_members(schema: Schema) -> int:
    """The number of attributes and constants that the groups of a grammar over these columns may write out."""
    return max(MOST_TOKENS, TOKENS_PER_COLUMN * len(schema) + TOKENS_PER_LEVEL * _levels(schema))


def _levels(schema: Schema) -> int:
    return sum(len(column.levels) for column in schema.values())
