"""Texts that somebody made to be large: they are read in little memory, or refused by their size."""

import json
import pickle
import tracemalloc
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from telltree import Panel, load
from telltree.engine import Formula
from telltree.errors import LONGEST_MESSAGE, DataError, GrammarError, ModelFormatError
from telltree.files import TomlError, parsed_toml
from telltree.grammar import Grammar, limits
from telltree.grammar.limits import MOST_TOKENS, has_more_tokens, most_tokens
from telltree.logic import Expression, operator_named
from telltree.models import parse_document
from telltree.models.document import MOST_PARTS
from telltree.models.read_model import LONG_GRAMMAR
from telltree.panel import Column, Schema
from telltree.tree.pruning_path import PruningPath
from telltree.tree.tree import Node, RunnerUp

SCHEMA = Schema([Column("b", "Boolean")])
LARGE = 3_900_000
GOLDEN = Path(__file__).parents[1] / "models" / "golden" / "mixed-1.json"


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


def balanced(depth):
    return "b" if not depth else f"({balanced(depth - 1)} and {balanced(depth - 1)})"


@pytest.mark.parametrize(
    "text",
    [
        "A ::= F(B)\nB ::= " + "|".join(f"x<{i}" for i in range(15_000)),
        f"A ::= F({balanced(14)})",
        "A ::= F(" + "∧".join(["b"] * 30_000) + ")",
        "A ::= F(x < [" + ",".join(map(str, range(30_000))) + "])",
    ],
    ids=["alternatives", "brackets", "no blanks", "constants"],
)
def test_a_grammar_that_would_take_long_is_refused_before_it_is_read(text):
    schema = Schema([Column("b", "Boolean"), Column("x", "real")])
    memory, error = peak(lambda: Grammar.parse(text, schema))
    assert isinstance(error, GrammarError)
    assert "more than the 40,000 words and signs that are read; leave some of it out, or write groups" in str(error)
    assert memory < 20 << 20


@pytest.mark.parametrize(
    "text",
    [
        "A ::= F(each real < grid(0, 1, 10000))",
        "A ::= F(each real {<, <=, >, >=, =} grid(0, 1, 5000))",
        "A ::= F(B)\nB ::= " + " | ".join(f"each real < {i}" for i in range(5000)),
        "A ::= F(B)\nB ::= " + " | ".join(["(each real) < (each real)"] * 3000),
        "A ::= F(B)\nB ::= " + " | ".join(["each real < other"] * 500),
        f"A ::= F(each real < {list(range(5000))})",
        'A ::= F(each kind "height" < grid(0, 1, 5000))',
    ],
)
def test_groups_that_say_very_much_are_refused_before_they_are_written_out(text):
    schema = Schema([Column(f"x{i}", "real", kind="height") for i in range(10)])
    memory, error = peak(lambda: Grammar.parse(text, schema))
    assert isinstance(error, GrammarError)
    assert "all groups up to here, written out, have more than the 40,000 attributes and constants" in str(error)
    assert memory < 50 << 20


def test_the_name_of_a_symbol_is_not_repeated_for_each_alternative():
    name, atoms = "S" * 100_000, " | ".join(f"x < {i}" for i in range(2000))
    schema = Schema([Column("x", "real")])
    memory, error = peak(lambda: Grammar.parse(f"A ::= F({name})\n{name} ::= {atoms}", schema))
    assert error is None
    assert memory < 20 << 20


def test_windows_of_thousands_of_bounds_are_not_compared_one_by_one():
    grammar = Grammar.parse(f"A ::= F[{list(range(5000))}, {list(range(5000, 10_000))}](b)", SCHEMA)
    assert len(grammar.rules) == 10_001
    with pytest.raises(GrammarError, match=r"F\[9, 5\] looks at no step"):
        Grammar.parse("A ::= F[[0, 9, 1], [20, 5, 8]](b)", SCHEMA)


def test_symbols_that_rename_each_other_do_not_multiply_without_a_bound():
    symbols = "\n".join(f"B{i} ::= B{i + 1} | x < {i}" for i in range(2000))
    text = f"A ::= F(B0)\n{symbols}\nB2000 ::= b"
    memory, error = peak(lambda: Grammar.parse(text, Schema([Column("b", "Boolean"), Column("x", "real")])))
    assert isinstance(error, GrammarError)
    assert "more than 250,000 rules when written out" in str(error)
    assert memory < 200 << 20


def test_there_is_room_for_what_telltree_itself_says_of_columns():
    def column(number):
        values = [None, *(f"level {(number + i) % 8}" for i in range(15))]
        return pa.array(values) if number % 2 else pa.array([None, *(float(i * number % 31 - 15) for i in range(15))])

    table = pa.table({"id": [0] * 4 + [1] * 4 + [2] * 8, **{f"column_{i}": column(i) for i in range(450)}})
    panel = Panel.from_frame(table, id="id")
    text = str(Grammar.for_panel(panel))
    assert has_more_tokens((text,), MOST_TOKENS)
    for grammar in (text, str(Grammar.generic(panel))):
        assert not has_more_tokens((grammar,), int(0.9 * most_tokens(panel.schema)))


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
        Schema.from_toml(f"[columns.a]\ntype = '{'x' * LARGE}'")
    assert len(str(caught.value)) < LONGEST_MESSAGE + 100


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("x = 1" + " " * 4_000_000, "4,000,005 characters"),
        ("x = [" + "1," * 300_000 + "]", "300,000 items in its lists"),
        ("\n".join(f"[columns.c{i}]" for i in range(30_000)), "30,000 tables; at most 25,000"),
        ("[[a]]\n" * 30_000, "30,000 tables"),
        ("\n".join(f"c{i} = 1" for i in range(110_000)), "110,000 keys; at most 100,000"),
        ("x = [" + ",".join(["{a = 1}"] * 110_000) + "]", "110,001 keys"),
        ("#\n" * 500_000, "500,000 lines; at most 400,000"),
        ("a" + ".a" * 100_000 + " = 1", "more than 16 parts"),
        ('"a"' + ' . "a"' * 100_000 + " = 1", "more than 16 parts"),
        ("[" + "a." * 100_000 + "a]", "more than 16 parts"),
        ("x = " + "9" * 5000, "thousands of digits"),
        ("x = " + "[" * 100_000, "nested too deeply"),
        ("x = " + "{a = " * 50_000, "nested too deeply"),
        ("x =", "not TOML"),
    ],
)
def test_toml_of_any_size_and_shape_is_read_or_refused(text, match):
    with pytest.raises(TomlError, match=match):
        parsed_toml(text)


def test_the_schema_of_twenty_thousand_columns_is_read():
    schema = Schema([Column(f"sensor_{i}", "real", kind="height", unit="ft") for i in range(20_000)])
    assert Schema.from_toml(schema.to_toml()) == schema


def test_dots_in_texts_and_comments_are_no_parts_of_keys():
    text = "# 1.2.3.4.5.6.7.8.9.0.1.2.3.4.5.6.7.8.9\nx = '''" + ".a" * 100 + "'''\ny = [" + "1.5, " * 100 + "]\n"
    assert parsed_toml(text) == {"x": ".a" * 100, "y": [1.5] * 100}


def test_a_schema_with_a_number_of_thousands_of_digits_is_refused():
    with pytest.raises(DataError, match="thousands of digits"):
        Schema.from_toml(f"[columns.a]\ntype = 'real'\nthresholds = [{'9' * 5000}]")


def changed_model(tmp_path, change):
    """A model file with something of it changed."""
    document = json.loads(GOLDEN.read_text())
    change(document)
    path = tmp_path / "model.json"
    path.write_text(json.dumps(document))
    return path


def branch(document):
    return next(node for node in document["tree"] if node["kind"] == "branch")


def test_a_model_with_very_many_runners_up_is_refused(tmp_path):
    def change(document):
        branch(document)["runners_up"] = [
            {"formula": f"F(speed < {i})", "fitness": 0.0, "spoken": False} for i in range(MOST_PARTS // 6)
        ]

    with pytest.raises(ModelFormatError, match="its formulas have more than the 100,000 words and signs"):
        load(changed_model(tmp_path, change))


def test_formulas_are_read_however_they_are_spelt(tmp_path):
    def change(document):
        branch(document)["runners_up"] = [
            {"formula": f"F(speed < {i}and not height <= {i})", "fitness": 0.0, "spoken": False} for i in range(1000)
        ]

    runners_up = load(changed_model(tmp_path, change)).tree_.nodes[0].runners_up
    assert str(runners_up[3].formula) == "F((speed < 3) ∧ ¬(height ≤ 3))"


def test_a_model_of_more_columns_than_any_has_is_refused(tmp_path):
    def columns(number):
        return lambda document: document["columns"].extend(
            {"name": f"extra_{i}", "type": "real"} for i in range(number)
        )

    assert load(changed_model(tmp_path, columns(20_000))).n_features_in_ == 20_004
    with pytest.raises(ModelFormatError, match="it has 50,004 columns, and at most 50,000"):
        load(changed_model(tmp_path, columns(50_000)))


def test_a_model_has_columns_of_very_many_levels(tmp_path):
    def levels(number):
        column = {"name": "place", "type": "categorical", "levels": [f"p{i}" for i in range(number)]}
        return lambda document: document["columns"].append(column)

    assert len(load(changed_model(tmp_path, levels(100_000))).training_.schema["place"].levels) == 100_000
    with pytest.raises(ModelFormatError, match="its lists have more than 1,000,000 items in all"):
        load(changed_model(tmp_path, levels(1_000_000)))


def test_a_model_that_could_not_be_loaded_is_not_saved(tmp_path, monkeypatch):
    model = load(GOLDEN)
    monkeypatch.setattr(parse_document, "MOST_COLUMNS", 3)
    with pytest.raises(ModelFormatError, match=r"cannot be saved, since it could not be loaded: .* it has 4 columns"):
        model.save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


def test_what_many_formulas_ask_of_many_levels_is_looked_up_once():
    schema = Schema([Column("place", "categorical", levels=[f"p{i}" for i in range(100_000)])])
    Formula.parse('F(place = "p1")', schema)
    memory, _ = peak(lambda: Formula.parse('F(place = "p99999")', schema))
    assert memory < 1 << 20  # a table of all levels would take ten


def test_a_tree_of_a_thousand_leaves_is_saved_and_loaded_with_the_runners_up_that_there_is_most_tokens(tmp_path):
    model = load(GOLDEN)
    leaf = model.tree_.leaves[0][0]

    def parsed(text):
        return Formula.parse(text, model.training_.schema)

    def both(*formulas):
        """That both atoms hold at once; parsing twenty thousand of these would take long."""
        atoms = tuple(formula.expression.args[0] for formula in formulas)
        return Formula(Expression(operator_named("F"), (Expression(operator_named("and"), atoms),)))

    heights = [parsed(f"F(height > {i}.25)") for i in range(20)]

    def grown(low, high):
        """A tree that asks for each constant below which so many leaves lie."""
        if high - low == 1:
            return leaf
        middle = (low + high) // 2
        speed = parsed(f"F(speed < {middle})")
        others = tuple(RunnerUp(both(speed, height), 1.0 + i) for i, height in enumerate(heights))
        formula = parsed(f"F((speed < {middle}) ∧ (on ∨ (height > {middle})))")
        return Node(formula, grown(low, middle), grown(middle, high), 1.0, 1.0, 1.0, others)

    model.tree_ = replace(model.tree_, root=grown(0, 1000), schema=model.training_.schema)
    model.pruning_path_ = PruningPath.of(model.tree_)
    model.save(tmp_path / "large.json")
    again = load(tmp_path / "large.json")
    assert len(again.tree_.leaves) == 1000
    assert [node.formula for node in again.tree_.nodes] == [node.formula for node in model.tree_.nodes]
    kept = {len(node.runners_up) for node in again.tree_.nodes}
    assert kept == {5}
    first, second = model.tree_.nodes[0], again.tree_.nodes[0]
    assert second.runners_up == first.runners_up[:5]  # the best


# ---- grammars of models, which are read when they are asked for if they are long


def long_grammar(end="on"):
    def change(document):
        atoms = " | ".join(f"speed < {i}" for i in range(LONG_GRAMMAR // 4))
        document["grammar"]["text"] = f"A ::= F(B)\nB ::= {atoms} | {end}"
        document["settings"]["grammar"] = "learned"

    return change


def test_a_long_grammar_of_a_model_is_read_when_it_is_asked_for(tmp_path, monkeypatch):
    path, times, read = changed_model(tmp_path, long_grammar()), [], Grammar.parse_any

    def counted(*args):
        times.append(args)
        return read(*args)

    monkeypatch.setattr(Grammar, "parse_any", counted)
    model = load(path)
    model.rules()
    assert model.tree_ == load(GOLDEN).tree_
    times.clear()
    assert len(model.grammar_.rules) == LONG_GRAMMAR // 4 + 2
    assert str(model.grammar_).startswith("A ::= F(B)")
    assert model.grammar == model.grammar_
    assert pickle.loads(pickle.dumps(model.grammar_)) == model.grammar_  # noqa: S301 - its own
    assert len(times) == 1
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = load(path).grammar_.nothing


def test_a_long_grammar_that_is_damaged_is_told_of_when_it_is_asked_for(tmp_path):
    model = load(changed_model(tmp_path, long_grammar("on on")))
    with pytest.raises(ModelFormatError, match="this model file is damaged: its grammar, line 2, column"):
        _ = model.grammar_.rules


def test_a_grammar_that_no_model_could_be_loaded_with_is_refused_when_it_is_made(monkeypatch):
    columns = Schema(
        [Column(f"x{i}", "real", kind="height") for i in range(300)]
    )  # 89,700 pairs, which there is room for
    Grammar.parse("A ::= F(each real < other)", columns)
    columns = Schema([*columns.values(), Column("b", "Boolean"), Column("c", "Boolean")])
    sentences = " | ".join(f"each real < {i}" for i in range(300))
    monkeypatch.setattr(limits, "MOST_OF", {"|": 50_000})
    with pytest.raises(GrammarError, match=r"with its groups written out, has 90,\d\d\d times '\|'; at most 50,000"):
        Grammar.parse(f"A ::= F(B)\nB ::= {sentences} | b", columns)


def test_a_grammar_over_very_many_columns_may_be_longer(monkeypatch):
    monkeypatch.setattr(limits, "MOST_OF", {"|": 10})
    monkeypatch.setattr(limits, "FOR_COLUMNS", 10)
    few, many = (Schema([Column(f"x{i}", "Boolean") for i in range(number)]) for number in (10, 30))
    grammar = Grammar.parse("A ::= F(each Boolean)", many)
    assert Grammar.parse(str(grammar), many) == grammar
    with pytest.raises(GrammarError, match=r"29 times '\|'; at most 10 are read"):
        Grammar.parse(str(grammar), few)
