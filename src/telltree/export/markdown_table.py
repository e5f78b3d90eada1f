"""The table of rules as Markdown."""

import re

from telltree.explain.rules import cells
from telltree.export.json_rules import rule_rows
from telltree.export.subject import Subject

HEAD = ("category", "label", "share", "95 % interval", "support", "lift", "weighted share", "formula", "English")
_SPECIAL = re.compile(r"\s+|[\\`*_{}]|[&<>|~$^]|\](?=[(\[])")


def markdown_table(subject: Subject) -> str:
    """A head and one line a category."""
    lines: list[tuple[str, ...]] = [HEAD, ("---:", "---", "---:", "---", "---:", "---:", "---:", "---", "---")]
    for row in rule_rows(subject):
        lines.append(tuple(_plain(cell) for cell in (*cells(row), row.english)))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _plain(text: str) -> str:
    """The text as Markdown shows it to the letter, whatever the dialect."""

    def shown(found: re.Match[str]) -> str:
        if found[0].isspace():
            return " "
        return "\\" + found[0] if found[0] in "\\`*_{}" else f"&#{ord(found[0])};"

    return _SPECIAL.sub(shown, text)
