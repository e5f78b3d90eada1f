"""Texts that somebody made to be large: they are read in little memory, or refused by their size."""

import json
import tracemalloc
from pathlib import Path

import pytest

from telltree import load
from telltree.data import Column, Schema
from telltree.data.files.schema_file import from_toml
from telltree.data.files.toml import TomlError, parsed_toml
from telltree.errors import LONGEST_MESSAGE, DataError, GrammarError, ModelFormatError
from telltree.grammar import Grammar
from telltree.grammar.text import syntax
from telltree.tree.model.document import MOST_RUNNERS_UP

SCHEMA = Schema([Column("b", "Boolean")])
LARGE = 3_900_000
GOLDEN = Path(__file__).parent / "golden" / "mixed-1.json"


def peak(work):
    """The most bytes that Python held while it worked, and the error that came of it, if one did."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1], None
    except ValueError as error:
        return tracemalloc.get_traced_memory()[1], error
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("quote", ['"', "`"])
def test_a_string_of_megabytes_takes_memory_in_proportion(quote):
    text = f"A ::= F(b) {quote}{'x' * LARGE}{quote}"
    assert peak(lambda: Grammar.parse(text, SCHEMA))[0] < 100 << 20


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("A ::= " + "|".join(["F(b)"] * 700_000), "699,999 times '|'"),
        ("\n".join(f"A{i} ::= F(b)" for i in range(100_000)), "100,000 times '::='"),
        ("A ::= F(b = [" + ",".join(["1"] * 1_500_000) + "])", "1,499,999 times ','"),
    ],
    ids=["alternatives", "symbols", "constants"],
)
def test_a_grammar_of_too_many_parts_is_refused_before_it_is_read(text, what):
    memory, error = peak(lambda: Grammar.parse(text, SCHEMA))
    assert isinstance(error, GrammarError)
    assert what in str(error)
    assert memory < 10 << 20


@pytest.mark.parametrize(
    "text",
    [
        "A ::= F(`" + "x" * LARGE + "`)",
        "A ::= F(" + "x" * LARGE + ")",
        "A ::= " + "x" * LARGE + "(b)",
        'A ::= F(b = "' + "x" * LARGE + '")',
        "x" * LARGE,
        "A ::= F(b) 1" + "0" * LARGE,
    ],
)
def test_no_message_repeats_a_name_of_megabytes(text):
    with pytest.raises(GrammarError) as caught:
        Grammar.parse(text, SCHEMA)
    assert len(str(caught.value)) < LONGEST_MESSAGE + 100


def test_a_long_message_keeps_its_place_and_its_remedy():
    with pytest.raises(GrammarError) as caught:
        Grammar.parse("A ::= F(b) | F(" + "x" * LARGE + "(b))", SCHEMA)
    assert str(caught.value).startswith("line 1, column 16: xxx")
    assert str(caught.value).endswith("x is no function")
    assert "characters left out" in str(caught.value)


def test_a_schema_speaks_of_long_names_briefly():
    with pytest.raises(DataError) as caught:
        from_toml(f"[columns.a]\ntype = '{'x' * LARGE}'")
    assert len(str(caught.value)) < LONGEST_MESSAGE + 100


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("x = 1" + " " * 4_000_000, "4,000,005 characters"),
        ("x = [" + "1," * 300_000 + "]", "300,000 items"),
        ("a" + ".a" * 100_000 + " = 1", "more than 16 parts"),
        ('"a"' + ' . "a"' * 100_000 + " = 1", "more than 16 parts"),
        ("[" + "a." * 100_000 + "a]", "more than 16 parts"),
        ("x = " + "9" * 5000, "thousands of digits"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("x = " + "{a = " * 100_000, "nested too deeply"),
        ("x =", "not TOML"),
    ],
)
def test_toml_of_any_size_and_shape_is_read_or_refused(text, match):
    with pytest.raises(TomlError, match=match):
        parsed_toml(text)


def test_dots_in_texts_and_comments_are_no_parts_of_keys():
    text = "# 1.2.3.4.5.6.7.8.9.0.1.2.3.4.5.6.7.8.9\nx = '''" + ".a" * 100 + "'''\ny = [" + "1.5, " * 100 + "]\n"
    assert parsed_toml(text) == {"x": ".a" * 100, "y": [1.5] * 100}


def test_a_schema_with_a_number_of_thousands_of_digits_is_refused():
    with pytest.raises(DataError, match="thousands of digits"):
        from_toml(f"[columns.a]\ntype = 'real'\nthresholds = [{'9' * 5000}]")


def test_a_model_with_very_many_runners_up_is_refused(tmp_path):
    document = json.loads(GOLDEN.read_text())
    branch = next(node for node in document["tree"] if node["kind"] == "branch")
    branch["runners_up"] = [
        {"formula": f"F(speed < {i})", "fitness": 0.0, "spoken": False} for i in range(MOST_RUNNERS_UP + 1)
    ]
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ModelFormatError, match=r"20,0\d\d different runners-up, and at most 20,000"):
        load(path)


def test_a_grammar_that_no_model_could_be_loaded_with_is_refused_when_it_is_made():
    columns = Schema([Column(f"x{i}", "real", kind="height") for i in range(330)])  # 108,570 pairs
    with pytest.raises(GrammarError, match=r"with its groups written out, has 10\d,\d\d\d times '\|'; at most 100,000"):
        Grammar.parse("A ::= F(each real < other)", columns)


def test_a_grammar_over_very_many_columns_may_be_longer(monkeypatch):
    monkeypatch.setattr(syntax, "MOST_OF", {"|": 10})
    monkeypatch.setattr(syntax, "FOR_COLUMNS", 10)
    few, many = (Schema([Column(f"x{i}", "Boolean") for i in range(number)]) for number in (10, 30))
    grammar = Grammar.parse("A ::= F(each Boolean)", many)
    assert Grammar.parse(str(grammar), many) == grammar
    with pytest.raises(GrammarError, match=r"29 times '\|'; at most 10 are read"):
        Grammar.parse(str(grammar), few)
