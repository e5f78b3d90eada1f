"""TOML from any source: its size is checked before it is parsed, and it raises only one kind of error."""

import re
import tomllib
from typing import Any

MOST_CHARACTERS = 4_000_000
"""A schema of ten thousand columns has two million."""
MOST_ITEMS = 200_000
"""The most items of all lists together."""
_MOST_PARTS = 16
"""The most parts of one key: `a.b.c` has three. Parsing takes time that grows with their square."""
_ASIDE = re.compile(
    r'"""(?:[^"\\]++|\\.|"(?!""))*+"""'
    r"|'''(?:[^']++|'(?!''))*+'''"
    r'|"(?:[^"\\\n]++|\\.)*+"'
    r"|'[^'\n]*+'"
    r"|#[^\n]*+",
    re.DOTALL,
)
_LONG_KEY = re.compile(rf'(?:\.[ \t]*+[\w"-]*+[ \t]*+){{{_MOST_PARTS}}}')


class TomlError(ValueError):
    """What is wrong with a text that should be TOML; the caller says which text it was."""


def parsed_toml(text: str, most: int = MOST_CHARACTERS) -> dict[str, Any]:
    """The content of a text of at most `most` characters; TomlError if it is not TOML, or too large."""
    if len(text) > most:
        raise TomlError(f"it has {len(text):,} characters; at most {most:,} are read")
    bare = _ASIDE.sub('""', text)
    if bare.count(",") > MOST_ITEMS:
        raise TomlError(f"its lists have {bare.count(','):,} items; at most {MOST_ITEMS:,} are read")
    if _LONG_KEY.search(bare):
        raise TomlError(f"a key in it has more than {_MOST_PARTS} parts")
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise TomlError(f"it is not TOML: {error}") from None
    except RecursionError:
        raise TomlError("its lists or tables are nested too deeply") from None
    except ValueError:  # Python parses no integers of more than 4,300 digits
        raise TomlError("it has a number of thousands of digits") from None
