"""The notebook in examples/ runs from top to bottom, and is kept without outputs."""

import ast
import importlib
import os
import re

import pytest

from tests.support.documents import ROOT

nbformat = pytest.importorskip("nbformat", reason="notebooks are read with nbformat")
nbclient = pytest.importorskip("nbclient", reason="notebooks are run with nbclient")
pytest.importorskip("ipykernel", reason="notebooks are run by ipykernel")

NOTEBOOK = ROOT / "examples" / "aircraft.ipynb"


@pytest.fixture(scope="module")
def cells(tmp_path_factory):
    """The code cells with the outputs of a run."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    folder = tmp_path_factory.mktemp("notebook")
    environment = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"} | {"TMPDIR": str(folder)}
    client = nbclient.NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(folder)}})
    client.execute(env=environment)
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def shown(cells, kind):
    return [output["data"][kind] for cell in cells for output in cell.outputs if kind in output.get("data", {})]


def printed(cells):
    return "".join(output["text"] for cell in cells for output in cell.outputs if output.get("name") == "stdout")


def test_it_is_kept_without_outputs():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbformat.validate(notebook)
    for cell in notebook.cells:
        assert cell.cell_type == "markdown" or (cell.outputs, cell.execution_count) == ([], None)


def test_its_cells_import_what_is_there():
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    sources = [re.sub(r"^%.*", "", cell.source) for cell in notebook.cells if cell.cell_type == "code"]  # without magic
    cells = [ast.parse(source) for source in sources]
    imports = [node for cell in cells for node in ast.walk(cell) if isinstance(node, ast.ImportFrom)]
    assert any(node.module.startswith("telltree") for node in imports)
    for node in imports:
        module = importlib.import_module(node.module)
        assert not [alias.name for alias in node.names if not hasattr(module, alias.name)], node.module


@pytest.mark.slow
def test_it_shows_the_panel_the_tree_and_two_figures(cells):
    assert len(shown(cells, "image/png")) == 2
    pages = "".join(shown(cells, "text/html"))
    assert "abs_alt_diff" in pages
    assert "NMAC" in pages


@pytest.mark.slow
def test_it_prints_categories_and_writes_a_report(cells):
    text = printed(cells)
    for part in ("├─ yes: ", "macro F1 on the other 600: 0.", "at some point", "report.html", "SELECT"):
        assert part in text
