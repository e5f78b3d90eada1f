"""What a whole fit costs beside the work that cannot be spared: drawing, breeding, compiling and evaluating formulas.

All the rest is on top of that: making bitsets, choosing, centring, wording.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
from results import Row
from whole_fits import CASES, Case

from telltree.engine import evaluator
from telltree.search import genetic_programming

MOST = 1.5
KERNELS = (
    (genetic_programming, "draw"),
    (genetic_programming, "breed"),
    (evaluator, "compile_formulas"),
    (evaluator, "evaluate"),
)


class Watch:
    """Adds up the processor's time in the kernels."""

    def __init__(self) -> None:
        self.seconds = 0.0

    @contextmanager
    def on(self) -> Iterator[None]:
        """While this lasts, every call of a kernel is timed."""
        with ExitStack() as patches:
            for module, name in KERNELS:
                patches.enter_context(patch.object(module, name, self._timed(getattr(module, name))))
            yield

    def _timed(self, kernel: Callable[..., Any]) -> Callable[..., Any]:
        def call(*args: Any) -> Any:
            begun = time.process_time()
            found = kernel(*args)
            self.seconds += time.process_time() - begun
            return found

        return call


def rows(quick: bool) -> list[Row]:
    cases = (make(10 if quick else 1) for make in CASES.values())
    return [_row(case, 1 if quick else 3) for case in cases if case is not None]


def _row(case: Case, repeats: int) -> Row:
    case.fit(records=200, seed=1)  # compiles
    best, working = np.inf, 0.0
    for _ in range(repeats):
        watch = Watch()
        begun = time.process_time()
        with watch.on():
            model = case.fit()
        if time.process_time() - begun < best:
            best, working = time.process_time() - begun, watch.seconds
    return Row(
        case.name, f"≤ {MOST} ×",
        f"{best:.2f} s, {len(model.tree_.nodes)} questions",
        f"depth {case.depth}, 20,000 evaluations a node, best of {repeats}; processor time; the kernels draw, breed, "
        "compile and evaluate, but make no bitsets", ratio=best / working,
        peer=f"{working:.2f} s in kernels", met=best / working <= MOST,
    )  # fmt: skip
