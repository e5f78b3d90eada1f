"""Ten thousand mutants of each golden model file: only telltree's own errors, how long the slowest took, and how much
memory. Not part of `make bench`: it proves more than it measures.

    python benchmarks/hostile_models.py [mutants] [seed]
"""

import contextlib
import random
import resource
import sys
import tempfile
import time
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))  # the mutations are those of the tests

from model_mutants import mutant  # noqa: E402 - found on the path that was just added
from test_model_golden import GOLDEN, double, panel, wild  # noqa: E402

from telltree import ModelFormatError, TelltreeError  # noqa: E402
from telltree.estimators import load  # noqa: E402


def peak():
    """The most memory this process has held, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main(mutants, seed):
    rng, records = random.Random(seed), panel()
    warnings.simplefilter("ignore")  # models that were changed may warn of categories they do not know
    path = Path(tempfile.mkdtemp()) / "model.json"
    for golden in sorted(GOLDEN.glob("*.json")):
        content = golden.read_bytes()
        load(golden, functions=[wild, double])  # what is loaded once does not count
        before, slowest, models = peak(), 0.0, 0
        for _ in range(mutants):
            path.write_bytes(mutant(rng, content))
            start = time.perf_counter()
            try:
                model = load(path, functions=[wild, double])
            except ModelFormatError:
                model = None
            slowest = max(slowest, time.perf_counter() - start)
            if model is not None:
                models += 1
                with contextlib.suppress(TelltreeError):  # it may ask for columns that these records do not have
                    model.predict(records)
        print(
            f"{golden.stem}: {mutants:,} mutants, {models:,} of them models still; slowest {slowest:.3f} s, "
            f"memory {peak() - before:.0f} MB more"
        )


if __name__ == "__main__":
    main(*map(int, (sys.argv[1:] + ["10000", "0"][len(sys.argv) - 1 :])[:2]))
