"""The package's face: its public names, how little it loads, and its version."""

import ast
import importlib
import pkgutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

import telltree


@pytest.mark.parametrize("name", telltree.__all__)
def test_every_public_name_resolves(name):
    assert getattr(telltree, name) is not None
    assert name in dir(telltree)


def test_type_checkers_see_the_names_that_exist_at_run_time():
    tree = ast.parse(Path(telltree.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If))
    typed = {
        alias.asname: node.module for node in block.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert typed == {name: f"telltree.{home}" for name, home in telltree._HOMES.items()}


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'Pannel'"):
        _ = telltree.Pannel


def test_importing_the_package_loads_no_heavy_library():
    code = "import sys, telltree; print(*sorted({name.partition('.')[0] for name in sys.modules}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(run.stdout.split())
    assert "telltree" in loaded
    assert loaded.isdisjoint({"numba", "numpy", "sklearn", "pandas", "polars", "pyarrow", "narwhals"})


def test_the_version_is_the_installed_one():
    assert telltree.__version__ == metadata.version("telltree")


def test_every_search_is_in_the_table_and_public():
    from telltree import search as package
    from telltree.search import SEARCHES, Search

    for module in pkgutil.iter_modules(package.__path__):  # searches are loaded when they are first used
        importlib.import_module(f"{package.__name__}.{module.name}")
    own = {search for search in Search.__subclasses__() if search.__module__.startswith("telltree.search.")}
    assert {search.load() for search in SEARCHES.values()} == own
    assert all(getattr(package, search.name) is search.load() for search in SEARCHES.values())
