"""What a benchmark reports: one row a figure, as a Markdown table or as JSON."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

HEADS = ("what", "target", "measured", "ratio", "peer's figure", "met", "how measured")


@dataclass(frozen=True)
class Row:
    """One figure. `ratio` is telltree over its peer in the same run; `met` is None where there is no target."""

    what: str
    target: str
    measured: str
    how: str
    ratio: float | None = None
    peer: str = ""
    met: bool | None = None

    def cells(self) -> tuple[str, ...]:
        """The row as text, in the order of HEADS."""
        ratio = "" if self.ratio is None else f"{self.ratio:.3g} ×"
        met = "" if self.met is None else "yes" if self.met else "**no**"
        return self.what, self.target, self.measured, ratio, self.peer, met, self.how


def table(rows: Sequence[Row]) -> str:
    """The rows as a Markdown table."""
    lines = [HEADS, ("---",) * len(HEADS), *(row.cells() for row in rows)]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def page(rows: Sequence[Row], machine: str) -> str:
    """The whole page of results."""
    judged = [row.met for row in rows if row.met is not None]
    return (
        "# Benchmarks\n\n"
        f"Written by `make backend`. {machine}.\n"
        "Absolute figures move from run to run; a ratio compares best times that were taken in turn in one run.\n"
        f"Targets met: {sum(judged)} of {len(judged)}.\n\n"
        f"{table(rows)}\n"
    )


def as_json(rows: Sequence[Row], machine: str) -> str:
    """The same for programs to read."""
    return json.dumps({"machine": machine, "rows": [asdict(row) for row in rows]}, indent=2, ensure_ascii=False)
