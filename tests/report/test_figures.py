"""Figures of trees, searches, fronts and confusion matrices."""

import io
import math
import subprocess
import sys
from dataclasses import replace
from types import SimpleNamespace

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from matplotlib.text import Text

from tests.support.class_trees import class_leaf, class_tree
from tests.support.figure_cases import ODD, comb, leaf, node, saved, words

from telltree import Formula, GrammarTreeClassifier, Panel
from telltree.errors import DataError, SettingsError
from telltree.logic.expression import level_text
from telltree.report import (
    plot_category,
    plot_collage,
    plot_confusion,
    plot_pruning_path,
    plot_record,
    plot_search,
    plot_tree,
)
from telltree.search import Moment, MonteCarlo, SearchResult
from telltree.tree import Node
from telltree.tree.pruning_path import Measured, Pruning, PruningPath, TreeScore

# The tree.


def test_a_tree_shows_formulas_categories_and_counts(tree):
    figure = saved(plot_tree(tree, text="formula"))
    assert isinstance(figure, Figure)
    said = words(figure)
    assert {"F(rate > 25)", 'F(on ∧ (mode = "level"))', "yes", "no"} <= set(said)
    assert {"[1] hit", "[2] miss", "[3] mixed: hit or miss"} <= set(said)
    assert {"hit: 2, miss: 2", "miss: 2, hit: 1", "hit: 1", "miss: 1", "hit: 1, miss: 1"} <= set(said)
    assert len(figure.findobj(FancyBboxPatch)) == 5


def test_a_tree_speaks_english_and_counts_the_records_of_a_panel(tree, flights, ends):
    figure = saved(plot_tree(tree, panel=flights, y=ends))
    assert "at some point the vertical rate is above 25 ft/s" in words(figure)
    assert "[1] hit" in words(figure)
    assert words(figure).count("hit: 2") == 1  # both records that climb steeply, one of them beyond all bounds
    assert words(saved(plot_tree(tree, panel=flights))).count("2 records") == 2
    strange = plot_tree(tree, panel=flights, y=["hit", "lost", "lost", "hit"])
    assert "lost" in words(saved(strange))


def test_counts_that_are_too_much_to_say_are_summed_up(flights):
    many = comb(3, flights.schema, classes=9)
    assert {"36 records, 9 classes", "9 records, 9 classes"} <= set(words(saved(plot_tree(many))))
    long = class_tree(leaf(3, 0), ("n" * 200, "m"), flights.schema)
    assert "3 records" in words(saved(plot_tree(long)))


def test_a_classifier_draws_itself(flights, ends):
    search = MonteCarlo(evaluations=50)
    model = GrammarTreeClassifier("Start ::= F(rate > [4, 25])", search, max_depth=1, random_state=0)
    model.fit(flights, ends)
    assert words(model.plot()) == words(plot_tree(model.tree_))
    assert words(model.plot(flights[:2], ends[:2])) == words(plot_tree(model.tree_, panel=flights[:2], y=ends[:2]))


def test_constants_have_the_digits_asked_for(flights):
    third = class_tree(node(f"F(rate > {1 / 3!r})", flights.schema, leaf(1, 0), leaf(0, 1)), ("a", "b"), flights.schema)
    assert "F(rate > 0.3333)" in words(plot_tree(third, text="formula"))
    assert "F(rate > 0.33)" in words(plot_tree(third, text="formula", digits=2))
    assert "".join(["F(rate", ">", "0.3333333333333333)"]) in "".join(
        "".join(words(plot_tree(third, text="formula", digits=None))).split()
    )


@pytest.mark.parametrize(("nodes", "classes"), [(0, 1), (1, 2), (7, 40), (60, 2)])
def test_trees_of_any_size_are_drawn_with_every_word_in_its_box(flights, nodes, classes):
    figure = saved(plot_tree(comb(nodes, flights.schema, classes)))
    cards = figure.findobj(FancyBboxPatch)
    assert len(cards) == 2 * nodes + 1
    renderer = figure.canvas.get_renderer()
    frames = [card.get_window_extent(renderer) for card in cards]
    for text in figure.findobj(Text):
        if text.get_text().startswith(("F(", "[")):
            box = text.get_window_extent(renderer)
            assert any(f.x0 <= box.x0 and box.x1 <= f.x1 and f.y0 <= box.y0 and box.y1 <= f.y1 for f in frames), text
    assert sum(text.startswith("[") for text in words(figure)) == nodes + 1


def test_a_tree_fits_into_given_axes(flights):
    figure = Figure(figsize=(4, 3))
    ax = figure.subplots(1, 2)[1]
    assert plot_tree(comb(7, flights.schema), ax=ax, direction="down") is figure
    assert ax.get_window_extent().x0 > 0
    saved(figure)


@pytest.mark.parametrize(("name", "text"), list(zip(ODD, ["english", "formula"] * 4, strict=False)))
def test_odd_names_are_drawn_as_they_are(name, text):
    table = np.array([[1.0, 5.0], [2.0, 6.0], [9.0, 7.0]], dtype=object)
    table = np.column_stack([table, [name, "other", name]])
    panel = Panel.from_arrays([table, table[:1]], columns=[name, "x", "c"], ids=[name, "b"], time_unit=name, period=1.0)
    formula = Formula.parse("F(x > 6)", panel.schema).expression
    odd = next(e for e in formula.walk() if str(e) == "x > 6")
    column = type(odd.args[0])(type(odd.args[0].head)(name, odd.args[0].head.type))
    inner = type(odd)(odd.head, (column, odd.args[1]))
    level = Formula.parse(f"F(c = {level_text(name)})", panel.schema)
    root = Node(Formula(type(formula)(formula.head, (inner,))), Node(level, leaf(1, 0), leaf(0, 1)), leaf(0, 1))
    tree = class_tree(root, (name, "_other"), panel.schema)
    y = [name, "_other"]
    figures = [
        plot_tree(tree, text=text, panel=panel, y=y),
        plot_record(tree, panel, 0, text=text),
        plot_category(tree, panel, y, 1, text=text),
        plot_collage(tree, panel, y, text=text),
        plot_confusion(y, y),
    ]
    shown = " ".join(name.split())[:12]
    for figure in figures:
        saved(figure)
        assert any(shown in said for said in words(figure)), words(figure)
        assert not any(text.get_parse_math() for text in figure.findobj(Text) if shown in text.get_text())


def test_a_dark_theme_does_not_make_words_vanish(tree, flights):
    with matplotlib.rc_context():
        matplotlib.rcParams.update({"text.color": "white", "axes.labelcolor": "white", "xtick.color": "white"})
        matplotlib.rcParams.update({"axes.facecolor": "black", "figure.facecolor": "black", "ytick.color": "white"})
        before = dict(matplotlib.rcParams)
        figures = [plot_tree(tree), plot_record(tree, flights, 0), plot_confusion([1, 2], [1, 1])]
        for figure in figures:
            saved(figure)
            drawn = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
            assert all(text.get_color() != "white" or text.get_text() == "1" for text in drawn)
            assert figure.get_facecolor()[:3] == (1, 1, 1)
        assert dict(matplotlib.rcParams) == before


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"text": "latin"}, 'text must be "formula" or "english"'),
        ({"direction": "up"}, "direction must be"),
        ({"digits": 0}, "digits must be a whole number of at least 1"),
        ({"y": ["hit"]}, "without the panel"),
    ],
)
def test_senseless_settings_of_a_tree_are_refused(tree, wrong, says):
    with pytest.raises(SettingsError, match=says):
        plot_tree(tree, **wrong)


# Searches.


def found(*moments, evaluations=100, seconds=2.0):
    return SearchResult(None, (), None, tuple(Moment(*moment) for moment in moments), evaluations, seconds, False)


def test_a_search_falls_with_evaluations_and_with_time():
    figure = saved(plot_search(found((10, 0.1, math.inf), (20, 0.5, 40.0), (60, 1.0, 30.0))))
    by_evaluations, by_time = (ax.lines[0] for ax in figure.axes)
    assert by_evaluations.get_xdata().tolist() == [20, 60, 100]
    assert by_evaluations.get_ydata().tolist() == [40, 30, 30]
    assert by_time.get_xdata().tolist() == [0.5, 1.0, 2.0]
    assert {"evaluations", "seconds", "best fitness"} <= set(words(figure))


def test_searches_of_many_nodes_and_of_none():
    runs = {number: found((number, 0.1, 40.0 - number)) for number in range(1, 40)}
    figure = saved(plot_search(runs))
    assert {"node 1", "and 27 more"} <= set(words(figure))
    assert "nothing of use was found" in words(saved(plot_search(found((10, 0.1, math.inf)))))
    assert "_a" in words(saved(plot_search({"_a": found((1, 0.1, 1.0))})))
    with pytest.raises(DataError, match="no searches"):
        plot_search({})


# The front.


def scored(tree):
    """The front of a tree, each step of it a little better than the one before."""
    pruning_path = PruningPath.of(tree)
    return pruning_path.scored([TreeScore(0.5 + 0.4 * k / len(pruning_path), 0.02) for k in range(len(pruning_path))])


def bars(figure):
    """Where error bars are: words, share, error, in percent."""
    ax = figure.axes[0]
    lengths = [(container[0].get_xydata()[0], container[2][0].get_segments()[0]) for container in ax.containers]
    return [(x, y, (segment[1][1] - segment[0][1]) / 2) for (x, y), segment in lengths]


def test_a_front_shows_words_against_right_answers(unequal):
    pruning_path = scored(unequal)
    assert [step.leaves for step in pruning_path] == [1, 2, 3]
    figure = saved(plot_pruning_path(pruning_path))
    told = [(step.words, 100 * step.score.share, 100 * step.score.error) for step in pruning_path]
    assert bars(figure) == [pytest.approx(one) for one in told]
    assert {"1", "2", "3", "words of the questions", "accuracy on records not seen (%)"} <= set(words(figure))
    decided = PruningPath(
        replace(s, score=TreeScore(0.9, 0.1, Measured(s.score.share, 0.2), Measured(0.1, 0.1))) for s in pruning_path
    )
    figure = saved(plot_pruning_path(decided))
    assert bars(figure) == [pytest.approx((x, share, 20.0)) for x, share, _ in told]
    assert "balanced accuracy on records not seen (%)" in words(figure)
    assert "the model’s own" not in words(figure)


def test_the_model_is_marked_in_its_front(unequal):
    pruning_path = scored(unequal)
    model = SimpleNamespace(pruning_path_=pruning_path, tree_=pruning_path[1].tree)
    figure = saved(plot_pruning_path(model))
    assert "the model’s own" in words(figure)
    assert [text.get_text() for text in figure.axes[0].texts if text.get_fontweight() == "bold"] == ["2"]
    assert len(bars(figure)) == len(pruning_path)


@pytest.mark.parametrize("nodes", [0, 1, 70])
def test_fronts_of_any_size(flights, nodes):
    steps = [Pruning(comb(number, flights.schema), 0.0, TreeScore(0.9, 0.01)) for number in range(nodes + 1)]
    figure = saved(plot_pruning_path(SimpleNamespace(pruning_path_=PruningPath(steps), tree_=steps[-1].tree)))
    shown = [text.get_text() for text in figure.axes[0].texts]
    assert str(nodes + 1) in shown
    assert len(bars(figure)) == nodes + 1
    drawn = [text.get_window_extent() for text in figure.axes[0].texts]
    assert not any(one.overlaps(other) for k, one in enumerate(drawn) for other in drawn[:k])


@pytest.mark.parametrize(
    ("wrong", "says"),
    [(PruningPath.of, "fit the classifier with cv=5"), (lambda tree: tree, "got Tree without one")],
)
def test_fronts_that_cannot_be_drawn_are_refused(unequal, wrong, says):
    with pytest.raises(SettingsError, match=says):
        plot_pruning_path(wrong(unequal))


@pytest.fixture
def unequal(flights):
    """Two questions, of which the first is worth more."""
    schema = flights.schema
    inner = replace(node("F(on)", schema, leaf(0, 9), leaf(5, 4)), naming=5.0)
    outer = replace(node("F(rate > 25)", schema, leaf(60, 0), inner), naming=5.0)
    return class_tree(outer, ("hit", "miss"), schema)


# The confusion matrix.


def test_a_confusion_matrix_counts_rows_by_truth():
    figure = saved(plot_confusion(["a", "a", "b", "b", "b"], ["a", "b", "b", "b", "b"], classes=["b", "a", "c"]))
    ax = figure.axes[0]
    cells = {(round(t.get_position()[1]), round(t.get_position()[0])): t.get_text() for t in ax.texts}
    assert cells == {(0, 0): "3", (1, 0): "1", (1, 1): "1"}
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["b", "a", "c"]


@pytest.mark.parametrize("classes", [1, 2, 40])
def test_confusion_matrices_of_any_size(classes):
    y = np.arange(200) % classes
    figure = saved(plot_confusion(y, y[::-1]))
    assert len(figure.axes[0].get_xticklabels()) == classes
    saved(plot_confusion([f"a class of long name {k}" for k in y], [f"a class of long name {k}" for k in y]))


@pytest.mark.parametrize(
    ("true", "predicted", "classes", "says"),
    [
        ([1], [1, 2], None, "1 true labels, but 2"),
        ([], [], None, "no labels"),
        ([1, 2], [1, 2], [1], "labels 2 are not among the classes"),
        ([[1]], [[1]], None, "one-dimensional"),
    ],
)
def test_labels_that_cannot_be_compared_are_refused(true, predicted, classes, says):
    with pytest.raises(DataError, match=says):
        plot_confusion(true, predicted, classes)


def test_labels_of_several_types_are_compared():
    assert "2" in words(saved(plot_confusion([1, "a", "a"], [1, "a", "a"])))


# The library.


def test_without_matplotlib_the_remedy_is_named():
    code = "import sys; sys.modules['matplotlib'] = None\nfrom telltree.report import plot_tree"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert 'pip install "telltree[plot]"' in run.stderr.splitlines()[-1]


def test_pyplot_is_never_loaded():
    code = (
        "import sys\nfrom telltree.report import plot_confusion, plot_tree, plot_record, plot_collage\n"
        "plot_confusion([1], [1]).savefig('/dev/null', format='png')\nprint('matplotlib.pyplot' in sys.modules)"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "False"


@pytest.mark.parametrize("constant", [sys.float_info.max, -sys.float_info.max])
def test_constants_near_the_largest_float_are_drawn(constant):
    panel = Panel.from_arrays([np.array([[1.0], [2.0]]), np.array([[5.0], [3.0]])], columns=["x"])
    formula = Formula.parse(f"F(x > {constant!r})", panel.schema)
    leaves = class_leaf((0, 1), (0.0, 1.0)), class_leaf((1, 0), (1.0, 0.0))
    tree = class_tree(Node(formula, *leaves), ("a", "b"), panel.schema)
    for figure in (plot_tree(tree), plot_record(tree, panel, 0), plot_category(tree, panel, number=2)):
        figure.savefig(io.BytesIO(), format="png")
