"""Random trees over random records, and a naive check of all that is told of them.

A tree's records are plain lists, and its formulas are judged by the oracle, record by record; counts, shares, intervals
and lift are worked out from that alone. What a sentence says is what is read back from it, judged in the same way.
"""

import math
import random
import re
import warnings
from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cache, reduce

import numpy as np

from tests.support import oracle
from tests.support.class_trees import class_leaf, class_tree
from tests.support.oracle_form import judged
from tests.support.random_trees import PlainFormulas
from tests.support.strategies import Case, Column, draw_case, draw_columns

from telltree.engine import Formula
from telltree.errors import DataWarning, SpeechError
from telltree.estimators import GrammarTreeClassifier
from telltree.explain import categorize, outline, rules_table
from telltree.explain.headlines import with_headlines
from telltree.search import MonteCarlo
from telltree.tree import Node, Tree

Z = 1.959964
LABELS = ("safe", "it's", 'say "hi"', "émigré", "2 of 3 records")
SEARCH = MonteCarlo(evaluations=150)
OCCURS = r"the conditions? occurs? in (all|[\d,]+|none|.*? and .*?) of (?:its|their)(?: ([\d,]+))? members?"
REACH = re.compile(
    rf"(?s)(.*) \((?:no members here|(\S+(?: \S+)?) of its members)(?:, (.*?) of the others)?(?:; {OCCURS})?\)"
)
NOTED = re.compile(rf"(?s)(.*) \({OCCURS}\)")
WHENEVER = re.compile(r"whenever ([^,]+), [^,;]+")
SIZE = re.compile(r"\[\d+\] .*?  \(([\d,]+) (records?), ([^;)]*? %)")
SHARED = re.compile(r"( *)\[(\d+)\] (?:and|to) \[(\d+)\] (?:also )?share: (.*)")
OWN = re.compile(r"( *)\[(\d+)\] .*  \([\d,]+ records?, ")
APART = re.compile(r" +unlike \[(\d+)\](?: (?:and|to) \[(\d+)\])?: (.*)")
AMONG = re.compile(r"    on these ([\d,]+) records?: (.*)")
TIMES = re.compile(r"(?:(about )?|([\d.,]+) times )the share in all")
FEW = (
    Column("x1", "real"), Column("x2", "real", static=True), Column("b1", "Boolean"), Column("and", "Boolean"),
    Column("c1", "categorical", ("up", "down", "")),
)  # fmt: skip
"""Columns for whole trees to come back to."""


@dataclass
class Subject:
    """A tree, the records it was made of, their labels and weights, and other records to tell of."""

    tree: Tree
    case: Case
    labels: list
    weights: list
    other: Case
    other_labels: list

    def training(self):
        """Records that weigh nothing took no part."""
        rows = zip(self.case.records, self.labels, self.weights, strict=True)
        return [row for row in rows if row[2]]


@dataclass
class Verdict:
    """The number of statements checked, and those that were refuted."""

    checked: int = 0
    refuted: list = field(default_factory=list)

    def claim(self, true, statement, *why):
        self.checked += 1
        if not true:
            self.refuted.append(f"{statement!r} {' '.join(map(str, why))}")

    def equal(self, told, true, what):
        same = told == true if told is None or true is None else math.isclose(told, true, rel_tol=2e-5, abs_tol=1e-9)
        self.claim(same, what, f"told {told}, true {true}")

    def add(self, other):
        self.checked += other.checked
        self.refuted += other.refuted


def draw_subject(seed):
    """Every other tree is learned from random records; the rest are of random formulas that split theirs."""
    rng = random.Random(seed)
    columns = draw_columns(rng) if rng.random() < 0.6 else FEW
    case, other = (draw_case(rng, columns, [rng.randint(1, 5) for _ in range(n)]) for n in (rng.randint(4, 24), 8))
    draw, names = PlainFormulas(rng, columns), rng.sample(LABELS, rng.randint(2, 4))
    hints = [draw.boolean(2) for _ in range(2)]
    labels, other_labels = ([_label(rng, hints, names, record) for record in c.records] for c in (case, other))
    weights = _weights(rng, labels)
    make = _learned if seed % 2 else _drawn
    return Subject(make(rng, draw, case, labels, weights), case, labels, weights, other, other_labels)


def _label(rng, hints, names, record):
    if rng.random() < 0.2:
        return rng.choice(names)
    return names[sum(oracle.truth(hint, record, {}) << i for i, hint in enumerate(hints)) % len(names)]


def _weights(rng, labels):
    """None weighed, some classes weighed, or each record, of which a few take no part."""
    sort = rng.randrange(3)
    worth = {label: rng.choice((1, 3, 20)) for label in LABELS}
    each = [worth[label] if sort == 1 else rng.choice((0, 1, 2, 7)) if sort == 2 else 1 for label in labels]
    return [max(each[0], 1), *each[1:]]


def _learned(rng, _, case, labels, weights):
    model = GrammarTreeClassifier(search=SEARCH, max_depth=rng.randint(1, 3), random_state=rng.randrange(1000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)  # records that cannot be told apart are meant
        return model.fit(case.panel, labels, None if set(weights) == {1} else weights).tree_


def _drawn(rng, draw, case, labels, weights):
    classes = tuple(sorted(set(labels)))
    schema = case.panel.schema

    def node(rows, depth):
        for _ in range(12 if depth else 0):
            formula = Formula.parse(oracle.text(draw.boolean(rng.randint(1, 4)), rng), schema)
            truths = [true_of(formula.expression, case.records[row]) for row in rows]
            if len(set(truths)) == 2:
                true, false = ([row for row, truth in zip(rows, truths, strict=True) if truth is side]
                               for side in (True, False))  # fmt: skip
                return Node(formula, node(true, depth - 1), node(false, depth - 1))
        return class_leaf(counts(rows), tuple(float(sum(weights[r] for r in rows if labels[r] == c)) for c in classes))

    def counts(rows):
        return tuple(sum(labels[row] == c for row in rows) for c in classes)

    rows = [row for row, weight in enumerate(weights) if weight]
    gaps = frozenset(name for row in rows for name, values in case.records[row].items() if any(map(in_doubt, values)))
    tree = class_tree(node(rows, rng.randint(0, 3)), classes, schema, rng.choice((gaps, gaps, None)))
    step = rng.choice((None, (1.0, "s"), (0.5, "min")))
    asks_times = re.search(r"\b(elapsed|left|when_min|when_max)\(", str(tree))
    tree = replace(tree, step=None if asks_times else step)  # the records have no times
    return with_headlines(rng.choice((tree, tree.plain())), case.panel[rows])


def in_doubt(value):
    return value is None or (isinstance(value, float) and not math.isfinite(value))


def true_of(e, record):
    return oracle.truth(_form(e), record, {})


_form = cache(judged)


@cache
def _understood(sentence, schema, step):
    """The claims of a sentence, which rules, categories and groups may all contain."""
    return Formula.from_english(sentence, schema, step=step).expression


def checked(subject):
    """All that is told of a tree, against its records."""
    verdict, tree = Verdict(), subject.tree
    records, labels, weights = (list(column) for column in zip(*subject.training(), strict=True))
    _check_rules(verdict, tree, records, labels, weights)
    _check_outline(verdict, tree, records, labels)
    seen = (records, labels, subject.case.panel[[i for i, weight in enumerate(subject.weights) if weight]])
    for records_of, labels_of, panel in (seen, (subject.other.records, subject.other_labels, subject.other.panel)):
        _check_categories(verdict, tree, records_of, labels_of, panel)
    return verdict


def leaf_of(tree, record):
    """The number of the leaf that a record comes to."""
    for number, (_, branches) in enumerate(tree.leaves, 1):
        if all(true_of(f.expression, record) == side for f, side in branches):
            return number
    raise AssertionError("no leaf")


def _check_rules(verdict, tree, records, labels, weights):
    homes = [leaf_of(tree, record) for record in records]
    worth = {}  # of one record, by leaf and class
    for home, label, weight in zip(homes, labels, weights, strict=True):
        worth.setdefault((home, label), []).append(weight)
    means = [sum(each) / len(each) for each in worth.values()]
    weighed = max(means) - min(means) > 1e-9 * max(means)
    for rule in rules_table(tree):
        own = [label for home, label in zip(homes, labels, strict=True) if home == rule.cluster]
        what = f"rule {rule.cluster}"
        _check_counts(verdict, rule, own, labels, what)
        verdict.claim(rule.support == len(own), what, "support", rule.support, len(own))
        mass = {label: sum(each) for (home, label), each in worth.items() if home == rule.cluster}
        verdict.claim(math.isclose(mass[rule.label], max(mass.values()), rel_tol=1e-5), what, "label", rule.label)
        share = mass[rule.label] / sum(mass.values()) if weighed else None
        verdict.equal(None if rule.weighted is None else round(rule.weighted, 4), share and round(share, 4), what)
        outvoted = own.count(rule.label) < max(Counter(own).values())
        verdict.claim(rule.decided_by_weights == outvoted, what, "weights decide")
        _check_figures(verdict, rule, len(own))
        members = [home == rule.cluster for home in homes]
        told = Told(tree, tree.step, records)
        for said in (rule.english, rule.short):
            _check_sentence(verdict, said, told, members)
        _check_headline(verdict, rule.headline, told, members)


def _check_counts(verdict, told, own, labels, what):
    hits, everywhere = own.count(told.label), labels.count(told.label)
    share = hits / len(own) if own else None
    verdict.claim(told.counts == Counter(own), what, "counts", told.counts)
    verdict.equal(told.share, share, f"{what}: share")
    verdict.equal(told.lift, (hits / len(own)) / (everywhere / len(labels)) if own and everywhere else None, what)
    low, high = told.interval if hasattr(told, "interval") else (told.low, told.high)
    for end, least in ((low, 0.0), (high, 1.0)):
        if share is None or share == least:
            verdict.equal(end, least, f"{what}: interval")
        else:  # as far from the share as it may be before the share would be a surprise
            verdict.equal(abs(share - end), Z * math.sqrt(end * (1 - end) / len(own)), f"{what}: interval")
    verdict.claim(share is None or low <= share <= high, what, "interval", low, high)


def _check_figures(verdict, rule, records):
    """`34 % of 234 records (28 to 40 %), 2.3 times the share in all; storm by weight: 75 %`."""
    match = re.match(r"(.*? %) of (\d+) (records?) \((.*?) to (.*? %)\)(?:, ([^;]*))?", rule.figures)
    verdict.claim(match is not None, rule.figures, "is of another form")
    share, number, noun, low, high, times = match.groups()
    verdict.claim(int(number) == records and (noun == "record") == (records == 1), rule.figures)
    for said, value in ((share, rule.share), (f"{low} %", rule.low), (high, rule.high)):
        verdict.claim(rounds(said, value), rule.figures, value)
    verdict.claim(times is None or _is_times(times, rule.lift), rule.figures, rule.lift)
    if ";" in rule.figures:
        verdict.claim(rounds(rule.figures.rpartition("weight")[2].lstrip(": "), rule.weighted), rule.figures)


def rounds(said, share, most=0.5):
    """Return True if a percentage is a share, rounded; 0 % and 100 % are none and all."""
    if said in ("none", "all") or share in (0, 1):
        return said in {0: ("0 %", "none"), 1: ("100 %", "all")}.get(share, ())
    number = float(said.removesuffix(" %").lstrip("<> "))
    if said[0] in "<>":
        return (100 * share < number) == (said[0] == "<")
    return abs(100 * share - number) <= most + 1e-6 and number not in (0, 100)


def _is_times(said, lift):
    about, number = TIMES.fullmatch(said).groups()
    if number is None:
        return lift == 1 if not about else abs(lift - 1) < 0.051
    return abs(float(number.replace(",", "")) - lift) <= max(0.5 if lift >= 10 else 0.0, 0.0501 * lift)


def _check_outline(verdict, tree, records, labels):
    lines = outline(tree).splitlines()
    bare = [re.sub(r"^(?:│   |    )*(?:├─ yes: |└─ no:  )?", "", line) for line in lines]
    verdict.claim(len(bare) == len(tree.nodes) + len(tree.leaves), "outline", *lines)
    homes = [leaf_of(tree, record) for record in records]
    asked, given = ([line for line in bare if line.startswith("[") == leaf] for leaf in (False, True))
    for node, question in zip(tree.nodes, asked, strict=True):
        verdict.claim(question.endswith("?"), question)
        truths = [true_of(node.formula.expression, record) for record in records]
        _check_sentence(verdict, question[:-1], Told(tree, tree.step, records), truths)
    for number, ((leaf, _), line) in enumerate(zip(tree.leaves, given, strict=True), 1):
        own = [label for home, label in zip(homes, labels, strict=True) if home == number]
        label = leaf.summary.predicted
        things = "record" if len(own) == 1 else "records"
        if leaf.summary.title.startswith("mixed: "):
            verdict.claim(line.startswith(f"[{number}] {leaf.summary.title}: {own.count(label)}"), line)
            verdict.claim(f" of {len(own)} {things}" in line, line)
            continue
        verdict.claim(line.startswith(f"[{number}] {label}: {own.count(label)} of {len(own)} {things}"), line)


def _check_categories(verdict, tree, records, labels, panel):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DataWarning)
        categories = categorize(tree, panel, labels)
    tree = tree.worded_for(panel)
    homes = [leaf_of(tree, record) for record in records]
    told = Told(tree, panel.step, records)
    for category in categories:
        members = [home == category.number for home in homes]
        own = [label for label, member in zip(labels, members, strict=True) if member]
        what = f"category {category.number}"
        _check_counts(verdict, category, own, labels, what)
        verdict.claim(category.positions.tolist() == np.flatnonzero(members).tolist(), what, category.positions)
        verdict.equal(category.coverage, len(own) / len(records), f"{what}: coverage")
        number, noun, covered = SIZE.match(str(category)).groups()
        verdict.claim(int(number) == len(own) and (noun == "record") == (len(own) == 1), str(category))
        verdict.claim(rounds(covered, len(own) / len(records), 0.05), str(category), len(own), len(records))
        *above, last = [[true_of(f.expression, record) == side for record in records]
                        for f, side in category.branches] or [[True] * len(records)]  # fmt: skip
        shared = reduce(lambda a, b: [x and y for x, y in zip(a, b, strict=True)], above, [True] * len(records))
        for said, truths in ((category.english, members), (category.short, members), (category.shared, shared),
                             (category.apart, last)):  # fmt: skip
            _check_sentence(verdict, said, told, truths)
        for said, (f, side) in zip(category.steps, category.branches, strict=True):
            _check_sentence(verdict, said, told, [true_of(f.expression, record) == side for record in records])
        for number, said in AMONG.findall(str(category)):
            verdict.claim(int(number) == len(records) and _bare(said) == category.short, str(category))
        _check_headline(verdict, category.headline, Told(tree, tree.step, records), members)
    _check_groups(verdict, str(categories), told, homes)


def _check_groups(verdict, text, told, homes):
    """Check the group's sentence and the one that sets a category apart, together, against its members."""
    above, numbers, number = [], [], None
    for line in text.splitlines():
        if match := SHARED.match(line):
            indent, first, last, sentence = match.groups()
            above = [one for one in above if one[0] < len(indent)]
            _check_note(verdict, sentence, told, [int(first) <= home <= int(last) for home in homes])
            above.append((len(indent), int(first), int(last), _read(verdict, _bare(sentence), told)))
        elif match := OWN.match(line):
            indent, number = match[1], int(match[2])
            above = [one for one in above if one[0] < len(indent)]
            verdict.claim(all(first <= number <= last for _, first, last, _ in above), text, "of", number)
            numbers.append(number)
        elif match := APART.match(line):
            first, last = int(match[1]), int(match[2] or match[1])
            _, *ends, _ = above[-1]
            verdict.claim([min(first, number), max(last, number)] == ends, line, "of", number)
            reach = REACH.fullmatch(match[3])  # a headline that sets it apart
            if not reach:
                _check_note(verdict, match[3], told, [home == number for home in homes])
            truths = [one[3] for one in above] + [_read(verdict, reach[1] if reach else _bare(match[3]), told)]
            for home, *each in zip(homes, *truths, strict=True):
                verdict.claim(all(each) == (home == number), text, "of", number)
    verdict.claim(numbers == list(range(1, len(told.tree.leaves) + 1)), text, "numbers", numbers)


@dataclass
class Told:
    """The records that a text is about, and how to read it."""

    tree: Tree
    step: tuple | None
    records: list


def _check_headline(verdict, headline, told, members):
    if headline is None:
        return
    sentence, own, share, times, among = REACH.fullmatch(headline).groups()
    truths = _read(verdict, sentence, told)
    if truths is None:
        return
    _check_times(verdict, sentence, told, members, (times, among))
    for said, among in ((own, True), (share, False)):
        found = [truth for truth, member in zip(truths, members, strict=True) if member is among]
        right = said is None if not found else said is not None and rounds(said, sum(found) / len(found))
        verdict.claim(right, headline, found)


def _bare(said):
    """A sentence without how often its condition occurs."""
    noted = NOTED.fullmatch(said)
    return noted[1] if noted else said


def _check_note(verdict, said, told, members):
    noted = NOTED.fullmatch(said)
    if noted:
        _check_times(verdict, noted[1], told, members, noted.groups()[1:])


def _check_times(verdict, sentence, told, members, occurs):
    """Check how often the condition of "whenever A, B" occurs among members, where A has no commas."""
    (times, among), whenever = occurs, WHENEVER.fullmatch(sentence)
    if whenever is None or not any(members):
        return
    found = _read(verdict, f"at some point {whenever[1]}", told)
    if found is None or times is None:
        verdict.claim(found is None, sentence, "without how often its condition occurs")
        return
    true = sum(truth and member for truth, member in zip(found, members, strict=True))
    verdict.claim({"all": sum(members), "none": 0}.get(times) == true or times == str(true), sentence, times, true)
    verdict.claim(among is None or int(among) == sum(members), sentence, among)


def _check_sentence(verdict, sentence, told, truths):
    found = _read(verdict, sentence, told)
    if found is not None:
        for record, says, true in zip(told.records, found, truths, strict=True):
            verdict.claim(says == true, sentence, "of", record)


def _read(verdict, sentence, told):
    """Return the truth of a sentence for each record, as it is read back; None if it cannot be read."""
    if sentence == "every record":  # no statement about a record, but the name of all
        return [True] * len(told.records)
    try:
        e = _understood(sentence, told.tree.schema, told.step)
    except SpeechError as error:
        verdict.claim(False, sentence, "cannot be read:", error)
        return None
    return [true_of(e, record) for record in told.records]
