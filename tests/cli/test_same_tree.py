"""The command line and the estimator learn the same tree of the same data, byte for byte."""

import pytest

from tests.cli.test_verbs import KEYS, good, write_csv

from telltree import GrammarTreeClassifier, read
from telltree.cli.tree_options import TreeOptions, classifier_from
from telltree.search import Auto, MonteCarlo

LABEL = ("--label", "nmac")
GRAMMAR = "S ::= F(VB) | G(VB)\nVB ::= on | speed > grid(6) | height < [1, 3, 5]\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory, plain, labels):
    made = tmp_path_factory.mktemp("same")
    write_csv(made / "flights.csv", plain[:40], labels[:40])
    write_csv(made / "new.csv", plain[40:], labels[40:])
    (made / "mine.bnf").write_text(GRAMMAR)
    return made


QUICK = ("--search-evaluations", "200", "--max-depth", "2")
CASES = {
    "judged by others": (("--test", "new.csv"), {}),
    "judged in folds": (QUICK, {"search": Auto(evaluations=200), "max_depth": 2}),
    "sizes by cross-validation": ((*QUICK, "--cv", "2"), {"search": Auto(evaluations=200), "max_depth": 2, "cv": 2}),
    "sizes by cross-validation, judged by others": (
        (*QUICK, "--cv", "2", "--test", "new.csv"),
        {"search": Auto(evaluations=200), "max_depth": 2, "cv": 2},
    ),
    "a grammar, and weights": (
        ("--grammar", "mine.bnf", "--class-weight", "balanced", "--no-cv"),
        {"grammar": GRAMMAR, "class_weight": "balanced"},
    ),
    "another search, and unknown values": (
        ("--search", "mc", "--search-evaluations", "200", "--random-state", "4", "--missing", "unknown", "--no-cv"),
        {"search": MonteCarlo(evaluations=200), "random_state": 4, "missing": "unknown"},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_model_files_are_identical(folder, tmp_path, case):
    given, settings = CASES[case]
    words = [folder / word if word in ("new.csv", "mine.bnf") else word for word in given]
    good("fit", folder / "flights.csv", *KEYS, *LABEL, *words, "-o", tmp_path / "line.json")
    panel, y = read(folder / "flights.csv", id="flight", time="t", label="nmac")
    GrammarTreeClassifier(**settings).fit(panel, y).save(tmp_path / "estimator.json")
    assert (tmp_path / "line.json").read_text() == (tmp_path / "estimator.json").read_text()


def test_no_option_has_a_default_of_its_own():
    assert classifier_from(TreeOptions()).get_params() == GrammarTreeClassifier().get_params()
