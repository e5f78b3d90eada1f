"""Do one of the whole fits in this process, and print as JSON how long the processor took, and what tree came of it.

python fit_whole.py CASE FEW
"""

import hashlib
import json
import sys
import time

from machine import take_one_core


def main() -> None:
    name, few = sys.argv[1], int(sys.argv[2])
    take_one_core()
    from whole_fits import CASES  # only now: NumPy and Numba read the number of threads when they are loaded

    case = CASES[name](few)
    if case is None:
        print(json.dumps(None))
        return
    case.fit(records=200, seed=1)  # compiles
    begun = time.process_time()
    model = case.fit()
    taken = time.process_time() - begun
    tree = hashlib.sha256(str(model.tree_).encode()).hexdigest()
    print(json.dumps({"name": case.name, "seconds": taken, "tree": tree}))


if __name__ == "__main__":
    main()
