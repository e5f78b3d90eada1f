"""Every form that telltree reads, each with a way to write a panel in it."""

import csv
import gzip
import io
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from telltree.panel import Panel, Read, read

ID, TIME, LABEL = "record", "t, in s", "class"


@dataclass(frozen=True)
class Form:
    """`write` takes a panel, labels and a directory, and gives the source and what `read` must be told about it."""

    write: Callable[[Panel, list, Path], tuple[Any, dict]]

    def there_and_back(self, panel: Panel, labels: list, place: Path) -> Read:
        place.mkdir()
        source, options = self.write(panel, labels, place)
        static = [column.name for column in panel.schema.values() if column.static]
        return read(source, **({"static": static, "time_unit": panel.time_unit} | options))


def long_table(panel: Panel, labels: list) -> dict[str, list]:
    """The panel as a dict of lists, with None where a value is missing."""
    table = panel.to_frame("pyarrow", id=ID, time=TIME).to_pydict()
    repeated = [label for label, length in zip(labels, panel.lengths, strict=True) for _ in range(length)]
    return {**table, LABEL: repeated}


def csv_text(table: dict[str, list], delimiter: str = ",") -> str:
    """A table as CSV; missing values are empty cells, and a semicolon brings the decimal comma."""
    text = io.StringIO()
    writer = csv.writer(text, delimiter=delimiter)
    writer.writerow(table)
    for row in zip(*table.values(), strict=True):
        writer.writerow(["" if cell is None else _cell(cell, delimiter) for cell in row])
    return text.getvalue()


def _cell(value: Any, delimiter: str) -> str:
    return str(value).replace(".", ",") if isinstance(value, float) and delimiter == ";" else str(value)


def _options(panel: Panel) -> dict:
    times = {} if panel.stacked_times() is None else {"time": TIME}
    return {"id": ID, "label": LABEL, **times}


def _long(make: Callable[[dict[str, list]], Any]) -> Form:
    return Form(lambda panel, labels, place: (make(long_table(panel, labels)), _options(panel)))


def _frame(backend: str) -> Form:
    def write(panel: Panel, labels: list, place: Path) -> tuple[Any, dict]:
        frame = panel.to_frame(backend, id=ID, time=TIME)
        return frame, {**_options(panel), "label": None, "labels": dict(zip(panel.ids.tolist(), labels, strict=True))}

    return Form(write)


def _multi_index(panel: Panel, labels: list, place: Path) -> tuple[Any, dict]:
    frame = panel.to_frame("pandas", id=ID, time=TIME)
    frame[LABEL] = long_table(panel, labels)[LABEL]
    if TIME not in frame:
        return frame.set_index(ID), {"id": ID, "label": LABEL}
    return frame.set_index([ID, TIME]), {"label": LABEL}


def _file(name: str, encode: Callable[[dict[str, list]], bytes]) -> Form:
    def write(panel: Panel, labels: list, place: Path) -> tuple[Any, dict]:
        (place / name).write_bytes(encode(long_table(panel, labels)))
        return place / name, _options(panel)

    return Form(write)


def parquet_bytes(table: dict[str, list]) -> bytes:
    """A table as Parquet, in row groups of two rows."""
    sink = io.BytesIO()
    pq.write_table(pa.table(table), sink, row_group_size=2)
    return sink.getvalue()


def csv_bytes(table: dict[str, list]) -> bytes:
    return csv_text(table).encode()


def _pieces(panel: Panel) -> dict[str, dict[str, list]]:
    return {key: frame.to_pydict() for key, frame in panel.to_frames("pyarrow", time=TIME).items()}


def _directory(suffix: str, encode: Callable[[dict[str, list]], bytes], source: str) -> Form:
    """One file per record; `source` is "directory", "glob" or "list", and the labels lie beside them."""

    def write(panel: Panel, labels: list, place: Path) -> tuple[Any, dict]:
        paths = []
        for number, (key, table) in enumerate(_pieces(panel).items()):
            folder = place if source != "list" else place / str(number)  # a list keeps its own order
            folder.mkdir(exist_ok=True)
            paths.append(folder / f"{key}{suffix}")
            paths[-1].write_bytes(encode(table))
        beside = place / f"labels{suffix}"
        beside.write_bytes(encode({"id": panel.ids.tolist(), LABEL: labels}))
        found = {"directory": place, "glob": str(place / f"*{suffix}"), "list": paths}[source]
        times = {} if panel.stacked_times() is None else {"time": TIME}
        return found, {"labels": beside, **times}

    return Form(write)


def _frames(backend: str, as_list: bool) -> Form:
    def write(panel: Panel, labels: list, place: Path) -> tuple[Any, dict]:
        frames = panel.to_frames(backend, time=TIME)
        times = {} if panel.stacked_times() is None else {"time": TIME}
        if as_list:
            return list(frames.values()), {"ids": list(frames), "labels": labels, **times}
        return frames, {"labels": dict(zip(frames, labels, strict=True)), **times}

    return Form(write)


MIXED = {
    "pandas": _frame("pandas"),
    "polars": _frame("polars"),
    "pyarrow": _frame("pyarrow"),
    "arrow with labels": _long(pa.table),
    "multi-index": Form(_multi_index),
    "dict of pandas": _frames("pandas", as_list=False),
    "dict of polars": _frames("polars", as_list=False),
    "list of pyarrow": _frames("pyarrow", as_list=True),
    "csv": _file("long.csv", csv_bytes),
    "csv with BOM": _file("long.csv", lambda table: csv_text(table).encode("utf-8-sig")),
    "csv in UTF-16": _file("long.csv", lambda table: csv_text(table).encode("utf-16")),
    "csv with semicolons": _file("long.txt", lambda table: csv_text(table, ";").encode()),
    "tsv, gzipped": _file("long.tsv.gz", lambda table: gzip.compress(csv_text(table, "\t").encode(), mtime=0)),
    "parquet": _file("long.parquet", parquet_bytes),
    "stream of csv": _long(lambda table: io.BytesIO(csv_bytes(table))),
    "stream of text": _long(lambda table: io.StringIO(csv_text(table), newline="")),
    "stream of parquet": _long(lambda table: io.BytesIO(parquet_bytes(table))),
    "directory of csv": _directory(".csv", csv_bytes, "directory"),
    "directory of parquet": _directory(".parquet", parquet_bytes, "directory"),
    "glob of gzipped csv": _directory(".csv.gz", lambda table: gzip.compress(csv_bytes(table), mtime=0), "glob"),
    "list of paths": _directory(".csv", csv_bytes, "list"),
}


def _arrays(layout: str, as_dict: bool = False) -> Form:
    def write(panel: Panel, labels: list, place: Path) -> tuple[Any, dict]:
        arrays = panel.to_arrays(layout)
        named = {"columns": panel.schema.names, "layout": layout, "static": None}
        if as_dict:
            keyed = dict(zip(panel.ids.tolist(), arrays, strict=True))
            return keyed, {"labels": dict(zip(keyed, labels, strict=True)), **named}
        return arrays, {"ids": panel.ids.tolist(), "labels": labels, **named}

    return Form(write)


def ts_text(panel: Panel, labels: list) -> str:
    """The panel as a .ts file, with time stamps if it has times."""
    times = panel.stacked_times() is not None
    lines = ["# made by a test", "@problemName small", f"@timeStamps {str(times).lower()}", "@missing true"]
    lines += [f"@dimensions {len(panel.schema)}", f"@classLabel true {' '.join(sorted(set(labels)))}", "@data"]
    for number, label in enumerate(labels):
        record = [["?" if np.isnan(x) else repr(float(x)) for x in values] for values in panel.record(number).values()]
        if times:
            record = [[f"({t},{x})" for t, x in zip(panel.times(number), cells, strict=True)] for cells in record]
        lines.append(":".join([*(",".join(cells) for cells in record), label]))
    return "\n".join(lines) + "\n"


def _ts(panel: Panel, labels: list, place: Path) -> tuple[Any, dict]:
    (place / "small.ts").write_text(ts_text(panel, labels), encoding="utf-8")
    return place / "small.ts", {"columns": panel.schema.names, "ids": panel.ids.tolist()}


REAL = {
    "list of arrays": _arrays("steps, columns"),
    "list of arrays, turned": _arrays("columns, steps"),
    "dict of arrays": _arrays("columns, steps", as_dict=True),
    "ts": Form(_ts),
}
EVEN = {
    "3-D array": _arrays("records, steps, columns"),
    "3-D array as in aeon": _arrays("records, columns, steps"),
}
