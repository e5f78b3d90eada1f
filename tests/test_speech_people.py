"""What people type: numbers and units in their own notation, and nothing that is left over."""

import pandas as pd
import pytest
from programs import telltree

from telltree import Formula, Panel
from telltree.data import Column, Schema
from telltree.errors import SpeechError

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
    found = PUMPS.ask(f"at some point pressure is above {text}").formula
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
        PUMPS.ask(before + text)
    assert len(before) < raised.value.place <= len(before + text) + 1
    assert "\n" not in str(raised.value)


def test_an_error_says_how_numbers_are_written_and_what_is_no_unit():
    with pytest.raises(SpeechError, match="'0x10'; numbers look like 1000, 1,000, 1 000"):
        PUMPS.ask("at some point pressure is above 0x10")
    with pytest.raises(SpeechError, match="'open' is neither a unit that is known here nor part of the number"):
        PUMPS.ask("at some point pressure is above 50 open")


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


def test_an_answer_tells_what_was_understood():
    answer = PUMPS.ask("at some point the pressure is above 1,000 bar?")
    assert str(answer).splitlines()[:3] == [
        "at some point pressure is above 1000 bar",
        "  F(pressure > 1000)",
        "  pressure has no unit in the data; it is taken to be in bar",
    ]
    assert answer.units == answer.to_dict()["units"] == {"pressure": "bar"}
    assert PUMPS.ask("at some point pressure is above 1k").units == {}


def test_the_program_tells_it_too(tmp_path):
    FRAME.to_csv(tmp_path / "pumps.csv", index=False)
    done = telltree("ask", tmp_path / "pumps.csv", "at some point temp is above fifty", "--id", "id")
    assert done.stdout.splitlines()[:2] == ["at some point temp is above 50", "  F(temp > 50)"]
    done = telltree("ask", tmp_path / "pumps.csv", "at some point temp is above 50 open", "--id", "id")
    assert done.returncode == 2
    assert "'open'" in done.stderr
