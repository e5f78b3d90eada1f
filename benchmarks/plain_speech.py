"""How telltree speaks: the words, brackets and negations of what default trees say, and whether all of it is true.

Six sorts of records, as far as they can be had. Every category and every question is said in plain English and in the
paper's form, and what is said plainly is read back and must answer alike on the records. Random trees follow, of which
all that is told is checked against their records one by one.

    python benchmarks/plain_speech.py [--acasx PATH] [--trees 2000] [--json]
"""

import argparse
import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from auslan import default_folder
from peers.aeon_data import aeon_file
from results import Row

from telltree import GrammarTreeClassifier, Panel, read
from telltree.datasets import load_acasx, load_auslan, make_encounters
from telltree.engine import Formula
from telltree.errors import SpeechError
from telltree.explain import english
from telltree.explain.category_text import CategoryGroup, CategoryText, nested
from telltree.explain.sentence import claims_of, sentence
from telltree.tree import Leaf, Node, Tree
from telltree.tree.tree import Headline

TREES = 2_000
SHORT = 15  # words of a headline
SAVED = 0.25  # of the words of the paper's form
READ = (30, 60)  # words a category by its short description: the median, and the 90th percentile
Records = tuple[Panel, np.ndarray]


@dataclass
class Spoken:
    """What was said of trees, in three ways, and what came of it."""

    found: list[str] = field(default_factory=list)
    """Categories in the paper's form, of the formulas as the searches found them."""
    paper: list[str] = field(default_factory=list)
    """The same of the formulas that the trees have."""
    plain: list[str] = field(default_factory=list)
    """Whole sentences, exact of every possible record."""
    short: list[str] = field(default_factory=list)
    """Short descriptions, exact of the training records; the whole sentence where none is much shorter."""
    read: list[float] = field(default_factory=list)
    """Words of each category as all are printed together: what several share is divided among them."""
    headlines: list[str | None] = field(default_factory=list)
    clear: int = 0
    """Headlines that are true of most members and of few others."""
    alike: int = 0
    """Sentences that read back answer like the formula they were said of."""
    unlike: list[str] = field(default_factory=list)

    def __iadd__(self, other: "Spoken") -> "Spoken":
        for name in ("found", "paper", "plain", "short", "read", "headlines", "unlike"):
            getattr(self, name).extend(getattr(other, name))
        self.alike += other.alike
        self.clear += other.clear
        return self


def rows(quick: bool, acasx: Path | None = None, trees: int | None = None) -> list[Row]:
    whole, each = Spoken(), []
    for name, records in _sets(quick, acasx):
        panel, y = records()
        spoken = _spoken(panel, y)
        whole += spoken
        middles = " → ".join(f"{np.median(words):.0f}" for words in _ways(spoken).values())
        each.append(f"{name} {middles} in {len(spoken.plain)}")
        print(f"  {each[-1]}; not alike: {spoken.unlike or 'none'}", file=sys.stderr, flush=True)
    return [*_said(whole, each), _truth(trees or (20 if quick else TREES))]


def _sets(quick: bool, acasx: Path | None) -> Iterator[tuple[str, Callable[[], Records]]]:
    """The records, each by a function that reads or makes them; those that cannot be had are left out."""
    yield "mixed with gaps", mixed
    yield "acasx sample", lambda: tuple(load_acasx())
    auslan = default_folder() / "auslan8"
    if auslan.is_dir():
        yield "Auslan", lambda: tuple(load_auslan(auslan))
    for name in ("GunPoint", "ItalyPowerDemand"):
        if (path := aeon_file(name)) is not None:
            yield name, lambda path=path: read(path)
    if not quick:
        yield "simulated encounters", lambda: tuple(make_encounters(2000, 173))[:2]
        home = acasx or default_folder() / "acasx"
        if home.exists():
            yield "acasx whole", lambda: tuple(load_acasx(home))


def mixed(records: int = 400, seed: int = 0) -> Records:
    """Tanks of 10 to 40 steps: reals, a Boolean and a categorical column, of which some values are missing."""
    rng = np.random.default_rng(seed)
    rooms, labels = [], []
    for _ in range(records):
        steps = int(rng.integers(10, 41))
        pressure, heat = (np.cumsum(rng.normal(0, 0.4, steps)) + start for start in (3.0, 20.0))
        valve = np.repeat(rng.random(8) < 0.4, 5)[:steps]
        mode = np.repeat(rng.choice(["fill", "purge", "rest"], 8), 5)[:steps]
        room = np.array([pressure.round(2), heat.round(1), valve, mode], dtype=object).T
        late = bool(((pressure > 4.2) & (valve | (mode == "purge"))).any())
        blind = rng.random() < 0.1
        labels.append("blind" if blind else "burst" if late and rng.random() < 0.95 else "holds")
        room[rng.random(room.shape) < (0.15 if blind else 0.02)] = None
        rooms.append(room)
    return Panel.from_arrays(rooms, columns=["pressure", "temperature", "valve", "mode"]), np.array(labels)


def _spoken(panel: Panel, y: np.ndarray) -> Spoken:
    """What the default tree of these records says."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GrammarTreeClassifier(random_state=0).fit(panel, y)
    tree, made = model.tree_, Spoken()
    found = _as_found(tree, panel)
    categories = model.categories(panel, y)
    made.read = list(_as_read(nested([category.as_text for category in categories])))
    for category, (leaf, branches), (_, before) in zip(categories, tree.leaves, found.leaves, strict=True):
        made.found.append(sentence(before, panel.schema, tree.missing, style="paper"))
        made.paper.append(sentence(branches, tree.schema, tree.missing, style="paper"))
        made.plain.append(category.english)
        made.short.append(category.short)
        made.headlines.append(None if category.headline is None else category.headline.rpartition(" (")[0])
        made.clear += leaf.headline is not None and _is_clear(leaf.headline, leaf.support)
        members = np.isin(np.arange(len(panel)), category.positions)
        for said in dict.fromkeys((category.english, category.short)):
            _compare(made, said, tree, panel, members)
        for said, claim in zip(category.steps, claims_of(branches), strict=True):
            _compare(made, said, tree, panel, Formula(claim)(panel))
    for node in tree.nodes:
        said = english(node.formula, tree.schema, tree.missing, step=tree.step)
        _compare(made, said, tree, panel, node.formula(panel))
    return made


def _is_clear(headline: Headline, members: int) -> bool:
    return headline.missed <= 0.2 * members and headline.others <= 0.25 * headline.elsewhere


def _compare(made: Spoken, said: str, tree: Tree, panel: Panel, truth: np.ndarray) -> None:
    if said == "every record":
        return
    try:
        same = np.array_equal(Formula.from_english(said, tree.schema, step=tree.step)(panel), truth)
    except SpeechError as error:
        same, said = False, f"{said} ({error})"
    made.alike += same
    made.unlike += [] if same else [said]


def _as_found(tree: Tree, panel: Panel) -> Tree:
    """The tree with the formulas that its searches found, branches where they were before they were turned round."""

    def below(node: Node | Leaf, here: np.ndarray) -> Node | Leaf:
        if isinstance(node, Leaf):
            return node
        truth = node.formula(panel)
        true, false = below(node.true, here & truth), below(node.false, here & ~truth)
        found = node.found or node.formula
        if not np.array_equal(found(panel)[here], truth[here]):
            found = Formula(claims_of([(found, False)])[0])
        return replace(node, formula=found, true=true, false=false)

    return replace(tree, root=below(tree.root, np.ones(len(panel), np.bool_)))


def _as_read(
    parts: Sequence[CategoryGroup | CategoryText], above: float = 0.0, *, alone: bool = True
) -> Iterator[float]:
    """The words of each category in order: its own, and its part of what is told above it."""
    for part in parts:
        if isinstance(part, CategoryGroup):
            first, last = part.numbers
            yield from _as_read(part.parts, above + _length(part.shared.english) / (last - first + 1), alone=False)
        else:
            yield above + _length((part.short or part.whole.english) if alone else part.steps[-1].english)


def _length(text: str) -> int:
    return len(text.split())


def _words(said: list[str]) -> list[int]:
    return [_length(text) for text in said]


def _ways(spoken: Spoken) -> dict[str, list[int] | list[float]]:
    """The words of each category as it may be told, from the longest way to the shortest."""
    return {
        "paper's form": _words(spoken.paper),
        "whole sentences": _words(spoken.plain),
        "short descriptions": _words(spoken.short),
        "in groups": spoken.read,
    }


def _said(spoken: Spoken, each: list[str]) -> list[Row]:
    found, paper, plain = spoken.found, spoken.paper, spoken.plain
    short = [line for line in spoken.headlines if line is not None and len(line.split()) <= SHORT]
    total, wanted = spoken.alike + len(spoken.unlike), 1 - SAVED
    ratio = sum(_words(plain)) / sum(_words(paper))
    before = sum(_words(plain)) / sum(_words(found))

    def row(what: str, measure: Callable[[list[str]], str], how: str) -> Row:
        how += f"; {measure(found)} in the formulas as they were found"
        return Row(what, "0", measure(plain), how, peer=f"paper's form {measure(paper)}", met=measure(plain) == "0")

    return [
        Row("words a category (median · 90th percentile), by short descriptions", "30 · 60",
            _spread(_words(spoken.short)),
            "each category by itself, in words that are exact of the training records, or else of every record: "
            f"{sum(a != b for a, b in zip(spoken.short, plain, strict=True))} of {len(plain)} are shorter than the "
            f"whole; medians of {' → '.join(_ways(spoken))}: {'; '.join(each)}; paper's form of "
            f"the formulas as they were found {_spread(_words(found))}",
            peer=f"paper's form {_spread(_words(paper))}",
            met=bool(np.all(np.percentile(_words(spoken.short), (50, 90)) <= READ))),
        Row("the same, by whole sentences", "",
            _spread(_words(plain)), "each category by itself, in words that are exact of every possible record"),
        Row("the same, in groups", "", _spread(spoken.read),
            "as all categories are printed together: what several share is said once above them, and its words are "
            "divided among them; another measure than the two above, which tell one category without the others"),
        row("square brackets", lambda said: str(_often(r"\[", said)), "in all categories"),
        row("negated implications", lambda said: str(_often("not for all time, if", said)), "“not for all time, if”"),
        row("“not for all time”", lambda said: str(_often("not for all time", said)), "in all categories"),
        Row("sentences read back to equal answers", "all", f"{spoken.alike} of {total}",
            "each category, short and whole, each answer on its way, and each question, on all records",
            peer="paper's form cannot be read", met=not spoken.unlike),
        Row(f"headlines of at most {SHORT} words", "", f"{len(short) / len(plain):.0%} of categories",
            f"{len(short)} of {len(plain)}; {sum(h is not None for h in spoken.headlines)} have a headline at all, and "
            f"{spoken.clear} one that is true of at least 80 % of the members and at most 25 % of the others",
            peer="paper's form has none"),
        Row("words saved", f"≥ {SAVED:.0%}", f"{1 - ratio:.0%}",
            "words of all categories against the paper's form of the same formulas; "
            f"{1 - before:.0%} against that of the formulas as they were found", met=ratio <= wanted),
    ]  # fmt: skip


def _spread(words: Sequence[float]) -> str:
    return f"{np.median(words):.0f} · {np.percentile(words, 90):.0f}"


def _often(pattern: str, said: list[str]) -> int:
    return sum(len(re.findall(pattern, text)) for text in said)


def _truth(trees: int) -> Row:
    """Random trees, checked as the tests do; those run fewer."""
    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from tests.support.speech_truth import Verdict, checked, draw_subject

    whole = Verdict()
    for seed in range(trees):
        found = checked(draw_subject(seed))
        whole.add(found)
        for line in found.refuted[:1]:
            print(f"  tree {seed}: {line}", file=sys.stderr, flush=True)
    refuted = len(whole.refuted)
    how = (
        f"every count, share, interval, lift and headline, and every sentence of every record, of {trees:,} random "
        "trees over records with gaps, weights and static columns"
    )
    what = "statements that a naive check refutes"
    return Row(what, "0", f"{refuted} of {whole.checked:,}", how, met=not refuted)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--acasx", type=Path, help="where the whole encounters are, if not in the data folder")
    parser.add_argument("--trees", type=int, default=TREES, help="random trees to check (%(default)s)")
    parser.add_argument("--quick", action="store_true", help="without the larger sets")
    parser.add_argument("--json", action="store_true", help="print JSON instead of a table")
    options = parser.parse_args()
    made = rows(options.quick, options.acasx, options.trees)
    lines = [(row.what.removeprefix(""), row.peer, row.measured, row.how) for row in made]
    if options.json:
        print(json.dumps(lines, ensure_ascii=False, indent=2))
        return
    for line in (("what", "paper style", "plain", "how measured"), ("---",) * 4, *lines):
        print("| " + " | ".join(line) + " |")


if __name__ == "__main__":
    main()
