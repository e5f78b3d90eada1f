"""TOML from anyone: bounded in size before it is read, and with no error but one."""

import re
import tomllib
from typing import Any

MOST_CHARACTERS = 4_000_000
"""A schema of ten thousand columns has two million."""
MOST_ITEMS = 200_000
"""Of all lists together."""
_MOST_PARTS = 16
"""Of one key: `a.b.c` has three. The time that the parser takes grows with their square."""
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
    """What is wrong with a text that should be TOML; whoever asked for it says which text it was."""


def parsed_toml(text: str, most: int = MOST_CHARACTERS) -> dict[str, Any]:
    """What the text says, if it has at most so many characters; TomlError if it is no TOML, or too large."""
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
    except ValueError:  # Python reads no whole numbers of more than 4,300 digits
        raise TomlError("it has a number of thousands of digits") from None
