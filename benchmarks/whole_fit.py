"""What a whole fit costs beside its searches alone: making planes, choosing, centring, wording and all the rest."""

import time
from collections.abc import Iterator
from importlib.resources import files

import numpy as np
from auslan import default_folder
from results import Row
from two_atoms import random_walks

from telltree import GiniSize, Grammar, GrammarTreeClassifier, Panel
from telltree.datasets import load_acasx, make_encounters

MOST = 1.5


def rows(quick: bool) -> list[Row]:
    return [_row(*case, quick) for case in _cases(quick)]


def _cases(quick: bool) -> Iterator[tuple[str, Panel, np.ndarray, Grammar, int]]:
    few = 10 if quick else 1
    home = default_folder() / "acasx"
    if home.exists():
        panel, y = load_acasx(home)
        panel, y = panel[: 7_000 // few], y[: 7_000 // few]
        text = (files("telltree.experiments") / "acasx.bnf").read_text(encoding="utf-8")
        yield f"{len(panel):,} encounters of acasx, the paper's grammar", panel, y, Grammar.parse(text, panel), 4
    panel, y, _ = make_encounters(7_000 // few, 604 // few, 0)
    yield f"{len(panel):,} simulated encounters, generic grammar", panel, y, Grammar.generic(panel), 4
    walks = Panel.from_arrays(random_walks(20_000 // few, 5), layout="records, steps, columns")
    coins = np.random.default_rng(1).integers(0, 8, len(walks))
    yield f"{len(walks):,} × 50 × 5 random walks, eight classes", walks, coins, Grammar.generic(walks), 6


def _row(name: str, panel: Panel, y: np.ndarray, grammar: Grammar, depth: int, quick: bool) -> Row:  # noqa: PLR0917
    settings = {"grammar": grammar, "fitness": GiniSize(), "min_members": 1, "centre": True, "max_depth": depth}
    GrammarTreeClassifier(random_state=1, **settings).fit(panel[:200], y[:200])  # compiles
    best, searching = np.inf, 0.0
    for _ in range(1 if quick else 3):
        began = time.perf_counter()
        model = GrammarTreeClassifier(random_state=0, **settings).fit(panel, y)
        if time.perf_counter() - began < best:
            best = time.perf_counter() - began
            searching = sum(found.seconds for found in model.searches_.values())
    return Row(
        f"whole fit beside its searches: {name}", f"≤ {MOST} ×", f"{best:.2f} s, {len(model.tree_.nodes)} questions",
        f"depth {depth}, 20,000 evaluations a node; searches make the planes they need", ratio=best / searching,
        peer=f"{searching:.2f} s in searches", met=best / searching <= MOST,
    )  # fmt: skip
