"""Is every parameter of an operator a constant, and one that the operator allows?"""

from itertools import product

from telltree.errors import GrammarError
from telltree.grammar.text.draft import Definitions
from telltree.grammar.text.levels import leaves, operators_in, terms_of
from telltree.operators import OPERATORS, Number, Operator, Shape
from telltree.operators.expression import RandomNumber
from telltree.operators.numbers import number_text
from telltree.operators.table import Form


def check_parameters(symbols: Definitions) -> None:
    """GrammarError for what may stand as a parameter, as k in change(x, k), and is none."""
    used = operators_in(symbols)
    for operator in OPERATORS:
        if operator not in used:
            continue
        if operator.form is Form.WINDOW:
            _check_windows(operator, symbols)
        for place, parameter in enumerate(operator.parameters, operator.takes):
            for given in dict.fromkeys(term.args[place] for term in terms_of(operator, symbols)):
                for leaf in leaves(given, symbols):
                    given_as = leaf.head.value if isinstance(leaf.head, Number) else leaf.head
                    if isinstance(given_as, float | Shape) and parameter.allows(given_as):
                        continue
                    raise GrammarError(
                        f"{operator.name} takes its {parameter.called} as {parameter.wanted}, found "
                        f"{_found(given_as)}; write {operator.example}",
                        *leaf.place,
                    )


def _found(given: object) -> str:
    """What was given for a parameter."""
    match given:
        case RandomNumber():
            return "a random one"
        case Shape():
            return given.problem
    return number_text(given) if isinstance(given, float) else "?"


def _check_windows(operator: Operator, symbols: Definitions) -> None:
    """GrammarError for a window that may end before it begins."""
    for term in terms_of(operator, symbols):
        given = [list(leaves(bound, symbols)) for bound in term.args[operator.takes :]]
        numbers = [[leaf.head.value for leaf in some if isinstance(leaf.head, Number)] for some in given]
        extremes = [sorted({min(some), max(some)}) if some else [] for some in numbers]
        for bounds in product(*extremes):  # if any pair of thousands is empty, one of these is
            if operator.is_empty(bounds):
                raise GrammarError(
                    f"{operator.symbol}[{', '.join(map(number_text, bounds))}] looks at no step: the window ends "
                    f"before it begins; write {operator.example}",
                    *term.place,
                )
