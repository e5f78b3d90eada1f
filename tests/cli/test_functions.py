"""Models that call user functions, through the installed program: the user names the file that has them."""

import json
import os
import py_compile

import pytest

from tests.cli.test_verbs import KEYS, bad, good, write_csv

FUNCTIONS = """
from dataclasses import dataclass

import numpy as np
from telltree import user_function


@dataclass
class Limits:
    high: "float" = 3.0


@user_function(takes=["real"], gives="real", phrase="twice {0}", elementwise=True)
def twice(values):
    return 2 * values


@user_function(takes=["real"], gives="Boolean", phrase="{0} is high", elementwise=True)
def is_high(values):
    return values > Limits().high
"""
GRAMMAR = "S ::= F(VB) | G(VB)\nVB ::= is_high(height) | twice(speed) > [2, 4, 6, 8] | on\n"
LABEL = ("--label", "nmac")


@pytest.fixture(scope="module")
def folder(tmp_path_factory, plain, labels):
    made = tmp_path_factory.mktemp("functions")
    write_csv(made / "flights.csv", plain, labels)
    (made / "mine.py").write_text(FUNCTIONS)
    (made / "mine.bnf").write_text(GRAMMAR)
    given = ("--grammar", made / "mine.bnf", "--functions", made / "mine.py", "--max-depth", "2", "--no-cv")
    good("fit", made / "flights.csv", *KEYS, *LABEL, *given, "-o", made / "model.json")
    assert json.loads((made / "model.json").read_text())["functions"]
    return made


VERBS = {
    "show": ("show", "MODEL"),
    "predict": ("predict", "MODEL", "DATA", *KEYS),
    "categorize": ("categorize", "MODEL", "DATA", *KEYS, *LABEL),
    "evaluate": ("evaluate", "MODEL", "DATA", *KEYS, *LABEL),
    "explain": ("explain", "MODEL", "DATA", *KEYS, *LABEL, "--record", "f3"),
    "report": ("report", "MODEL", "DATA", *KEYS, *LABEL, "-o", "PAGE"),
    "export": ("export", "MODEL", "--to", "text"),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_takes_the_functions_of_a_model(folder, tmp_path, verb):
    paths = {"MODEL": folder / "model.json", "DATA": folder / "flights.csv", "PAGE": tmp_path / "page.html"}
    words = [paths.get(word, word) for word in VERBS[verb]]
    bad(4, *words, says="or by --functions FILE")
    good(*words, "--functions", folder / "mine.py")


def test_a_question_may_call_functions(folder):
    asked = ("ask", folder / "flights.csv", "F(twice(speed) > 6)", *KEYS, *LABEL)
    assert "twice speed" in good(*asked, "--functions", folder / "mine.py")
    bad(2, *asked, says="twice")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("x = 1\n", "has no user functions"),
        ("import nothing_of_the_kind\n", ", line 1: ModuleNotFoundError: No module named 'nothing_of_the_kind'"),
        ("x = 1\ny = x +\n", ", line 2: SyntaxError"),
        ("\n\nraise SystemExit('no')\n", ", line 3: SystemExit: no"),
        (f"{FUNCTIONS}first = twice\n{FUNCTIONS}", "two different functions are called 'twice'"),
    ],
)
def test_files_without_functions_are_refused(folder, tmp_path, content, says):
    (tmp_path / "odd.py").write_text(content)
    bad(2, "show", folder / "model.json", "--functions", tmp_path / "odd.py", says=says)


def test_a_file_is_run_only_if_the_user_names_it(folder, tmp_path):
    bad(2, "show", folder / "model.json", "--functions", tmp_path / "absent.py", says="No such file")
    ran = tmp_path / "ran"
    (tmp_path / "mine.py").write_text(f"open({str(ran)!r}, 'w').close()\n{FUNCTIONS}")
    (tmp_path / "telltree.toml").write_text(f"functions = {json.dumps(str(tmp_path / 'mine.py'))}\n")
    show = ("show", folder / "model.json", "--config", tmp_path / "telltree.toml")
    bad(2, *show, says="give --functions on the command line")
    bad(4, "show", folder / "model.json", says="--functions", cwd=tmp_path)
    assert not ran.exists()
    good("show", folder / "model.json", "--functions", tmp_path / "mine.py")
    assert ran.exists()
    bad(2, "fit", folder / "flights.csv", *KEYS, *LABEL, "--functions", tmp_path / "mine.py", says="--grammar")


def test_no_bytecode_is_left_beside_the_file_or_read_from_there(folder, tmp_path):
    (tmp_path / "mine.py").write_text(FUNCTIONS)
    py_compile.compile(str(tmp_path / "mine.py"), doraise=True)
    bytecode = next((tmp_path / "__pycache__").iterdir())
    stamp = (tmp_path / "mine.py").stat()
    (tmp_path / "mine.py").write_text("x = 1\n".ljust(stamp.st_size))
    os.utime(tmp_path / "mine.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # the bytecode looks up to date
    bad(2, "show", folder / "model.json", "--functions", tmp_path / "mine.py", says="has no user functions")
    bytecode.unlink()
    (tmp_path / "mine.py").write_text(FUNCTIONS)
    good("show", folder / "model.json", "--functions", tmp_path / "mine.py")
    assert not list((tmp_path / "__pycache__").iterdir())
