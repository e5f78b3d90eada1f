"""Runs the documents and writes what they print where they show it: `python docs/refresh.py`, all or those named.

Documents are run as the tests run them. Read the difference before you commit it; prose and pictures stay as they are
(`python docs/draw_figures.py` draws those), and the notebook is kept without outputs.
"""

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from tests.support.documents import DOCUMENTS, agrees, name_of, pieces_of, run, trimmed  # noqa: E402  # it lives with the tests

DOTS = "..."  # stands for any number of lines


def refreshed(text: str, printed: list[str]) -> str:
    """The document with these outputs, one a piece, in place of those that it shows and that no longer hold."""
    lines = text.splitlines()
    pairs = list(zip(pieces_of(text), printed, strict=True))
    for piece, output in reversed(pairs):  # from the end, so that earlier line numbers stay true
        if piece.shown is not None and not agrees(output, piece.shown):
            start = piece.begins - 1
            lines[start : start + len(piece.shown)] = shortened(trimmed(output).splitlines(), piece.shown)
    return "\n".join(lines) + "\n"


def shortened(output: list[str], shown: list[str]) -> list[str]:
    """The output, with dots where they stood: after as many lines, before as many lines."""
    if shown.count(DOTS) != 1:
        return output
    before = shown.index(DOTS)
    after = len(shown) - before - 1
    return [*output[:before], DOTS, *output[len(output) - after :]]


def main(names: list[str]) -> None:
    """Refresh the documents of these names, such as docs/tutorial.md, or all."""
    for path in DOCUMENTS:
        text = path.read_text(encoding="utf-8")
        if pieces_of(text) and (not names or name_of(path) in names):
            print(f"{name_of(path)}: ", end="", flush=True)
            with tempfile.TemporaryDirectory() as folder:
                new = refreshed(text, run(text, folder))
            path.write_text(new, encoding="utf-8")
            print("as it was" if new == text else "refreshed")


if __name__ == "__main__":
    main(sys.argv[1:])
