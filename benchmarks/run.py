"""Measure telltree against its peers and its targets, on one core.

A full run takes half an hour and several GB of memory, and writes results.json and results.md beside this file; a run
with --quick or --only prints its figures and writes nothing.
"""

import argparse
import sys
import time
from collections.abc import Sequence
from datetime import date
from importlib import import_module

from machine import describe, load, take_one_core
from results import FIGURES, PAGE, Results, Row, Section
from source import fingerprint

BENCHMARKS = {
    "search_speed": "Speed of searches: distinct formulas a second at the root of Auslan",
    "evaluation_speed": "Speed of evaluation: formulas of two atoms",
    "windows_speed": "Cost of windows and until",
    "hard2": "What searches find: fitness on hard2, less is better",
    "exhaustive": "All formulas of up to two atoms",
    "optimal_trees": "Optimal trees",
    "auslan_trees": "Trees of Auslan",
    "linear_cost": "Cost of evaluation by number of records",
    "first_fit": "First use",
    "reading": "Reading files",
    "induction_cost": "Cost of induction, O(m N d)",
    "whole_fit": "A whole fit beside its kernels",
    "wide_grammar": "Wide data",
    "plain_speech": "Plain English",
    "judgement": "Default trees: accuracy and size",
    "answers": "Single answers",
}
"""The heading of each benchmark on the page; each is a module with a function `rows`."""


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
    chosen = [name for name in BENCHMARKS if not options.only or name in options.only]
    sections = tuple(Section(BENCHMARKS[name], tuple(_run(name, options.quick))) for name in chosen)
    changed = fingerprint() != source
    if changed:  # what was imported early and what child processes imported late are then not the same
        machine += ", which changed during the run"
    results = Results(f"{date.today():%d %B %Y}", machine, sections)
    print(results.as_json() if options.json else results.page())
    if changed:
        sys.exit("the source of telltree changed during the run, so that its figures belong to no version: run again")
    if not options.only and not options.quick:
        FIGURES.write_text(results.as_json(), encoding="utf-8")
        PAGE.write_text(results.page(), encoding="utf-8")


def _run(name: str, quick: bool) -> list[Row]:
    """One benchmark; its rows go to stderr at once, so that a later failure does not lose them."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    begun = time.perf_counter()
    # Imported only now: NumPy and Numba read the number of threads when they are loaded.
    rows: list[Row] = import_module(name).rows(quick)
    for row in rows:
        print("  " + " | ".join(row.cells()), file=sys.stderr)
    print(f"{name}: {time.perf_counter() - begun:.0f} s", file=sys.stderr, flush=True)
    return rows


if __name__ == "__main__":
    main()
