"""When something is so, and how signals change, in words and back: what is said is read as what it was made of."""

import copy
import pickle
import random

import numpy as np
import pandas as pd
import pytest

from tests.support import oracle
from tests.support.strategies import Column as Plain
from tests.support.strategies import RandomFormulas

import telltree
from telltree import Formula, GrammarTreeClassifier, Panel
from telltree.english import quotations, say, term_of
from telltree.english.normal_form import same
from telltree.english.terms import Domains
from telltree.errors import SpeechError
from telltree.explain import english, outline
from telltree.grammar import Grammar
from telltree.panel import Column, Schema

SCHEMA = Schema(
    [Column("x", "real", unit="ft"), Column("y", "real"), Column("b", "Boolean", phrase="the valve is open")]
)
HOURS, SECONDS = (1.0, "h"), (0.5, "s")
SAID = [
    ("F(x > 3 and elapsed() > 8)", HOURS, "after more than 8 h, at some point x is above 3 ft"),
    ("F(x > 3 and elapsed() >= 8)", HOURS, "after at least 8 h, at some point x is above 3 ft"),
    ("F(x > 3 and elapsed() <= 8)", HOURS, "in the first 8 h, at some point x is above 3 ft"),
    ("F(x > 3 and elapsed() < 8)", HOURS, "before 8 h have passed, at some point x is above 3 ft"),
    ("F(x > 3 and elapsed() <= 8)", None, "until 8 steps have passed, at some point x is above 3 ft"),
    ("F(x > 3 and elapsed() > 1)", None, "after more than 1 step, at some point x is above 3 ft"),
    ("F(x > 3 and elapsed() >= 11)", None, "after the first 11 steps, at some point x is above 3 ft"),
    ("F(x > 3 and elapsed() >= 1)", None, "after the first step, at some point x is above 3 ft"),
    ("G(elapsed() < 11 implies x > 3)", None, "in the first 11 steps, x is always above 3 ft"),
    ("F(x > 3 and elapsed() >= 5 and elapsed() < 8)", None, "in steps 5 to 7, at some point x is above 3 ft"),
    (
        "F(x > 3 and elapsed() >= 5 and elapsed() < 8)",
        HOURS,
        "at least 5 and less than 8 h after the start, at some point x is above 3 ft",
    ),
    (
        "G(change(x, 5) < 3)",
        None,
        "x is never at least 3 ft above its value 5 steps earlier or at the start, whichever is later",
    ),
    (
        "F(b and elapsed() > 3 and elapsed() < 8)",
        HOURS,
        "between 3 and 8 h after the start, at some point the valve is open",
    ),
    ("F(elapsed() > 8)", HOURS, "the record lasts more than 8 h"),
    ("G(elapsed() <= 8)", HOURS, "the record lasts at most 8 h"),
    ("F(elapsed() > 8)", (None, ""), "the record lasts more than 8 units of time"),
    ("F(elapsed() > 8)", None, "the record has at least 10 steps"),
    ("F(elapsed() > 3 and elapsed() < 8)", HOURS, "the record lasts at least 4 h"),
    ("F(elapsed() > 3 and elapsed() < 8)", (None, "h"), "at some point between 3 and 8 h have passed"),
    (
        "F(b and (elapsed() > 8 or x > 1))",
        HOURS,
        "at some point the valve is open while either more than 8 h have passed or x is above 1 ft",
    ),
    ("F(x > 3 and gone() > 0.8)", None, "in the last 20 % of the record, at some point x is above 3 ft"),
    ("G(gone() > 0.8 implies x > 3)", None, "in the last 20 % of the record, x is always above 3 ft"),
    ("G(gone() >= 0.8 implies x > 3)", None, "from 80 % of the record on, x is always above 3 ft"),
    ("G(gone() < 0.3 implies not b)", None, "in the first 30 % of the record, the valve is never open"),
    ("G(gone() <= 0.3 implies not b)", None, "until 30 % of the record has passed, the valve is never open"),
    (
        "count(b and gone() > 0.7) > 4",
        SECONDS,
        "in the last 30 % of the record, for at least 2.5 s in all, the valve is open",
    ),
    ("F(gone() >= 0.07)", None, "it is always so"),
    (
        "F(b and (x > 3 or gone() >= 0.07))",
        None,
        "at some point the valve is open while either x is above 3 ft or at least 7 % of the record has passed",
    ),
    ("F(x > 3 and gone() >= 0.8)", (None, "h"), "from 80 % of the record's time on, at some point x is above 3 ft"),
    ("G(gone() > 0.8 implies b)", (None, ""), "in the last 20 % of the record's time, the valve is always open"),
    ("F(x > 3 and gone() >= 0.8)", (0.5, ""), "from 80 % of the record on, at some point x is above 3 ft"),
    ("F(elapsed() < 432 and gone() >= 0.8)", None, "the record has fewer than 540 steps"),
    ("F(elapsed() < 432 and gone() >= 0.8)", (1.0, "s"), "the record lasts at most 538 s"),
    ("F(elapsed() < 432 and gone() >= 0.8)", (0.5, ""), "the record has fewer than 1080 steps"),
    ("F(length() <= 540)", None, "the record has at most 540 steps"),
    ("G(length() > 540)", HOURS, "the record has more than 540 steps"),
    ("not F(length() = 3)", None, "the record has at most 2 or at least 4 steps"),
    ("F(length() < 1.5)", None, "the record has exactly 1 step"),
    ("F(gone() < 0.5)", (None, "h"), "the record has at least 2 steps"),
    ("F(left() >= 540)", (1.0, "s"), "the record lasts at least 9 min"),
    ("G(left() < 8)", None, "the record has at most 8 steps"),
    ("F(elapsed() >= 3 and left() >= 20)", (1.0, "s"), "the record lasts at least 23 s"),
    ("F(elapsed() >= 3 or x > 3)", HOURS, "the record lasts at least 3 h; or at some point x is above 3 ft"),
    ("F(x > 3 and length() < 7)", None, "at some point x is above 3 ft while the record has at most 6 steps"),
    ("F(x > 3 and elapsed() >= 24861600)", (None, "s"), "after at least 287.75 days, at some point x is above 3 ft"),
    ("F(x > 3 and elapsed() >= 86400)", (1.0, "s"), "after at least 1 day, at some point x is above 3 ft"),
    ("F(x > 3 and elapsed() >= 3)", (1.0, "d"), "after at least 3 days, at some point x is above 3 ft"),
    ("F(x > 3 and elapsed() < 0.04)", (0.02, "s"), "before 40 ms have passed, at some point x is above 3 ft"),
    ("F(x > 3 and left() <= 5400)", (60.0, "s"), "in the last 1.5 h, at some point x is above 3 ft"),
    (
        "F(b and elapsed() >= 3600 and elapsed() <= 9000)",
        (60.0, "s"),
        "from 1 to 2.5 h after the start, at some point the valve is open",
    ),
    ("F(x > 3 and elapsed() >= 86401)", (1.0, "s"), "after at least 86401 s, at some point x is above 3 ft"),
    ("count(b) > 5", (86400.0, "s"), "for more than 5 days in all, the valve is open"),
    ("count(b) >= 2 and count(b) <= 6", (1800.0, "s"), "for 1 to 3 h in all, the valve is open"),
    (
        "F(change(x, 5) > 3)",
        (60.0, "s"),
        "at some point x is more than 3 ft above its value 5 min earlier or at the start, whichever is later",
    ),
    (
        "F(when_max(x) < 7200)",
        (1.0, "s"),
        "x first reaches its highest value of the whole record less than 2 h after the start",
    ),
    (
        "F(when_max(x) > 3600 and when_max(x) < 9000)",
        (1.0, "s"),
        "x first reaches its highest value of the whole record between 1 and 2.5 h after the start",
    ),
    (
        "F(change(x, 5) > 3)",
        (1.0, "s"),
        "at some point x is more than 3 ft above its value 5 s earlier or at the start, whichever is later",
    ),
    (
        "F(change(x, 5) < -3)",
        SECONDS,
        "at some point x is more than 3 ft below its value 2.5 s earlier or at the start, whichever is later",
    ),
    (
        "F(change(x, 5) >= 3)",
        None,
        "at some point x is at least 3 ft above its value 5 steps earlier or at the start, whichever is later",
    ),
    (
        "F(change(x, 1) > 0)",
        None,
        "at some point x is above its value 1 step earlier or at the start, whichever is later",
    ),
    (
        "G(change(x, 5) <= 3)",
        HOURS,
        "x is never more than 3 ft above its value 5 h earlier or at the start, whichever is later",
    ),
    (
        "G(change(x, 5) > -2 and change(x, 5) < 3)",
        HOURS,
        "the change of x since the later of the start and 5 h earlier is always between −2 and 3 ft",
    ),
    (
        "G(change(x, 5) > 3 implies y > 2)",
        HOURS,
        "whenever x is more than 3 ft above its value 5 h earlier or at the start, whichever is later, y is above 2",
    ),
    (
        "F(y > 2 and change(x, 5) > 3)",
        HOURS,
        "at some point y is above 2 while x is more than 3 ft above its value 5 h earlier or at the start, "
        "whichever is later",
    ),
    (
        "F(change(x, 5) > y)",
        None,
        "at some point y is below the change of x since the later of the start and 5 steps earlier",
    ),
    ("F(elapsed() - 3 > y)", HOURS, "at some point y is below the time since the start minus 3 h"),
]


@pytest.mark.parametrize(("text", "step", "words"), SAID)
def test_each_meaning_has_its_words_and_is_read_back(text, step, words):
    formula = Formula.parse(text, SCHEMA)
    assert english(formula, SCHEMA, (), step=step) == words
    found = Formula.from_english(words, SCHEMA, step=step)
    assert english(found, SCHEMA, (), step=step) == words


class Timely(RandomFormulas):
    """Formulas that speak of time and change more than of anything else."""

    def boolean_call(self, depth):
        return self.on(depth)

    def call(self, gives, depth):
        return self.attribute(gives)

    def categories(self, depth):
        return self.on(depth)

    level = categories

    def missing(self, depth):
        return ("missing", self.real(depth))

    def real(self, depth):
        if self.rng.random() < 0.3:
            return super().real(depth)
        x = self.attribute("real")
        return self.rng.choice([("elapsed",), ("gone",), ("change", x, ("number", float(self.rng.choice((1, 2, 7)))))])

    def number(self):
        return ("number", self.rng.choice((0.0, 0.5, 0.07, 0.3, 1.0, 2.0, -1.0, 0.1 + 0.2, 1e-7, 2 / 3)))


def draw_panel(rng, step):
    """Random records; with times that are uneven if a step has no length but there are times."""
    records = []
    for _ in range(6):
        n = rng.randint(1, 6)
        x = [rng.choice((0.0, 1.0, 2.0, 0.5, -1.0, np.nan, np.inf)) for _ in range(2 * n)]
        records.append(np.array([[x[t], x[n + t], rng.choice((True, False, None))] for t in range(n)], dtype=object))
    timed = {} if step is None else {"period": step[0], "time_unit": step[1] or None}
    schema = {"x": {"type": "real"}, "y": {"type": "real"}, "b": {"type": "Boolean"}}
    return Panel.from_arrays(records, columns=["x", "y", "b"], schema=schema, **timed)


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
@pytest.mark.parametrize("step", [None, (1.0, "h"), (0.1, "s"), (0.5, "")])
def test_random_formulas_are_read_back_to_the_same_answers(step):
    rng = random.Random(str(step))
    columns = (Plain("x", "real"), Plain("y", "real"), Plain("b", "Boolean"))
    for _ in range(60):
        panel = draw_panel(rng, step)
        formula = Formula.parse(oracle.text(Timely(rng, columns).boolean(rng.randint(1, 4)), rng), panel.schema)
        for missing in (None, {name for name, count in panel.missing().items() if count} | {"x", "y"}):
            words = english(formula, panel.schema, missing, step=panel.step)
            found = Formula.from_english(words, panel.schema, step=panel.step)
            assert (found(panel) == formula(panel)).all(), f"{formula}\n{words}\n{found}"


MIXED = {
    "x": {"type": "real", "unit": "ft", "phrase": "vertical rate"},
    "y": {"type": "real"},
    "b": {"type": "Boolean", "phrase": "the pilot complies"},
    "c": {"type": "Boolean"},
    "mode": {"type": "categorical", "levels": ["fill", "purge", "rest"]},
}
LITERALS = (
    "change(x, {k}) {r} {n}", "change(y, {k}) {r} {n}", "elapsed() {r} {n}", "gone() {r} {share}", "x {r} {n}", "b",
    "c", 'mode = "fill"', 'mode = "purge"', "missing(x)", "missing(change(x, 2))", "missing(mode)", "missing(c)",
    "x > y", "change(x, 1) < y", "(elapsed() > {n} or elapsed() < 1)", "(gone() > 0.8 or gone() <= {share})",
    "(change(x, 2) > 1 or missing(x))", "(change(x, {k}) < -1 or change(x, {k}) > {n})",
)  # fmt: skip
PARTS = (
    "({0} or {1})", "({0} or {1})", "({0} and {1})", "({0} implies {1})", "not {0}", "F({0})", "G({0})",
    '({0} or {1} or mode = "rest")',
)  # fmt: skip
WHOLES = (
    "F({0})", "G({0})", "(F({0}) and G({1}))", "(F({0}) or F({1}))", "(F({0}) and F({1}) and F(elapsed() > 2))",
    "count({0}) > 2", "(G({0}) or G({1}))", "(G({0}) and G({1}))",
)  # fmt: skip


def draw_part(rng, depth):
    """A random formula of literals that may be missing, speak of time, or have a verb of their own."""
    if depth == 0 or rng.random() < 0.1:
        r, n = rng.choice(("<", "<=", ">", ">=")), rng.choice((-1, 0, 0.5, 1, 2))
        return rng.choice(LITERALS).format(k=rng.randint(1, 3), r=r, n=n, share=rng.choice((0.2, 0.3, 0.5, 0.75)))
    return rng.choice(PARTS).format(draw_part(rng, depth - 1), draw_part(rng, depth - 1))


def draw_mixed_panel(rng, step):
    values = {
        "x": (0.0, 1.0, 2.0, 0.5, -1.0, np.nan, np.inf),
        "y": (0.0, 1.0, 2.0, -3.0, np.nan),
        "b": (True, False, None),
        "c": (True, False, None),
        "mode": ("fill", "purge", "rest", None),
    }
    records = [[[*map(rng.choice, values.values())] for _ in range(rng.randint(1, 6))] for _ in range(12)]
    timed = {} if step is None else {"period": step[0], "time_unit": step[1] or None}
    arrays = [np.array(record, dtype=object) for record in records]
    return Panel.from_arrays(arrays, columns=list(MIXED), schema=MIXED, **timed)


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
@pytest.mark.parametrize("step", [None, (1.0, "h"), (0.5, "s"), (0.5, "")])
def test_time_and_change_in_lists_with_all_else_are_read_back(step):
    rng = random.Random(f"mixed {step}")
    for _ in range(40):
        panel, depth = draw_mixed_panel(rng, step), rng.randint(0, 2)
        text = rng.choice(WHOLES).format(draw_part(rng, depth), draw_part(rng, depth))
        formula = Formula.parse(text, panel.schema)
        words = english(formula, panel.schema, step=panel.step)
        found = Formula.from_english(words, panel.schema, step=panel.step)
        assert (found(panel) == formula(panel)).all(), f"{formula}\n{words}\n{found}"


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            'F(c and (elapsed() < 1 or elapsed() > 2 or mode = "rest"))',
            "at some point c is true while either less than 1 or more than 2 h have passed, or mode is rest",
        ),
        (
            "F(x < 1 or missing(x) or elapsed() > 2)",
            "the record lasts more than 2 h; or at some point the vertical rate is below 1 ft or missing",
        ),
        (
            "G(b or change(x, 2) <= 1)",
            "whenever the change of the vertical rate since the later of the start and 2 h earlier is above 1 ft "
            "or missing, the pilot complies",
        ),
        (
            "(F(change(x, 2) > 1 and b) or G(F(c))) and F(y > 1)",
            "either at some point the pilot complies while the vertical rate is more than 1 ft above its value 2 h "
            "earlier or at the start, whichever is later, or at the last step, c is true; and at some point y is "
            "above 1",
        ),
        (
            '(F(x > 1 and not missing(c) and not mode = "rest") or G(F(b))) and F(y > 1)',
            "either at some point the vertical rate is above 1 ft while c is known and mode is either missing or "
            "not rest, or at the last step, the pilot complies; and at some point y is above 1",
        ),
    ],
)
def test_lists_of_time_change_and_all_else(text, words):
    panel = draw_mixed_panel(random.Random(0), HOURS)
    formula = Formula.parse(text, panel.schema)
    assert english(formula, panel.schema, step=HOURS) == words
    assert (Formula.from_english(words, panel.schema, step=HOURS)(panel) == formula(panel)).all()


OWN = """
Start ::= F(S > 3) | G(S < 3) | F(S > 3 and b)
S ::= change(V, 2) | change(y, 2) "the surge" | elapsed() "time on air"
V ::= x "climb"
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            "F(change(x, 2) > 3)",
            "at some point climb is more than 3 ft above its value 2 h earlier or at the start, whichever is later",
        ),
        (
            "G(change(x, 2) < 3)",
            "climb is never at least 3 ft above its value 2 h earlier or at the start, whichever is later",
        ),
        ("F(change(y, 2) > 3)", "at some point the surge is above 3"),
        ("F(elapsed() > 3)", "at some point time on air is above 3 h"),
        ("F(elapsed() > 3 and b)", "at some point time on air is above 3 h while the valve is open"),
        ("G(elapsed() < 3)", "time on air is always below 3 h"),
    ],
)
def test_a_grammars_own_words_go_before_those_for_time(text, words):
    term = term_of(Grammar.parse(OWN, SCHEMA).derive(text).expression, ())
    assert say(term, SCHEMA, step=HOURS, missing=()) == words
    meant = quotations(term, SCHEMA, step=HOURS, missing=())
    found = Formula.from_english(words, SCHEMA, step=HOURS, quotations=meant)
    assert same(term_of(found.expression, ()), term, Domains(()))


@pytest.mark.parametrize(
    ("words", "step", "told"),
    [
        ("more than 8 ft have passed", HOURS, "expected a number of h"),
        ("at some point more than 8 % of the record's steps have passed", (None, "h"), "a share of the record's time"),
        ("from 8 % of the record's time on, x is always above 3", None, "a share of the record's steps"),
        ("the record lasts more than 8 steps", None, "as in 'the record has more than 8 steps'"),
        ("the record has more than 8 h", HOURS, "a number of steps, as in 'more than 8 steps'"),
        ("the record lasts long", HOURS, "how long: a number of h"),
        ("after more than 8 h, x is above 3", HOURS, "'at some point', 'always' or 'never'"),
        ("at some point x rises by more than 3 within 1.3 h", HOURS, "a whole number of steps, or the time they take"),
        ("at some point x rises by more than 3 within 5 h", None, "a whole number of steps"),
    ],
)
def test_what_cannot_be_meant_is_refused(words, step, told):
    with pytest.raises(SpeechError, match=told):
        Formula.from_english(words, SCHEMA, step=step)


def test_columns_may_be_called_by_the_same_words():
    names = (
        "after",
        "time since the start",
        "the record lasts",
        "x rises",
        "record",
        "change of x",
        "in the last",
        "x",
    )
    schema = Schema([Column(name, "Boolean" if name == "x rises" else "real") for name in names])
    for name in names:
        for text in (
            "F(`{}` > 3 and elapsed() > 8)", "F(change(`{}`, 3) > 1)", "G(gone() > 0.8 implies change(`{}`, 1) < 0)",
            "F(elapsed() > 8) or F(gone() < `{}`)",
        ):  # fmt: skip
            if name != "x rises":
                formula = Formula.parse(text.format(name), schema)
                words = english(formula, schema, (), step=HOURS)
                found = Formula.from_english(words, schema, step=HOURS)
                assert english(found, schema, (), step=HOURS) == words
                assert set(found.expression.attributes()) == {name}


def draw_clocks(rng, depth):
    """A random condition of clocks alone."""
    if depth == 0:
        clock, numbers = rng.choice(
            (("elapsed()", (0, 0.5, 1, 2, 7, 8.3, 20)), ("left()", (0, 1, 1.5, 3, 12)), ("length()", (1, 2, 5.5, 20)),
             ("gone()", (0, 0.1, 0.3, 0.5, 2 / 3, 0.8, 1)))
        )  # fmt: skip
        return f"{clock} {rng.choice(('<', '<=', '>', '>=', '='))} {rng.choice(numbers)!r}"
    if rng.random() < 0.2:
        return f"not ({draw_clocks(rng, depth - 1)})"
    joint = rng.choice(("and", "and", "or", "implies"))
    return f"({draw_clocks(rng, depth - 1)}) {joint} ({draw_clocks(rng, depth - 1)})"


@pytest.mark.parametrize("step", [None, (1.0, "s"), (0.1, "s"), (0.5, ""), (3600.0, "s"), (0.25, "min"), (None, "h")])
def test_what_clocks_alone_decide_is_told_of_the_records_of_which_it_is_so(step):
    rng = random.Random(str(step))
    records = [np.array([[rng.choice((0.0, 1.0, 2.0))] for _ in range(n)]) for n in range(1, 45)]
    if step is None or step[0] is not None:
        timed = {} if step is None else {"period": step[0], "time_unit": step[1] or None}
        panel = Panel.from_arrays(records, columns=["x"], schema={"x": {"type": "real"}}, **timed)
    else:
        rows = [(i, t, x) for i, r in enumerate(records)
                for t, x in zip(np.cumsum(rng.choices((0.25, 1.0, 3.0), k=len(r))), r[:, 0], strict=True)]  # fmt: skip
        frame = pd.DataFrame(rows, columns=["id", "t", "x"])
        panel = Panel.from_frame(frame, id="id", time="t", time_unit=step[1], schema={"x": {"type": "real"}})
        assert panel.step == step
    for _ in range(150):
        condition = draw_clocks(rng, rng.randint(0, 2))
        text = rng.choice(("F({})", "G({})", "F({} or x > 1)", "G({} and x < 2)", "F({} and x > 1)")).format(condition)
        formula = Formula.parse(text, panel.schema)
        words = english(formula, panel.schema, (), step=panel.step)
        found = Formula.from_english(words, panel.schema, step=panel.step)
        assert (found(panel) == formula(panel)).all(), f"{formula}\n{words}\n{found}"


def test_times_without_a_unit_are_told_by_the_name_of_their_column(tmp_path):
    rows = [(i, t * 1.5**i, float(t)) for i in range(4) for t in range(3 + i)]
    frame = pd.DataFrame(rows, columns=["id", "tick", "x"])
    panel = Panel.from_frame(frame, id="id", time="tick")
    model = GrammarTreeClassifier("Start ::= F(elapsed() > [4, 40])", max_depth=1, min_samples_leaf=1)
    model.fit(panel, list("aabb")).save(tmp_path / "model.json")
    words = "after more than 4 units of tick, at some point x is above 0"
    assert english(Formula.parse("F(elapsed() > 4 and x > 0)", panel.schema), panel.schema, step=panel.step) == words
    for tree in (model.tree_, telltree.load(tmp_path / "model.json").tree_):
        assert outline(tree).splitlines()[0] == "the record lasts more than 4 units of tick?"
    for said in (words, words.replace("tick", "time")):
        assert str(Formula.from_english(said, panel.schema, step=panel.step)) == "F((elapsed() > 4) ∧ (x > 0))"
    assert pickle.loads(pickle.dumps(panel)).step.time_column == copy.copy(panel.step).time_column == "tick"  # noqa: S301
    assert panel[[1, 2]].alone().step == panel.step == (None, "")
    lasting = telltree.ask(panel, "the record lasts more than 4 units of tick")
    assert lasting.english == "the record lasts more than 4 units of tick"
