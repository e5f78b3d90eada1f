"""Evaluate two-atom formulas in this process alone, and print its peak memory as JSON.

python peak_memory.py RECORDS COLUMNS FORMULAS
"""

import json
import resource
import sys
from pathlib import Path

import numpy as np
from two_atoms import engine_for, setting, two_classes


def peak_bytes() -> int:
    """The most memory this process had. Linux hands ru_maxrss down from the parent, so its own record comes first."""
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def main() -> None:
    records, columns, formulas = map(int, sys.argv[1:])
    where = setting(records, columns, formulas)
    evaluator = engine_for(where)
    evaluator.evaluate(where.population, np.arange(formulas), two_classes(evaluator))
    print(json.dumps({"peak": peak_bytes(), "input": where.cube.nbytes}))


if __name__ == "__main__":
    main()
