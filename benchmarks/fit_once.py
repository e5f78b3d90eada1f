"""Fit and predict once in this process, and print as JSON how long it took, and how much of that was compiling."""

import json
import time
from typing import Any

from auslan import load
from numba.core import event


class Compiling(event.Listener):
    """Adds up the time of compilations; one inside another is part of it."""

    def __init__(self) -> None:
        self.kernels, self.seconds, self._open, self._begun = 0, 0.0, 0, 0.0

    def on_start(self, event: Any) -> None:
        if self._open == 0:
            self._begun = time.perf_counter()
        self._open += 1

    def on_end(self, event: Any) -> None:
        self._open -= 1
        if self._open == 0:
            self.kernels += 1
            self.seconds += time.perf_counter() - self._begun


def main() -> None:
    data = load()
    compiling = Compiling()
    event.register("numba:compile", compiling)  # type: ignore[no-untyped-call]
    begun = time.perf_counter()
    from telltree import GrammarTreeClassifier, Panel

    imported = time.perf_counter()
    panel = Panel.from_arrays(data.records, columns=data.columns)
    GrammarTreeClassifier(random_state=0).fit(panel, data.labels).predict(panel)
    done = time.perf_counter()
    figures = {"imports": imported - begun, "fit": done - imported}
    print(json.dumps(figures | {"compiling": compiling.seconds, "kernels": compiling.kernels}))


if __name__ == "__main__":
    main()
