"""Every consumer of operators, checked with formulas that contain a given one."""

import atexit
import functools
import importlib
import pkgutil
import random

import numpy as np

from tests.models.test_export_programs import answered, databases, run_module
from tests.support import oracle
from tests.support.class_trees import class_leaf, class_tree
from tests.support.random_trees import PlainFormulas
from tests.support.strategies import Column, derived, draw_case
from tests.tree.test_induction import Robustness as JudgedRobustness

import telltree
from telltree import Formula, export_model
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.errors import SettingsError
from telltree.explain import Robustness, decisive_steps, english, redundant
from telltree.grammar.tables import Tables
from telltree.logic import OPERATORS
from telltree.logic.operators import missing_cells
from telltree.tree import Node

COLUMNS = (
    Column("speed", "real"),
    Column("height", "real"),
    Column("on", "Boolean"),
    Column("mode", "categorical", ("up", "down", "level")),
)
MOST_DRAWN = 20_000


def lacking():
    """Return the missing cells, a line each: the operator, who must know it, and where to add it."""
    for package in ("engine", "english", "explain", "models"):
        home = importlib.import_module(f"{telltree.__name__}.{package}")
        for module in pkgutil.iter_modules(home.__path__):
            importlib.import_module(f"{home.__name__}.{module.name}")
    judged = [row for row in OPERATORS if row.name not in oracle.MEANING]
    measured = [row for row in OPERATORS if row.joins and row.name not in oracle.MARGIN]
    return [
        *missing_cells(),
        *(
            f"operator {row.name!r} has no cell for the oracle: add it in tests/support/oracle.py (MEANING)"
            for row in judged
        ),
        *(
            f"operator {row.name!r} has no cell for the oracle: add it in tests/support/oracle.py (MARGIN)"
            for row in measured
        ),
    ]


@functools.cache
def formulas_with(operator, number):
    """Random formulas that have the operator."""
    rng, found = random.Random(operator.name), []
    draw = PlainFormulas(rng, COLUMNS)
    for _ in range(MOST_DRAWN):
        plain = draw.boolean(rng.randint(1, 3))
        if _has(plain, operator.name):
            found.append(plain)
        if len(found) == number:
            return found
    raise AssertionError(
        f"{operator.name!r} is drawn {len(found)} times in {MOST_DRAWN}: see tests/support/strategies.py"
    )


def _has(plain, name):
    return isinstance(plain, tuple) and (plain[0] == name or any(_has(part, name) for part in plain[1:]))


def _equals_a_sum_of_shares(plain):
    """Return True if a formula compares a sum of fractions such as a sixth for equality: databases round each step of
    a sum, and telltree only its end."""
    return _has(plain, "=") and _has(plain, "gone") and any(_has(plain, name) for name in ("mean", "mean[]", "total"))


@functools.cache
def records():
    """Random ragged records, in all columns some values missing."""
    rng = random.Random(0)
    return draw_case(rng, COLUMNS, [70, *(rng.choice((1, 2, 3, 7)) for _ in range(69))])


@functools.cache
def _filled():
    """The records of `records()`, in databases."""
    found = databases(records())
    for connection in found:
        atexit.register(connection.close)
    return found


class Asked:
    """One formula on some records, with a check for each consumer."""

    def __init__(self, plain, case):
        self.plain, self.case, self.panel = plain, case, case.panel
        self.text = oracle.text(plain, random.Random(0))
        self.formula = Formula.parse(self.text, self.panel.schema)
        self.truth = [oracle.truth(plain, record, {}) for record in case.records]

    def check_text(self):
        assert Formula.parse(str(self.formula), self.panel.schema) == self.formula
        assert self.formula.latex()

    def check_engine(self):
        assert self.formula(self.panel).tolist() == self.truth, self.text
        steps = [oracle.over_time(self.plain, record, {}) for record in self.case.records]
        assert [found.tolist() for found in self.formula.over_time(self.panel)] == steps, self.text
        for seed in range(3):  # cut into rules of a grammar here and there
            rules, symbols, population = derived(random.Random(seed), [self.formula.expression])
            found = PopulationEvaluator(self.panel, rules, Tables.of(rules, symbols)).truth(population)
            assert found.tolist() == [self.truth], self.text

    def check_robustness(self):
        judge, margins = JudgedRobustness(self.case.records, {}), Robustness(self.panel)
        wanted = [judge.over_time(self.plain, record) for record in self.case.records]
        found = [margins.over_time(self.formula.expression, i) for i in range(len(wanted))]
        assert list(map(len, found)) == list(map(len, wanted))
        np.testing.assert_allclose(np.concatenate(found), np.concatenate(wanted), rtol=1e-9, atol=1e-300)
        rules, symbols, population = derived(random.Random(1), [self.formula.expression])
        found = PopulationEvaluator(self.panel, rules, Tables.of(rules, symbols)).robustness(population)
        np.testing.assert_allclose(found, [judge.of_split(self.plain, self.case.records)], rtol=1e-9)

    def check_decisive_steps(self):
        lengths = self.panel.lengths.tolist()
        steps = decisive_steps(self.formula, self.panel).tolist()
        assert all(0 <= step < length for step, length in zip(steps, lengths, strict=True))

    def check_english(self):
        said = english(self.formula.expression, self.panel.schema)
        again = Formula.from_english(said, self.panel.schema)
        assert again(self.panel).tolist() == self.truth, f"{self.text}\n{said}\n{again}"
        assert english(self.formula.expression, self.panel.schema, style="paper")

    def check_implication(self):
        """Of two equal formulas one is redundant, and nothing follows from nothing but what is always true."""
        assert not all(redundant([(self.formula, True), (self.formula, True)])) or all(self.truth)
        assert redundant([(self.formula, True)]) == [False] or all(self.truth)

    @property
    def tree(self):
        yes, no = class_leaf((1, 0), (1.0, 0.0)), class_leaf((0, 1), (0.0, 1.0))
        return class_tree(Node(self.formula, yes, no), ("yes", "no"), self.panel.schema)

    def check_sql(self):
        query = self._exported("sql")
        if query is not None and not _equals_a_sum_of_shares(self.plain):
            wanted = [(i, 1 if true else 2, "yes" if true else "no") for i, true in enumerate(self.truth)]
            assert answered(_filled(), query) == wanted, self.text

    def check_python(self, folder):
        module = self._exported("python")
        if module is not None:
            wanted = [[1 if true else 2, "yes" if true else "no"] for true in self.truth]
            assert run_module(module, self.case, folder) == wanted, self.text

    def check_stl(self):
        self._exported("stl")

    def _exported(self, target):
        """Return the export; None if it is refused with a clear message."""
        try:
            return export_model(self.tree, target)
        except SettingsError as error:
            assert "cannot be exported to" in str(error)  # noqa: PT017  either is right
            return None
