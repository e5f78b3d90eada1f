"""Checks that the number of steps of a change is an integer, written as a constant."""

from telltree.errors import GrammarError
from telltree.grammar.text.draft import Definitions
from telltree.grammar.text.levels import leaves, terms_of
from telltree.operators import Number
from telltree.operators.expression import RandomNumber, number_text
from telltree.operators.table import CHANGE


def check_windows(symbols: Definitions) -> None:
    """Raise a GrammarError if k in change(x, k) may be anything but an integer of at least 1."""
    for window in dict.fromkeys(term.args[1] for term in terms_of(CHANGE, symbols)):
        for leaf in leaves(window, symbols):
            if isinstance(leaf.head, Number) and leaf.head.value >= 1 and leaf.head.value.is_integer():
                continue
            random = isinstance(leaf.head, RandomNumber)
            found = "a random one" if random else number_text(leaf.head.value) if isinstance(leaf.head, Number) else "?"
            raise GrammarError(
                f"change takes its steps as a whole number of at least 1, found {found}; write change(x, 5)",
                *leaf.place,
            )
