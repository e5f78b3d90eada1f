"""Trimming: drops the parts of a chosen formula that decide nothing for the records at hand.

A search keeps what does no harm, such as `F(a ∧ b)` where b holds whenever a does. A reader must take in b, and
believes that it matters.
"""

from collections.abc import Callable, Iterator

import numpy as np

from telltree.logic.asked import OfFormulas
from telltree.operators import Expression
from telltree.operators.table import AND, IMPLIES, NOT, OR


def trimmed(formula: Expression, formulas: OfFormulas, late: Callable[[], bool] = bool) -> Expression:
    """The formula without parts whose removal changes no answer for the records that `formulas` evaluates on.

    Of several parts that could be dropped, the longest goes first. A formula with English of its own from a grammar is
    not changed: the English may mention every part. When it is `late`, the rest stays.
    """
    if any(e.english is not None for e in formula.walk()):
        return formula
    while not late() and (shorter := list(dict.fromkeys(_shorter(formula)))):
        truth = formulas.truth([formula, *shorter])
        alike = [e for e, answers in zip(shorter, truth[1:], strict=True) if np.array_equal(answers, truth[0])]
        if not alike:
            break
        formula = min(alike, key=lambda e: (e.terminals, str(e)))
    return formula


def _shorter(e: Expression) -> Iterator[Expression]:
    """The expression with one connective replaced by one of its sides."""
    if e.head is AND or e.head is OR:
        yield from e.args
    elif e.head is IMPLIES:
        yield e.args[1]
        yield Expression(NOT, (e.args[0],))
    elif e.head is NOT and e.args[0].head is NOT:
        yield e.args[0].args[0]
    for place, arg in enumerate(e.args):
        for other in _shorter(arg):
            yield Expression(e.head, (*e.args[:place], other, *e.args[place + 1 :]))
