"""Every verb through the installed program, on good and on bad input."""

import contextlib
import csv
import datetime
import gzip
import io
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pyarrow.csv
import pyarrow.parquet
import pytest

from tests.support.programs import PROGRAM, started, telltree

from telltree.estimators import GrammarTreeClassifier, load
from telltree.explain import english
from telltree.models.export import TARGETS
from telltree.search import MonteCarlo

KEYS = ("--id", "flight", "--time", "t")
QUICK = ("--search-evaluations", "300", "--max-depth", "3", "--no-cv")
HOSTILE = "a [red]b[/red] \x1b[31m\"c'; <script>$x_1$"


def good(*args, **more):
    ended = telltree(*args, **more)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def bad(code, *args, says, **more):
    """The program ends with the code, one error line that says so, and nothing on stdout."""
    ended = telltree(*args, **more)
    assert ended.returncode == code, ended.stderr
    assert says in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr
    assert ended.stdout == ""
    return ended.stderr


def write_csv(path, records, labels, name="speed"):
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["flight", "t", name, "height", "on", "mode", "nmac"])
        for number, (record, label) in enumerate(zip(records, labels, strict=True)):
            for step in range(len(record["speed"])):
                values = [record[column][step] for column in ("speed", "height", "on", "mode")]
                writer.writerow([f"f{number}", step * 0.5, *("" if v is None else v for v in values), label])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory, plain, labels):
    made = tmp_path_factory.mktemp("flights")
    write_csv(made / "flights.csv", plain, labels)
    table = pyarrow.csv.read_csv(made / "flights.csv")
    pyarrow.parquet.write_table(table.drop_columns(["nmac"]), made / "new.parquet")
    (made / "flights.csv.gz").write_bytes(gzip.compress((made / "flights.csv").read_bytes()))
    (made / "not-a-model.json").write_text("{}")
    return made


@pytest.fixture(scope="module")
def model(folder):
    fitted = good("fit", folder / "flights.csv", *KEYS, "--label", "nmac", *QUICK, "-o", folder / "model.json")
    assert "yes:" in fitted
    return folder / "model.json"


def test_help_answers_without_the_heavy_libraries():
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, telltree.cli.app; print('\\n'.join(sys.modules))"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert not {"numba", "sklearn", "pandas", "numpy", "matplotlib"} & set(loaded)


VERBS = (
    "inspect",
    "fit",
    "show",
    "evaluate",
    "predict",
    "categorize",
    "explain",
    "export",
    "report",
    "demo",
    "experiment",
)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(verb):
    shown = good(verb, "--help")
    assert "Usage: telltree" in shown
    assert f"telltree {verb}" in shown.split("Options:")[0].split("Usage:")[1].split("\n", 1)[1]
    assert verb in good("--help")
    assert "..." not in good("--help").split("Commands:")[1]  # no sentence is cut


def test_version():
    assert good("--version").startswith("telltree ")


def test_inspect_says_what_is_there_and_writes_a_schema(folder):
    said = good("inspect", folder / "flights.csv", *KEYS, "--label", "nmac", "-o", folder / "schema.toml", "--force")
    assert "60 records" in said
    assert "speed" in said
    assert "categorical" in said
    assert "speed" in tomllib.loads((folder / "schema.toml").read_text())["columns"]
    told = json.loads(good("inspect", folder / "flights.csv", *KEYS, "--label", "nmac", "--json"))
    assert told["records"] == 60
    assert sum(told["labels"].values()) == 60


def test_an_edited_schema_is_used(folder):
    schema = folder / "edited.toml"
    schema.write_text('[columns.speed]\nphrase = "air speed"\nunit = "kt"\nthresholds = [2.5]\n')
    options = ("--label", "nmac", *QUICK, "--schema", schema, "-o", folder / "edited.json", "--force")
    good("fit", folder / "flights.csv", *KEYS, *options)
    assert "air speed" in good("show", folder / "edited.json", "--english")


def test_the_schema_gives_times_their_unit(folder, model, tmp_path):
    schema = tmp_path / "schema.toml"
    good("inspect", folder / "flights.csv", *KEYS, "--time-unit", "s", "-o", schema)  # nmac is an attribute here
    assert tomllib.loads(schema.read_text())["time"] == {"unit": "s"}
    told = good("explain", model, folder / "flights.csv", *KEYS, "--record", "f3", "--schema", schema)
    assert re.search(r"(held|failed|nearest|failing) at step \d+, at [\d.]+ s(;|$)", told, re.MULTILINE)
    good("fit", folder / "flights.csv", *KEYS, "--label", "nmac", *QUICK, "--schema", schema)


def test_fit_says_which_columns_it_leaves_out(folder, tmp_path):
    lines = (folder / "flights.csv").read_text().splitlines()
    odd = tmp_path / "odd.csv"
    odd.write_text("\n".join([lines[0] + ",still,void", *(line + ",1," for line in lines[1:])]))
    ended = telltree("fit", odd, *KEYS, "--label", "nmac", *QUICK, "--json")
    assert "columns left out: 'still' (constant), 'void' (empty (all missing))" in ended.stderr
    assert set(json.loads(ended.stdout)["left_out"]) == {"still", "void"}


def test_fit_and_grammar_say_that_few_records_are_not_asked_how_long(tmp_path):
    """In every other record there is one high value, which tells all."""
    rows = [(i, t, 9 * (i % 2) * (t == i % 7) + (i * t) % 5 / 5, "ab"[i % 2]) for i in range(40) for t in range(8)]
    spikes = tmp_path / "spikes.csv"
    spikes.write_text("\n".join(["flight,t,x,y", *(",".join(map(str, row)) for row in rows)]))
    for ended in (telltree(*verb, spikes, *KEYS, "--label", "y") for verb in (("grammar",), ("fit", *QUICK))):
        assert (
            "not asked: how long something lasts (of 40 records, it tells no more than whether it happens)"
            in ended.stderr
        )
        assert "count(" not in ended.stdout


def test_fit_learns_as_the_paper_does(folder, tmp_path):
    given = ("fit", folder / "flights.csv", *KEYS, "--label", "nmac", "--preset", "paper")
    told = good(*given, "--search-evaluations", "300", "-o", tmp_path / "paper.json", "--cv", "2")
    assert "cross-validated" in told
    learned, paper = load(tmp_path / "paper.json"), GrammarTreeClassifier.paper()
    for name in ("grammar", "criterion", "growth", "max_depth", "min_samples_leaf", "cv"):
        assert getattr(learned, name) == getattr(paper, name)
    assert learned.search == replace(paper.search, evaluations=300)
    assert learned.pruning_path_.whole.depth == learned.tree_.depth  # not pruned, though cross-validated
    good(*given, "--search", "mc", "--max-depth", "2", "--no-cv", "-o", tmp_path / "other.json")
    other = load(tmp_path / "other.json")
    assert (other.search, other.max_depth) == (MonteCarlo.paper(), 2)
    bad(2, *given, "--search-setting", "atoms=3", says="gp has no setting")


def test_ids_called_like_a_result_are_kept(folder, model, tmp_path):
    lines = (folder / "flights.csv").read_text().splitlines()
    for name in ("prediction", "category"):
        data = tmp_path / f"{name}.csv"
        data.write_text("\n".join([lines[0].replace("flight", name), *lines[1:]]))
        told = json.loads(good("predict", model, data, "--id", name, "--time", "t", "--json"))
        assert told[3]["record" if name == "prediction" else name] == "f3"
        rows = list(csv.DictReader(io.StringIO(good("categorize", model, data, "--id", name, "--time", "t"))))
        assert rows[3]["record" if name == "category" else name] == "f3"


def test_columns_that_were_names_are_names_to_the_model(folder, tmp_path):
    saved = tmp_path / "model.json"
    (tmp_path / "schema.toml").write_text('[columns.height]\ntype = "categorical"\n')
    (tmp_path / "grammar.bnf").write_text("Start ::= F(height = levels)\n")
    named = ("--schema", tmp_path / "schema.toml", "--grammar", tmp_path / "grammar.bnf")
    good("fit", folder / "flights.csv", *KEYS, "--label", "nmac", *named, "--search-evaluations", "5", "-o", saved)
    for data in ("flights.csv", "new.parquet"):
        assert len(predictions(good("predict", saved, folder / data, *KEYS))) == 60
    assert "height is" in good("explain", saved, folder / "flights.csv", *KEYS, "--record", "f3")


def test_show(model):
    assert "yes:" in good("show", model)
    rows = json.loads(good("show", model, "--json"))
    assert {row["label"] for row in rows} <= {"fast", "high", "calm"}
    assert all(row["english"] and row["paper"] and row["formula"] and "headline" in row for row in rows)


def test_show_asks_in_english_and_tells_every_category(model):
    rows = json.loads(good("show", model, "--json"))
    shown, alone = good("show", model), good("show", model, "--english")
    questions, told, proved = shown.partition(alone)
    assert told
    assert "?" in questions
    assert proved.strip().startswith("at every question, no formula of the grammar of up to ")
    paper, formulas = good("show", model, "--style", "paper", "--whole"), good("show", model, "--formulas")
    whole = good("show", model, "--english", "--whole")
    for row in rows:
        assert row["english"] in whole
        assert row["english"] in alone or (row["shared"] in alone and row["apart"] in alone)
        assert row["paper"] in paper
        assert row["formula"] in formulas
        assert row["headline"] is None or row["headline"] in alone


def test_show_asks_in_the_style_it_is_told_to(model):
    tree = load(model).tree_
    asked = [f"{english(node.formula, tree.schema, tree.missing, style='paper')}?" for node in tree.nodes]
    paper, plain = good("show", model, "--style", "paper"), good("show", model)
    assert all(question in paper for question in asked)
    assert "[" in asked[0]
    assert asked[0] not in plain


def predictions(text):
    return {row["flight"]: row["prediction"] for row in csv.DictReader(io.StringIO(text))}


def test_predict_reads_every_format_alike(folder, model):
    wanted = predictions(good("predict", model, folder / "flights.csv", *KEYS, "--label", "nmac"))
    assert len(wanted) == 60
    assert predictions(good("predict", model, folder / "new.parquet", *KEYS)) == wanted
    assert predictions(good("predict", model, folder / "flights.csv.gz", *KEYS)) == wanted
    text = (folder / "flights.csv").read_text()
    assert predictions(good("predict", model, "-", *KEYS, stdin=text)) == wanted
    told = json.loads(good("predict", model, folder / "new.parquet", *KEYS, "--json", "--proba"))
    assert {row["flight"]: row["prediction"] for row in told} == wanted
    assert all(abs(sum(row[f"probability of {c}"] for c in ("calm", "fast", "high")) - 1) < 1e-9 for row in told)


def test_predict_reads_one_file_a_record(folder, model, plain, labels):
    logs = folder / "logs"
    logs.mkdir(exist_ok=True)
    for number in range(4):
        write_csv(logs / f"f{number}.csv", [plain[number]], [labels[number]])
    wanted = predictions(good("predict", model, folder / "flights.csv", *KEYS))
    for source in ([logs], sorted(logs.glob("*.csv")), [str(logs / "*.csv")]):
        rows = csv.DictReader(io.StringIO(good("predict", model, *source, "--time", "t")))
        assert {row["record"]: row["prediction"] for row in rows} == {f"f{n}": wanted[f"f{n}"] for n in range(4)}


def test_categorize_sorts_every_record(folder, model):
    rows = list(csv.DictReader(io.StringIO(good("categorize", model, folder / "flights.csv", *KEYS))))
    assert len(rows) == 60
    assert all(row["english"] and row["formula"] for row in rows)
    told = json.loads(good("categorize", model, folder / "flights.csv", *KEYS, "--label", "nmac", "--json"))
    assert sorted(m for category in told for m in category["members"]) == sorted(row["flight"] for row in rows)
    assert "[1]" in good("categorize", model, folder / "flights.csv", *KEYS, "--text")


def test_explain_tells_the_way_of_a_record(folder, model):
    category = {
        row["flight"]: row["category"]
        for row in csv.DictReader(io.StringIO(good("categorize", model, folder / "flights.csv", *KEYS)))
    }
    told = json.loads(good("explain", model, folder / "flights.csv", *KEYS, "--record", "f3", "--json"))
    assert told["category"] == int(category["f3"])
    assert all(turn["time"] == turn["step"] * 0.5 for turn in told["branches"])
    assert " at step " in good("explain", model, folder / "flights.csv", *KEYS, "--record", "f3")
    bad(3, "explain", model, folder / "flights.csv", *KEYS, "--record", "f99", says="there is no record 'f99'")


def test_dates_durations_and_long_names_are_told(folder, model, tmp_path):
    day = datetime.datetime(2024, 2, 27, 22)
    rows = list(csv.DictReader(io.StringIO((folder / "flights.csv").read_text())))
    dated = tmp_path / "dated.csv"
    with dated.open("w", newline="") as file:
        writer = csv.DictWriter(file, [*rows[0], "ü" * 200])
        writer.writeheader()
        for row in rows:
            moment = day + datetime.timedelta(hours=2 * float(row["t"]))
            writer.writerow({**row, "t": f"{moment.isoformat()}+01:00", "ü" * 200: "v" * 100})
    told = json.loads(good("explain", model, dated, *KEYS, "--record", "f3", "--json"))
    for turn in told["branches"]:
        assert turn["time"] == 3600 * turn["step"]
        assert turn["date"] == (day + datetime.timedelta(hours=turn["step"])).isoformat() + "+01:00"
    assert re.search(
        r"(held|failed|nearest|failing) at step \d+, at 2024-02-2\d \d\d:00\+01:00; margin [+-][\d.]+ standard dev",
        good("explain", model, dated, *KEYS, "--record", "f3"),
    )
    said = good("inspect", dated, *KEYS, "--every", "6 h")
    assert "one every 6 h" in said
    assert "dates: 2024-02-27 22:00+01:00 to 2024-02-" in said
    assert "ü" * 39 + "…  " in said
    assert "ü" * 40 not in said
    whole = json.loads(good("inspect", dated, *KEYS, "--period", "518400", "--json"))
    assert whole["period"] == 518400
    assert whole["dates"][0] == "2024-02-27T22:00:00+01:00"
    assert "ü" * 200 in [column["name"] for column in whole["columns"]]
    assert "one every 6 d" in good("inspect", dated, *KEYS, "--period", "518400")


def test_report(folder, model, tmp_path):
    page = tmp_path / "report.html"
    options = (*KEYS, "--label", "nmac", "--title", "Flights <b>", "-o", page)
    good("report", model, folder / "flights.csv", *options, "--test", folder / "flights.csv")
    assert "Flights &lt;b&gt;" in page.read_text()
    bad(2, "report", model, folder / "flights.csv", *options, says="--force")
    bad(3, "report", model, folder / "nothing.csv", *KEYS, "-o", tmp_path / "other.html", says="nothing.csv")


@pytest.mark.parametrize("target", ["text", "latex", "dot", "json", "csv", "markdown", "python", "sql"])
def test_export(model, target):
    assert good("export", model, "--to", target).strip()


def test_export_to_something_unknown(model):
    bad(2, "export", model, "--to", "cobol", says="cobol")


def test_every_target_can_be_asked_for():
    assert "|".join(TARGETS) in good("export", "--help")


def test_the_same_fit_gives_the_same_bytes(folder, model):
    again = ("--label", "nmac", *QUICK, "--n-jobs", "2", "-o", folder / "again.json", "--force")
    good("fit", folder / "flights.csv", *KEYS, *again, env={"PYTHONHASHSEED": "7"})
    assert (folder / "again.json").read_bytes() == model.read_bytes()


def test_configuration_from_a_file(folder, model):
    config = folder / "telltree.toml"
    config.write_text(
        '[fit]\nid = "flight"\ntime = "t"\nlabel = "nmac"\nmax-depth = 3\nsearch-evaluations = 300\nno-cv = true\n'
    )
    good("fit", folder / "flights.csv", "--config", config, "-o", folder / "configured.json", "--force")
    assert (folder / "configured.json").read_bytes() == model.read_bytes()
    shown = good("fit", "--config", config, "--max-depth", "5", "--print-config")
    assert tomllib.loads(shown)["fit"]["max-depth"] == 5
    assert tomllib.loads(shown)["fit"]["id"] == "flight"
    assert tomllib.loads(good("show", "--config", config, "--print-config"))["show"]["english"] is False
    config.write_text("[fit]\nmax-dept = 3\n")
    bad(2, "fit", folder / "flights.csv", "--config", config, says="did you mean max-depth?")
    config.write_text("[fit\n")
    bad(2, "fit", folder / "flights.csv", "--config", config, says="cannot be read")
    config.write_text("[fti]\nmax-depth = 3\n")
    bad(2, "fit", folder / "flights.csv", "--config", config, says="did you mean fit?")
    config.write_text('id = "flight"\n[fit]\nmax-depth = 3\n')
    bad(2, "fit", folder / "flights.csv", "--config", config, says="sets 'id' outside of tables")


def test_nothing_is_overwritten_unasked(folder, model):
    before = model.read_bytes()
    data = (folder / "flights.csv", *KEYS, "--label", "nmac", *QUICK)
    bad(2, "fit", *data, "-o", model, says="--force")
    bad(2, "predict", model, folder / "flights.csv", *KEYS, "-o", model, says="--force")
    bad(1, "fit", *data, "-o", folder / "nowhere" / "model.json", says="cannot be written")
    bad(1, "fit", *data, "-o", folder, says="Is a directory")
    assert model.read_bytes() == before


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="there is no folder that nobody can write to")
def test_an_output_that_cannot_be_written_is_found_before_the_work(folder):
    stderr = bad(1, "fit", folder / "nothing.csv", *KEYS, "--label", "nmac", "-o", "/proc/model.json", says="/proc")
    assert "nothing.csv" not in stderr


@pytest.mark.skipif(os.name != "posix", reason="devices are files on POSIX only")
def test_devices_are_written_to_and_not_replaced(folder, model):
    data = (folder / "flights.csv", *KEYS, "--label", "nmac", *QUICK)
    good("fit", *data, "-o", os.devnull, "--force")
    assert not Path(os.devnull).is_file()
    piped = good("export", model, "--to", "json", "-o", "/dev/stdout", env={})  # and the program itself has pipes
    assert piped == good("export", model, "--to", "json")


@pytest.mark.slow
def test_the_model_is_saved_though_nobody_reads_what_is_printed(folder, model, tmp_path):
    saved = tmp_path / "model.json"
    args = ("fit", folder / "flights.csv", *KEYS, "--label", "nmac", *QUICK, "-o", saved)
    line = " ".join(f"'{word}'" for word in (PROGRAM, *args))
    ended = subprocess.run(["bash", "-c", f"{line} >&-"], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert "standard output is closed" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert saved.read_bytes() == model.read_bytes()


def test_bad_data_ends_with_3(folder, model, tmp_path):
    bad(3, "inspect", folder / "nothing.csv", *KEYS, says="nothing.csv")
    bad(3, "fit", folder / "nothing.csv", *KEYS, "--label", "nmac", says="nothing.csv")
    bad(3, "predict", model, folder / "nothing.csv", *KEYS, says="nothing.csv")
    bad(3, "fit", folder / "flights.csv", *KEYS, says="--label")
    bad(3, "fit", folder / "flights.csv", "--id", "fligth", "--label", "nmac", says="flight")
    ragged = tmp_path / "ragged.csv"
    ragged.write_text("flight,t,x\n1,0,1\n1,1,2,3\n")
    bad(3, "inspect", ragged, *KEYS, says="line 3")
    lacking = tmp_path / "lacking.csv"
    lacking.write_text("flight,t,x\n1,0,1\n")
    bad(3, "predict", model, lacking, *KEYS, says="lack")
    bad(3, "categorize", model, lacking, *KEYS, says="lack")


def test_bad_models_end_with_4(folder):
    data = (folder / "flights.csv", *KEYS)
    for verb, more in (("show", ()), ("predict", data), ("categorize", data), ("explain", (*data, "--record", "f1"))):
        bad(4, verb, folder / "not-a-model.json", *more, says="not-a-model.json")
    bad(4, "export", folder / "no-such-model.json", "--to", "sql", says="no-such-model.json")


def test_wrong_usage_ends_with_2(folder, tmp_path):
    data = (folder / "flights.csv", *KEYS, "--label", "nmac")
    bad(2, "fit", *data, "--max-depth", "deep", says="max-depth")
    bad(2, "fit", *data, "--max-depth", "-3", says="max_depth")
    bad(2, "fit", *data, "--grammar", tmp_path / "none.bnf", says="none.bnf")
    grammar = tmp_path / "wrong.bnf"
    grammar.write_text("Start ::= F(speeed < 1)\n")
    bad(2, "fit", *data, "--grammar", grammar, says="speed")
    bad(2, "learn", says="learn")


def test_hostile_names_come_through(tmp_path, plain, labels):
    data = write_csv(tmp_path / "hostile.csv", plain, labels, HOSTILE)
    options = (*KEYS, "--label", "nmac", *QUICK)
    fitted = telltree("fit", data, *options, "-o", tmp_path / "model.json")
    assert fitted.returncode == 0, fitted.stderr
    shown = good("show", tmp_path / "model.json", "--english") + good("inspect", data, *KEYS)
    assert "\x1b" not in shown
    assert "[red]b[/red]" in shown
    assert len(predictions(good("predict", tmp_path / "model.json", data, *KEYS))) == 60


def read_all(terminal):
    """What a program writes to a terminal until it has ended, which is an error to those who go on reading."""
    with contextlib.suppress(OSError):
        while written := os.read(terminal, 4096):
            yield written.decode(errors="replace")
    os.close(terminal)


def test_interrupted_fit_saves_the_best_so_far(folder, tmp_path):
    saved = tmp_path / "model.json"
    args = (folder / "flights.csv", *KEYS, "--label", "nmac", "--search-evaluations", "1000000000", "-o", saved)
    watched, stderr = os.openpty()  # on a terminal it tells how far it is
    with started([PROGRAM, "fit", *args], stderr=stderr) as running:
        os.close(stderr)
        remarks = ""
        while "formulas/s" not in remarks:
            remarks += os.read(watched, 4096).decode()
        running.send_signal(signal.SIGINT)
        remarks += "".join(read_all(watched))
        assert "yes:" in running.stdout.read()
    assert running.returncode == 130, remarks
    assert "interrupted" in remarks
    assert "yes:" in good("show", saved)


def test_a_reader_that_has_seen_enough_is_no_error(model):
    line = f"'{PROGRAM}' show '{model}' | head -n 1"
    ended = subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], capture_output=True, text=True, check=False)
    assert "Traceback" not in ended.stderr


def test_no_escape_codes_off_a_terminal(folder, model):
    ended = telltree("predict", model, folder / "flights.csv", *KEYS)
    assert "\x1b" not in ended.stdout + ended.stderr


def test_every_formula_may_be_tried_and_what_is_proved_is_told(folder):
    flights = ("fit", folder / "flights.csv", *KEYS, "--label", "nmac", "--max-depth", "1", "--no-cv")
    told = good(*flights, "--search", "exhaustive", "--search-max-atoms", "1")
    assert (
        "at every question, no formula of the grammar of up to one condition and 6 nested operators is fitter"
        in " ".join(told.split())
    )
    found = json.loads(good(*flights, "--search", "exhaustive", "--search-max-atoms", "1", "--json"))
    assert found["proved"].endswith("larger ones were not tried")
    bad(
        2, *flights, "--search", "gp", "--search-max-atoms", "1",
        says="--search-max-atoms is for --search auto or exhaustive, not for gp",
    )  # fmt: skip


def test_searches_that_learn_and_their_settings(folder, tmp_path):
    flights = ("fit", folder / "flights.csv", *KEYS, "--label", "nmac", "--max-depth", "1", "--no-cv")
    flights += ("--search-evaluations", "200")
    model = tmp_path / "model.json"
    for name, kind, setting in (("cross-entropy", "CrossEntropy", "pseudo_count=2"), ("pipe", "Pipe", "rate=0.1")):
        settings = ("--search-setting", setting, "--search-setting", "population=40")
        good(*flights, "--search", name, *settings, "-o", model, "--force")
        kept = json.loads(model.read_text())["settings"]["search"]
        known, value = setting.split("=")
        assert (kept["name"], kept["settings"]["population"]) == (kind, 40)
        assert kept["settings"][known] == float(value)
    flights += ("--search", "gp")
    good(*flights, "--search-setting", "survival=children", "--search-setting", "unique=false")
    for setting, says in (
        ("codons=3", "gp has no setting 'codons'; it has evaluations, "),
        ("population", "population is a number"),
        ("unique=perhaps", "unique is true or false"),
        ("evaluations=3", "evaluations is given twice"),
        ("population=1", "population must be"),
    ):
        bad(2, *flights, "--search-setting", setting, says=says)


def test_exact_thresholds_are_asked_for_and_kept_in_mind(folder, tmp_path):
    model = tmp_path / "model.json"
    flights = ("fit", folder / "flights.csv", *KEYS, "--label", "nmac", "--max-depth", "1", "--no-cv")
    flights += ("--search-evaluations", "200", "--thresholds", "best")
    good(*flights, "-o", model)
    assert json.loads(model.read_text())["settings"]["growth"]["settings"]["thresholds"] == "best"
    bad(2, *flights, "--no-simplify", says="simplify=False keeps formulas as they are, and thresholds='best' moves")


def test_the_best_small_tree_is_found_and_what_is_proved_is_told_and_shown(folder, tmp_path):
    model = tmp_path / "model.json"
    flights = ("fit", folder / "flights.csv", *KEYS, "--label", "nmac", "--max-depth", "2", "--no-cv")
    flights += ("--search-evaluations", "300")
    told = good(*flights, "--growth", "optimal", "--growth-pool", "20", "-o", model)
    proved = "no tree of up to 2 levels over 20 questions that answer differently costs less than"
    assert proved in " ".join(told.split())
    assert proved in " ".join(good("show", model).split())
    assert json.loads(good(*flights, "--growth", "optimal", "--growth-pool", "20", "--json"))["proved"].startswith(
        proved
    )
    assert json.loads(good(*flights, "--growth", "look-ahead", "--growth-pool", "20", "--json"))["leaves"] > 1
    bad(2, *flights, "--growth-pool", "20", says="--growth-pool is for --growth look-ahead or optimal, not for greedy")
    bad(2, *flights, "--growth", "optimal", "--growth-pool", "0", says="pool must be a whole number of at least 1")


def test_a_floor_for_recall_is_kept_and_told(folder, tmp_path):
    model = tmp_path / "model.json"
    flights = ("fit", folder / "flights.csv", *KEYS, "--label", "nmac", *QUICK)
    told = " ".join(good(*flights, "--min-recall", "calm=.9", "-o", model).split())
    assert "recall of calm on the training records is" in told
    assert "at least 90.0 % as it was to be" in told
    assert "recall of calm on the training records is" in " ".join(good("show", model).split())
    assert "recall of calm on the training records is" in " ".join(good("show", model, "--english").split())
    bad(
        2, *flights, "--min-recall", "calm", says="--min-recall must be a class and a share such as bad=.95, got 'calm'"
    )
    bad(
        2,
        *flights,
        "--min-recall",
        "calm=2",
        says="--min-recall: the recall of 'calm' must be a number between 0 and 1",
    )
    bad(2, *flights, "--min-recall", "nobody=.5", says="--min-recall: there is no class 'nobody'; there are")


def test_formulas_of_ones_own_may_be_tried_first(folder):
    flights = ("fit", folder / "flights.csv", *KEYS, "--label", "nmac", "--max-depth", "1", "--no-cv")
    bad(2, *flights, "--search-seed", "F(nowhere < 1)", says="seeds[0], 'F(nowhere < 1)': is no formula")
