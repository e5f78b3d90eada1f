"""Questions about panels: how many, of which classes, when, and which; checked against plain loops."""

import json
import math
import random
import statistics

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.effort import examples
from tests.support.strategies import FUNCTIONS, PLAIN_FUNCTIONS, RandomFormulas, draw_case, draw_columns

from telltree import Formula, Panel, user_function
from telltree.errors import DataError, GrammarError, SettingsError, SpeechError
from telltree.explain import ask

SCHEMA = {
    "pressure": {"type": "real", "unit": "bar"},
    "open": {"type": "Boolean", "phrase": "the valve is open", "negated": "the valve is shut"},
    "mode": {"type": "categorical", "levels": ("run", "purge", "")},
    "size": {"type": "real", "unit": "l"},
}
QUESTION = "at some point pressure is below 2.8 bar while the valve is open"
nan = math.nan


def pumps():
    """Four records of one, two or three steps, 2 s apart."""
    rows = [
        ("a", 0, 3.0, True, "run", 5), ("a", 2, 2.5, False, "run", 5), ("a", 4, 2.0, True, "purge", 5),
        ("b", 0, 2.9, True, "run", 9), ("b", 2, nan, True, None, 9),
        ("c", 0, 2.0, True, "", 9),
        ("d", 0, 1.0, False, "run", 5), ("d", 2, 1.0, None, "purge", 5),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["id", "t", "pressure", "open", "mode", "size"])
    return Panel.from_frame(frame, id="id", time="t", static=["size"], schema=SCHEMA, period=2.0, time_unit="s")


PUMPS = pumps()


def test_an_answer():
    answer = ask(PUMPS, QUESTION, ["bad", "good", "bad", "good"])
    assert str(answer.formula) == "F((pressure < 2.8) ∧ open)"
    assert answer.english == QUESTION
    assert (answer.records, answer.positions.tolist(), answer.members.tolist()) == (4, [0, 2], ["a", "c"])
    assert (answer.steps.tolist(), answer.times.tolist()) == ([2, 0], [4.0, 0.0])
    assert answer.share == 0.5
    bad, good = answer.classes
    assert (bad.label, bad.records, bad.holds, bad.share, bad.among, bad.overall, bad.lift) == (
        "bad", 2, 2, 1.0, 1.0, 0.5, 2.0,
    )  # fmt: skip
    assert (good.label, good.holds, good.share, good.among, good.lift) == ("good", 0, 0.0, 0.0, 0.0)
    assert str(answer) == (
        f"{QUESTION}\n"
        "  F((pressure < 2.8) ∧ open)\n"
        "true of 2 of 4 records (50 %, 15 to 85 %)\n"
        "  bad: 2 of 2 (100 %, 34 to 100 %); 100 % of those it is true of, 2 times the share in all\n"
        "  good: 0 of 2 (0 %, 0 to 66 %)\n"
        "first held at 2 s (median; 0 to 4 s)\n"
        "namely a, c"
    )


def test_a_formula_in_text_or_not_and_english_are_the_same_question():
    answers = [
        ask(PUMPS, question)
        for question in (
            QUESTION,
            "At some point the pressure is below 2.8 bar while the valve is open?",
            "F(pressure < 2.8 and open)",
            Formula.parse("F(open ∧ pressure < 2.8)", PUMPS.schema),
        )
    ]
    for answer in answers:
        assert answer.members.tolist() == ["a", "c"]
        assert answer.steps.tolist() == [2, 0]
        assert answer.classes == ()


@pytest.mark.parametrize(
    ("sentence", "formula"),
    [
        ("at some point pressure is below 2.8 bar", "F(pressure < 2.8)"),
        ("pressure is always between 2.8 and 3.5 bar", "G(pressure > 2.8 and pressure < 3.5)"),
        ("valve is never open", 'not F(valve = "open")'),
        ("whenever the valve is open, pressure is at least 2.8 bar", 'G(valve = "open" implies pressure >= 2.8)'),
        (
            "at some point pressure is below 2.8 bar, and from then on the valve is shut",
            'F(pressure < 2.8 and G(valve = "shut"))',
        ),
        ("at more than 5 steps in all, the valve is open", 'count(valve = "open") > 5'),
    ],
)
def test_two_languages(sentence, formula):
    rng = np.random.default_rng(1)
    steps, valve = np.repeat(np.arange(50), 12), rng.choice(["open", "shut"], 600, p=[0.3, 0.7])
    frame = pd.DataFrame({"id": steps, "pressure": rng.normal(3.2, 0.2, 600).round(1), "valve": valve})
    panel = Panel.from_frame(frame, id="id", schema={"pressure": {"unit": "bar"}})
    first, second = ask(panel, sentence), ask(panel, formula)
    assert first.english == second.english
    assert first.positions.tolist() == second.positions.tolist()


def test_durations_are_understood_by_the_period():
    answer = ask(PUMPS, "for more than 2 s in all, the valve is open")
    assert answer.members.tolist() == ["a", "b"]
    assert answer.english == "for at least 4 s in all, the valve is open"  # there is nothing between two steps


def test_some_members_are_named():
    answer = ask(PUMPS, "F(pressure > 0)")
    assert answer.text(2).endswith("\nsuch as a, b")
    assert answer.text(4).endswith("\nnamely a, b, c, d")
    assert "a, b" not in answer.text(0)
    assert [member["id"] for member in answer.to_dict(members=3)["members"]] == ["a", "b", "c"]


def test_true_of_none_and_of_all():
    none = ask(PUMPS, "F(pressure > 99)", [1, 2, 1, 1])
    assert (none.share, none.first, len(none.members)) == (0.0, None, 0)
    assert [(row.label, row.among, row.lift, row.share) for row in none.classes] == [
        (1, None, None, 0),
        (2, None, None, 0),
    ]
    assert str(none).splitlines()[2:] == [
        "true of 0 of 4 records (0 %, 0 to 49 %)", "  1: 0 of 3 (0 %, 0 to 56 %)", "  2: 0 of 1 (0 %, 0 to 79 %)",
    ]  # fmt: skip
    every = ask(PUMPS, "F(pressure > 0)", [1, 2, 1, 1])
    assert every.share == 1.0
    assert [row.lift for row in every.classes] == [1.0, 1.0]
    assert "75 % of those it is true of, the share in all" in str(every)


def test_no_records_and_one():
    nobody = ask(PUMPS[[]], "F(open)", [])
    assert (nobody.records, nobody.share, nobody.interval, nobody.classes) == (0, None, (0.0, 1.0), ())
    assert str(nobody).splitlines()[2] == "true of 0 of 0 records"
    assert "true of 1 of 1 record (100 %, 21 to 100 %)" in str(ask(PUMPS[[2]], "F(open)"))


def test_static_columns_have_no_first_time():
    answer = ask(PUMPS, "F(size > 6)")
    assert answer.english == "size is above 6 l"
    assert answer.members.tolist() == ["b", "c"]
    assert answer.first is None
    assert "first" not in str(answer)
    assert answer.explain(1).when is None


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("F(open)", "first held at 0 s"),
        ("not G(pressure > 2.7)", "first held at 1 s (median; 0 to 2 s)"),  # in b, at its gap
        ("G(pressure > 1.5)", "came nearest to failing at 2 s (median; 0 to 4 s)"),
        ("not F(pressure < 1.5)", "came nearest to failing at 2 s (median; 0 to 4 s)"),  # in b, again
        ("F(open) and F(pressure < 2.3)", "decided at 2 s (median; 0 to 4 s)"),
        ("G(open)", None),  # no step is nearer to failing than another
    ],
)
def test_when(question, line):
    first = ask(PUMPS, question).first
    assert (None if first is None else str(first)) == line


def test_steps_where_times_are_not_known():
    plain = Panel.from_arrays([np.array([[0.0], [1.0], [1.0]]), np.array([[0.0], [0.0], [1.0]])], columns=["x"])
    answer = ask(plain, "at some point x is above 0")
    assert answer.times is None
    assert str(answer.first) == "first held at step 1.5 (median; 1 to 2)"
    assert answer.explain(1).when == "first held at step 2"
    assert answer.to_dict()["members"] == [{"id": 0, "step": 1, "time": None}, {"id": 1, "step": 2, "time": None}]


def test_times_without_a_unit():
    frame = pd.DataFrame({"id": [1, 1, 2], "t": [0.5, 1.25, 7], "x": [0.0, 1.0, 1.0]})
    answer = ask(Panel.from_frame(frame, id="id", time="t"), "F(x > 0.5)")
    assert str(answer.first) == "first held at t = 4.125 (median; 1.25 to 7)"
    assert answer.explain(0).when == "first held at t = 1.25 (step 1)"


def test_a_record_of_which_it_is_true():
    found = ask(PUMPS, QUESTION).explain(0)
    assert (found.record, found.decision.holds, found.decision.step, found.decision.time) == ("a", True, 2, 4.0)
    assert str(found) == "true of record a\n  first held at 4 s (step 2): pressure is 2 bar, the valve is open"
    near = ask(PUMPS, "at some point pressure is below 2.1 bar").explain(0)
    assert str(near).splitlines()[0] == "true of record a, by a margin of 0.13 standard deviations"


def test_a_record_of_which_it_is_not_true():
    found = ask(PUMPS, "at some point pressure is above 3.5 bar").explain(1)
    assert not found.decision.holds
    assert found.decision.robustness < 0
    assert str(found) == (
        f"not true of record b, by a margin of {-found.decision.robustness:.2g} standard deviations\n"
        "  instead, pressure is never above 3.5 bar\n"
        "  came nearest at 0 s (step 0): pressure is 2.9 bar"
    )


def test_a_gap_that_decides_is_at_no_distance():
    found = ask(PUMPS, "pressure is always below 9 bar").explain(1)
    assert found.decision.unit is None
    assert str(found) == (
        "not true of record b\n"
        "  instead, at some point pressure is at least 9 bar or missing\n"
        "  first failed at 2 s (step 1): pressure is missing"
    )


def test_one_standard_deviation_is_one():
    panel = Panel.from_arrays([np.array([[0.0], [2.0]])], columns=["x"])
    assert str(ask(panel, "F(x < 1)").explain(0)).startswith("true of record 0, by a margin of 1 standard deviation\n")


def test_what_has_no_distance_has_no_nearest_step():
    found = ask(PUMPS, "mode is never purge").explain(1)
    assert str(found) == "true of record b"
    assert str(ask(PUMPS, "at some point the valve is shut").explain(2)) == (
        "not true of record c\n  instead, the valve is never shut"
    )


@pytest.mark.parametrize(
    ("question", "record", "values"),
    [
        ("F(missing(pressure))", 1, ("pressure is missing",)),
        ("F(missing(mode))", 1, ("mode is missing",)),
        ('F(mode = "")', 2, ("mode is “”",)),
        ("F(missing(open))", 3, ("it is unknown whether the valve is open",)),
        ("F(not open and pressure < 3)", 0, ("the valve is shut", "pressure is 2.5 bar")),
    ],
)
def test_values_in_words(question, record, values):
    assert ask(PUMPS, question).explain(record).values == values


def test_a_category_that_the_schema_does_not_have():
    frame = pd.DataFrame({"id": [1, 1], "c": ["up", "sideways"], "x": [0.0, 1.0]})
    wanted = Panel.from_frame(pd.DataFrame({"id": [1], "c": ["up"], "x": [0.0]}), id="id").schema
    with pytest.warns(match="sideways"):
        panel = Panel.from_frame(frame, id="id").aligned(wanted)
    found = ask(panel, 'F(not c = "up" and x > 0)').explain(0)
    assert found.values == ("c is none of its categories", "x is 1")


def test_counts_have_margins_in_steps():
    answer = ask(PUMPS, "for more than 2 s in all, the valve is open")
    assert str(answer.explain(0)).splitlines()[0] == "true of record a, by a margin of 2 s"
    assert str(answer.explain(2)).splitlines()[0] == "not true of record c, by a margin of 2 s"


def test_dates_and_long_times():
    days = pd.to_datetime(["2024-02-28", "2024-02-29", "2024-03-05", "2024-05-01"])
    panel = Panel.from_frame(
        pd.DataFrame({"id": [1, 1, 1, 2], "day": days, "x": [0.0, 0.0, 1.0, 1.0]}), id="id", time="day"
    )
    answer = ask(panel, "at some point x is above 0.5")
    assert str(answer.first) == "first held at 3 d (median; 0 to 6 d)"
    assert answer.explain(0).when == "first held at 2024-03-05 (step 2)"


@pytest.mark.parametrize("record", [-1, 4])
def test_a_record_that_is_not_there(record):
    with pytest.raises(DataError, match=f"there is no record {record}: the panel has 4"):
        ask(PUMPS, "F(open)").explain(record)


MISREAD = {
    "at some point presure is below 2.8 bar": (SpeechError, "'pressure'", 15),
    "at some point mode is prge": (SpeechError, "'purge'", 23),
    'at some point mode is "prge"': (SpeechError, "'purge'", 23),
    "at some point the valve is opne": (SpeechError, "'the valve is open'", 15),
    "at some point pressure << 2.8": (SpeechError, "found '<<'", 24),
    "pressure is below 2.8 bar": (SpeechError, "begin with 'at some point'", 1),
    "": (SpeechError, "the end", 1),
    "F(presure < 2.8)": (GrammarError, "did you mean pressure?", 3),
    'F(mode = "prge")': (GrammarError, "did you mean purge?", 10),
    "F(mode = prge)": (GrammarError, 'in quotes: "purge"', 10),
    "F(pressure < 2.8 bar)": (GrammarError, "found 'bar'", 18),
    "F(presure < 2.8": (GrammarError, "the text ends", 16),
    "pressure < 2.8": (GrammarError, "wrap it in F(...) or G(...)", 10),
}


@pytest.mark.parametrize("question", MISREAD)
def test_one_error_tells_of_the_likelier_reading(question):
    kind, says, place = MISREAD[question]
    with pytest.raises((SpeechError, GrammarError)) as raised:
        ask(PUMPS, question)
    assert type(raised.value) is kind
    assert str(raised.value).startswith(
        f"the question cannot be read as {'English' if kind is SpeechError else 'a formula'}: "
    )
    assert says in str(raised.value)
    assert (raised.value.place if kind is SpeechError else raised.value.column) == place


def test_levels_may_be_misspelt_in_either_language():
    frame = pd.DataFrame({"id": [1, 2], "valve": ["open", "shut"], "pressure": [1.0, 2.0]})
    panel = Panel.from_frame(frame, id="id")
    for question in ("at some point valve is opne", 'F(valve = "opne")', "F(valve = opne)"):
        with pytest.raises((SpeechError, GrammarError), match="open"):
            ask(panel, question)


def test_what_is_no_question():
    with pytest.raises(SettingsError, match="a question is a text or a Formula, got 3"):
        ask(PUMPS, 3)
    elsewhere = Panel.from_arrays([np.zeros((1, 1))], columns=["presure"])
    with pytest.raises(DataError, match="'pressure'"):
        ask(PUMPS, Formula.parse("F(presure < 3)", elsewhere.schema))


BARE = pd.DataFrame(
    {"id": [1, 1, 2], "pressure": [2.0, 3.0, 3.5], "temp": [20.0, 61.0, 70.5], "valve": ["open", "shut", "open"]}
)


@pytest.mark.parametrize(
    ("question", "understood"),
    [
        (QUESTION, "at some point pressure is below 2.8 bar while valve is open"),
        ("at some point pressure is below 2.8bar.", "at some point pressure is below 2.8 bar"),
        (
            "at some point temp is above 60 °C while pressure is above 2.9 bar",
            "at some point temp is above 60 °C while pressure is above 2.9 bar",
        ),
        ("pressure is always between 1 and 9 bar", "pressure is always between 1 and 9 bar"),
    ],
)
def test_columns_without_a_unit_take_the_one_that_is_said(question, understood):
    panel = Panel.from_frame(BARE, id="id")
    answer = ask(panel, question)
    assert answer.english == understood
    assert panel.schema["pressure"].unit is None
    assert answer.members.tolist() == ask(panel, answer.formula).members.tolist()


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("at some point pressure is below 2.8 and valve is open", "found 'and'"),
        ("at some point presure is below 2.8 bar", "'pressure'"),
        ("at some point pressure is below 2.8 bar while vavle is open", "'valve'"),
        ("at some point pressure is below 2.8 bar or above 300 kPa", "found 'kPa'"),
    ],
)
def test_what_is_no_unit(question, says):
    with pytest.raises(SpeechError, match=says):
        ask(Panel.from_frame(BARE, id="id"), question)


def test_a_unit_that_is_known_is_not_another():
    with pytest.raises(SpeechError, match="kPa"):
        ask(PUMPS, "at some point pressure is below 280 kPa")


@pytest.mark.parametrize(
    "y",
    [
        ["b", "a", "b", "a"],
        [True, False, True, False],
        [2, 1, 2, 1],
        np.array([2.0, 1.0, 2.0, 1.0]),
        pd.Series(list("xyxy")),
    ],
)
def test_labels_of_any_kind(y):
    rows = ask(PUMPS, QUESTION, y).classes
    assert [row.label for row in rows] == sorted(set(np.asarray(y).tolist()))
    assert {row.label: row.holds for row in rows} == {np.asarray(y).tolist()[0]: 2, np.asarray(y).tolist()[1]: 0}
    json.dumps(ask(PUMPS, QUESTION, y).to_dict())


@pytest.mark.parametrize("y", [["a"], ["a", None, "a", "a"], [0.5, 1.5, 2.5, 3.5], [["a"]] * 4])
def test_labels_that_are_none(y):
    with pytest.raises(DataError):
        ask(PUMPS, QUESTION, y)


def test_many_classes_are_told_in_part():
    panel = Panel.from_arrays([np.array([[float(i)]]) for i in range(40)], columns=["x"])
    answer = ask(panel, "F(x >= 30)", [f"c{i % 20:02}" for i in range(40)])
    assert len(answer.classes) == 20
    lines = str(answer).splitlines()
    assert sum(line.startswith("  c") for line in lines) == 12
    assert "  and 8 more classes with as many or fewer" in lines


def test_user_functions():
    @user_function(takes=["real"], gives="real", elementwise=True)
    def double(x):
        return 2 * x

    answer = ask(PUMPS, "F(double(pressure) > 5.9)", functions=[double])
    assert answer.members.tolist() == ["a"]


@examples(40)
@given(st.integers(0, 2**32))
def test_answers_are_those_of_a_plain_loop(seed):
    rng = random.Random(seed)
    columns = draw_columns(rng)
    case = draw_case(rng, columns, [rng.randint(1, 5) for _ in range(rng.randint(1, 9))])
    inner = RandomFormulas(rng, columns).vector(rng.randint(0, 2))
    asked = ("F", inner)
    labels = [rng.choice("abc") for _ in case.records]
    answer = ask(case.panel, oracle.text(asked, rng), labels, functions=FUNCTIONS)

    steps = {}
    for i, record in enumerate(case.records):
        holds = oracle.over_time(inner, record, PLAIN_FUNCTIONS)
        if True in holds:
            steps[i] = holds.index(True)
    assert answer.positions.tolist() == list(steps)
    assert answer.members.tolist() == [case.panel.ids[i] for i in steps]
    assert answer.steps.tolist() == list(steps.values())
    if answer.first is not None:
        assert answer.first.median == statistics.median(steps.values())
        assert (answer.first.earliest, answer.first.latest) == (min(steps.values()), max(steps.values()))
    assert [row.label for row in answer.classes] == sorted(set(labels))
    for row in answer.classes:
        of_class = [i for i, label in enumerate(labels) if label == row.label]
        true = [i for i in of_class if i in steps]
        assert (row.records, row.holds) == (len(of_class), len(true))
        assert row.share == len(true) / len(of_class)
        assert row.low <= row.share <= row.high
        assert row.overall == len(of_class) / len(labels)
        if steps:
            assert row.among == len(true) / len(steps)
            assert row.lift == pytest.approx(row.among / row.overall)
        else:
            assert row.among is row.lift is None
    for i in range(len(case.records)):
        verdict = answer.explain(i)
        assert verdict.decision.holds == (i in steps)
        assert len(verdict.values) == len(set(answer.formula.expression.attributes()))
    json.dumps(answer.to_dict(), allow_nan=False)


@examples(40)
@given(st.integers(0, 2**32))
def test_what_was_understood_is_the_same_question(seed):
    rng = random.Random(seed)
    columns = draw_columns(rng)
    case = draw_case(rng, columns, [rng.randint(1, 5) for _ in range(8)])
    asked = RandomFormulas(rng, columns).boolean(rng.randint(1, 3))
    if "'call'" in repr(asked):  # functions that have no words cannot be said
        return
    answer = ask(case.panel, oracle.text(asked, rng))
    assert answer.positions.tolist() == [i for i, r in enumerate(case.records) if oracle.truth(asked, r, {})]
    assert ask(case.panel, answer.english).positions.tolist() == answer.positions.tolist()
