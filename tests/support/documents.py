"""The project's documents as programs: their Python and console blocks, run in order, and the output they show."""

import functools
import io
import itertools
import os
import re
import runpy
import shlex
import subprocess
from contextlib import chdir, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from tests.support.programs import telltree

ROOT = Path(__file__).parents[2]
END = "--- end of block ---"
DOCUMENTS = [
    *(ROOT / name for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md")),
    *sorted((ROOT / "docs").rglob("*.md")),
]


def name_of(path):
    return path.relative_to(ROOT).as_posix()


@dataclass
class Block:
    """A fenced block: its language, the line of the opening fence (from 1), and what stands in it."""

    language: str
    line: int
    lines: list[str] = field(default_factory=list)


def blocks_of(text):
    found, inside = [], False
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"```(.*)", line)
        if not fence and inside:
            found[-1].lines.append(line)
        elif fence:
            inside = not inside
            found += [Block(fence[1], number)] if inside else []
    assert not inside, "a block is not closed"
    return found


@dataclass
class Piece:
    """Something to run: its first line in the document, itself as Python that ends by printing END, what it shows.

    `begins` is the line at which that begins.
    """

    line: int
    program: list[str]
    begins: int
    shown: list[str] | None = None


def pieces_of(text):
    """Return the pieces to run: Python blocks, each with the `text` block after it, and console lines after a $.

    Other blocks with a title are files to write.
    """
    pieces = []
    found = blocks_of(text)
    for block, following in itertools.zip_longest(found, found[1:]):
        title = re.search(r'title="(.+)"', block.language)
        if block.language == "python":
            shows = following and following.language == "text"
            begins, shown = (following.line + 1, following.lines) if shows else (0, None)
            pieces.append(Piece(block.line + 1, [*block.lines, f"print({END!r})"], begins, shown))
        elif title:
            content = "\n".join([*block.lines, ""])
            pieces.append(Piece(block.line, [f"_write({title[1]!r}, {content!r}); print({END!r})"], 0))
        elif block.language == "console":
            for number, line in enumerate(block.lines, block.line + 1):
                if line.startswith("$ "):
                    pieces.append(Piece(number, [f"print(_shell({line[2:]!r}), {END!r}, sep='')"], number + 1))
                else:
                    pieces[-1].shown = [*(pieces[-1].shown or []), line]
    return pieces


def run(text, folder):
    """Return the output of each piece. The pieces are one program, run in the folder, with the document's lines."""
    lines = [""] * (len(text.splitlines()) + 1)
    for piece in pieces_of(text):
        lines[piece.line - 1 : piece.line - 1 + len(piece.program)] = piece.program
    program = Path(folder) / "document.py"
    program.write_text("\n".join(lines), encoding="utf-8")
    words = {
        "_shell": functools.partial(shell, folder=folder),
        "_write": lambda name, content: (Path(folder) / name).write_text(content, encoding="utf-8"),
    }
    drawn = mock.patch.dict(os.environ, MPLBACKEND="agg")
    with drawn, chdir(folder), redirect_stdout(io.StringIO()) as printed:
        runpy.run_path(str(program), words, run_name="__main__")
    return printed.getvalue().split(END + "\n")[:-1]


def shell(command, folder):
    """Return the standard output of a command; `telltree` is forked, as in other tests."""
    program, _, rest = command.partition(" | ")
    ours = program.startswith("telltree ")
    with mock.patch.dict(os.environ, PYTHONUTF8="1", COLUMNS="200"):
        ended = telltree(*shlex.split(program)[1:], cwd=folder) if ours else _sh(command, folder)
        if ours and rest and not ended.returncode:
            ended = _sh(rest, folder, input=ended.stdout)
    assert ended.returncode == 0, f"$ {command}\n{ended.stderr}"
    return ended.stdout


def _sh(command, folder, **more):
    line = ["/bin/sh", "-c", command]
    return subprocess.run(line, cwd=folder, capture_output=True, encoding="utf-8", check=False, **more)


def trimmed(text):
    lines = text.splitlines() if isinstance(text, str) else text
    return "\n".join(line.rstrip() for line in lines).strip("\n")


def agrees(printed, shown):
    """Return True if the output is the one shown; a line of three dots stands for any number of lines."""
    parts = [r"(?:.*\n)*" if line == "..." else re.escape(line) + "\n" for line in trimmed(shown).splitlines()]
    return re.fullmatch("".join(parts), trimmed(printed) + "\n") is not None
