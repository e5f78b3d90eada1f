"""What the documents say is run: their Python and console blocks, in order, and the output they show."""

import re
import runpy

import pytest
from documents import DOCUMENTS, ROOT, agrees, encounters, name_of, pieces_of, run

from telltree import datasets

RUNNING = [path for path in DOCUMENTS if pieces_of(path.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("path", RUNNING, ids=name_of)
def test_blocks_run_and_print_what_is_shown(path, tmp_path, monkeypatch):
    text = path.read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    monkeypatch.setattr(datasets, "make_encounters", encounters, raising=False)
    printed = run(text, tmp_path)
    for piece, output in zip(pieces_of(text), printed, strict=True):
        if piece.shown is not None:
            assert agrees(output, piece.shown), f"{name_of(path)}, line {piece.line} prints\n{output}"


def test_pages_agree_only_with_what_they_show():
    assert agrees("a\nb\nc\n", ["a", "...", "c"])
    assert agrees("a  \n", ["a"])
    assert not agrees("a\nb\n", ["a"])
    assert not agrees("a\nb\n", ["...", "c"])
    assert not agrees("", ["a"])


def targets(path):
    """What a document links to, blocks and inline code apart."""
    text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    return [target for target in re.findall(r"\]\(([^)\s]+)", text) if "://" not in target]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name_of)
def test_links_lead_somewhere(path):
    for target in targets(path):
        file, _, place = target.partition("#")
        found = (path.parent / file) if file else path
        assert found.exists(), f"{name_of(path)} links to {target}"
        if place:
            headings = re.findall(r"^#+ (.*)$", found.read_text(encoding="utf-8"), flags=re.MULTILINE)
            assert place in {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}, target


def test_every_document_can_be_found_from_the_readme():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            files = {target.partition("#")[0] for target in targets(path)}
            waiting.extend((path.parent / file).resolve() for file in files if file.endswith(".md"))
    assert set(DOCUMENTS) <= reached


def test_every_picture_is_shown():
    shown = {(path.parent / target).resolve() for path in DOCUMENTS for target in targets(path)}
    assert set((ROOT / "docs" / "images").iterdir()) <= shown


def test_the_picture_of_the_readme_is_of_its_tree():
    drawn = runpy.run_path(str(ROOT / "docs" / "draw_figures.py"))
    panel, y, _ = encounters(1_000, nmac=200)
    tree = drawn["learn"](panel.select(drawn["COLUMNS"])[:700], y[:700]).tree_
    assert str(tree) in (ROOT / "README.md").read_text(encoding="utf-8"), "run python docs/draw_figures.py"


def test_the_design_names_files_that_exist():
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)*\w+(?:\.py|/))`", text)
    assert len(named) > 10
    for file in named:
        assert (ROOT / "src" / "telltree" / file).exists() or (ROOT / file).exists(), file


def test_the_page_of_the_command_line_has_all_verbs():
    from telltree.cli.app import app

    verbs = {command.name or command.callback.__name__ for command in app.registered_commands}
    told = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(told) == verbs
    assert "experiment" in verbs
