"""How much a text has to read, and how much may be read: counted before any of it is."""

import re
from collections.abc import Iterable
from itertools import islice

from telltree.data import Schema
from telltree.errors import GrammarError

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
