"""What users install is the wheel, so the wheel itself is built and looked into."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import telltree

ROOT = Path(__file__).parent.parent
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
