"""What the documents say is run: their Python and console blocks, in order, and the output they show."""

import re
import runpy

import pytest

from tests.support.documents import DOCUMENTS, ROOT, agrees, name_of, pieces_of, run

from telltree import demo

PAGE = """
```python
print(1 + 1)
```
```text
{}
```

```python
unseen = True
```

```console
$ echo one
{}
$ seq 9
{}
```
"""
LEARNS = re.compile(r"\.fit\(|load_acasx|make_encounters|telltree (?:fit|demo)")


def running():
    """Documents with something to run; those that learn trees are slow, the README apart."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        if pieces_of(text):
            is_slow = path.name != "README.md" and LEARNS.search(text)
            yield pytest.param(path, marks=pytest.mark.slow) if is_slow else path


@pytest.mark.parametrize("path", list(running()), ids=name_of)
def test_blocks_run_and_print_what_is_shown(path, tmp_path):
    text = path.read_text(encoding="utf-8")
    printed = run(text, tmp_path)
    for piece, output in zip(pieces_of(text), printed, strict=True):
        if piece.shown is not None:
            assert agrees(output, piece.shown), (
                f"{name_of(path)}, line {piece.line} prints the following; docs/refresh.py puts it there\n{output}"
            )


def test_pages_agree_only_with_what_they_show():
    assert agrees("a\nb\nc\n", ["a", "...", "c"])
    assert agrees("a  \n", ["a"])
    assert not agrees("a\nb\n", ["a"])
    assert not agrees("a\nb\n", ["...", "c"])
    assert not agrees("", ["a"])


def test_what_is_shown_is_brought_up_to_date():
    refreshed = runpy.run_path(str(ROOT / "docs" / "refresh.py"))["refreshed"]
    text = PAGE.format("2", "one", "1\n...\n9")
    assert refreshed(text, ["2\n", "", "one\n", "1\n5\n9\n"]) == text
    new = refreshed(text, ["3\n4\n", "unseen\n", "two \n\n", "0\n1\n2\n8\n"])
    assert new == PAGE.format("3\n4", "two", "0\n...\n8")


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


def test_the_readme_tells_of_the_tree_that_the_demo_learns_and_the_pictures_show():
    panel, ends = demo.encounters()
    model = demo.fit(panel[: demo.LEARNT_FROM], ends[: demo.LEARNT_FROM])
    assert model.outline() in (ROOT / "README.md").read_text(encoding="utf-8")


FOR_MAINTAINERS = [ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs" / "decisions").glob("*.md"))]


@pytest.mark.parametrize("path", FOR_MAINTAINERS, ids=name_of)
def test_documents_for_maintainers_name_files_that_exist(path):
    named = re.findall(r"`((?:[\w-]+/)*[\w.-]+\.(?:py|toml|md|txt)|(?:[\w-]+/)+)`", path.read_text(encoding="utf-8"))
    places = (ROOT / "src" / "telltree", ROOT)
    assert not [file for file in named if not any((place / file).exists() for place in places)]


def test_decisions_are_all_listed_under_their_titles():
    folder = ROOT / "docs" / "decisions"
    listed = re.findall(r"^- (\d+) \[(.*)\]\((.*)\)$", (folder / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    titles = {path.name: path.read_text(encoding="utf-8").splitlines()[0] for path in folder.glob("0*.md")}
    assert {file: f"# {number}. {title}" for number, title, file in listed} == titles


@pytest.mark.parametrize("page", ["grammar.md", "reference/language.md", "reference/operators.md"])
def test_every_operator_is_in_the_pages_of_operators(page):
    from telltree.logic import OPERATORS

    code = " ".join(re.findall(r"`([^`\n]*)`", (ROOT / "docs" / page).read_text(encoding="utf-8")))
    for operator in OPERATORS:
        plain = (re.escape(spelling.removesuffix("[]")) for spelling in operator.spellings)
        end = r"\[" if operator.name.endswith("[]") else r"(?!\w)"
        assert re.search(rf"(?<!\w)(?:{'|'.join(plain)}){end}", code), operator.name


def test_the_benchmark_page_shows_the_stored_figures():
    written = runpy.run_path(str(ROOT / "benchmarks" / "results.py"))
    stored = written["Results"].from_json(written["FIGURES"].read_text(encoding="utf-8"))
    assert written["PAGE"].read_text(encoding="utf-8") == stored.page()
    assert stored.from_json(stored.as_json()) == stored


def test_the_page_of_the_command_line_has_all_verbs():
    from telltree.cli.app import app

    verbs = {command.name or command.callback.__name__ for command in app.registered_commands}
    told = re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "command-line.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert set(told) == verbs
    assert "experiment" in verbs
