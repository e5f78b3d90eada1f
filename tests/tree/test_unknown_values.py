"""Trees in which an answer may be unknown: every record goes where the judge of three-valued truth says."""

import csv
import io
import json
import random

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from tests.models.test_export_programs import asked, run_module
from tests.scale.test_shards import in_shards
from tests.support import three_valued
from tests.support.effort import few_fast
from tests.support.oracle_form import judged
from tests.support.programs import telltree
from tests.support.strategies import Case, Column
from tests.support.three_valued import FALSE, TRUE, UNKNOWN

from telltree import Grammar, GrammarTreeClassifier, Panel, export_model, load
from telltree.errors import ModelFormatError, SettingsError
from telltree.explain import ask, path_of
from telltree.models import load_predictor
from telltree.proportions import wilson
from telltree.search import GeneticProgramming, MonteCarlo
from telltree.tree import MDL, Greedy, LookAhead, Node, Optimal, TreeSettings, grow
from telltree.tree.backend import LocalBackend
from telltree.tree.class_target import ClassTarget
from telltree.tree.induction import TreeRun

COLUMNS = (
    Column("x", "real"), Column("y", "real"), Column("b", "Boolean"), Column("c", "categorical", ("up", "down"))
)  # fmt: skip
GRAMMAR = """
A ::= F(V) | G(V) | not A | A and A | F[0, 2](V) | until(V, V) | before(V, V) | count(V) > [0, 1, 2]
    | episodes(V) < [1, 2] | longest(V) > [1, 2] | count(V) = count(V)
V ::= x < [-1, 0, 1] | change(y, 1) > [-1, 0, 1] | y > x | b | c = "up" | not V | V or V | V implies V | rise(V)
    | previous(V) | once[0, 1](V) | since(V, V) | missing(x) | min[1, 2](x) < [-1, 0] | mean(y) > [0, 0.2]
    | latest(y, V) > [0, 0.5]
"""


def draw(records=150, seed=0, gaps=0.08):
    """Records of one to five steps, some values missing, and labels by what was there before."""
    rng = random.Random(seed)
    draws = {
        "x": lambda: rng.gauss(0, 1),
        "y": lambda: rng.gauss(0, 1),
        "b": lambda: rng.random() < 0.7,
        "c": lambda: rng.choice(("up", "down")),
    }
    whole = [
        {name: [value() for _ in range(rng.randint(2, 5))] for name, value in draws.items()} for _ in range(records)
    ]
    for record in whole:
        steps = min(map(len, record.values()))
        record.update({name: values[:steps] for name, values in record.items()})
    labels = ["high" if min(r["x"]) > -0.6 else "up" if r["c"][0] == "up" else "low" for r in whole]
    cut = [{k: [None if rng.random() < gaps else v for v in values] for k, values in r.items()} for r in whole]
    return Case(COLUMNS, tuple(cut)), np.array(labels)


def grown(case, labels, grammar=GRAMMAR, **options):
    settings = {"search": GeneticProgramming(evaluations=400, population=100), "random_state": 1, "max_depth": 3}
    return GrammarTreeClassifier(grammar, missing="unknown", **settings | options).fit(case.panel, labels)


@pytest.fixture(scope="module")
def case():
    return draw()


@pytest.fixture(scope="module")
def model(case):
    return grown(*case)


def answers(node, case):
    plain = judged(node.shown.expression)
    return np.array([three_valued.truth(plain, record, {}) for record in case.records])


def walked(node, case, here, weights, numbers):
    """The leaf of each record by the judge, which also checks at every node what is told of it; 0 elsewhere."""
    if not isinstance(node, Node):
        return np.where(here, next(numbers), 0)
    found = answers(node, case)
    true, false = (weights[here & (found == side)].sum() for side in (TRUE, FALSE))
    assert node.unknown.is_true == (true > false)
    assert node.unknown.records == (here & (found == UNKNOWN)).sum()
    yes = (found == TRUE) | ((found == UNKNOWN) & node.unknown.is_true)
    return walked(node.true, case, here & yes, weights, numbers) + walked(
        node.false, case, here & ~yes, weights, numbers
    )


def by_the_judge(tree, case, weights=None):
    everyone = np.ones(len(case.records), bool)
    weights = np.ones(len(case.records)) if weights is None else weights
    return walked(tree.root, case, everyone, weights, iter(range(1, len(tree.leaves) + 1)))


@pytest.mark.parametrize("seed", few_fast(range(2)))
def test_every_record_goes_where_the_judge_says(seed):
    case, labels = draw(seed=seed)
    model = grown(case, labels, random_state=seed)
    whole = model.pruning_path_.whole
    assert_array_equal(whole.apply(case.panel), by_the_judge(whole, case))
    assert sum(node.unknown.records for node in whole.nodes) > 0
    assert len(whole.nodes) > 2


def test_weights_decide_which_side_is_more(case):
    weights = np.where(case[1] == "low", 5.0, 0.5)
    model = GrammarTreeClassifier(
        GRAMMAR, MonteCarlo(evaluations=300), missing="unknown", random_state=0, max_depth=3
    ).fit(case[0].panel, case[1], sample_weight=weights)
    whole = model.pruning_path_.whole
    assert_array_equal(whole.apply(case[0].panel), by_the_judge(whole, case[0], weights))


def test_new_records_too_go_where_the_judge_says(model):
    """Also those that miss values in columns that missed none in training."""
    new, _ = draw(seed=9, gaps=0.3)
    whole, place = model.pruning_path_.whole, np.ones(len(new.records), int)
    for i, record in enumerate(new.records):
        node, leaves = whole.root, whole.leaves
        while isinstance(node, Node):
            found = three_valued.truth(judged(node.shown.expression), record, {})
            yes = node.unknown.is_true if found == UNKNOWN else found == TRUE
            node = node.true if yes else node.false
        place[i] = [leaf is node for leaf, _ in leaves].index(True) + 1
    assert_array_equal(whole.apply(new.panel), place)


def test_unknown_path_says_which_answers_were_unknown(case, model):
    met, path = model.unknown_path(case[0].panel).toarray(), model.decision_path(case[0].panel).toarray()
    assert met.shape == path.shape
    assert not (met & ~path).any()
    found = answers(model.tree_.root, case[0]) == UNKNOWN
    assert_array_equal(met[:, 0], found)
    plain = GrammarTreeClassifier(GRAMMAR, MonteCarlo(evaluations=50), random_state=0).fit(case[0].panel, case[1])
    assert not plain.unknown_path(case[0].panel).sum()


def test_a_tie_goes_to_no():
    panel = Panel.from_arrays([np.array([[v]]) for v in (0.0, 0.0, 1.0, 1.0, np.nan)], columns=["x"])
    model = grown_on(panel, ["a", "a", "b", "b", "b"], "S ::= F(x > 0.5)")
    (node,) = model.tree_.nodes
    assert (node.unknown.is_true, node.unknown.records) == (False, 1)
    assert str(model.tree_).splitlines()[:2] == [
        "F(x > 0.5)", "│   unknown for 1 of 5 records, which goes with 'no'"
    ]  # fmt: skip


def grown_on(panel, labels, grammar, **options):
    settings = {
        "search": MonteCarlo(evaluations=50),
        "max_depth": 1,
        "min_samples_leaf": 1,
        "random_state": 0,
        "growth": Greedy(simplicity=0),
    }
    return GrammarTreeClassifier(grammar, missing="unknown", **settings | options).fit(panel, labels)


@pytest.mark.parametrize("language", ["for_panel", "own"])
def test_where_nothing_is_missing_the_tree_is_that_of_the_default(language):
    case, labels = draw(gaps=0)
    grammar = Grammar.for_panel(case.panel, labels) if language == "for_panel" else GRAMMAR
    search = GeneticProgramming(evaluations=400, population=100)
    trees = [
        GrammarTreeClassifier(
            grammar, search, missing=missing, random_state=2, growth=Greedy(thresholds="midpoint")
        ).fit(case.panel, labels)
        for missing in ("false", "unknown")
    ]
    default, other = trees
    assert str(default.tree_) == str(other.tree_)
    assert default.outline(formulas=True) == other.outline(formulas=True)
    assert str(default.pruning_path_) == str(other.pruning_path_)
    figures = [[figures_of(node) for node in model.pruning_path_.whole.nodes] for model in trees]
    assert figures[0] == figures[1]
    told = [[(row.english, row.headline, row.short, row.figures) for row in model.rules()] for model in trees]
    assert told[0] == told[1]


def figures_of(node):
    own = node.fitness, node.gain, node.robustness, node.naming
    return str(node.shown), str(node.found), own, node.runners_up, node.by_size, node.summary


def test_a_model_file_keeps_it(case, model, tmp_path):
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.tree_ == model.tree_
    assert again.get_params()["missing"] == "unknown"
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "model.json").read_bytes()
    few = load_predictor(tmp_path / "model.json").tree
    assert_array_equal(few.apply(case[0].panel), model.apply(case[0].panel))
    assert_array_equal(few.unknown(case[0].panel), model.unknown_path(case[0].panel).toarray())


def test_a_file_whose_formula_is_not_what_it_says_is_refused(model, tmp_path):
    model.save(tmp_path / "model.json")
    document = json.loads((tmp_path / "model.json").read_text())
    branch = next(entry for entry in document["tree"] if "unknown" in entry)
    branch["unknown"]["goes"] = not branch["unknown"]["goes"]
    (tmp_path / "model.json").write_text(json.dumps(document))
    for read in (load, load_predictor):
        with pytest.raises(ModelFormatError, match="is not what it says of unknown answers"):
            read(tmp_path / "model.json")


def test_words_of_a_grammar_are_kept(case, tmp_path):
    spoken = 'S ::= F(V) "it happens that {0}" | G(V)\nV ::= x < [-1, 0] "x is small ({0})" | not b "it is off"'
    model = grown_on(case[0].panel, case[1], spoken, max_depth=2)
    model.save(tmp_path / "model.json")
    again = load(tmp_path / "model.json")
    assert again.tree_ == model.tree_
    assert again.outline() == model.outline()
    assert "it is off" in model.outline() or "x is small" in model.outline()


def test_exports_predict_the_same(case, model, tmp_path):
    clusters, labels = model.apply(case[0].panel).tolist(), model.predict(case[0].panel).tolist()
    assert asked(case[0], export_model(model, "sql")) == list(zip(range(len(labels)), clusters, labels, strict=True))
    said = run_module(export_model(model, "python"), case[0], tmp_path)
    assert said == [list(pair) for pair in zip(clusters, labels, strict=True)]
    told = next(node.unknown_note for node in model.tree_.nodes if node.unknown_note)
    assert told in export_model(model, "dot")


def test_the_way_of_a_record_tells_why(case, model):
    (record,) = np.flatnonzero(answers(model.tree_.root, case[0]) == UNKNOWN)[:1].tolist()
    first = path_of(model.tree_, case[0].panel, record)[0]
    side = model.tree_.root.unknown.side
    assert first.unknown.startswith("the answer is unknown, for '")
    assert first.unknown.endswith(f"it counts as {side}, which was the answer of more training records")
    assert first.holds == (side == "yes")
    (known,) = np.flatnonzero(answers(model.tree_.root, case[0]) != UNKNOWN)[:1].tolist()
    assert path_of(model.tree_, case[0].panel, known)[0].unknown is None


def test_a_report_and_a_notebook_tell_it(case, model, tmp_path):
    page = model.report(*both(case), tmp_path / "page.html").read_text(encoding="utf-8")
    told = next(node.unknown_note for node in model.tree_.nodes if node.unknown_note)
    assert told.split(",")[0] in page
    assert told.split(",")[0] in model._repr_html_()
    assert told in model.outline()


def test_a_fit_goes_on_from_its_checkpoint(case, model, tmp_path):
    for _ in range(2):  # the second finds all answers in the file
        resumed = GrammarTreeClassifier(**model.get_params(deep=False)).fit(*both(case), checkpoint=tmp_path / "kept")
        assert resumed.pruning_path_.whole == model.pruning_path_.whole


def both(case):
    return case[0].panel, case[1]


@pytest.mark.parametrize("growth", [Optimal(), LookAhead()])
def test_growth_that_weighs_questions_beforehand_is_refused(case, growth):
    with pytest.raises(SettingsError, match=r"missing='unknown' answers a question by .* leave out missing, or growth"):
        grown(*case, growth=growth, max_depth=2)


def test_what_has_no_bounds_is_refused_before_the_search(case):
    with pytest.raises(SettingsError, match="'abs' of a count"):
        grown(*case, grammar="S ::= abs(count(b) - count(x < 0)) > [1, 2]")
    with pytest.raises(SettingsError, match='missing must be "false" or "unknown", got \'allow\''):
        GrammarTreeClassifier(missing="allow").fit(*both(case))


def interlock(seed, records=300):
    """A door that must stay locked, and a sensor that drops out at random in one record of five."""
    rng = np.random.default_rng(seed)
    opened = rng.random(records) < 0.3
    panels = []
    for bad in opened:
        locked = np.ones(12, object) == 1
        if bad:
            locked[rng.integers(12)] = False
        steps = locked.astype(object)
        if rng.random() < 0.2:
            steps[rng.integers(12)] = None
        panels.append(steps[:, None])
    return Panel.from_arrays(panels, columns=["locked"]), np.where(opened, "alarm", "quiet")


def test_a_sensor_that_drops_out_does_not_answer_no():
    """What it is for: without it, a gap is as good as an open door."""
    text, new = "S ::= G(locked) | F(locked)", interlock(1)
    scores = {
        missing: GrammarTreeClassifier(text, MonteCarlo(evaluations=10), missing=missing, random_state=0)
        .fit(*interlock(0))
        .score(*new)
        for missing in ("false", "unknown")
    }
    assert scores["unknown"] > 0.97
    assert scores["false"] < 0.92


def test_the_command_line_has_it(case, tmp_path):
    panel, labels = interlock(2, 80)
    frame = panel.to_frame(id="door")
    frame["outcome"] = np.repeat(labels, panel.lengths)
    frame.to_csv(tmp_path / "doors.csv", index=False)
    (tmp_path / "own.bnf").write_text("S ::= G(locked) | F(locked)")
    keys, model = ("--id", "door"), str(tmp_path / "model.json")
    learnt = telltree(
        "fit", str(tmp_path / "doors.csv"), *keys, "--label", "outcome", "--grammar", str(tmp_path / "own.bnf"),
        "--missing", "unknown", "--no-cv", "--search-evaluations", "20", "-o", model,
    )  # fmt: skip
    assert learnt.returncode == 0, learnt.stderr
    assert "unknown for " in learnt.stdout
    beforehand = (
        "values of 'locked' are missing; with --missing unknown, trying a formula about them takes 30 to 200 times"
    )
    assert beforehand in " ".join(learnt.stderr.split())
    assert "unknown for " in telltree("show", model).stdout
    assert "unknown for " in telltree("show", model, "--english").stdout
    rows = list(csv.DictReader(io.StringIO(telltree("predict", model, str(tmp_path / "doors.csv"), *keys).stdout)))
    assert [row["unknown"] for row in rows] == [str(n) for n in load(model).unknown_path(panel).sum(axis=1).A1]
    unsure = next(row["door"] for row in rows if row["unknown"] == "1")
    answered = telltree("ask", str(tmp_path / "doors.csv"), "G(locked)", *keys, "--missing", "unknown").stdout
    assert f"unknown of {sum(row['unknown'] == '1' for row in rows)}, for values are missing" in answered
    explained = telltree("explain", model, str(tmp_path / "doors.csv"), *keys, "--record", unsure).stdout
    assert "the answer is unknown, for 'locked' misses values; it counts as" in " ".join(explained.split())


def test_shares_of_an_answer_are_among_the_records_of_which_it_is_known(case):
    panel = case[0].panel
    formula = ask(panel, "F(x < -1)").formula.expression
    found = np.array([three_valued.truth(judged(formula), r, {}) for r in case[0].records])
    turn = np.arange(len(found)) % 3
    labels = np.where((found == UNKNOWN) & (turn == 0), "none", np.where(turn == 1, "some", "more"))
    answer = ask(panel, "F(x < -1)", labels, missing="unknown")
    known = found != UNKNOWN
    assert answer.known == known.sum() < len(found)
    assert answer.share == (found == TRUE).sum() / known.sum()
    assert answer.interval == wilson(answer.share, answer.known)
    assert f"\ntrue of {(found == TRUE).sum()} of the {known.sum()} records of which it is known (" in str(answer)
    rows = {row.label: row for row in answer.classes}
    for label, row in rows.items():
        here, true = labels == label, found == TRUE
        assert (row.records, row.unknown) == (here.sum(), (here & ~known).sum())
        assert (row.holds, row.among) == ((here & true).sum(), (here & true).sum() / true.sum())
        assert row.overall == (here & known).sum() / known.sum()
        if label == "none":
            assert (row.share, row.lift, row.low, row.high) == (None, None, 0, 1)
            continue
        assert row.share == (here & true).sum() / (here & known).sum()
        assert (row.low, row.high) == wilson(row.share, (here & known).sum())
        assert row.lift == pytest.approx(row.among / row.overall) == pytest.approx(row.share / answer.share)
    some, none = rows["some"], rows["none"]
    assert f"\n  some: {some.holds} of {some.records - some.unknown} known (" in str(answer)
    assert f"); unknown of {some.unknown}; " in str(some)
    assert f"\n  none: unknown of {none.records} of {none.records}\n" in f"{answer}\n"
    assert [row["unknown"] for row in answer.to_dict()["classes"]] == [row.unknown for row in answer.classes]
    json.dumps(answer.to_dict(), allow_nan=False)
    with_gaps = ask(panel[found == UNKNOWN], "F(x < -1)", missing="unknown")
    assert (with_gaps.share, with_gaps.interval) == (None, (0, 1))
    assert "\ntrue of 0 of the 0 records of which it is known\n" in str(with_gaps)
    assert "known" not in str(ask(panel, "F(x < -1)", labels))


def test_a_question_is_true_false_or_unknown_of_records(case):
    panel = case[0].panel
    answer = ask(panel, "F(x < -1)", missing="unknown")
    found = np.array([three_valued.truth(judged(answer.formula.expression), r, {}) for r in case[0].records])
    assert_array_equal(answer.positions, np.flatnonzero(found == TRUE))
    assert_array_equal(answer.unknown, np.flatnonzero(found == UNKNOWN))
    assert f"\nunknown of {len(answer.unknown)}, for values are missing" in str(answer)
    assert answer.to_dict()["unknown_of"] == len(answer.unknown)
    told = [str(answer.explain(int(np.flatnonzero(found == kind)[0]))) for kind in (TRUE, FALSE, UNKNOWN)]
    assert [text.split(" record ")[0] for text in told] == ["true of", "not true of", "unknown of"]
    assert told[2].endswith(": 'x' misses values")
    usual = ask(panel, "F(x < -1)")
    assert not len(usual.unknown)
    assert "unknown" not in str(usual)
    with pytest.raises(SettingsError, match='missing must be "false" or "unknown"'):
        ask(panel, "F(x < -1)", missing="perhaps")


def test_records_in_shards_grow_the_same_tree(case):
    """As they are where bitsets do not fit into memory, or are on several machines."""
    panel, labels = case[0].panel, ClassTarget(("high", "low", "up")).read(case[1], case[0].panel)
    settings = TreeSettings(
        MonteCarlo(evaluations=150), MDL(), max_depth=2, movable=frozenset("x"), three_valued=True, seed=7
    )
    trees = [
        grow(panel, labels, Grammar.parse(GRAMMAR, panel), settings, TreeRun(backend)).tree
        for backend in (LocalBackend, in_shards([0, 64, 100, 150]))
    ]
    assert trees[0] == trees[1]
    assert trees[0].nodes
