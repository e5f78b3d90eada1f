"""Records of Parquet files as what to read: whoever reads it gets the records that were read as a whole."""

import os
import pickle
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples

from telltree import read
from telltree.errors import DataError
from telltree.panel.table_files import stored_records


def table(lengths, seed=0):
    """A long table with columns of every type, some values missing."""
    rng = np.random.default_rng(seed)
    rows, ids = int(np.sum(lengths)), np.repeat(np.arange(len(lengths)), lengths)
    gaps = rng.random(rows) < 0.2
    times = np.concatenate([np.cumsum(rng.integers(1, 4, length)) for length in lengths])
    return pa.table(
        {
            "id": pa.array([f"r{number}" for number in ids]),
            "when": pa.array(np.datetime64("2025-01-01", "ms") + times * np.timedelta64(3_600_000, "ms")),
            "heat": pa.array(rng.normal(size=rows), mask=gaps),
            "count": pa.array(rng.integers(0, 3, rows)),
            "open": pa.array(rng.integers(0, 2, rows)),  # 0 and 1: Boolean
            "on": pa.array(rng.random(rows) < 0.5, mask=gaps),
            "sure": pa.array(np.array(["yes", "no"])[rng.integers(0, 2, rows)]),  # Boolean too
            "mode": pa.array(np.array(["NA", "up", "down", "off"])[rng.integers(0, 4, rows)]).dictionary_encode(),
            "code": pa.array(rng.integers(7, 10, rows).astype(np.float32)),
            "site": pa.array(np.array(["a", "b", "c"])[ids % 3]),
            "state": pa.array(np.array(["good", "bad"])[ids % 2]),
        }
    )


HOW = {
    "id": "id",
    "time": "when",
    "label": "state",
    "static": ["site"],
    "schema": {"code": {"type": "categorical"}, "mode": {"levels": ["down", "up", "NA"]}},
}


def written(folder, whole, cuts, group):
    """The rows in several files, cut wherever."""
    ends = [0, *sorted(cuts), whole.num_rows]
    for number, (low, high) in enumerate(pairwise(ends)):
        pq.write_table(whole.slice(low, high - low), Path(folder) / f"{number}.parquet", row_group_size=group)
    return folder


def same(one, other):
    """Whether all is the same that a formula may ask for."""
    times = one.stacked_times(), other.stacked_times()
    return one == other and one.how_read == other.how_read and np.array_equal(*times)


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
@examples(40)
@given(data=st.data())
def test_what_is_read_is_what_was_read(data):
    lengths = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=12))
    rows = sum(lengths)
    cuts = data.draw(st.lists(st.integers(0, rows), max_size=3))
    more = data.draw(st.sampled_from([{}, {"every": "2h"}, {"every": "1h", "how": {"heat": "mean", "on": "any"}}]))
    chosen = data.draw(st.lists(st.integers(0, len(lengths) - 1), min_size=1, unique=True).map(sorted))
    with TemporaryDirectory() as folder:
        written(folder, table(lengths, rows), cuts, data.draw(st.integers(1, 9)))
        panel, _ = read(folder, **HOW, **more)
        for view in (panel, panel[chosen], panel[chosen].select(["mode", "site", "heat"])):
            part = pickle.loads(pickle.dumps(stored_records(view)))  # noqa: S301  our own
            assert same(part.read(), view)


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
def test_a_file_may_be_a_record(tmp_path):
    lengths = [3, 1, 4]
    written(tmp_path, table(lengths).drop_columns(["id", "state"]), [3, 4], 2)
    panel, _ = read(tmp_path, time="when", static=["site"], schema=HOW["schema"])
    assert len(panel) == 3
    assert same(stored_records(panel[1:]).read(), panel[1:])


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
def test_rows_that_repeat_a_time_become_one_again(tmp_path):
    whole = table([3, 4, 5])
    rows = pa.concat_tables([whole.slice(row, 1) for row in range(12) for _ in range(2)])
    panel, _ = read(written(tmp_path, rows, [7], 3), **HOW, repeated="first")
    assert panel.steps == 12
    assert same(stored_records(panel[1:]).read(), panel[1:])


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
def test_records_that_lie_otherwise_are_not_described(tmp_path):
    whole = table([3, 4, 5])
    plain, _ = read(written(tmp_path, whole, [], 3), **HOW)
    assert stored_records(plain) is not None
    assert stored_records(plain[[1, 0]]) is None
    assert stored_records(plain.aligned(plain.schema)) is None
    assert stored_records(plain.resample("1h").resample("2h")) is None
    assert stored_records(pickle.loads(pickle.dumps(plain))) is None  # noqa: S301  our own
    whole.to_pandas().to_csv(tmp_path / "table.csv", index=False)
    assert stored_records(read(tmp_path / "table.csv", **HOW).panel) is None
    mixed = whole.take(pa.array([11, *range(11)]))
    assert stored_records(read(written(tmp_path, mixed, [], 3) / "0.parquet", **HOW).panel) is None


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
def test_files_that_changed_are_refused(tmp_path):
    path = written(tmp_path, table([3, 4, 5]), [], 3) / "0.parquet"
    part = stored_records(read(path, **HOW).panel[1:])
    assert str(part) == f"rows 3 to 11 of {str(path)!r}"
    os.utime(path, ns=(0, 0))
    with pytest.raises(DataError, match=r"0\.parquet' has changed since it was read"):
        part.read()
    path.unlink()
    with pytest.raises(DataError, match=r"there is no file '.*0\.parquet'"):
        part.read()


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
def test_several_files_are_named(tmp_path):
    panel, _ = read(written(tmp_path, table([3, 4, 5]), [5], 3), **HOW)
    assert (
        str(stored_records(panel))
        == f"row 0 of {str(tmp_path / '0.parquet')!r} to row 6 of {str(tmp_path / '1.parquet')!r}"
    )
    assert str(stored_records(panel[2:])) == f"rows 2 to 6 of {str(tmp_path / '1.parquet')!r}"
