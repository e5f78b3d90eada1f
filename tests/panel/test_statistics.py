"""Statistics of values in parts are, to the bit, those of the whole."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from telltree.grammar.default_language import cuts, roundest
from telltree.panel import MISSING, Panel, statistics
from telltree.panel.statistics import Statistics

some = st.sampled_from([0.0, -0.0, 1.0, 2.5, -3.0, 1e-300, 1e300, -1e308, 1e308, math.nan, math.inf, -math.inf])
values_of = st.lists(st.one_of(some, st.floats(-100, 100), st.integers(0, 9).map(float)), max_size=60)
places = st.lists(st.integers(0, 60), max_size=6).map(sorted)


@pytest.fixture(autouse=True, scope="module", params=["in memory", "in files"])
def room(request):
    """Few values at a time: those that would not fit are kept in files."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "in files":
            patch.setattr(statistics, "IN_MEMORY", 10)
            patch.setattr(statistics, "AT_ONCE", 4)
        yield


def in_parts(values, where):
    return Statistics.of(*np.split(np.asarray(values), where))


def finite(values):
    return values[np.isfinite(values)]


def whole_cuts(values, most):
    """The cuts of all values at once, as the definition has it, one share after the other."""
    ordered = np.sort(finite(values))
    count = len(ordered)
    with np.errstate(over="ignore"):
        least = 2e-9 * (ordered[-1] / 2 - ordered[0] / 2) if count else 0.0
        gaps = [(i, ordered[i + 1] - ordered[i]) for i in range(count - 1) if ordered[i + 1] - ordered[i] > least]
    aside = count // (4 * most)
    gaps = [(i, gap) for i, gap in gaps if aside <= i + 1 <= count - aside] or gaps
    if len(gaps) > most:
        best = {}
        for i, gap in gaps:
            share, place = divmod((i + 1) * most, count)
            key = (-gap, abs(place / count - 0.5), i)
            best[share] = min(best.get(share, key), key)
        gaps = [(i, -width) for width, _, i in sorted(best.values(), key=lambda key: key[2])]
    return list(dict.fromkeys(roundest(float(ordered[i]), float(ordered[i + 1])) for i, _ in gaps))


@given(values_of, places)
def test_extents_are_those_of_the_whole(values, where):
    array = np.array(values, float)
    extent, known = in_parts(array, where).extent, finite(array)
    assert extent.missing == np.isnan(array).sum()
    assert (extent.below, extent.above) == ((array == -np.inf).sum(), (array == np.inf).sum())
    assert extent.finite == len(known)
    assert (extent.low, extent.high) == (known.min(), known.max()) if len(known) else math.isnan(extent.low)
    assert extent.same == (len(array) > 0 and bool((array == array[0]).all()))


@given(values_of, places, st.integers(2, 12))
@example([0.1, 0.2, 0.7], [1], 3)
def test_quantiles_are_numpys_of_the_whole(values, where, points):
    array = np.array(values, float)
    if not len(finite(array)):
        return
    shares = np.linspace(0, 1, points)
    with np.errstate(over="ignore", invalid="ignore"):
        found, expected = in_parts(array, where).quantiles(shares), np.quantile(finite(array), shares)
    assert np.array_equal(found, expected, equal_nan=True)


@given(values_of, places)
@example([0.1, 0.1, 0.1], [1])  # whose mean is rounded to another number
def test_the_spread_is_numpys_of_the_whole_and_0_of_equal_values(values, where):
    array = np.array(values, float)
    with np.errstate(over="ignore", invalid="ignore"):
        expected = np.std(finite(array)) if len(set(finite(array))) > 1 else 0.0
        assert np.array_equal(in_parts(array, where).standard_deviation(), expected, equal_nan=True)


@pytest.mark.parametrize("count", [7, 8, 127, 128, 129, 1000, 4_097, 100_003])
def test_long_sums_are_paired_as_numpy_pairs_them(count):
    generator = np.random.default_rng(count)
    array = generator.normal(size=count) * 10 ** generator.uniform(-6, 6, size=count)
    array[generator.random(count) < 0.1] = np.nan
    for parts in (1, 2, 3, 17):
        where = np.sort(generator.integers(0, count, parts - 1))
        assert in_parts(array, where).standard_deviation() == np.std(finite(array))


@given(values_of, places, st.integers(0, 20))
def test_cuts_are_those_of_the_whole(values, where, most):
    array = np.array(values, float)
    expected = whole_cuts(array, most) if most else []
    assert cuts(array, most) == expected
    assert cuts(in_parts(array, where), most) == expected


@pytest.mark.parametrize("digits", [0, 1, 3, 17])
def test_cuts_of_many_values_are_those_of_the_whole(digits):
    generator = np.random.default_rng(digits)
    array = np.round(generator.normal(scale=30, size=5_000), digits)
    for most in (1, 4, 16):
        assert cuts(in_parts(array, [100, 100, 2_000, 4_999]), most) == whole_cuts(array, most)


@given(st.lists(st.integers(-2, 5), min_size=1), places)
def test_codes_are_those_that_occur(codes, where):
    found = in_parts(np.array(codes, np.int32), where)
    assert found.codes() == sorted(set(codes) - {MISSING})
    assert found.extent.missing == codes.count(MISSING)


def test_a_panel_gives_those_of_its_view():
    panel = Panel.from_arrays([np.array([[1.0], [np.nan]]), np.array([[5.0]])], columns=["x"])
    assert panel.statistics("x").extent.high == 5
    assert panel[:1].statistics("x").extent.high == 1
    both = Statistics.joined([panel[:1].statistics("x"), panel[1:].statistics("x")])
    assert both.standard_deviation() == 2
    assert both.extent == panel.statistics("x").extent
