"""The table of the avoidance logic: what it advises, a slow twin that solves the same, and where it is kept."""

from itertools import product

import numpy as np
import platformdirs
import pytest

from telltree.datasets.encounters import CODES, advised, avoidance
from telltree.datasets.encounters.logic_table import solve_table
from telltree.errors import SettingsError

pytestmark = pytest.mark.usefixtures("cache_folder")


# The table


def test_the_policy_is_symmetric_and_leaves_distant_aircraft_alone():
    heights, seconds = np.linspace(10, 990, 50)[:, None], np.arange(1, 41)[None]
    above, below = advised(heights, seconds), advised(-heights, seconds)
    assert set(above.ravel()) == {"COC", "DES1500"}
    mirrored = {"COC": "COC", "DES1500": "CL1500"}
    assert np.array_equal(np.vectorize(mirrored.get)(above), below)
    assert np.all(above[:, 29:] == "COC")
    assert np.all(advised([2000, -2000], 15) == "COC")
    assert advised(200, 15) == "DES1500"


def test_diverging_aircraft_are_left_alone():
    heights, seconds, rates = np.arange(250, 3001, 50.0), np.arange(1, 41.0), np.arange(-60, 61, 7.5)
    height, left, own, intruder = np.meshgrid(heights, seconds, rates, rates)
    found = advised(height, left, own, intruder)
    assert np.mean(found[intruder > own] != "COC") < 0.001
    assert np.all(found[intruder - own > 15] == "COC")
    assert np.mean(found[intruder - own < -15] != "COC") > 0.05


def test_strengthened_advisories_come_only_after_those_they_strengthen():
    heights, seconds = np.linspace(-300, 300, 61)[:, None], np.arange(1, 41)[None]
    for before, last in (("COC", 5), ("DNC", 5), ("DES1500", 7), ("SCL1500", 9)):
        found = set(advised(heights, seconds, before=before, responds=True).ravel())
        assert found <= set(CODES[:last])
    assert "SDES2500" in set(advised(heights, seconds, 0, -20, before="SDES1500").ravel())


def test_the_policy_refuses_what_it_does_not_know():
    with pytest.raises(SettingsError, match="before must be one of COC, DNC"):
        advised(0, 10, before="CLIMB")
    with pytest.raises(SettingsError, match="seconds must be between 1 and 40, got 0 to 3"):
        advised(0, [0, 3])


TARGETS = (0, 0, 0, -25, 25, -25, 25, -41.67, 41.67)
PUSHES = (0, -8.33, 8.33, -8.33, 8.33, -10.7, 10.7, -10.7, 10.7)
UPS, DOWNS = (2, 4, 6, 8), (1, 3, 5, 7)


def naive_reward(h, own, intruder, before, advisory):
    """The published rewards, one by one."""
    if advisory > (4 if before < 3 else 6 if before < 5 else 8):
        return (
            naive_reward(h, own, intruder, 8, advisory) - 1 - naive_change(8, advisory) + naive_change(before, advisory)
        )
    if advisory == 0:
        return 1e-9
    closure, up = abs(own - intruder), advisory in UPS
    corrective = own < TARGETS[advisory] if up else own > TARGETS[advisory]
    total = naive_change(before, advisory)
    if (h < 0 and not up) or (h > 0 and up):
        total -= (0 if corrective else 1) + (0.01 if abs(h) > 500 else 0)
    if corrective:
        total -= 1e-5 + (0.1 if abs(h) > 650 and closure < 100 / 3 else 0)
        total -= 0.03 if abs(h) > 1000 and closure < 200 / 3 else 0
        total -= 3e-5 * abs(TARGETS[advisory] - own)
    else:
        total -= 0.01 if abs(h) > 650 and closure < 100 / 3 else 0
    if advisory < 3:
        total -= 1e-4 + (5e-4 if closure > 50 else 0)
    else:
        total -= 1.5e-3 if closure > 50 else 0
    total -= 1.5e-3 if closure > 50 else 0
    total -= 2.3e-3 if closure < 50 else 0
    return total


def naive_change(before, advisory):
    if advisory == 0:
        return 0
    if before and (before in UPS) != (advisory in UPS):
        return -8e-3
    return -5e-3 if advisory > before else -1e-3 if advisory < before else 0


def naive_next(rate, push, advisory):
    if advisory == 0:
        return max(-100, min(100, rate + push))
    if advisory in UPS:
        return rate if rate >= TARGETS[advisory] else min(rate + push, TARGETS[advisory])
    return rate if rate <= TARGETS[advisory] else max(rate + push, TARGETS[advisory])


def naive_table(heights, rates, seconds):
    """Backward induction with dictionaries and NumPy's one-dimensional interpolation, one axis after another."""
    states = list(product(range(len(heights)), range(len(rates)), range(len(rates))))
    value = np.zeros((2, 9, len(heights), len(rates), len(rates)))
    value[:] = np.where(np.abs(heights) <= 175, -1, 0)[:, None, None]
    layers = []
    for _ in range(seconds):
        ahead = np.zeros((len(heights), len(rates), len(rates), 2, 9))
        for (i, j, k), responds, advisory in product(states, (0, 1), range(9)):
            flown = advisory if responds else 0
            for (p, own), (q, other) in product(naive_pushes(flown), naive_pushes(0)):
                own_next, other_next = naive_next(rates[j], own, flown), naive_next(rates[k], other, 0)
                h_next = heights[i] + (rates[k] + other_next) / 2 - (rates[j] + own_next) / 2
                cube = value[responds, advisory]
                bitset = np.array(
                    [[np.interp(h_next, heights, cube[:, a, b]) for b in range(len(rates))] for a in range(len(rates))]
                )
                line = [np.interp(own_next, rates, bitset[:, b]) for b in range(len(rates))]
                ahead[i, j, k, responds, advisory] += p * q * np.interp(other_next, rates, line)
        layers.append(ahead)
        value = naive_values(heights, rates, ahead)
    return np.array(layers)


def naive_pushes(advisory):
    spread = 3 if advisory == 0 else 1
    return [(0.5, PUSHES[advisory]), (0.25, PUSHES[advisory] + spread), (0.25, PUSHES[advisory] - spread)]


def naive_values(heights, rates, ahead):
    value = np.full((2, 9, len(heights), len(rates), len(rates)), -np.inf)
    for i, j, k in product(range(len(heights)), range(len(rates)), range(len(rates))):
        for responds, before, advisory in product((0, 1), range(9), range(9)):
            alike = before > 0 and (before in UPS) == (advisory in UPS)
            chance = 1 if advisory == 0 or (responds and before == advisory) else 1 / 4 if alike else 1 / 6
            now = naive_reward(heights[i], rates[j], rates[k], before, advisory)
            later = chance * ahead[i, j, k, 1, advisory] + (1 - chance) * ahead[i, j, k, 0, advisory]
            value[responds, before, i, j, k] = max(value[responds, before, i, j, k], now + later)
    return value


def test_the_table_equals_a_naive_one():
    heights, rates = np.array([-1200.0, -150, 0, 150, 1200]), np.array([-100.0, 5, 100])
    solved = solve_table(heights, rates, seconds=3, threads=1)
    assert np.allclose(solved, naive_table(heights, rates, 3), rtol=0, atol=1e-6)


# Where it is kept


def test_the_table_is_kept_and_read_again(tmp_path, monkeypatch):
    real = avoidance.load_table(2)
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *args, **kwargs: tmp_path / "new")
    solved = []
    monkeypatch.setattr(avoidance, "solve_table", lambda threads: solved.append(threads) or real)
    assert np.array_equal(avoidance.load_table(2), real)
    assert np.array_equal(avoidance.load_table(2), real)
    assert len(solved) == 1
    place = avoidance.cache_path()
    whole = place.read_bytes()
    assert [path.name for path in place.parent.iterdir()] == [place.name]
    for damaged in (b"", whole[:1000], whole[:-4], whole[:500] + b"x" + whole[501:], b"\x93NUMPY foreign" * 9):
        place.write_bytes(damaged)
        assert np.array_equal(avoidance.load_table(2), real)
        assert place.read_bytes() == whole
    assert len(solved) == 6


def test_an_unwritable_cache_only_means_solving_again(tmp_path, monkeypatch):
    real = avoidance.load_table(2)
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(platformdirs, "user_cache_path", lambda *args, **kwargs: tmp_path / "file" / "below")
    solved = []
    monkeypatch.setattr(avoidance, "solve_table", lambda threads: solved.append(threads) or real)
    assert avoidance.load_table(2) is real
    assert avoidance.load_table(2) is real
    assert len(solved) == 2


def test_other_parameters_have_another_place(monkeypatch):
    before = avoidance.cache_path()
    monkeypatch.setattr(avoidance.advisories, "REVERSAL", 1e-2)
    assert avoidance.cache_path() != before
