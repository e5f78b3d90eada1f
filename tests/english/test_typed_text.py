"""What people type: numbers and units in their own notation, and nothing that is left over."""

import random

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.effort import examples
from tests.support.programs import telltree

from telltree import Formula, Panel, ask
from telltree.errors import GrammarError, SpeechError
from telltree.panel import Column, Schema
from telltree.panel.units_and_names import is_unit

FRAME = pd.DataFrame(
    {"id": [1, 1, 2], "pressure": [2.0, 3.0, 3.5], "temp": [20.0, 61.0, 70.5], "valve": ["open", "shut", "open"]}
)
PUMPS = Panel.from_frame(FRAME, id="id")
SCHEMA = Schema(
    [
        Column("pressure", "real", unit="bar"),
        Column("height", "real", unit="ft"),
        Column("load", "real", unit="k"),
        Column("size", "real", unit="K"),
        Column("mode", "categorical", levels=("run", "purge", "50 thousand")),
        Column("open", "Boolean", phrase="the valve is open"),
    ]
)
NUMBERS = {
    "50": 50, "50 thousand": 50_000, "50 million": 5e7, "1.5 billion": 1.5e9, "3 Hundred": 300, "1_000": 1000,
    "1_000_000": 1e6, "1,000": 1000, "12,345,678.5": 12345678.5, "1 000": 1000, "1\u202f000 000.5": 1000000.5,
    "1'000": 1000, "1’000": 1000, "50k": 50_000, "2.5k": 2500, "1e3": 1000, "1E-3": 0.001,
    "½": 0.5, "2½": 2.5, "−¼": -0.25,
    "1/4": 0.25, "minus 5": -5, "-5": -5, "−5": -5, "+5": 5, ".5": 0.5, "zero": 0, "fifty": 50, "twenty-one": 21,
    "twenty one": 21, "a hundred": 100, "two hundred twenty-five": 225, "fifty thousand": 50_000,
    "one million two thousand three": 1_002_003, "minus two": -2,
}  # fmt: skip


@pytest.mark.parametrize("text", NUMBERS)
def test_numbers_are_understood_as_people_write_them(text):
    found = ask(PUMPS, f"at some point pressure is above {text}").formula
    assert found == Formula.parse(f"F(pressure > {NUMBERS[text]!r})", PUMPS.schema)
    twice = Formula.from_english(f"height is always between {text} and 1 000 000 000 000 ft", SCHEMA)
    assert twice == Formula.parse(f"G(height > {NUMBERS[text]!r} and height < 1e12)", SCHEMA)


@pytest.mark.parametrize(
    "text",
    [
        "0x10", "1,5", "1,00", "1,0000", "12,34,567", "1.000.000", "1 00", "1 0000", "0,000", "01,000",
        "1_00", "1__000", "50 open", "50 people", "50K", "50M", "50m", "50 thousandth", "50 thousand open",
        "fifty six seven", "ten hundred five six", "thousand", "１０", "1/0", "- 5", "five thousand million thousand",
        "50 k", "1e", "50 bar bar", "0b1", "1 000,5", "50 5",
    ],
)  # fmt: skip
def test_what_is_no_number_is_refused_with_its_place(text):
    before = "at some point pressure is above "
    with pytest.raises(SpeechError) as raised:
        ask(PUMPS, before + text)
    assert len(before) < raised.value.place <= len(before + text) + 1
    assert "\n" not in str(raised.value)


def test_an_error_says_how_numbers_are_written_and_what_is_no_unit():
    with pytest.raises(SpeechError, match="'0x10'; numbers look like 1000, 1,000, 1 000"):
        ask(PUMPS, "at some point pressure is above 0x10")
    with pytest.raises(SpeechError, match="'open' is neither a unit that is known here nor part of the number"):
        ask(PUMPS, "at some point pressure is above 50 open")


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("at some point load is above 50k", "F(load > 50)"),  # the column's own unit
        ("at some point size is above 50K", "F(size > 50)"),
        ("at some point pressure is above 50k", "F(pressure > 50000)"),
        ("at some point pressure is above 50k bar", "F(pressure > 50000)"),
        ("at some point mode is 50 thousand", 'F(mode = "50 thousand")'),
        ("at some point height is above five feet", "F(height > 5)"),
        ("at some point pressure minus 2 bar is above 1,000", "F(pressure - 2 > 1000)"),
        ("at more than three steps in all, the valve is open", "count(open) >= 4"),
        ("in the first ten steps, at some point the valve is open", "F(elapsed() < 10 and open)"),
    ],
)
def test_numbers_stand_everywhere(text, formula):
    assert Formula.from_english(text, SCHEMA) == Formula.parse(formula, SCHEMA)


def test_the_unit_of_a_difference_is_that_of_its_signal():
    assert Formula.from_english("at some point pressure minus 2 bar is above 1 bar", SCHEMA)
    with pytest.raises(SpeechError, match="'ft' is not"):
        Formula.from_english("at some point pressure minus 2 ft is above 1", SCHEMA)
    with pytest.raises(SpeechError, match="'ft' is not"):
        Formula.from_english(
            "at some point the absolute value of the difference 2 ft minus pressure is above 1", SCHEMA
        )


@pytest.mark.parametrize("text", ["pressure is above ∞ minus height", "pressure minus −∞ is above height"])
def test_infinity_is_no_part_of_a_difference(text):
    with pytest.raises(SpeechError, match="∞"):
        Formula.from_english(f"at some point {text}", SCHEMA)


def test_an_answer_tells_what_was_understood():
    answer = ask(PUMPS, "at some point the pressure is above 1,000 bar?")
    assert str(answer).splitlines()[:3] == [
        "at some point pressure is above 1000 bar",
        "  F(pressure > 1000)",
        "  pressure has no unit in the data; it is taken to be in bar",
    ]
    assert answer.units == answer.to_dict()["units"] == {"pressure": "bar"}
    assert ask(PUMPS, "at some point pressure is above 1k").units == {}


def test_the_program_tells_it_too(tmp_path):
    FRAME.to_csv(tmp_path / "pumps.csv", index=False)
    done = telltree("ask", tmp_path / "pumps.csv", "at some point temp is above fifty", "--id", "id")
    assert done.stdout.splitlines()[:2] == ["at some point temp is above 50", "  F(temp > 50)"]
    done = telltree("ask", tmp_path / "pumps.csv", "at some point temp is above 50 open", "--id", "id")
    assert done.returncode == 2
    assert "'open'" in done.stderr


FLIGHT = Schema(
    [
        Column("pressure", "real", unit="bar"),
        Column("wind_speed", "real"),
        Column("Temp", "real"),
        Column("r1", "Boolean", phrase="pilot 1 responds"),
        Column("r2", "Boolean", phrase="pilot 2 responds"),
        Column("a1", "Boolean", phrase="advisory 1 is active"),
        Column("a2", "Boolean", phrase="advisory 2 is active"),
        Column("open", "Boolean", phrase="the valve is open"),
        Column("mode", "categorical", levels=("run", "purge", "Idle")),
    ]
)
PEOPLE = {
    "pressure never exceeds 2": "G(not pressure > 2)",
    "Pressure never exceeds 2 bar.": "G(not pressure > 2)",
    "PRESSURE IS ALWAYS BELOW 3 BAR": "G(pressure < 3)",
    "at some point, pressure is above 2": "F(pressure > 2)",
    "At some point Pressure is above 2!": "F(pressure > 2)",
    "does pilot 1 ever respond?": "F(r1)",
    "Did pilot 1 ever respond": "F(r1)",
    "is there ever a time when pressure is above 3?": "F(pressure > 3)",
    "Was there a point where the valve is open": "F(open)",
    "both pilots respond at some point": "F(r1 and r2)",
    "at some point both pilots respond while the valve is open": "F(r1 and r2 and open)",
    "Do both pilots ever respond?": "F(r1 and r2)",
    "both pilots always respond": "G(r1) and G(r2)",
    "at some point both advisories are active": "F(a1 and a2)",
    "either pilot responds at some point": "F(r1 or r2)",
    "pressure is always not above 2": "G(pressure <= 2)",
    "at some point pressure is not below 2": "F(pressure >= 2)",
    "at some point temp goes over 20": "F(Temp > 20)",
    "does pressure ever drop under 2.5 bar?": "F(pressure < 2.5)",
    "pressure stays below 4": "G(pressure < 4)",
    "does pressure remain under 4 bar?": "G(pressure < 4)",
    "at some point pressure is greater than or equal to 3": "F(pressure >= 3)",
    "at some point pressure is no more than 3": "F(pressure <= 3)",
    "at some point pressure = 3": "F(pressure = 3)",
    "at some point pressure is 3 bar": "F(pressure = 3)",
    "at some point pressure is equal to 3": "F(pressure = 3)",
    "at some point pressure<=3": "F(pressure <= 3)",
    "at some point pressure is >= 3": "F(pressure >= 3)",
    "at some point mode = run": 'F(mode = "run")',
    "at some point mode is IDLE": 'F(mode = "Idle")',
    "pressure is above 3 at some point": "F(pressure > 3)",
    "is pressure ever over 3?": "F(pressure > 3)",
    "is the valve ever open?": "F(open)",
    "is the valve always open": "G(open)",
    "has pressure ever exceeded 3?": "F(pressure > 3)",
    "has pressure ever been above 3": "F(pressure > 3)",
    "at some point wind speed exceeds 20": "F(wind_speed > 20)",
    "at some point Wind_Speed exceeds 20": "F(wind_speed > 20)",
    "at some point pressure doesn't exceed 3": "F(pressure <= 3)",
    "pressure isn't ever above 3": "G(not pressure > 3)",
    "sometimes pressure is over 3 bar while the valve is open": "F(pressure > 3 and open)",
    "please tell me whether pressure ever exceeds 3": "F(pressure > 3)",
    "In how many records does pressure ever exceed 3?": "F(pressure > 3)",
    "at all times, pressure is under 9": "G(pressure < 9)",
    "at some point pressure reaches 5 bar": "F(pressure >= 5)",
    "at some point pressure > wind_speed": "F(pressure > wind_speed)",
    "at no point does pressure exceed 3": "G(not pressure > 3)",
    "at no point is the valve open": "G(not open)",
    "never does pressure exceed 3 bar": "G(not pressure > 3)",
    "both pressure and wind_speed are above 3 at some point": "F(pressure > 3 and wind_speed > 3)",
    "At some point, Pressure rises by more than 5 bar within 3 steps": "F(pressure - min[0, 3](pressure) > 5)",
    "Pressure stays over 3 for at least three steps in a row": "longest(pressure > 3) >= 3",
    "does pressure stay above 3 for more than 3 steps in a row?": "longest(pressure > 3) >= 4",
    "pressure never goes above 3; wind_speed stays under 5": "G(not pressure > 3) and G(wind_speed < 5)",
}


@pytest.mark.parametrize("text", PEOPLE)
def test_what_people_type_is_understood(text):
    assert Formula.from_english(text, FLIGHT) == Formula.parse(PEOPLE[text], FLIGHT)


REFUSED = {  # and what is suggested instead
    "pressure exceeds 5": "at some point pressure exceeds 5",
    "pressure does not exceed 5 at any point": "pressure is never above 5",
    "at some point presure is below 2.8 bar": "at some point pressure is below 2.8 bar",
    "at some point the valve is opne": "at some point the valve is open",
    "at some point mode is prge": "at some point mode is purge",
    "at some point pressure is below 2.8 and the valve is open":
        "at some point pressure is below 2.8 while the valve is open",
    "pressure never rises above 3 and the valve is never open":
        "pressure never rises above 3, and the valve is never open",
    "at some point pressure is below 2.8 bar while the vavle is open":
        "at some point pressure is below 2.8 bar while the valve is open",
    "at some point pressure is above 50 open": "at some point pressure is above 50",
    "for more than 3 steps in all, the valve is open": "at more than 3 steps in all, the valve is open",
    "banana": "at some point pressure is above 1",
    "": "at some point pressure is above 1",
    "temp never stays below 20": "Temp is never below 20",
    "in the first week, pressure is always below 20": "pressure is always below 20",
    "pressure nevr exceeds 2": "pressure never exceeds 2",
    "if the valve is open, then pressure is below 3": "whenever the valve is open, pressure is below 3",
    "when the valve is open, pressure is below 3": "whenever the valve is open, pressure is below 3",
    "pressure is not always above 2": "at some point pressure is not above 2",
    "the valve is not always open": "at some point the valve is not open",
    "it is not true that pressure is ever above 3": "pressure is never above 3",
    "at some point pressure is above 2 but below 3": "at some point pressure is above 2 and below 3",
    "after 30 steps, at some point pressure is above 2": "at some point pressure is above 2",
    "at some point 2 < pressure < 3": "at some point pressure is below 3",
    "pressure is above 2 at least twice": "at some point pressure is above 2",
    "pressure is above 2 for more than 3 steps in a row":
        "for more than 3 steps in a row, pressure is above 2",
}  # fmt: skip


@pytest.mark.parametrize("text", REFUSED)
def test_what_is_refused_comes_with_the_nearest_sentence(text):
    with pytest.raises(SpeechError) as raised:
        Formula.from_english(text, FLIGHT)
    assert raised.value.suggestion == REFUSED[text]
    assert str(raised.value).endswith(f"; try: {REFUSED[text]}")
    assert Formula.from_english(REFUSED[text], FLIGHT)


SENTENCES = [
    *PEOPLE, *REFUSED.values(), "whenever the valve is open, pressure is below 3 bar", "mode is always run or purge",
    "at some point either pressure is between 1 and 2 bar or mode is neither run nor purge", "pressure is always known",
    "in the first 3 steps, at some point the valve is open", "at most 3 steps in all, the valve is open",
    "at some point pressure minus Temp is within 3", "at some point the absolute value of Temp is at least 2",
    "at some point pressure rises by more than 2 bar within 3 steps", "it is never false that the valve is open",
]  # fmt: skip
FOREIGN = (
    "banana",
    "roughly",
    "about",
    "almost",
    "usually",
    "twice",
    "double",
    "half",
    "hardly",
    "without",
    "people",
    "x",
)


@examples(300)
@given(
    st.sampled_from(SENTENCES),
    st.integers(0, 40),
    st.one_of(st.sampled_from(FOREIGN), st.text("bcdfghjklmnpqrstvwxz", min_size=4, max_size=9)),
)
def test_a_foreign_word_is_never_dropped(sentence, place, word):
    words = sentence.split(" ")
    said = " ".join([*words[: place % (len(words) + 1)], word, *words[place % (len(words) + 1) :]])
    if is_unit(word):
        return
    with pytest.raises(SpeechError) as raised:
        Formula.from_english(said, FLIGHT)
    assert raised.value.place <= len(said) + 1


@examples(150)
@given(st.sampled_from(SENTENCES), st.integers(0, 2**32))
def test_every_suggestion_is_understood(sentence, seed):
    rng = random.Random(seed)
    words = sentence.split(" ")
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(words))
        word = words[at]
        letters = list(word)
        rng.shuffle(letters)
        words[at : at + 1] = rng.choice(
            [[], [word, word], ["".join(letters)], [rng.choice(FOREIGN), word], [word[:-1]]]
        )
        words = words or [""]
    suggested = suggestion_for(" ".join(words))
    assert suggested is None or Formula.from_english(suggested, FLIGHT)


def suggestion_for(text):
    """What is suggested instead of a text; None if it is understood."""
    try:
        Formula.from_english(text, FLIGHT)
    except SpeechError as error:
        return str(error.suggestion)
    return None


@pytest.mark.parametrize(
    ("text", "suggested"),
    [
        ("pressure < 2.8", "at some point pressure < 2.8"),
        ("pressure never < 2", "pressure is never < 2"),
        ("pressure > 2 and temp > 20", "at some point pressure is above 2"),
    ],
)
def test_what_was_read_as_a_formula_comes_with_a_sentence_too(text, suggested):
    with pytest.raises(GrammarError) as raised:
        ask(PUMPS, text)
    assert str(raised.value).endswith(f"; try: {suggested}")
    assert ask(PUMPS, suggested)


def test_a_formula_with_a_mistake_comes_without_a_sentence():
    with pytest.raises(GrammarError) as raised:
        ask(PUMPS, "F(presure < 2.8)")
    assert "try:" not in str(raised.value)


def test_a_question_suggests_with_the_units_that_it_gives():
    with pytest.raises(SpeechError) as raised:
        ask(PUMPS, "at some point presure is below 2.8 bar")
    assert raised.value.suggestion == "at some point pressure is below 2.8 bar"
    assert ask(PUMPS, raised.value.suggestion).units == {"pressure": "bar"}
