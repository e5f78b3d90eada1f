"""Files that earlier versions wrote: they must load for ever, and say the same."""

from pathlib import Path

import numpy as np
import pytest

from tests.support.mixed_records import MIXED
from tests.support.strategies import panel_of

from telltree import user_function
from telltree.estimators import load
from telltree.models.document import VERSION

GOLDEN = Path(__file__).parent / "golden"
VERSIONS = range(1, VERSION + 1)
RECORDS = (
    {"speed": [3.0, 1.0], "height": [4.0, 0.0], "on": [False, False], "mode": ["up", "up"]},
    {"speed": [0.0], "height": [0.0], "on": [True], "mode": ["down"]},
    {"speed": [0.0, -3.0, 1.0], "height": [1.0, 1.0, 1.0], "on": [True, True, True], "mode": ["level", "up", "up"]},
    {"speed": [None], "height": [4.0], "on": [None], "mode": [None]},
    {"speed": [-1.0, 2.75], "height": [None, 2.0], "on": [False, True], "mode": ["up", "down"]},
)


@user_function(takes=["real", "Boolean"], gives="Boolean", phrase="{0} is wild while {1}", elementwise=True)
def wild(x, b):
    return (np.abs(x) > 2) & b


@user_function(takes=["real"], gives="real", elementwise=True)
def double(x):
    return 2 * x


def panel():
    return panel_of(MIXED, RECORDS)


@pytest.mark.parametrize(
    ("name", "labels", "clusters", "english"),
    [
        (
            "mixed",
            [1, 0, 2, 0, 0],
            [4, 2, 3, 5, 2],
            "“now and then, mode is down”; and the thing is on at 2 or more steps",
        ),
        (
            "functions",
            ["<b>", "<b>", "größer", "<b>", "größer"],
            [3, 4, 2, 3, 2],
            "at some point “speed is wild while on is true”; and at some point double of height is above 6",
        ),
    ],
)
@pytest.mark.parametrize("version", VERSIONS)
def test_files_of_every_version_say_the_same(name, version, labels, clusters, english):
    model = load(GOLDEN / f"{name}-{version}.json", functions=[wild, double])
    assert model.predict(panel()).tolist() == labels
    assert model.apply(panel()).tolist() == clusters
    assert model.rules()[0].english == english


@pytest.mark.parametrize("version", VERSIONS)
def test_a_leaf_of_every_version_says_the_same(version):
    model = load(GOLDEN / f"leaf-{version}.json")
    assert model.predict([[0, 0], [3, 4]]).tolist() == [True, True]
    assert model.predict_proba([[0, 0]]).tolist() == [[0.375, 0.625]]


@pytest.mark.parametrize("path", sorted(GOLDEN.glob("*.json")), ids=lambda path: path.stem)
def test_files_are_written_again_to_the_bytes_of_this_version(path, tmp_path):
    load(path, functions=[wild, double]).save(tmp_path / "again.json")
    latest = path.with_name(f"{path.stem.partition('-')[0]}-{VERSION}.json")
    assert (tmp_path / "again.json").read_bytes() == latest.read_bytes()
