"""Long lines fold to the width of a terminal, and the bars of a tree go on beside them."""

import random

from telltree.cli.output import wrapped

TREE = """\
at some point speed is above 5 m/s while the valve is open?
├─ yes: [1] storm: 3 of 4 records
└─ no:  height is always below 20 m and mode is never up?
    ├─ yes: whenever mode is down, height is within 3 m?
    │   ├─ yes: [2] calm: 5 of 5 records
    │   └─ no:  [3] storm: 1 of 2 records
    └─ no:  [4] calm: 12 of 13 records"""


def test_lines_fold_to_the_width_and_bars_go_on():
    assert wrapped(TREE, 40).splitlines()[:6] == [
        "at some point speed is above 5 m/s while",
        "the valve is open?",
        "├─ yes: [1] storm: 3 of 4 records",
        "└─ no:  height is always below 20 m and",
        "        mode is never up?",
        "    ├─ yes: whenever mode is down,",
    ]
    assert wrapped(TREE, 40).splitlines()[6] == "    │       height is within 3 m?"


def test_what_fits_stays_as_it_is():
    text = "  two  blanks\tand a tab\n\n    indented\n"
    assert wrapped(text, 80) == text
    assert wrapped(TREE, 200) == TREE


def test_no_word_is_lost_and_no_line_too_long_that_could_be_shorter():
    rng = random.Random(0)
    for _ in range(200):
        words = ["".join(rng.choices("abé温[]│ -", k=rng.randint(1, 12))) for _ in range(rng.randint(0, 30))]
        text, width = " ".join(words), rng.randint(1, 60)
        folded = wrapped(text, width)
        assert [c for c in folded if c not in " │\n"] == [c for c in text if c not in " │"]
        for line in folded.splitlines():
            assert len(line) <= max(width, 20) + 20 or " " not in line.strip(" │")
