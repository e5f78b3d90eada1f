"""The package has no import cycles, not even by imports inside functions, and no name of a class twice."""

import ast
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

HOME = Path(__file__).parents[2] / "src"


def run_time_imports(tree):
    """The import statements of a module, at any depth, without those for type checkers alone."""
    for node in ast.iter_child_nodes(tree):
        match node:
            case ast.If(test=ast.Name("TYPE_CHECKING")):
                continue
            case ast.ImportFrom(module=str()):
                yield node
            case _:
                yield from run_time_imports(node)


@pytest.fixture(scope="module")
def modules():
    """The syntax tree of each module of the package, by name."""
    paths = {".".join(path.relative_to(HOME).with_suffix("").parts): path for path in HOME.rglob("*.py")}
    return {name.removesuffix(".__init__"): ast.parse(path.read_text(encoding="utf-8")) for name, path in paths.items()}


@pytest.fixture(scope="module")
def needs(modules):
    """By module, the modules of the package that it imports; the package's own face is above them all."""
    found = {}
    for name, tree in modules.items():
        statements = run_time_imports(tree)
        named = {(node.module, f"{node.module}.{alias.name}") for node in statements for alias in node.names}
        found[name] = {inner if inner in modules else module for module, inner in named} & modules.keys() - {"telltree"}
    return found


def test_imports_make_no_circle(needs):
    assert len(list(TopologicalSorter(needs).static_order())) == len(needs)  # a circle is a CycleError that shows it


def test_no_two_classes_have_one_name(modules):
    """At any depth, also inside of functions and other classes."""
    homes = defaultdict(list)
    for name, tree in modules.items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                homes[node.name].append(name)
    assert len(homes) > 300, "most of the package was not looked at"
    assert not {name: places for name, places in homes.items() if len(places) > 1}
