"""telltree inspect: describe the data, and write a schema to edit."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from telltree.cli.inputs import read_sources
from telltree.cli.options import DataOptions, Force, Json, Source
from telltree.cli.output import check_output, one_line, put, put_json, say, table
from telltree.text import counted

_MOST_LABELS = 30

if TYPE_CHECKING:
    from telltree.panel import Panel


def inspect(
    *,
    source: Source,
    data: DataOptions,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write a schema to edit here.")
    ] = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Say what is in the data: records, columns and their types, labels, missing values.

    With -o, write a schema.toml: edit types, kinds, units, phrases and thresholds there, and hand it in by --schema.

    \b
    Examples:
      telltree inspect flights.csv --id flight --time t --label nmac
      telltree inspect flights.csv --id flight --time t --label nmac -o schema.toml
    """
    check_output(output, force=force)
    panel, labels = read_sources(source, data)
    found = _summary(panel, labels)
    if json:
        put_json(found)
    else:
        put(_text(found, panel.date_range()))
    if output is not None:
        put(panel.schema.to_toml(time_unit=panel.time_unit), output)
        say(f"wrote {output}")


def _summary(panel: "Panel", labels: Any) -> dict[str, Any]:
    from collections import Counter

    from telltree.panel import unusable
    from telltree.panel.column_checks import leaks, remedy

    left_out, missing = unusable(panel), panel.missing()
    leaking = {} if labels is None else leaks(panel, labels)
    columns = [
        {
            "name": column.name,
            "type": str(column.type),
            "kind": column.kind,
            "unit": column.unit,
            "phrase": column.phrase,
            "static": column.static,
            "missing": missing[column.name],
            "values": _values(panel, column.name),
            "left_out": left_out.get(column.name),
            "bring_back": remedy(left_out[column.name]) if column.name in left_out else None,
            "leak": leaking.get(column.name),
        }
        for column in panel.schema.values()
    ]
    return {
        "records": len(panel),
        "steps": {
            "all": panel.steps,
            "shortest": int(panel.lengths.min()) if len(panel) else 0,
            "longest": int(panel.lengths.max()) if len(panel) else 0,
        },
        "period": panel.period,
        "time_unit": panel.time_unit,
        "dates": panel.date_range(iso=True),
        "labels": None if labels is None else dict(Counter(labels.tolist()).most_common()),
        "columns": columns,
        "notes": list(panel.notes),
    }


def _values(panel: "Panel", name: str) -> Any:
    """Return the range of a real column, the levels of a categorical one, None for a Boolean one."""
    column = panel.schema[name]
    if column.type == "categorical":
        return list(column.levels)
    if column.type == "real":
        extent = panel.statistics(name).extent
        return [extent.low, extent.high] if extent.finite else []
    return None


def _text(found: dict[str, Any], dates: tuple[str, str] | None) -> str:
    from telltree.panel.column_checks import leaks_text, remedies
    from telltree.panel.dates import duration_text
    from telltree.panel.labels import single_record_warning

    steps = found["steps"]

    pace = "" if found["period"] is None else duration_text(found["period"], found["time_unit"] or "(no unit)")
    length = f"{steps['shortest']:,} to " if steps["shortest"] < steps["longest"] else ""
    length += counted(steps["longest"], "step")
    lines = [f"{counted(found['records'], 'record')} of {length}{', one every ' if pace else ''}{pace}"]
    if found["labels"] is not None:
        counts = [f"{_short(label)} ({n})" for label, n in list(found["labels"].items())[:_MOST_LABELS]]
        more = f", and {len(found['labels']) - _MOST_LABELS} more" if len(found["labels"]) > _MOST_LABELS else ""
        lines.append(f"labels: {', '.join(counts)}{more}")
    if dates is not None:
        lines.append(f"dates: {dates[0]} to {dates[1]}")
    phrases = any(c["phrase"] for c in found["columns"])
    rows = [
        (
            _short(c["name"]),
            f"{c['type']}, static" if c["static"] else c["type"],
            _short(c["kind"] or ""),
            _short(c["unit"] or ""),
            *((_short(c["phrase"] or ""),) if phrases else ()),
            c["missing"] or "",
            _shown(c["values"]),
            c["left_out"] or "",
        )
        for c in found["columns"]
    ]
    words = ("unit", "phrase") if phrases else ("unit",)
    lines += ["", table(("column", "type", "kind", *words, "missing", "values", "left out because"), rows)]
    left_out = {c["name"]: c["left_out"] for c in found["columns"] if c["left_out"]}
    leaking = {c["name"]: c["leak"] for c in found["columns"] if c["leak"]}
    singles = None if found["labels"] is None else single_record_warning(found["labels"].values())
    warnings = [f"warning: {text}" for text in (singles, leaks_text(leaking) if leaking else None) if text is not None]
    notes = [*warnings, *remedies(left_out), *(f"note: {note}" for note in found["notes"])]
    lines += ["", *notes] if notes else []
    return "\n".join(lines)


def _shown(values: Any) -> str:
    if not values:
        return ""
    if isinstance(values[0], float):
        return f"{values[0]:g} to {values[1]:g}"
    return ", ".join(map(_short, values[:6])) + (f", … ({len(values)} levels)" if len(values) > 6 else "")


def _short(name: object) -> str:
    """Return a name on one line, shortened if it is long."""
    from telltree.text import clip

    return clip(one_line(str(name)))
