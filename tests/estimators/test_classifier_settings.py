"""Settings of the classifier, weights, seeds; progress and Ctrl-C."""

import copy
import logging
import os
import pickle
import signal
import sys
from functools import partial

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.utils.class_weight import compute_sample_weight

from tests.support.effort import few_fast, is_large
from tests.support.examples import records
from tests.support.programs import started
from tests.support.small_trees import ALL_OF_IT, FEW, TEXT, leaf_with_warning, same, tree
from tests.support.small_trees import tree as small_tree

from telltree.errors import DataWarning, GrammarError, SettingsError
from telltree.estimators import GrammarTreeClassifier
from telltree.panel import Panel
from telltree.search import Auto, GeneticProgramming, GrammaticalEvolution, MonteCarlo
from telltree.tree import MDL, GiniSize, Greedy

BAD = [
    ("grammar", 5), ("grammar", b"A ::= F(on)"), ("search", "genetic"), ("search", MonteCarlo),
    ("criterion", "gini"), ("max_depth", -1), ("max_depth", 1.5), ("max_depth", True),
    ("min_samples_leaf", 0), ("min_samples_leaf", 0.1), ("growth", "greedy"),
    ("growth", None.__class__),
    ("class_weight", "even"), ("class_weight", 2), ("class_weight", {"nobody": 1}), ("class_weight", {"calm": -1}),
    ("class_weight", {"calm": float("nan")}), ("class_weight", {"calm": "x"}),
    ("class_weight", {"calm": 0, "fast": 0, "high": 0}), ("functions", [len]), ("functions", 5),
    ("functions", "rise"), ("random_state", "x"), ("random_state", -1), ("random_state", 1.5), ("n_jobs", 0),
    ("n_jobs", -2), ("n_jobs", 1.5), ("n_jobs", "all"), ("callback", 5),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda value: repr(value)[:20])
def test_senseless_parameters_are_refused(panel, labels, name, value):
    with pytest.raises(SettingsError, match=name):
        tree(**{name: value}).fit(panel, labels)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("min_gain", "much"), ("min_gain", float("nan")), ("min_gain", [1]), ("min_gain", 1j),
        ("prevent_same_label", "no"), ("prevent_same_label", None), ("simplify", 1), ("thresholds", "centred"),
        ("simplicity", -1), ("simplicity", "much"), ("simplicity", float("nan")),
    ],
)  # fmt: skip
def test_senseless_settings_of_the_growth_are_refused(name, value):
    with pytest.raises(SettingsError, match=f"{name} must be"):
        Greedy(**{name: value})


def test_senseless_settings_of_the_search_are_refused(panel, labels):
    with pytest.raises(SettingsError, match="evaluations must be"):
        tree(search=MonteCarlo(evaluations=0)).fit(panel, labels)
    with pytest.raises(SettingsError, match="too shallow"):
        tree(search=MonteCarlo(max_depth=0)).fit(panel, labels)


@pytest.mark.parametrize(
    "weights", [np.ones(3), -np.ones(60), np.zeros(60), ["a"] * 60, np.ones((60, 1)), np.full(60, np.nan), 2.0]
)
def test_senseless_sample_weights_are_refused(panel, labels, weights):
    with pytest.raises(SettingsError, match="sample_weight must hold"):
        tree().fit(panel, labels, sample_weight=weights)


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "apply", "decision_path", "categories"])
def test_questions_before_fitting_are_refused(panel, ask):
    with pytest.raises(NotFittedError):
        getattr(tree(), ask)(panel)
    with pytest.raises(NotFittedError):
        tree().rules()


@pytest.mark.parametrize("search", [FEW, GeneticProgramming(evaluations=400), GrammaticalEvolution(evaluations=400)])
def test_the_same_seed_gives_the_same_tree_for_any_number_of_jobs(panel, labels, search):
    fits = [tree(search=search, n_jobs=jobs).fit(panel, labels) for jobs in (None, 1, 2, -1)]
    for other in fits[1:]:
        same(fits[0], other, panel)


def test_random_states_of_every_kind(panel, labels):
    few, tree = MonteCarlo(evaluations=20), partial(small_tree, criterion=GiniSize())
    same(tree(search=few).fit(panel, labels), tree(search=few).fit(panel, labels), panel)
    shared = np.random.RandomState(5)
    first, second = (str(tree(search=few, random_state=shared).fit(panel, labels).tree_) for _ in range(2))
    assert first != second
    assert first == str(tree(search=few, random_state=np.random.RandomState(5)).fit(panel, labels).tree_)
    assert first == str(tree(search=few, random_state=5).fit(panel, labels).tree_)
    tree(search=few, random_state=None).fit(panel, labels)
    tree(search=few, random_state=np.int64(3)).fit(panel, labels)


def test_what_is_not_given_is_what_works_best(panel, labels):
    given = tree(search=Auto(), criterion=MDL(), max_depth=2).fit(panel, labels)
    same(tree(search=None, criterion=None, max_depth=2).fit(panel, labels), given, panel)


@pytest.mark.filterwarnings("ignore:The number of unique classes")  # which older versions of scikit-learn warn about
@pytest.mark.filterwarnings("ignore:.*classes for")
def test_depth_without_a_limit():
    panel = records(*({"x": [float(i)]} for i in range(40)))
    grammar = "A ::= F(x < grid(40))"
    search = MonteCarlo(evaluations=40)
    whole = tree(grammar=grammar, search=search, max_depth=None, criterion=first_apart).fit(panel, range(40))
    assert whole.tree_.depth == 39
    assert whole.score(panel, range(40)) == 1
    assert tree(grammar=grammar, search=search, criterion=first_apart).fit(panel, range(40)).tree_.depth == 8


def first_apart(true, total, size):
    """The fewer records the formula is true of, the better: as lopsided a tree as can be."""
    return true.sum(axis=1)


@pytest.mark.filterwarnings("ignore:.*classes for")
def test_no_tree_is_too_deep_to_travel():
    panel = records(*({"x": [float(i)]} for i in range(130)))
    search = MonteCarlo(evaluations=130)
    for limit in (None, 10_000) if is_large() else (None,):
        clf = tree(grammar="A ::= F(x < grid(130))", search=search, max_depth=limit, criterion=first_apart)
        clf.fit(panel, range(130))
        assert clf.tree_.depth == 100
        assert pickle.loads(pickle.dumps(clf.tree_)) == copy.deepcopy(clf.tree_)  # noqa: S301 - our own bytes


def test_sides_that_would_be_too_small_are_a_leaf(panel, labels):
    leaf_with_warning(panel, labels, "into sides of at least 31", min_samples_leaf=31)


def test_limits_reach_the_tree(panel, labels):
    assert tree(max_depth=0).fit(panel, labels).tree_.depth == 0
    assert tree(max_depth=1).fit(panel, labels).tree_.depth == 1
    assert min(leaf.support for leaf, _ in tree(min_samples_leaf=9).fit(panel, labels).tree_.leaves) >= 9
    with pytest.warns(DataWarning, match="well enough to be worth its length: the tree is a single leaf"):
        assert not tree(growth=Greedy(min_gain=1e9)).fit(panel, labels).tree_.nodes
    paper = partial(tree, criterion=GiniSize(), max_depth=9)
    free, strict = (paper(growth=Greedy(prevent_same_label=p)).fit(panel, labels).tree_ for p in (False, True))
    assert len(strict.nodes) <= len(free.nodes)


def formulas(clf):
    return [str(node.formula) for node in clf.tree_.nodes]


def test_balanced_weights_are_computed_once_at_the_root(panel, labels):
    balanced = tree(class_weight="balanced", max_depth=4).fit(panel, labels)
    given = tree(max_depth=4).fit(panel, labels, sample_weight=compute_sample_weight("balanced", labels))
    same(balanced, given, panel)
    weight = {c: len(labels) / (3 * labels.count(c)) for c in balanced.classes_}
    for leaf, _ in balanced.tree_.leaves:  # were they computed anew in every node, pure and mixed leaves would differ
        own = np.array([n * weight[c] for n, c in zip(leaf.summary.counts, balanced.classes_, strict=True)])
        expected = (own / own.sum() * leaf.support + 1 / 3) / (leaf.support + 1)
        np.testing.assert_allclose(leaf.summary.probabilities, expected, rtol=1e-5)


def test_class_weights_multiply_sample_weights(panel, labels):
    sample = np.random.default_rng(0).integers(1, 4, size=60)
    classes = {"calm": 1, "fast": 2, "high": 4}
    both = tree(class_weight=classes).fit(panel, labels, sample_weight=sample)
    product = tree().fit(panel, labels, sample_weight=sample * np.array([classes[label] for label in labels]))
    same(both, product, panel)


def test_equal_weights_are_no_weights(panel, labels):
    same(tree().fit(panel, labels), tree().fit(panel, labels, sample_weight=np.full(60, 7.5)), panel)


@pytest.mark.parametrize("most", [3, 5, 50])
def test_whole_weights_stand_for_repeated_records(panel, labels, most):
    times = np.random.default_rng(most).integers(1, most, size=60, endpoint=True)
    rows = np.repeat(np.arange(60), times)
    paper = partial(tree, grammar=TEXT, search=ALL_OF_IT, criterion=GiniSize(), min_samples_leaf=1, max_depth=6)
    weighted = paper().fit(panel, labels, sample_weight=times)
    repeated = paper().fit(panel[rows], np.array(labels)[rows])
    assert [n.fitness for n in weighted.tree_.nodes] == [n.fitness for n in repeated.tree_.nodes]
    assert formulas(weighted) == formulas(repeated)
    assert weighted.predict(panel).tolist() == repeated.predict(panel).tolist()


@pytest.mark.parametrize("scale", [1e-6, 0.37, 3, 1e6])
def test_what_is_learnt_in_bits_does_not_depend_on_the_unit_of_weights(panel, labels, scale):
    weights = np.random.default_rng(0).integers(1, 4, size=60)
    once = tree().fit(panel, labels, sample_weight=weights)
    scaled = tree().fit(panel, labels, sample_weight=weights * scale)
    assert formulas(scaled) == formulas(once)
    np.testing.assert_allclose(scaled.predict_proba(panel), once.predict_proba(panel), rtol=1e-5)


# progress and Ctrl-C


def test_progress_is_told_node_by_node(panel, labels):
    events = []
    clf = tree(max_depth=2, callback=events.append).fit(panel, labels)
    assert {event.node for event in events} == set(clf.searches_)
    assert (events[0].node, events[0].depth, events[0].records) == (1, 0, 60)
    assert events[-1].search.evaluations == 300


@pytest.mark.parametrize("at", [1, 2, 3])
def test_an_interrupt_keeps_the_best_so_far(panel, labels, at, caplog):
    nodes = set()

    def stop(event):
        nodes.add(event.node)
        if len(nodes) == at:
            raise KeyboardInterrupt

    with caplog.at_level(logging.WARNING, logger="telltree"):
        clf = tree(callback=stop, criterion=GiniSize()).fit(panel, labels)
    assert clf.interrupted_ is True
    assert "interrupted; the tree keeps the best splits found so far" in caplog.text
    assert clf.predict(panel).shape == (60,)
    whole = tree(criterion=GiniSize()).fit(panel, labels)
    assert formulas(clf)[0] == formulas(whole)[0] or at == 1
    assert 1 <= len(clf.tree_.nodes) < len(whole.tree_.nodes)
    assert whole.interrupted_ is False


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
def test_an_interrupt_after_the_last_search_is_told():
    panel = Panel.from_arrays([np.array([[float(i)]]) for i in range(20)], columns=["x"])
    alone = []

    def pure(true, whole, sizes):
        if len(sizes) == 1 and not alone:  # the formula that was chosen, after its search
            alone.append(sizes)
            os.kill(os.getpid(), signal.SIGINT)
        return (true.min(axis=1) + (whole - true).min(axis=1)).astype(float)

    search = MonteCarlo(evaluations=50)
    clf = GrammarTreeClassifier("A ::= F(x > grid(0.5, 18.5, 19))", search, criterion=pure, random_state=0)
    clf.fit(panel, [i > 9 for i in range(20)])
    assert clf.interrupted_ is True
    assert clf.searches_[1].interrupted is False
    assert len(clf.tree_.nodes) == 1


@pytest.mark.skipif(os.name == "nt", reason="signals are sent otherwise there")
@pytest.mark.parametrize("stage", ["fitted_tree.with_headlines", "classifier.validate"])
def test_an_interrupt_after_the_tree_was_learned_keeps_it(panel, labels, stage, monkeypatch, caplog):
    def interrupted(*args, **options):
        os.kill(os.getpid(), signal.SIGINT)
        raise AssertionError("it is not waited for")

    settings = {"search": MonteCarlo(evaluations=200), "max_depth": 2, "random_state": 0}
    whole = GrammarTreeClassifier(**settings).fit(panel, labels)
    monkeypatch.setattr(f"telltree.estimators.{stage}", interrupted)
    validated = stage == "classifier.validate"
    with caplog.at_level(logging.WARNING, logger="telltree"):
        cut = GrammarTreeClassifier(cv=2 if validated else None, **settings).fit(panel, labels)
        assert all(leaf.headline is None for leaf, _ in cut.tree_.leaves)
    assert cut.interrupted_ is validated
    assert formulas(cut) == formulas(whole)
    assert ("have no headlines" in caplog.text) is not validated
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


LONG_FIT = """
import numpy as np
from telltree import GrammarTreeClassifier, Panel
from telltree.search import GeneticProgramming

rng = np.random.default_rng(0)
panel = Panel.from_arrays(list(rng.normal(size=(300, 20, 4))))
labels = rng.integers(0, 2, 300)

def tell(progress):
    print("under way", flush=True)

search = GeneticProgramming(evaluations=300_000)
model = GrammarTreeClassifier(search=search, max_depth=8, random_state=0, callback=tell)
model.fit(panel, labels)
print(model.interrupted_, len(model.predict(panel)))
"""


@pytest.mark.parametrize("reports", few_fast([5, 1, 30]))  # the first generation, a later one, and well into the tree
def test_control_c_keeps_the_best_tree_so_far_whenever_it_comes(reports):
    with started([sys.executable, "-c", LONG_FIT]) as process:
        for _ in range(reports):
            assert process.stdout.readline() == "under way\n"
        process.send_signal(signal.SIGINT)
        said, logged = process.communicate()
    assert said.replace("under way\n", "") == "True 300\n", logged
    assert "interrupted; the tree keeps the best splits found so far" in logged


def test_a_fit_that_fails_leaves_what_was_learned_before(panel, labels):
    model = GrammarTreeClassifier(search=MonteCarlo(evaluations=50), random_state=0).fit(panel, labels)
    before = model.predict(panel)
    model.set_params(grammar="A ::= F(nowhere > 1)")
    with pytest.raises(GrammarError):
        model.fit(panel, [f"other {label}" for label in labels])
    assert np.array_equal(model.predict(panel), before)
