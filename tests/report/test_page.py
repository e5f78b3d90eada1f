"""The report as text: what it says of the tree, its categories and their records, and that hard data does no harm."""

from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest
from sklearn.base import clone

from tests.support.class_trees import class_leaf, class_tree
from tests.support.report_cases import HARD, grown, single_leaf, sixty_categories, small, titled
from tests.support.report_page import Page, data_of

from telltree import Formula, GrammarTreeClassifier, Panel, load
from telltree.engine.formula_evaluator import FormulaEvaluator
from telltree.engine.trace import Tracer
from telltree.errors import DataError, SettingsError
from telltree.explain import categorize, path_of
from telltree.explain.categories import missing_columns
from telltree.explain.sentence import sentence
from telltree.panel import Column, Schema
from telltree.proportions import wilson
from telltree.report import report_html, write_report
from telltree.search import MonteCarlo
from telltree.text import percent
from telltree.tree import MDL, Node
from telltree.tree.pruning_path import Measured, Pruning, PruningPath, TreeScore


@pytest.fixture(scope="module")
def plain():
    return small()


@pytest.fixture(scope="module")
def html(plain):
    return titled(*plain)


@pytest.fixture(scope="module")
def data(html):
    return data_of(html)


def test_same_inputs_give_the_same_bytes(plain, html):
    tree, panel, y = plain
    again = report_html(*small()[:2], y, title="A title", held_out=(panel[:20], y[:20]))
    assert again == html
    assert report_html(tree, panel, y, title="Another") != html


@pytest.mark.parametrize("case", HARD, ids=lambda case: case.__name__)
def test_hard_data_is_shown(case):
    tree, panel, y = case()
    made = report_html(tree, panel, y)
    found = data_of(made)
    assert len(found["categories"]) == len(tree.leaves)
    assert sum(category["records"] for category in found["categories"]) == len(panel)
    assert found["total"] == len(panel)
    assert len(made.encode()) < 2_000_000


def test_the_overview_says_how_well_the_tree_does(plain, html):
    tree, panel, y = plain
    right = tree.predict(panel) == np.asarray(y, dtype=object)
    low, high = wilson(right[:20].mean(), 20)
    text = Page(html).text
    assert f"{100 * right.mean():.1f} %" in text
    assert f"{100 * low:.1f} % to {100 * high:.1f} %" in text or f"{100 * low:.1f} % to 100 %" in text
    assert "Held out" in text


def test_categories_are_those_of_explain(plain, data):
    tree, panel, y = plain
    for told, category in zip(data["categories"], categorize(tree, panel, y), strict=True):
        assert told["english"] == category.english
        assert told["formula"] == category.description
        assert told["headline"] == category.headline
        assert (told["short"] or told["english"]) == category.short
        assert told["paper"] == sentence(category.branches, tree.schema, missing_columns(tree, panel), style="paper")
        assert told["figures"].startswith(f"{percent(category.share, 0)} of {told['records']} record")
        assert told["records"] == len(category.positions)
        right = category.counts.get(category.label, 0)
        assert told["wrong"] == len(category.positions) - right
        low, high = wilson(right / told["records"], told["records"])
        assert (told["values"]["low"], told["values"]["high"]) == pytest.approx((low, high), rel=1e-4)


def test_members_belong_to_their_category_and_exceptions_are_wrong(plain, data):
    tree, panel, y = plain
    clusters = tree.apply(panel)
    for category in data["categories"]:
        for sort in ("typical", "borderline", "exceptions"):
            assert set(clusters[category[sort]]) <= {category["number"]}
        label = category["predicted"]
        assert all(y[i] != label for i in category["exceptions"])
        assert all(y[i] == label for i in (*category["typical"], *category["borderline"]))
        right = category["records"] - category["wrong"]
        assert (len(category["typical"]), len(category["borderline"])) == (min(4, -(-right // 2)), min(4, right // 2))
        shown = [*category["typical"], *category["borderline"], *category["exceptions"]]
        assert len(set(shown)) == len(shown)


@pytest.mark.parametrize("records", [1, 2, 3, 5, 9, 30])
def test_no_member_is_in_two_lists_however_few_there_are(records):
    schema = Schema([Column("x", "real")])
    panel = Panel.from_arrays([np.array([[float(i)]]) for i in range(records)], columns=["x"])
    root = Node(Formula.parse("F(x > -1)", schema), class_leaf((records, 0)), class_leaf((0, 1)))
    first, second = data_of(report_html(class_tree(root, ("up", "down"), schema), panel, ["up"] * records))[
        "categories"
    ]
    assert set(first["typical"]).isdisjoint(first["borderline"])
    assert len(first["typical"]) == min(4, (records + 1) // 2)
    assert len(first["borderline"]) == min(4, records // 2)
    assert first["exceptions"] == second["typical"] == second["borderline"] == []


def test_a_mixed_category_is_called_so_and_has_members_of_both_classes_only():
    schema = Schema([Column("x", "real")])
    panel = Panel.from_arrays([np.array([[float(i)]]) for i in range(12)], columns=["x"])
    y = ["up", "down"] * 5 + ["level"] * 2
    root = Node(Formula.parse("F(x > -1)", schema), class_leaf((5, 5, 2)), class_leaf((0, 0, 1)))
    tree = class_tree(root, ("down", "up", "level"), schema)
    found, _ = data_of(report_html(tree, panel, y))["categories"]
    assert (found["title"], found["predicted"]) == ("mixed: down or up", "down")
    assert found["wrong"] == 2
    assert {y[i] for i in found["exceptions"]} == {"level"}
    assert {y[i] for i in (*found["typical"], *found["borderline"])} <= {"up", "down"}
    assert "mixed: down or up" in Page(report_html(tree, panel, y)).text


def test_borderline_members_have_the_smallest_margins(plain, data):
    tree, panel, y = plain
    clusters = tree.apply(panel)
    least = [min(abs(turn.robustness) for turn in path_of(tree, panel, i)) for i in range(len(panel))]
    for category in data["categories"]:
        inside = sorted(
            least[i] for i in np.flatnonzero((clusters == category["number"]) & (y == category["predicted"]))
        )
        assert [least[i] for i in category["borderline"]] == pytest.approx(inside[: len(category["borderline"])])


def test_a_report_works_each_formula_out_once(monkeypatch):
    """Scores, categories, headlines, members, ways and the drawn tree share what was found out."""
    _, panel, y = small(80)
    model = GrammarTreeClassifier(search=MonteCarlo(evaluations=2_000), max_depth=3, random_state=1).fit(panel, y)
    kept, found, trace, truth = panel[60:], [], Tracer.trace, FormulaEvaluator.truth

    def traced(self, e, *given, **how):
        found.append((len(self.panel), e))
        return trace(self, e, *given, **how)

    def evaluated(self, formulas):
        found.extend((len(self.panel), e) for e in formulas)
        return truth(self, formulas)

    report_html(model, panel, y)  # finds the words for categories, which are the same in all reports
    monkeypatch.setattr(Tracer, "trace", traced)
    traced_truth = Tracer.truth
    monkeypatch.setattr(
        Tracer,
        "truth",
        lambda self, parts: (
            found.extend((len(self.panel), e) for e, place in parts.places.items() if place in parts.roots),
            traced_truth(self, parts),
        )[1],
    )
    monkeypatch.setattr(FormulaEvaluator, "truth", evaluated)
    report_html(model, panel, y, held_out=(kept, y[60:]))
    asked = {node.formula.expression for node in model.tree_.nodes}
    assert {e for records, e in found if records == len(panel)} >= asked
    assert {e for records, e in found if records == len(kept)} == asked
    assert len(found) == len(set(found))


def test_ways_are_those_of_explain(plain, data):
    tree, panel, _ = plain
    for record in data["records"]:
        turns = path_of(tree, panel, record["at"])
        assert len(record["way"]) == len(turns)
        for told, turn in zip(record["way"], turns, strict=True):
            node = data["nodes"][told["node"]]
            assert node["formula"] == str(turn.formula)
            assert (told["holds"], told["step"], told["time"]) == (turn.holds, turn.step, turn.time)
            assert told["margin"] == pytest.approx(abs(turn.robustness), rel=1e-4)
            assert (node["english"] if turn.holds else node["negated"]) == turn.english


def test_looks_are_where_the_operand_holds(plain, data):
    _, panel, _ = plain
    record = data["records"][0]
    told = record["way"][0]
    assert data["nodes"][told["node"]]["looks"] == ["speed > 2.5"]
    truth = panel.values("speed", record["at"]) > 2.5
    assert told["looks"] == ["".join("AB"[int(value)] for value in truth)]


def test_a_node_tells_its_runners_up_even_of_columns_it_does_not_have(plain):
    tree, panel, y = plain
    made = data_of(report_html(tree, panel.select(["speed", "on", "mode", "age"]), y))
    assert made["nodes"][0]["others"][0]["formula"] == "F(speed > 2.5)"
    assert made["nodes"][0]["others"][0]["english"] == "at some point speed is above 2.5 m/s"
    assert made["nodes"][0]["others"][0]["paper"] == "at some point, [speed] is greater than 2.5 m/s"
    assert made["nodes"][0]["gain"] == 12.5


def test_labels_may_be_left_away(plain):
    tree, panel, _ = plain
    made = report_html(tree, panel)
    found = data_of(made)
    assert not found["labelled"]
    assert found["list"]["label"] is None
    assert all(category["wrong"] is None and category["sure"]["size"] is not None for category in found["categories"])
    assert "No labels were given" in Page(made).text


def test_labels_the_tree_has_never_seen_are_named(plain):
    tree, panel, y = plain
    strange = y.copy()
    strange[3] = "never seen"
    made = report_html(tree, panel, strange)
    assert data_of(made)["parts"] == ["calm", "wild", "never seen"]
    assert "never seen: never seen" in Page(made).text


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"y": ["calm"]}, DataError, "1 label for 40 records"),
        ({"y": ["a"] * 40}, DataError, "none of the labels is a class of the tree"),
        ({"panel": [[1.0]]}, DataError, "a report shows the records of a Panel, got list"),
        ({"tree": "a tree"}, SettingsError, "a Tree or a fitted classifier, got str"),
        ({"held_out": 3}, DataError, r"held_out must be a pair \(panel, labels\)"),
        ({"examples": 0}, SettingsError, "examples must be a whole number of at least 1, got 0"),
        ({"seed": -1}, SettingsError, "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_bad_input_gets_one_clear_error(plain, change, error, told):
    tree, panel, y = plain
    given = {"tree": tree, "panel": panel, "y": y} | change
    with pytest.raises(error, match=told):
        report_html(given.pop("tree"), given.pop("panel"), given.pop("y"), **given)


def test_a_panel_without_records_is_refused(plain):
    tree, panel, y = plain
    with pytest.raises(DataError, match="no records to report on"):
        report_html(tree, panel[:0], y[:0])
    with pytest.raises(DataError, match="held_out has no records"):
        report_html(tree, panel, y, held_out=(panel[:0], []))


def test_a_file_is_written_whole_and_never_over_another_unasked(plain, tmp_path):
    tree, panel, y = plain
    path = tmp_path / "rapport é.html"
    assert write_report(tree, panel, y, path) == path
    assert path.read_text("utf-8") == report_html(tree, panel, y)
    with pytest.raises(SettingsError, match="exists; give overwrite=True"):
        write_report(tree, panel, y, path)
    write_report(tree, panel, y, str(path), overwrite=True, title="Again")
    assert "<title>Again</title>" in path.read_text("utf-8")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_an_unwritable_place_is_told_before_the_work(tmp_path):
    with pytest.raises(SettingsError, match="there is no directory"):
        write_report(None, None, None, tmp_path / "nowhere" / "report.html")
    with pytest.raises(SettingsError, match="it is a directory"):
        write_report(None, None, None, tmp_path)


def test_columns_left_out_are_told_with_the_reason():
    records = [np.column_stack([np.arange(4.0) * k, np.ones(4)]) for k in range(6)]
    panel = Panel.from_arrays(records, columns=["x", "still"])
    y = ["a"] * 3 + ["b"] * 3
    text = Page(report_html(grown(panel, y, ["F(x > 7)"]), panel, y)).text
    assert "still : constant" in text


def test_a_single_leaf_and_sixty_leaves_say_so():
    tree, panel, y = single_leaf()
    assert "The tree is a single leaf" in Page(report_html(tree, panel, y)).text
    tree, panel, y = sixty_categories()
    assert "60 categories of 600 records" in Page(report_html(tree, panel, y)).text
    mistaken = ["class 39" if label == "class 7" else label for label in y]
    text = Page(report_html(tree, panel, mistaken)).text
    assert "The commonest mistakes, records shown Label The tree’s answer Records class 39 class 7 20" in text


def test_formulas_of_counts_and_connectives_show_all_they_look_at():
    panel = small()[1]
    formula = Formula.parse("count(on) > 0 and not F(speed > 2) implies G(on or speed < 1)", panel.schema)
    y = np.where(formula(panel), "yes", "no")
    found = data_of(report_html(grown(panel, y, [str(formula)]), panel, y))
    assert found["nodes"][0]["looks"] == ["on", "speed > 2", "on ∨ (speed < 1)"]
    assert found["nodes"][0]["marks"] == [["speed", 2], ["speed", 1]]


def test_a_fitted_classifier_tells_how_it_was_searched():
    _, panel, y = small()

    def fitted():
        grammar = "Start ::= F(VB) | G(VB)  VB ::= each Boolean | each real {<, >} grid(5)"
        return GrammarTreeClassifier(grammar, MonteCarlo(evaluations=300), max_depth=2, random_state=3).fit(panel, y)

    model = fitted()
    made = report_html(model, panel, y)
    text = Page(made).text
    assert "MonteCarlo(evaluations=300" in text
    assert "max depth 2" in text
    assert "Start ::= F(VB) | G(VB)" in text
    assert str(sum(search.evaluations for search in model.searches_.values())) in text
    assert report_html(fitted(), panel, y) == made
    for record in data_of(made)["records"][:5]:
        turns = path_of(model.tree_, panel, record["at"])
        assert [turn["margin"] for turn in record["way"]] == pytest.approx([abs(t.robustness) for t in turns], rel=1e-4)


def test_a_fitness_of_ones_own_is_named_without_its_address():
    _, panel, y = small()

    def halves(true, total, size):
        return np.abs(true.sum(axis=1) / total.sum() - 0.5) + 0.001 * size

    search = MonteCarlo(evaluations=100)
    model = GrammarTreeClassifier(search=search, criterion=halves, max_depth=1, random_state=0).fit(panel, y)
    made = report_html(model, panel, y)
    assert "halves" in Page(made).text
    assert " at 0x" not in made


@pytest.mark.skipif(not Path("/dev/null").exists(), reason="there is no such device here")
def test_a_device_is_written_to_as_it_holds_nothing_to_lose(plain):
    assert write_report(*plain, "/dev/null") == Path("/dev/null")
    assert Path("/dev/null").is_char_device()


def test_defaults_of_the_search_are_told_in_full():
    _, panel, y = small()
    model = GrammarTreeClassifier(max_depth=1, random_state=0).fit(panel, y)
    text = Page(report_html(model, panel, y)).text
    assert "Auto(evaluations=100000" in text
    assert "MDL(price=0.5" in text


def test_the_data_are_told_by_class(plain):
    tree, panel, y = plain
    few = {name: int(np.sum(y[:20] == name)) for name in ("calm", "wild")}
    assert (
        f"Classes calm : {few['calm']}, wild : {few['wild']} Missing"
        in Page(report_html(tree, panel[:20], y[:20])).text
    )
    learned = {name: int(np.sum(y == name)) for name in ("calm", "wild")}
    unlabelled = Page(report_html(tree, panel[:20])).text
    assert f"Classes calm : {learned['calm']}, wild : {learned['wild']} (records learned from)" in unlabelled


def test_of_many_classes_the_first_are_told_and_how_many_more_there_are():
    names = [f"class {k:02}" for k in range(20)]
    panel = Panel.from_arrays([np.array([[float(k)]]) for k in range(40)], columns=["x"])
    y = np.repeat(np.array(names, object), 2)
    text = Page(report_html(grown(panel, y, ["F(x > 20)"]), panel, y)).text
    assert "Classes class 00 : 2, class 01 : 2, " in text
    assert ", class 11 : 2, and 8 more Missing" in text


def test_thresholds_of_absolute_values_stand_on_both_sides():
    panel = small()[1]
    formula = Formula.parse("F(abs(speed) > 2)", panel.schema)
    y = np.where(formula(panel), "yes", "no")
    found = data_of(report_html(grown(panel, y, [str(formula)]), panel, y))
    assert found["nodes"][0]["marks"] == [["speed", 2], ["speed", -2]]


def test_runners_up_are_told_in_few_digits():
    panel = small()[1]
    formula = Formula.parse(f"F(speed > {2 + 1 / 3})", panel.schema)
    y = np.where(formula(panel), "yes", "no")
    [node, *_] = data_of(report_html(grown(panel, y, [str(formula)]), panel, y))["nodes"]
    assert node["others"][0]["formula"] == "F(speed > 2.333)"
    assert node["formula"] == "F(speed > 2.3333333333333335)"  # this one is copied, and says what the tree asks


def test_times_from_long_ago_keep_their_digits():
    frame = pl.DataFrame({"id": [1, 1, 2, 2], "t": [1.7e9 + k / 4 for k in (1, 2, 3, 5)], "x": [0.0, 1.0, 0.0, 0.0]})
    panel = Panel.from_frame(frame, id="id", time="t")
    y = ["a", "b"]
    found = data_of(report_html(grown(panel, y, ["F(x > 0.5)"]), panel, y))
    assert found["records"][0]["t"] == [1.7e9 + 0.25, 1.7e9 + 0.5]
    assert found["records"][0]["way"][0]["time"] == 1.7e9 + 0.5


def counting(**settings):
    """Records with a column that is true at 2 to 9 of 12 steps, and a tree that counts them."""
    numbers = [2, 3, 5, 7, 8, 9]
    rows = {"id": np.repeat(range(6), 12), "a": [k < n for n in numbers for k in range(12)]}
    panel = Panel.from_frame(pl.DataFrame(rows | settings.pop("more", {})), id="id", **settings)
    y = ["few" if n < 6 else "many" for n in numbers]
    return grown(panel, y, ["count(a) > 5"]), panel, y


def test_counts_are_told_beside_their_bands():
    tree, panel, y = counting(period=900.0, time_unit="s")
    made = report_html(tree, panel, y)
    found = data_of(made)
    assert "12 steps, one every 15 min" in made
    for record in found["records"]:
        (turn,) = record["way"]
        number = [2, 3, 5, 7, 8, 9][record["at"]]
        assert turn["looks"] == ["B" * number + "A" * (12 - number)]
        assert turn["counts"] == [f"{number} of more than 5"]
        assert turn["margin"] == (number - 5 if number > 5 else 6 - number)
        assert turn["step"] == (5 if number > 5 else number - 1)
    told = {record["at"]: record["way"][0]["distance"] for record in found["records"]}
    assert told == {0: "1 h", 1: "45 min", 2: "15 min", 3: "30 min", 4: "45 min", 5: "1 h"}
    (turn,) = data_of(report_html(*counting()))["records"][0]["way"]
    assert turn["distance"].endswith((" step", " steps"))


def test_a_count_under_f_is_still_a_count():
    _, panel, y = counting()
    found = data_of(report_html(grown(panel, y, ["F(count(a) > 5)"]), panel, y))
    assert found["nodes"][0]["looks"] == ["a"]
    assert all("counts" in record["way"][0] for record in found["records"])


def test_dates_go_into_the_page():
    times = [datetime(2024, 3, 30, 12) + timedelta(hours=k) for _ in range(6) for k in range(12)]
    zoned = pl.Series(times).dt.replace_time_zone("Europe/Zurich")
    found = data_of(report_html(*counting(time="t", more={"t": zoned})))
    assert not found["daily"]
    for record in found["records"]:
        assert record["d"] == [int(datetime(2024, 3, 30, 12, tzinfo=UTC).timestamp() * 1000), "+01:00"]
        (turn,) = record["way"]
        assert turn["date"] == f"2024-03-30 {12 + turn['step']}:00+01:00"
    days = [date(2024, 3, 1 + k) for _ in range(6) for k in range(12)]
    found = data_of(report_html(*counting(time="t", more={"t": days})))
    assert found["daily"]
    assert found["records"][0]["d"][1] == ""
    assert found["units"] == [["d", 86400], ["h", 3600], ["min", 60]]


@pytest.fixture(scope="module")
def validated():
    """A model that was cross-validated, and its records."""
    _, panel, y = small(60)
    search, bits = MonteCarlo(evaluations=200), MDL(price=0.05)
    settings = {"criterion": bits, "min_samples_leaf": 1, "cv": 3, "random_state": 0}
    return GrammarTreeClassifier(search=search, **settings).fit(panel, y), panel, y


def test_trees_of_other_sizes_are_told_with_their_scores(validated):
    model, panel, y = validated
    steps, own = model.pruning_path_.beside(model.tree_)
    assert len(steps) > 1
    text = Page(report_html(model, panel, y)).text
    for step in steps:
        mark = " (this tree)" if step is own else ""
        behind, measured = step.score.behind, (step.score.balanced, step.score.behind, Measured(*step.score[:2]))
        told = [f"{percent(share)} ± {percent(error)}" for share, error in measured]
        told[1] = told[1] if behind.share else "–"
        assert f"{step.leaves}{mark} {step.words} {' '.join(told)}" in text
    assert "Balanced accuracy on records not seen Behind the best Accuracy" in text
    assert "behind the best by no more than a standard error of the difference" in text
    assert text.count("(this tree)") == 1
    assert "1 (this tree) 0" in Page(report_html(model.at(1), panel, y)).text


def test_cross_validation_stands_for_records_held_out(validated):
    model, panel, y = validated
    _, own = model.pruning_path_.beside(model.tree_)
    told = f"Accuracy, on records not seen {percent(own.score.share)} ± {percent(own.score.error)}, in 3 folds"
    low, high = wilson(own.score.share, 60)
    for labels in (y, None):
        text = Page(report_html(model, panel, labels)).text
        assert told in text
        assert "Not seen, in 3 folds" in text
        assert f"{100 * low:.1f} – {percent(high)}" in text
    assert "not seen, in" not in Page(report_html(model, panel, y, held_out=(panel[:9], y[:9]))).text.lower()


def test_weights_count_in_cross_validation_too(validated):
    model, panel, y = validated
    weighted = clone(model).set_params(class_weight={"wild": 3.0}).fit(panel, y)
    text = Page(report_html(weighted, panel, y)).text
    assert "Right by weight, on records not seen" in text
    assert "Not seen, in 3 folds, by weight" in text
    wild = 3 * np.sum(y == "wild")
    assert percent(max(wild, np.sum(y == "calm")) / (wild + np.sum(y == "calm"))) in text


def test_a_model_from_a_file_still_tells_its_scores(validated, tmp_path):
    model, panel, y = validated
    model.save(tmp_path / "model.json")
    before, after = (Page(report_html(m, panel, y)).text for m in (model, load(tmp_path / "model.json")))
    assert "in 3 folds" in before
    assert "in folds" in after
    sizes = "Trees of other sizes"
    start = before.index(sizes)
    assert before[start : start + 400] == after[after.index(sizes) :][:400]


def test_a_file_of_an_older_telltree_has_accuracy_alone(validated):
    model, panel, y = validated
    old = SimpleNamespace(
        tree_=model.tree_, pruning_path_=model.pruning_path_.scored([TreeScore(0.5, 0.1)] * len(model.pruning_path_))
    )
    text = Page(report_html(old, panel, y)).text
    assert "Behind the best" not in text
    assert text.count("50.0 % ± 10.0 %") >= len(model.pruning_path_)


def test_without_cross_validation_sizes_are_told_alone(plain):
    tree, panel, y = plain
    model = SimpleNamespace(tree_=tree, pruning_path_=PruningPath.of(tree))
    text = Page(report_html(model, panel, y)).text
    assert len(model.pruning_path_) > 1
    assert "Trees of other sizes" in text
    assert "fitted with cv=5" in text
    for step in model.pruning_path_[1:-1]:
        assert f"{step.leaves} {step.words} {step.worth:.3g}" in text
    assert "not seen, in" not in text.lower()
    single = single_leaf()
    alone = SimpleNamespace(tree_=single[0], pruning_path_=PruningPath.of(single[0]))
    for made in (report_html(tree, panel, y), report_html(alone, *single[1:])):
        assert "Trees of other sizes" not in Page(made).text


def test_of_many_sizes_some_are_told():
    tree, panel, y = sixty_categories()
    steps = [Pruning(tree, 0.0) for _ in range(39)]
    model = SimpleNamespace(tree_=tree, pruning_path_=PruningPath([*PruningPath.of(tree)[:1], *steps]))
    text = Page(report_html(model, panel, y)).text
    start = text.index("Trees of other sizes")
    assert text[start:].count("60 (this tree)") == 1
    assert "28 more lie between them" in text


def test_a_tree_and_a_classifier_write_their_own_reports(plain, tmp_path):
    tree, panel, y = plain
    path = write_report(tree, panel, y, tmp_path / "tree.html", title="Mine")
    assert path.read_text("utf-8") == report_html(tree, panel, y, title="Mine")
    table = np.random.default_rng(0).normal(size=(30, 2))
    labels = np.where(table[:, 0] > 0, "high", "low")
    model = GrammarTreeClassifier(search=MonteCarlo(evaluations=50), max_depth=1, random_state=0).fit(table, labels)
    path = model.report(table[:20], labels[:20], tmp_path / "model.html", held_out=(table[20:], labels[20:]))
    first, rest = Panel.from_table(table[:20]), Panel.from_table(table[20:])
    assert path.read_text("utf-8") == report_html(model, first, labels[:20], held_out=(rest, labels[20:]))
    with pytest.raises(DataError, match=r"held_out must be a pair"):
        model.report(table, labels, tmp_path / "other.html", held_out=3)
