"""Counts of things in words, and that nothing in the package spells them out by itself."""

import re
from pathlib import Path

import pytest

import telltree
from telltree.amounts import counted


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


def test_plurals_are_made_in_one_place():
    by_hand = re.compile(r"""(''|"") if [^\n]* == 1 else ['"]s['"]|\} (records|labels|leaves|categories)\b""")
    for file in Path(telltree.__file__).parent.rglob("*.py"):
        found = [line for line in file.read_text("utf-8").splitlines() if by_hand.search(line)]
        assert not found, f"{file.name}: {found[0].strip()}"
