"""Nothing from the data becomes markup, nothing comes from elsewhere, and the content policy says so."""

import base64
import hashlib
import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

from tests.support.report_cases import HOSTILE, small, titled
from tests.support.report_page import Page

from telltree import GrammarTreeClassifier, Panel
from telltree.report import report_html
from telltree.report.page import data_block
from telltree.search import MonteCarlo
from telltree.tree.tree import Headline, Leaf


@pytest.fixture(scope="module")
def plain():
    return small()


@pytest.fixture(scope="module")
def html(plain):
    return titled(*plain)


def test_the_policy_allows_our_style_and_script_by_their_hashes_and_nothing_else(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1).replace("&#39;", "'")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    [script] = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    for rule, text in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules.pop(rule) == f"'sha256-{digest}'"
    wanted = {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}
    assert rules == wanted


def test_the_policy_stands_before_anything_it_must_govern(html):
    assert html.index("Content-Security-Policy") < html.index("<title") < html.index("<style") < html.index("<script")


def test_no_part_of_the_page_comes_from_elsewhere_or_carries_style_or_handlers(html):
    for tag, names in Page(html).elements:
        assert "style" not in names, tag
        assert "src" not in names, tag
        assert not [name for name in names if name.startswith("on")], tag
    outside = html.replace("http://www.w3.org/2000/svg", "")  # the name of SVG, which nobody fetches
    assert "http:" not in outside
    assert "https:" not in outside
    assert "innerHTML" not in html


SLOTS = {
    "column": {"names": (HOSTILE, "on", "mode", "age")},
    "Boolean column": {"names": ("speed", HOSTILE, "mode", "age")},
    "static column": {"names": ("speed", "on", "mode", HOSTILE)},
    "phrase": {"phrase": HOSTILE},
    "unit": {"unit": HOSTILE},
    "level": {"levels": (HOSTILE, "down")},
    "class": {"classes": ("calm", HOSTILE)},
    "id": {"ids": [f"{k}{HOSTILE}" for k in range(40)]},
    "time unit": {"time_unit": HOSTILE},
}
SAFE = HOSTILE.replace("\ud800", "\ufffd").replace("\u202e", "\\u202e").replace("\x07", "\\x07")
TABLES = HOSTILE.replace("\ud800", "")  # polars holds no halves of surrogate pairs


def with_text(value, text):
    """What a slot is given, with another text in place of the hostile one."""
    if isinstance(value, str):
        return value.replace(HOSTILE, text)
    return type(value)(with_text(part, text) for part in value)


def headed(tree):
    """The tree with a headline at every leaf, and a formula as it was found at its root."""

    def below(node):
        if isinstance(node, Leaf):
            return replace(node, headline=Headline(tree.root.formula, 1, 9))
        return replace(node, true=below(node.true), false=below(node.false))

    return replace(tree, root=replace(below(tree.root), found=tree.nodes[-1].formula))


@pytest.mark.parametrize("slot", SLOTS)
def test_hostile_text_stays_text(slot):
    def made(text):
        tree, panel, y = small(**{name: with_text(value, text) for name, value in SLOTS[slot].items()})
        return report_html(headed(tree), panel, y, held_out=(panel[:20], y[:20]))

    words = HOSTILE.replace("\ud800", "")  # half of a character is refused where columns are told of
    hostile = made({"phrase": words, "unit": words, "time unit": HOSTILE}.get(slot, TABLES))
    page, harmless = Page(hostile), Page(made("zzz"))
    assert page.elements == harmless.elements
    assert "boom()" in page.block
    told = json.loads(page.block)
    assert any(category["headline"] for category in told["categories"])
    assert told["nodes"][0]["found"]
    assert not set("<>&\u2028\u2029") & set(page.block)
    hostile.encode()


def test_a_hostile_title_stays_text(plain):
    tree, panel, y = plain
    made = report_html(tree, panel, y, title=HOSTILE)
    ordinary = Page(report_html(tree, panel, y, title="Plain"))
    page = Page(made)
    assert page.elements == ordinary.elements
    assert json.loads(page.block)["title"] == SAFE
    assert "{{7*7}}" in page.text  # the template engine does not look into what it is given


def test_the_data_block_cannot_end_its_element():
    told = data_block({"a": TABLES})
    assert not set("<>&\u2028\u2029") & set(told)
    assert json.loads(told) == {"a": TABLES}


def test_hostile_text_stays_text_in_what_a_classifier_and_its_data_tell():
    """A column left out and noted, a grammar's own English, weights by class, and labels never seen before."""

    def made(text):
        frame = pl.DataFrame({"id": np.repeat(range(40), 3), "x": np.arange(120) % 7 + 0.5, f"still {text}": [0] * 120})
        panel = Panel.from_frame(frame, id="id")
        y = np.where(panel.stacked("x").reshape(40, 3).max(axis=1) > 5, text, "calm")
        english = json.dumps("once " + text.translate({ord(c): None for c in "{}"}) + " {VB}")
        model = GrammarTreeClassifier(
            f"Start ::= F(VB) {english} VB ::= x > [5, 6]", MonteCarlo(evaluations=4), max_depth=1,
            class_weight={"calm": 1.0, text: 2.0}, random_state=0,
        ).fit(panel, y)  # fmt: skip
        strange = np.where(np.arange(40) == 3, f"strange {text}", y)
        return report_html(model, panel, strange, held_out=(panel, strange))

    page, harmless = Page(made(TABLES)), Page(made("zzz"))
    assert page.elements == harmless.elements
    assert not set("<>&\u2028\u2029") & set(page.block)
    start = " ".join(TABLES.split())[:20]
    for slot in (
        f"still {start}",
        f"column 'still {start}",
        f"once {start}",
        f"strange {start}",
        f"'calm': 1.0, '{start}",
    ):
        assert slot in page.text.replace('"', "'"), slot
