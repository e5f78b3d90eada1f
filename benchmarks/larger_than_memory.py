"""Learn from a Parquet file that is larger than the memory that may be used, and tell what that took.

    python benchmarks/larger_than_memory.py                       # 1,000,000 records × 50 steps × 20 attributes, 4 GB
    python benchmarks/larger_than_memory.py --records 100000 --max-memory "1 GB" --compare

The file is made first, if it is not there, in a folder with room for twice its size. Then a process of its own scans it
and learns; the peak is the most memory that this process ever had, mapped files included. `--compare` learns from the
panel in memory as well, in another process, and tells whether the models have the same bytes.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from peak_memory import peak_bytes

import telltree
from telltree import Grammar, GrammarTreeClassifier
from telltree.search import GeneticProgramming

STEPS, COLUMNS, AT_A_TIME = 50, 20, 10_000
NAMES = {"id": "run", "time": "t", "label": "end"}


def make(path: Path, records: int, columns: int = COLUMNS) -> None:
    """Random walks, with classes that a formula of two atoms tells apart, but for a tenth of them."""
    rng, fields = np.random.default_rng(1), [("run", pa.int32()), ("t", pa.int16()), ("end", pa.string())]
    schema = pa.schema(fields + [(f"x{k}", pa.float64()) for k in range(columns)])
    unfinished = path.with_suffix(".unfinished")
    with pq.ParquetWriter(unfinished, schema, compression="NONE", use_dictionary=["run", "t", "end"]) as file:
        for first in range(0, records, AT_A_TIME):
            number = min(AT_A_TIME, records - first)
            cube = rng.normal(scale=0.2, size=(columns, number, STEPS)).cumsum(axis=2)
            classes = (cube[0].max(axis=1) > 1).astype(int) + (cube[1].min(axis=1) < -1)
            classes = np.where(rng.random(number) < 0.1, rng.integers(0, 3, number), classes)
            rows = {
                "run": np.repeat(np.arange(first, first + number, dtype=np.int32), STEPS),
                "t": np.tile(np.arange(STEPS, dtype=np.int16), number),
                "end": np.repeat(np.array(["low", "middle", "high"])[classes], STEPS),
            }
            file.write_table(pa.table({**rows, **{f"x{k}": cube[k].ravel() for k in range(columns)}}, schema))
    unfinished.rename(path)


def learn(
    path: Path, model: Path, *, scan: bool, max_memory: str, evaluations: int, depth: int, fitting: bool
) -> dict[str, object]:
    """Scan or read, learn, predict, and tell the peak, and the processor's and the clock's seconds."""
    told: dict[str, object] = {}
    began = time.perf_counter(), time.process_time()

    def tell(what: str) -> None:
        nonlocal began
        now = time.perf_counter(), time.process_time()
        told[what] = [round(now[1] - began[1], 1), round(now[0] - began[0], 1), round(peak_bytes() / 1e9, 2)]
        print(what, told[what], file=sys.stderr, flush=True)
        began = now

    panel, y = (telltree.scan if scan else telltree.read)(path, **NAMES)
    tell("read")
    grammar = Grammar.for_panel(panel, np.unique(y, return_inverse=True)[1]) if fitting else Grammar.generic(panel)
    tell("grammar")
    search = GeneticProgramming(evaluations=evaluations)
    classifier = GrammarTreeClassifier(grammar, search, max_depth=depth, random_state=0)
    classifier.fit(panel, y, max_memory=max_memory if scan else None)
    tell("fit")
    classifier.save(model, overwrite=True)
    right = float((classifier.predict(panel) == y).mean())
    tell("predict")
    return {**told, "right": round(right, 4), "leaves": len(classifier.tree_.leaves), "peak": peak_bytes()}


def alone(arguments: argparse.Namespace, path: Path, model: Path, *, scan: bool) -> dict[str, object]:
    """The same in a process of its own."""
    command = [sys.executable, __file__, "--alone", str(path), str(model), "--max-memory", arguments.max_memory]
    command += ["--evaluations", str(arguments.evaluations), "--depth", str(arguments.depth)]
    command += ["--fitting"] * arguments.fitting + ["--read"] * (not scan)
    ended = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    found: dict[str, object] = json.loads(ended.stdout)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--max-memory", default="4 GB")
    parser.add_argument("--evaluations", type=int, default=5_000)
    parser.add_argument("--depth", type=int, default=2)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()))
    parser.add_argument("--fitting", action="store_true", help="the default language, instead of the generic one")
    parser.add_argument("--compare", action="store_true")
    parser.add_argument("--alone", nargs=2, type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--read", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alone:
        more = {
            "max_memory": given.max_memory,
            "evaluations": given.evaluations,
            "depth": given.depth,
            "fitting": given.fitting,
        }
        print(json.dumps(learn(*given.alone, scan=not given.read, **more)))
        return
    path = given.folder / f"telltree-{given.records}x{STEPS}x{COLUMNS}.parquet"
    if not path.exists():
        make(path, given.records)
    size = path.stat().st_size
    print(f"{given.records:,} records × {STEPS} steps × {COLUMNS} attributes, {size / 1e9:.2f} GB of Parquet")
    ways = [("scanned", True), ("in memory", False)] if given.compare else [("scanned", True)]
    models = {way: given.folder / f"telltree-{way.replace(' ', '-')}.json" for way, _ in ways}
    for way, scan in ways:
        found = alone(given, path, models[way], scan=scan)
        peak = float(str(found.pop("peak")))
        print(
            f"{way}: peak {peak / 1e9:.2f} GB; [processor's seconds, clock's, peak so far in GB]: {json.dumps(found)}"
        )
    if given.compare:
        same = len({model.read_bytes() for model in models.values()}) == 1
        print("the models have the same bytes" if same else "THE MODELS DIFFER")
        sys.exit(not same)


if __name__ == "__main__":
    os.environ.setdefault("NUMBA_NUM_THREADS", "1")
    main()
