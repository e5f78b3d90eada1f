"""Is every number of steps that a change is taken over a whole number, written as a constant?"""

from collections.abc import Iterator

from telltree.errors import GrammarError
from telltree.grammar.draft import Definitions, Draft, Term
from telltree.grammar.levels import leaves
from telltree.operators import Number
from telltree.operators.expression import RandomNumber, number_text
from telltree.operators.table import CHANGE


def check_windows(symbols: Definitions) -> None:
    """GrammarError for what may stand as k in change(x, k) and is no whole number from 1 upwards."""
    for window in dict.fromkeys(w for options in symbols.values() for o in options for w in _windows(o.body)):
        for leaf in leaves(window, symbols):
            if isinstance(leaf.head, Number) and leaf.head.value >= 1 and leaf.head.value.is_integer():
                continue
            random = isinstance(leaf.head, RandomNumber)
            found = "a random one" if random else number_text(leaf.head.value) if isinstance(leaf.head, Number) else "?"
            raise GrammarError(
                f"change takes its steps as a whole number of at least 1, found {found}; write change(x, 5)",
                *leaf.place,
            )


def _windows(body: Draft) -> Iterator[Term]:
    assert isinstance(body, Term)
    if body.head is CHANGE:
        window = body.args[1]
        assert isinstance(window, Term)
        yield window
    for arg in body.args:
        yield from _windows(arg)
