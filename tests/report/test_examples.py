"""Reports of real size: the Auslan signs and aircraft encounters, written by the model itself and looked at."""

import io
import itertools
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.support.browser import NARROW, WIDE, Page

from telltree import GrammarTreeClassifier, demo
from telltree.datasets import load_auslan
from telltree.search import GeneticProgramming

REAL = Path(__file__).parents[3] / "shared" / "data" / "auslan8"


def auslan():
    if not REAL.is_dir():
        pytest.skip("the real data are not in ../shared/data")
    panel, y = load_auslan(REAL)
    model = GrammarTreeClassifier(search=GeneticProgramming(evaluations=2_000), random_state=0)
    return model.fit(panel[::2], y[::2]), panel, y


def encounters():
    panel, y = (whole[:600] for whole in demo.encounters())
    return demo.fit(panel[::2], y[::2]), panel, y


@pytest.fixture(scope="module", params=[auslan, encounters], ids=lambda example: example.__name__)
def example(request, tmp_path_factory):
    """A fitted model, and the path of the report that it wrote."""
    model, panel, y = request.param()
    path = tmp_path_factory.mktemp("examples") / f"{request.param.__name__}.html"
    return model, model.report(panel[::2], y[::2], path, held_out=(panel[1::2], y[1::2]))


def overlap(a, b):
    """Whether two rectangles lie on each other by more than a pixel."""
    across = min(a["right"], b["right"]) - max(a["left"], b["left"])
    return across > 1 and min(a["bottom"], b["bottom"]) - max(a["top"], b["top"]) > 1


@pytest.mark.slow
@pytest.mark.parametrize(("size", "dark"), [(WIDE, False), (NARROW, True)], ids=["wide, light", "narrow, dark"])
def test_an_example_is_drawn_and_passes_the_audit(driver, example, size, dark, tmp_path):
    model, path = example
    page = Page(driver, path, size, dark)
    data = page.data()
    assert len(page.all(".card")) == len(data["categories"]) == len(model.tree_.leaves)
    page.click("#category-1 .thumb")
    assert page.all(".box.taken")
    assert len(page.all("#record-view .turn")) == 1 + len(data["records"][0]["way"])
    assert page.run("return document.documentElement.scrollWidth") <= size[0]
    for index in range(0, len(data["records"]), 7):
        page.choose("#record-tools select", str(index))
        flags = page.run(
            "return [...document.querySelectorAll('.moment span')].map((e) => e.getBoundingClientRect().toJSON())"
        )
        assert not [pair for pair in itertools.combinations(flags, 2) if overlap(*pair)]
    for part in ("overview", "tree", "categories", "record"):
        page.run("document.getElementById(arguments[0]).scrollIntoView()", part)
        (tmp_path / f"{path.stem}-{part}.png").write_bytes(taken := page.picture())
        pixels = np.asarray(Image.open(io.BytesIO(taken)).convert("RGB"))
        assert pixels.shape[:2] == size[::-1]
        assert len(np.unique(pixels.reshape(-1, 3), axis=0)) > 30  # letters and lines, not an empty page
        assert (pixels.mean() < 90) == dark
    assert page.complaints() == []
    assert page.requests() == []
    assert page.grave_findings() == []
