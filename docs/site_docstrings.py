"""Makes Markdown lists of what docstrings list: an extension of Griffe, named in mkdocs.yml.

Docstrings have a line for each parameter or attribute, `name: what it is`, and go on below it.
"""

import re
from typing import Any

from griffe import Extension, Object

ITEM = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*): ")
HEADING = re.compile(r"(\w+)\n-+\n")


class ListedParameters(Extension):
    """Rewrites each docstring before it is shown."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        """Change the text of one docstring."""
        if obj.docstring:
            obj.docstring.value = "\n\n".join(map(_shown, re.split(r"\n\s*\n", obj.docstring.value)))


def _shown(paragraph: str) -> str:
    """A paragraph: an underlined heading becomes bold, and lines that begin with a name and a colon become a list."""
    heading = HEADING.match(paragraph)
    if heading:
        return f"**{heading[1]}**\n\n{_shown(paragraph[heading.end() :])}"
    if not ITEM.match(paragraph):
        return paragraph
    return "\n".join(
        ITEM.sub(r"- `\1`: ", line, count=1) if ITEM.match(line) else line for line in paragraph.split("\n")
    )
