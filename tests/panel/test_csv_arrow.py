"""CSV that Arrow splits is read as it is row by row: the same panel and labels, or the same error."""

import gzip
import io
import warnings
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from telltree.errors import DataError, DataWarning
from telltree.panel import csv, read, table_files

pytest.importorskip("pyarrow")

NUMBERS = ["0", "1", "-0", "1.0", "2.50", ".5", "3.", "+4", "1e3", "1E-3", "1e400", "-inf", "Infinity", " 7 ", "007"]
NUMBERS += ["9007199254740993", "123456789012345678901234567890", "1,5", "-2,25", "0.1", "4.9e-324", "1\u00a0"]
GAPS = ["", " ", "NA", "N/A", "<NA>", "NaN", "nan", "NAN", " null ", "NULL", "Nan", "-nan"]
NAMES = [
    "up",
    "down",
    "true",
    "False",
    "yes",
    "no",
    "n",
    "y",
    "1_000",
    "0x1F",
    "nan(a)",
    "é",
    "١٢",
    "1.0.0",
    "it's 5\"",
]
DATES = ["2024-02-29", "2024-02-29T12:30", "2024-02-29 12:30:00.5", "2024-02-29T12:30:00Z", "2024-03-01T01:00+02:00"]
MARKS = [",", ";", "|", "\t", "a\nb", "a\r\nb", 'say "hi"', '""', "\r", "\0", '"']
HEADERS = ["x", "speed (km/h)", "größe", "", "a b", "x,y", "x\ny", "1"]

plain_cell = st.sampled_from(NUMBERS + GAPS + NAMES)
odd_cell = st.one_of(plain_cell, st.sampled_from(DATES + MARKS), st.text(max_size=4))


@contextmanager
def small_blocks():
    """Small files are worth it, and have several blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(csv, "WORTH", 0)
        patch.setattr(csv, "BLOCK", 50)
        yield


@pytest.fixture
def at_once():
    with small_blocks():
        yield


def outcome(content, options):
    """What comes of reading: all that a panel knows, and what was warned of; or the error."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", DataWarning)
        try:
            panel, y = read(io.BytesIO(content), **options)
        except DataError as error:
            return str(error)
    columns = {
        name: (array.dtype.str, array.tobytes()) for name in panel.schema if (array := panel.column(name)) is not None
    }
    times = panel.stacked_times()
    dates = [panel.dates(i) for i in range(len(panel))]
    offsets = [panel.offsets(i) for i in range(len(panel))]
    return (
        *(panel.schema, panel.ids.tolist(), panel.ids.dtype, panel.lengths.tolist(), panel.notes, panel.time_unit),
        *(columns, None if times is None else times.tobytes(), repr(dates), repr(offsets)),
        *(None if y is None else (y.dtype, y.tolist()), [str(warning.message) for warning in told]),
    )


def both(content, options):
    """The outcome row by row, and whether blocks gave the same by themselves, or left it to the rows."""
    alone = []

    def watched(files, *others):
        alone.append(found := kept(files, *others))
        return found

    kept, never = table_files.read_blocks, lambda *_: None
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_files, "read_blocks", never)
        expected = outcome(content, options)
        patch.setattr(table_files, "read_blocks", watched)
        assert outcome(content, options) == expected
    return expected, alone[0] is not None


def written(rows, delimiter, line_end, quoting):
    """Rows as text; `quoting` says of each cell whether it stands in quotation marks, if it may go without."""
    quoted = iter(quoting)

    def shown(cell):
        must = any(mark in cell for mark in (delimiter, "\n", "\r", '"'))
        return '"' + cell.replace('"', '""') + '"' if must or next(quoted, False) else cell

    return line_end.join(delimiter.join(map(shown, row)) for row in rows)


@st.composite
def tables_of_cells(draw):
    """CSV with an id, a time, a label and some columns, each mostly of one kind."""
    names = draw(st.lists(st.sampled_from(HEADERS), min_size=1, max_size=3, unique=True))
    count = draw(st.integers(0, 12))
    pools = {name: draw(st.sampled_from([NUMBERS, NUMBERS + GAPS, NAMES + GAPS, GAPS, None])) for name in names}
    kinds = draw(st.sampled_from([["0", "1", "2.5", "7"], DATES, DATES[:3], ["0", "1", "2", "3"]]))
    rows = [["id", "t", *names, "class"]]
    for _ in range(count):
        cells = [draw(odd_cell if pools[name] is None else st.sampled_from(pools[name])) for name in names]
        label = draw(st.sampled_from(["a", "a", "b", "1", "2.0", "true"])) if draw(st.booleans()) else "a"
        rows.append([draw(st.sampled_from(["1", "2", "01", "r"])), draw(st.sampled_from(kinds)), *cells, label])
        if draw(st.integers(0, 20)) == 0:
            rows.append([])
        if draw(st.integers(0, 40)) == 0:
            rows[-1] = [*rows[-1], "ragged"]
    delimiter = draw(st.sampled_from([",", ",", ";", "\t", "|"]))
    text = written(rows, delimiter, draw(st.sampled_from(["\n", "\r\n"])), draw(st.lists(st.booleans())))
    return text + draw(st.sampled_from(["", "\n", "\n\n"])), names


@given(tables_of_cells(), st.sampled_from(["utf-8", "utf-8-sig", "latin-1", "utf-16"]), st.booleans(), st.data())
def test_blocks_give_the_same_panel_or_the_same_error(case, encoding, packed, data):
    text, names = case
    options = {"id": "id", "repeated": "last"}
    options |= data.draw(st.sampled_from([{}, {"time": "t"}, {"label": "class"}, {"time": "t", "label": "class"}]))
    if data.draw(st.booleans()):
        options["schema"] = {names[0]: {"type": data.draw(st.sampled_from(["categorical", "real", "Boolean"]))}}
    if encoding == "latin-1":
        options["encoding"] = "latin-1"
    content = text.encode(encoding, "replace")
    with small_blocks():
        both(gzip.compress(content, mtime=0) if packed else content, options)


@given(st.text(st.sampled_from('ab1.,"\n\r é;'), max_size=60))
@example('a"b\n1,"2\n"\n')
@example('1,"2"3\n')
def test_any_characters_are_split_alike(text):
    with small_blocks():
        both(("id,x\n" + text).encode(), {"id": "id", "schema": {"x": {"type": "categorical"}}})
        both(text.encode(), {"id": "a", "wide": True})


PLAIN = [
    b"id,x\nr,1.5\nr,2\n",
    b"id,x\r\nr,1.5\r\n\r\nr,NA\r\n",
    b'id,"na\nme"\nr,"a\nb"\nr,"say ""hi"""\n',
    b"id;x\nr;1,5\nr;\n",
    "id,größe\nr,é\n".encode(),
    b"id,x\nr,true\nr,FALSE\n",
    b"id,x\nr, 7 \nr, <NA> \nr,nan\n",
]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("content", PLAIN)
def test_usual_files_are_not_read_row_by_row(content):
    assert both(content, {"id": "id"})[1]
    assert both(content.replace(b"id", b"record id", 1), {"id": "record id"})[1]


@pytest.mark.usefixtures("at_once")
def test_usual_times_are_not_read_row_by_row():
    for times in (
        b"0 1 2",
        b"0 0.5 2",
        b"2024-01-01 2024-01-02 2024-01-03",
        b"2024-01-01T00:00Z 2024-01-02 2024-01-03",
    ):
        rows = b"".join(b"r,%s,1\n" % time for time in times.split())
        assert both(b"id,t,x\n" + rows, {"id": "id", "time": "t"})[1]


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize(
    "content",
    [
        b'id,x\nr,5" pipe\n',
        b"id,x\nr,a\rb\n",
        b"id,x\nr,\0\n",
        b"id,x\nr,1\nr\n",
        b"id,x\nr,\xff\n",
        b"id,x\nr,1\nr,up\n",
        b"id,x\nr," + b"1" * 200_000 + b"\n",
        b'id,x\nr,"' + b"\n" * 200 + b'"\n',
    ],
)
def test_what_may_differ_is_left_to_the_rows(content):
    assert not both(content, {"id": "id"})[1]


@pytest.mark.usefixtures("at_once")
def test_files_that_have_other_orders_of_columns_are_put_together(tmp_path):
    (tmp_path / "a.csv").write_text("id,x,y\nr,1,up\n")
    (tmp_path / "b.csv").write_text("y,id,x\ndown,s,2.5\n")
    panel, _ = read(tmp_path, id="id")
    assert panel.column("x").tolist() == [1, 2.5]
    assert panel.record(1)["y"].tolist() == ["down"]
    single, _ = read(tmp_path)
    assert np.array_equal(single.ids, ["a", "b"])


def test_large_files_take_the_fast_way_and_come_to_the_same():
    rows = 100_000
    values = np.random.default_rng(1).normal(size=rows)
    content = "id,t,x,on,phase\n" + "".join(
        f"record {row // 20},{row % 20},{value!r},{value > 0},{'climb' if value > 1 else 'taxi'}\n"
        for row, value in enumerate(values.tolist())
    )
    assert len(content) > csv.WORTH
    expected, by_blocks = both(content.encode(), {"id": "id", "time": "t"})
    assert by_blocks
    assert not isinstance(expected, str)
