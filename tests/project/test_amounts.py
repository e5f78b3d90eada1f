"""Counts of things in words, and that nothing in the package spells them out by itself."""

import re
from pathlib import Path

import pytest

from tests.support.class_trees import class_leaf, class_tree

import telltree
from telltree.explain import outline
from telltree.text import counted, percent, times_all


@pytest.mark.parametrize(
    ("number", "things", "said"),
    [
        (0, ("record",), "0 records"),
        (1, ("record",), "1 record"),
        (2, ("record",), "2 records"),
        (12345, ("record",), "12,345 records"),
        (1, ("category", "categories"), "1 category"),
        (3, ("category", "categories"), "3 categories"),
        (1, ("record has", "records have"), "1 record has"),
        (5, ("record has", "records have"), "5 records have"),
    ],
)
def test_counted(number, things, said):
    assert counted(number, *things) == said


@pytest.mark.parametrize(
    ("share", "decimals", "said"),
    [
        (None, 1, "–"),
        (float("nan"), 1, "–"),
        (0, 1, "0 %"),
        (1, 0, "100 %"),
        (0.3421, 1, "34.2 %"),
        (0.3421, 0, "34 %"),
        (0.994, 0, "99 %"),
        (0.996, 0, "> 99 %"),
        (0.004, 0, "< 1 %"),
        (0.9996, 1, "> 99.9 %"),
        (0.0004, 1, "< 0.1 %"),
    ],
)
def test_percent_says_all_and_none_only_where_it_is_so(share, decimals, said):
    assert percent(share, decimals) == said


@pytest.mark.parametrize(
    ("lift", "said"),
    [
        (2.34, "2.3 times the share in all"),
        (0.051, "0.051 times the share in all"),
        (12.6, "13 times the share in all"),
        (1234.0, "1,234 times the share in all"),
        (9.97, "10 times the share in all"),
        (0, "0 times the share in all"),
        (1, "the share in all"),
        (1.02, "about the share in all"),
    ],
)
def test_times_the_share_in_all(lift, said):
    assert times_all(lift) == said


def test_plurals_are_made_in_one_place():
    by_hand = re.compile(r"""(''|"") if [^\n]* == 1 else ['"]s['"]|\} (records|labels|leaves|categories)\b""")
    for file in Path(telltree.__file__).parent.rglob("*.py"):
        found = [line for line in file.read_text("utf-8").splitlines() if by_hand.search(line)]
        assert not found, f"{file.name}: {found[0].strip()}"


def test_large_counts_of_a_leaf_are_grouped_like_all_others():
    from telltree.panel import Column, ColumnType, Schema

    tree = class_tree(class_leaf((1_233, 24)), ("safe", "NMAC"), Schema([Column("x", ColumnType.REAL)]))
    assert outline(tree) == "[1] safe: 1,233 of 1,257 records"
