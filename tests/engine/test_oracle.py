"""The evaluator judged by the oracle, on random formulas over random ragged mixed panels."""

import functools
import math
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import oracle
from tests.support.effort import examples, few_fast
from tests.support.engines import engine_for
from tests.support.evaluation_paths import every_path
from tests.support.strategies import (
    FUNCTIONS,
    PLAIN_FUNCTIONS,
    Case,
    Column,
    RandomFormulas,
    cut,
    derived,
    draw_case,
    draw_columns,
    panel_of,
)

from telltree.engine import Formula, truth_of
from telltree.engine.evaluator import merge_shards
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.tables import Tables
from telltree.logic import Attribute, Expression, Number, Type, operator_named
from telltree.panel import Panel

# The bulk: 10 seeds × 10 families × 25 formulas × 4 panels = 10,000 cases.
SEEDS, FAMILIES, FORMULAS = 10, 10, 25
SMALL = ((1, (1, 2)), (2, (2, 3)), (3, (1, 2, 7)), (5, (1, 1, 4, 9)))  # records, and lengths to choose from
# Few records have 1,000 steps, for the oracle's time grows with the cube of that; others have more than a byte counts.
LARGE = (
    (1, (63,)), (1, (64,)), (1, (65,)), (1, (1000, 300, 300)), (2, (1, 200)), (63, (1, 2)), (64, (1, 2)), (65, (1, 2)),
    (130, (1, 2)), (66, (1, 1, 1, 1, 1, 1, 65)),
)  # fmt: skip
SHAPES = (*SMALL * 5, *LARGE)


def judged(formulas, records):
    """What the oracle says: for each formula and each record, the truth at every step."""
    return [[oracle.over_time(formula, record, PLAIN_FUNCTIONS) for record in records] for formula in formulas]


def parsed(texts, panel):
    return [Formula.parse(text, panel.schema, functions=FUNCTIONS) for text in texts]


def assert_truth(found, texts, judgement, case):
    assert found.dtype == np.bool_
    for text, answer, steps in zip(texts, found.tolist(), judgement, strict=True):
        assert answer == [record[0] for record in steps], f"{text}\non {case.seen}"


def assert_over_time(formula, judgement, case):
    found = [steps.tolist() for steps in formula.over_time(case.panel)]
    assert found == judgement, f"{formula}\non {case.seen}"


def draw_family(rng, formulas, depth=5):
    """Columns, and formulas over them as tuples and as text."""
    columns = draw_columns(rng)
    draw = RandomFormulas(rng, columns)
    plain = [draw.boolean(rng.randint(1, depth)) for _ in range(formulas)]
    return columns, plain, [oracle.text(formula, rng) for formula in plain]


def draw_lengths(rng, shape):
    number, lengths = shape
    return [rng.choice(lengths) for _ in range(number)] if number > len(lengths) else rng.sample(lengths, number)


@pytest.mark.parametrize("seed", few_fast(range(SEEDS)))
def test_ten_thousand_random_cases_agree(seed):
    rng = random.Random(seed)
    shapes = rng.sample(SHAPES, len(SHAPES))
    for _ in range(FAMILIES):
        columns, plain, texts = draw_family(rng, FORMULAS)
        cases = [draw_case(rng, columns, draw_lengths(rng, shapes.pop())) for _ in range(3)]
        formulas = parsed(texts, cases[0].panel)
        expressions = [formula.expression for formula in formulas]
        for case in cases:
            judgement = judged(plain, case.records)
            for found in every_path(expressions, case, rng).values():
                assert_truth(found, texts, judgement, case)
        part = cut(rng, case)
        judgement = [[steps[row] for row in part.rows] for steps in judgement]
        for found in every_path(expressions, part, rng).values():
            assert_truth(found, texts, judgement, part)
        assert_truth(truth_of(expressions, part.panel), texts, judgement, part)
        for formula, steps in zip(formulas, judgement, strict=True):
            assert_over_time(formula, steps, part)


@examples(100)
@given(st.randoms(use_true_random=False))
def test_small_cases_agree(rng):
    columns, plain, texts = draw_family(rng, 1, depth=3)
    case = draw_case(rng, columns, [rng.randint(1, 3) for _ in range(rng.randint(1, 3))])
    (formula,) = parsed(texts, case.panel)
    judgement = judged(plain, case.records)
    assert_truth(formula(case.panel)[None], texts, judgement, case)
    assert_over_time(formula, judgement[0], case)


@pytest.mark.parametrize("seed", few_fast(range(6), 2))
def test_derivations_of_any_grammar_agree(seed):
    rng = random.Random(seed)
    for _ in range(5):
        columns, plain, texts = draw_family(rng, 40)
        case = draw_case(rng, columns, [rng.choice((1, 1, 2, 3, 7)) for _ in range(rng.choice((1, 5, 65)))])
        judgement = judged(plain, case.records)
        expressions = [formula.expression for formula in parsed(texts, case.panel)]
        rules, symbols, population = derived(rng, expressions)
        evaluator = PopulationEvaluator(case.panel, rules, Tables.of(rules, symbols))
        assert_truth(evaluator.truth(population), texts, judgement, case)
        for i in range(0, 40, 4):
            found = [steps.tolist() for steps in evaluator.trace(population, i)]
            assert found == judgement[i], f"{texts[i]}\non {case.seen}"


GRAMMARS = {
    "the paper's": """
        Start ::= B
        B     ::= Ev | Gl
        Ev    ::= F(VB)
        Gl    ::= G(VB)
        VB    ::= x1 | x2 | And | Lt
        And   ::= VB and VB
        Lt    ::= VR < C
        VR    ::= x3 | x4
        C     ::= 1 | 2
        """,
    "an atom beside a temporal operator": """
        Start ::= F(x3 < C and G(B))
        B     ::= x1 | not x2
        C     ::= 1 | 2
        """,
    "an atom beside a count": """
        Start ::= count(x3 >= C) = count(B)
        B     ::= x1 | x1 and x2
        C     ::= 1 | 2
        """,
    "a function beside a formula": """
        Start ::= G(B or so_far(B))
        B     ::= x1 | F(x1 and not x2)
        """,
}


@pytest.mark.parametrize("name", GRAMMARS)
def test_whatever_a_grammar_can_say_is_judged_as_if_said_alone(name):
    rng = random.Random(0)
    columns = tuple(
        Column(x, kind)
        for x, kind in zip(("x1", "x2", "x3", "x4"), ("Boolean", "Boolean", "real", "real"), strict=True)
    )
    case = draw_case(rng, columns, [rng.randint(1, 4) for _ in range(70)])
    grammar = Grammar.parse(GRAMMARS[name], case.panel, functions=FUNCTIONS)
    derivations = list(grammar.enumerate(10))[:300]
    population = Population.of(derivations, constants=False)
    found = PopulationEvaluator(case.panel, grammar.rules, grammar.tables).truth(population)
    alone = [Formula(derivation.expression)(case.panel).tolist() for derivation in derivations]
    for derivation, together, right in zip(derivations, found.tolist(), alone, strict=True):
        assert together == right, str(derivation)


@functools.cache
def a_case(seed=0, formulas=60, depth=5):
    rng = random.Random(seed)
    columns, plain, texts = draw_family(rng, formulas, depth)
    case = draw_case(rng, columns, [rng.randint(1, 9) for _ in range(100)])
    return case, plain, texts, parsed(texts, case.panel)


@functools.cache
def judgement_of(seed):
    """What the oracle says of that case, which several tests ask."""
    case, plain, _, _ = a_case(seed)
    return judged(plain, case.records)


def test_many_at_once_and_one_by_one_are_the_same():
    case, _, _, formulas = a_case()
    at_once = truth_of([formula.expression for formula in formulas], case.panel)
    assert at_once.tolist() == [formula(case.panel).tolist() for formula in formulas]


def test_the_truth_of_a_record_is_the_first_step_of_its_truth_over_time():
    case, _, _, formulas = a_case(1)
    for formula in formulas:
        assert formula(case.panel).tolist() == [bool(steps[0]) for steps in formula.over_time(case.panel)]


def test_a_record_is_judged_alike_in_any_company():
    case, _, _, formulas = a_case(2)
    expressions = [formula.expression for formula in formulas]
    together = truth_of(expressions, case.panel)
    for i in (0, 17, 63, 64, 99):
        assert truth_of(expressions, case.panel[[i]])[:, 0].tolist() == together[:, i].tolist()
    backwards = truth_of(expressions, case.panel[::-1])
    assert backwards.tolist() == together[:, ::-1].tolist()


def engine_of(case, formulas, **settings):
    """An engine as `engine_for` makes it, but for memory and threads."""
    evaluator, population = engine_for(case.panel, [formula.expression for formula in formulas])
    return PopulationEvaluator(case.panel, evaluator._rules, evaluator._tables, **settings), population


def test_threads_change_nothing():
    case, _, texts, formulas = a_case(3)
    evaluator, population = engine_of(case, formulas, threads=2)
    assert_truth(evaluator.truth(population), texts, judgement_of(3), case)


@pytest.mark.parametrize("capacity", [None, 100, 12, 3, 1])
@pytest.mark.parametrize("threads", [1, 2])
def test_little_memory_changes_nothing(capacity, threads):
    case, _, texts, formulas = a_case(4)
    evaluator, population = engine_of(case, formulas, memory=1, threads=threads)
    if capacity is not None:
        evaluator._bitsets.capacity = capacity
    judgement = judgement_of(4)
    for _ in range(2):  # the second time with bitsets left over from the first
        assert_truth(evaluator.truth(population), texts, judgement, case)
    with_room, _ = engine_of(case, formulas)
    assert_alike(tally_of(evaluator, population), tally_of(with_room, population))
    assert evaluator.robustness(population).tolist() == with_room.robustness(population).tolist()


def tally_of(evaluator, population):
    """What an engine says of the formulas, with counts of two groups of records."""
    even = np.arange(len(evaluator.panel)) % 2 == 0
    return evaluator.evaluate(population, np.arange(len(population.lengths)), evaluator.layout.masks([even, ~even]))


def assert_alike(one, other):
    for name in ("counts", "members", "answer", "size"):
        assert getattr(one, name).tolist() == getattr(other, name).tolist(), name


@pytest.mark.parametrize("bounds", [(0, 1, 5), (0, 2, 3, 4, 5), (0, 3, 5)])
def test_shards_find_together_what_one_finds_alone(bounds):
    rng = random.Random(13)
    columns, _, texts = draw_family(rng, 40)
    case = draw_case(rng, columns, [rng.choice((1, 2, 3, 9)) for _ in range(300)])
    alone, population = engine_of(case, parsed(texts, case.panel))
    even, parts = np.arange(300) % 2 == 0, []
    for low, high in pairwise(bounds):
        records = np.sort(alone.layout.order[64 * low : 64 * high])
        shard = PopulationEvaluator(case.panel[records], alone._rules, alone._tables, alone.signals, before=low)
        masks = shard.layout.masks([even[records], ~even[records]])
        parts.append(shard.shard_tally(population, np.arange(40), masks))
    assert_alike(merge_shards(parts).final(), tally_of(alone, population))
    assert_alike(merge_shards([parts[0], merge_shards(parts[1:])]).final(), tally_of(alone, population))


@pytest.fixture(scope="module")
def many_records():
    """Formulas on records of five blocks, and what the oracle says."""
    rng = random.Random(12)
    columns, plain, texts = draw_family(rng, 40)
    case = draw_case(rng, columns, [rng.choice((1, 2, 3, 9)) for _ in range(300)])
    return case, texts, judged(plain, case.records)


@pytest.mark.parametrize("words", [1, 9, 30])
def test_blocks_may_be_worked_on_together_or_alone(words, many_records, monkeypatch):
    case, texts, judgement = many_records
    monkeypatch.setattr("telltree.engine.bitset_layout.TILE", words)
    monkeypatch.setattr("telltree.engine.evaluator.TILE", words)
    formulas = parsed(texts, case.panel)
    assert_truth(truth_of([formula.expression for formula in formulas], case.panel), texts, judgement, case)
    for formula, steps in zip(formulas[:10], judgement[:10], strict=True):
        assert_over_time(formula, steps, case)


@pytest.mark.parametrize("number", [0, 1, 7, 8, 9, 16, 21])
@pytest.mark.parametrize("threads", [1, 2])
def test_true_records_are_counted_group_by_group(threads, number):
    case, _, _, formulas = a_case(10)
    evaluator, population = engine_of(case, formulas, threads=threads)
    rng = np.random.default_rng(0)
    groups = rng.random((number, len(case.panel))) < 0.5
    wanted = rng.permutation(len(formulas))[:25]
    tally = evaluator.evaluate(population, wanted, evaluator.layout.masks(list(groups)))
    truth = evaluator.truth(population)[wanted]
    assert tally.counts.tolist() == [[int(np.sum(row & group)) for group in groups] for row in truth]
    assert tally.members[:, 0].tolist() == truth.sum(axis=1).tolist()
    assert tally.size.tolist() == [formulas[i].terminals for i in wanted]


def test_formulas_that_split_records_alike_have_the_same_answer_and_no_others():
    case, _, _, formulas = a_case(11, formulas=100, depth=2)
    negated = [Formula(Expression(operator_named("not"), (formula.expression,))) for formula in formulas]
    evaluator, population = engine_of(case, [*formulas, *negated])
    answer = evaluator.evaluate(population, np.arange(200), evaluator.layout.masks([])).answer.tolist()
    splits = [tuple(steps == row[0] for steps in row) for row in evaluator.truth(population).tolist()]
    assert answer[:100] == answer[100:]
    assert len(set(answer)) == len(set(splits)) == len(set(zip(answer, splits, strict=True)))


def test_more_atoms_than_are_made_at_a_time():
    levels = [k / 100 for k in range(5000)]
    records = ({"x": [1.0, None, 30.0]}, {"x": [math.nan]}, {"x": [7.005, 7.0]}, {"x": [0.0, math.inf]})
    case = Case((Column("x", "real"),), records)
    x, step = Expression(Attribute("x", Type.REAL_VECTOR)), operator_named
    formulas = [Expression(step("F"), (Expression(step(">"), (x, Expression(Number(level)))),)) for level in levels]
    plain = [("F", (">", ("x", "x"), ("number", level))) for level in levels]
    assert_truth(truth_of(formulas, case.panel), levels, judged(plain, records), case)


def test_a_formula_with_more_atoms_than_memory_holds():
    rng = random.Random(5)
    records = tuple({"x": [float(rng.randrange(100)) for _ in range(rng.randint(1, 3))]} for _ in range(9))
    case = Case((Column("x", "real"),), records)
    some = ("=", ("x", "x"), ("number", 0.0))
    for level in range(1, 40):
        some = ("or", some, ("=", ("x", "x"), ("number", float(level))))
    plain = [("F", some), ("G", some)]
    texts = [oracle.text(formula, rng) for formula in plain]
    evaluator, population = engine_of(case, parsed(texts, case.panel))
    evaluator._bitsets.capacity = 10
    assert_truth(evaluator.truth(population), texts, judged(plain, records), case)


def test_columns_that_are_not_contiguous():
    rng = random.Random(6)
    cube = np.array([[[rng.choice((0.0, 1.0, 2.0, np.nan)) for _ in "xyz"] for _ in range(5)] for _ in range(70)])
    panel = Panel.from_arrays(cube, layout="records, steps, columns")
    records = [{f"x{k + 1}": record[:, k].tolist() for k in range(3)} for record in cube]
    for plain in (
        ("F", ("<", ("x", "x1"), ("number", 1.0))),
        ("G", (">=", ("abs", ("-", ("x", "x2"), ("x", "x3"))), ("number", 1.0))),
        ("F", ("missing", ("x", "x3"))),
    ):
        formula = Formula.parse(oracle.text(plain, rng), panel.schema)
        assert formula(panel).tolist() == [oracle.truth(plain, record, {}) for record in records]


def test_printed_formulas_read_back_as_themselves():
    case, _, _, formulas = a_case(7)
    for formula in formulas:
        assert Formula.parse(str(formula), case.panel.schema, functions=FUNCTIONS) == formula


def test_the_drawn_formulas_tell_records_apart():
    case, plain, _, _ = a_case(8, formulas=200)
    constant = sum(len({steps[0] for steps in records}) == 1 for records in judged(plain, case.records))
    assert constant < 120


def test_the_oracle_on_the_formula_of_its_description():
    formula = ("F", ("and", ("x", "on"), ("<", ("x", "alt"), ("number", 2.0))))
    assert oracle.over_time(formula, {"on": [True, None, True], "alt": [1.0, 1.0, 2.0]}, {}) == [True, False, False]
    assert oracle.over_time(formula, {"on": [False, True], "alt": [1.0, 1.0]}, {}) == [True, True]


def test_a_case_reads_back_from_its_panel():
    rng = random.Random(9)
    case = cut(rng, draw_case(rng, draw_columns(rng), [1, 4, 2, 3]))
    assert isinstance(case, Case)
    assert len(panel_of(case.columns, case.records)) == 4
    for i, record in enumerate(case.seen):
        for name, found in case.panel.record(i).items():
            wanted = [None if value is oracle.UNSEEN or oracle.is_nan(value) else value for value in record[name]]
            assert [None if oracle.is_nan(value) else value for value in found.tolist()] == wanted
