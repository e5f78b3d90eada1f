"""The largest files that are read, how long each takes (CPU, warm) and how much memory; and ten thousand mutants of
each golden model file: only telltree's own errors. Not part of `make bench`: it proves more than it measures.

    python benchmarks/hostile_files.py [mutants] [seed]

With 0 mutants the large files alone are tried. Each is read in a process of its own, twice; the time of the second is
told, and the memory of both.
"""

import contextlib
import json
import os
import random
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the mutations are those of the tests

from tests.models.test_golden import GOLDEN, double, panel, wild  # noqa: E402
from tests.support.model_mutants import mutant  # noqa: E402 - found on the path that was just added

from telltree import Panel, TelltreeError, read  # noqa: E402
from telltree.errors import ModelFormatError  # noqa: E402
from telltree.estimators import load  # noqa: E402
from telltree.grammar import Grammar  # noqa: E402
from telltree.panel import Column, Schema  # noqa: E402

FEW = Schema([Column("x", "real"), Column("y", "real"), Column("b", "Boolean")])
KIND = Schema([Column(f"x{i}", "real", kind="height") for i in range(300)])
MIXED = json.loads((GOLDEN / "mixed-1.json").read_text())


# ---- the largest files that are read


def balanced(depth):
    return "b" if not depth else f"({balanced(depth - 1)} and {balanced(depth - 1)})"


def chain(symbols):
    return "A ::= F(B0)\n" + "\n".join(f"B{i} ::= B{i + 1} | x < {i}" for i in range(symbols)) + f"\nB{symbols} ::= b"


def either(atoms):
    return "A ::= F(B)\nB ::= " + " | ".join(atoms)


def model(**changes):
    return json.dumps({**MIXED, **changes}, indent=1)


def runners_up(formula, number):
    tree = json.loads(json.dumps(MIXED["tree"]))
    first = next(node for node in tree if node["kind"] == "branch")
    first["runners_up"] = [{"formula": formula.format(i), "fitness": 0.0, "spoken": False} for i in range(number)]
    return model(tree=tree)


def columns(number, **fields):
    return [*MIXED["columns"], *({"name": f"extra_{i}", "type": "real", **fields} for i in range(number))]


def levels(number):
    return [{"name": "place", "type": "categorical", "levels": [f"p{i}" for i in range(number)]}]


def long_grammar(alternatives):
    text = either(f"`speed` < {i}" for i in range(alternatives))
    return model(grammar={**MIXED["grammar"], "text": text})


def header(number, rows=1):
    return "id," + ",".join(f"c{i}" for i in range(number)) + "\n" + ("r," + ",".join(["1"] * number) + "\n") * rows


def many(number):
    return Schema([Column(f"sensor_{i}", "real", kind="height", unit="ft") for i in range(number)])


def generated(number):
    values = np.random.default_rng(0).normal(size=(40, number, 3))
    names = list(many(number))
    return str(Grammar.for_panel(Panel.from_arrays(values, columns=names, layout="records, columns, steps")))


def grammar_over(schema):
    return lambda path: Grammar.parse(path.read_text(), schema)


def toml(path):
    return Schema.from_toml(path.read_text())


def table(path):
    return read(str(path), id="id")


CASES = {
    "grammar, 8,000 alternatives": (lambda: either(f"x < {i}" for i in range(8000)), grammar_over(FEW)),
    "grammar, 2^13 nested": (lambda: f"A ::= F({balanced(13)})", grammar_over(FEW)),
    "grammar, 19,000 constants": (lambda: f"A ::= F(x < [{', '.join(map(str, range(19_000)))}])", grammar_over(FEW)),
    "grammar, 500 symbols that rename": (lambda: chain(500), grammar_over(FEW)),
    "grammar, 2,000 symbols that rename": (lambda: chain(2000), grammar_over(FEW)),
    "grammar, 300 columns with each other": (lambda: "A ::= F(each real < other)", grammar_over(KIND)),
    "grammar, 22,000 alternatives, 900 columns": (
        lambda: either(f"sensor_{i % 900} < {i}" for i in range(22_000)),
        grammar_over(many(900)),
    ),
    "grammar, as telltree writes for 2,000": (lambda: generated(2000), grammar_over(many(2000))),
    "grammar, 3,000,000 blanks in a list": (lambda: "A ::= F(x < [" + " " * 3_000_000 + "∧", grammar_over(FEW)),
    "grammar, 3,000,000 blanks at its end": (lambda: "A ::= F(b)" + " " * 3_000_000, grammar_over(FEW)),
    "grammar, a number of 3,000,000 digits": (lambda: f"A ::= F(x < {'1' * 3_000_000}x)", grammar_over(FEW)),
    "grammar, 99,999 alternatives": (lambda: either(f"x < {i}" for i in range(99_999)), grammar_over(FEW)),
    "grammar, groups of millions": (lambda: either(["(each real) < (each real)"] * 2000), grammar_over(KIND)),
    "model, 49,000 columns": (lambda: model(columns=columns(49_000, kind="height", unit="ft")), load),
    "model, 240,000 columns": (lambda: model(columns=columns(240_000)), load),
    "model, 900,000 levels": (lambda: model(columns=MIXED["columns"] + levels(900_000)), load),
    "model, 1,400,000 levels": (lambda: model(columns=MIXED["columns"] + levels(1_400_000)), load),
    "model, 14,000 runners-up": (lambda: runners_up("F(speed < {})", 14_000), load),
    "model, 5,000 long runners-up": (lambda: runners_up("F((speed < {}) ∧ ((height > 2) ∨ ¬on))", 5_000), load),
    "model, 3,000 runners-up spelt otherwise": (lambda: runners_up("F(speed < {} and not height < 2)", 3_000), load),
    "model, 3,000 runners-up spelt oddly": (lambda: runners_up("F(speed < {}and not height < 2)", 3_000), load),
    "model, 19,900 runners-up": (lambda: runners_up("F(speed < {})", 19_900), load),
    "model, grammar of 90,000 alternatives": (lambda: long_grammar(90_000), load),
    "schema, 20,000 columns": (lambda: many(20_000).to_toml(), toml),
    "schema, 120,000 tables": (lambda: "\n".join(f"[columns.c{i}]\ntype='real'" for i in range(120_000)), toml),
    "schema, 190,000 levels": (
        lambda: "[columns.a]\ntype='categorical'\nlevels=[" + ",".join(f"'p{i}'" for i in range(190_000)) + "]",
        toml,
    ),
    "schema, escapes alone": (lambda: "[columns.a]\ntype='real'\nunit=\"" + "\\t" * 1_900_000 + '"', toml),
    "table, 20,000 columns": (lambda: header(20_000), table),
    "table, 99,000 columns": (lambda: header(99_000), table),
}
"""By name: what writes the content of a file, and what reads it."""


def large(folder):
    path = folder / "file"
    for name, (write, act) in CASES.items():
        apart(lambda: path.write_text(write(), encoding="utf-8"))  # noqa: B023 - called at once
        apart(lambda: print(f"{name:42}{path.stat().st_size:12,} bytes", *measured(act, path)))  # noqa: B023


def apart(work):
    """Do some work in a process of its own, which finds none of what others have left in memory."""
    sys.stdout.flush()
    if not os.fork():
        try:
            work()
            sys.stdout.flush()
        finally:
            os._exit(0)
    os.wait()


def measured(act, path):
    """How long a file takes, how much memory, and what becomes of it."""
    before, outcome = resident(), attempted(act, path)
    start = time.process_time()
    attempted(act, path)
    return f"{time.process_time() - start:6.2f} s{peak() - before:6.0f} MB ", f"{outcome:.90}"


def attempted(act, path):
    try:
        act(path)
    except TelltreeError as error:
        return f"refused: {str(error).replace(str(path), '')}"
    return "read"


def resident():
    """The memory this process holds, in megabytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGESIZE") / (1 << 20)


def peak():
    """The most memory this process has held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# ---- mutants of model files


def hostile(path, mutants, seed):
    rng, records = random.Random(seed), panel()
    for golden in sorted(GOLDEN.glob("*.json")):
        content = golden.read_bytes()
        load(golden, functions=[wild, double])  # what is loaded once does not count
        before, slowest, models = peak(), 0.0, 0
        for _ in range(mutants):
            path.write_bytes(mutant(rng, content))
            start = time.process_time()
            try:
                model = load(path, functions=[wild, double])
            except ModelFormatError:
                model = None
            slowest = max(slowest, time.process_time() - start)
            if model is not None:
                models += 1
                with contextlib.suppress(TelltreeError):  # it may ask for columns that these records do not have
                    model.predict(records)
        print(
            f"{golden.stem}: {mutants:,} mutants, {models:,} of them models still; slowest {slowest:.3f} s, "
            f"memory {peak() - before:.0f} MB more"
        )


def main(mutants, seed):
    warnings.simplefilter("ignore")  # models that were changed may warn of categories they do not know
    with tempfile.TemporaryDirectory() as folder:
        large(Path(folder))
        if mutants:
            hostile(Path(folder) / "model.json", mutants, seed)


if __name__ == "__main__":
    main(*map(int, (sys.argv[1:] + ["10000", "0"][len(sys.argv) - 1 :])[:2]))
