"""How much memory it takes to read Parquet, and how long CSV takes, against pandas.

python reading.py telltree|pandas FILE reads one in this process alone, and prints its peak memory and its time as JSON.
"""

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from results import Row

MOST = 3.0  # times the panel's own size
SLOWEST = 1.5  # times what pandas takes
REALS = 8
STEPS = 100  # a record
LEVELS = np.array(["climb", "cruise", "descent", "taxi"])


def rows(quick: bool) -> list[Row]:
    size = 100_000_000 if quick else 1_000_000_000
    found = []
    for what, group in (("row groups of 1,000,000 rows", 1_000_000), ("one row group", 1 << 40)):
        with tempfile.TemporaryDirectory() as place:
            path = Path(place) / "long.parquet"
            _write(path, size, group)
            found.append(_row(what, path, quick))
    return found + [_csv_row(what, digits, size, quick) for what, digits in (("4 decimals", 4), ("all digits", 17))]


def _csv_row(what: str, digits: int, size: int, quick: bool) -> Row:
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "long.csv"
        _write_csv(path, size, digits)
        turns = [(_measured("telltree", path), _measured("pandas", path)) for _ in range(2 if quick else 3)]
        written = path.stat().st_size
    ours, theirs = (min(turn[who]["seconds"] for turn in turns) for who in (0, 1))
    mine, other = (max(turn[who]["peak"] for turn in turns) for who in (0, 1))
    return Row(
        f"time to read CSV, {what}",
        f"≤ {SLOWEST:g} × pandas",
        f"{ours / theirs:.2f} × ({ours:.2f} s for {theirs:.2f} s)",
        f"processor time of read(...) and of pandas.read_csv(...), best of {len(turns)} in turn, each in a fresh "
        f"process, imports left out; {REALS} real columns, a Boolean and a categorical one, ids, times and labels; "
        f"{written / 1e9:.2f} GB on disk; peak memory {mine / 1e9:.2f} GB, pandas {other / 1e9:.2f} GB",
        met=None if quick else ours <= SLOWEST * theirs,
    )


def _measured(who: str, path: Path) -> dict[str, float]:
    done = subprocess.run([sys.executable, __file__, who, str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{Path(__file__).name} failed:\n{done.stderr}")
    measured: dict[str, float] = json.loads(done.stdout)
    return measured


def _row(what: str, path: Path, quick: bool) -> Row:
    measured = _measured("telltree", path)
    ratio = measured["peak"] / measured["panel"]
    return Row(
        f"memory to read Parquet, {what}",
        f"≤ {MOST:g} × the panel",
        f"{ratio:.2f} × ({measured['peak'] / 1e9:.2f} GB for {measured['panel'] / 1e9:.2f} GB)",
        f"peak resident memory of a fresh process, interpreter included; {REALS} real columns, a Boolean and a "
        f"categorical one, text ids, times and labels; {path.stat().st_size / 1e9:.2f} GB on disk",
        met=None if quick else ratio <= MOST,  # of a small panel the interpreter takes more than the data
    )


def _write(path: Path, size: int, group: int) -> None:
    """Write a long table of which the panel takes about `size` bytes."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    records = size // (STEPS * (8 * REALS + 8 + 1 + 4))
    generator = np.random.default_rng(0)
    steps = records * STEPS
    numbers = np.repeat(np.arange(records), STEPS)
    table = {"id": pa.array(np.char.mod("flight %d", np.arange(records))).take(pa.array(numbers))}
    table["time"] = pa.array(np.tile(np.arange(STEPS) * 0.5, records))
    table |= {f"x{number}": pa.array(generator.normal(size=steps)) for number in range(1, REALS + 1)}
    table["on"] = pa.array(generator.random(steps) < 0.5)
    table["phase"] = pa.array(LEVELS).take(pa.array(generator.integers(len(LEVELS), size=steps)))
    table["label"] = pa.array(["safe", "lost"]).take(pa.array(numbers % 2))
    pq.write_table(pa.table(table), path, row_group_size=group)


def _write_csv(path: Path, size: int, digits: int) -> None:
    """Write a long table of about `size` bytes, a thousand records at a time, without quotation marks."""
    import pandas as pd

    generator = np.random.default_rng(0)
    first = 0
    with path.open("w", newline="", encoding="utf-8") as file:
        while file.tell() < size:
            numbers = np.repeat(np.arange(first, first + 1000), STEPS)
            table = {"id": numbers, "time": np.tile(np.arange(STEPS) * 0.5, 1000)}
            for number in range(1, REALS + 1):
                table[f"x{number}"] = np.round(generator.normal(scale=50, size=len(numbers)), digits)
            table["on"] = generator.random(len(numbers)) < 0.5
            table["phase"] = LEVELS[generator.integers(len(LEVELS), size=len(numbers))]
            table["label"] = np.array(["safe", "lost"])[numbers % 2]
            pd.DataFrame(table).to_csv(file, index=False, header=first == 0)
            first += 1000


def _read(who: str, path: str) -> None:
    """Read a file; the libraries that read it are loaded before the clock starts."""
    import pandas as pd
    import pyarrow.compute
    import pyarrow.csv  # noqa: F401 - as above

    from telltree.panel import read

    begun = time.process_time()
    if who == "pandas":
        pd.read_csv(path)
        print(json.dumps({"seconds": time.process_time() - begun, "peak": _peak()}))
        return
    panel, _ = read(path, id="id", time="time", label="label")
    seconds = time.process_time() - begun
    taken = 8 * panel.steps + sum(panel.column(name).nbytes for name in panel.schema)  # times and columns
    print(json.dumps({"seconds": seconds, "peak": _peak(), "panel": taken}))


def _peak() -> int:
    """The most memory this process had. Linux hands ru_maxrss down from the parent, so its own record comes first."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    _read(*sys.argv[1:])
