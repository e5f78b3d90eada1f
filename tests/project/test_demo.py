"""The demo: what it prints is true, and the page it writes is there."""

import numpy as np
import pytest

from tests.support.programs import telltree

from telltree.datasets import load_acasx
from telltree.demo import COLUMNS, demo, fit


@pytest.fixture(scope="module")
def learned():
    """What the demo learns, and what it is tested by."""
    everything, ends = load_acasx()
    panel = everything.select(COLUMNS)
    return fit(panel[:1400], ends[:1400]), panel, ends


@pytest.fixture(scope="module")
def learnt_once(learned):
    """The demo takes what was learnt already, after a look at what it would learn from."""
    model, panel, ends = learned

    def known(given, labels):
        assert given.ids.tolist() == panel.ids[:1400].tolist()
        assert labels.tolist() == ends[:1400].tolist()
        return model

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("telltree.demo.fit", known)
        yield


@pytest.fixture(scope="module")
def shown(learnt_once, tmp_path_factory):
    page = tmp_path_factory.mktemp("demo") / "report.html"
    return page, list(demo(page))


def test_the_demo_shows_tree_categories_and_how_well_it_does(shown, learned):
    page, parts = shown
    model, panel, ends = learned
    assert all(line in parts[1] for line in model.outline().splitlines())
    told = " ".join(" ".join(parts).split())
    assert "2,000 encounters" in told
    assert "173 of them ended in a near mid-air collision" in told
    below = " ".join(" ".join(parts[2:]).split())
    for category in model.categories(panel[:1400], ends[:1400]):
        assert (category.english in below) == (category.label == "NMAC")
    assert f"accuracy {np.mean(model.predict(panel[1400:]) == ends[1400:]):.3f}" in told
    assert str(page) in parts[-1]


def test_the_tree_is_small_and_finds_most_collisions(learned):
    model, panel, ends = learned
    assert len(model.tree_.leaves) <= 6
    found, bad = model.predict(panel[1400:]) == "NMAC", ends[1400:] == "NMAC"
    assert (found & bad).sum() > 0.7 * max(found.sum(), bad.sum())


def test_the_page_is_there(shown):
    page, _ = shown
    assert "Near mid-air collisions" in page.read_text(encoding="utf-8")


@pytest.mark.usefixtures("learnt_once")
def test_without_a_page_it_says_how_to_get_one():
    assert "telltree demo -o" in list(demo())[-1]


def test_the_program_runs_the_demo_and_says_what_to_open(tmp_path):
    words = ("demo", "--output", tmp_path / "page.html")
    ended = telltree(*words)
    assert ended.returncode == 0, ended.stderr
    assert f"Now open {tmp_path / 'page.html'}" in " ".join(ended.stdout.split())
    again = telltree(*words)
    assert again.returncode == 2
    assert "--force" in again.stderr
