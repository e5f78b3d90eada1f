"""What sentences say to someone who knows only English.

For each kind of operator, small records on which the plausible readings of its sentence differ: whether the current
step counts, whether the start and the end of the record do, what if something never happened. The answers are written
by hand, from the sentence alone; the formula must say so, and what is read back from the sentence must answer alike.
"""

from dataclasses import dataclass

import numpy as np
import pytest

from telltree import Formula, Panel
from telltree.explain import english
from telltree.logic.operators import OPERATORS

SCHEMA = {
    "speed": {"type": "real", "unit": "m/s"},
    "load": {"type": "real"},
    "open": {"type": "Boolean", "phrase": "the valve is open"},
    "alarm": {"type": "Boolean", "phrase": "the alarm is on"},
    "mode": {"type": "categorical", "levels": ["auto", "off"]},
}
TWO_SECONDS = {"period": 2.0, "time_unit": "s"}


def at(speed="", *, load="", open="", alarm="", mode=""):  # noqa: A002  named as the column
    """A record: numbers between blanks, 1 and 0 for what is true and false at each step, "?" for what is missing."""
    columns = [
        [np.nan if word == "?" else float(word) for word in speed.split()],
        [np.nan if word == "?" else float(word) for word in load.split()],
        [None if mark == "?" else mark == "1" for mark in open],
        [None if mark == "?" else mark == "1" for mark in alarm],
        [None if word == "?" else word for word in mode.split()],
    ]
    steps = max(map(len, columns))
    blank = ([0.0] * steps, [0.0] * steps, [False] * steps, [False] * steps, ["auto"] * steps)
    filled = [values or nothing for values, nothing in zip(columns, blank, strict=True)]
    assert all(len(values) == steps for values in filled)
    return np.array([*zip(*filled, strict=True)], dtype=object)


@dataclass(frozen=True)
class Case:
    """A formula, what is said of it, and records of which that is so, or not, to whoever reads it."""

    formula: str
    said: str
    yes: tuple = ()
    no: tuple = ()
    gaps: bool = False
    timed: bool = False


AHEAD = [
    Case(
        "F[0, 3](open)",
        "at the first step or up to 3 steps later the valve is open",
        yes=(at(open="10000"), at(open="00010"), at(open="01")),
        no=(at(open="00001"), at(open="000")),
    ),
    Case(
        "F[0, 3](open)",
        "at the first step or up to 6 s later the valve is open",
        yes=(at(open="10000"), at(open="00010")),
        no=(at(open="00001"),),
        timed=True,
    ),
    Case(
        "F[2, 4](open)",
        "sometime 2 to 4 steps after the start, the valve is open",
        yes=(at(open="001000"), at(open="000010")),
        no=(at(open="010001"), at(open="11")),
    ),
    Case(
        "F[3, 3](open)",
        "at the step 3 steps after the start, the valve is open",
        yes=(at(open="00010"),),
        no=(at(open="11101"), at(open="111")),
    ),
    Case(
        "G[0, 2](open)",
        "at the first step and every one up to 2 steps later the valve is open",
        yes=(at(open="11100"), at(open="11")),
        no=(at(open="11011"), at(open="01111")),
    ),
    Case(
        "G[1, 2](open)",
        "at all steps 1 to 2 steps after the start, the valve is open",
        yes=(at(open="0110"), at(open="0")),
        no=(at(open="1101"), at(open="1011")),
    ),
    Case(
        "G[3, 3](open)",
        "at the step 3 steps after the start, if there is such a step, the valve is open",
        yes=(at(open="00010"), at(open="000")),
        no=(at(open="11101"),),
    ),
    Case(
        "next(open)",
        "at the second step the valve is open",
        yes=(at(open="010"),),
        no=(at(open="101"), at(open="1")),
    ),
    Case(
        "not next(open)",
        "at the second step, if there is one, the valve is not open",
        yes=(at(open="101"), at(open="1")),
        no=(at(open="010"),),
    ),
    Case(
        "F(alarm and F[0, 2](open))",
        "at some point the alarm is on, and at that step or up to 2 steps later the valve is open",
        yes=(at(alarm="0100", open="0100"), at(alarm="0100", open="0001"), at(alarm="0001", open="0001")),
        no=(at(alarm="0100", open="1000"), at(alarm="10000", open="00010")),
    ),
    Case(
        "F(alarm and F[1, 2](open))",
        "at some point the alarm is on, and some time 1 to 2 steps later the valve is open",
        yes=(at(alarm="0100", open="0001"),),
        no=(at(alarm="0100", open="0100"), at(alarm="10000", open="00010")),
    ),
    Case(
        "F(alarm and G[0, 2](open))",
        "at some point the alarm is on, and at that step and every one up to 2 steps later the valve is open",
        yes=(at(alarm="0100", open="0111"), at(alarm="0001", open="0001")),
        no=(at(alarm="0100", open="0011"), at(alarm="0100", open="0110")),
    ),
    Case(
        "F(alarm and G[1, 2](open))",
        "at some point the alarm is on, and at every step 1 to 2 steps later the valve is open",
        yes=(at(alarm="0100", open="0011"), at(alarm="0001", open="0000")),
        no=(at(alarm="1000", open="1101"),),
    ),
    Case(
        "G(alarm implies F[0, 2](open))",
        "whenever the alarm is on, at that step or up to 2 steps later the valve is open",
        yes=(at(alarm="1001", open="1001"), at(alarm="1000", open="0010"), at(alarm="0000")),
        no=(at(alarm="1000", open="0001"), at(alarm="0011", open="0010")),
    ),
    Case(
        "G(alarm implies F[2, 2](open))",
        "whenever the alarm is on, precisely 2 steps later the valve is open",
        yes=(at(alarm="1000", open="0010"),),
        no=(at(alarm="1000", open="0100"), at(alarm="0001", open="0001")),
    ),
    Case(
        "G(alarm implies G[2, 2](open))",
        "whenever the alarm is on, precisely 2 steps later, if there is such a step, the valve is open",
        yes=(at(alarm="1000", open="0010"), at(alarm="0001")),
        no=(at(alarm="1000", open="1101"),),
    ),
    Case(
        "G(F[0, 1](open))",
        "at each step, at that step or up to 1 step later the valve is open",
        yes=(at(open="10101"), at(open="01")),
        no=(at(open="10010"), at(open="1010")),
    ),
    Case(
        "G(alarm implies next(open))",
        "whenever the alarm is on, at the next step the valve is open",
        yes=(at(alarm="0100", open="0010"),),
        no=(at(alarm="0100", open="0100"), at(alarm="0001", open="0001")),
    ),
    Case(
        "F(alarm and not next(open))",
        "at some point the alarm is on, and at the next step, if there is one, the valve is not open",
        yes=(at(alarm="0100", open="0101"), at(alarm="001", open="111")),
        no=(at(alarm="010", open="001"),),
    ),
    Case(
        "F(alarm and next(open) and previous(open))",
        "at some point the alarm is on, and both at the next step the valve is open and at the previous step the valve "
        "is open",
        yes=(at(alarm="0100", open="1010"),),
        no=(at(alarm="0100", open="0110"),),  # the step before the next one is that of the alarm
    ),
]
BACK = [
    Case(
        "F(alarm and previous(open))",
        "at some point the alarm is on, and at the previous step the valve is open",
        yes=(at(alarm="0010", open="0100"),),
        no=(at(alarm="0010", open="0010"), at(alarm="100", open="110")),
    ),
    Case(
        "G(alarm implies previous(open))",
        "whenever the alarm is on, at the previous step the valve is open",
        yes=(at(alarm="0010", open="0100"),),
        no=(at(alarm="100", open="111"),),
    ),
    Case(
        "F(alarm and not previous(open))",
        "at some point the alarm is on, and at the previous step, if there is one, the valve is not open",
        yes=(at(alarm="100", open="111"), at(alarm="010", open="010")),
        no=(at(alarm="010", open="100"),),
    ),
    Case(
        "F(alarm and once(open))",
        "at some point the alarm is on, and at that step or earlier the valve is open",
        yes=(at(alarm="0010", open="1000"), at(alarm="010", open="010")),
        no=(at(alarm="0100", open="0011"),),
    ),
    Case(
        "F(alarm and historically(open))",
        "at some point the alarm is on, and at that step and every earlier one the valve is open",
        yes=(at(alarm="0010", open="1110"), at(alarm="100", open="100")),
        no=(at(alarm="0010", open="1100"), at(alarm="0010", open="0111")),
    ),
    Case(
        "F(alarm and once[0, 2](open))",
        "at some point the alarm is on, and at that step or up to 2 steps earlier the valve is open",
        yes=(at(alarm="00010", open="01000"), at(alarm="00010", open="00010")),
        no=(at(alarm="00010", open="10001"),),
    ),
    Case(
        "F(alarm and once[1, 2](open))",
        "at some point the alarm is on, and some time 1 to 2 steps earlier the valve is open",
        yes=(at(alarm="0010", open="1000"),),
        no=(at(alarm="0010", open="0010"),),
    ),
    Case(
        "F(historically[0, 2](open))",
        "at some point, at that step and every one up to 2 steps earlier the valve is open",
        yes=(at(open="0011100"), at(open="1000")),  # at the first step there is no earlier one
        no=(at(open="0110"), at(open="011011")),
    ),
    Case(
        "G(alarm implies historically[0, 2](open))",
        "whenever the alarm is on, at that step and every one up to 4 s earlier the valve is open",
        yes=(at(alarm="00010", open="01110"), at(alarm="0100", open="1100")),
        no=(at(alarm="00010", open="00110"), at(alarm="00010", open="01101")),
        timed=True,
    ),
    Case(
        "F(alarm and historically[2, 2](open))",
        "at some point the alarm is on, and precisely 2 steps earlier, if there is such a step, the valve is open",
        yes=(at(alarm="0010", open="1000"), at(alarm="0100", open="0000")),
        no=(at(alarm="0010", open="0110"),),
    ),
]
UNTIL = [
    Case(
        "until(open, alarm)",
        "from the start until the first step at which the alarm is on, and there is one, the valve is open",
        yes=(at(open="1100", alarm="0010"), at(open="0", alarm="1"), at(open="1100", alarm="0011")),
        no=(at(open="1111", alarm="0000"), at(open="1011", alarm="0010")),
    ),
    Case(
        "not until(open, alarm)",
        "from the start up to and including the first step at which the valve is not open, or to the end if there is "
        "none, the alarm is not on",
        yes=(at(open="1111", alarm="0000"), at(open="1011", alarm="0010"), at(open="0", alarm="0")),
        no=(at(open="1100", alarm="0010"), at(open="0", alarm="1")),
    ),
    Case(
        "unless(open, alarm)",
        "from the start until the first step at which the alarm is on, or to the end if there is none, the valve is "
        "open",
        yes=(at(open="1111", alarm="0000"), at(open="1100", alarm="0010"), at(open="0", alarm="1")),
        no=(at(open="1110", alarm="0000"), at(open="1011", alarm="0010")),
    ),
    Case(
        "not unless(open, alarm)",
        "from the start up to and including the first step at which the valve is not open, and there is one, the alarm "
        "is not on",
        yes=(at(open="1110", alarm="0000"), at(open="1011", alarm="0010")),
        no=(at(open="1111", alarm="0000"), at(open="1100", alarm="0010")),
    ),
    Case(
        "G(alarm implies until(open, speed > 5))",
        "whenever the alarm is on, from then until the first step at which speed is above 5 m/s, and there is one, the "
        "valve is open",
        yes=(at("0 0 0 9", alarm="0100", open="0110"), at("0 9 0 0", alarm="0100", open="0000")),
        no=(at("9 0 0 0", alarm="0100", open="0111"), at("0 0 0 9", alarm="0100", open="1100")),
    ),
    Case(
        "F(alarm and since(open, speed > 5))",
        "at some point the alarm is on, and ever since the last step so far at which speed is above 5 m/s, and there "
        "is one, the valve is open",
        yes=(at("9 0 0 0", alarm="0010", open="0110"), at("0 9 0 9", alarm="0010", open="0010"), at("9", alarm="1")),
        no=(at("0 0 0 9", alarm="0010", open="1111"), at("9 0 0 0", alarm="0010", open="1010")),
    ),
    Case(
        "F(alarm and not since(open, speed > 5))",
        "at some point the alarm is on, and back to and including the last step so far at which the valve is not open, "
        "or to the start if there is none, speed is at most 5 m/s",
        yes=(at("0 0 0 9", alarm="0010", open="1111"), at("9 0 0 0", alarm="0010", open="1010")),
        no=(at("9 0 0 0", alarm="0010", open="0110"), at("9", alarm="1")),
    ),
]
EVENTS = [
    Case(
        "F(rise(open))",
        "at some point it becomes true that the valve is open",
        yes=(at(open="001"), at(open="101")),
        no=(at(open="111"), at(open="100")),
    ),
    Case(
        "G(not rise(open))",
        "it never changes from false to true that the valve is open",
        yes=(at(open="1100"), at(open="000"), at(open="111")),
        no=(at(open="101"),),
    ),
    Case(
        "F(fall(open))",
        "at some point it stops being true that the valve is open",
        yes=(at(open="110"),),
        no=(at(open="011"), at(open="000")),
    ),
    Case(
        "G(not fall(open))",
        "it never changes from true to false that the valve is open",
        yes=(at(open="0011"), at(open="000")),
        no=(at(open="0100"),),
    ),
    Case(
        "G(rise(open) implies alarm)",
        "whenever it becomes true that the valve is open, the alarm is on",
        yes=(at(open="0110", alarm="0100"), at(open="1100", alarm="0000")),
        no=(at(open="0110", alarm="0010"),),
    ),
    Case(
        "F(alarm and not rise(open))",
        "at some point the alarm is on while it does not change from false to true that the valve is open",
        yes=(at(open="011", alarm="001"), at(open="100", alarm="100")),
        no=(at(open="010", alarm="010"),),
    ),
    Case(
        "count(rise(open)) > 1",
        "at 2 or more steps in all, it becomes true that the valve is open",
        yes=(at(open="01010"),),
        no=(at(open="10010"), at(open="01110")),
        timed=True,
    ),
    Case(
        "before(open, alarm)",
        "at some step the valve is open, and at a later one the alarm is on",
        yes=(at(open="0100", alarm="0010"), at(open="0100", alarm="1001")),
        no=(at(open="0100", alarm="0100"), at(open="0010", alarm="1100")),
    ),
    Case(
        "not before(open, alarm)",
        "after no step at which the valve is open comes one at which the alarm is on",
        yes=(at(open="0100", alarm="1100"), at(open="0000", alarm="1111")),
        no=(at(open="0100", alarm="0001"),),
    ),
    Case(
        "before[0, 2](open, alarm)",
        "at some step the valve is open, and at that step or up to 2 steps later the alarm is on",
        yes=(at(open="0100", alarm="0100"), at(open="0100", alarm="0001")),
        no=(at(open="10000", alarm="00010"),),
    ),
    Case(
        "before[1, 2](open, alarm)",
        "at some step the valve is open, and some time 1 to 2 steps later the alarm is on",
        yes=(at(open="0100", alarm="0001"),),
        no=(at(open="0100", alarm="0100"), at(open="10000", alarm="00010")),
    ),
    Case(
        "not before[1, 2](open, alarm)",
        "after no step at which the valve is open comes, 1 to 2 steps later, one at which the alarm is on",
        yes=(at(open="0100", alarm="0100"), at(open="10000", alarm="00010")),
        no=(at(open="0100", alarm="0001"),),
    ),
    Case(
        "F(speed > 5 and before(open, alarm))",
        "at some point speed is above 5 m/s, and at that or a later step the valve is open, and at a still later one "
        "the alarm is on",
        yes=(at("0 9 0 0", open="0100", alarm="0010"),),
        no=(at("0 9 0 0", open="1000", alarm="0010"), at("0 9 0 0", open="0100", alarm="0100")),
    ),
]
COUNTS = [
    Case(
        "count(open) >= 2",
        "the valve is open at 2 or more steps",
        yes=(at(open="1001"), at(open="0110")),
        no=(at(open="0100"),),
    ),
    Case(
        "count(not open) >= 2",
        "at 2 or more steps in all, the valve is not open",
        yes=(at(open="1100"),),
        no=(at(open="10"), at(open="110")),  # open at fewer than 2 steps would be something else
    ),
    Case(
        "episodes(open) >= 2",
        "the valve is open in 2 or more separate stretches",
        yes=(at(open="1011"),),
        no=(at(open="0111"), at(open="1000")),
    ),
    Case(
        "episodes(open) < 2",
        "the valve is open in fewer than 2 separate stretches",
        yes=(at(open="0111"), at(open="0000")),
        no=(at(open="1001"),),
    ),
    Case(
        "longest(speed > 16) > 2",
        "speed stays above 16 m/s for more than 2 steps in a row",
        yes=(at("20 20 20 0"),),
        no=(at("20 20 0 20 20"),),
    ),
    Case(
        "longest(speed > 16) < 2",
        "speed never stays above 16 m/s for 2 or more steps in a row",
        yes=(at("20 0 20 0"), at("0 0 0")),
        no=(at("20 20 0 20"),),
        timed=True,
    ),
    Case(
        "longest(not open) >= 2",
        "for 2 or more steps in a row, the valve is not open",
        yes=(at(open="1001"),),
        no=(at(open="0101"),),  # of which it is so that the valve is not open for 2 steps
    ),
    Case(
        "longest(open) = 2",
        "for exactly 2 steps in a row at the longest, the valve is open",
        yes=(at(open="10110"),),
        no=(at(open="110111"), at(open="1010")),
    ),
    Case(
        "longest(open and alarm) < 2",
        "it is never so for 2 or more steps in a row that both the valve is open and the alarm is on",
        yes=(at(open="110", alarm="011"),),
        no=(at(open="111", alarm="011"),),
    ),
    Case(
        "longest(open) > longest(alarm)",
        "the number of steps in the longest stretch in which the valve is open is above the number of steps in the "
        "longest stretch in which the alarm is on",
        yes=(at(open="110", alarm="101"),),
        no=(at(open="1010", alarm="1100"),),
    ),
]
CHANGES = [
    Case(
        "F(change(speed, 2) < -3)",
        "at some point speed is more than 3 m/s below its value 2 steps earlier or at the start, whichever is later",
        yes=(at("9 9 9 5"), at("9 5")),  # near the start it is compared with its first value
        no=(at("5 9 5 9 5"), at("9 8 7 6 5"), at("5 9 5")),  # the second falls by 4, but not so fast
    ),
    Case(
        "G(change(speed, 2) < 3)",
        "speed is never at least 3 m/s above its value 4 s earlier or at the start, whichever is later",
        yes=(at("0 1 2 3 4"), at("5 0 5 0 5")),
        no=(at("0 4 0"), at("0 0 3")),
        timed=True,
    ),
    Case(
        "F(abs(change(speed, 1)) > 3)",
        "at some point speed is more than 3 m/s from its value 1 step earlier or at the start, whichever is later",
        yes=(at("0 4"), at("4 0")),
        no=(at("4 4 4"), at("0 3 0")),
    ),
    Case(
        "F(change(speed, 2) > 3 and load > 2)",
        "at some point load is above 2 while speed is more than 3 m/s above its value 2 steps earlier or at the start, "
        "whichever is later",
        yes=(at("0 4", load="0 3"), at("9 5 5 9", load="0 0 0 3")),
        no=(at("0 4 4 4", load="0 0 0 3"), at("5 5", load="3 3")),
    ),
    Case(
        "G(not (open and load > 2 and change(speed, 2) > 3))",
        "the valve is never open while load is above 2 and speed is more than 3 m/s above its value 2 steps earlier or "
        "at the start, whichever is later",
        yes=(at("0 4", load="0 3", open="10"), at("5 5", load="3 3", open="00"), at("5 5", load="3 3", open="11")),
        no=(at("0 4", load="0 3", open="01"),),
    ),
    Case(
        "F(change(speed, 3) > 0)",
        "at some point speed is above its value 3 steps earlier or at the start, whichever is later",
        yes=(at("3 2 1 0 3"), at("3 4")),
        no=(at("3 2 1 3 2"), at("5 1 2")),
    ),
    Case(
        "F(max[0, 2](speed) - speed > 3)",
        "at some point speed falls by more than 3 m/s within 2 steps",
        yes=(at("5 9 5"), at("9 7 5")),
        no=(at("9 8 7 6 5"), at("5 9")),
    ),
    Case(
        "F(open and speed - min[0, 2](speed) >= 3)",
        "at some point the valve is open while speed has risen by at least 3 m/s within 4 s",
        yes=(at("5 0 3", open="001"), at("0 0 3", open="001")),
        no=(at("5 0 3", open="100"), at("0 1 2 3", open="1111")),
        timed=True,
    ),
]
WINDOWS = [
    Case(
        "F(mean[0, 1](speed) > 5)",
        "at some point the mean of speed at that step and up to 1 step earlier is above 5 m/s",
        yes=(at("0 6 6 0"), at("6 0 0")),
        no=(at("0 9 0"),),
    ),
    Case(
        "F(open and mean[0, 2](speed) > 5)",
        "at some point the valve is open while the mean of speed at that step and up to 4 s earlier is above 5 m/s",
        yes=(at("0 6 6 6", open="0001"),),
        no=(at("0 6 6 3", open="0001"), at("0 6 6 6", open="1100")),
        timed=True,
    ),
    Case(
        "F(open and mean[1, 2](speed) > 5)",
        "at some point the valve is open while the mean of speed 1 to 2 steps earlier is above 5 m/s",
        yes=(at("6 6 0", open="001"),),
        no=(at("0 6 9", open="001"), at("9", open="1")),
    ),
    Case(
        "F(open and min[0, 1](speed) > 5)",
        "at some point the valve is open while the minimum of speed at that step and up to 1 step earlier is above "
        "5 m/s",
        yes=(at("6 6", open="01"), at("6 0", open="10")),
        no=(at("6 6 0", open="001"), at("0 6", open="01")),
    ),
    Case(
        "F(open and max[0, 1](speed) > 5)",
        "at some point the valve is open while the maximum of speed at that step and up to 1 step earlier is above "
        "5 m/s",
        yes=(at("0 6", open="01"), at("6 0", open="01")),
        no=(at("6 0 0", open="001"), at("0 6", open="10")),
    ),
    Case(
        "F(spread[0, 1](speed) > 3)",
        "at some point the range of speed at that step and up to 1 step earlier is above 3 m/s",
        yes=(at("0 4"), at("4 0")),  # their standard deviation is 2
        no=(at("0 3 6 9"), at("9 9")),
    ),
    Case(
        "F(speed > mean[0, 2](speed))",
        "at some point speed is above the mean of speed at that step and up to 2 steps earlier",
        yes=(at("3 0 1 2"),),
        no=(at("3 2 1"), at("5")),
    ),
    Case(
        "F(open and total(speed) > 5)",
        "at some point the valve is open while the sum of speed up to and including that step is above 5 m/s",
        yes=(at("3 3 0", open="010"),),
        no=(at("3 2 9", open="010"), at("3 3", open="10")),
    ),
    Case(
        "F(alarm and latest(speed, open) > 5)",
        "at some point the alarm is on, and at the last step so far at which the valve is open, speed is above 5 m/s",
        yes=(at("9 0 0 0", open="1001", alarm="0010"), at("0 9 0", open="110", alarm="010")),
        no=(at("9 0 9", open="110", alarm="001"), at("0 0 9", open="001", alarm="010")),
    ),
    Case(
        "F(alarm and not latest(speed, open) > 5)",
        "at some point the alarm is on, and at the last step so far at which the valve is open, if there is one, speed "
        "is at most 5 m/s",
        yes=(at("9 0 9", open="110", alarm="001"), at("0 0 9", open="001", alarm="010")),
        no=(at("9 0 0", open="100", alarm="001"),),
    ),
    Case(
        "F(speed - latest(speed, rise(open)) > 5)",
        "at some point speed is more than 5 m/s above the value of speed at the last step so far at which it becomes "
        "true that the valve is open",
        yes=(at("0 1 7", open="011"),),
        no=(at("0 7 7", open="111"), at("0 3 7", open="011")),  # open from the start, it does not become so
    ),
    Case(
        "F(distance[0, 7, 0](speed) < 0.1)",
        "at some point the last 3 values of speed so far look like a rise-fall ▁█▁ within a distance of 0.1",
        yes=(at("5 5 9 5"), at("5 9 5 5")),
        no=(at("5 9"), at("1 2 3 4")),
    ),
]
RECORDS = [
    Case(
        "F(mean(speed) > 5)",
        "the mean of speed over the whole record is above 5 m/s",
        yes=(at("9 3 6"),),
        no=(at("9 0 0"),),
    ),
    Case(
        "F(open and speed > mean(speed))",
        "at some point the valve is open while speed is above the mean of speed over the whole record",
        yes=(at("0 5 9 0", open="0100"),),
        no=(at("0 5 9 9", open="0100"),),  # above the mean so far
    ),
    Case(
        "F(min(speed) > 5)",
        "the minimum of speed over the whole record is above 5 m/s",
        yes=(at("6 7"),),
        no=(at("6 7 5"),),
    ),
    Case(
        "F(max(speed) > 5)",
        "the maximum of speed over the whole record is above 5 m/s",
        yes=(at("0 6 0"),),
        no=(at("5 5"),),
    ),
    Case(
        "F(spread(speed) > 3)",
        "the range of speed over the whole record is above 3 m/s",
        yes=(at("0 4 2"),),
        no=(at("0 3"),),
    ),
    Case(
        "F(slope(speed) > 0.5)",
        "the slope per step of the line that best fits speed over the whole record is above 0.5",
        yes=(at("0 1 2"), at("3 0 9 9 3")),  # from end to end the second does not rise
        no=(at("0 0 0 0 2.4"), at("2 1 0")),  # from end to end the first rises by 0.6 a step
    ),
    Case(
        "F(last(speed) - first(speed) > 3)",
        "the last value of speed is more than 3 m/s above the first value of speed",
        yes=(at("1 9 0 5"),),
        no=(at("5 0 9 5"),),
    ),
    Case(
        "F(when_max(speed) > 1)",
        "speed first reaches its highest value of the whole record more than 1 step after the start",
        yes=(at("0 5 9 9"),),
        no=(at("0 9 5 9"), at("9 0 0 5")),  # the second has another peak, which is lower
    ),
    Case(
        "F(when_min(speed) <= 4)",
        "speed first reaches its lowest value of the whole record at most 4 s after the start",
        yes=(at("5 5 0 0 0"),),
        no=(at("5 1 5 0"),),
        timed=True,
    ),
]
CLOCKS = [
    Case(
        "F(elapsed() < 3 and open)",
        "in the first 3 steps, at some point the valve is open",
        yes=(at(open="0010"), at(open="01")),
        no=(at(open="0001"),),
    ),
    Case(
        "F(elapsed() >= 3 and open)",
        "after the first 3 steps, at some point the valve is open",
        yes=(at(open="0001"),),
        no=(at(open="1110"), at(open="111")),
    ),
    Case(
        "F(elapsed() <= 4 and open)",
        "in the first 4 s, at some point the valve is open",
        yes=(at(open="0010"),),
        no=(at(open="0001"),),
        timed=True,
    ),
    Case(
        "F(elapsed() < 4 and open)",
        "before 4 s have passed, at some point the valve is open",
        yes=(at(open="0100"),),
        no=(at(open="0010"),),
        timed=True,
    ),
    Case(
        "F(elapsed() > 4 and open)",
        "after more than 4 s, at some point the valve is open",
        yes=(at(open="0001"),),
        no=(at(open="1110"),),
        timed=True,
    ),
    Case(
        "F(left() < 2 and open)",
        "in the last 2 steps, at some point the valve is open",
        yes=(at(open="0010"), at(open="0001")),
        no=(at(open="0100"),),
    ),
    Case(
        "G(left() <= 4 implies open)",
        "in the last 4 s, the valve is always open",
        yes=(at(open="0111"), at(open="00111")),
        no=(at(open="1011"),),
        timed=True,
    ),
    Case(
        "F(gone() >= 0.5 and open)",
        "from 50 % of the record on, at some point the valve is open",
        yes=(at(open="00100"), at(open="00001"), at(open="1")),  # at the last step of any record all of it has passed
        no=(at(open="11000"),),
    ),
    Case(
        "F(gone() > 0.5 and open)",
        "in the last 50 % of the record, at some point the valve is open",
        yes=(at(open="00010"), at(open="01")),
        no=(at(open="11100"),),
    ),
    Case(
        "F(gone() < 0.5 and open)",
        "in the first 50 % of the record, at some point the valve is open",
        yes=(at(open="01000"),),
        no=(at(open="00111"),),
    ),
    Case(
        "F(gone() <= 0.5 and open)",
        "until 50 % of the record has passed, at some point the valve is open",
        yes=(at(open="00100"),),
        no=(at(open="00011"),),
    ),
    Case(
        "F(elapsed() > 6)",
        "the record lasts more than 6 s",
        yes=(at(open="00000"),),
        no=(at(open="0000"),),
        timed=True,
    ),
    Case(
        "F(length() > 3)",
        "the record has at least 4 steps",
        yes=(at(open="0000"),),
        no=(at(open="000"),),
    ),
]
AMOUNTS = [
    Case(
        "F(abs(speed) > 3)",
        "at some point speed is beyond ±3 m/s",
        yes=(at("0 4"), at("-4 0")),
        no=(at("3 -3"),),
    ),
    Case(
        "G(abs(speed) <= 3)",
        "speed is never beyond ±3 m/s",
        yes=(at("3 -3 0"),),
        no=(at("0 -4"), at("4")),
    ),
    Case(
        "F(speed - load > 3)",
        "at some point load is more than 3 below speed",
        yes=(at("5", load="1"),),
        no=(at("1", load="5"), at("5", load="2")),
    ),
    Case(
        "F(sign(speed) = sign(load))",
        "at some point the sign of load is equal to the sign of speed",
        yes=(at("-1", load="-5"), at("2 3", load="0 1"), at("0", load="0")),
        no=(at("1 0", load="-1 1"),),
    ),
    Case(
        'G(speed > 5 implies mode = "off")',
        "whenever speed is above 5 m/s, mode is off",
        yes=(at("9 0", mode="off auto"), at("0 0", mode="auto auto")),
        no=(at("0 9", mode="off auto"),),
    ),
]
OVER_TIME = [
    Case(
        "F(open and F(alarm))",
        "at some point the valve is open, and then or later the alarm is on",
        yes=(at(open="010", alarm="010"), at(open="010", alarm="001")),
        no=(at(open="010", alarm="100"),),
    ),
    Case(
        "F(open and G(alarm))",
        "at some point the valve is open, and from then on the alarm is always on",
        yes=(at(open="0100", alarm="0111"),),
        no=(at(open="0100", alarm="0011"), at(open="0100", alarm="0110")),
    ),
    Case(
        "F(G(open))",
        "at the last step, the valve is open",
        yes=(at(open="0001"),),
        no=(at(open="1110"),),
    ),
    Case(
        "G(open implies F(alarm))",
        "whenever the valve is open, then or later the alarm is on",
        yes=(at(open="0110", alarm="0010"), at(open="000", alarm="000")),
        no=(at(open="0110", alarm="0100"),),
    ),
]
GAPS = [
    Case(
        "F(not open)",
        "at some point it is false or unknown that the valve is open",
        yes=(at(open="1?1"), at(open="101")),
        no=(at(open="11"),),
        gaps=True,
    ),
    Case(
        "F(open or missing(open))",
        "at some point it is true or unknown that the valve is open",
        yes=(at(open="0?0"), at(open="010")),
        no=(at(open="00"),),
        gaps=True,
    ),
    Case(
        "F(missing(open))",
        "at some point it is unknown whether the valve is open",
        yes=(at(open="0?1"),),
        no=(at(open="01"),),
        gaps=True,
    ),
    Case(
        "F(not load < speed)",
        "at some point it is false or unknown that load is below speed",
        yes=(at("1 1", load="0 2"), at("1 ?", load="0 0")),
        no=(at("1 1", load="0 0"),),
        gaps=True,
    ),
    Case(
        "F(not speed > 5)",
        "at some point speed is at most 5 m/s or missing",
        yes=(at("9 ?"), at("9 5")),
        no=(at("9 9"),),
        gaps=True,
    ),
    Case(
        "F(alarm and not latest(speed, open) > 5)",
        "at some point the alarm is on, and at the last step so far at which the valve is open, if there is one, speed "
        "is either at most 5 m/s or missing",
        yes=(at("? 9", open="10", alarm="01"), at("9 9", open="01", alarm="10"), at("5 9", open="10", alarm="01")),
        no=(at("9 ?", open="10", alarm="01"),),
        gaps=True,
    ),
    Case(
        "F(mean[0, 1](speed) > 5)",
        "at some point the mean of speed at that step and up to 1 step earlier is above 5 m/s",
        yes=(at("0 6 ?"),),  # of what is there
        no=(at("0 ? ?"),),
        gaps=True,
    ),
]
CASES = [*AHEAD, *BACK, *UNTIL, *EVENTS, *COUNTS, *CHANGES, *WINDOWS, *RECORDS, *CLOCKS, *AMOUNTS, *OVER_TIME, *GAPS]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.formula + ", in seconds" * case.timed)
def test_the_first_reading_is_the_right_one(case):
    timed = TWO_SECONDS if case.timed else {}
    panel = Panel.from_arrays([*case.yes, *case.no], columns=list(SCHEMA), schema=SCHEMA, **timed)
    answers = [True] * len(case.yes) + [False] * len(case.no)
    formula = Formula.parse(case.formula, panel.schema)
    said = english(formula, panel.schema, None if case.gaps else (), step=panel.step)
    assert said == case.said
    assert formula(panel).tolist() == answers
    assert Formula.from_english(said, panel.schema, step=panel.step)(panel).tolist() == answers


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.formula + ", in seconds" * case.timed)
def test_what_is_said_is_read_in_other_capitals_and_as_a_question(case):
    panel = Panel.from_arrays(
        [*case.yes, *case.no], columns=list(SCHEMA), schema=SCHEMA, **(TWO_SECONDS if case.timed else {})
    )
    first = case.said[0].upper() + case.said[1:]
    named = case.said.replace("speed", "Speed").replace("the valve", "The Valve")
    for said in (f"{case.said}?", f"{first}.", f"{named}?", named):
        read = Formula.from_english(said, panel.schema, step=panel.step)
        assert read(panel).tolist() == [True] * len(case.yes) + [False] * len(case.no), said


def test_every_operator_has_a_case():
    panel = Panel.from_arrays([at(open="01")], columns=list(SCHEMA), schema=SCHEMA)
    formulas = (Formula.parse(case.formula, panel.schema).expression for case in CASES)
    assert {e.head for formula in formulas for e in formula.walk()}.issuperset(OPERATORS)


def test_every_case_has_records_of_both_kinds():
    assert all(case.yes and case.no for case in CASES)
