"""Data as people have them, at the command line."""

import json
import os

import numpy as np
import pytest

from tests.support.programs import telltree

QUICK = ("--search-evaluations", "200", "--max-depth", "1", "--no-cv")
USAGE, DATA = 2, 3  # exit codes


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Two rows for some times, dates with the day first, units in names, flags of three kinds."""
    lines = ["run,when,speed (km/h),open,warm,still,code,end"]
    for run in range(70):
        state = ("yes", 1) if run % 2 else ("no", 0)
        for step in (0, 0, 1):
            number = 10 * run + step + 0.5
            lines.append(
                f"{run},0{1 + step}/04/2025,{number},{state[0]},{state[1]},5,k{run},{'hot' if run % 2 else 'cold'}"
            )
    path = tmp_path_factory.mktemp("data") / "runs.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


KEYS = ("--id", "run", "--time", "when", "--label", "end")
READ = (*KEYS, "--day-first", "--repeated", "last")


def test_errors_name_the_options(table):
    ended = telltree("inspect", table, *KEYS)
    assert ended.returncode == DATA
    assert "--day-first" in ended.stderr
    assert "--month-first" in ended.stderr
    ended = telltree("inspect", table, *KEYS, "--time-format", "%d/%m/%Y")
    assert ended.returncode == DATA
    assert "--repeated" in ended.stderr
    assert "--every" in ended.stderr


def test_inspect_shows_units_flags_and_how_to_bring_columns_back(table, tmp_path):
    ended = telltree("inspect", table, *READ, "-o", tmp_path / "schema.toml")
    assert ended.returncode == 0, ended.stderr
    rows = {line.split("  ")[0]: line.split() for line in ended.stdout.splitlines()}
    assert rows["speed (km/h)"][2:5] == ["real", "km/h", "speed"]
    assert rows["open"][1:3] == rows["warm"][1:3] == ["Boolean,", "static"]
    assert "to bring back 'still': give records in which it differs; or name the column in a grammar" in ended.stdout
    assert "to bring back 'code': say in the schema which levels = [...] matter" in ended.stdout
    assert "dates: 2025-04-01 to 2025-04-02" in ended.stdout
    assert 'phrase = "speed"' in (tmp_path / "schema.toml").read_text(encoding="utf-8")
    found = json.loads(telltree("inspect", table, *READ, "--json").stdout)
    told = {column["name"]: column for column in found["columns"]}
    assert (told["speed (km/h)"]["phrase"], told["speed (km/h)"]["bring_back"]) == ("speed", None)
    assert "grammar" in told["still"]["bring_back"]
    assert found["steps"]["all"] == 140


def test_levels_in_the_schema_bring_a_column_back(table, tmp_path):
    (tmp_path / "schema.toml").write_text('[columns.code]\nlevels = ["k1", "k2"]\n', encoding="utf-8")
    found = json.loads(telltree("inspect", table, *READ, "--schema", tmp_path / "schema.toml", "--json").stdout)
    assert {c["name"]: c["left_out"] for c in found["columns"]}["code"] is None


def test_fit_and_predict_from_flags_however_they_are_written(table, tmp_path):
    model, text = tmp_path / "model.json", table.read_text(encoding="utf-8")
    fitted = telltree("fit", table, *KEYS, "--day-first", "--every", "1d", *QUICK, "-o", model)
    assert fitted.returncode == 0, fitted.stderr
    assert "to bring back 'still'" in fitted.stderr
    other = tmp_path / "other.csv"
    other.write_text(text.replace(",yes,1,", ",1,1.0,").replace(",no,0,", ",0,0.0,"), encoding="utf-8")
    predictions = [telltree("predict", model, path, *READ).stdout for path in (table, other)]
    assert predictions[0] == predictions[1]
    assert predictions[0].count("hot") == 35


def test_wide_tables(tmp_path):
    rng = np.random.default_rng(0)
    rows = [[i % 2 + 1, *(rng.normal(size=30) + 5 * (i % 2)).round(3)] for i in range(30)]
    path = tmp_path / "Tiny_TRAIN.tsv"
    path.write_text("".join("\t".join(map(str, row)) + "\n" for row in rows), encoding="utf-8")
    ended = telltree("inspect", path)
    assert ended.returncode == DATA
    assert "--wide" in ended.stderr
    fitted = telltree("fit", path, "--wide", *QUICK, "-o", tmp_path / "model.json")
    assert fitted.returncode == 0, fitted.stderr
    assert "its first column is taken for the label" in fitted.stderr
    predicted = telltree("predict", tmp_path / "model.json", path, "--wide").stdout.splitlines()
    assert [line.split(",")[1] for line in predicted[1:]] == [str(row[0]) for row in rows]


def test_cells_of_csv_are_no_formulas(tmp_path):
    rows = [f"{'=' if run % 2 else '-'}r{run},{run}.5,{'=cmd()' if run > 9 else '+b'}" for run in range(20)]
    (tmp_path / "d.csv").write_text("@id,x,end\n" + "\n".join(rows) + "\n", encoding="utf-8")
    read = (tmp_path / "d.csv", "--id", "@id")
    telltree("fit", *read, "--label", "end", *QUICK, "-o", tmp_path / "m.json")
    predicted = telltree("predict", tmp_path / "m.json", *read).stdout.splitlines()
    assert predicted[0] == "'@id,prediction,probability"
    assert predicted[1].startswith("'-r0,'+b,")
    assert predicted[-1].startswith("'=r19,'=cmd(),")
    categories = telltree("categorize", tmp_path / "m.json", *read).stdout.splitlines()
    assert categories[-1].startswith("'=r19,1,'=cmd(),") or categories[-1].startswith("'=r19,2,'=cmd(),")
    assert ",'=cmd()," in telltree("export", tmp_path / "m.json", "--to", "csv").stdout


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no such device here")
@pytest.mark.parametrize("option", ["--grammar", "--config", "--schema"])
def test_files_without_an_end_are_refused(option, table):
    ended = telltree("fit", table, *READ, option, "/dev/zero")
    assert ended.returncode in (2, DATA)
    assert "more than 4 MB" in ended.stderr
    assert "Traceback" not in ended.stderr


def test_files_larger_than_memory_are_scanned(tmp_path):
    lines = ["run,t,speed,end"] + [
        f"{r},{t},{r % 7 + t},{'hot' if r % 7 > 3 else 'cold'}" for r in range(70) for t in range(3)
    ]
    for part in (0, 1):
        rows = lines[1 + 105 * part : 106 + 105 * part]
        (tmp_path / f"{part}.csv").write_text("\n".join([lines[0], *rows]) + "\n", encoding="utf-8")
    files, keys = str(tmp_path / "*.csv"), ("--id", "run", "--time", "t", "--label", "end")
    ended = telltree("fit", files, *keys, *QUICK, "-o", tmp_path / "read.json")
    assert ended.returncode == 0, ended.stderr
    ended = telltree("fit", files, *keys, *QUICK, "--scan", "--max-memory", "3GB", "-o", tmp_path / "scanned.json")
    assert ended.returncode == 0, ended.stderr
    assert "learning takes about" in ended.stderr
    assert (tmp_path / "scanned.json").read_bytes() == (tmp_path / "read.json").read_bytes()
    answers = [telltree("predict", tmp_path / "read.json", files, *keys, *more) for more in ((), ("--scan",))]
    assert answers[0].returncode == 0, answers[0].stderr
    assert answers[1].stdout == answers[0].stdout
    ended = telltree("inspect", files, *keys, "--scan", "--every", "2")
    assert ended.returncode == USAGE
    assert "--scan reads rows as they stand, without --every" in ended.stderr
