"""What is imported is declared, each with its reason, and what is declared is imported."""

import ast
import re
import sys
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
PROJECT = tomllib.loads(TEXT)["project"]
CALLED = {"scikit-learn": "sklearn"}  # where a package is not imported by the name it is installed by


def libraries(requirements):
    """The names by which the packages of some requirements are imported; extras of our own are not packages."""
    packages = [re.match(r"[\w-]+", requirement)[0] for requirement in requirements]
    return {CALLED.get(package, package) for package in packages if package != PROJECT["name"]}


CORE = libraries(PROJECT["dependencies"])
EXTRAS = {extra: libraries(needs) for extra, needs in PROJECT["optional-dependencies"].items()}


def imported_by(path):
    """The libraries that a file imports, wherever in it, also by name: `import_module("pyarrow")`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Import(names=names):
                modules = [alias.name for alias in names]
            case ast.ImportFrom(module=str(module), level=0):
                modules = [module]
            case ast.Call(func=ast.Name("import_module"), args=[ast.Constant(str(module))]):
                modules = [module]
            case _:
                continue
        for module in modules:
            library = module.partition(".")[0]
            if library not in sys.stdlib_module_names and library != "telltree":
                yield library


@pytest.fixture(scope="module")
def places():
    """By library, the files of the package that import it."""
    found = defaultdict(set)
    home = ROOT / "src" / "telltree"
    for path in home.rglob("*.py"):
        for library in imported_by(path):
            found[library].add(path.relative_to(home).as_posix())
    return found


def test_what_is_imported_is_declared_and_nothing_else(places):
    assert set(places) == CORE.union(*EXTRAS.values())


def test_what_is_always_there_is_in_no_extra():
    assert not CORE & set().union(*EXTRAS.values())


@pytest.mark.parametrize(
    ("extra", "homes"),
    [("cli", "cli/"), ("report", "report/page.py"), ("plot", "report/"), ("parquet", "panel/")],
)
def test_an_extra_is_imported_in_one_place_alone(places, extra, homes):
    assert EXTRAS[extra]
    for library in EXTRAS[extra]:
        assert {place for place in places[library] if not place.startswith(homes)} == set()


def test_all_has_every_extra():
    named = re.fullmatch(r"telltree\[(.*)\]", *PROJECT["optional-dependencies"]["all"])[1].split(",")
    assert set(named) == set(EXTRAS) - {"all"}


def test_each_is_declared_with_its_reason():
    said = {found[1] for line in TEXT.splitlines() if (found := re.search(r'"([\w-]+)[^"]*".*# \w', line))}
    assert {CALLED.get(package, package) for package in said} >= CORE.union(*EXTRAS.values())
