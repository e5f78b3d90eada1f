"""The program telltree, loaded once and forked for each call: loading it costs more than most calls do.

A call is one line of JSON on standard input, its exit code one line on standard output. Each call is a process of its
own, with its own files for input and output.
"""

import atexit
import json
import os
import sys
import threading
import traceback

import numpy as np

from telltree.cli import main
from telltree.estimators import GrammarTreeClassifier
from telltree.panel import Panel
from telltree.search import GeneticProgramming


def load_kernels():
    """Learn something, so that calls find the kernels for it loaded."""
    records = np.random.default_rng(0).normal(size=(20, 3, 2))
    panel, y = Panel.from_arrays(list(records)), records.max((1, 2)) > 1
    GrammarTreeClassifier(search=GeneticProgramming(evaluations=100), random_state=0).fit(panel, y).predict(panel)


def next_call():
    """Return in each child, with its call; the parent serves until its input ends."""
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if not child:
            return json.loads(line)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return sys.exit()


def put_in_place(call):
    """Set what a new process would find: its words, folder, environment and streams."""
    sys.argv = ["telltree", *call["words"]]
    os.chdir(call["folder"])
    os.environ.clear()
    os.environ.update(call["environment"])
    for number, path in enumerate(call["streams"]):
        os.dup2(os.open(path, os.O_RDWR), number)


def exit_code(program):
    """The code that a program ends with."""
    try:
        program()
    except SystemExit as ended:
        return ended.code or 0  # always a number
    except BaseException:  # noqa: BLE001 - whatever it is, a new process would print it and end with 1
        traceback.print_exc()
        return 1
    return 0


def leave(code):
    """End as Python does, but without taking apart what was loaded: that costs more than most calls do."""
    threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


if __name__ == "__main__":
    load_kernels()
    put_in_place(next_call())
    leave(exit_code(main))
