"""Compiling: announced, kept for later runs, and possible where nothing can be kept. What is compiled is safe."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from telltree import compiled

PROGRAM = """
import gc
import numpy as np
from telltree import Formula, Panel

panel = Panel.from_arrays([np.array([[1.0], [2.0]])], columns=["x"])
print(Formula.parse("F(x > 1.5)", panel.schema)(panel), gc.isenabled())
"""


def run(cache):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["[", "True]", "True"]
    return done.stderr


def test_compiling_is_announced_once_and_later_runs_are_silent(tmp_path):
    assert run(tmp_path).count("compiling its kernels") == 1
    assert run(tmp_path) == ""


def test_it_works_where_no_cache_can_be_written(monkeypatch):
    compile_function = compiled.numba.njit

    def refusing(*args, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return compile_function(*args, **options)

    monkeypatch.setattr(compiled.numba, "njit", refusing)
    assert compiled.kernel(lambda x: x + 1)(2) == 3


@pytest.mark.parametrize(
    "files",
    [("search_contract", "search_draws"), ("logic_meaning", "logic_functions", "logic_layout", "tree_induction")],
)
def test_kernels_stay_inside_their_arrays(files, tmp_path):
    """Compiled code does not look where it reads and writes, unless it is told to: then the same tests must pass."""
    here = Path(__file__).parent
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1", "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist"]
    command += [str(here / f"test_{name}.py") for name in files]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3_000:]
