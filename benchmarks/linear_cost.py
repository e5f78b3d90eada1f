"""How the cost of evaluation grows with the number of records: the slope of time over records, both as logarithms."""

from collections.abc import Callable

import numpy as np
from results import Row
from timing import in_turn, seconds
from two_atoms import DEPTH, GRAMMAR, Setting, draw_formulas, engine_for, two_classes
from walks import STEPS, random_walks

from telltree import Grammar, Panel

LEAST, MOST = 0.9, 1.1
FORMULAS = 5_000
COLUMNS = 10


def rows(quick: bool) -> list[Row]:
    sizes = [1_000, 4_000, 16_000] if quick else [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000]
    repeats = 2 if quick else 5
    cube = random_walks(sizes[-1], COLUMNS)
    panel = Panel.from_arrays(cube, layout="records, steps, columns")
    grammar = Grammar.parse(GRAMMAR, panel)  # one grammar, so that all sizes are asked the same formulas
    population = draw_formulas(grammar, FORMULAS)
    jobs = [_job(Setting(cube, panel[:size], grammar, population)) for size in sizes]
    costs = np.array(in_turn(repeats, jobs))
    slope = float(np.polyfit(np.log(sizes), np.log(costs), 1)[0])
    told = ", ".join(f"{size:,}: {1e6 * cost:.3g} µs" for size, cost in zip(sizes, costs, strict=True))
    return [
        Row(
            f"{sizes[0]:,} to {sizes[-1]:,} records × {STEPS} steps × {COLUMNS} attributes",
            f"linear: slope {LEAST} to {MOST}",
            f"slope {slope:.3f}",
            f"log-log slope of the time a formula, {FORMULAS:,} of depth {DEPTH} a call, best of {repeats}; {told}",
            met=LEAST <= slope <= MOST,
        )
    ]


def _job(where: Setting) -> Callable[[int], float]:
    evaluator, everything = engine_for(where), np.arange(FORMULAS)
    masks = two_classes(evaluator)
    evaluator.evaluate(where.population, everything, masks)  # makes the bitsets
    return lambda _: seconds(lambda: evaluator.evaluate(where.population, everything, masks)) / FORMULAS
