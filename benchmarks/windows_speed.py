"""What it costs to look at windows, back, or until something: against F(a and b) of the same atoms."""

from collections.abc import Callable, Sequence

import numpy as np
from results import Row
from timing import in_turn, seconds
from two_atoms import draw_formulas, two_classes
from walks import STEPS, random_walks

from telltree import Grammar, Panel
from telltree.engine.population_evaluator import PopulationEvaluator

MOST = 3.0
DEPTH = 4
PLAIN = "F(A and A)"
LOOKING = ("F[0, 9](A and A)", "G[5, 20](A or A)", "F(A and previous(A))", "until(A, A)", "unless(A, A)")
NESTED = (
    "F(A and F[0, 9](A))", "G(A implies F[0, 9](A))", "F(A and once[0, 9](A))", "G(until(A, A))", "F(since(A, A))",
    "F(A and G(A))",
)  # fmt: skip
"""What is asked at every step, of windows and of what there was before."""
GRAMMAR = f"Start ::= {' | '.join((PLAIN, *LOOKING, *NESTED))}\nA ::= each real {{<, >}} grid(10)\n"


def rows(quick: bool) -> list[Row]:
    return _compare(*((2_000, 10, 4_000, 2) if quick else (10_000, 77, 20_000, 5)))


def _compare(records: int, columns: int, formulas: int, repeats: int) -> list[Row]:
    panel = Panel.from_arrays(random_walks(records, columns), layout="records, steps, columns")
    grammar = Grammar.parse(GRAMMAR, panel)
    population = draw_formulas(grammar, formulas, DEPTH)
    evaluator = PopulationEvaluator(panel, grammar.rules, grammar.tables)
    masks, first = two_classes(evaluator), population.rules[:, 0]
    evaluator.evaluate(population, np.arange(formulas), masks)  # makes the bitsets

    def of_kind(kind: int) -> Callable[[int], float]:
        wanted = np.flatnonzero(first == kind)
        return lambda _: seconds(lambda: evaluator.evaluate(population, wanted, masks)) / len(wanted)

    plain, *others = in_turn(repeats, [of_kind(kind) for kind in range(1 + len(LOOKING) + len(NESTED))])
    costs = {text: cost / plain for text, cost in zip((*LOOKING, *NESTED), others, strict=True)}
    where = f"{records:,} records × {STEPS} steps × {columns} attributes"
    how = f"bitsets at hand, {formulas:,} formulas in all, best of {repeats}; F(a and b) {1 / plain:,.0f}/s"
    return [
        Row(
            f"evaluated per record, {where}", f"≤ {MOST:g} × F(a and b)", _worst(costs, LOOKING),
            f"{how}; {_each(costs, LOOKING)}", met=max(costs[text] for text in LOOKING) <= MOST,
        ),
        Row(
            f"evaluated at every step, {where}", f"≤ {MOST:g} × F(a and b)", _worst(costs, NESTED),
            f"{how}; {_each(costs, NESTED)}", met=max(costs[text] for text in NESTED) <= MOST,
        ),
    ]  # fmt: skip


def _worst(costs: dict[str, float], chosen: Sequence[str]) -> str:
    return f"{max(costs[text] for text in chosen):.2g} × at most"


def _each(costs: dict[str, float], chosen: Sequence[str]) -> str:
    return "; ".join(f"{text} {costs[text]:.2g} ×" for text in chosen)
