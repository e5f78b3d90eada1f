"""What the documents say is run: their Python blocks, in order, and the output they show."""

import io
import re
import runpy
from contextlib import redirect_stdout
from pathlib import Path

import numpy as np
import pytest

from telltree import demo

ROOT = Path(__file__).parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
RUNNING = [path for path in DOCUMENTS if "```python" in path.read_text(encoding="utf-8")]
END = "--- end of block ---"


def name(path):
    return path.relative_to(ROOT).as_posix()


def blocks(text):
    """The fenced blocks: language, line of the opening fence (from 1), and body."""
    found, language, body = [], None, []
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"```(.*)", line)
        if fence and language is None:
            language, start, body = fence[1], number, []
        elif fence:
            found.append((language, start, "\n".join(body)))
            language = None
        else:
            body.append(line)
    assert language is None, "a block is not closed"
    return found


def script(text):
    """The Python blocks as one program with the document's line numbers; each ends by printing END."""
    lines = [""] * (len(text.splitlines()) + 1)
    for language, start, body in blocks(text):
        if language == "python":
            written = body.splitlines()
            lines[start : start + len(written)] = written
            lines[start + len(written)] = f"print({END!r})"
    return "\n".join(lines)


def expected(text):
    """For each Python block the output shown in a `text` block right after it, or None."""
    found = blocks(text)
    return [
        following[2] if following and following[0] == "text" else None
        for (language, _, _), following in zip(found, [*found[1:], None], strict=True)
        if language == "python"
    ]


@pytest.mark.parametrize("path", RUNNING, ids=name)
def test_python_blocks_run_and_print_what_is_shown(path, tmp_path, monkeypatch):
    text = path.read_text(encoding="utf-8")
    program = tmp_path / f"{path.stem}.py"
    program.write_text(script(text), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with redirect_stdout(printed):
        runpy.run_path(str(program), run_name="__main__")
    outputs = printed.getvalue().split(END + "\n")
    for shown, output in zip(expected(text), outputs[:-1], strict=True):
        if shown is not None:
            assert _trimmed(output) == _trimmed(shown)


def _trimmed(text):
    return [line.rstrip() for line in text.strip("\n").splitlines()]


@pytest.mark.parametrize("path", DOCUMENTS, ids=name)
def test_links_lead_somewhere(path):
    text = re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)#\s]+)", text):
        if "://" not in target:
            assert (path.parent / target).exists(), f"{name(path)} links to {target}"


def test_the_design_names_files_that_exist():
    text = (ROOT / "docs" / "design.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:\w+/)*\w+(?:\.py|/))`", text)
    assert len(named) > 10
    for file in named:
        assert (ROOT / "src" / "telltree" / file).exists() or (ROOT / file).exists(), file


def test_every_document_can_be_found_from_the_readme():
    reached, waiting = set(), [ROOT / "README.md"]
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            targets = re.findall(r"\]\(([^)#\s]+\.md)", path.read_text(encoding="utf-8"))
            waiting.extend((path.parent / target).resolve() for target in targets if "://" not in target)
    assert set(DOCUMENTS) <= reached


def test_the_picture_is_of_the_demos_tree():
    drawn = runpy.run_path(str(ROOT / "docs" / "images" / "draw_tree.py"))
    assert drawn["PICTURE"].read_text(encoding="utf-8") == drawn["picture"](), "run python docs/images/draw_tree.py"


def test_the_demo_prints_tree_categories_and_accuracy(capsys):
    demo.main()
    printed = capsys.readouterr().out
    for part in ("F(advisory ∧ responding)", "[pilot is responding]", "[5] safe", "Accuracy on the 120", "Next: "):
        assert part in printed


def test_the_demos_encounters_depend_on_the_seed_alone():
    (panel, ends), (again, ends_again), (other, _) = demo.make_demo(30), demo.make_demo(30), demo.make_demo(30, seed=1)
    assert panel == again
    assert np.array_equal(ends, ends_again)
    assert panel != other
    assert set(ends) == {"NMAC", "safe"}
    assert {str(column.type) for column in panel.schema.values()} == {"real", "Boolean", "categorical"}
