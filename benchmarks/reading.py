"""How much memory it takes to read Parquet, against what the panel itself takes.

python reading.py FILE reads one in this process alone, and prints its peak memory as JSON.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from results import Row

MOST = 3.0  # times the panel's own size
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
    return found


def _row(what: str, path: Path, quick: bool) -> Row:
    done = subprocess.run([sys.executable, __file__, str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{Path(__file__).name} failed:\n{done.stderr}")
    measured = json.loads(done.stdout)
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


def _read(path: str) -> None:
    from telltree.data import read

    panel, _ = read(path, id="id", time="time", label="label")
    taken = 8 * panel.steps + sum(panel.column(name).nbytes for name in panel.schema)  # times and columns
    print(json.dumps({"peak": _peak(), "panel": taken}))


def _peak() -> int:
    """The most memory this process had. Linux hands ru_maxrss down from the parent, so its own record comes first."""
    status = Path("/proc/self/status")
    if status.exists():
        return next(int(line.split()[1]) * 1024 for line in status.read_text().splitlines() if "VmHWM" in line)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


if __name__ == "__main__":
    _read(sys.argv[1])
