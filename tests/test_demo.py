"""The demo: what it prints is true, and the page it writes is there."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from telltree.datasets import make_encounters
from telltree.datasets.encounters import PROXIMITY
from telltree.demo import demo, fit


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    page = tmp_path_factory.mktemp("demo") / "report.html"
    return page, list(demo(page, records=400, nmac=60))


def test_the_demo_shows_tree_categories_and_how_well_it_does(shown):
    page, parts = shown
    panel, ends, _ = make_encounters(400, 60)
    panel = panel.select([name for name in panel.schema if name not in PROXIMITY])
    train, test = np.split(np.random.default_rng(0).permutation(400), [280])
    model = fit(panel[train], ends[train])
    assert all(line in parts[1] for line in str(model.tree_).splitlines())
    told = " ".join(" ".join(parts).split())
    for category in model.categories(panel[train], ends[train]):
        assert (category.english in told) == (category.label == "NMAC")
    found = model.predict(panel[test])
    assert f"accuracy {np.mean(found == ends[test]):.3f}" in told
    assert str(page) in parts[-1]


def test_the_page_is_there(shown):
    page, _ = shown
    assert "Near mid-air collisions" in page.read_text(encoding="utf-8")


def test_without_a_page_it_says_how_to_get_one():
    assert "telltree demo -o" in list(demo(records=200, nmac=40))[-1]


def test_the_program_runs_the_demo_and_says_what_to_open(tmp_path):
    program = Path(sys.executable).parent / "telltree"
    command = [program, "demo", "--output", tmp_path / "page.html"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert ended.returncode == 0, ended.stderr
    assert f"Now open {tmp_path / 'page.html'}" in " ".join(ended.stdout.split())
    again = subprocess.run(command, capture_output=True, text=True, check=False, timeout=280)
    assert again.returncode == 2
    assert "--force" in again.stderr
