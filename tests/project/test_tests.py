"""The choice of quick tests goes through every package, and files that are named as long are there."""

import re

from tests.conftest import LONG, TESTS
from tests.support.documents import ROOT

FOLDERS = {path.parent.name for path in TESTS.glob("*/test_*.py")}
PACKAGES = {path.parent.name for path in (ROOT / "src" / "telltree").glob("*/__init__.py")}


def test_every_package_has_a_folder_of_tests():
    assert PACKAGES | {"project", "soak"} == FOLDERS


def test_quick_tests_go_through_every_package():
    listed = re.search(r"^QUICK := (.*?\))$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    files = re.findall(r"\w+/test_\w+\.py", listed[1])
    assert {file.partition("/")[0] for file in files} == FOLDERS - {"soak"}
    assert not [file for file in (*files, *LONG) if not (TESTS / file).is_file()]
