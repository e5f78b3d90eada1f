"""What a benchmark reports: one row a claim, as a page of tables with the methods below, or as JSON.

`python benchmarks/results.py` writes results.md anew from the figures in results.json.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

HEADS = ("claim", "reached", "target", "peer", "met")
FIGURES = Path(__file__).with_name("results.json")
PAGE = Path(__file__).with_name("results.md")


@dataclass(frozen=True)
class Row:
    """One claim. `ratio` is telltree over its peer in the same run; `met` is None where there is no target.

    `measured`, `target` and `peer` are a few words each, for the table; `how` has everything else.
    """

    what: str
    target: str
    measured: str
    how: str
    ratio: float | None = None
    peer: str = ""
    met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of HEADS. A ratio below 1 is left to the figures of both."""
        times = "" if self.ratio is None or self.ratio < 1 else f"{self.ratio:.3g} ×"
        reached = f"{times} ({self.measured})" if times else self.measured
        met = "" if self.met is None else "yes" if self.met else "**no**"
        return self.what, reached, self.target, self.peer, met


@dataclass(frozen=True)
class Section:
    """The claims of one benchmark."""

    heading: str
    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Results:
    """What was measured, when, and on which machine."""

    date: str
    machine: str
    sections: tuple[Section, ...]

    def page(self) -> str:
        """The page: a table of claims for each benchmark, and below all of them how each claim was measured."""
        judged = [row.met for section in self.sections for row in section.rows if row.met is not None]
        tables = "\n\n".join(f"## {section.heading}\n{_table(section.rows)}" for section in self.sections)
        methods = "\n\n".join(f"**{section.heading}**\n{_methods(section.rows)}" for section in self.sections)
        return (
            "# Benchmarks\n\n"
            f"Measured on {self.date}, written by `make bench`. Targets met: {sum(judged)} of {len(judged)}.\n"
            "Where a figure is a ratio (×), it compares telltree with the peer beside it. "
            "[How each was measured](#how-each-was-measured) stands below.\n\n"
            f"{tables}\n\n"
            "## How each was measured\n"
            f"{self.machine}.\n\n"
            "Absolute figures move from run to run; a ratio compares best times that were taken in turn in one run.\n\n"
            f"{methods}\n"
        )

    def as_json(self) -> str:
        """The same for programs to read."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"

    @classmethod
    def from_json(cls, text: str) -> "Results":
        """What `as_json` wrote."""
        found = json.loads(text)
        sections = (
            Section(section["heading"], tuple(Row(**row) for row in section["rows"])) for section in found["sections"]
        )
        return cls(found["date"], found["machine"], tuple(sections))


def _table(rows: Sequence[Row]) -> str:
    lines = [HEADS, ("---",) * len(HEADS), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def _methods(rows: Sequence[Row]) -> str:
    return "\n".join(f"- {row.what}: {row.how}." for row in rows)


if __name__ == "__main__":
    PAGE.write_text(Results.from_json(FIGURES.read_text(encoding="utf-8")).page(), encoding="utf-8")
