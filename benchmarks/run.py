"""Measure telltree against its peers and its targets, on one core.

A full run takes half an hour and several GB of memory, and writes results.md beside this file; a run with --quick
or --only prints its figures and writes nothing.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path

from machine import describe, load, take_one_core
from results import Row, as_json, page
from source import fingerprint

BENCHMARKS = (
    "search_speed",
    "evaluation_speed",
    "windows_speed",
    "hard2",
    "exhaustive",
    "optimal_trees",
    "auslan_estimators",
    "linear_cost",
    "first_fit",
    "reading",
    "induction_cost",
    "whole_fit",
    "wide_grammar",
    "plain_speech",
    "judgement",
    "answers",
)  # each is a module with a function `rows`
RESULTS = Path(__file__).with_name("results.md")


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", choices=BENCHMARKS, metavar="NAME",
                        help=f"run this one only; may be given again; one of {', '.join(BENCHMARKS)}")  # fmt: skip
    parser.add_argument("--quick", action="store_true", help="small sizes and few repeats: does it run at all?")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args(arguments)
    busy, source = load(), fingerprint()
    machine = f"{describe(take_one_core(), busy)}; source {source}"
    if options.quick:
        machine += "; a quick run, too small to judge by"
    rows: list[Row] = []
    for name in BENCHMARKS:
        if not options.only or name in options.only:
            rows += _run(name, options.quick)
    changed = fingerprint() != source
    if changed:  # what was imported early and what child processes imported late are then not the same
        machine += ", which changed during the run"
    print(as_json(rows, machine) if options.json else page(rows, machine))
    if changed:
        sys.exit("the source of telltree changed during the run, so that its figures belong to no version: run again")
    if not options.only and not options.quick:
        RESULTS.write_text(page(rows, machine), encoding="utf-8")


def _run(name: str, quick: bool) -> list[Row]:
    """One benchmark; its rows go to stderr at once, so that a later failure does not lose them."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    begun = time.perf_counter()
    # Imported only now: NumPy and Numba read the number of threads when they are loaded.
    rows: list[Row] = import_module(name).rows(quick)
    for row in rows:
        print("  " + " | ".join(row.cells()[:6]), file=sys.stderr)
    print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    main()
