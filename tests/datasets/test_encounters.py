"""The encounter simulator: what it gives, that its logic is sane, and slow twins of what it computes."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from telltree import Formula, Grammar
from telltree.datasets import make_encounters
from telltree.datasets.encounters import ADVISORIES, PROXIMITY, avoidance
from telltree.datasets.encounters.families import FAMILIES, draw, positions
from telltree.datasets.encounters.flight_and_pilots import nearly_collide
from telltree.datasets.encounters.make import fly_plans, quotas
from telltree.errors import SettingsError
from telltree.explain import english

STEPS = 50
WHO = (1, 2)


pytestmark = pytest.mark.usefixtures("cache_folder")


@pytest.fixture(scope="module")
def encounters(cache_folder):
    return make_encounters(1500, 130, seed=5)


@pytest.fixture(scope="module")
def without_logic(cache_folder):
    """The same encounters, flown without the logic."""
    return make_encounters(1500, 130, seed=5, logic=False)


@pytest.fixture(scope="module")
def columns(encounters):
    """Encounter × step; categories by name."""

    def named(name):
        column = encounters.panel.schema[name]
        values = encounters.panel.column(name).reshape(-1, STEPS)
        return np.array(column.levels)[values] if column.levels else values

    return {name: named(name) for name in encounters.panel.schema}


# What it gives


def test_the_panel_has_the_papers_shape(encounters):
    panel, y, family = encounters
    assert panel.shape == (1500, 77)
    assert set(panel.lengths) == {STEPS}
    assert (panel.period, panel.time_unit) == (1.0, "s")
    assert sum(name.endswith("_1") for name in panel.schema) == 36
    assert sum(name.endswith("_2") for name in panel.schema) == 36
    assert {str(column.type) for column in panel.schema.values()} == {"real", "Boolean", "categorical"}
    assert (y == "NMAC").sum() == 130
    assert set(y) == {"NMAC", "safe"}
    assert set(family) == {each.name for each in FAMILIES}
    assert not any(panel.missing().values())


def test_no_attribute_is_constant_or_a_copy(encounters):
    panel = encounters.panel
    values = {name: panel.column(name).astype(float) for name in panel.schema}
    for name, column in values.items():
        assert column.min() < column.max(), name
    by_content = {column.tobytes(): name for name, column in values.items()}
    assert len(by_content) == 77


def test_every_attribute_says_what_it_is(encounters):
    schema = encounters.panel.schema
    assert len({column.phrase for column in schema.values()}) == 77
    assert all(column.kind and column.thresholds for column in schema.of_type("real"))
    assert all(column.levels for column in schema.of_type("categorical"))
    assert set(PROXIMITY) < set(schema)
    widest = {"vertical rate": 80, "heading": 180, "bearing": 180}
    for kind, limit in widest.items():
        for column in schema.kinds()[kind]:
            assert max(map(abs, column.thresholds)) == limit
    for column in schema.of_type("real"):  # thresholds lie where the values are
        found = encounters.panel.column(column.name)
        inside = [found.min() <= threshold <= found.max() for threshold in column.thresholds]
        assert sum(inside) >= 4, column.name


def test_formulas_and_grammars_speak_of_it(encounters):
    panel = encounters.panel
    formula = Formula.parse('F(advisory_1 = "Crossing Climb" and responding_1)', panel.schema)
    assert 0 < formula(panel).sum() < len(panel)
    said = english(formula, panel.schema)
    assert said == "at some point advisory 1 is Crossing Climb while pilot 1 is responding"
    grammar = Grammar.parse('Start ::= F(each kind "vertical rate" {<, >} thresholds)', panel)
    assert len(grammar.left_out) == 0


def test_the_same_seed_gives_the_same_bytes_with_any_number_of_threads():
    alone, together = make_encounters(40, 9, seed=3, threads=1), make_encounters(40, 9, seed=3, threads=3)
    assert alone.panel == together.panel
    for name in alone.panel.schema:
        assert alone.panel.column(name).tobytes() == together.panel.column(name).tobytes()
    assert np.array_equal(alone.y, together.y)
    assert np.array_equal(alone.family, together.family)
    assert make_encounters(40, 9, seed=4).panel != alone.panel
    assert make_encounters(np.int32(40), np.int8(9), np.int64(3), threads=2).panel == alone.panel


def test_progress_is_told_until_all_are_found():
    told = []
    make_encounters(12, 3, progress=lambda done, wanted: told.append((done, wanted)))
    assert told == sorted(told)
    assert told[-1] == (12, 12)


@given(st.integers(0, 30_000), st.integers(0, 30_000))
def test_families_share_any_totals_exactly(safe, near):
    shares = quotas(safe + near, near)
    assert shares.sum(axis=0).tolist() == [safe, near]
    exact = [[safe * each.safe / 9137, near * each.near / 863] for each in FAMILIES]
    assert np.all(np.abs(shares - exact) < 1)


def test_the_papers_totals_are_those_of_the_families():
    assert quotas(10_000, 863).tolist() == [[each.safe, each.near] for each in FAMILIES]


@pytest.mark.parametrize(("n", "nmac"), [(1, 0), (1, 1), (7, 7), (5, 0)])
def test_small_totals_work(n, nmac):
    panel, y, family = make_encounters(n, nmac)
    assert (len(panel), len(family), (y == "NMAC").sum()) == (n, n, nmac)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n": 10, "nmac": 11}, "11 collisions in 10 encounters"),
        ({"n": 0, "nmac": 0}, "n must be a whole number of at least 1, got 0"),
        ({"n": 10.0}, "n must be a whole number"),
        ({"n": True}, "n must be a whole number"),
        ({"nmac": -1}, "nmac must be a whole number of at least 0, got -1"),
        ({"seed": "a"}, "seed must be a whole number"),
        ({"threads": 0}, "threads must be a whole number of at least 1, got 0"),
    ],
)
def test_impossible_settings_are_refused(settings, message):
    with pytest.raises(SettingsError, match=message):
        make_encounters(**settings)


def test_importing_the_datasets_loads_no_heavy_library():
    code = "import sys, telltree.datasets; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert {"numba", "numpy", "platformdirs"}.isdisjoint(run.stdout.split())


# What the logic does


def test_the_logic_prevents_most_collisions_and_induces_few(encounters, without_logic):
    near, unaided = encounters.y == "NMAC", without_logic.y == "NMAC"
    assert np.array_equal(encounters.family, without_logic.family)
    assert np.array_equal(encounters.panel.column("x_1"), without_logic.panel.column("x_1"))
    assert 3.4 < unaided.sum() / near.sum() < 5
    assert 0.005 < np.mean(near & ~unaided) < 0.025
    assert not without_logic.panel.column("active_1").any()


def test_the_labels_definition_read_off_the_record_is_neither_trivial_nor_hopeless(encounters, columns):
    apart = np.abs(columns["altitude_1"] - columns["altitude_2"])
    told = ((columns["range_1"] < 500) & (apart < 100)).any(axis=1)
    near = encounters.y == "NMAC"
    f1 = [2 * np.sum((told == end) & (near == end)) / (np.sum(told == end) + np.sum(near == end)) for end in (0, 1)]
    assert 0.83 < np.mean(f1) < 0.91


def test_the_two_aircraft_are_never_advised_in_the_same_sense(columns):
    first, second = columns["sense_1"], columns["sense_2"]
    assert not np.any((first == second) & (first != "none"))
    assert np.any((first == "up") & (second == "down"))


def test_no_alert_begins_while_the_aircraft_diverge(columns):
    for number in WHO:
        active = columns[f"active_{number}"] == 1
        begins = active[:, 1:] & ~active[:, :-1]
        assert begins.sum() > 100
        assert not np.any(begins & (columns["converging"][:, 1:] == 0))


def test_advisories_change_sense_and_strength_and_wait_in_between(columns):
    changes = []
    for number in WHO:
        name, sense = columns[f"advisory_{number}"], columns[f"sense_{number}"]
        since = columns[f"since_change_{number}"]
        other = columns[f"sense_{3 - number}"]
        for i, before_t in np.argwhere(name[:, 1:] != name[:, :-1]):
            t = before_t + 1
            before, now, wait = sense[i, t - 1], sense[i, t], since[i, t - 1] + 1
            if before == "none":
                changes.append("alert")
            elif now == "none":
                changes.append("clear")
                assert wait >= 5
            elif now == before:
                changes.append("same")
                assert wait >= 3
            else:
                changes.append("reversal")  # of who leads after 5 s; the other follows at once
                assert wait >= 5 or other[i, t] != other[i, t - 1]
    assert {kind: changes.count(kind) > 10 for kind in set(changes)} == dict.fromkeys(
        ("alert", "clear", "same", "reversal"), True
    )
    for number in WHO:
        assert columns[f"strengthening_{number}"].any()
        assert columns[f"weakening_{number}"].any()


def test_advisories_are_called_as_pilots_hear_them(columns):
    shown = set(columns["advisory_1"].ravel()) | set(columns["advisory_2"].ravel())
    assert shown <= set(ADVISORIES)
    assert {"Do Not Climb", "Level-off, Do Not Climb", "Crossing Climb", "Increase Climb", "Clear of Conflict"} <= shown
    climbs = columns["advisory_1"] == "Level-off, Do Not Climb"
    assert np.all(columns["corrective_1"][climbs] == 1)
    assert np.all(columns["sense_1"][climbs] == "down")


def test_pilots_respond_five_seconds_after_a_first_advisory(encounters, columns):
    answered = returned = 0
    steady = encounters.family == "straight"  # their plans have no manoeuvre, so advisories alone change the command
    for number in WHO:
        sense, command = columns[f"sense_{number}"], columns[f"commanded_rate_{number}"]
        for i in np.flatnonzero(steady & (sense != "none").any(axis=1)):
            plan, start = command[i, 0], int(np.argmax(sense[i] != "none"))
            assert np.all(command[i, : start + 5] == plan)
            if np.all(sense[i, start : start + 6] == sense[i, start]):  # revised in the same sense, or not at all
                answered += 1
                assert columns[f"responding_{number}"][i, start + 5]
            cleared = start + int(np.argmax(sense[i, start:] == "none"))
            if cleared > start and cleared + 4 <= STEPS and np.all(sense[i, cleared : cleared + 4] == "none"):
                returned += 1
                assert command[i, cleared + 3] == plan
    assert min(answered, returned) > 100


def test_pilots_respond_three_seconds_after_a_later_advisory(columns):
    laters = 0
    for number in WHO:
        name, responds = columns[f"advisory_{number}"], columns[f"responding_{number}"] == 1
        for i, before in np.argwhere((name[:, 1:-3] != name[:, :-4]) & responds[:, :-4]):
            t = before + 1
            if name[i, t] != "Clear of Conflict" and np.all(name[i, t : t + 4] == name[i, t]):
                laters += 1
                assert responds[i, t : t + 4].tolist() == [False, False, False, True]
                assert columns[f"pilot_phase_{number}"][i, t] == "following"  # the earlier one, meanwhile
                assert columns[f"in_delay_{number}"][i, t : t + 4].tolist() == [1, 1, 1, 0]
    assert laters > 20


def test_pilots_accelerate_as_they_should(columns):
    for number in WHO:
        pushed = columns[f"responding_{number}"][:, :-1] == 1
        change = np.diff(columns[f"vertical_rate_{number}"], axis=1)[pushed]
        assert 6 < np.quantile(np.abs(change), 0.6) < 13  # ft/s in a second, 0.25 g or 0.35 g, with noise


# Collisions

offset = st.floats(-1500, 1500)
height = st.floats(-250, 250)


@given(st.tuples(offset, offset, height), st.tuples(offset, offset, height))
def test_near_collisions_inside_a_step_equal_fine_sampling(start, end):
    (x, y, z), (x_next, y_next, z_next) = start, end
    share = np.linspace(0, 1, 5001)
    apart = np.hypot(x + (x_next - x) * share, y + (y_next - y) * share) / 500
    over = np.abs(z + (z_next - z) * share) / 100
    closest = np.maximum(apart, over).min()
    found = nearly_collide.py_func(x, y, x_next, y_next, z, z_next)
    if closest < 1:
        assert found
    elif closest > 1.002:  # the samples are so close to each other
        assert not found


def test_labels_equal_fine_sampling_of_flights_without_advisories():
    plans, _ = draw(0, 1, 0, 80)  # the straight family, whose motion has a closed form
    near = fly_plans(avoidance.load_table(2), plans, logic=False).near
    times = np.linspace(34, 46, 6001)
    found = positions(plans.paths, times[None])
    apart = np.linalg.norm(found[:, 1] - found[:, 0], axis=-1) / 500
    altitude = plans.climbs[..., 0, None] + plans.climbs[..., 1, None] * times
    closest = np.maximum(apart, np.abs(altitude[:, 1] - altitude[:, 0]) / 100).min(axis=1)
    clear = np.abs(closest - 1) > 0.01
    assert clear.sum() > 60
    assert np.array_equal(near[clear], closest[clear] < 1)
    assert 5 < near.sum() < 40
    centre = np.argmin(apart, axis=1)
    assert np.allclose(times[centre], plans.meeting, atol=0.3)


# What the documentation says of it

PAGE = Path(__file__).parents[2] / "docs" / "encounters.md"


def rows_under(heading):
    """The rows of a table of the page by their first cell."""
    below = PAGE.read_text("utf-8").partition(heading)[2].split("\n\n")[0]
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in below.splitlines() if line.startswith("|")
    ]
    return {row[0]: row[1:] for row in rows if not row[0].startswith("-")}


@pytest.mark.slow
def test_the_page_tells_what_the_logic_does_in_the_ten_thousand():
    panel, y, family = make_encounters()

    def ever(name):
        """Whether that was ever true of each aircraft: aircraft × encounter."""
        return np.array([panel.column(f"{name}_{number}").reshape(-1, STEPS).max(axis=1) == 1 for number in WHO])

    told = rows_under("| family | alerted |")
    drawn = rows_under("| family | what is planned |")
    assert set(told) == {each.name for each in FAMILIES}
    for name, (alerted, both, strengthened, reversed_, _) in told.items():
        here = family == name
        assert drawn[name][2:4] == [f"{np.sum(here & (y == end)):,}" for end in ("safe", "NMAC")]
        shares = [ever("active").any(axis=0), ever("active").all(axis=0), ever("strengthening").any(axis=0)]
        assert [alerted, both, strengthened] == [f"{100 * share[here].mean():.0f} %" for share in shares]
        assert reversed_ == f"{100 * ever('reversal').any(axis=0)[here].mean():.1f} %"
