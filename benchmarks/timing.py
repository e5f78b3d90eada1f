"""Best times of several jobs, taken in turn so that all of them see the same machine; of the processor, so that others
who use it meanwhile are not counted in."""

import time
from collections.abc import Callable, Sequence


def in_turn(repeats: int, jobs: Sequence[Callable[[int], float]]) -> list[float]:
    """Run all jobs, `repeats` times over, each with the number of the repeat; the least that each returned."""
    costs = [[job(repeat) for job in jobs] for repeat in range(repeats)]
    return [min(cost) for cost in zip(*costs, strict=True)]


def seconds(work: Callable[[], object]) -> float:
    """How long the processor works at one call."""
    begun = time.process_time()
    work()
    return time.process_time() - begun
