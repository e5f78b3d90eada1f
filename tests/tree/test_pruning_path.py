"""The front: which trees remain as the price of formulas rises."""

import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from tests.support.examples import records

from telltree import GrammarTreeClassifier, Panel, load
from telltree.errors import DataWarning, SettingsError
from telltree.search import MonteCarlo
from telltree.tree import MDL, GiniSize, Greedy, Leaf, Node
from telltree.tree.criterion import label_bits
from telltree.tree.pruning_path import PruningPath, equals_merged

GRAMMAR = "S ::= F(x {<, >} grid(12)) | F(y) | F(x < [2, 5] and y)"
CHEAP = MDL(price=0.02)
GREEDY = {"criterion": GiniSize(), "min_samples_leaf": 1, "max_depth": 4}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    x, y = rng.integers(0, 12, size=(90, 3)), rng.random((90, 3)) < 0.3
    panel = records(*({"x": a.astype(float).tolist(), "y": b.tolist()} for a, b in zip(x, y, strict=True)))
    labels = np.where(x.max(axis=1) > 8, "high", np.where(y.any(axis=1), "on", "off"))
    noise = rng.random(90) < 0.1
    return panel, np.where(noise, rng.permutation(labels), labels)


@pytest.fixture(scope="module")
def model(data):
    clf = GrammarTreeClassifier(GRAMMAR, MonteCarlo(evaluations=300), random_state=1, **GREEDY)
    return clf.fit(*data)


def subtrees(node):
    """All trees that are left of a tree when some of its branches become leaves, each with its bits."""
    counts = np.array(node.summary.counts)
    yield Leaf(node.summary), float(label_bits(counts, 1.0)), 0.0
    if isinstance(node, Node):
        for true, bits, naming in subtrees(node.true):
            for false, more, also in subtrees(node.false):
                yield replace(node, true=true, false=false), bits + more, node.naming + naming + also


def test_each_tree_is_the_cheapest_of_all_for_its_price(model):
    pruning_path = model.pruning_path_
    assert len(pruning_path) > 3
    everything = [(bits, naming, len(list(leaves(tree)))) for tree, bits, naming in subtrees(pruning_path.whole.root)]
    for (step, dearer), price in zip(pairwise(reversed(pruning_path)), middles(pruning_path), strict=True):
        if step.price == dearer.price:  # of two that are as good, nobody gets the larger by its price
            continue
        assert step.price < price < dearer.price
        cheapest = min(bits + price * naming for bits, naming, _ in everything)
        best = min(count for bits, naming, count in everything if bits + price * naming <= cheapest + 1e-6)
        assert pruning_path.at_price(price).leaves == step.tree.leaves
        assert step.leaves == best


def middles(pruning_path):
    return [(low.price + high.price) / 2 for low, high in pairwise(reversed(pruning_path))]


def leaves(node):
    yield from [node] if isinstance(node, Leaf) else [*leaves(node.true), *leaves(node.false)]


def test_trees_are_nested_from_one_leaf_to_the_whole(model, data):
    pruning_path = model.pruning_path_
    assert pruning_path[0].leaves == 1
    assert [step.leaves for step in pruning_path] == sorted({step.leaves for step in pruning_path})
    assert [step.price for step in pruning_path] == sorted((step.price for step in pruning_path), reverse=True)
    for small, large in pairwise(pruning_path):
        clusters = zip(small.tree.apply(data[0]), large.tree.apply(data[0]), strict=True)
        assert len({inside: outside for outside, inside in clusters}) == large.leaves
        assert small.words <= large.words
        assert sum(leaf.support for leaf, _ in small.tree.leaves) == len(data[0])


def test_another_tree_is_chosen_without_learning_again(model, data):
    for step in model.pruning_path_:
        other = model.at(leaves=step.leaves)
        assert str(other.tree_) == str(step.tree)
        assert other.predict(data[0]).tolist() == step.tree.predict(data[0]).tolist()
    with pytest.raises(SettingsError, match="leaves must be a whole number"):
        model.at(leaves=0)


def test_simplicity_is_a_factor_of_the_price(data):
    many = [
        GrammarTreeClassifier(
            GRAMMAR,
            MonteCarlo(evaluations=300),
            criterion=CHEAP,
            min_samples_leaf=1,
            random_state=1,
            growth=Greedy(simplicity=factor),
        ).fit(*data)
        for factor in (0, 1, 20, 1_000_000)
    ]
    sizes = [len(clf.tree_.leaves) for clf in many]
    assert sizes == sorted(sizes, reverse=True)
    assert (sizes[0], sizes[-1]) == (many[0].pruning_path_[-1].leaves, 1)


def test_files_keep_the_front(model, data, tmp_path):
    small = model.at(leaves=3)
    small.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert str(loaded.tree_) == str(small.tree_)
    assert [str(step.tree) for step in loaded.pruning_path_] == [str(step.tree) for step in model.pruning_path_]
    assert [step.price for step in loaded.pruning_path_] == [step.price for step in model.pruning_path_]
    assert str(loaded.pruning_path_) == str(small.pruning_path_)


def test_a_tree_of_another_size_says_what_was_taken(model):
    largest = model.pruning_path_[-1].leaves
    with pytest.warns(
        DataWarning, match=f"no tree of the pruning path has 400 leaves: the largest, .* has {largest} leaves"
    ):
        assert len(model.at(leaves=400).tree_.leaves) == largest
    jump = next(
        (small.leaves, large.leaves)
        for small, large in pairwise(model.pruning_path_)
        if large.leaves > small.leaves + 1
    )
    with pytest.warns(
        DataWarning, match=f"after {jump[0]} lea.*, which is taken, the next larger has {jump[1]} leaves"
    ):
        assert len(model.at(leaves=jump[1] - 1).tree_.leaves) == jump[0]


def cells(pruning_path):
    """The lines of the printed table, each a list of its cells, and its heading."""
    head, *lines = (re.split(r"  +", line.strip()) for line in str(pruning_path).splitlines()[:-1])
    return head, lines


def test_it_is_printed_as_a_table(model):
    head, lines = cells(model.pruning_path_)
    assert head == ["categories", "words", "worth"]
    assert lines[0] == ["1", "0", "–"]
    assert len(lines) == len(model.pruning_path_)
    for step, smaller, line in zip(model.pruning_path_[1:], model.pruning_path_, lines[1:], strict=False):
        assert line[-3:] == [str(step.leaves), str(step.words), f"{smaller.price:.3g}"]
    assert [line[0] == ">" for line in lines] == [False] * (len(lines) - 1) + [True]  # nothing is pruned
    assert str(model.pruning_path_).splitlines()[-1].startswith("> the model's own tree; worth: ")
    assert cells(model.at(leaves=1).pruning_path_)[1][0] == [">", "1", "0", "–"]


def test_the_worth_of_the_least_worthy_branch_decides(data):
    settings = {"search": MonteCarlo(evaluations=300), "min_samples_leaf": 1, "random_state": 1}
    for price in (0.02, 0.1, 1.0):
        clf = GrammarTreeClassifier(GRAMMAR, criterion=MDL(price=price), **settings).fit(*data)
        worth_it = [step.worth is None or step.worth > MDL(price=price).price_for(90) for step in clf.pruning_path_]
        taken = [step.own is not None for step in clf.pruning_path_]
        assert taken.index(True) == max(place for place, enough in enumerate(worth_it) if enough)
        assert taken.count(True) == 1


def test_a_single_leaf_is_a_front_of_one(data):
    clf = GrammarTreeClassifier(GRAMMAR, max_depth=0).fit(*data)
    assert [step.leaves for step in clf.pruning_path_] == [1]
    assert isinstance(clf.pruning_path_, PruningPath)


def test_cross_validation_scores_all_trees_and_takes_the_smallest_that_is_as_good(data):
    settings = {"search": MonteCarlo(evaluations=200), "criterion": CHEAP, "min_samples_leaf": 1, "random_state": 1}
    chosen = GrammarTreeClassifier(GRAMMAR, cv=5, **settings).fit(*data)
    best = GrammarTreeClassifier(GRAMMAR, cv=5, growth=Greedy(simplicity=0), **settings).fit(*data)
    kept = chosen.validation_
    assert len(chosen.tree_.leaves) <= len(best.tree_.leaves)
    assert kept.probabilities.shape == (90, 3)
    assert sorted(np.concatenate([test for _, test in kept.folds]).tolist()) == list(range(90))
    recalls = [[right[data[1] == label].mean() for label in set(data[1])] for right in kept.right]
    balanced = np.mean(recalls, axis=1)
    for step, right, expected in zip(chosen.pruning_path_, kept.right, balanced, strict=True):
        assert step.score.share == pytest.approx(right.mean())
        assert step.score.error == pytest.approx(np.sqrt(right.mean() * (1 - right.mean()) / 90))
        assert step.score.balanced.share == pytest.approx(expected)
        assert step.score.behind.share == pytest.approx(balanced.max() - expected)
    enough = [step.score.behind.share <= step.score.behind.error for step in chosen.pruning_path_]
    assert kept.chosen == enough.index(True)
    assert best.validation_.chosen == int(np.argmax(balanced.round(12)))
    head, lines = cells(chosen.pruning_path_)
    assert head == ["categories", "words", "balanced accuracy", "behind the best", "accuracy"]
    assert lines[kept.chosen][0] == ">"
    assert lines[0][-1] == f"{chosen.pruning_path_[0].score.share:.3f} ± {chosen.pruning_path_[0].score.error:.3f}"


def test_a_tree_that_is_right_more_often_is_not_passed_over_for_being_too_sure():
    """Of leaves with few records, probabilities are extreme; what is chosen is right as often as any, in each class."""
    rng = np.random.default_rng(4)
    kinds = rng.integers(0, 6, 96)
    values = rng.normal(size=(96, 8, 3))
    values[np.arange(96), rng.integers(0, 8, 96), kinds % 3] += np.where(kinds < 3, 4, -4)
    panel = Panel.from_arrays(values, layout="records, steps, columns")
    y = np.where(rng.random(96) < 0.2, rng.permutation(kinds), kinds)
    clf = GrammarTreeClassifier(search=MonteCarlo(evaluations=300), cv=4, random_state=0).fit(panel, y)
    taken = clf.pruning_path_[clf.validation_.chosen].score.behind
    assert taken.share <= taken.error
    recalls = [np.mean([right[y == label].mean() for label in range(6)]) for right in clf.validation_.right]
    assert max(recalls) - recalls[clf.validation_.chosen] <= taken.error + 1e-9


def test_a_rare_class_counts_as_much_as_any_other():
    """Who is right most often about all records says never "rare"."""
    rng = np.random.default_rng(1)
    values = rng.normal(size=(200, 5, 1))
    rare = np.arange(200) % 10 == 0
    values[rare, 2, 0] += 3
    panel = Panel.from_arrays(values, layout="records, steps, columns")
    y = np.where(rare, "rare", "usual")
    clf = GrammarTreeClassifier(search=MonteCarlo(evaluations=300), cv=5, random_state=0).fit(panel, y)
    assert len(clf.tree_.leaves) > 1
    assert (
        clf.pruning_path_[clf.validation_.chosen].score.balanced.share > clf.pruning_path_[0].score.balanced.share + 0.1
    )
    assert clf.pruning_path_[0].score.balanced.share == pytest.approx(0.5)


def test_only_records_that_were_held_out_are_scored(data):
    """A single fold: its test records alone tell how good a tree is."""
    panel, y = data
    fold = (np.arange(60), np.arange(60, 90))
    clf = GrammarTreeClassifier(GRAMMAR, MonteCarlo(evaluations=200), cv=[fold], random_state=1).fit(panel, y)
    for step, right in zip(clf.pruning_path_, clf.validation_.right, strict=True):
        assert step.score.share == pytest.approx(right[60:].mean())
    with pytest.raises(SettingsError, match="cv has no fold"):
        GrammarTreeClassifier(GRAMMAR, cv=[]).fit(panel, y)


def test_records_are_judged_by_trees_that_have_not_seen_them(data):
    """Random labels: only a tree that had seen them would do better than chance."""
    panel, _ = data
    y = np.random.default_rng(0).permutation(["a"] * 45 + ["b"] * 45)
    clf = GrammarTreeClassifier(GRAMMAR, MonteCarlo(evaluations=300), cv=5, random_state=1, **GREEDY).fit(panel, y)
    learnt = np.mean(clf.pruning_path_.whole.predict(panel) == y)
    assert learnt > 0.7
    assert max(step.score.share for step in clf.pruning_path_) < learnt - 0.1


def test_scores_survive_in_files(data, tmp_path):
    clf = GrammarTreeClassifier(GRAMMAR, MonteCarlo(evaluations=100), criterion=CHEAP, cv=3, random_state=1).fit(*data)
    clf.save(tmp_path / "model.json")
    loaded = load(tmp_path / "model.json")
    assert str(loaded.pruning_path_) == str(clf.pruning_path_)
    assert loaded.get_params()["cv"] == 3


@pytest.mark.parametrize("records_kept", [20, 40, 41])  # as many equal weights add up to a little more than 1
def test_a_model_that_is_always_right_can_be_saved(data, records_kept, tmp_path):
    panel = data[0][:records_kept]
    with pytest.warns(match="only one class"):
        clf = GrammarTreeClassifier(GRAMMAR, cv=5, random_state=1).fit(panel, ["ok"] * records_kept)
    assert [step.score.share for step in clf.pruning_path_] == [1.0]
    clf.save(tmp_path / "model.json")
    assert str(load(tmp_path / "model.json").pruning_path_) == str(clf.pruning_path_)


def test_a_model_finds_its_own_tree_among_those_of_other_sizes(model, data, tmp_path):
    model.save(tmp_path / "model.json")
    for clf in (model, load(tmp_path / "model.json")):
        for step in clf.pruning_path_:
            other = clf.at(step.leaves)
            steps, own = clf.pruning_path_.beside(other.tree_)
            assert own.tree is other.tree_
            assert [str(one) for one in steps] == [str(one) for one in clf.pruning_path_]


def test_a_merged_tree_stands_for_one_that_answers_alike(model, data):
    merged = [equals_merged(step.tree, 1e6) for step in model.pruning_path_]
    assert any(tree.leaves != step.tree.leaves for tree, step in zip(merged, model.pruning_path_, strict=True))
    for tree in merged:
        steps, own = model.pruning_path_.beside(tree)
        assert len(steps) == len(model.pruning_path_)
        assert [step.leaves for step in steps] == sorted(step.leaves for step in steps)
        assert own.tree is tree
        [gone] = [step for step in model.pruning_path_ if not any(step is other for other in steps)]
        assert (gone.tree.predict(data[0]) == tree.predict(data[0])).all()


def test_a_merged_tree_is_told_to_be_judged_before(model):
    place, step = len(model.pruning_path_) - 1, model.pruning_path_[-1]
    merged = equals_merged(step.tree, 1e6)
    cut = step.leaves - len(merged.leaves)
    told = f"> the model's own tree, judged before {cut} questions whose answers predict the same were cut; worth: "
    assert cut > 1
    assert model.pruning_path_.taken(place, merged).legend.startswith(told)
    assert model.pruning_path_.taken(place, step.tree).legend.startswith("> the model's own tree; worth: ")


def test_a_tree_of_another_front_has_no_place(model, data):
    other = GrammarTreeClassifier("S ::= F(x = [1, 3, 7])", random_state=1, **GREEDY).fit(*data)
    assert model.pruning_path_.beside(other.tree_) == (model.pruning_path_, None)


def test_answers_that_predict_the_same_are_one_leaf_unless_they_tell_much(model):
    whole = model.pruning_path_.whole
    merged = [equals_merged(whole, price) for price in (0, 0.5, 2, 1e9)]
    sizes = [len(tree.leaves) for tree in merged]
    assert sizes == sorted(sizes, reverse=True)
    for node in merged[-1].nodes:
        if isinstance(node.true, Leaf) and isinstance(node.false, Leaf):
            assert node.true.summary.predicted != node.false.summary.predicted


def test_merging_changes_no_prediction(model, data):
    whole = model.pruning_path_.whole
    assert equals_merged(whole, 1e9).predict(data[0]).tolist() == whole.predict(data[0]).tolist()
