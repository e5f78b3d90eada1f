"""Operators are added as CONTRIBUTING.md says: toys are, place by place, and everyone knows them; without any one place
somebody does not, and it is told who."""

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from tests.models.test_export_stl import robustness
from tests.support import oracle
from tests.support.effort import share
from tests.support.operator_checks import Asked, formulas_with, lacking, records

from telltree import Formula, Grammar, Panel
from telltree.engine import truth_of
from telltree.engine.signals import SIGNALS
from telltree.engine.three_valued import BOUNDS, THERE, by_operands, like_operands
from telltree.english.conversion import CONVERSIONS, opaque
from telltree.english.operator_phrases import PHRASES, Phrase
from telltree.errors import GrammarError, OperatorError
from telltree.explain import decisive_steps, english
from telltree.logic import OPERATORS, Type, operators
from telltree.logic.meaning import Infinities, Joins, Makes, MicroOp
from telltree.logic.operators import EVERYONE, Cells, Form, Operator, Parameter, register
from telltree.logic.types import fits
from telltree.models.export import export_model
from telltree.models.export_common import Refused
from telltree.models.export_python import PYTHON, code
from telltree.models.export_sql import SQL
from telltree.models.export_stl import STL

CONTRIBUTING = (Path(__file__).parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")


def withdraw(operator):
    """Take a row out of the table again."""
    OPERATORS.remove(operator)
    for spelling in operator.spellings:
        del operators._BY_SPELLING[spelling]
    operators._note_change()


@dataclass(frozen=True)
class Toy:
    """An operator, and what is filled in for it where."""

    row: Operator
    cells: tuple[tuple[Cells, object], ...]
    meaning: Callable
    margin: Callable | None = None

    def places(self):
        """Each place: what `lacking` calls it, its table, and what goes there under which key."""
        for cells, cell in self.cells:
            yield cells.place, cells, self.row, cell
        yield "tests/support/oracle.py (MEANING)", oracle.MEANING, self.row.name, self.meaning
        if self.margin is not None:
            yield "tests/support/oracle.py (MARGIN)", oracle.MARGIN, self.row.name, self.margin

    @contextmanager
    def added(self, but=None):
        """The toy in all its places, but one if given."""
        filled = [place for place in self.places() if place[0] != but]
        register(self.row)
        for _, table, key, own in filled:
            table[key] = own
        try:
            yield self.row
        finally:
            for _, table, key, _ in filled:
                del table[key]
            withdraw(self.row)


def formula_of(types):
    return Type.BOOLEAN if fits(types[0], Type.BOOLEAN_VECTOR) else None


def signal_of(types):
    return Type.REAL_VECTOR if types == (Type.REAL_VECTOR,) else None


# within(a, k): at this step or one of the next k. The machine has windows: the row is all that the engine needs.


def soon(n, a, k):
    return [any(x is True for x in a[t : t + int(k[t]) + 1]) for t in range(n)]


def within_sql(steps, e):
    frame = f"PARTITION BY record ORDER BY step ROWS BETWEEN CURRENT ROW AND {int(e.parameter('k'))} FOLLOWING"
    return f"({steps.over_time(e, f'MAX({{}}) OVER ({frame})')} = 1)"


def within_python(e, reads):
    last = int(e.parameter("k")) + 1
    return f"(lambda a: [any(a[t : t + {last}]) for t in range(len(a))])({code(e.args[0], reads)})"


WITHIN = Toy(
    Operator(
        "within", "within", ("within",), Form.CALL, 1, formula_of, "a Boolean vector and a number of steps",
        r"\mathrm{within}", "within the next {1} steps, {0}", Joins(MicroOp.SOME_WITHIN, (0, "k")),
        parameters=(Parameter("k", "steps", example=3.0),),
    ),
    (
        (BOUNDS, by_operands),
        (CONVERSIONS, opaque),
        (PHRASES, Phrase("it comes within {k} that {0}")),
        (SQL, within_sql),
        (STL, lambda writer, e: f"eventually[0:{int(e.parameter('k'))}]({writer.truth(e.args[0])})"),
        (PYTHON, within_python),
    ),
    soon,
    lambda a, k: [max(a[t : t + int(k) + 1]) for t in range(len(a))],
)  # fmt: skip

# after(a, d): exactly d steps later, where the record goes on so far; where it does not, nothing speaks against it.

AFTER = Toy(
    Operator(
        "after", "after", ("after",), Form.CALL, 1, formula_of, "a Boolean vector and a number of steps",
        r"\mathrm{after}", "{1} steps later, {0}", Joins(MicroOp.ALL_WITHIN, ("d", "d")),
        parameters=(Parameter("d", "steps", least=0.0, example=1.0),),
    ),
    (
        (BOUNDS, by_operands),
        (CONVERSIONS, opaque),
        (PHRASES, Phrase("it holds after {d} that {0}")),
        (SQL, Refused("which is not asked for it")),
        (STL, Refused()),
        (PYTHON, Refused()),
    ),
    lambda n, a, d: [t + int(d[t]) >= n or a[t + int(d[t])] is True for t in range(n)],
    lambda a, d: [a[t + int(d)] if t + int(d) < len(a) else 1.0 for t in range(len(a))],
)  # fmt: skip

# smooth(x): the mean of a value and the one before it, at the first step of a record the value itself.


def smoothed(signals, e):
    def mean(values, numbers):
        with np.errstate(invalid="ignore", over="ignore"):
            return (values + values[np.arange(len(values)) - np.minimum(numbers, 1)]) / 2

    return signals.map_records(e.args[0], mean)


def smooth_sql(steps, e):
    x = steps.number(e.args[0])
    before = f"CASE WHEN step > 1 THEN LAG({x}, 1) OVER (PARTITION BY record ORDER BY step) ELSE {x} END"
    mean = steps.named(e, f"({x} + {before}) / 2e0")
    return f"(CASE WHEN {mean} <= 1e308 * 10 THEN {mean} END)"


def smooth_judged(n, x):
    return oracle.stepwise(lambda a, b: (a + b) / 2, None)(n, x, [x[max(0, t - 1)] for t in range(n)])


SMOOTH = Toy(
    Operator(
        "smooth", "smooth", ("smooth",), Form.CALL, 1, signal_of, "a real vector", r"\mathrm{smooth}",
        "mean of {0} and what it was before", Makes(keeps_unit=True, infinities=Infinities.CANCEL),
    ),
    (
        (SIGNALS, smoothed),
        (THERE, like_operands),
        (PHRASES, Phrase("the smoothed value of {0}")),
        (SQL, smooth_sql),
        (STL, Refused("which knows nothing of what was before")),
        (PYTHON, Refused("whose runtime has no such function")),
    ),
    smooth_judged,
)  # fmt: skip

TOYS = {toy.row.name: toy for toy in (WITHIN, AFTER, SMOOTH)}


@pytest.fixture(params=TOYS)
def toy(request):
    return TOYS[request.param]


@pytest.fixture(scope="module")
def case():
    return records()


def test_a_toy_is_known_to_everyone_and_then_forgotten(toy, case, tmp_path):
    with toy.added() as row:
        assert not lacking()
        for plain in formulas_with(row, share(6, 2)):
            asked = Asked(plain, case)
            asked.check_text()
            asked.check_engine()
            asked.check_robustness()
            asked.check_decisive_steps()
            asked.check_english()
            asked.check_implication()
            asked.check_sql()
            asked.check_python(tmp_path)
            asked.check_stl()
    assert toy.row not in OPERATORS
    assert not lacking()


@pytest.mark.parametrize(
    ("name", "place"), [(toy.row.name, place) for toy in TOYS.values() for place, *_ in toy.places()]
)
def test_a_place_that_was_left_out_is_named(name, place):
    with TOYS[name].added(but=place):
        told = lacking()
        assert told
        assert all(line.startswith(f"operator {name!r} has no cell for ") for line in told), told
        assert any(line.endswith(f"add it in {place}") for line in told), told


@pytest.mark.parametrize(("field", "who"), [("latex", "LaTeX"), ("english", "the paper's English")])
def test_a_field_of_the_row_that_was_left_out_is_named(field, who):
    with replace(SMOOTH, row=replace(SMOOTH.row, **{field: ""})).added():
        assert lacking() == [f"operator 'smooth' has no cell for {who}: add it in logic/operators.py"]


def test_contributing_names_all_places():
    section = CONTRIBUTING.split("## Add an operator")[1].split("\n## ")[0]
    lacking()  # which loads all who speak of operators
    named = {cells.place for cells in EVERYONE} | {"logic/operators.py", "tests/support/oracle.py", "grammar/parser.py"}
    assert not [place for place in named if f"`{place}`" not in section]


@pytest.fixture(scope="module")
def panel():
    steps = [[[0.0, False], [2.0, False], [4.0, True], [0.0, False]], [[1.0, True], [3.0, False]], [[5.0, False]]]
    return Panel.from_arrays([np.array(one, dtype=object) for one in steps], columns=["x", "b"])


def test_a_grammar_draws_it(panel):
    with WITHIN.added(), SMOOTH.added():
        grammar = Grammar.parse("Start ::= within(V, [1, 2]) | F(V)\nV ::= b | smooth(x) > [1, 3]", panel)
        drawn = [derivation.expression for derivation in grammar.enumerate(6)]
        texts = {str(e) for e in drawn}
        assert {"within(b, 1)", "within(b, 2)", "within(smooth(x) > 3, 2)", "F(smooth(x) > 1)"} <= texts
        asked = [Formula.parse(text, panel.schema).expression for text in ("within(b, 1)", "within(smooth(x) > 2, 2)")]
        assert truth_of(asked, panel).tolist() == [[False, True, False], [True, False, True]]
        assert decisive_steps(Formula(asked[1]), panel).tolist() == [2, 1, 0]


@pytest.mark.parametrize("given", ["0", "1.5", "random(1, 3)"])
def test_its_parameter_is_checked(panel, given):
    with WITHIN.added(), pytest.raises(GrammarError, match=r"within takes its steps as a whole number of at least 1, "):
        Grammar.parse(f"Start ::= within(b, {given})", panel)


def test_it_is_said_in_the_words_of_its_row(panel):
    with WITHIN.added(), SMOOTH.added():
        e = Formula.parse("within(smooth(x) > 2, 3)", panel.schema).expression
        said = english(e, panel.schema)
        assert said == "it comes within 3 steps that the smoothed value of x is above 2"
        assert english(e, panel.schema, style="paper") == (
            "within the next 3 steps, [[mean of [x] and what it was before] is greater than 2]"
        )
        assert e.latex() == r"\mathrm{within}(\mathrm{smooth}(\text{x}) > 2, 3)"


def test_stl_says_windows(case):
    with WITHIN.added():
        asked = Asked(("within", (">", ("x", "speed"), ("number", 1.0)), ("number", 2.0)), case)
        text = export_model(asked.tree, "stl", category=1)
        long = [
            i for i, record in enumerate(case.records) if len(record["on"]) > 3
        ]  # what a monitor waits for is there
        found = [robustness(text, case.columns, case.records[i]) > 0 for i in long]
        assert found == [asked.truth[i] for i in long]
        assert len(set(found)) == 2


def test_an_operator_that_has_only_a_row_is_refused_by_all_who_must_know_it(toy, panel):
    register(toy.row)
    try:
        signal = toy.row.traits.keeps_unit
        text = "F(smooth(x) > 1)" if signal else f"{toy.row.name}(b, 1)"
        asked = Formula.parse(text, panel.schema)
        refusing = [lambda: english(asked.expression, panel.schema)]
        if signal:  # of what joins conditions the row says all that the walk must know
            refusing.append(lambda: decisive_steps(asked, panel))
        for ask in refusing:
            with pytest.raises(OperatorError, match=rf"'{toy.row.name}' has no meaning in .*; CONTRIBUTING\.md"):
                ask()
        if signal:
            with pytest.raises(OperatorError, match=r"engine/signals\.py"):
                asked(panel)
        else:
            assert len(asked(panel)) == 3  # of what looks at windows, the row is all that the engine needs
    finally:
        withdraw(toy.row)
