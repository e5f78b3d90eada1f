"""The default language: what it can say of which records, and where it cuts values in two."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.support.effort import examples

from telltree import Formula, Grammar, GrammarTreeClassifier, Panel
from telltree.errors import DataWarning, SettingsError
from telltree.grammar.default_language import FEW_RECORDS, cuts, roundest_time
from telltree.panel.column_checks import FIRST, unchanging
from telltree.search import MonteCarlo


def panel_of(series, **options):
    """One record a row of `series`: a dict from names to lists of equal length."""
    frames = [pd.DataFrame(one) for one in series]
    whole = pd.concat([frame.assign(id=i, t=range(len(frame))) for i, frame in enumerate(frames)])
    return Panel.from_frame(whole, id="id", time="t", **options)


def waves(records=40, steps=12, seed=0):
    rng = np.random.default_rng(seed)
    return [{"x": rng.normal(size=steps).cumsum().round(3)} for _ in range(records)]


def says(panel, labels=None, **options):
    """The sentences of up to six terminals of the default language, and a few hundred drawn from all."""
    grammar = Grammar.for_panel(panel, labels, **options)
    return grammar, {str(d) for d in grammar.enumerate(6)} | {str(grammar.draw(seed)) for seed in range(300)}


# cuts


@given(st.lists(st.integers(-50, 50), max_size=60), st.integers(1, 9))
def test_cuts_lie_between_values_and_are_no_more_than_asked(values, most):
    found = cuts(np.array(values, float), most)
    assert len(found) <= most
    assert found == sorted(set(found))
    sides = [(np.array(values) < cut).astype(int) for cut in found]
    assert all(0 < side.sum() < len(values) for side in sides)
    assert len({side.tobytes() for side in sides}) == len(found)
    assert not set(found) & set(values)


def test_few_values_are_all_told_apart():
    assert cuts(np.array([0, 1, 1, 1, 2, 5.0, 5]), 16) == [0.5, 1.5, 3.5]
    assert cuts(np.array([3.0, 3, 3]), 4) == []
    assert cuts(np.array([np.nan, np.inf, -np.inf]), 4) == []
    assert cuts(np.array([]), 4) == []
    assert cuts(np.array([1.0, 2.0]), 0) == []


def test_the_widest_gap_of_each_share_is_cut():
    """Four shares of ten values: in each, one gap is wide."""
    gaps = np.full(40, 0.1)
    gaps[[5, 14, 27, 33]] = 2.0
    values = np.cumsum(gaps)
    found = cuts(values, 4)
    assert np.searchsorted(values, found).tolist() == [5, 14, 27, 33]


def test_an_outlier_moves_no_other_cut():
    values = np.random.default_rng(0).normal(size=400)
    spoilt = np.append(values, 1_048.0)
    assert len(set(cuts(values, 8)) - set(cuts(spoilt, 8))) <= 1
    assert max(cuts(spoilt, 8)) < 5


def test_what_arithmetic_leaves_between_equal_values_is_no_gap():
    assert cuts(np.array([0.1 + 0.2, 0.3, 0.5]), 4) == [0.4]


def test_values_of_any_size():
    assert cuts(np.array([-1e308, 0.0, 1e308]), 4) == [-5e307, 5e307]
    assert cuts(np.array([5e-324, 1e-323]), 4) in ([5e-324], [])


# the language


def test_f_asks_for_extremes_that_records_have():
    panel = panel_of(waves())
    grammar, sentences = says(panel)
    peaks = [s for s in sentences if s.startswith("F(x ") and "∧" not in s and "∨" not in s]
    assert len(peaks) == 32
    for text in peaks:
        truth = Formula.parse(text, panel.schema)(panel)
        assert 0 < truth.sum() < len(panel), text
    assert grammar.left_out == {}


def test_it_speaks_of_when_how_long_and_how_much():
    _, sentences = says(panel_of(waves()))
    for words in ("elapsed() <", "elapsed() ≥", "change(x, 1) >", "change(x, 2) <", "count(x > "):
        assert any(words in sentence for sentence in sentences), words
    assert not any("gone()" in sentence for sentence in sentences)  # all records are of one length
    assert not any(sign in sentence for sentence in sentences for sign in ("⇒", "x = "))


def test_shares_of_records_are_for_records_of_different_lengths():
    rng = np.random.default_rng(0)
    _, sentences = says(panel_of([{"x": rng.normal(size=n)} for n in (5, 9, 20, 30)]))
    assert any("gone()" in sentence for sentence in sentences)


def test_records_of_one_step_have_no_time():
    panel = Panel.from_table(np.random.default_rng(0).normal(size=(30, 2)), columns=["a", "b"])
    _, sentences = says(panel)
    assert not any(word in sentence for sentence in sentences for word in ("elapsed", "gone", "change", "count"))


def test_times_are_those_of_steps():
    frame = pd.DataFrame({"id": np.repeat(range(6), 4), "t": [0, 0.5, 2, 7] * 6, "x": np.arange(24.0) % 5})
    _, sentences = says(Panel.from_frame(frame, id="id", time="t"))
    asked = {float(s.split("≥ ")[1].rstrip(")")) for s in sentences if s.startswith("F(elapsed() ≥") and "∧" not in s}
    asked |= {float(word.split(")")[0]) for s in sentences for word in s.split("elapsed() ≥ ")[1:]}
    assert asked
    assert asked <= {0.5, 2, 7}


def conjunctions(e):
    """A condition on one step as a disjunction of conjunctions, each a list of comparisons."""
    match e.head.name if e.args else "":
        case "and":
            return [a + b for a in conjunctions(e.args[0]) for b in conjunctions(e.args[1])]
        case "or":
            return conjunctions(e.args[0]) + conjunctions(e.args[1])
    return [[str(e)]]


def clocks_alone(grammar, schema):
    """What drawn sentences ask of clocks alone, of one sentence at a time: F(a or b) is F(a) or F(b)."""
    drawn = [Formula.parse(str(grammar.draw(seed)), schema).expression for seed in range(2_000)]
    bodies = [conjunctions(e.args[0]) for e in drawn if e.head.name == "F"]
    found = [[one for one in body if all("elapsed()" in c or "gone()" in c for c in one)] for body in bodies]
    return [one for one in found if one]


def timed(even):
    rng = np.random.default_rng(0)
    parts = []
    for i, n in enumerate(rng.integers(4, 30, 40)):
        times = np.arange(n) if even else np.cumsum(rng.integers(1, 9, n))
        parts.append(pd.DataFrame({"id": i, "t": times, "x": rng.normal(size=n), "on": rng.random(n) < 0.5}))
    return Panel.from_frame(pd.concat(parts), id="id", time="t")


def test_where_steps_differ_in_length_clocks_are_asked_for_together_only_beside_data():
    """Clocks that alone decide would say in a roundabout way how long a record is."""
    panel = timed(even=False)
    assert panel.step[0] is None
    grammar, sentences = says(panel)
    assert all(len(alone) == 1 and len(alone[0]) == 1 for alone in clocks_alone(grammar, panel.schema))
    for words in ("∧ (elapsed() ", "∧ (gone() ", "∨ (elapsed() ", "∨ (gone() "):
        assert any(words in sentence for sentence in sentences), words
    assert any(
        len(one) > 1 for alone in clocks_alone(Grammar.for_panel(timed(even=True)), panel.schema) for one in alone
    )


def test_a_language_of_uneven_steps_can_be_edited_and_has_symbols_of_its_own():
    panel = timed(even=False)
    frame = pd.DataFrame({name: panel.stacked(name) for name in panel.schema})
    frame = frame.assign(id=np.repeat(panel.ids, panel.lengths), t=panel.stacked_times())
    named = Panel.from_frame(frame.rename(columns={"x": "Seen", "on": "Fact"}), id="id", time="t")
    grammar = Grammar.for_panel(named)
    assert str(Grammar.parse(str(grammar), named)) == str(grammar)
    assert {*grammar.attributes} == {"Seen", "Fact"}


@pytest.mark.parametrize(
    ("low", "high", "unit", "time"),
    [
        (24_000_000, 24_861_600, "s", 280 * 86_400),
        (24_780_000, 24_861_600, "s", 287 * 86_400),
        (24_861_599, 24_861_600, "s", 24_861_600),  # 287.75 days
        (4.0115286249201745, 4.9, "", 4.9),
        (4.0, 4.0115286249201745, "", 4.01),
        (0.1, 0.1 + 0.2, "s", 0.3),
        (0.3, 0.1 + 0.2, "s", 0.1 + 0.2),  # nothing is between them
        (3_599, 3_723.4567, "s", 3_600),  # 60 min
        (7, 8, "d", 8),
        (0, 5e-324, "s", 5e-324),
    ],
)
def test_times_between_steps_are_easy_to_say(low, high, unit, time):
    assert roundest_time(low, high, unit) == time


@given(st.floats(0, 1e9), st.floats(1e-9, 1e9), st.sampled_from(["", "s", "min", "d", "ms", "furlongs"]))
def test_an_easy_time_is_after_one_step_and_up_to_the_next(low, gap, unit):
    assume(low < low + gap)
    assert low < roundest_time(low, low + gap, unit) <= low + gap


def test_what_does_not_change_is_asked_for_once():
    series = [{"x": [float(i)] * 4, "y": np.arange(4.0) + i} for i in range(12)]
    _, sentences = says(panel_of(series, static=["x"]))
    assert any(s.startswith("F(x > ") for s in sentences)
    assert not any(s.startswith("F(x < ") for s in sentences if "∧" not in s and "∨" not in s)
    assert not any("change(x" in s or "count(x" in s for s in sentences)


def test_columns_that_nobody_called_static_are_found_to_be():
    series = [{"site": ["north" if i % 2 else "south"] * 4, "y": (np.arange(4.0) + i) % 7} for i in range(40)]
    labels = [one["site"][0] == "north" for one in series]
    clf = GrammarTreeClassifier(search=MonteCarlo(evaluations=500), random_state=0)
    with pytest.warns(DataWarning, match="'site' has one value for each label"):
        clf.fit(panel_of(series), labels)
    assert clf.outline().splitlines()[0] in ("site is north?", "site is south?")


def test_gaps_can_be_spoken_of():
    series = waves()
    for one in series[::3]:
        one["x"][4] = np.nan
    _, sentences = says(panel_of(series))
    assert {"F(missing(x))", "F(¬missing(x))"} <= sentences


def test_thresholds_of_the_schema_are_kept():
    panel = panel_of(waves(), schema={"x": {"thresholds": [-1, 0.5]}})
    _, sentences = says(panel)
    assert {s for s in sentences if s.startswith("F(x ") and "∧" not in s and "∨" not in s} == {
        "F(x > -1)", "F(x > 0.5)", "F(x < -1)", "F(x < 0.5)"
    }  # fmt: skip


def test_levels_that_go_with_a_class_are_asked_for_together():
    rng = np.random.default_rng(0)
    towns = [f"town {k}" for k in range(18)]
    series = [{"town": [towns[rng.integers(18)]] * 3, "x": rng.normal(size=3)} for _ in range(300)]
    labels = [int(one["town"][0].split()[1]) < 7 for one in series]
    panel = panel_of(series)
    clf = GrammarTreeClassifier(search=MonteCarlo(evaluations=3_000), random_state=0)
    with pytest.warns(DataWarning, match="'town' has only values that each occur with one label alone"):
        clf.fit(panel, labels)
    assert clf.score(panel, labels) == 1
    assert len(clf.tree_.leaves) == 2
    without = Grammar.for_panel(panel)
    assert "(town" not in str(without).replace("not (town", "")


@pytest.mark.parametrize("number", [8, 9])
def test_of_many_levels_the_commonest_are_asked_for(number):
    series = [{"town": [f"town {k}", f"town {k}"], "x": [0.0, k]} for k in range(number) for _ in range(k + 1)]
    text = str(Grammar.for_panel(panel_of(series)))
    assert {k for k in range(number) if f"town {k}" in text} == set(range(number - 8, number))


def test_names_of_its_own_symbols_are_names_of_columns_too():
    rng = np.random.default_rng(0)
    names = ["Start", "Peak", "Fact", "Long", "F", "elapsed", "a b", "größe"]
    panel = panel_of([{name: rng.normal(size=5) for name in names} for _ in range(20)])
    grammar = Grammar.for_panel(panel)
    assert grammar.attributes == tuple(names)
    assert Grammar.parse(str(grammar), panel.schema) == grammar


def test_it_can_be_edited_and_handed_back():
    panel = panel_of(waves())
    grammar = Grammar.for_panel(panel)
    kept = "\n".join(line for line in str(grammar).splitlines() if not line.startswith(("Long", "         | count")))
    again = Grammar.parse(kept.replace(" | Long", ""), panel)
    assert all("count" not in str(again.draw(seed)) for seed in range(100))


def test_columns_can_be_chosen_and_others_are_left_out():
    series = [{"x": one["x"], "same": [1.0] * 12, "z": one["x"] * 2} for one in waves()]
    panel = panel_of(series)
    assert Grammar.for_panel(panel).left_out == {"same": "constant"}
    assert Grammar.for_panel(panel, columns=["z"]).attributes == ("z",)
    with pytest.raises(SettingsError, match="no column 'w'"):
        Grammar.for_panel(panel, columns=["w"])
    with pytest.raises(SettingsError, match=r"write \['z'\]"):
        Grammar.for_panel(panel, columns="z")
    with pytest.raises(SettingsError, match="no column is left"):
        Grammar.for_panel(panel.select(["same"]))


@pytest.mark.parametrize(("columns", "most"), [(5, 300), (50, 150), (300, 60), (1_000, 25)])
def test_the_more_columns_the_less_is_said_of_each(columns, most):
    rng = np.random.default_rng(0)
    panel = Panel.from_arrays(list(rng.normal(size=(20, 8, columns))))
    assert len(Grammar.for_panel(panel).rules) < most * columns


@pytest.mark.parametrize(("least", "both_ways"), [(0.0, False), (0.5, False), (-1.0, True)])
def test_sizes_are_spoken_of_where_many_values_lie_on_either_side_of_zero(least, both_ways):
    panel = panel_of([{"x": [least, least, least, 1.0 + i]} for i in range(10)])  # 0 lies on neither side
    assert ("abs(x)" in str(Grammar.for_panel(panel))) == both_ways
    mirrored = panel_of([{"x": [-least, -least, -least, -1.0 - i]} for i in range(10)])
    assert ("abs(x)" in str(Grammar.for_panel(mirrored))) == both_ways


# records that come in parts


def mixed(records=60, seed=3):
    """Real, Boolean and categorical columns with gaps, infinite values and records of different lengths."""
    rng = np.random.default_rng(seed)
    series = []
    for number in range(records):
        steps = int(rng.integers(2, 15))
        x, level = rng.normal(size=steps).cumsum().round(3), rng.integers(0, 14, steps)
        x[rng.random(steps) < 0.05] = np.nan
        x[rng.random(steps) < 0.02] = np.inf
        on = rng.random(steps) < 0.4
        names = [f"level {code}" for code in level]
        still = np.full(steps, number % 7, float)
        series.append({"x": x, "on": on, "mode": names, "still": still, "name": [f"r{number}"] * steps, "same": 1.5})
    return series


@pytest.mark.filterwarnings("ignore:infinite values")
@pytest.mark.parametrize("places", [[1], [20, 40], list(range(1, 60))])
def test_records_in_parts_make_the_same_language(places, monkeypatch):
    panel, labels = panel_of(mixed()), np.arange(60) % 3
    text = "Start ::= F(x < quantiles(7)) | G(x > grid(9)) | F(each real < quantiles(5)) | F(mode = levels)"

    def made():
        default, stock = Grammar.for_panel(panel, labels), Grammar.generic(panel)
        return str(default), default.left_out, str(stock), stock.left_out, str(Grammar.parse(text, panel))

    whole, still = made(), unchanging(panel)
    edges = [0, *places, 60]
    cut = [panel[start:end] for start, end in pairwise(edges)]
    own = Panel.parts
    monkeypatch.setattr(Panel, "parts", lambda view: cut if view is panel else own(view))
    assert made() == whole
    assert unchanging(panel) == still >= {"still", "name", "same"}


@pytest.mark.parametrize("record", [0, FIRST - 1, FIRST, FIRST + 200])
def test_a_column_that_changes_in_a_single_record_does_change(record):
    values = np.repeat(np.arange(FIRST + 201.0), 3).reshape(-1, 3, 1)
    assert unchanging(Panel.from_arrays(values, columns=["x"], layout="records, steps, columns")) == {"x"}
    values[record, 2] = -1.0
    assert unchanging(Panel.from_arrays(values, columns=["x"], layout="records, steps, columns")) == set()


# how long something lasts, where records are few


def lasting(records, seed=0):
    """Something flows for 5 to 11 of 30 steps in records of one class, for 14 to 20 in those of the other."""
    rng = np.random.default_rng(seed)
    series, labels = [], np.arange(records) % 2
    for label in labels:
        steps = rng.permutation(30)[: rng.integers(14, 21) if label else rng.integers(5, 12)]
        series.append({"flow": rng.normal(size=30) + 6 * np.isin(np.arange(30), steps)})
    return panel_of(series), labels


def spiking(records):
    """Noise, with one high value in the records of one class."""
    rng, labels = np.random.default_rng(0), np.arange(records) % 2
    spikes = [9 * label * (np.arange(20) == rng.integers(20)) for label in labels]
    return panel_of([{"x": rng.normal(size=20) + spike} for spike in spikes]), labels


def bits(own):
    """What it takes to tell, of some records, which of them are of a class."""
    shares = np.array(list(Counter(own.tolist()).values())) / max(len(own), 1)
    return -len(own) * float(np.sum(shares * np.log2(shares)))


def most_told(sentences, panel, labels):
    """Of each class, by how many bits the best of them shortens the message that tells its records."""
    truths = [Formula.parse(text, panel.schema)(panel) for text in sentences]
    classes = [labels == label for label in np.unique(labels)]
    told = [[bits(own) - bits(own[t]) - bits(own[~t]) for own in classes] for t in truths]
    return np.max(told, axis=0, initial=0.0)


def plain_and_lasting(grammar):
    short = {str(derivation) for derivation in grammar.enumerate(7)}
    plain = {text for text in short if text.startswith("F(") and not any(sign in text for sign in "∧∨")}
    return plain, {text for text in short if text.startswith("count(")}


@examples(15)
@given(st.integers(2, 99), st.integers(2, 4), st.integers(0, 10**6))
def test_durations_are_left_out_of_few_records_unless_one_tells_more_than_all_plain_sentences(records, classes, seed):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, records)
    modes = np.array(["rest", "fill", "purge"])
    series = [
        {
            "x": np.where(rng.random(9) < 0.1, np.nan, rng.normal(label * rng.integers(0, 2), 1, 9)),
            "on": rng.random(9) < 0.2 + 0.2 * label * (seed % 2),
            "mode": modes[rng.integers(0, 3, 9)],
        }
        for label in labels
    ]
    panel = panel_of(series)
    plain, lasts = plain_and_lasting(Grammar.for_panel(panel))  # without labels, nothing is weighed
    worth = most_told(lasts, panel, labels) - most_told(plain, panel, labels)
    assume(np.all((np.abs(worth) > 1e-6) | (worth == 0)))
    assert bool(plain_and_lasting(Grammar.for_panel(panel, labels))[1]) == (worth > 0).any()


def test_a_tree_of_few_records_asks_how_long_where_that_tells_them_apart():
    panel, labels = lasting(60)
    model = GrammarTreeClassifier(search=MonteCarlo(evaluations=500), max_depth=1, random_state=0).fit(panel, labels)
    assert model.rules()[0].formula.startswith("count(flow > ")
    assert model.score(*lasting(60, seed=1)) > 0.9


def test_what_a_threshold_tells_needs_no_durations():
    panel, labels = spiking(60)
    assert "count(" not in str(Grammar.for_panel(panel, labels))
    assert Grammar.for_panel(panel, labels).unsaid.startswith("how long something lasts (of 60 records")
    assert "count(" in str(Grammar.for_panel(panel))
    assert not Grammar.for_panel(panel).unsaid


def test_of_many_records_durations_are_always_spoken():
    panel, labels = spiking(FEW_RECORDS)
    assert "count(" in str(Grammar.for_panel(panel, labels))
    assert "count(" not in str(Grammar.for_panel(panel[1:], labels[1:]))
