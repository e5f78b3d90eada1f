"""All paths by which telltree evaluates a formula, each called by itself. They must agree.

The library chooses a way by how much there is to do, so a small case would otherwise try only one of them. Memory can
be filled with garbage, since fresh memory is mostly zero and hides what was never written.
"""

import random
import runpy
from contextlib import ExitStack, contextmanager
from types import SimpleNamespace
from unittest.mock import patch

import numpy as np

from tests.support import oracle
from tests.support.class_trees import class_leaf, class_tree
from tests.support.random_trees import plain_value
from tests.support.strategies import FUNCTIONS, PLAIN_FUNCTIONS, derived, draw_case, draw_columns

from telltree.engine import Formula, bitset_layout, bitset_windows, bitsets, machine, robustness, trace, use_evaluator
from telltree.engine.formula_evaluator import FormulaEvaluator
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.engine.trace import Tracer, signals_of
from telltree.grammar import Grammar
from telltree.grammar.tables import Tables
from telltree.models.export import export_model
from telltree.scale.out_of_core import OutOfCoreShards
from telltree.scale.shards import ShardedBackend
from telltree.tree import Node

_GARBAGE = np.frombuffer(random.Random(0).randbytes(1 << 22), np.uint8)
"""As much as is filled: of larger arrays, such as memory that is reserved for bitsets, only the beginning."""
_MAKERS = (
    (machine.Registers, "empty"),
    (machine.Counting, "empty"),
    (machine.Tally, "empty"),
    (bitset_windows.WindowMemory, "empty"),
    (robustness.RobustnessRegisters, "of"),
    (trace.TraceMemory, "empty"),
)
"""Functions from which compiled code and traces get their working memory."""


def _fill(array):
    octets = array.reshape(-1).view(np.uint8)[: len(_GARBAGE)]
    octets[:] = _GARBAGE[: len(octets)] & (1 if array.dtype == np.bool_ else 255)
    return array


@contextmanager
def garbage_in_memory():
    """Fill bitsets, registers and results with random bits before they are used: none may be read before it is written.

    NumPy itself is left alone, for the compiler looks up what it knows of it by name.
    """

    def filling(maker):
        def made(cls, *args, **options):
            found = maker(*args, **options)
            for array in found:
                _fill(array)
            return found

        return classmethod(made)

    with ExitStack() as patches:
        for owner, name in _MAKERS:
            patches.enter_context(patch.object(owner, name, filling(getattr(owner, name))))
        memory = SimpleNamespace(**(vars(np) | {"empty": lambda *args: _fill(np.empty(*args))}))
        patches.enter_context(patch.object(bitset_layout, "np", memory))
        yield


@contextmanager
def _walking(compiled):
    with use_evaluator("compiled" if compiled else "interpreted"):
        yield


def walked(expressions, panel, *, compiled):
    """By tracing, in plain Python or compiled; formulas × records."""
    with _walking(compiled):
        return np.array([Tracer(panel).trace(e).truth[0] for e in expressions]).reshape(len(expressions), len(panel))


def walked_over_time(expression, panel, *, compiled):
    """The same at every step of every record."""
    with _walking(compiled):
        found = Tracer(panel).trace(expression, follow=[expression])
    return [found.part_truth(expression, record).tolist() for record in range(len(panel))]


def by_formulas(expressions, panel):
    """By the compiled machine, as trees, users and reports ask."""
    return FormulaEvaluator(panel).truth(expressions)


def traced(expression, panel):
    """The same at every step of every record."""
    return [steps.tolist() for steps in FormulaEvaluator(panel).trace([expression], 0)]


def by_engine(expressions, panel, rng, **settings):
    """By the compiled machine, as a search asks: derivations of a grammar that says these formulas."""
    rules, symbols, population = derived(rng, expressions)
    return PopulationEvaluator(panel, rules, Tables.of(rules, symbols), **settings).truth(population)


def by_halves(expressions, panel, rng):
    """The same with memory for few bitsets: records are halved again and again, down to a block, and the tallies
    merged."""
    rules, symbols, population = derived(rng, expressions)
    with patch.object(bitsets, "_LEAST_BITSETS", 1):  # also of the halves
        return PopulationEvaluator(panel, rules, Tables.of(rules, symbols), memory=1).truth(population)


def by_shards(expressions, panel, rng):
    """By shards that take turns, cut anywhere, as trees ask of records that do not fit into memory."""
    inner = {rng.randrange(len(panel)) for _ in range(rng.randint(1, 3))}
    grammar = Grammar.parse("Start ::= F(length() > 0)", panel)  # it is asked of other formulas
    places = OutOfCoreShards(panel, grammar, sorted({0, *inner, len(panel)}), threads=1, memory=1)
    backend = ShardedBackend(places, panel.schema, grammar, signals_of(panel).deviation)
    return backend.formulas(np.arange(len(panel))).truth(expressions)


def by_module(expressions, case, folder):
    """By an exported Python module: all formulas are the branches of one tree."""

    def node(below):
        """Branches in preorder, the true side first, as modules number them."""
        if not below:
            return class_leaf((1, 1))
        middle = len(below) // 2 + 1
        return Node(Formula(below[0]), node(below[1:middle]), node(below[middle:]))

    path = folder / "exported.py"
    path.write_text(
        export_model(class_tree(node(expressions), ("no", "yes"), case.panel.schema), "python"), encoding="utf-8"
    )
    branches = runpy.run_path(str(path))["BRANCHES"]
    assert len(branches) == len(expressions)
    records = [{name: [plain_value(x) for x in steps] for name, steps in record.items()} for record in case.seen]
    return np.array([[bool(formula(record)) for record in records] for formula, _, _ in branches])


def every_path(expressions, case, rng, folder=None):
    """The answers of all ways, by name: formulas × records. Exported modules have no user functions: without a folder
    they are left out."""
    panel = case.panel
    found = {
        "plain walk": walked(expressions, panel, compiled=False),
        "compiled walk": walked(expressions, panel, compiled=True),
        "formulas": by_formulas(expressions, panel),
        "search engine": by_engine(expressions, panel, rng),
        "halves": by_halves(expressions, panel, rng),
        "shards": by_shards(expressions, panel, rng),
    }
    if folder is not None:
        found["exported module"] = by_module(expressions, case, folder)
    return found


LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 13)


def edge_case(rng, columns):
    """Few long records or many short ones, about the sizes of vectors, words and blocks."""
    if rng.random() < 0.2:
        return draw_case(rng, columns, [rng.choice((31, 33, 63, 64, 65)) for _ in range(rng.randint(1, 2))])
    longest = rng.choice(LENGTHS)
    number = rng.choice((1, 5, 63, 64, 65))
    return draw_case(rng, columns, [rng.choice((longest, rng.randint(1, longest))) for _ in range(number)])


def assert_every_path_agrees(rng, draw_formulas, number, folder=None):
    """Draw a case and so many formulas, and ask every path for their answers, also at every step."""
    columns = draw_columns(rng)
    case, draw = edge_case(rng, columns), draw_formulas(rng, columns)
    plain = [draw.boolean(rng.randint(1, 4)) for _ in range(number)]
    texts = [oracle.text(formula, rng) for formula in plain]
    expressions = [Formula.parse(text, case.panel.schema, functions=FUNCTIONS).expression for text in texts]
    judged = [[oracle.over_time(formula, record, PLAIN_FUNCTIONS) for record in case.records] for formula in plain]
    for path, found in every_path(expressions, case, rng, folder).items():
        for text, answers, records in zip(texts, found.tolist(), judged, strict=True):
            assert answers == [steps[0] for steps in records], f"{path}: {text}\non {case.seen}"
    for text, expression, records in zip(texts, expressions, judged, strict=True):
        assert traced(expression, case.panel) == records, f"machine, over time: {text}\non {case.seen}"
        followed = walked_over_time(expression, case.panel, compiled=True)
        assert followed == records, f"walk, over time: {text}\non {case.seen}"
