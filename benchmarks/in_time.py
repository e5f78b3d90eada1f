"""Does a fit end when it should, over many records? A budget of one second, and Ctrl-C at several moments.

    python benchmarks/in_time.py [records of the budget] [records of Ctrl-C]

Told is how much longer a fit took than its budget, and how long it went on after Ctrl-C, by the clock and in processor
time. On a busy machine the clock tells more of others' work than of telltree's, and a fit does less in its second.
Records have 20 columns and 5 steps. The grammar is made beforehand, as its writing counts for no node; so are the
panel, and the compiled kernels.
"""

import os
import signal
import sys
import threading
import time

import numpy as np

from telltree import GrammarTreeClassifier, Panel
from telltree.grammar import Grammar
from telltree.search import GeneticProgramming

COLUMNS, STEPS, SECONDS = 20, 5, 1.0
MOMENTS = (0.2, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds of processor time after which Ctrl-C comes."""


def records(number):
    values = np.random.default_rng(0).normal(size=(number, STEPS, COLUMNS))
    score = values[:, :, 0].max(axis=1) - values[:, :, 1].min(axis=1) + 0.5 * values[:, 0, 2]
    panel = Panel.from_arrays(values, columns=[f"c{i}" for i in range(COLUMNS)], layout="records, steps, columns")
    return panel, np.where(score > np.median(score), "high", "low")


def fit(panel, labels, grammar, **settings):
    model = GrammarTreeClassifier(grammar=grammar, random_state=0, n_jobs=1, **settings)
    began, used = time.monotonic(), time.process_time()
    model.fit(panel, labels)
    return time.monotonic() - began, time.process_time() - used


def budget(number):
    panel, labels = records(number)
    grammar = Grammar.for_panel(panel)
    taken = fit(panel, labels, grammar, max_depth=1, search=GeneticProgramming(evaluations=None, seconds=SECONDS))
    print(
        f"{number:,} records, {SECONDS:g} s for the only node: {taken[0] - SECONDS:.1f} s longer by the clock, "
        f"{taken[1]:.1f} s of processor time in all",
        flush=True,
    )


def interrupted(number):
    panel, labels = records(number)
    grammar = Grammar.for_panel(panel)
    for moment in MOMENTS:
        sent = []
        began = time.process_time()

        def interrupt(until=began + moment, sent=sent):
            while time.process_time() < until:
                time.sleep(0.01)
            sent[:] = time.monotonic(), time.process_time()
            os.kill(os.getpid(), signal.SIGINT)

        threading.Thread(target=interrupt, daemon=True).start()
        fit(panel, labels, grammar, search=GeneticProgramming(evaluations=10_000_000))
        after = time.monotonic() - sent[0], time.process_time() - sent[1]
        print(
            f"{number:,} records, Ctrl-C after {moment:g} s: {after[0]:.1f} s more by the clock, {after[1]:.1f} s in "
            f"processor time",
            flush=True,
        )


def main(of_budget=400_000, of_interrupts=200_000):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job would ignore it
    panel, labels = records(1000)
    fit(panel, labels, Grammar.for_panel(panel), search=GeneticProgramming(evaluations=2000))  # compiles
    budget(of_budget)
    interrupted(of_interrupts)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
