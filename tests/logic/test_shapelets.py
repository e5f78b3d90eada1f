"""Shapes: pieces of records as words, from what they mean to how they are said, searched for and drawn."""

import math
import random
import sqlite3

import numpy as np
import pandas as pd
import pytest
from matplotlib.text import Text
from typer.testing import CliRunner

from tests.support import oracle
from tests.support.class_trees import class_leaf, class_tree
from tests.support.effort import few_fast
from tests.support.report_page import data_of

from telltree import Formula, Grammar, GrammarTreeClassifier, Panel, export_model, load
from telltree.cli.app import app
from telltree.engine.formula_evaluator import signals_of
from telltree.errors import DataError, GrammarError, SettingsError, SpeechError
from telltree.explain import decisive_steps, english
from telltree.logic import Shape
from telltree.report import plot_record, write_report
from telltree.report.style import with_small_pictures
from telltree.search import Exhaustive, GeneticProgramming, GrammaticalEvolution, MonteCarlo
from telltree.tree import Node

NO, BIG = np.nan, np.inf
PEAK = "distance[0, 1, 0](x)"


def panel_of(*records, **timed):
    return Panel.from_arrays([np.array(record, float)[:, None] for record in records], columns=["x"], **timed)


def values(text, panel):
    signal = Formula.parse(f"F({text} > 0)", panel.schema).expression.args[0].args[0]
    found = signals_of(panel).values(signal)[panel.rows()]
    return [None if math.isnan(value) else value for value in found.tolist()]


@pytest.mark.filterwarnings("ignore::telltree.errors.DataWarning")
def test_what_it_means():
    """From 0 for the same form, over 1 for none at all, to 2 for the opposite, whatever the height and the size."""
    panel = panel_of(
        [5, 6, 5, 4, 5], [0, 0, 0], [1, 1e6, 1], [3, 2], [1, NO, 1, 4, 1], [0, BIG, 0, 1, 0], [9, -9e307, 9]
    )
    assert values(PEAK, panel) == [
        *(None, None, 0, 1.414214, 2), *(None, None, 1), *(None, None, 0), *(None, None), *(None, None, None, None, 0),
        *(None, None, None, None, 0), *(None, None, 2),
    ]  # fmt: skip
    far = panel_of([-1.5e308, 1.5e308, 0])
    assert values(PEAK, far) == [None] * 3, "further apart than numbers go"


def test_neither_height_nor_size_of_the_shape_counts():
    panel = panel_of(np.random.default_rng(0).normal(size=60))
    assert (
        values(PEAK, panel)
        == values("distance[-3, 7.5, -3](x)", panel)
        == values("distance[1e300, 2e300, 1e300](x)", panel)
    )


@pytest.mark.parametrize("seed", few_fast(range(3)))
def test_long_ragged_records_agree_with_the_oracle(seed):
    rng = random.Random(seed)
    lengths = (1, 2, 70, *(rng.randint(1, 40) for _ in range(20)))
    records = [
        [None if rng.random() < 0.03 else 1e3 + rng.gauss(0, 1) * rng.choice((1.0, 1e-3, 1e9)) for _ in range(length)]
        for length in lengths
    ]
    panel = panel_of(*([NO if x is None else x for x in record] for record in records))
    for steps in (2, 3, 7, 30):
        shape = tuple(rng.gauss(0, 1) for _ in range(steps))
        wanted = [
            v
            for record in records
            for v in oracle.values(("distance[]", ("x", "x"), ("shape", shape)), {"x": record}, {})
        ]
        found = values(f"distance[{', '.join(map(str, shape))}](x)", panel)
        assert [x is None for x in found] == [x is None for x in wanted]
        known = [(a, b) for a, b in zip(found, wanted, strict=True) if a is not None]
        assert known
        np.testing.assert_allclose(*zip(*known, strict=True), atol=1.5e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("F(distance[1](x) < 1)", r"distance\[\] takes its shape as 2 to 1,000 numbers that are not all the s"),
        ("F(distance[2, 2](x) < 1)", r"found numbers that are all the same; write distance\[0, 1, 3, 2\]\(x\)"),
        ("F(distance[-1e308, 1e308](x) < 1)", "found numbers too large to compare"),
        ("F(distance[0, 1](x, 2) < 1)", r"distance\[\] takes 1 operand, found 2"),
        ("F(distance[0, x](x) < 1)", "a shape is made of numbers alone"),
        ("F(distance[0, 1 s](x) < 1)", "a shape is made of numbers alone"),
        ("F(distance[0, 1](3) < 1)", "distance takes a real vector, and a shape; found a number and a shape"),
        ("F(distance(x) < 1)", r"distance is no function; did you mean distance\[\]\?"),
        (f"F(distance[{', '.join(map(str, range(1001)))}](x) < 1)", "found 1,001 numbers"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(text, message):
    with pytest.raises(GrammarError, match=message):
        Formula.parse(text, panel_of([1, 2]).schema)


def test_texts_and_grammars_hold_it():
    panel = panel_of([1, 2, 3])
    text = "F(distance[-1, 0.5, 2](x) < 0.4)"
    formula = Formula.parse("F(distance[−1.0, .5, 2e0](x) < .4)", panel.schema)
    assert str(formula) == text
    assert formula.latex() == r"\mathrm{F}(\mathrm{distance}_{[-1, 0.5, 2]}(\text{x}) < 0.4)"
    assert formula.expression.terminals == 6
    grammar = Grammar.parse(
        f"Start ::= F(Like < [0.4, 1])\nLike ::= distance[0, 1](x) | {PEAK} | distance[1, 0](x)", panel
    )
    assert Grammar.parse(str(grammar), panel) == grammar
    assert f"F({PEAK} < 0.4)" in {str(derivation.expression) for derivation in grammar.enumerate(6)}


@pytest.mark.parametrize(
    ("picture", "name"),
    [
        ("▁▂▄█", "rise"), ("█▇▃▁", "fall"), ("▁▄█▄▁", "rise-fall"), ("█▁█", "fall-rise"), ("▁▂▁▄▅▄█", "rise"),
        ("▁█▁█▁", "rise-fall-rise-fall"), ("▁█▁█▁█", "wave"), ("▄▅▄▁▂█", "fall-rise"), ("▁▁▁█", "rise"),
    ],
)  # fmt: skip
def test_what_a_shape_does_is_named(picture, name):
    shape = Shape.drawn(picture)
    assert (shape.name, shape.picture) == (name, picture)


def test_what_has_no_picture():
    assert Shape.drawn("▁x") is Shape.drawn("") is None
    assert Shape((0.0, 8.0)).picture is Shape((0.5, 1.0)).picture is None


SAID = [
    ("F(distance[0, 4, 7, 3](t) < 0.4)", "at some point the last 4 values of the temperature so far look "
                                         "like a rise-fall ▁▅█▄ within a distance of 0.4"),
    ("not F(distance[0, 4, 7, 3](t) < 0.4)", "the last 4 values of the temperature so far never look like a "
                                             "rise-fall ▁▅█▄ within a distance of 0.4"),
    ("G(not distance[7, 0](t) < 1)", "the last 2 values of the temperature so far never look like a fall █▁ "
                                     "within a distance of 1"),
    ("F(distance[7, 0](t) >= 1)", "at some point the distance of the latest values of the temperature from a "
                                  "fall █▁ is at least 1"),
    ("F(distance[-1, 0.5](t) <= 1)", "at some point the distance of the latest values of the temperature "
                                     "from a rise “−1 0.5” is at most 1"),
    ("F(distance[-1, 0.5](t) < 1)", "at some point the last 2 values of the temperature so far look like a "
                                    "rise “−1 0.5” within a distance of 1"),
    (
        "F(distance[7, 0](t) < 1 and door)",
        "at some point the last 2 values of the temperature so far look like a fall █▁ within a distance of "
        "1 while the door is open",
    ),
    (
        "F(not distance[7, 0](t) < 1 and door)",
        "at some point the last 2 values of the temperature so far do not look like a fall █▁ within a "
        "distance of 1 while the door is open",
    ),
    (
        "F(distance[7, 0](change(t, 2)) < 1 or door)",
        "at some point either the last 2 values of the change of the temperature since the later of the "
        "start and 2 min earlier so far look like a fall █▁ within a distance of 1, or the door is open",
    ),
    (
        "F(distance[7, 0](t) > 0.5 and distance[7, 0](t) < 1)",
        "at some point the distance of the latest values of the temperature from a fall █▁ is between 0.5 and 1",
    ),
    (
        "F(distance[7, 0](t) < distance[0, 7](t))",
        "at some point the distance of the latest values of the temperature from a rise ▁█ is above the "
        "distance of the latest values of the temperature from a fall █▁",
    ),
]  # fmt: skip


def rooms():
    rng = np.random.default_rng(1)
    rows = [np.column_stack([rng.normal(20, 2, n).round(1), rng.random(n) < 0.4]) for n in (1, 2, 4, 9, 9, 9, 30)]
    schema = {
        "t": {"unit": "°C", "phrase": "the temperature"},
        "door": {"type": "Boolean", "phrase": "the door is open"},
    }
    return Panel.from_arrays(rows, columns=["t", "door"], schema=schema, period=1.0, time_unit="min")


@pytest.mark.parametrize(("text", "said"), SAID)
def test_it_is_said_and_read_back(text, said):
    panel = rooms()
    asked = Formula.parse(text, panel.schema)
    assert english(asked.expression, panel.schema, (), step=panel.step) == said
    again = Formula.from_english(said, panel.schema, step=panel.step)
    assert [one.tolist() for one in again.over_time(panel)] == [one.tolist() for one in asked.over_time(panel)]


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("at some point x looks like a fall ▁█ within 1", "expected the picture of a fall; this one is a rise"),
        ("at some point x looks like a rise within 1", "expected a shape, such as 'a rise-fall ▁▅█▄', found 'within'"),
        ("at some point x looks like a rise “1 1” within 1", "expected a shape, such as"),
        ("at some point x looks like a rise ▁█", "expected 'within'"),
    ],
)  # fmt: skip
def test_what_is_misspoken_is_told(said, message):
    with pytest.raises(SpeechError, match=message):
        Formula.from_english(said, panel_of([1, 2]).schema)


def tree_of(text, panel):
    sides = class_leaf((1, 0), (1.0, 0.0)), class_leaf((0, 1), (0.0, 1.0))
    return class_tree(Node(Formula.parse(text, panel.schema), *sides), ("yes", "no"), panel.schema, None, panel.step)


def test_a_tree_with_it_refuses_steps_of_another_length_and_stl():
    tree = tree_of("F(distance[0, 1](t) < 1)", rooms())
    other = Panel.from_arrays(
        [np.ones((3, 2))], columns=["t", "door"], schema=rooms().schema, period=2, time_unit="min"
    )
    with pytest.raises(DataError, match="windows of steps of 1 min, but these records have steps of 2 min"):
        tree.predict(other)
    with pytest.raises(SettingsError, match="cannot be exported to STL, which makes no numbers of those at several"):
        export_model(tree, "stl")


def test_programs_find_the_same_to_the_last_digit():
    """Constants are the distances themselves, so that the last of their digits decides."""
    rng = np.random.default_rng(2)
    records = [rng.normal(100, 1, rng.integers(5, 40)).round(3) for _ in range(12)]
    panel = panel_of(*records)
    shape = "distance[1, 2, 5, 4, 0, 2](x)"
    least = sorted(
        {min(v for v in values(shape, panel[[i]]) if v is not None) for i in range(len(records)) if len(records[i]) > 5}
    )
    connection = sqlite3.connect(":memory:")
    table = pd.DataFrame(
        [(i, t, x) for i, record in enumerate(records) for t, x in enumerate(record)], columns=["id", "t", "x"]
    )
    table.to_sql("records", connection, index=False)
    for bound in least[::3]:
        tree = tree_of(f"F({shape} <= {bound})", panel)
        wanted = tree.predict(panel).tolist()
        assert set(wanted) == {"yes", "no"} or bound == least[-1]
        query = export_model(tree, "sql", table="records", id="id", time="t")
        assert [label for *_, label in connection.execute(query)] == wanted
        found = {}
        exec(export_model(tree, "python"), found)  # noqa: S102  # what telltree wrote
        assert [found["predict"]({"x": record.tolist()}) for record in records] == wanted


def test_sql_refuses_a_shape_too_long_for_it():
    panel = panel_of(range(3))
    with pytest.raises(SettingsError, match="cannot be exported to SQL, where a shape has at most 400 steps"):
        export_model(tree_of(f"F(distance[{', '.join(map(str, range(401)))}](x) < 1)", panel), "sql")


def test_a_column_may_be_called_distance():
    panel = Panel.from_arrays([np.array([[1.0], [2.0], [1.0]])], columns=["distance"])
    assert str(Formula.parse("F(distance[0, 1, 0](distance) < distance)", panel.schema)) == (
        "F(distance[0, 1, 0](distance) < distance)"
    )


def bumps(records=60, seed=0):
    """Noise at any height, with a bump somewhere: of one class it rises slowly and falls fast, of the other it turns
    round. No value, count or change tells them apart."""
    rng, rows, up = np.random.default_rng(seed), [], np.arange(records) % 2 == 0
    bump = np.concatenate([np.linspace(0, 1, 9), np.linspace(1, 0, 4)[1:]])
    for slow in up:
        row, first = rng.normal(0, 0.05, 60), rng.integers(0, 48)
        row[first : first + 12] += bump if slow else bump[::-1]
        rows.append((row * rng.uniform(1, 9) + rng.normal(0, 20))[:, None])
    return Panel.from_arrays(rows, columns=["x"]), np.where(up, "slow", "fast")


def test_a_language_draws_pieces_of_the_records():
    panel, y = bumps()
    grammar = Grammar.for_panel(panel, y, shapes=30)
    shapes = {e.head for rule in grammar.rules for e in rule.template.walk() if isinstance(e.head, Shape)}
    assert 20 < len(shapes) <= 30
    assert {len(shape.values) for shape in shapes} == {6, 12, 24}, "tenths of 60 steps"
    assert all(shape.picture and {0, 7} <= set(shape.values) for shape in shapes)
    assert str(Grammar.for_panel(panel, y, shapes=30)) == str(grammar)
    assert Grammar.parse(str(grammar), panel) == grammar
    assert "distance" not in str(Grammar.for_panel(panel, y)), "unless they are asked for"


def test_where_there_are_no_shapes_the_language_has_none():
    noise = np.random.default_rng(0).normal(size=(5, 240))
    with_gaps, flat = noise.copy(), np.zeros((5, 240))
    with_gaps[:, ::3] = NO
    flat[:, 0] = range(5)
    for records in (noise[:, :4], with_gaps, flat):
        panel = panel_of(*records)
        assert str(Grammar.for_panel(panel, shapes=9)) == str(Grammar.for_panel(panel))
    with pytest.raises(SettingsError, match="shapes"):
        Grammar.for_panel(panel, shapes=-1)


SEARCHES = [
    MonteCarlo(3000),
    GeneticProgramming(evaluations=3000),
    GrammaticalEvolution(evaluations=3000),
    Exhaustive(max_atoms=1),
]


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_searches_find_what_only_a_shape_can_say(search):
    panel, y = bumps()
    learnt = GrammarTreeClassifier("shapes", search, max_depth=1, random_state=0).fit(panel, y)
    assert "distance[" in str(learnt.tree_.root.formula)
    assert learnt.score(*bumps(seed=1)) > 0.9
    assert any("look like a" in rule.english for rule in learnt.rules())


def test_a_model_with_shapes_is_a_file_like_any_other(tmp_path):
    panel, y = bumps()
    model = GrammarTreeClassifier("shapes", MonteCarlo(500), max_depth=2, random_state=0).fit(panel, y)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.predict(panel).tolist() == model.predict(panel).tolist()
    assert again.get_params()["grammar"] == "shapes"
    assert again.grammar_ == model.grammar_


def test_the_command_line_asks_for_shapes(tmp_path):
    panel, y = bumps(30)
    table = pd.DataFrame({"id": np.repeat(np.arange(30), 60), "x": panel.column("x"), "label": np.repeat(y, 60)})
    table.to_csv(tmp_path / "bumps.csv", index=False)
    told = [str(tmp_path / "bumps.csv"), "--id", "id", "--label", "label"]
    runner = CliRunner()
    written = runner.invoke(app, ["grammar", *told, "--shapes", "9"])
    assert (written.exit_code, "F(Look)" in written.stdout, written.stdout.count("distance[") > 5) == (0, True, True)
    model = tmp_path / "model.json"
    learnt = runner.invoke(
        app,
        [
            "fit",
            *told,
            "--grammar",
            "shapes",
            "--search",
            "mc",
            "--search-evaluations",
            "500",
            "-o",
            str(model),
        ],
    )
    assert learnt.exit_code == 0, learnt.output
    assert "distance[" in model.read_text(encoding="utf-8")


def one_shape(panel):
    return tree_of("F(distance[0, 1, 2, 3, 5, 7, 4, 0](x) < 0.4)", panel)


def test_figures_mark_the_piece_that_was_compared():
    panel, _ = bumps(8)
    tree = one_shape(panel)
    step = int(decisive_steps(tree.nodes[0].formula, panel[[0]])[0])
    figure = plot_record(tree, panel, 0)
    thick = [drawn for drawn in figure.axes[0].lines if drawn.get_linewidth() == 5]
    assert [drawn.get_xdata().tolist() for drawn in thick] == [list(range(step - 7, step + 1))]
    assert any("a rise-fall ▁▂▃▄▆█▅▁" in text.get_text().replace("\n", " ") for text in figure.findobj(Text))
    both = tree_of("F(distance[0, 1, 2](x) < 0.4 or distance[0, 2, 1, 1](x) < 0.4)", panel)
    assert not [drawn for drawn in plot_record(both, panel, 0).axes[0].lines if drawn.get_linewidth() == 5]


def test_a_long_picture_is_small_in_figures():
    assert with_small_pictures("a wave ▁█ or “▁” is so") == "a wave ▁█ or “▁” is so"
    long = "".join("▁▂▃▄▅▆▇█"[i // 8] for i in range(64))
    assert with_small_pictures(f"like a rise {long} within 1") == "like a rise ▁▁▂▂▃▃▄▄▅▅▆▆▇▇██ within 1"


def test_a_report_tells_which_steps_were_compared(tmp_path):
    panel, y = bumps(8)
    labels = np.where(y == "slow", "yes", "no")
    page = write_report(one_shape(panel), panel, labels, tmp_path / "report.html").read_text(encoding="utf-8")
    node = data_of(page)["nodes"][0]
    assert node["pieces"] == [["x", 8]]
    assert node["english"] == (
        "at some point the last 8 values of x so far look like a rise-fall ▁▂▃▄▆█▅▁ within a distance of 0.4"
    )
