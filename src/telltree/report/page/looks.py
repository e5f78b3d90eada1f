"""What formulas look for step by step, for the page to show where it is so."""

from collections.abc import Iterator
from typing import NamedTuple

from telltree.explain.counts import compares_counts, counted, timeless
from telltree.operators import Expression
from telltree.operators.table import AND, IMPLIES, NOT, OR

_JOINING = {NOT, AND, OR, IMPLIES}
"""What joins whole sentences; operators below these look at steps."""


class Look(NamedTuple):
    """What a formula looks for step by step."""

    what: Expression
    counts: Expression | None = None
    """The comparison that counts it, if it is counted."""


def looked_at(e: Expression) -> Iterator[Look]:
    """What a formula looks for step by step: the operands of F, G and count, wherever they stand in it."""
    if compares_counts(e):
        yield from (Look(operand, e) for operand in counted(e))
    elif e.head in _JOINING or timeless(e):
        for arg in e.args:
            yield from looked_at(arg)
    else:
        yield from (Look(arg) for arg in e.args)
