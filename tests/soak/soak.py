"""Attack telltree with random cases for a given time: `make soak SECONDS=3600`.

    python -m tests.soak.soak --seconds 300              new cases every time
    python -m tests.soak.soak --seed 17 --cases 100      the same cases every time
    python -m tests.soak.soak --only learning --seed 42 --cases 1     one case again

A fault is written to the folder of faults with its seed, and the content that led to it if that is a file. The exit
code is 1 if there was one, or if memory grew. The file `under-way` there names the case that a crash or a hang was in.
"""

import argparse
import faulthandler
import shutil
import statistics
import sys
import tempfile
import time
import traceback
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

from tests.soak.attacks import ATTACKS, Damaged, attack

NAMES = [function.__name__ for function in ATTACKS]
HANG = 600  # seconds; no case takes a hundredth of it
TOLD_EVERY = 15.0
ENOUGH = 500
"""Cases before memory is looked at: kernels compile, and caches fill, at the start."""
MOST_GROWTH = 64  # MB


@dataclass
class Soak:
    """The results of a run."""

    faults: Path
    cases: Counter = field(default_factory=Counter)
    failed: Counter = field(default_factory=Counter)
    took: dict = field(default_factory=dict)
    slowest: dict = field(default_factory=dict)
    memory: list = field(default_factory=list)

    def case(self, name, seed, folder):
        """Run one case, and write down what is wrong with it."""
        (self.faults / "under-way").write_text(f"--only {name} --seed {seed} --cases 1\n", encoding="utf-8")
        faulthandler.dump_traceback_later(HANG, exit=True, file=sys.__stderr__)
        began = time.monotonic()
        try:
            attack(name, seed, folder)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a fault, and the next case must have its turn
            self.failed[name] += 1
            self._write(name, seed, error)
        faulthandler.cancel_dump_traceback_later()
        seconds = time.monotonic() - began
        self.cases[name] += 1
        self.took[name] = self.took.get(name, 0.0) + seconds
        self.slowest[name] = max(self.slowest.get(name, (0.0, 0)), (seconds, seed))
        self.memory.append(resident())

    def _write(self, name, seed, error):
        place = self.faults / f"{name}-{seed}"
        how = f"python -m tests.soak.soak --only {name} --seed {seed} --cases 1"
        text = "".join(traceback.format_exception(error))
        place.with_suffix(".txt").write_text(f"{how}\n\n{text}", encoding="utf-8", errors="backslashreplace")
        if isinstance(error, Damaged):
            place.with_suffix(f".{error.kind}").write_bytes(error.content)
        print(f"FAULT {how}\n      {text.splitlines()[-1][:300]}", flush=True)

    def growth(self):
        """By how many MB memory grew from the second fifth of the cases to the last; None if they were too few."""
        if len(self.memory) < ENOUGH:
            return None
        fifth = len(self.memory) // 5
        return statistics.median(self.memory[-fifth:]) - statistics.median(self.memory[fifth : 2 * fifth])

    def summary(self):
        """A table of what was done."""
        yield f"{'attack':12}{'cases':>8}{'faults':>8}{'mean ms':>10}{'slowest s':>11}  of seed"
        for name, number in sorted(self.cases.items()):
            seconds, seed = self.slowest[name]
            mean = 1000 * self.took[name] / number
            yield f"{name:12}{number:8,}{self.failed[name]:8}{mean:10.1f}{seconds:11.1f}  {seed}"
        growth = self.growth()
        told = "too few cases to judge memory by" if growth is None else f"memory grew by {growth:.0f} MB"
        span = f"{self.memory[0]:.0f} MB after the first case, {self.memory[-1]:.0f} MB after the last"
        yield f"{self.cases.total():,} cases, {self.failed.total()} faults; {told}: {span}"

    def is_fine(self):
        """Return True if nothing was wrong."""
        return not self.failed.total() and (self.growth() or 0) <= MOST_GROWTH


def resident():
    """The memory that the process has, in MB."""
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:  # not Linux: the most that it ever had, which must not grow either
        import resource

        kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return kilobytes / (1 << 20 if sys.platform == "darwin" else 1 << 10)
    return pages * 4096 / (1 << 20)


def soak(seed, *, seconds=None, cases=None, only=None, faults):
    """Run cases from a seed on, until the time is up or there were enough; the attacks take turns."""
    faults.mkdir(parents=True, exist_ok=True)
    run, names = Soak(faults), [only] if only else NAMES
    began = told = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        while cases is None or run.cases.total() < cases:
            now = time.monotonic()
            if seconds is not None and now - began >= seconds:
                break
            if now - told >= TOLD_EVERY:
                told = now
                found = f"{run.cases.total():,} cases, {run.failed.total()} faults, {run.memory[-1]:.0f} MB"
                print(f"{now - began:6.0f} s: {found}", flush=True)
            run.case(names[seed % len(names)], seed, Path(folder))
            seed += 1
    (faults / "under-way").unlink()
    if not any(faults.iterdir()):
        shutil.rmtree(faults)
    return run


def main(words=None):
    """Read the options, run, and tell."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, help="how long; by default 300, or as long as the cases take")
    parser.add_argument("--cases", type=int, help="how many cases at most")
    parser.add_argument("--seed", type=int, help="of the first case; by default the clock gives it")
    parser.add_argument("--only", choices=NAMES, help="one attack alone")
    parser.add_argument("--faults", type=Path, default=Path("soak-faults"), help="where faults are written")
    asked = parser.parse_args(words)
    seed = int(time.time()) * 1000 if asked.seed is None else asked.seed
    seconds = 300.0 if asked.seconds is None and asked.cases is None else asked.seconds
    print(f"soaking from --seed {seed}", flush=True)
    run = soak(seed, seconds=seconds, cases=asked.cases, only=asked.only, faults=asked.faults)
    print(*run.summary(), sep="\n")
    return 0 if run.is_fine() else 1


if __name__ == "__main__":
    sys.exit(main())
