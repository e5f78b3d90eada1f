"""What it takes to write the generic grammar of a panel with very many columns."""

import numpy as np
from results import Row
from timing import in_turn, seconds

from telltree import Grammar, Panel

MOST = 1.0


def rows(quick: bool) -> list[Row]:
    columns, repeats = (200, 1) if quick else (2_000, 3)
    cube = np.random.default_rng(0).standard_normal((100, 20, columns))
    panel = Panel.from_arrays(cube, layout="records, steps, columns")
    (best,) = in_turn(repeats, [lambda _: seconds(lambda: Grammar.generic(panel))])
    rules = len(Grammar.generic(panel).rules)
    return [
        Row(
            f"the generic grammar of {columns:,} columns",
            f"≤ {MOST:g} s",
            f"{best:.2f} s",
            f"Grammar.generic on 100 records × 20 steps, {rules:,} rules, best of {repeats}",
            met=best <= MOST,
        )
    ]
