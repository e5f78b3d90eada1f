"""Programs that tests start: nobody waits for them by the clock, and none outlives its test."""

import atexit
import functools
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

PROGRAM = Path(sys.executable).parent / "telltree"


def beside_tests():
    """A PYTHONPATH on which the tests are too."""
    return os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])


@contextmanager
def started(command, **options):
    """A program that is under way, with its output in pipes unless told otherwise; it ends with the block."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen([str(word) for word in command], **(pipes | options)) as process:
        try:
            yield process
        finally:
            process.kill()  # which does nothing to a program that has ended


def telltree(*words, stdin="", cwd=None, env=None):
    """Run `telltree` with these words, and return its output and exit code; `env` adds to its environment.

    The installed program is loaded for a call with an environment of its own, and where there are no forks; tests of
    pipes and signals start it by themselves. All other calls are forked from one that is loaded already.
    """
    words = [str(word) for word in words]
    if env is not None or not hasattr(os, "fork"):
        options = {"input": stdin, "capture_output": True, "text": True, "cwd": cwd, "env": os.environ | (env or {})}
        return subprocess.run([PROGRAM, *words], check=False, **options)
    with tempfile.TemporaryDirectory() as folder:
        given, printed, said = streams = [Path(folder) / name for name in ("in", "out", "err")]
        for path in streams:
            path.write_text(stdin if path is given else "", encoding="utf-8", newline="")
        call = {
            "words": words,
            "folder": str(cwd or Path.cwd()),
            "environment": dict(os.environ),
            "streams": [str(path) for path in streams],
        }
        ready = _ready()
        ready.stdin.write(json.dumps(call) + "\n")
        ready.stdin.flush()
        code = int(ready.stdout.readline())
        return subprocess.CompletedProcess(words, code, *(path.read_text(encoding="utf-8") for path in (printed, said)))


@functools.cache
def _ready():
    """One for all tests of this process, with which it ends."""
    command = [sys.executable, str(Path(__file__).parent / "ready_program.py")]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    atexit.register(process.communicate)  # its input ends, and it with it
    return process
