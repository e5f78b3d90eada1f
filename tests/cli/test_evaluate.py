"""telltree evaluate, and how telltree fit says how well its tree does, through the installed program."""

import csv
import json
import re
import signal

import pytest

from tests.cli.test_verbs import KEYS, bad, good, write_csv
from tests.support.programs import PROGRAM, started, telltree

from telltree.estimators import load

LABEL = ("--label", "nmac")
QUICK = ("--search-evaluations", "300", "--max-depth", "3")
SCORES = ("accuracy", "balanced_accuracy", "macro_f1", "auc", "calibration_error", "brier")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, plain, labels):
    """Flights to learn from, others to judge by, and the first with a pilot who flew three of them."""
    made = tmp_path_factory.mktemp("judged")
    write_csv(made / "flights.csv", plain[:40], labels[:40])
    write_csv(made / "new.csv", plain[40:], labels[40:])
    rows = list(csv.DictReader((made / "flights.csv").read_text().splitlines()))
    with (made / "pilots.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "pilot", "gate"])
        writer.writeheader()
        for row in rows:
            pilot = f"p{int(row['flight'][1:]) // 3}"
            writer.writerow({**row, "pilot": pilot, "gate": f"{row['t']}"})
    return made


@pytest.fixture(scope="module")
def model(folder):
    good("fit", folder / "flights.csv", *KEYS, *LABEL, *QUICK, "--no-cv", "-o", folder / "model.json")
    return folder / "model.json"


def test_fit_cross_validates_unless_told_otherwise(folder):
    data = ("fit", folder / "flights.csv", *KEYS, *LABEL, *QUICK)
    told = good(*data)
    shown, proved, pruning_path, scores = told.split("\n\n", 3)
    assert "yes:" in shown
    assert proved.startswith("at every question, no formula of the grammar of up to ")
    assert pruning_path.startswith("trees of all sizes (> the model's own tree; worth: ")
    assert pruning_path.count("\n  >") == 1
    assert "\nthe largest tree is taken whose branches are all worth more than " in pruning_path
    assert scores.startswith("cross-validated on 40 records, in 5 folds:\n")
    columns = ("telltree", "commonest class", "decision tree", "unlimited tree")
    assert all(word in scores for word in (*columns, "macro F1", "true \\ pred"))
    found = json.loads(good(*data, "--cv", "3", "--json"))["scores"]
    assert (found["records"], found["folds"], found["seen_in_training"]) == (40, 3, False)
    for card in found["models"].values():
        assert all(card[name]["low"] <= card[name]["value"] <= card[name]["high"] for name in SCORES)
        assert sum(map(sum, card["confusion"])) == 40
    assert json.loads(good(*data, "--no-cv", "--json"))["scores"] is None


def test_fit_judges_by_records_kept_back(folder, model):
    data = ("fit", folder / "flights.csv", *KEYS, *LABEL, *QUICK, "--test", folder / "new.csv")
    told = good(*data, "-o", folder / "tested.json")
    assert "\n\non 20 records:\n" in told
    assert (folder / "tested.json").read_bytes() == model.read_bytes()  # what it is judged by changes no tree
    found = json.loads(good(*data, "--json"))["scores"]
    assert (found["records"], found["folds"]) == (20, None)
    evaluated = ("evaluate", model, folder / "new.csv", *KEYS, *LABEL, "--train", folder / "flights.csv")
    assert json.loads(good(*evaluated, "--json")) == found
    assert told.endswith(good(*evaluated))


def test_sizes_are_chosen_by_the_score_that_is_shown(folder, tmp_path):
    """With --test too, which judges, and does not choose."""
    data = ("fit", folder / "flights.csv", *KEYS, *LABEL, *QUICK, "--cv", "3")
    judged = (good(*data, "-o", tmp_path / "cv.json"), good(*data, "--test", folder / "new.csv"))
    sizes = [told.split("\n\n")[2] for told in judged]
    assert sizes[0] == sizes[1]
    assert "cross-validated on 40 records, in 3 folds:\n" in judged[0]
    assert "\n\non 20 records:\n" in judged[1]
    heading, names, *lines, rule = sizes[0].splitlines()
    assert heading.startswith("trees of all sizes (> the model's own tree; ± a standard error, in cross-validation; ")
    assert re.split("  +", names.strip())[-3:] == ["balanced accuracy", "behind the best", "accuracy"]
    assert rule == (
        "the smallest tree is taken that is behind the best by no more than a standard error of the difference"
    )
    within = []
    for line in lines:
        cells = re.split(r"  +", line.strip())
        behind = [0.0, 0.0] if cells[-2] == "–" else list(map(float, cells[-2].split(" ± ")))
        within.append(behind[0] <= behind[1])
    assert [line.startswith("  >") for line in lines].index(True) == within.index(True)
    assert len(load(tmp_path / "cv.json").pruning_path_) == len(lines)


def test_evaluate_knows_the_commonest_class_and_what_it_has_seen(folder, model):
    told = good("evaluate", model, folder / "new.csv", *KEYS, *LABEL)
    assert told.startswith("on 20 records:\n")
    assert "commonest class" in told
    assert "decision tree" not in told
    assert "that it learnt from, which flatters it" in good("evaluate", model, folder / "flights.csv", *KEYS, *LABEL)
    good("evaluate", model, folder / "new.csv", *KEYS, *LABEL, "--json", "-o", folder / "scores.json")
    assert json.loads((folder / "scores.json").read_text())["records"] == 20
    bad(2, "evaluate", model, folder / "new.csv", *KEYS, *LABEL, "-o", folder / "scores.json", says="--force")


def test_evaluate_on_bad_input(folder, model):
    bad(3, "evaluate", model, folder / "new.csv", *KEYS, says="name their column with --label")
    bad(3, "evaluate", model, folder / "new.csv", *KEYS, "--label", "mode", says="'mode'")
    bad(3, "evaluate", model, folder / "nothing.csv", *KEYS, *LABEL, says="nothing.csv")
    bad(4, "evaluate", folder / "new.csv", folder / "new.csv", *KEYS, *LABEL, says="new.csv")
    other = folder / "other.csv"
    other.write_text((folder / "new.csv").read_text().replace("calm", "storm"))
    ended = telltree("evaluate", model, other, *KEYS, *LABEL)
    assert ended.returncode == 0
    assert "that the model does not know: 'storm'" in ended.stderr
    text = (folder / "new.csv").read_text()
    other.write_text(text.replace(",calm", ",a").replace(",fast", ",b").replace(",high", ",c"))
    bad(3, "evaluate", model, other, *KEYS, *LABEL, says="none of the labels is a class of the model")


def test_groups_are_kept_apart_and_not_learnt_from(folder, model, tmp_path):
    data = ("fit", folder / "pilots.csv", *KEYS, *LABEL, *QUICK)
    named = [word for name in ("speed", "height", "on", "mode") for word in ("--column", name)]
    told = json.loads(good(*data, *named, "--groups", "pilot", "--cv", "3", "--json", "-o", tmp_path / "model.json"))
    assert told["scores"]["folds"] == 3
    assert "pilot" not in (tmp_path / "model.json").read_text()
    assert "pilot" not in good(*data, "--groups", "pilot", "--no-cv", "--json")
    bad(3, *data, "--groups", "gate", says="column 'gate' must have one value in each record to group by")
    bad(3, *data, "--groups", "pilott", says="'pilot'")
    bad(2, *data, "--groups", "flight", says="'flight' is --id")


def test_wrong_usage_of_judging(folder):
    data = ("fit", folder / "flights.csv", *KEYS, *LABEL, *QUICK)
    bad(2, *data, "--cv", "1", says="--cv")
    bad(2, *data, "--cv", "3", "--no-cv", says="give --cv or --no-cv, not both")
    bad(3, *data, "--test", folder / "nothing.csv", says="nothing.csv")


def test_too_few_records_to_cross_validate(tmp_path):
    few = tmp_path / "few.csv"
    few.write_text("flight,t,x,nmac\n" + "".join(f"{i},{t},{i + t},{'ab'[i]}\n" for i in range(2) for t in range(3)))
    ended = telltree("fit", few, *KEYS, *LABEL, *QUICK)
    assert ended.returncode == 0
    assert "not cross-validated: " in ended.stderr
    assert "cross-validated on" not in ended.stdout
    bad(2, "fit", few, *KEYS, *LABEL, *QUICK, "--cv", "2", says="each is in one alone")


@pytest.mark.slow
def test_ctrl_c_while_cross_validating_keeps_the_model(folder, tmp_path):
    saved = tmp_path / "model.json"
    slow = ("--search-seconds", "1", "--search-evaluations", "100000000", "--max-depth", "1", "-o", saved)
    with started([PROGRAM, "fit", folder / "flights.csv", *KEYS, *LABEL, *slow]) as running:
        next(line for line in running.stderr if "wrote" in line)
        running.send_signal(signal.SIGINT)
        told, said = running.communicate()
    assert running.returncode == 130, said
    assert "Traceback" not in said
    assert "cross-validated on" not in told
    assert saved.exists()


def test_classes_are_weighed_by_name(folder, tmp_path):
    data = ("fit", folder / "flights.csv", *KEYS, *LABEL, *QUICK, "--no-cv")
    saved = tmp_path / "model.json"
    good(*data, "--class-weight", "fast=4", "--class-weight", "high=0.5", "-o", saved)
    assert load(saved).class_weight == {"fast": 4, "high": 0.5}
    assert good(*data, "--class-weight", "balanced") != good(*data)
    config = tmp_path / "telltree.toml"
    config.write_text('class-weight = ["fast=4", "high=0.5"]\n')
    assert good(*data, "--config", config).split("\n\n")[0] == good("show", saved).split("\n\n")[0]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (["slow=4"], "there is no class 'slow'; there are 'calm', 'fast', 'high'"),
        (["fast"], "a class and its weight such as bad=4, got 'fast'"),
        (["fast=much"], "the weight of 'fast' must be a number of at least 0, got 'much'"),
        (["fast=-1"], "got '-1'"),
        (["fast=inf"], "got 'inf'"),
        (["fast=nan"], "got 'nan'"),
        (["fast=1", "fast=2"], "two weights to 'fast'"),
        (["balanced", "fast=2"], "give no others"),
        (["fast=0", "calm=0", "high=0"], "gives every class the weight 0"),
    ],
)
def test_senseless_weights_are_refused(folder, given, says):
    weights = [word for one in given for word in ("--class-weight", one)]
    bad(2, "fit", folder / "flights.csv", *KEYS, *LABEL, *QUICK, *weights, says=says)


def test_labels_of_any_kind_are_weighed(folder, tmp_path):
    text = (folder / "flights.csv").read_text()
    for names in (("0", "1", "2"), ("a=b", "", "é")):
        odd = tmp_path / "odd.csv"
        odd.write_text(text.replace(",calm", f",{names[0]}").replace(",fast", f",{names[2]}").replace(",high", ",1"))
        good("fit", odd, *KEYS, *LABEL, *QUICK, "--no-cv", "--class-weight", f"{names[0]}=3")
