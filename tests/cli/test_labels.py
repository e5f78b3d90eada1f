"""Labels that are missing, columns that are not there, and as many classes as records, at the command line."""

import pytest

from tests.cli.test_verbs import KEYS, bad, good, write_csv
from tests.support.programs import telltree

from telltree.estimators import load

QUICK = ("--search-evaluations", "200", "--max-depth", "1", "--no-cv")


def test_records_without_a_label_are_left_out_if_asked(tmp_path, plain, labels):
    write_csv(tmp_path / "flights.csv", plain, ["" if k % 10 == 3 else label for k, label in enumerate(labels)])
    data = ("fit", tmp_path / "flights.csv", *KEYS, "--label", "nmac", *QUICK)
    bad(3, *data, says="label 'nmac' is missing in 6 records: 'f3', 'f13', 'f23', 'f33', 'f43' and 1 more; leave them")
    ended = telltree(*data, "--drop-unlabelled", "-o", tmp_path / "model.json")
    assert ended.returncode == 0, ended.stderr
    assert "6 of 60 records without a label left out: 'f3', 'f13'" in ended.stderr
    assert sum(load(tmp_path / "model.json").class_counts_) == 54
    evaluated = ("evaluate", tmp_path / "model.json", tmp_path / "flights.csv", *KEYS, "--label", "nmac")
    assert good(*evaluated, "--drop-unlabelled").startswith("on 54 records that it learnt from")


@pytest.mark.parametrize("role", ["id", "time", "label"])
def test_an_unknown_column_lists_those_there_are(tmp_path, plain, labels, role):
    write_csv(tmp_path / "flights.csv", plain, labels)
    there = "'flight', 't', 'speed', 'height', 'on', 'mode', 'nmac'"
    given = {"id": "flight", "time": "t", "label": "nmac"}
    for name, says in (("fligth", f"did you mean 'flight'? There are {there}"), ("zzz", f"'zzz'; there are {there}")):
        words = [word for key, value in {**given, role: name}.items() for word in (f"--{key}", value)]
        bad(3, "inspect", tmp_path / "flights.csv", *words, says=f"unknown {role} column {name!r}")
        bad(3, "inspect", tmp_path / "flights.csv", *words, says=says)


def test_as_many_classes_as_records_are_warned_about(tmp_path, plain):
    data = (tmp_path / "flights.csv", *KEYS, "--label", "nmac")
    for divisor, most, says in (
        (1, 60, "there are 60 classes for 60 records, and each has a single record"),
        (1, 20, "there are 21 classes for 60 records, and 20 of them have a single record"),
        (2, 60, None),
    ):
        write_csv(tmp_path / "flights.csv", plain, [f"class {min(k // divisor, most)}" for k in range(60)])
        for told in (telltree("fit", *data, *QUICK).stderr, good("inspect", *data)):
            assert says in " ".join(told.split()) if says else "single record" not in told
