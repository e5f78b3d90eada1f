"""Windows, what was before, and until: what they mean, in steps and in seconds, and what they are for."""

import random
from pathlib import Path

import numpy as np
import pytest

from tests.support import oracle
from tests.support.class_trees import class_leaf, class_tree
from tests.support.effort import few_fast
from tests.support.operator_checks import COLUMNS
from tests.support.strategies import derived, draw_case

from telltree import Formula, Grammar, GrammarTreeClassifier, Panel, ask, user_function
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.errors import DataError, GrammarError, SpeechError
from telltree.explain import Robustness, decisive_steps, english
from telltree.grammar.tables import Tables
from telltree.logic import OPERATORS
from telltree.logic.operators import Form
from telltree.search import MonteCarlo
from telltree.tree import Node

A, B = ("x", "on"), (">", ("x", "speed"), ("number", 0.7))


def number(value):
    return ("number", float(value))


def bounds(rng, most):
    return sorted(rng.choice((0, 1, 2, 3, rng.randint(0, most), most + 5)) for _ in range(2))


def draw(rng, most):
    """A formula with one of what looks along time, asked of the record or at every step."""
    low, high = map(number, bounds(rng, most))
    inner = rng.choice(
        [
            *(("F[]", B, low, high), ("G[]", B, low, high), ("once[]", B, low, high), ("historically[]", B, low, high)),
            *(("next", A), ("previous", A), ("once", A), ("historically", A), ("until", A, B), ("unless", A, B)),
            *(
                ("rise", A),
                ("fall", B),
                ("before", A, B),
                ("before[]", A, B, low, high),
                ("rise", ("F[]", A, low, high)),
            ),
            *(("<", ("episodes", A), number(3)), (">", ("longest", A), ("count", B)), ("=", ("longest", B), number(2))),
            *(("since", A, B), ("until", ("not", A), ("next", B)), ("since", ("F[]", A, low, high), ("not", B))),
        ]
    )
    of_record = ("F[]", "G[]", "next", "until", "unless", "before", "before[]", "<", ">", "=")
    whole = inner if inner[0] in of_record and rng.random() < 0.4 else None
    inner = ("not", inner) if rng.random() < 0.3 else inner
    if rng.random() < 0.3:
        return whole or (rng.choice("FG"), inner)
    return whole or (rng.choice("FG"), (rng.choice(("and", "or", "implies")), rng.choice((A, ("not", B))), inner))


def settle(rng, case):
    """Let most records have the same value at all steps, so that much is known of them without looking along time."""
    for record in case.records:
        for values in record.values():
            if rng.random() < 0.9:
                values[:] = [values[0]] * len(values)


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("seed", few_fast(range(4)))
def test_blocks_of_ragged_records_agree_with_the_oracle(seed, settled):
    """Several blocks to a tile, of unequal lengths: nothing looks beyond the end of its record, or into another's."""
    rng = random.Random(seed)
    case = draw_case(
        rng, COLUMNS, [rng.choice((1, 2, 3, 5, rng.randint(1, 40))) for _ in range(rng.choice((3, 200, 450)))]
    )
    if settled:
        settle(rng, case)
    plain = [draw(rng, 12) for _ in range(25)]
    formulas = [Formula.parse(oracle.text(one, rng), case.panel.schema) for one in plain]
    rules, symbols, population = derived(rng, [formula.expression for formula in formulas])
    found = PopulationEvaluator(case.panel, rules, Tables.of(rules, symbols)).truth(population)
    for one, formula, truths in zip(plain, formulas, found, strict=True):
        assert truths.tolist() == [oracle.truth(one, record, {}) for record in case.records], str(formula)
    for one, formula in list(zip(plain, formulas, strict=True))[:5]:
        steps = [oracle.over_time(one, record, {}) for record in case.records[:40]]
        assert [held.tolist() for held in formula.over_time(case.panel[list(range(len(steps)))])] == steps, str(formula)


PULSES = [[0, 1, 0, 0, 0, 1], [0, 0, 1, 1, 0, 0], [1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]]


def pulses(**timed):
    records = [np.array([[float(x), i / 10] for i, x in enumerate(record)]) for record in PULSES]
    return Panel.from_arrays(records, columns=["x", "level"], **timed)


@pytest.mark.parametrize(
    ("text", "truths"),
    [
        ("F[0, 1](x = 1)", [True, False, True, False]),
        ("F[5, 9](x = 1)", [True, False, False, False]),
        ("G[6, 9](x = 1)", [True, True, True, True]),  # beyond the end nothing breaks it
        ("F(G[0, 1](x = 1))", [True, True, False, False]),  # the last step has none to come
        ("F(x = 1 and F[1, 4](x = 1))", [True, True, False, False]),
        ("F(left() < 1 and x = 1)", [True, False, False, False]),
        ("F(left() > 3 and x = 1)", [True, False, True, False]),
        ("F(x = 1 and previous(x = 1))", [False, True, False, False]),
        ("F(x = 1 and not previous(x = 0))", [False, True, True, False]),  # before the first step there is nothing
        ("next(x = 1)", [True, False, False, False]),
        ("F(level = 0.5 and once(x = 1))", [True, True, True, False]),
        ("F(level = 0.5 and once[0, 2](x = 1))", [True, True, False, False]),
        ("F(level = 0.4 and historically(x = 0))", [False, False, False, True]),
        ("until(x = 0, x = 1)", [True, True, True, False]),
        ("unless(x = 0, x = 1)", [True, True, True, True]),
        ("F(level > 0.2 and rise(x = 1))", [True, False, False, False]),
        ("F(rise(x = 1))", [True, True, False, False]),  # what holds from the start does not begin
        ("F(level = 0.4 and fall(x = 1))", [False, True, False, False]),
        ("before(x = 1, x = 0 and level = 0.1)", [False, False, True, False]),
        ("before(x = 1, x = 1)", [True, True, False, False]),  # not by the same step
        ("before[0, 0](x = 1, level < 0.1)", [False, False, True, False]),
        ("before[1, 2](x = 1, x = 1)", [False, True, False, False]),
        ("before[2, 4](x = 1, x = 1)", [True, False, False, False]),
        ("episodes(x = 1) = 2", [True, False, False, False]),
        ("episodes(x = 1) = 1", [False, True, True, False]),  # one that lasts from the start is one, too
        ("longest(x = 1) = 2", [False, True, False, False]),
        ("longest(x = 0) > 3", [False, False, True, True]),
        ("longest(left() < 3 and x = 0) >= 3", [False, False, True, True]),
        ("F(level = 0.5 and since(x = 0, x = 1))", [True, True, True, False]),
        ("F(level = 0.5 and since(level > 0.3, x = 1))", [True, True, False, False]),
    ],
)
def test_what_they_mean(text, truths):
    panel = pulses()
    assert Formula.parse(text, panel.schema)(panel).tolist() == truths


def test_a_window_may_be_written_in_seconds():
    panel = pulses(period=0.5, time_unit="s")
    asked = Formula.parse("F(x = 1 and F[500 ms, 2 s](x = 1))", panel.schema, step=panel.step)
    assert str(asked) == "F((x = 1) ∧ F[1, 4](x = 1))"
    assert english(asked.expression, panel.schema, (), step=panel.step) == (
        "at some point x is exactly 1, and some time 0.5 to 2 s later x is exactly 1"
    )
    assert str(Grammar.parse("Start ::= F[0 s, [1 s, 2 s]](change(x, 1 s) > 0)", panel)) == (
        "Start ::= F[0, [2, 4]](change(x, 2) > 0)\n"
    )
    assert ask(panel, "F[0 s, 1 s](x = 1)").positions.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("text", "timed", "message"),
    [
        (
            "F[0, 2 s](x > 0)",
            {},
            "2 s is an amount of time, but these records have steps without a length; give a panel",
        ),
        ("F[0, 2 s](x > 0)", {"period": 1.0}, "steps without a length"),
        ("F[0, 0.7 s](x > 0)", {"period": 0.5, "time_unit": "s"}, "0.7 s is 1.4 steps of 0.5 s, and no whole number"),
        ("F[0, 2 m](x > 0)", {"period": 0.5, "time_unit": "s"}, "2 m cannot be turned into 's', the unit of these"),
        ("F(x > 2 s)", {"period": 0.5, "time_unit": "s"}, "2 s is an amount of time, which only says how many steps"),
        ("F[3, 2](x > 0)", {}, r"F\[3, 2\] looks at no step: the window ends before it begins; write F\[0, 5\]\(x\)"),
        ("F[1](x > 0)", {}, r"F\[\] takes 3 operands, found 2"),
        ("F[0, 1.5](x > 0)", {}, r"F\[\] takes its last step as a whole number of at least 0, found 1.5"),
        ("count[0, 5](x > 0) > 1", {}, r"count takes no window in brackets; what does is written F\[0, 5\]\(x\), "),
    ],
)
def test_a_window_that_cannot_be_is_refused(text, timed, message):
    panel = pulses(**timed)
    with pytest.raises(GrammarError, match=message):
        Formula.parse(text, panel.schema, step=panel.step)


def test_english_that_says_a_window_backwards_is_refused():
    for said in (
        "sometime 3 to 2 steps after the start, x is above 1",
        "some time 3 steps to 2 steps later x is above 1",
    ):
        with pytest.raises(SpeechError, match="a window that does not end before it begins"):
            Formula.from_english(said, pulses().schema)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("some time 3 to 6 x is above 1", "expected a whole number of steps"),
        ("some time 1.5 to 6 steps later x is above 1", "expected a whole number of steps"),
        ("some time 3 to 6 steps x is above 1", "expected 'earlier' or 'later'"),
        (
            "at some point x is above 1 while some time 3 to 6 steps after the start x is above 2",
            "'earlier' or 'later'",
        ),
        ("at some point x is above 1 while first x is above 1 and later x is above 2", "what a column is called"),
        ("from the start until the first step at which x is above 1 x is above 2", "or ', and there is one ,'"),
    ],
)
def test_english_that_says_no_window_is_refused(said, message):
    with pytest.raises(SpeechError, match=message):
        Formula.from_english(said, pulses().schema)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("F(left() <= 2 and x > 0)", "in the last 2 s, at some point x is above 0"),
        ("G(left() > 2 or x > 0)", "in the last 2 s, x is always above 0"),
        (
            "F(x > 0 and F[0, 5](level > 3))",
            "at some point x is above 0, and at that step or up to 5 s later level is above 3",
        ),
        (
            "G(x > 0 implies once[0, 5](level > 3))",
            "whenever x is above 0, at that step or up to 5 s earlier level is above 3",
        ),
        ("F[0, 5](x > 0)", "at the first step or up to 5 s later x is above 0"),
        ("F[3, 6](x > 0)", "sometime 3 to 6 s after the start, x is above 0"),
        ("F[3, 3](x > 0)", "at the step 3 s after the start, x is above 0"),
        ("G[3, 6](x > 0)", "at all steps 3 to 6 s after the start, x is above 0"),
        ("not F[0, 5](x > 0)", "at the first step and every one up to 5 s later x is at most 0"),
        (
            "F(x > 0 and G[3, 6](level > 3))",
            "at some point x is above 0, and at every step 3 to 6 s later level is above 3",
        ),
        ("next(x > 0)", "at the second step x is above 0"),
        ("G(x > 0 implies next(level > 3))", "whenever x is above 0, at the next step level is above 3"),
        (
            "until(x > 0, level > 3)",
            "from the start until the first step at which level is above 3, and there is one, x is above 0",
        ),
        (
            "unless(x > 0, level > 3)",
            "from the start until the first step at which level is above 3, or to "
            "the end if there is none, x is above 0",
        ),
        (
            "until(x > 0 and level > 0, x > 3 or level > 3)",
            "from the start until the first step at which either x or level is above 3, and there "
            "is one, both x and level are above 0",
        ),
        (
            "until(x > 0, elapsed() > 3)",
            "from the start until the first step at which more than 3 s have passed, and there is one, x is above 0",
        ),
        (
            "F(x > 0 and since(x < 3, level > 3))",
            "at some point x is above 0, and ever since the last step so far at which level is above 3, and "
            "there is one, x is below 3",
        ),
        ("F(rise(x > 0))", "at some point it becomes true that x is above 0"),
        ("F(fall(x > 0))", "at some point it stops being true that x is above 0"),
        ("before(x > 0, level > 3)", "at some step x is above 0, and at a later one level is above 3"),
        (
            "before[0, 5](x > 0, level > 3)",
            "at some step x is above 0, and at that step or up to 5 s later level is above 3",
        ),
        ("before[2, 5](x > 0, level > 3)", "at some step x is above 0, and some time 2 to 5 s later level is above 3"),
        (
            "F(x > 5 and before[2, 5](x > 0, level > 3))",
            "at some point x is above 5, and at that or a later step x is above 0, and some time 2 to 5 s "
            "later level is above 3",
        ),
    ],
)
def test_they_are_said_and_read_back(text, said):
    panel = pulses(period=1.0, time_unit="s")
    asked = Formula.parse(text, panel.schema)
    assert english(asked.expression, panel.schema, (), step=panel.step) == said
    again = Formula.from_english(said, panel.schema, step=panel.step)
    assert again(panel).tolist() == asked(panel).tolist()


@pytest.mark.parametrize("text", ["longest(x = 1) > 1", "longest(x = 0) >= 3"])
def test_the_longest_stretch_has_no_distance_in_steps(text):
    """One step more may join two stretches."""
    panel = pulses()
    evidence = Robustness(panel).evidence(Formula.parse(text, panel.schema).expression)
    assert [evidence.distance(place).unit for place in range(len(panel))] == [None] * 4


def test_episodes_have_no_distance_in_steps():
    panel = pulses()
    evidence = Robustness(panel).evidence(Formula.parse("episodes(x = 1) > 1", panel.schema).expression)
    assert evidence.truth.tolist() == [True, False, False, False]
    assert [evidence.distance(place).unit for place in range(len(panel))] == [None] * 4


def test_a_tree_with_windows_refuses_steps_of_another_length():
    panel = pulses(period=1.0, time_unit="s")
    sides = class_leaf((1, 0), (1.0, 0.0)), class_leaf((0, 1), (0.0, 1.0))
    asked = Formula.parse("F[0 s, 1 s](x = 1)", panel.schema, step=panel.step)
    tree = class_tree(Node(asked, *sides), ("yes", "no"), panel.schema, None, panel.step)
    assert tree.predict(panel).tolist() == ["yes", "no", "yes", "no"]
    assert tree.predict(pulses()).tolist() == ["yes", "no", "yes", "no"]  # nothing is known of their steps
    with pytest.raises(DataError, match=r"windows of steps of 1 s, but these records have steps of 0\.5 s; resample"):
        tree.predict(pulses(period=0.5, time_unit="s"))


def test_names_of_operators_that_yield_may_be_a_users():
    panel = Panel.from_arrays([np.array([[1.0], [2.0]])], columns=["left"])
    grammar = Grammar.parse("Start ::= F(next)  next ::= left > 1 | left() < 1 | until(left > 1, left > 2)", panel)
    assert "until(left > 1, left > 2)" in str(grammar)
    assert str(Formula.parse("F(left > left())", panel.schema)) == "F(left > left())"

    @user_function(takes=["real"], gives="real", elementwise=True)
    def since(x):
        return x * 2

    mine = Formula.parse("F(since(left) > 3)", panel.schema, functions=[since])
    assert mine(panel).tolist() == [True]


def test_a_search_finds_what_only_a_window_can_say():
    """One class has two pulses within 3 steps of each other, the other further apart: as many of them, at any place."""
    rng, records, labels = np.random.default_rng(0), [], []
    for i in range(60):
        record = np.zeros((40, 1))
        first, apart = rng.integers(0, 20), rng.integers(1, 4) if i % 2 else rng.integers(6, 18)
        record[[first, first + apart]] = 1.0
        records.append(record)
        labels.append("near" if i % 2 else "far")
    panel = Panel.from_arrays(records, columns=["x"])
    grammar = Grammar.parse(
        "Start ::= F(A) | G(A) | F(A and F[1, [3, 5]](A)) | count(A) > [1, 2]  A ::= x {<, >} 0.5", panel
    )
    learnt = GrammarTreeClassifier(grammar=grammar, search=MonteCarlo(evaluations=200), random_state=0).fit(
        panel, labels
    )
    assert learnt.score(panel, labels) == 1.0
    asked = learnt.tree_.nodes[0].formula
    assert "F[1, " in str(asked)
    steps = decisive_steps(asked, panel)
    assert all(records[i][step, 0] == 1 for i, step in enumerate(steps.tolist()) if labels[i] == "near")


def test_every_operator_has_a_line_that_says_what_it_is_for():
    page = (Path(__file__).parents[2] / "docs" / "reference" / "operators.md").read_text(encoding="utf-8")
    rows = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    written = {
        row.name: f"{row.name} " if row.form in (Form.INFIX, Form.PREFIX) else row.name.rstrip("]") for row in OPERATORS
    }
    assert [name for name, text in written.items() if text not in rows] == []
