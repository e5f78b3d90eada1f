"""Counts, shares, intervals and lift, wherever they are told, against the raw records counted one by one."""

import csv
import io
import json
import random
import re
import warnings
from collections import Counter, defaultdict
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import pytest

from tests.support.effort import few_fast
from tests.support.report_page import Page, data_of

from telltree import GrammarTreeClassifier, Panel, export_model
from telltree.cli.verbs.show import show
from telltree.errors import DataWarning
from telltree.explain.notebook import tree_html
from telltree.report import plot_category, plot_collage, plot_tree, report_html
from telltree.search import MonteCarlo
from telltree.text import by_weight, percent, times_all

Z = NormalDist().inv_cdf(0.975)
CUTS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
GRAMMAR = f"Start ::= F(x < {CUTS})"
PART = re.compile(r"(¬?)F\(x < ([\d.]+)\)")


@dataclass
class Case:
    """A classifier of weighted records, and the records as plain lists."""

    model: GrammarTreeClassifier
    x: list
    y: list
    weights: list

    @property
    def panel(self):
        return panel_of(self.x)


def panel_of(x):
    return Panel.from_arrays([np.array([[value]]) for value in x], columns=["x"])


def learned(x, y, *, class_weight=None, sample_weight=None, depth=3):
    model = GrammarTreeClassifier(
        GRAMMAR, MonteCarlo(evaluations=len(CUTS)), max_depth=depth, class_weight=class_weight, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # a single leaf is one of the cases
        model.fit(panel_of(x), y, sample_weight)
    counted = Counter(label for label, weight in zip(y, sample_weight or [1] * len(y), strict=True) if weight)
    if class_weight == "balanced":
        class_weight = {label: 1 / n for label, n in counted.items()}
    each = [(class_weight or {}).get(label, 1) for label in y]
    return Case(model, x, y, [a * b for a, b in zip(each, sample_weight or [1] * len(y), strict=True)])


def draw(seed):
    """Records of up to four classes, some far more common, with any sort of weights or none."""
    rng = random.Random(seed)
    names = rng.sample(["a", "b", 'say "hi"', "new\nline", "émigré", "<b>"], rng.choice([1, 2, 2, 3, 4, 4]))
    records = rng.randint(2, 99)
    x = [rng.random() for _ in range(records)]
    likely = [{name: rng.random() ** 4 for name in names} for _ in range(4)]  # in each quarter of the values
    y = [rng.choices(names, [likely[int(4 * value)][name] for name in names])[0] for value in x]
    classes = {"class_weight": {name: rng.choice([1, 3, 20]) for name in names}}
    samples = {"sample_weight": [rng.choice([0, 1, 2, 7]) if i else 1 for i in range(records)]}
    sorts = [{}, {"class_weight": "balanced"}, classes, samples, classes | samples]
    return learned(x, y, **sorts[seed % len(sorts)], depth=rng.choice([0, 1, 2, 2]))


def belongs(formula, value):
    """Whether a record is of a category, from the text of its formula alone."""
    if formula == "true":
        return True
    parts = [PART.fullmatch(part) for part in formula.split(" ∧ ")]
    return all((value < float(part[2])) != bool(part[1]) for part in parts)


def wilson(hits, records):
    """The shares farthest from the observed one that would still explain it, found by bisection."""

    def farthest(end):
        near, far = hits / records, end
        for _ in range(100):
            middle = (near + far) / 2
            surprising = (hits / records - middle) ** 2 > Z**2 * middle * (1 - middle) / records
            near, far = (near, middle) if surprising else (middle, far)
        return near

    return farthest(0.0), farthest(1.0)


@dataclass
class Truth:
    """What is true of a category's records."""

    counts: Counter
    support: int
    share: float | None
    interval: tuple
    lift: float | None


def truth(formula, label, x, y):
    own = [other for value, other in zip(x, y, strict=True) if belongs(formula, value)]
    hits, everywhere = own.count(label), y.count(label)
    share = hits / len(own) if own else None
    lift = None if not own or not everywhere else (hits / len(own)) / (everywhere / len(y))
    return Truth(Counter(own), len(own), share, wilson(hits, len(own)) if own else (0, 1), lift)


def trained(case):
    """The records that counted in training: those that weigh something."""
    kept = [i for i, weight in enumerate(case.weights) if weight]
    return [case.x[i] for i in kept], [case.y[i] for i in kept], [case.weights[i] for i in kept]


def weighed(case, formulas):
    """The weight of each class in each category, and whether some records count more than others."""
    x, y, weights = trained(case)
    sums = [defaultdict(float) for _ in formulas]
    for value, label, weight in zip(x, y, weights, strict=True):
        (place,) = (k for k, formula in enumerate(formulas) if belongs(formula, value))
        sums[place][label] += weight
    each = [sums[k][label] / n for k, f in enumerate(formulas) for label, n in truth(f, None, x, y).counts.items()]
    return sums, max(each) - min(each) > 1e-9 * max(each)


def close(value):
    return None if value is None else pytest.approx(value, rel=2e-5, abs=1e-9)


SEEDS = range(25)


@pytest.fixture(params=few_fast(SEEDS, 4))
def case(request):
    return draw(request.param)


def test_rules_are_true_of_the_records(case):
    rules = case.model.rules()
    x, y, _ = trained(case)
    sums, unequal = weighed(case, [rule.formula for rule in rules])
    assert sum(rule.support for rule in rules) == len(x)
    for rule, mine in zip(rules, sums, strict=True):
        true = truth(rule.formula, rule.label, x, y)
        assert (rule.counts, rule.support) == (true.counts, true.support)
        assert (rule.share, rule.lift) == (close(true.share), close(true.lift))
        assert (rule.low, rule.high) == close(true.interval)
        assert mine[rule.label] == close(max(mine.values()))
        assert rule.weighted == (pytest.approx(mine[rule.label] / sum(mine.values()), abs=1e-5) if unequal else None)
        assert rule.decided_by_weights == (true.counts[rule.label] < max(true.counts.values()))
    given = case.model.predict_proba(panel_of(x))
    for value, row in zip(x, given.tolist(), strict=True):
        (mine,) = (sums[k] for k, rule in enumerate(rules) if belongs(rule.formula, value))
        (support,) = (rule.support for rule in rules if belongs(rule.formula, value))
        shares = [mine[label] / sum(mine.values()) for label in case.model.classes_.tolist()]
        wanted = [(share * support + 1 / len(shares)) / (support + 1) for share in shares]
        assert row == pytest.approx(wanted, abs=1e-5)


def test_exports_and_show_tell_the_same(case, tmp_path, capsys):
    x, y, _ = trained(case)
    case.model.save(tmp_path / "model.json")
    show(model=tmp_path / "model.json", json=True)
    shown = json.loads(capsys.readouterr().out)
    exported = json.loads(export_model(case.model, "json"))
    table = list(csv.DictReader(io.StringIO(export_model(case.model, "csv"), newline="")))
    for said, rule, line in zip(shown, exported, table, strict=True):
        true = truth(rule["formula"], rule["label"], x, y)
        assert {count["label"]: count["records"] for count in rule["counts"]} == said["counts"] == true.counts
        numbers = {
            name: float(line[name]) if line[name] else None for name in ("share", "lift", "support", "low", "high")
        }
        for told in (said, rule, numbers):
            assert (told["share"], told["lift"], told["support"]) == (close(true.share), close(true.lift), true.support)
            assert (told["low"], told["high"]) == close(true.interval)
        outvoted = true.counts[rule["label"]] < max(true.counts.values())
        assert said["decided_by_weights"] is rule["decided by weights"] is outvoted
        assert line["decided by weights"] == str(outvoted).lower()
        assert said["weighted"] == rule["weighted share"]
        assert line["weighted share"] == ("" if said["weighted"] is None else str(said["weighted"]))


def test_sentences_and_tables_round_what_is_true(case, tmp_path, capsys):
    x, y, _ = trained(case)
    case.model.save(tmp_path / "model.json")
    show(model=tmp_path / "model.json", english=True)
    spoken = capsys.readouterr().out
    show(model=tmp_path / "model.json", formulas=True)
    printed = capsys.readouterr().out
    for rule in case.model.rules():
        true = truth(rule.formula, rule.label, x, y)
        things = "1 record" if true.support == 1 else f"{true.support} records"
        low, high = (percent(end, 0) for end in true.interval)
        figures = f"{percent(true.share, 0)} of {things} ({low[:-2]} to {high}), {times_all(rule.lift)}"
        assert rule.figures.startswith(figures)
        assert f": {rule.figures}\n    " in spoken
        assert rule.decided_by_weights == rule.figures.endswith(f"; {by_weight(rule.label, rule.weighted)}")
        row = f"{true.share:.3f}  {true.interval[0]:.3f} to {true.interval[1]:.3f}  {true.support}"
        assert row in printed


def test_reports_tell_of_the_records_they_show(case):
    rng = random.Random(len(case.x))
    some = sorted(rng.sample(range(len(case.x)), rng.randint(1, len(case.x))))
    x, y = [case.x[i] for i in some], [case.y[i] for i in some]
    rules = case.model.rules()
    for labels in (y, None):
        html = report_html(case.model, panel_of(x), labels)
        for told, rule in zip(data_of(html)["categories"], rules, strict=True):
            of = (x, y) if labels else trained(case)[:2]
            true = truth(rule.formula, rule.label, *of)
            assert told["records"] == truth(rule.formula, rule.label, x, y).support
            values = told["values"]
            assert (values["share"], values["lift"]) == (close(true.share), close(true.lift))
            ends = (None, None) if true.share is None else close(true.interval)
            assert (values["low"], values["high"]) == ends
            assert told["sure"]["size"] == values["share"]
            assert told["sure"]["value"] == percent(true.share)
            summary = case.model.tree_.summaries[rule.cluster - 1]
            named = [summary.target.classes[k] for k in summary.leading]
            assert told["wrong"] == (true.support - sum(map(true.counts.__getitem__, named)) if labels else None)
            weights = values["weighted share"], values["decided by weights"]
            assert weights == (close(rule.weighted), rule.decided_by_weights)
    categories = case.model.categories(panel_of(x), y)
    for category, rule in zip(categories, rules, strict=True):
        true = truth(rule.formula, rule.label, x, y)
        assert (category.counts, category.share, category.lift) == (true.counts, close(true.share), close(true.lift))
        assert category.interval == close(true.interval)


def recalls(model, x, y):
    found = model.predict(panel_of(x)).tolist()
    for name in dict.fromkeys(y):
        own = [said for said, label in zip(found, y, strict=True) if label == name]
        yield own.count(name) / len(own)


def test_the_first_tile_weighs_classes_alike_if_training_did():
    rng = random.Random(0)
    x = [rng.random() for _ in range(300)]
    y = ["rare" if value < 0.15 and rng.random() < 0.6 else "common" for value in x]
    rest = [0.05, 0.12, 0.5, 0.6, 0.7], ["rare", "common", "common", "common", "common"]
    for weights in ({"class_weight": "balanced"}, {"sample_weight": [5 if label == "rare" else 1 for label in y]}, {}):
        model = learned(x, y, **weights).model
        for held_out in (None, rest):
            lead = (x, y) if held_out is None else rest
            each = list(recalls(model, *lead))
            right = sum(a == b for a, b in zip(model.predict(panel_of(lead[0])).tolist(), lead[1], strict=True))
            kept = None if held_out is None else (panel_of(rest[0]), rest[1])
            text = Page(report_html(model, panel_of(x), y, held_out=kept)).text
            tile = text[text.index("apart.") :][:90]
            what = "records shown" if held_out is None else "held out"
            if weights:
                assert f"Balanced accuracy, {what} {percent(sum(each) / len(each))} the mean recall" in tile
            else:
                assert f"apart. Accuracy, {what} {percent(right / len(lead[1]))} 95 %" in tile


def test_a_balanced_tree_of_balanced_classes_leads_with_the_same():
    x = [k / 40 for k in range(40)]
    y = ["low" if value < 0.5 else "high" for value in x]
    model = learned(x, y, class_weight="balanced").model
    assert not model.tree_.weighted
    assert all(rule.weighted is None for rule in model.rules())
    assert "Balanced accuracy, records shown 100 %" in Page(report_html(model, panel_of(x), y)).text


@pytest.fixture
def outvoted():
    """Three records in ten of the left leaf are of the class that it predicts, by weight."""
    x = [0.05 + 0.01 * (k % 4) for k in range(10)] + [0.5 + 0.01 * k for k in range(20)]
    y = ["storm"] * 3 + ["calm"] * 7 + ["calm"] * 20
    return learned(x, y, class_weight={"storm": 9, "calm": 1}, depth=1)


def test_wherever_weights_decide_it_is_said(outvoted):
    first = outvoted.model.rules()[0]
    assert (first.label, first.support, first.share, first.decided_by_weights) == ("storm", 10, 0.3, True)
    assert first.weighted == pytest.approx(27 / 34)
    assert first.figures == "30 % of 10 records (11 to 60 %), 3 times the share in all; storm by weight: 79 %"
    said = "storm by weight: 79 %"
    assert f"[1] storm  (calm: 7, storm: 3; {said})" in str(outvoted.model.tree_)
    assert f"; {said})" in str(outvoted.model.categories(outvoted.panel)[0])
    assert said in tree_html(outvoted.model.tree_)
    assert f"calm: 7, storm: 3\\n{said}" in export_model(outvoted.model, "dot")
    assert "0.794 (decides)" in export_model(outvoted.model, "markdown")
    html = report_html(outvoted.model, outvoted.panel, outvoted.y)
    assert "30.0 % by weight: 79.4 % 3.00 " in Page(html).text
    assert 'aria-label="10.8 % to 60.3 %"' in html
    figures = [
        plot_tree(outvoted.model.tree_),
        plot_category(outvoted.model.tree_, outvoted.panel, outvoted.y, 1),
        plot_collage(outvoted.model.tree_, outvoted.panel, outvoted.y),
    ]
    for figure in figures:
        texts = [text.get_text() for part in (figure, *figure.axes) for text in part.texts]
        assert any("by weight: 79 %" in text for text in texts)


def test_what_no_weights_decided_says_nothing_of_them():
    x = [k / 40 for k in range(40)]
    case = learned(x, ["low" if value < 0.5 else "high" for value in x])
    for told in (str(case.model.tree_), tree_html(case.model.tree_), export_model(case.model, "dot"),
                 Page(report_html(case.model, case.panel, case.y)).text):  # fmt: skip
        assert "weight" not in told.replace("class_weight", "").replace("'weighted'", "")


def test_a_category_that_no_record_shown_reaches_breaks_no_report(outvoted):
    away = [value for value in outvoted.x if value > 0.3]
    for labels in (["calm"] * len(away), None):
        html = report_html(outvoted.model, panel_of(away), labels)
        first = data_of(html)["categories"][0]
        assert (first["records"], first["typical"], first["borderline"], first["exceptions"]) == (0, [], [], [])
        if labels:
            values = first["values"]
            assert [values[name] for name in ("share", "low", "high", "lift")] == [None] * 4
            assert (first["wrong"], first["sure"]["bar"], first["sure"]["within"]) == (0, None, "–")
        else:
            assert first["values"]["share"] == 0.3


def test_records_of_weight_0_are_not_counted():
    x, y = [0.05, 0.06, 0.07, 0.8, 0.9, 0.95], ["a", "a", "b", "b", "b", "b"]
    case = learned(x, y, sample_weight=[1, 1, 0, 1, 1, 0], depth=1)
    first, second = case.model.rules()
    assert (first.counts, first.share, second.counts, second.share) == ({"a": 2}, 1.0, {"b": 2}, 1.0)
    assert (first.lift, first.weighted) == (2.0, None)


def test_weights_that_are_all_the_same_change_nothing():
    x = [k / 40 for k in range(40)]
    case = learned(x, ["low" if value < 0.5 else "high" for value in x], sample_weight=[0.1] * 40)
    assert not case.model.tree_.weighted
    assert all(rule.weighted is None for rule in case.model.rules())


def test_one_class_is_one_leaf_with_the_share_in_all():
    case = learned([0.1, 0.9], ["only", "only"], sample_weight=[1, 3])
    (rule,) = case.model.rules()
    assert (rule.share, rule.lift, rule.weighted, rule.decided_by_weights) == (1.0, 1.0, None, False)
    assert rule.figures == "100 % of 2 records (34 to 100 %), the share in all"


def test_a_single_leaf_by_weight():
    case = learned([0.1, 0.2, 0.9], ["a", "b", "b"], class_weight={"a": 5, "b": 1}, depth=0)
    (rule,) = case.model.rules()
    assert (rule.label, rule.share, rule.lift, rule.decided_by_weights) == ("a", 1 / 3, 1.0, True)
    assert rule.weighted == pytest.approx(5 / 7)
