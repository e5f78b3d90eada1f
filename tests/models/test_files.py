"""What is saved is loaded again, and is the same."""

import dataclasses
import datetime
import errno
import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from tests.support.random_trees import HOSTILE
from tests.support.strategies import Column, panel_of

from telltree import Grammar, GrammarTreeClassifier, Panel, user_function
from telltree.errors import DataError, DataWarning, ModelFormatError, SettingsError
from telltree.estimators import load
from telltree.explain import Robustness
from telltree.models.document import Settings
from telltree.search import CrossEntropy, GeneticProgramming, GrammaticalEvolution, MonteCarlo, Pipe
from telltree.tree import GiniSize, Greedy, LookAhead, Optimal
from telltree.tree.class_target import ClassLabels, ClassTarget
from telltree.tree.training_facts import fingerprint

QUICK = MonteCarlo(evaluations=200)
SPOKEN = """
Start ::= F(VB) "now and then, {VB}" | G(VB)
VB    ::= VB and VB | on "the thing is on" | mode = levels | each real {<, >} [0, 1, 2.5, 3.5]
"""


@user_function(takes=["real", "Boolean"], gives="Boolean", phrase="{0} is wild while {1}", elementwise=True)
def wild(x, b):
    return (np.abs(x) > 2) & b


@user_function(takes=["real"], gives="real", elementwise=True)
def double(x):
    return 2 * x


CALLING = "Start ::= F(VB)  VB ::= VB and VB | wild(speed, on) | double(height) > [3, 6] | on"
MODELS = {
    "generic": {},
    "paper": {"search": GeneticProgramming.paper(), "criterion": GiniSize(gini="sum"), "max_depth": 1},
    "own English": {"grammar": SPOKEN, "min_samples_leaf": 2, "growth": Greedy(min_gain=0.5, prevent_same_label=True)},
    "functions": {"grammar": CALLING, "functions": [wild, double]},
    "centred": {"grammar": "S ::= F(each real < [0, 1, 2.5])", "growth": Greedy(thresholds="midpoint")},
    "balanced": {"class_weight": "balanced", "max_depth": np.int64(2)},
    "weights": {"class_weight": {"calm": 1, "fast": 2.5, "high": np.float64(0.25)}, "criterion": GiniSize(w1=50, w2=1)},
    "evolution": {"search": GrammaticalEvolution(evaluations=100, seconds=np.inf), "max_depth": None},
    "cross-entropy": {"search": CrossEntropy(evaluations=100, pseudo_count=2, population=40)},
    "pipe": {"search": Pipe(evaluations=100, threshold=0.99, population=40)},
    "optimal": {"growth": Optimal(30)},
    "look ahead": {"growth": LookAhead(30)},
    "seedless": {"random_state": None},
    "generator": {"random_state": np.random.RandomState(3)},
}


def learn(panel, labels, **parameters):
    return GrammarTreeClassifier(**{"search": QUICK, "max_depth": 2, "random_state": 0, **parameters}).fit(
        panel, labels
    )


def again(model, folder, functions=()):
    """The model saved and loaded, and the bytes of the file."""
    path = folder / "model.json"
    model.save(path, overwrite=True)
    return load(path, functions=functions), path.read_bytes()


@pytest.mark.parametrize("name", MODELS)
def test_a_loaded_model_is_the_model(name, panel, labels, tmp_path):
    model = learn(panel, labels, **MODELS[name])
    loaded, content = again(model, tmp_path, [wild, double])
    assert str(loaded.tree_) == str(model.tree_)
    assert loaded.tree_ == model.tree_
    assert loaded.grammar_ == model.grammar_
    assert loaded.grammar_.left_out == model.grammar_.left_out
    assert loaded.training_ == model.training_
    assert loaded.predict(panel).tolist() == model.predict(panel).tolist()
    assert loaded.predict(panel).dtype == model.predict(panel).dtype
    assert loaded.predict_proba(panel).tolist() == model.predict_proba(panel).tolist()
    assert loaded.apply(panel).tolist() == model.apply(panel).tolist()
    assert loaded.rules() == model.rules()
    assert list(map(str, loaded.categories(panel, labels))) == list(map(str, model.categories(panel, labels)))
    assert loaded.feature_names_in_.tolist() == model.feature_names_in_.tolist()
    assert (loaded.n_features_in_, loaded.interrupted_, loaded.searches_) == (4, False, {})
    given = {**model.get_params(), "n_jobs": None, "callback": None}
    if name == "generator":
        given["random_state"] = None
    assert loaded.get_params() == given
    assert again(loaded, tmp_path, [wild, double])[1] == content


@pytest.mark.parametrize("name", ["generic", "own English", "functions", "weights"])
def test_a_loaded_model_can_be_fitted_again(name, panel, labels, tmp_path):
    model = learn(panel, labels, **MODELS[name])
    loaded, content = again(model, tmp_path, [wild, double])
    assert again(loaded.fit(panel, labels), tmp_path, [wild, double])[1] == content


def test_no_parameter_is_forgotten():
    left_out = {"n_jobs", "callback"}
    assert set(Settings.model_fields) == set(GrammarTreeClassifier().get_params(deep=False)) - left_out


def test_a_grammar_that_was_given_is_given_again(panel, labels, tmp_path):
    grammar = Grammar.parse(SPOKEN, panel)
    loaded, _ = again(learn(panel, labels, grammar=grammar), tmp_path)
    assert loaded.grammar is loaded.grammar_
    assert loaded.grammar == grammar
    other = Grammar.parse("S ::= F(speed < random(0, 1))", panel.schema.override({"speed": {"unit": "kt"}}))
    loaded, _ = again(loaded.set_params(grammar=other), tmp_path)
    assert (loaded.grammar, loaded.grammar.schema) == (other, other.schema)
    assert loaded.grammar_ == grammar


@pytest.mark.parametrize(
    "classes",
    [
        np.array([True, False, True]),
        np.array([3, 1, 2], np.int8),
        np.array([2**63 + 1, 1, 2], np.uint64),
        np.array([3.0, 1.0, 2.0], np.float32),
        np.array(["größe", "", "a\nb"]),
        ["c", "b", "<script>"],
        [1, 2, 3],
        [-1.0, 2.0, 3.0],
        pd.Series(["x", "y", "z"], dtype="category"),
    ],
    ids=str,
)
def test_labels_keep_their_type(classes, panel, labels, tmp_path):
    codes = [("calm", "fast", "high").index(label) for label in labels]
    y = np.asarray(classes)[codes] if isinstance(classes, np.ndarray) else [list(classes)[code] for code in codes]
    model = learn(panel, y)
    loaded, content = again(model, tmp_path)
    assert loaded.classes_.tolist() == model.classes_.tolist()
    assert list(map(type, loaded.classes_.tolist())) == list(map(type, model.classes_.tolist()))
    assert loaded.classes_.dtype.kind == model.classes_.dtype.kind
    assert loaded.tree_.target == model.tree_.target
    assert again(loaded, tmp_path)[1] == content


def test_plain_tables_are_known_by_place_or_name(tmp_path):
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 1.0]]), [0, 0, 1, 1]
    loaded, _ = again(learn(X, y), tmp_path)
    assert not hasattr(loaded, "feature_names_in_")
    assert loaded.predict(X).tolist() == y
    frame = pd.DataFrame(X, columns=["a", "b"])
    loaded, _ = again(learn(frame, y), tmp_path)
    assert loaded.predict(frame[["b", "a"]]).tolist() == y


def test_a_single_leaf_is_a_model(panel, tmp_path):
    with pytest.warns(DataWarning, match="only one class"):
        model = learn(panel, ["only"] * len(panel))
    loaded, content = again(model, tmp_path)
    assert set(loaded.predict(panel)) == {"only"}
    assert loaded.tree_ == model.tree_
    assert again(loaded, tmp_path)[1] == content


def test_a_model_without_a_grammar(tmp_path):
    panel = Panel.from_arrays([np.ones((2, 1)), np.ones((3, 1))])
    with pytest.warns(DataWarning, match="no column tells records apart"):
        model = learn(panel, [0, 1])
    loaded, _ = again(model, tmp_path)
    assert loaded.grammar_ is None
    assert loaded.predict(panel).tolist() == [0, 0]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_kept(name, tmp_path):
    columns = [Column(name, "categorical", (name, "other")), Column(f"{name} x", "real")]
    records = [{name: [name], f"{name} x": [1.0]}, {name: ["other", None], f"{name} x": [2.0, None]}]
    panel = panel_of(columns, records)
    model = learn(panel, [name, f"not {name}"])
    loaded, content = again(model, tmp_path)
    assert loaded.predict(panel).tolist() == [name, f"not {name}"]
    assert loaded.training_.missing == (name, f"{name} x")
    assert again(loaded, tmp_path)[1] == content


def test_thousands_of_columns(tmp_path):
    rng = np.random.default_rng(0)
    panel = Panel.from_arrays([rng.normal(size=(2, 3000)) for _ in range(6)])
    model = learn(panel, [0, 1] * 3, criterion=GiniSize(), grammar="S ::= F((x1 | x2999) < [0, 1]) | G(x17 > 0)")
    loaded, content = again(model, tmp_path)
    assert loaded.feature_names_in_.tolist() == list(panel.schema)
    assert loaded.predict(panel).tolist() == model.predict(panel).tolist()
    assert len(content) < 500_000


def test_the_same_fit_gives_the_same_bytes(panel, labels, tmp_path):
    plain = again(learn(panel, labels), tmp_path)[1]
    assert again(learn(panel, labels, n_jobs=2, callback=print), tmp_path)[1] == plain
    assert again(learn(panel[np.arange(len(panel))], labels), tmp_path)[1] == plain
    assert again(learn(panel, labels, random_state=1), tmp_path)[1] != plain
    assert plain.endswith(b"}\n")
    assert json.dumps(json.loads(plain), sort_keys=True, indent=1, ensure_ascii=False).encode() + b"\n" == plain
    assert str(tmp_path).encode() not in plain


@pytest.mark.slow
def test_bytes_do_not_depend_on_the_hash_seed(panel, labels, tmp_path):
    model = learn(panel, labels, grammar=SPOKEN)
    content = again(model, tmp_path)[1]
    code = "import sys; from telltree.estimators import load; load(sys.argv[1]).save(sys.argv[2])"
    copy = tmp_path / "copy.json"
    command = [sys.executable, "-c", code, str(tmp_path / "model.json"), str(copy)]
    subprocess.run(command, env={**os.environ, "PYTHONHASHSEED": "1"}, check=True)
    assert copy.read_bytes() == content


def test_numbers_that_are_not_finite_are_kept(panel, labels, tmp_path):
    model = learn(panel, labels, growth=Greedy(min_gain=-np.inf))
    model.tree_ = dataclasses.replace(
        model.tree_, root=dataclasses.replace(model.tree_.root, robustness=np.inf, gain=-np.inf, fitness=1e-320)
    )
    loaded, _ = again(model, tmp_path)
    root = loaded.tree_.root
    assert (root.robustness, root.gain, root.fitness, loaded.growth.min_gain) == (np.inf, -np.inf, 1e-320, -np.inf)


def test_margins_are_those_of_training(panel, labels, tmp_path):
    model = learn(panel, labels, max_depth=3)
    loaded, _ = again(model, tmp_path)
    few = panel[[4, 9]]
    kept, trained, own = Robustness(few, loaded.training_.deviations), Robustness(few, panel), Robustness(few)
    differ = False
    for node in loaded.tree_.nodes:
        for record in (0, 1):
            margins = [margin.over_time(node.formula.expression, record).tolist() for margin in (kept, trained, own)]
            assert margins[0] == margins[1]
            differ |= margins[0] != margins[2]
    assert differ


def test_the_fingerprint_is_of_values_and_labels_in_order():
    def of(rows, labels=(0, 1), classes=("a", "b"), columns=("x", "y")):
        return fingerprint(
            Panel.from_arrays(rows, columns=columns), ClassLabels(np.array(labels), ClassTarget(classes))
        )

    one, two = np.array([[0.0, np.nan], [1.0, 2.0]]), np.array([[3.0, 4.0]])
    odd_nan = np.frombuffer(np.uint64(0x7FF8000000000123).tobytes(), np.float64)[0]
    assert of([one, two]) == "sha256:240c4f63e80947448e091c9b8eb6612696100e104734df71ed1b86b9aac2c274"
    assert of([np.array([[-0.0, odd_nan], [1.0, 2.0]]), two]) == of([one, two])
    others = [
        of([two, one]), of([one, two + 1]), of([one, two], (1, 0)), of([one, two], classes=("a", "c")),
        of([one, two], classes=(0, 1)), of([one, two], classes=("0", "1")), of([one, two], columns=("x", "z")),
        of([one[:1], np.concatenate([one[1:], two])]),
    ]  # fmt: skip
    assert len({of([one, two]), *others}) == 9


def test_a_fitness_and_a_search_of_ones_own_are_not_in_the_file(panel, labels, tmp_path):
    class Slow(MonteCarlo):
        pass

    model = learn(panel, labels, criterion=lambda true, total, size: size * 1.0, search=Slow(evaluations=100))
    loaded, content = again(model, tmp_path)
    assert loaded.predict(panel).tolist() == model.predict(panel).tolist()
    assert again(loaded, tmp_path)[1] == content
    with pytest.raises(SettingsError, match=r"set_params\(search=...\)"):
        loaded.fit(panel, labels)
    with pytest.raises(SettingsError, match=r"set_params\(criterion=...\)"):
        loaded.set_params(search=QUICK).fit(panel, labels)
    assert loaded.set_params(criterion=None).fit(panel, labels).score(panel, labels) > 0.5


def test_user_functions_are_brought_by_who_loads(panel, labels, tmp_path):
    again(learn(panel, labels, **MODELS["functions"]), tmp_path, [wild, double])
    path = tmp_path / "model.json"
    with pytest.raises(ModelFormatError, match=r"user function wild\(real, Boolean\) -> Boolean.*functions=\[wild\]"):
        load(path, functions=[double])
    changed = dataclasses.replace(wild, takes=("real", "real"))
    with pytest.raises(ModelFormatError, match="takes real, real and gives Boolean"):
        load(path, functions=[double, changed])
    assert load(path, functions=[double, wild]).functions == [wild, double]


def test_what_a_file_cannot_hold_is_refused_and_nothing_written(panel, labels, tmp_path):
    dates = [datetime.date(2020, 1, 1 + (label == "fast")) for label in labels]
    halves = [label + ("\ud800" if label == "fast" else "") for label in labels]
    for wrong, match in ((dates, "turn them into text"), (halves, r"'\\ud800', half of a character")):
        with pytest.raises(DataError, match=match):
            learn(panel, wrong).save(tmp_path / "model.json")
    with pytest.raises(NotFittedError):
        GrammarTreeClassifier().save(tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


@pytest.fixture(scope="module")
def fitted(panel, labels):
    return learn(panel, labels)


def test_nothing_is_overwritten_unasked(fitted, tmp_path):
    path = tmp_path / "model.json"
    path.write_text("precious", encoding="utf-8")
    with pytest.raises(SettingsError, match="overwrite=True"):
        fitted.save(path)
    assert path.read_text(encoding="utf-8") == "precious"
    fitted.save(str(path), overwrite=True)
    assert load(str(path)).tree_ == fitted.tree_
    for wrong, match in ((tmp_path, "is a directory"), (tmp_path / "none" / "model.json", "there is no directory")):
        with pytest.raises(SettingsError, match=match):
            fitted.save(wrong, overwrite=True)


def test_a_link_goes_on_pointing_to_the_file(fitted, tmp_path):
    (tmp_path / "real.json").write_text("old", encoding="utf-8")
    link = tmp_path / "link.json"
    link.symlink_to("real.json")
    fitted.save(link, overwrite=True)
    assert link.is_symlink()
    assert load(tmp_path / "real.json").tree_ == fitted.tree_


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_full_disk_leaves_the_old_file_as_it_was(fitted, tmp_path, monkeypatch, step):
    path = tmp_path / "model.json"
    path.write_text("precious", encoding="utf-8")

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, step, full)
    with pytest.raises(OSError, match="No space left"):
        fitted.save(path, overwrite=True)
    assert [file.name for file in tmp_path.iterdir()] == ["model.json"]
    assert path.read_text(encoding="utf-8") == "precious"


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_kill_leaves_the_old_file_as_it_was(tmp_path, step):
    path = tmp_path / "model.json"
    path.write_text("precious", encoding="utf-8")
    code = (
        "import os, signal, sys; from telltree.files import write_whole; "
        f"os.{step} = lambda *_: os.kill(os.getpid(), signal.SIGKILL); write_whole(sys.argv[1], b'new')"
    )
    ran = subprocess.run([sys.executable, "-c", code, str(path)], check=False)
    assert ran.returncode == -signal.SIGKILL
    assert path.read_text(encoding="utf-8") == "precious"
