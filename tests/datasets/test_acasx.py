"""The paper's aircraft encounters: every form they are read from, what the columns say, and the advisories by name."""

import gzip
import json
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from telltree import Grammar
from telltree.datasets import load_acasx
from telltree.datasets.acasx import advised_flights, find_acasx
from telltree.datasets.acasx.load import packed, unpacked
from telltree.errors import DataError
from telltree.experiments import acasx_grammar
from telltree.panel import ColumnType

REAL = Path(__file__).parents[3] / "shared" / "data" / "acasx"
real = pytest.mark.skipif(not REAL.is_dir(), reason="the real data are not beside the project")
SHOWN = (944, 1303, 5246)


@pytest.fixture(scope="module")
def whole():
    return load_acasx(cut=False)


@pytest.fixture(scope="module")
def cut():
    return load_acasx()


def place(panel, encounter):
    return panel.ids.tolist().index(encounter)


def cells(panel, record):
    """The rows of a CSV file as the public repository has it."""
    columns = {name: panel.values(name, record).tolist() for name in panel.schema}
    for column in panel.schema.of_type(ColumnType.BOOLEAN):
        columns[column.name] = ["true" if value else "false" for value in columns[column.name]]
    return list(zip(*columns.values(), strict=True))


@pytest.fixture
def folder(whole, tmp_path):
    """Three encounters laid out as in the public repository, with a column that nobody asked for."""
    meta = ['"id","encounter_id","nmac"']
    for number, encounter in enumerate((1303, 5246, int(whole.panel.ids[0])), 1):
        record = place(whole.panel, encounter)
        lines = [",".join(f'"{name}"' for name in ("t", *whole.panel.schema))]
        lines += [",".join(map(str, (step, *row))) for step, row in enumerate(cells(whole.panel, record), 1)]
        (tmp_path / f"{number}.csv.gz").write_bytes(gzip.compress(("\n".join(lines) + "\n").encode()))
        meta.append(f"{number},{encounter},{'true' if whole.y[record] == 'NMAC' else 'false'}")
    (tmp_path / "_META.csv.gz").write_bytes(gzip.compress("\n".join(meta).encode()))
    return tmp_path


# -- the sample


def test_the_sample_is_stratified_and_holds_the_encounters_of_the_papers_figures(whole):
    panel, y = whole
    assert (len(panel), len(panel.schema), set(panel.lengths.tolist())) == (2000, 77, {50})
    assert np.unique(y, return_counts=True)[1].tolist() == [173, 1827]  # 8.63 %
    assert [y[place(panel, encounter)] for encounter in SHOWN] == ["NMAC"] * 3
    assert (len(panel.schema.of_type("Boolean")), len(panel.schema.of_type("real"))) == (51, 26)


def test_no_column_is_said_in_the_words_of_another(cut):
    """Nor its negation: "advisory 1 is not to descend" forbids what the lack of an order to descend leaves open."""
    columns = [column for column in cut[0].schema.values() if column.phrase]
    told = [phrase for column in columns for phrase in (column.phrase, column.negated) if phrase]
    assert len(told) == len(set(told)) > 100
    assert not [phrase for phrase in told if " is not to " in phrase]


def test_the_sample_is_small_and_carries_its_licence():
    home = files("telltree.datasets.acasx")
    assert len((home / "sample.npz.xz").read_bytes()) < 4_000_000
    assert "Apache License" in (home / "LICENSE").read_text(encoding="utf-8")
    notice = (home / "NOTICE").read_text(encoding="utf-8")
    assert "Copyright (c) 2015" in notice
    assert "Changes:" in notice


def test_the_label_is_the_definition_of_a_near_mid_air_collision(whole):
    panel, y = whole
    near = (panel.stacked("horizontal_range") <= 500) & (panel.stacked("abs_alt_diff") <= 100)
    assert ((y == "NMAC") == near.reshape(-1, 50).any(axis=1)).all()


def test_cut_records_end_more_than_five_seconds_before_the_closest_approach(whole, cut):
    apart = whole.panel.stacked("abs_alt_diff") + whole.panel.stacked("horizontal_range") / 5
    closest = apart.reshape(-1, 50).argmin(axis=1)
    assert (cut.panel.lengths == closest - 5).all()
    for record in (0, 7, 1999):
        assert cut.panel.times(record)[-1] == closest[record] - 6
        for name in ("h_1", "RA_2"):
            steps = whole.panel.values(name, record)[: int(cut.panel.lengths[record])]
            assert cut.panel.values(name, record).tolist() == steps.tolist()
    assert (cut.y == whole.y).all()
    assert (cut.panel.ids == whole.panel.ids).all()


def test_packing_keeps_truths_and_thousandths():
    rng = np.random.default_rng(0)
    columns = {"x": rng.normal(0, 1e4, 150).cumsum(), "b": rng.random(150) < 0.5}
    back, ids, nmac = unpacked(packed(columns, np.array([3, 1, 9]), np.array([True, False, True])))
    assert (ids.tolist(), nmac.tolist()) == ([3, 1, 9], [True, False, True])
    assert np.abs(back["x"] - columns["x"]).max() <= 0.0005 + 1e-9
    assert (back["b"] == columns["b"]).all()


# -- other forms


def test_the_public_repositorys_folder(folder, whole):
    panel, y = load_acasx(folder, cut=False)
    assert panel.ids.tolist() == [1, 2, 3]
    assert y.tolist() == ["NMAC", "NMAC", str(whole.y[0])]
    for record, encounter in enumerate((1303, 5246)):
        for name in panel.schema:
            assert (
                panel.values(name, record).tolist() == whole.panel.values(name, place(whole.panel, encounter)).tolist()
            )
    assert load_acasx(folder).panel.lengths[0] == load_acasx().panel.lengths[place(whole.panel, 1303)]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("_META.csv.gz", b'"id","end"\n1,true\n', "there is no column 'nmac'"),
        ("_META.csv.gz", b'"id","nmac"\n1,maybe\n', "something else than numbers"),
        ("_META.csv.gz", b'"id","nmac"\n7,true\n', r"7\.csv\.gz: cannot be read"),
        ("_META.csv.gz", b"", "the file is empty"),
        ("_META.csv.gz", b'"id","nmac"\n', "a row for each encounter"),
        ("1.csv.gz", b"RA_1,t\ntrue,1\n", "the columns .* are not there"),
        ("1.csv.gz", b"RA_1,t\ntrue\n", "line 2: 1 cell where the header has 2"),
    ],
)
def test_a_folder_that_is_not_as_it_should_be(folder, name, content, message):
    (folder / name).write_bytes(gzip.compress(content))
    with pytest.raises(DataError, match=message):
        load_acasx(folder)


def test_what_is_no_gzip_file_is_said_to_be_unreadable(folder):
    (folder / "1.csv.gz").write_bytes(b"plain")
    with pytest.raises(DataError, match=r"1\.csv\.gz: cannot be read"):
        load_acasx(folder)


def test_where_there_are_no_encounters_the_message_says_what_to_do(tmp_path):
    with pytest.raises(DataError, match=r"no aircraft encounters in .*encounters\.parquet.*they are public"):
        load_acasx(tmp_path)
    with pytest.raises(DataError, match="which does not exist"):
        load_acasx(tmp_path / "nowhere")


def test_the_users_data_folder_is_looked_in(folder, monkeypatch, tmp_path):
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: tmp_path / "none")
    monkeypatch.setenv("TELLTREE_DATA", str(tmp_path / "empty"))
    assert find_acasx() is None
    monkeypatch.setenv("TELLTREE_DATA", str(folder))
    assert find_acasx() == folder


@real
def test_the_real_data(whole, cut):
    panel, y = load_acasx(REAL, cut=False)
    assert (len(panel), int((y == "NMAC").sum())) == (10_000, 863)
    here = [place(panel, encounter) for encounter in whole.panel.ids.tolist()]
    assert (y[here] == whole.y).all()
    for name in panel.schema:
        assert np.abs(panel[here].stacked(name) - whole.panel.stacked(name)).max() <= 0.0005 + 1e-9
    assert (load_acasx(REAL).panel.lengths[here] == cut.panel.lengths).all()


@real
def test_the_cut_is_that_of_the_data(whole):
    import pyarrow.parquet as pq

    table = pq.read_table(REAL / "encounters.parquet", columns=["before_cut"])
    kept = table["before_cut"].to_numpy().reshape(-1, 50).sum(axis=1)
    assert (load_acasx(REAL).panel.lengths == kept).all()


# -- what the columns say


def test_every_column_has_words(whole):
    for column in whole.panel.schema.values():
        assert column.phrase
        if column.type is ColumnType.BOOLEAN:
            assert column.negated
            assert column.negated != column.phrase
        else:
            assert column.kind
            assert column.thresholds
    told = [column.phrase for column in whole.panel.schema.values()]
    assert len(set(told)) == len(told)


def test_one_bit_codes_mean_what_their_phrases_say(whole):
    """Of each phrase: what else the record says at the same time."""
    value = {name: whole.panel.stacked(name) for name in whole.panel.schema}
    for n, other in ((1, 2), (2, 1)):
        active = value[f"RA_{n}"] == 1
        assert (value[f"cc0_{n}"] == active).all()  # corrective or preventive
        climb, descend = value[f"ua2_{n}"] == 1, value[f"da2_{n}"] == 1
        rate = value[f"target_rate_{n}"]
        assert (rate[climb] >= 25).all()
        assert (rate[descend] <= -25).all()
        assert (rate[(value[f"ua1_{n}"] == 1) | (value[f"da1_{n}"] == 1)] == 0).all()
        increase = (value[f"vc1_{n}"] == 1) & (value[f"vc2_{n}"] == 1)
        assert (np.abs(rate[increase]) > 41).all()
        up = climb | (value[f"ua1_{n}"] == 1)
        assert (value[f"intr_out_vrc2_{n}"] == up).all()  # who climbs tells the other not to pass above
        heard = value[f"intr_vrc1_{other}"]  # in one direction a second later
        assert (value[f"intr_out_vrc1_{n}"] == heard).mean() > 0.97


def test_height_is_that_of_the_other_over_the_own(whole):
    """It is measured with an error, and kept to 25 ft."""
    over = whole.panel.stacked("h_2") - whole.panel.stacked("h_1")
    assert np.abs(np.median(whole.panel.stacked("alt_diff_1") - over)) < 5
    assert np.corrcoef(whole.panel.stacked("alt_diff_1"), over)[0, 1] > 0.99


def test_the_authors_grammar_reads(cut):
    grammar = Grammar.parse(acasx_grammar(), cut.panel)
    for said in (
        "F(RA_1 and abs(alt_diff_1) < 100)",
        "G(response_none_1 implies abs(vert_rate_1 - vert_rate_2) <= 20)",
        "count(not (sign(vert_rate_1) = sign(response_h_d_2))) >= 17",
    ):
        assert grammar.derive(said)


# -- advisories


@pytest.mark.parametrize(
    ("encounter", "aircraft", "told"),  # as the paper's figures have it, by the second it is first shown at
    [
        (1303, 1, {29: "Do Not Descend", 32: "Climb", 34: "Increase Climb", 42: "Clear of Conflict"}),
        (1303, 2, {30: "Level-off, Do Not Climb", 42: "Clear of Conflict"}),
        (944, 1, {28: "Do Not Climb", 34: "Descend", 35: "Increase Descend", 42: "Clear of Conflict"}),
        (944, 2, {32: "Climb", 34: "Increase Climb", 45: "Clear of Conflict"}),
        (5246, 1, {26: "Level-off, Do Not Climb", 34: "Crossing Descend", 42: "Clear of Conflict"}),
        (5246, 2, {18: "Climb", 25: "Crossing Climb", 37: "Increase Climb", 42: "Clear of Conflict"}),
    ],
)
def test_advisories_are_those_of_the_papers_figures(whole, encounter, aircraft, told):
    flights = advised_flights(whole.panel[[place(whole.panel, encounter)]])
    names = flights.record(0)[f"advisory_{aircraft}"].tolist()
    changes = {t: name for t, name in enumerate(names) if t and name != names[t - 1]}
    assert changes == told
    assert names[0] == "Clear of Conflict"


@pytest.mark.parametrize(
    ("encounter", "aircraft", "following"),
    [(1303, 1, range(37, 42)), (1303, 2, range(35, 42)), (944, 2, range(37, 45)), (5246, 2, [*range(23, 37), 40, 41])],
)
def test_pilots_follow_when_the_papers_figures_say_so(whole, encounter, aircraft, following):
    flights = advised_flights(whole.panel[[place(whole.panel, encounter)]])
    phases = flights.record(0)[f"pilot_phase_{aircraft}"]
    assert np.flatnonzero(phases == "following").tolist() == list(following)


def test_flights_know_when_the_collision_was(whole):
    flights = advised_flights(whole.panel)
    assert ((flights.stacked("nmac").reshape(-1, 50) == 1).any(axis=1) == (whole.y == "NMAC")).all()


def test_encounters_are_drawn_with_their_caption(whole):
    from telltree.report import plot_encounter

    flights = advised_flights(whole.panel[[place(whole.panel, 944)]])
    figure = plot_encounter(flights, 0, caption="category 5, because\n- it is so")
    written = json.dumps([text.get_text() for text in (*figure.texts, *figure.axes[0].texts)])
    assert "category 5, because" in written
    assert "Increase Descend" in written
    assert "near mid-air collision" in json.dumps([text.get_text() for text in figure.legends[0].get_texts()])


def test_a_pilot_without_an_advisory_is_not_said_to_fail_to_respond(whole):
    """The code means no response: nothing is advised, or the first advisory's delay is running."""
    panel, _ = whole
    for number in ("1", "2"):
        none, active = (panel.stacked(f"{name}_{number}") == 1 for name in ("response_none", "RA"))
        assert none[~active].all()
        assert (panel.stacked(f"response_timer_{number}")[none & active] > 0).all()
        others = [panel.stacked(f"response_{name}_{number}") == 1 for name in ("stay", "follow")]
        assert (none + others[0] + others[1] == 1).all()
        column = panel.schema[f"response_none_{number}"]
        assert column.phrase == f"pilot {number} flies as planned"
        assert column.negated == f"pilot {number} responds to an advisory"


def test_the_papers_times_are_of_the_second_in_which_a_collision_begins(whole):
    """Its clock is the records': second 0 has the same altitudes. The limit of 500 ft is passed between two steps, and
    the paper tells the step before, where the records are not within the limits yet."""
    panel, _ = whole
    for encounter, told in {1303: 39, 944: 38, 5246: 39}.items():
        record = place(panel, encounter)
        apart, above = (panel.values(name, record) for name in ("horizontal_range", "abs_alt_diff"))
        first = int(np.argmax((apart < 500) & (above < 100)))
        passed = first - 1 + (apart[first - 1] - 500) / (apart[first - 2] - apart[first - 1])
        assert first - 1 <= passed < first
        assert int(passed) == told == first - 1
    assert panel.values("h_1", place(panel, 944))[:2] == pytest.approx([7569.522583818, 7559.899380089], abs=1e-3)
    assert panel.values("h_2", place(panel, 5246))[0] == pytest.approx(7522.060778049, abs=1e-3)
