"""What came of a node, as plain arrays, and back."""

import numpy as np

from telltree.errors import CheckpointError, GrammarError
from telltree.grammar.derivations.flat import flat
from telltree.grammar.derivations.population import Population
from telltree.logic import Formula
from telltree.search.found_state import found_of, found_state
from telltree.search.state import Given, State, together
from telltree.tree.asking import Answer, Asking, Question, Said, Task
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
    return (
        state
        | _said_state(asked)
        | {
            "formula": np.frombuffer(text.encode(), np.uint8),
            "true": np.isin(task.members, asked.true).astype(np.uint8),
            "figures": np.array([asked.fitness, asked.gain, asked.margin]),
            **together(found=flat(Population.of([asked.found], asked.found.grammar.has_random_constants))),
        }
    )


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
    fitness, gain, margin = given.array("figures", np.float64, 3).tolist()
    said = _said(given, state, formula, asking)
    sides = task.members[true], task.members[~true]
    return Answer(leaf, found, Question(formula, derivation, *sides, fitness, gain, margin, said))


def _said_state(asked: Question) -> State:
    """How the question is said, if answers may be unknown."""
    if asked.said is None:
        return {}
    formula, opposite, unknown, goes = asked.said
    text = "" if formula == asked.formula else str(formula)
    return {"said": np.frombuffer(text.encode(), np.uint8), "unknown": np.array([opposite, unknown, goes], np.int64)}


def _said(given: Given, state: State, formula: Formula, asking: Asking) -> Said | None:
    if ("said" in state) != asking.unknown:
        raise CheckpointError("a question does not say what becomes of unknown answers")
    if not asking.unknown:
        return None
    opposite, unknown, goes = given.array("unknown", np.int64, 3).tolist()
    return Said(_formula(given, asking, "said") or formula, bool(opposite), unknown, bool(goes))


def _formula(given: Given, asking: Asking, name: str = "formula") -> Formula | None:
    """The formula, if it is another one than was found."""
    try:
        text = given.array(name, np.uint8, None).tobytes().decode()
        return Formula.parse(text, asking.grammar.schema, functions=asking.grammar.functions) if text else None
    except (UnicodeDecodeError, GrammarError) as error:
        raise CheckpointError(f"a formula cannot be read: {error}") from None
