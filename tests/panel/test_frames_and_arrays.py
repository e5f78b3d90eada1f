"""Frames and arrays of every form -> equal panels, and bad inputs -> clear errors."""

import datetime
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples

from telltree.errors import DataError, DataWarning
from telltree.panel import ColumnType, Panel

BACKENDS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}
backends = pytest.mark.parametrize("make", BACKENDS.values(), ids=BACKENDS)

finite = st.floats(allow_nan=True, allow_infinity=False)
row = st.tuples(finite, st.none() | st.booleans(), st.none() | st.sampled_from(["a", "b", "F", "é\n", "", "x\0"]))
panels_rows = st.lists(st.lists(row, min_size=1, max_size=4), min_size=1, max_size=5)
TYPES = {"on": {"type": "Boolean"}, "mode": {"type": "categorical"}}  # so that columns without values agree


def long_table(records) -> dict[str, list]:
    rows = [(i, t, *cells) for i, record in enumerate(records) for t, cells in enumerate(record)]
    return {name: [r[j] for r in rows] for j, name in enumerate(["id", "t", "x", "on", "mode"])}


def polars_frame(table) -> pl.DataFrame:
    return pl.DataFrame(table, schema_overrides={"on": pl.Boolean, "mode": pl.String, "x": pl.Float64})


@examples(60)
@given(panels_rows)
def test_every_form_of_input_gives_the_same_panel(records):
    table = long_table(records)
    wide = pd.DataFrame(table)
    pieces = {i: piece.drop(columns=["id"]) for i, piece in wide.groupby("id", sort=False)}
    arrow = polars_frame(table).to_arrow()
    panels = [
        Panel.from_frame(wide, id="id", time="t", schema=TYPES),
        Panel.from_frame(wide.set_index(["id", "t"]), id="id", time="t", schema=TYPES),
        Panel.from_frame(polars_frame(table), id="id", time="t", schema=TYPES),
        Panel.from_frame(arrow, id="id", time="t", schema=TYPES),
        Panel.from_frames(pieces, time="t", schema=TYPES),
        Panel.from_frames([pl.from_pandas(piece) for piece in pieces.values()], time="t", schema=TYPES),
        Panel.from_arrays(
            [np.array(record, dtype=object).reshape(-1, 3) for record in records],
            columns=["x", "on", "mode"],
            schema=TYPES,
            period=1.0 if any(len(record) > 1 for record in records) else None,
        ),
    ]
    for panel in panels[1:]:
        assert panel == panels[0]
    for i, record in enumerate(records):
        decoded = panels[0].record(i)
        assert np.array_equal(decoded["x"], [cells[0] for cells in record], equal_nan=True)
        assert decoded["on"].tolist() == [cells[1] for cells in record]
        assert decoded["mode"].tolist() == [cells[2] or None for cells in record]  # blank text is missing


@examples(40)
@given(panels_rows, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter_when_there_is_time(records, random):
    table = long_table(records)
    frame = pd.DataFrame(table)
    order = list(range(len(frame)))
    random.shuffle(order)
    shuffled = frame.iloc[order]
    before = shuffled.copy(deep=True)
    panel = Panel.from_frame(frame, id="id", time="t", schema=TYPES)
    mixed = quiet_frame(shuffled)
    assert mixed[np.argsort(mixed.ids)] == panel
    assert mixed.ids.tolist() == list(dict.fromkeys(shuffled["id"]))
    pd.testing.assert_frame_equal(shuffled, before)


def quiet_frame(frame) -> Panel:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        return Panel.from_frame(frame, id="id", time="t", schema=TYPES)


@given(st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
def test_layouts_of_arrays_agree(records, steps, columns):
    cube = np.arange(float(records * steps * columns)).reshape(records, steps, columns)
    panel = Panel.from_arrays(cube, layout="records, steps, columns")
    assert panel.schema.names == tuple(f"x{i + 1}" for i in range(columns))
    assert panel == Panel.from_arrays(cube.transpose(0, 2, 1), layout="records, columns, steps")
    assert panel == Panel.from_arrays(list(cube))
    assert panel == Panel.from_arrays([record.T for record in cube], layout="columns, steps")
    for i in range(records):
        assert np.array_equal(np.column_stack(list(panel.record(i).values())), cube[i])


def test_floats_in_order_are_not_copied():
    x = np.arange(6.0)
    frame = pd.DataFrame({"id": [1, 1, 1, 2, 2, 2], "t": [0, 1, 2] * 2, "x": x}, copy=False)
    assert np.shares_memory(Panel.from_frame(frame, id="id", time="t").column("x"), frame["x"].to_numpy())
    table = pl.DataFrame({"id": [1, 1, 1, 2, 2, 2], "x": x})
    assert np.shares_memory(Panel.from_frame(table, id="id").column("x"), table["x"].to_numpy())
    cube = x.reshape(1, 3, 2)
    assert np.shares_memory(Panel.from_arrays(cube, layout="records, steps, columns").column("x2"), cube)
    assert np.shares_memory(Panel.from_table(x.reshape(3, 2)).column("x1"), x)


def test_odd_arrays_work_and_are_never_changed(tmp_path):
    plain = np.arange(24.0).reshape(2, 4, 3)
    locked = plain.copy()
    locked.flags.writeable = False
    mapped = np.memmap(tmp_path / "x.bin", float, "w+", shape=plain.shape)
    mapped[:] = plain
    strided = np.repeat(plain, 2, axis=2)[:, :, ::2]
    swapped = plain.astype(">f8")
    expected = Panel.from_arrays(plain, layout="records, steps, columns")
    for array in (locked, mapped, strided, swapped, plain.astype(np.float32), plain.astype(np.uint8)):
        panel = Panel.from_arrays(array, layout="records, steps, columns")
        assert panel == expected
        assert panel.column("x1").dtype == np.float64
    assert plain.flags.writeable
    assert mapped.flags.writeable
    masked = np.ma.array(plain[0], mask=plain[0] > 10)
    assert Panel.from_arrays([masked]).missing() == {"x1": 0, "x2": 0, "x3": 1}


@backends
def test_types_are_inferred(make):
    table = {
        "id": [1, 1, 2],
        "real": [0.5, None, 2.0],
        "few": [1, 2, 1],
        "on": [True, None, False],
        "mode": ["b", None, "a"],
        "price": [Decimal("1.5"), None, Decimal(2)],
        "empty": [None, None, None],
    }
    panel = Panel.from_frame(make(table), id="id")
    assert [str(column.type) for column in panel.schema.values()] == [
        "real", "real", "Boolean", "categorical", "real", "real",
    ]  # fmt: skip
    assert panel.schema["mode"].levels == ("a", "b")
    assert panel.missing() == {"real": 1, "few": 0, "on": 1, "mode": 1, "price": 1, "empty": 3}
    assert len(panel.notes) == 1
    assert "'few'" in panel.notes[0]


def test_pandas_dtypes_with_missing_values():
    frame = pd.DataFrame(
        {
            "id": pd.Categorical(["p", "p", "q"]),
            "whole": pd.array([1, None, 3], dtype="Int64"),
            "float": pd.array([1.5, None, 3], dtype="Float64"),
            "text": pd.array(["u", None, "v"], dtype="string"),
            "object": pd.Series(["u", np.nan, None], dtype=object),
            "category": pd.Categorical([2, None, 1]),
            "truth": pd.Series([True, None, False], dtype=object),
        }
    )
    panel = Panel.from_frame(frame, id="id")
    assert panel.ids.tolist() == ["p", "q"]
    assert panel.missing() == dict(zip(panel.schema, [1, 1, 1, 2, 1, 1], strict=True))
    assert panel.schema["category"].levels == ("1", "2")
    assert panel.record(1)["truth"].tolist() == [False]


def test_overrides_force_types():
    frame = pd.DataFrame({"id": [1, 2, 3], "flag": [0, 1, 0], "gear": [1.0, 10.0, np.nan], "text": ["1", "2.5", "3"]})
    types = {"flag": {"type": "boolean"}, "gear": {"type": "categorical", "phrase": "gear"}, "text": {"type": "real"}}
    panel = Panel.from_frame(frame, id="id", schema=types)
    assert panel.column("flag").tolist() == [1 * v for v in (0, 1, 0)]
    assert panel.record(1)["gear"].tolist() == ["10"]
    assert panel.column("text").tolist() == [1, 2.5, 3]
    assert panel.notes == ()
    assert Panel.from_frame(frame, id="id", schema=panel.schema) == panel
    with pytest.raises(DataError, match=r"'gear' cannot be Boolean: 1 value does not fit, such as 10\.0 in record 2"):
        Panel.from_frame(frame, id="id", schema={"gear": {"type": "Boolean"}})
    with pytest.raises(DataError, match="unknown column in schema 'gera'; did you mean 'gear'"):
        Panel.from_frame(frame, id="id", schema={"gera": {}})


def test_levels_given_by_the_user_are_kept():
    frame = pl.DataFrame({"id": [1, 2], "mode": ["a", "z"]})
    with pytest.warns(DataWarning, match=r"'mode': 'z' \(1 value\)"):
        panel = Panel.from_frame(frame, id="id", schema={"mode": {"levels": ["b", "a"]}})
    assert panel.column("mode").tolist() == [1, -2]


def test_large_integers_stay_apart():
    ids = [2**62, 2**62 + 1]
    panel = Panel.from_frame(pd.DataFrame({"id": ids, "code": ids}), id="id", schema={"code": {"type": "categorical"}})
    assert panel.ids.tolist() == ids
    assert panel.schema["code"].levels == tuple(map(str, ids))


def test_static_columns():
    frame = pd.DataFrame({"id": [1, 1, 2], "age": [3.0, 3.0, np.nan], "x": [1.0, 2.0, 3.0]})
    panel = Panel.from_frame(frame, id="id", static=["age"])
    assert panel.schema["age"].static
    again = Panel.from_arrays([[[1.0], [2.0]], [[3.0]]], columns=["x"], ids=[1, 2], static={"age": [3, None]})
    assert panel.select(["x", "age"]) == again.select(["x", "age"])
    assert again == Panel.from_arrays(
        [[[1.0], [2.0]], [[3.0]]], columns=["x"], ids=[1, 2], static=pl.DataFrame({"age": [3, None]})
    )
    with pytest.raises(DataError, match="static column 'x' varies inside 1 record: 1"):
        Panel.from_frame(frame, id="id", static=["x"])


@backends
def test_dates_count_seconds_from_the_start_of_their_record(make):
    day = datetime.datetime(2024, 2, 28)
    times = [day, day + datetime.timedelta(seconds=1.5), day + datetime.timedelta(days=2)]
    panel = Panel.from_frame(make({"id": ["a", "a", "b"], "t": times, "x": [1.0, 2.0, 3.0]}), id="id", time="t")
    assert [panel.times(i).tolist() for i in range(2)] == [[0, 1.5], [0]]
    assert panel.time_unit == "s"
    days = {"id": ["a", "a"], "t": [day.date(), day.date() + datetime.timedelta(days=1)], "x": [1, 2]}
    if make is not pd.DataFrame:  # pandas keeps dates as objects
        assert Panel.from_frame(make(days), id="id", time="t").times(0).tolist() == [0, 86400]


def test_numeric_times_stay_as_they_are():
    panel = Panel.from_frame(pl.DataFrame({"id": [1, 1], "t": [5, 7], "x": [1.0, 2.0]}), id="id", time="t")
    assert panel.times(0).tolist() == [5, 7]
    assert Panel.from_table([[1.0]]).times(0) is None


def test_unsorted_time_is_sorted_with_one_warning():
    frame = pl.DataFrame({"id": ["a", "b", "a", "b"], "t": [1, 5, 0, 6], "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.warns(DataWarning, match="1 record was not sorted by time and now is: 'a'") as caught:
        panel = Panel.from_frame(frame, id="id", time="t")
    assert len(caught) == 1
    assert caught[0].filename == __file__
    assert panel.column("x").tolist() == [3, 1, 2, 4]


def test_infinite_values_are_kept_with_one_warning():
    with pytest.warns(DataWarning, match="'x1': 1, 'x2': 2") as caught:
        panel = Panel.from_table([[np.inf, -np.inf], [1.0, np.inf]])
    assert len(caught) == 1
    assert panel.column("x2").tolist() == [-np.inf, np.inf]


def test_names_may_be_anything():
    names = ["F", "and", "<script>", "a\nb", '"', "$x$", "é", "[x]", "\x1b[31m", "", " "]
    frame = pl.DataFrame({"id": [1], **{name: [1.5] for name in names}})
    assert Panel.from_frame(frame, id="id").schema.names == tuple(names)
    numbered = pd.DataFrame([[1, 2.0]], columns=[0, 1])
    assert Panel.from_frame(numbered, id=0).schema.names == ("1",)


def test_frames_may_differ_in_dtype_and_order_of_columns():
    first = pd.DataFrame({"x": [1, 2], "mode": [np.nan, np.nan]})
    second = pd.DataFrame({"mode": ["u"], "x": [0.5]})
    panel = Panel.from_frames([first, second], ids=["p", "q"])
    assert panel.column("x").tolist() == [1, 2, 0.5]
    assert panel.column("mode").tolist() == [-1, -1, 0]
    categories = [pl.DataFrame({"mode": [m]}).cast(pl.Enum([m])) for m in "ba"]
    assert Panel.from_frames(categories).column("mode").tolist() == [1, 0]
    assert Panel.from_frames([first[["x"]], pl.DataFrame({"x": [0.5]})]).steps == 3


LONG = pd.DataFrame({"id": [1, 1, 2], "t": [0, 1, 0], "x": [1.0, np.nan, 3.0]})
BAD_FRAMES = [
    (LONG[:0], {}, "no records"),
    (LONG.assign(id=[1, np.nan, 2]), {}, r"id column 'id' is missing in 1 row: 1"),
    (LONG.assign(t=[0, 0, 0]), {}, r"1 step repeats a time of its record: record 1 at 0"),
    (LONG.assign(t=pd.to_datetime(["2024-01-02"] * 3)), {}, "record 1 at 2024-01-02"),
    (LONG.assign(t=[0, np.nan, 0]), {}, "time column 't' is missing in 1 row: 1"),
    (LONG.assign(t=pd.to_datetime(["2024-01-02", None, None])), {}, "time column 't' is missing in 2 rows"),
    (LONG.assign(t=["0", "1", "0"]), {}, "time column 't' is categorical; turn it into numbers or dates"),
    (pd.DataFrame([[1, 0, 2, 3]], columns=["id", "t", "x", "x"]), {}, "same name: 'x'; column names must be unique$"),
    (
        LONG.set_axis(pd.MultiIndex.from_product([["a"], LONG.columns]), axis=1),
        {},
        "names have several levels: .'a', 'id'",
    ),
    (LONG.set_index(["id", "t"]).assign(t=1), {}, "same name: 't'"),
    (pd.DataFrame([[1, 0, 2, 3]], columns=["id", "t", 1, "1"]), {}, "same name: '1'"),
    (LONG.assign(x=[1, "a\x1b", 2]), {}, r"mixed types: 1 in record 1; 'a\\x1b' in record 1"),
    (LONG.assign(x=pd.Series([True, 2, None], dtype=object)), {}, "mixed types: True in record 1; 2 in record 1"),
    (LONG.assign(x=[[1], [2], [3]]), {}, r"unsupported type: list, such as \[1\] in record 1"),
    (pl.DataFrame({"id": [1], "t": [0], "x": [[1]]}), {}, r"unsupported type: List"),
    (LONG.assign(x=pd.to_datetime(["2024-01-02"] * 3)), {}, "'x' holds dates"),
    (LONG.assign(x=pd.Series([10**400] * 3, dtype=object)), {}, "too large"),
    (LONG, {"missing": "error"}, r"values are missing \('x': 1\)"),
    (LONG, {"missing": "maybe"}, "missing must be"),
    (LONG, {"period": 0}, "period must be a positive number"),
    (LONG, {"period": "1"}, "period must be a positive number"),
    (LONG, {"time_unit": 1}, "time_unit must be text"),
    (LONG, {"columns": ["y"]}, "unknown column 'y'"),
    (LONG, {"columns": ["id"]}, "'id' is the id or the time"),
    (LONG, {"columns": []}, "no columns"),
    (LONG, {"time": "time"}, "unknown time column 'time'"),
    (LONG, {"id": "name"}, "unknown id column 'name'"),
    (pl.from_pandas(LONG).lazy(), {}, "call .collect"),
    ({"id": [1]}, {}, "expected a dataframe, got dict"),
]


@pytest.mark.parametrize(("frame", "options", "message"), BAD_FRAMES, ids=[case[2] for case in BAD_FRAMES])
def test_bad_frames_are_explained(frame, options, message):
    with pytest.raises(DataError, match=message):
        Panel.from_frame(frame, **{"id": "id", "time": "t", **options})


ONE = pd.DataFrame({"x": [1.0]})
BAD_LISTS = [
    (lambda: Panel.from_frames([]), "no records"),
    (lambda: Panel.from_frames(ONE), "use Panel.from_frame"),
    (lambda: Panel.from_frames({"a": ONE, "b": ONE[:0]}), "1 record has no steps: 'b'"),
    (lambda: Panel.from_frames([ONE, ONE.rename(columns={"x": "y"})]), "records 0 and 1 have different columns"),
    (lambda: Panel.from_frames([ONE, pd.DataFrame({"x": ["u"]})]), "mixed types: 1.0 in record 0; 'u' in record 1"),
    (lambda: Panel.from_frames([ONE, ONE], ids=["a"]), "got 1 id for 2 records"),
    (lambda: Panel.from_frames([ONE, ONE], ids=["a", "a"]), "same id: 'a'"),
    (lambda: Panel.from_frames([ONE, ONE], ids=["a", None]), "an id is missing"),
    (lambda: Panel.from_frames({"a": ONE}, ids=["a"]), "keys of the dict are the ids"),
    (lambda: Panel.from_arrays([]), "no records"),
    (lambda: Panel.from_arrays(np.zeros((2, 3, 4))), "layout='records, steps, columns' or 'records, columns, steps'"),
    (lambda: Panel.from_arrays(np.zeros((2, 3))), "use Panel.from_table"),
    (lambda: Panel.from_arrays([np.zeros(3)]), r"number 0 has shape \(3,\)"),
    (lambda: Panel.from_arrays([np.zeros((2, 3)), np.zeros((3, 2))]), "3 and 2 columns"),
    (lambda: Panel.from_arrays([np.zeros((2, 3))], layout="records, steps, columns"), "layout of a list"),
    (lambda: Panel.from_arrays([np.zeros((0, 3))]), "has no steps"),
    (lambda: Panel.from_arrays([np.zeros((1, 2))], columns=["a"]), "got 1 column name for 2 columns"),
    (lambda: Panel.from_arrays([np.zeros((1, 2))], columns=["a", "a"]), "same name: 'a'"),
    (lambda: Panel.from_arrays([np.zeros((1, 1))], static={"x1": [1]}), "same name: 'x1'"),
    (lambda: Panel.from_arrays([np.zeros((1, 1))], static={"s": [1, 2]}), "has 2 values for 1 record"),
    (lambda: Panel.from_arrays([np.zeros((1, 1))], static=[1]), "static is a frame or a dict"),
    (lambda: Panel.from_arrays(7), "got int"),
    (lambda: Panel.from_table(np.zeros((0, 2))), "no records"),
    (lambda: Panel.from_table(np.zeros((2, 0))), "no columns"),
    (lambda: Panel.from_table(np.zeros(3)), "2 dimensions"),
    (lambda: Panel.from_table(np.zeros((1, 1), complex)), "complex"),
    (lambda: Panel.from_table([[1], [2, 3]]), "different lengths"),
    (lambda: Panel.from_table(ONE, columns=["y"]), "no columns 'y'"),
]


@pytest.mark.parametrize(("read", "message"), BAD_LISTS, ids=[case[1] for case in BAD_LISTS])
def test_bad_lists_and_tables_are_explained(read, message):
    with pytest.raises(DataError, match=message):
        read()


def test_tables_are_static_records_of_one_step():
    panel = Panel.from_table([[1, "a"], [2, None]], columns=["n", "c"])
    assert all(column.static for column in panel.schema.values())
    assert panel.lengths.tolist() == [1, 1]
    assert [column.type for column in panel.schema.values()] == [ColumnType.REAL, ColumnType.CATEGORICAL]
    assert panel == Panel.from_table(pl.DataFrame({"n": [1, 2], "c": ["a", None]}))
    assert panel[1:].column("n").tolist() == [1, 2]
