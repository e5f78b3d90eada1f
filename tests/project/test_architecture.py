"""docs/architecture.md agrees with the source: the diagram and the table with the imports, and named files exist."""

import ast
import re
import tomllib
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

ROOT = next(folder for folder in Path(__file__).parents if (folder / "pyproject.toml").exists())
SOURCE = ROOT / "src" / "telltree"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
UP, DOWN, LEFT, RIGHT = (-1, 0), (1, 0), (0, -1), (0, 1)
LINES = {
    "│": {UP, DOWN},
    "─": {LEFT, RIGHT},
    "┌": {DOWN, RIGHT},
    "┐": {DOWN, LEFT},
    "└": {UP, RIGHT},
    "┘": {UP, LEFT},
    "├": {UP, DOWN, RIGHT},
    "┤": {UP, DOWN, LEFT},
    "┬": {LEFT, RIGHT, DOWN},
    "┴": {LEFT, RIGHT, UP},
    "┼": {UP, DOWN, LEFT, RIGHT},
}
"""The directions in which each character goes on."""
HEADS = {"▼": DOWN, "▲": UP, "►": RIGHT, "◄": LEFT}
"""The direction in which each arrowhead points."""


def drawn(diagram, names):
    """Read the arrows of a diagram as pairs of names. Lines that touch lead from all their tails to all their heads."""
    rows = diagram.splitlines()
    cells = {(r, c): character for r, row in enumerate(rows) for c, character in enumerate(row)}
    name_at = {
        (r, c): word[0]
        for r, row in enumerate(rows)
        for word in re.finditer(r"\w+", row)
        if word[0] in names
        for c in range(*word.span())
    }
    arrows, waiting = set(), {cell for cell, character in cells.items() if character in LINES or character in HEADS}
    while waiting:
        tails, heads, reached = set(), set(), [waiting.pop()]
        while reached:
            r, c = reached.pop()
            character = cells[r, c]
            if character in HEADS:
                ahead = HEADS[character]
                heads.add(name_at.get(next_cell((r, c), ahead)))
                onward = {(-ahead[0], -ahead[1])}
            else:
                onward = LINES[character]
            for direction in onward:
                other = next_cell((r, c), direction)
                if other in name_at:
                    tails.add(name_at[other])
                elif other in waiting and joins(cells[other], direction):
                    waiting.remove(other)
                    reached.append(other)
        assert heads, f"a line without an arrowhead: from {tails}"
        assert None not in heads, f"an arrow that leads nowhere: from {tails}"
        arrows |= {(tail, head) for tail in tails for head in heads}
    return arrows


def next_cell(cell, direction):
    """The cell beside another."""
    return cell[0] + direction[0], cell[1] + direction[1]


def joins(character, direction):
    """True if a line that arrives in a direction goes on with this character."""
    back = (-direction[0], -direction[1])
    return HEADS.get(character) == direction or back in LINES.get(character, ())


@pytest.fixture(scope="module")
def imports():
    """By package, or module of the root, the others that its modules import, at any depth, but for the exceptions."""
    linted = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = next(contract for contract in linted["contracts"] if contract["name"] == "Imports go down only")
    excepted = [tuple(line.split(" -> ")) for line in layers["ignore_imports"]]
    names = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    found = {name: set() for name in names - {"__init__"}}
    for path in SOURCE.rglob("*.py"):
        importer = ".".join(("telltree", *path.relative_to(SOURCE).with_suffix("").parts)).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            for module in imported(node):
                if importer != "telltree" and not any(
                    one == importer and f"{module}.".startswith(f"{other}.") for one, other in excepted
                ):
                    found[importer.split(".")[1]].add(module.split(".")[1])
    return {name: others & found.keys() - {name} for name, others in found.items()}


def imported(node):
    """The modules of the package that a statement imports, or names that may be modules."""
    match node:
        case ast.Import():
            return [alias.name for alias in node.names if alias.name.startswith("telltree.")]
        case ast.ImportFrom(module="telltree"):
            return [f"telltree.{alias.name}" for alias in node.names]
        case ast.ImportFrom(module=str(module)) if module.startswith("telltree."):
            return [module, *(f"{module}.{alias.name}" for alias in node.names)]
        case _:
            return []


@pytest.fixture(scope="module")
def packages(imports):
    """The names that the diagram has: packages, and modules of the root that import packages."""
    folders = {name for name in imports if (SOURCE / name).is_dir()}
    return folders | {name for name, others in imports.items() if others & folders}


def test_the_diagram_has_each_import_that_does_not_follow_from_others(imports, packages):
    needs = {name: imports[name] & packages for name in packages}
    above = {}
    for name in TopologicalSorter(needs).static_order():
        above[name] = needs[name].union(*(above[other] for other in needs[name]))
    wanted = {
        (other, name)
        for name, others in needs.items()
        for other in others
        if not any(other in above[between] for between in others)
    }
    diagram = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)[1]
    arrows = drawn(diagram, packages)
    assert {name for arrow in arrows for name in arrow} == packages
    assert not wanted - arrows, "draw these arrows"
    assert not arrows - wanted, "remove these arrows"


@pytest.mark.parametrize(
    ("diagram", "arrows"),
    [
        ("a b\n│ │\n└┬┘\n ▼\n c", {"ac", "bc"}),
        ("  a\n┌─┴─┐\n▼   ▼\nb   c", {"ab", "ac"}),
        ("a──►b", {"ab"}),
    ],
)
def test_arrows_are_read_as_they_are_drawn(diagram, arrows):
    assert {tail + head for tail, head in drawn(diagram, set("abc"))} == arrows


@pytest.mark.parametrize("diagram", ["a\n│\nb", "a\n│\n▼\n\nb"])
def test_lines_that_lead_nowhere_are_refused(diagram):
    with pytest.raises(AssertionError, match=r"without an arrowhead|leads nowhere"):
        drawn(diagram, set("abc"))


def test_packages_that_do_not_know_each_other_are_named(imports):
    named = re.search(r"`(\w+)`\s+and\s+`(\w+)` do not know each other, nor do `(\w+)`\s+and\s+`(\w+)`", PAGE)
    for one, other in (named.groups()[:2], named.groups()[2:]):
        assert one not in imports[other]
        assert other not in imports[one]


def rows():
    """The cells of the table of packages, by the package's name."""
    table = re.search(r"\| package \|.*\n\|[-|]+\|\n((?:\|.*\n)+)", PAGE)[1]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {line[0].strip("`"): line[1:] for line in cells}


def test_the_table_has_every_package_and_names_its_files_and_types(packages):
    table = rows()
    assert table.keys() == packages
    for name, (_, files, types) in table.items():
        named = re.findall(r"`([^`]+)`", files)
        assert named, name
        assert all(file.split("/")[0].removesuffix(".py") == name for file in named), name
        parts = SOURCE / name
        texts = [path.read_text(encoding="utf-8") for path in parts.rglob("*.py")] if parts.is_dir() else []
        for type_ in re.findall(r"`([^`]+)`", types):
            assert any(re.search(rf"^class {type_}\b", text, re.MULTILINE) for text in texts), f"{name}: {type_}"


def test_every_module_of_the_root_is_named(imports, packages):
    for name in imports.keys() - packages:
        assert f"`{name}.py`" in PAGE, name


def test_the_files_it_names_exist():
    named = re.findall(r"`((?:\w+/)*\w+\.py)`", PAGE)
    assert len(named) > 40
    assert not [file for file in named if not (SOURCE / file).exists()]


def test_it_is_read_in_ten_minutes():
    assert len(PAGE.split()) <= 1_500
