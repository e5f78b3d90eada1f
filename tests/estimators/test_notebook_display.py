"""What notebooks show of trees, classifiers and panels: all of it, and nothing that text from data could slip in."""

from html.parser import HTMLParser

import numpy as np
import pytest
from sklearn import config_context

from tests.support.examples import records

from telltree.estimators import GrammarTreeClassifier
from telltree.explain.notebook import tree_html
from telltree.panel import Panel
from telltree.search import MonteCarlo

HOSTILE = [
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "</style><b>", "&lt;", "größe", "new\nline",
    "\x1b[31m", "</details>", "$x$", "{0}",
]  # fmt: skip
TAGS = {"div", "style", "details", "summary", "code", "span", "b", "pre", "table", "tr", "th", "td"}


class Page(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.attributes, self.texts = [], [], set(), []
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return "".join(self.texts)


def hostile_classifier():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, len(HOSTILE)))
    y = [HOSTILE[int(i)] for i in rng.integers(0, len(HOSTILE), 40)]
    panel = Panel.from_table(X, columns=HOSTILE, schema={HOSTILE[4]: {"phrase": HOSTILE[1], "unit": HOSTILE[0]}})
    return GrammarTreeClassifier(search=MonteCarlo(evaluations=100), max_depth=None, random_state=0).fit(
        panel, y
    ), panel


def test_a_fitted_classifier_shows_its_tree(panel, labels):
    clf = GrammarTreeClassifier(search=MonteCarlo(evaluations=100), random_state=0, max_depth=3).fit(panel, labels)
    page = Page(clf._repr_html_())
    assert page.tags.count("details") == len(clf.tree_.nodes)
    assert page.tags.count("b") == len(clf.tree_.leaves)
    assert clf._repr_mimebundle_()["text/html"] == clf._repr_html_() == tree_html(clf.tree_, missing=panel.schema)
    for rule in clf.rules():
        assert f"[{rule.cluster}] {rule.label} {rule.support} record" in page.text
    for node in clf.tree_.nodes:
        assert str(node.formula) in page.text
        assert f"{clf.tree_.sentence(node.formula.expression)}? " in page.text
    assert "60 records (calm: " in page.text


def test_what_is_not_fitted_is_shown_as_scikit_learn_does():
    shown = GrammarTreeClassifier(max_depth=3)._repr_html_()
    assert "sk-top-container" in shown
    with config_context(display="text"):
        assert not hasattr(GrammarTreeClassifier(), "_repr_html_")


def test_text_from_data_stays_text():
    clf, panel = hostile_classifier()
    for shown in (clf._repr_html_(), clf.tree_._repr_html_(), panel._repr_html_()):
        page = Page(shown)
        assert set(page.tags) <= TAGS
        assert page.attributes <= {"class", "open"}
        assert "<script>alert(1)</script>" in page.text
        assert "\x1b" not in shown
    assert page.tags.count("tr") == 1 + len(HOSTILE)


@pytest.mark.parametrize("columns", [1, 3_000])
def test_panels_of_any_size_are_a_small_table(columns):
    panel = Panel.from_table(np.full((3, columns), np.nan))
    for part in (panel, panel[:1], panel[:0]):
        page = Page(part._repr_html_())
        assert page.tags.count("tr") == 1 + min(columns, 20)
        assert ("more columns" in page.text) == (columns > 20)
        assert len(part._repr_html_()) < 5_000


def test_a_panel_shows_types_units_levels_and_gaps():
    panel = records({"x": [1.0, None], "on": [True, False], "mode": ["up", "down"]})
    text = Page(panel._repr_html_()).text
    for part in ("1 record of 2 steps", "real", "Boolean", "categorical", "down, up"):
        assert part in text
