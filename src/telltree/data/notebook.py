"""A panel as a small table for notebooks. Text from data is escaped."""

from html import escape
from typing import TYPE_CHECKING

from telltree.amounts import counted
from telltree.data.clip import clip
from telltree.visible import visible

if TYPE_CHECKING:
    from telltree.data.panel import Panel

COLUMNS_SHOWN = 20
_HEAD = ("column", "type", "kind", "unit", "values", "missing")


def escaped(text: object) -> str:
    """Text for a page; control characters as Python writes them."""
    shown = "".join(c if c.isprintable() else repr(c)[1:-1] for c in visible(text))
    return escape(shown)


def panel_html(panel: "Panel") -> str:
    """The first line of the panel's summary, and a row for each of its first columns."""
    summary, names = repr(panel).splitlines()[0], list(panel.schema)
    absent = panel.select(names[:COLUMNS_SHOWN]).missing()
    rows = [_row("th", _HEAD)]
    for column in list(panel.schema.values())[:COLUMNS_SHOWN]:
        kind = f"{column.type}, static" if column.static else column.type
        levels = ", ".join(map(clip, column.levels[:5])) + (", …" if len(column.levels) > 5 else "")
        said = (clip(column.name), kind, clip(column.kind or ""), clip(column.unit or ""))
        rows.append(_row("td", (*said, levels, absent[column.name])))
    hidden = len(names) - COLUMNS_SHOWN
    more = f"<div>… and {counted(hidden, 'more column')}</div>" if hidden > 0 else ""
    return f"<div><div>{escaped(summary)}</div><table>{''.join(rows)}</table>{more}</div>"


def _row(tag: str, cells: tuple[object, ...]) -> str:
    return "<tr>" + "".join(f"<{tag}>{escaped(cell)}</{tag}>" for cell in cells) + "</tr>"
