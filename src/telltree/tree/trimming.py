"""Trimming: parts of a chosen formula that decide nothing for the records at hand are dropped.

A search keeps what does no harm: `F(a ∧ b)` where b holds whenever a does. Who reads the formula must take in b, and
believes that it matters.
"""

from collections.abc import Callable, Iterator

import numpy as np

from telltree.logic.shards import OfFormulas
from telltree.operators import Expression
from telltree.operators.table import AND, IMPLIES, NOT, OR


def trimmed(formula: Expression, formulas: OfFormulas, late: Callable[[], bool] = bool) -> Expression:
    """The formula without parts whose removal changes no answer for the records that `formulas` evaluates on.

    Of several parts that could go, the longest goes first. A formula to which a grammar gave English of its own stays
    as it is: the English may speak of every part. When it is `late`, what is left stays.
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
