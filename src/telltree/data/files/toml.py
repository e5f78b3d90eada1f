"""TOML from anyone: bounded in size before it is read, and with no error but one."""

import re
import tomllib
from typing import Any

MOST_CHARACTERS = 4_000_000
"""A schema of ten thousand columns has two million."""
MOST_ITEMS = 200_000
"""Of all lists together."""
MOST_TABLES, MOST_KEYS, MOST_LINES = 25_000, 100_000, 400_000
"""Of a text. The schema that telltree writes of twenty thousand columns has a table and ten lines for each of them."""
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
_TABLE = re.compile(r"^[ \t]*+\[", re.MULTILINE)
_LONG_KEY = re.compile(rf'(?:\.[ \t]*+[\w"-]*+[ \t]*+){{{_MOST_PARTS}}}')


class TomlError(ValueError):
    """What is wrong with a text that should be TOML; whoever asked for it says which text it was."""


def parsed_toml(text: str, most: int = MOST_CHARACTERS) -> dict[str, Any]:
    """What the text says, if it has at most so many characters; TomlError if it is no TOML, or too large."""
    if len(text) > most:
        raise TomlError(f"it has {len(text):,} characters; at most {most:,} are read")
    bare = _ASIDE.sub('""', text)
    for what, found, bound in (
        ("items in its lists", bare.count(","), MOST_ITEMS),
        ("tables", len(_TABLE.findall(bare)), MOST_TABLES),
        ("keys", bare.count("="), MOST_KEYS),
        ("lines", text.count("\n"), MOST_LINES),
    ):
        if found > bound:
            raise TomlError(f"it has {found:,} {what}; at most {bound:,} are read: leave out what is not needed")
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
