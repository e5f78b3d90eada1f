"""Is every parameter of an operator a constant, and one that the operator allows?"""

from telltree.errors import GrammarError
from telltree.grammar.text.draft import Definitions
from telltree.grammar.text.levels import leaves, terms_of
from telltree.operators import OPERATORS, Number
from telltree.operators.expression import RandomNumber
from telltree.operators.numbers import number_text


def check_parameters(symbols: Definitions) -> None:
    """GrammarError for what may stand as a parameter, as k in change(x, k), and is none."""
    for operator in OPERATORS:
        for place, parameter in enumerate(operator.parameters, operator.takes):
            for given in dict.fromkeys(term.args[place] for term in terms_of(operator, symbols)):
                for leaf in leaves(given, symbols):
                    if isinstance(leaf.head, Number) and parameter.allows(leaf.head.value):
                        continue
                    random = isinstance(leaf.head, RandomNumber)
                    number = number_text(leaf.head.value) if isinstance(leaf.head, Number) else "?"
                    raise GrammarError(
                        f"{operator.name} takes its {parameter.called} as {parameter.wanted}, found "
                        f"{'a random one' if random else number}; write {operator.example}",
                        *leaf.place,
                    )
