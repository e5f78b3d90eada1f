"""telltree ask through the installed program, on good and on bad input."""

import json

import pytest

from tests.cli.test_verbs import bad, good
from tests.support.programs import telltree

QUESTION = "at some point pressure is below 2.8 bar while the valve is open"
ROWS = """\
pump,t,pressure,valve,end
a,0,3.0,open,bad
a,2,2.5,shut,bad
a,4,2.0,open,bad
b,0,2.9,open,good
b,2,,open,good
c,0,2.5,open,bad
d,0,1.0,shut,good
d,2,1.0,shut,good
"""


@pytest.fixture(scope="module")
def pumps(tmp_path_factory):
    path = tmp_path_factory.mktemp("pumps") / "pumps.csv"
    path.write_text(ROWS)
    return path


def test_help_has_an_example():
    assert "telltree ask pumps.csv" in good("ask", "--help")
    assert "  ask " in good("--help")


def test_how_many_of_which_classes_when_and_which(pumps):
    told = good("ask", pumps, QUESTION, "--id", "pump", "--time", "t", "--time-unit", "s", "--label", "end")
    assert told == (
        "at some point pressure is below 2.8 bar while valve is open\n"
        '  F((pressure < 2.8) ∧ (valve = "open"))\n'
        "  pressure has no unit in the data; it is taken to be in bar\n"
        "true of 2 of 4 records (50 %, 15 to 85 %)\n"
        "  bad: 2 of 2 (100 %, 34 to 100 %); 100 % of those it is true of, 2 times the share in all\n"
        "  good: 0 of 2 (0 %, 0 to 66 %)\n"
        "first held at 2 s (median; 0 to 4 s)\n"
        "namely a, c\n"
    )


def test_a_formula_from_standard_input_for_machines(pumps):
    question = 'F(pressure < 2.8 and valve = "open")'
    told = good("ask", "-", question, "--id", "pump", "--time", "t", "--label", "end", "--json", stdin=ROWS)
    found = json.loads(told)
    assert found["formula"] == 'F((pressure < 2.8) ∧ (valve = "open"))'
    assert (found["records"], found["true_of"], found["share"]) == (4, 2, 0.5)
    assert [(row["label"], row["holds"], row["records"], row["lift"]) for row in found["classes"]] == [
        ("bad", 2, 2, 2.0),
        ("good", 0, 2, 0.0),
    ]
    assert found["members"] == [{"id": "a", "step": 2, "time": 4.0}, {"id": "c", "step": 0, "time": 0.0}]


def test_one_record_is_explained(pumps):
    keys = ("--id", "pump", "--time", "t", "--time-unit", "s")
    told = good("ask", pumps, "at some point pressure is below 2.8 bar", *keys, "--explain", "a", "--members", "1")
    answer, explained = told.split("\n\n")
    assert answer.endswith("such as a")
    assert explained.startswith("true of record a, by a margin of ")
    assert "first held at 2 s (step 1): pressure is 2.5 bar" in explained
    found = json.loads(good("ask", pumps, "F(pressure < 2.8)", *keys, "--explain", "b", "--json"))["explain"]
    assert (found["record"], found["holds"], found["step"], found["time"]) == ("b", False, 0, 0.0)
    assert found["robustness"] < 0
    assert found["english"] == "pressure is never below 2.8"
    bad(3, "ask", pumps, "F(pressure < 2.8)", *keys, "--explain", "e", says="there is no record 'e'")


@pytest.mark.parametrize(
    ("question", "says"),
    [
        ("at some point presure is below 2.8 bar", "as English: character 15: expected what a column is called, found "
         "'presure'; did you mean 'pressure'?"),
        ("at some point the valve is opne", "did you mean 'open'?"),
        ("F(presure < 2.8)", "as a formula: line 1, column 3: there is no attribute called presure; did you mean "
         "pressure?"),
        ('F(valve = "opne")', "did you mean open?"),
    ],
)  # fmt: skip
def test_what_cannot_be_understood_is_wrong_usage(pumps, question, says):
    told = bad(2, "ask", pumps, question, "--id", "pump", "--time", "t", says=says)
    assert len(told.splitlines()) == 1


def test_bad_usage_and_bad_data(pumps):
    assert telltree("ask", pumps).returncode == 2
    bad(2, "ask", pumps, QUESTION, "--id", "pump", "--members", "-1", says="--members")
    bad(3, "ask", "nothing.csv", QUESTION, "--id", "pump", says="nothing.csv")
    bad(3, "ask", pumps, QUESTION, "--id", "pmup", says="'pump'")
