"""What users install is the wheel, so the wheel itself is built and looked into, and used without its extras."""

import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import telltree

ROOT = Path(__file__).parents[2]
SUPPORT = ROOT / "tests" / "support"
PACKAGE = ROOT / "src" / "telltree"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    out = tmp_path_factory.mktemp("dist")
    # Without isolation the installed hatchling builds it: quick, and nothing is fetched.
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(out), str(ROOT)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    (path,) = out.glob("*.whl")
    with zipfile.ZipFile(path) as archive:
        yield archive


def test_it_holds_every_file_of_the_package_and_nothing_else(wheel):
    source = {
        f"telltree/{path.relative_to(PACKAGE).as_posix()}"
        for path in PACKAGE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    info = f"telltree-{telltree.__version__}.dist-info/"
    packed = {name for name in wheel.namelist() if not name.startswith(info)}
    assert packed == source
    assert "telltree/py.typed" in packed


def test_it_carries_the_license_and_its_metadata(wheel):
    info = f"telltree-{telltree.__version__}.dist-info"
    assert wheel.read(f"{info}/licenses/LICENSE") == (ROOT / "LICENSE").read_bytes()
    lines = wheel.read(f"{info}/METADATA").decode().splitlines()
    assert "License-Expression: BSD-3-Clause" in lines
    assert "Requires-Python: >=3.11" in lines
    assert f"Version: {telltree.__version__}" in lines


def requirements(wheel):
    """By extra, and None for what always comes: the packages that the wheel asks for."""
    found = {}
    for line in wheel.read(f"telltree-{telltree.__version__}.dist-info/METADATA").decode().splitlines():
        if line.startswith("Requires-Dist: "):
            extra = re.search(r"extra == '(\w+)'", line)
            found.setdefault(extra and extra[1], set()).add(re.match(r"Requires-Dist: ([\w-]+)", line)[1])
    return found


def test_extras_bring_what_only_they_need(wheel):
    found = requirements(wheel)
    assert {"typer", "rich", "jinja2", "matplotlib", "pyarrow", "pandas", "polars"}.isdisjoint(found[None])
    assert found["cli"] == {"typer", "rich", "jinja2"}  # the program writes reports too
    assert (found["report"], found["plot"], found["parquet"]) == ({"jinja2"}, {"matplotlib"}, {"pyarrow"})


@pytest.fixture(scope="module")
def light(wheel):
    """Run a program where there are telltree and the packages that always come with it, and nothing else.

    The files are those of the wheel, at the place for which kernels have been compiled already.
    """
    packages = ",".join(requirements(wheel)[None])

    def run(program):
        command = [sys.executable, str(SUPPORT / "light_install.py"), packages, str(program)]
        environment = os.environ | {"PYTHONPATH": str(PACKAGE.parent)}
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)

    return run


def test_without_extras_one_learns_saves_loads_explains_and_exports(light):
    ended = light(SUPPORT / "light_use.py")
    assert ended.returncode == 0, ended.stderr
    english, report, plot, parquet = ended.stdout.splitlines()
    assert "x is" in english
    assert report == 'reports need jinja2: pip install "telltree[report]"'
    assert plot == 'figures need matplotlib: pip install "telltree[plot]"'
    assert re.fullmatch(r'.*x.parquet.*: Parquet files need pyarrow: pip install "telltree\[parquet\]"', parquet)


@pytest.mark.slow
def test_the_program_without_its_extra_says_how_to_get_it(light, tmp_path):
    program = tmp_path / "program.py"
    program.write_text("from telltree.cli import main\n\nmain()\n")
    ended = light(program)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert ended.stderr == 'telltree: error: the command line needs typer: pip install "telltree[cli]"\n'
