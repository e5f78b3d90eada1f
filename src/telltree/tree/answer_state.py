"""What came of a node, as plain arrays, and back."""

import numpy as np

from telltree.errors import CheckpointError, GrammarError
from telltree.grammar.derivations.flat import flat
from telltree.grammar.derivations.population import Population
from telltree.logic import Formula
from telltree.search.found_state import found_of, found_state
from telltree.search.state import Given, State, together
from telltree.tree.asking import Answer, Asking, Question, Task
from telltree.tree.tree import Leaf


def answer_state(answer: Answer, task: Task) -> State:
    """The answer of a node that was searched; its leaf follows from its records."""
    assert answer.search is not None
    state = together(search=found_state(answer.search))
    asked = answer.question
    if asked is None:
        return state
    formula, found = asked.formula.expression, asked.found.expression
    text = "" if formula == found else str(formula)  # what a grammar gave words of its own stays as it was found
    return state | {
        "formula": np.frombuffer(text.encode(), np.uint8),
        "true": np.isin(task.members, asked.true).astype(np.uint8),
        "figures": np.array([asked.fitness, asked.gain, asked.margin]),
        **together(found=flat(Population.of([asked.found], asked.found.grammar.has_random_constants))),
    }


def answer_of(state: State, task: Task, asking: Asking) -> Answer:
    """The answer of a node; CheckpointError if the state cannot be one of it."""
    given = Given(state, asking.grammar, asking.search.max_depth)
    leaf, found = Leaf(asking.labels[task.members].summary()), found_of(given.part("search"))
    if "formula" not in state:
        return Answer(leaf, found)
    true, rows = given.array("true", np.uint8, len(task.members)) != 0, given.rows("found")
    if found.best is None or len(rows.lengths) != 1 or true.all() or not true.any():
        raise CheckpointError("a question does not split the records of its node")
    derivation = rows.derivation(0, asking.grammar)
    formula = _formula(given, asking) or Formula(derivation.expression)
    figures = given.array("figures", np.float64, 3).tolist()
    return Answer(leaf, found, Question(formula, derivation, task.members[true], task.members[~true], *figures))


def _formula(given: Given, asking: Asking) -> Formula | None:
    """The formula, if it is another one than was found."""
    try:
        text = given.array("formula", np.uint8, None).tobytes().decode()
        return Formula.parse(text, asking.grammar.schema, functions=asking.grammar.functions) if text else None
    except (UnicodeDecodeError, GrammarError) as error:
        raise CheckpointError(f"a formula cannot be read: {error}") from None
