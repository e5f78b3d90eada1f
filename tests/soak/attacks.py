"""The attacks of the soak: each draws one random case and asserts that nothing about it is wrong.

Answers are judged by the oracle. Files and texts that were damaged must be read, or refused by one of telltree's own
errors with a message of readable length; those that ever did otherwise are kept in `corpus/`, by kind.
"""

import math
import random
import warnings
from pathlib import Path

import numpy as np
from sklearn.base import clone

from tests.grammar.test_errors import SIGNS, WHOLE, WORDS
from tests.models.test_export_programs import asked, run_module, several_steps
from tests.models.test_export_stl import assert_robust
from tests.panel.test_damaged_files import FORMATS
from tests.panel.test_damaged_files import mutant as table_mutant
from tests.panel.test_naming import NUMBERS, TEXTS, everywhere, frame_of
from tests.search.test_exhaustive import SCOPES, assert_proved
from tests.support import oracle
from tests.support.evaluation_paths import assert_every_path_agrees, garbage_in_memory
from tests.support.grammar_catalogue import SCHEMA
from tests.support.mixed_records import MIXED, mixed_records
from tests.support.model_mutants import mutant as model_mutant
from tests.support.random_trees import PlainFormulas, draw_tree_case, expected
from tests.support.speech_truth import checked, draw_subject, leaf_of, true_of
from tests.support.strategies import (
    FUNCTIONS,
    PLAIN_FUNCTIONS,
    RandomFormulas,
    cut,
    derived,
    draw_case,
    draw_columns,
    panel_of,
)
from tests.tree.test_optimal import assert_optimal

from telltree import GrammarTreeClassifier, load
from telltree.engine import Formula, truth_of
from telltree.engine.population_evaluator import PopulationEvaluator
from telltree.errors import LONGEST_MESSAGE, DataWarning, TelltreeError
from telltree.explain import english
from telltree.grammar import Grammar
from telltree.grammar.tables import Tables
from telltree.models.export import export_model
from telltree.panel.column_checks import unusable
from telltree.search import CrossEntropy, GeneticProgramming, GrammaticalEvolution, MonteCarlo, Pipe
from telltree.tree import MDL, GiniSize, Greedy

TESTS = Path(__file__).parents[1]
LABELS = ("safe", "it's", 'say "hi"', "émigré")
LENGTHS = ((1,), (1, 2), (1, 2, 7), (1, 1, 4, 9), (63, 64, 65), (1, 200))
RECORDS = (1, 2, 5, 20, 63, 64, 65)


# ---- formulas, searches and trees


def evaluation(rng, folder):
    """Random formulas over random records mean what the oracle says, at every step and by every path: walked, compiled,
    in a search, in shards and in an exported module, whatever memory held before."""
    with garbage_in_memory():
        assert_every_path_agrees(rng, PlainFormulas, 100, folder)
        assert_every_path_agrees(rng, RandomFormulas, 25)


def parts(rng, folder):
    """Random formulas over records cut to a part, in any order, mean what the oracle says, and read back as printed."""
    columns = draw_columns(rng)
    draw = RandomFormulas(rng, columns)
    plain = [draw.boolean(rng.randint(1, 5)) for _ in range(10)]
    case = cut(rng, draw_records(rng, columns))
    formulas = [Formula.parse(oracle.text(f, rng), case.panel.schema, functions=FUNCTIONS) for f in plain]
    judged = [[oracle.over_time(f, record, PLAIN_FUNCTIONS) for record in case.seen] for f in plain]
    found = truth_of([formula.expression for formula in formulas], case.panel).tolist()
    assert found == [[steps[0] for steps in records] for records in judged]
    for formula, records in zip(formulas, judged, strict=True):
        assert Formula.parse(str(formula), case.panel.schema, functions=FUNCTIONS) == formula
        assert [steps.tolist() for steps in formula.over_time(case.panel)] == records, str(formula)


def proofs(rng, folder):
    """An exhaustive search proves what brute force finds, and so does the search for the best tree over a pool."""
    for _ in range(4):
        values = {"on": (True, False, None), "off": (True, False, None)}
        values |= dict.fromkeys(("x", "y"), (0.0, 0.5, 1.0, 2.0, None))
        records = [
            [{name: rng.choice(choices) for name, choices in values.items()} for _ in range(rng.randint(1, 4))]
            for _ in range(rng.randint(2, 7))
        ]
        labels = [rng.randrange(3) for _ in records]
        assert_proved(rng.choice(SCOPES), rng.choice((None, *range(3, 12))), records, labels, rng.choice((0.0, 0.35)))
    for _ in range(8):
        levels = rng.randint(1, 3)
        number, count = rng.randint(1, 5 if levels < 3 else 3), rng.randint(1, 90 if levels == 1 else 12)
        truth = np.array([[rng.random() < 0.5 for _ in range(count)] for _ in range(number)])
        classes = rng.randint(2, 3)
        codes = [rng.randrange(classes) for _ in range(count)]
        weights = rng.choice((None, [rng.randint(1, 3) for _ in range(count)]))
        prices = [rng.choice((0.0, 0.25, 1.0, 3.0)) for _ in range(number)]
        assert_optimal((truth, codes, weights, classes, prices, rng.randint(1, 3), levels), rng.random() < 0.5)


def derivations(rng, folder):
    """Derivations of a grammar that says random formulas, evaluated as such, mean what the formulas do."""
    columns = draw_columns(rng)
    draw = RandomFormulas(rng, columns)
    plain = [draw.boolean(rng.randint(1, 4)) for _ in range(20)]
    case = draw_records(rng, columns)
    schema = case.panel.schema
    formulas = [Formula.parse(oracle.text(f, rng), schema, functions=FUNCTIONS).expression for f in plain]
    rules, symbols, population = derived(rng, formulas)
    found = PopulationEvaluator(case.panel, rules, Tables.of(rules, symbols)).truth(population).tolist()
    assert found == [[oracle.truth(f, record, PLAIN_FUNCTIONS) for record in case.records] for f in plain]


def learning(rng, folder):
    """A tree learned from random records predicts as its formulas mean; saved and loaded, weighed in another unit and
    learned on other numbers of threads it is the same."""
    columns = draw_columns(rng)
    case = draw_case(rng, columns, [rng.choice((1, 2, 5)) for _ in range(rng.randint(4, 40))])
    labels = draw_labels(rng, columns, case)
    grammar = draw_grammar(rng, columns, case.panel) if rng.random() < 0.6 else None
    weights = [rng.choice((0.0, 1.0, 0.3, 7.0)) for _ in labels] if rng.random() < 0.4 else None
    if weights is not None:
        weights[0] = 1.0
    model = learned(draw_model(rng, grammar), case.panel, labels, weights)
    tree = model.tree_
    homes = [leaf_of(tree, record) for record in case.records]
    assert tree.apply(case.panel).tolist() == homes
    for number, (leaf, _) in enumerate(tree.leaves, 1):
        own = [i for i, home in enumerate(homes) if home == number and (weights is None or weights[i])]
        assert leaf.summary.counts == tuple(sum(labels[i] == label for i in own) for label in tree.target.classes)
    scaled = None if weights is None else [3.7 * weight for weight in weights]
    again = learned(clone(model).set_params(n_jobs=2), case.panel, labels, scaled)
    assert again.tree_ == tree
    there, back = folder / "there.json", folder / "back.json"
    model.save(there, overwrite=True)
    loaded = load(there)
    loaded.save(back, overwrite=True)
    assert there.read_bytes() == back.read_bytes()
    assert loaded.predict(case.panel).tolist() == model.predict(case.panel).tolist()
    assert loaded.tree_ == tree


def speech(rng, folder):
    """Nothing that is told of a tree is refuted by its records."""
    verdict = checked(draw_subject(rng.randrange(1 << 40)))
    assert not verdict.refuted, verdict.refuted[0]


def grammars(rng, folder):
    """A random grammar reads back as itself, and every formula that is found in it can be derived."""
    columns = draw_columns(rng)
    case = draw_records(rng, columns)
    grammar = draw_grammar(rng, columns, case.panel)
    assert Grammar.parse(str(grammar), case.panel.schema) == grammar
    for _ in range(20):
        expression = grammar.draw(rng.randrange(1 << 30), max_depth=grammar.least_depth + rng.randint(0, 4)).expression
        assert grammar.derive(expression).expression == expression
        found = Formula(expression)(case.panel).tolist()
        assert found == [true_of(expression, record) for record in case.records], str(expression)


# ---- exports and inputs


def programs(rng, folder):
    """SQL, in two databases, and the Python module say of each record what the tree says."""
    tree, case = draw_tree_case(rng)
    clusters, labels = expected(tree, case)
    assert clusters == [leaf_of(tree, record) for record in case.records]
    found = asked(case, export_model(tree, "sql"))
    assert found == list(zip(range(len(clusters)), clusters, labels, strict=True))
    found = run_module(export_model(tree, "python"), several_steps(case), folder)
    assert found == [list(pair) for pair in zip(clusters, labels, strict=True)]


def stl(rng, folder):
    """Signal temporal logic is robust where a record is of the category; a robustness of 0 says nothing."""
    tree, case = draw_tree_case(rng, finite=True, counts=False)
    clusters, _ = expected(tree, case)
    number = rng.randint(1, len(tree.leaves))
    text = export_model(tree, "stl", category=number)
    assert_robust(text, case, [cluster == number for cluster in clusters])


def inputs(rng, folder):
    """One table is one panel, in whatever form it comes."""
    pool = rng.choice(((*NUMBERS, math.nan), (*range(-3, 4), 2**53, 2**53 + 1), (*TEXTS, None), (True, False)))
    frame = frame_of([rng.choice(pool) for _ in range(rng.randint(1, 8))])
    panels = everywhere(frame)
    unlike = [source for source, panel in panels.items() if panel != panels["pandas"]]
    assert not unlike, f"{unlike} of {frame['c'].tolist()}"


# ---- damaged files and texts


def read_grammar(content, folder):
    grammar = Grammar.parse(content.decode(errors="replace"), SCHEMA)
    assert Grammar.parse(str(grammar), grammar.schema) == grammar


def read_model(content, folder):
    (folder / "model.json").write_bytes(content)
    model = load(folder / "model.json")
    model.save(folder / "again.json", overwrite=True)
    assert load(folder / "again.json").tree_ == model.tree_
    model.rules()
    model.predict(panel_of(MIXED, mixed_records(3)))


def read_formula(content, folder):
    formula = Formula.parse(content.decode(errors="replace"), SCHEMA)
    assert Formula.parse(str(formula), SCHEMA) == formula


def read_english(content, folder):
    formula = Formula.from_english(content.decode(errors="replace"), SCHEMA)
    said = english(formula, SCHEMA)
    assert english(Formula.from_english(said, SCHEMA), SCHEMA) == said


READERS = {"grammar": read_grammar, "model": read_model, "formula": read_formula, "english": read_english}
READERS |= {name: act for name, (_, act, _) in FORMATS.items()}
"""By kind of file: what is done with one that is damaged."""

PIECES = [piece.encode(errors="surrogatepass") for piece in (SIGNS + WORDS).split(" ")]


class Damaged(Exception):  # noqa: N818 - what it holds is the matter
    """The content of a file that was neither read nor refused; its cause is what came instead."""

    def __init__(self, kind, content):
        super().__init__(f"a damaged {kind} was neither read nor refused")
        self.kind, self.content = kind, content


def judge(kind, content, folder):
    """Read content of a kind: it may be refused, with a short message; any other error is a fault."""
    try:
        READERS[kind](content, folder)
    except TelltreeError as error:
        if len(str(error)) > LONGEST_MESSAGE + 200:
            raise Damaged(kind, content) from error
    except Exception as error:
        raise Damaged(kind, content) from error


def damaged(rng, folder):
    """Files and texts of every kind, each changed in a few places."""
    judge("grammar", changed(rng, WHOLE.encode()), folder)
    models = sorted((TESTS / "models" / "golden").glob("[lm]*.json"))
    for _ in range(60):
        judge("model", model_mutant(rng, rng.choice(models).read_bytes()), folder)
    for kind, (content, _, _) in FORMATS.items():
        judge(kind, table_mutant(content, rng), folder)
    formula = Grammar.parse(WHOLE, SCHEMA).draw(rng.randrange(1 << 30)).expression
    judge("formula", changed(rng, str(formula).encode()), folder)
    judge("english", changed(rng, english(formula, SCHEMA).encode()), folder)


def changed(rng, content):
    """Replace some pieces by one to four others."""
    for _ in range(rng.randint(1, 4)):
        place = rng.randrange(len(content) + 1)
        piece = rng.choice(PIECES) if rng.random() < 0.8 else content[place : place + rng.randint(1, 30)]
        content = content[:place] + piece + content[place + rng.randint(0, 12) :]
    return content


# ---- what cases are made of


def draw_records(rng, columns):
    lengths = rng.choice(LENGTHS)
    return draw_case(rng, columns, [rng.choice(lengths) for _ in range(rng.choice(RECORDS))])


def draw_labels(rng, columns, case):
    """Labels decided by two random formulas, except for some random ones."""
    draw = PlainFormulas(rng, columns)
    hints = [draw.boolean(2) for _ in range(2)]
    told = [sum(oracle.truth(hint, record, {}) << i for i, hint in enumerate(hints)) for record in case.records]
    return [rng.choice(LABELS) if rng.random() < 0.15 else LABELS[which] for which in told]


def draw_grammar(rng, columns, panel):
    """The default language of a panel, the generic one, or one with random sentences in it."""
    which = rng.randrange(3) if len(unusable(panel)) < len(panel.schema) else 2
    if which == 0:
        return Grammar.for_panel(panel)
    if which == 1:
        return Grammar.generic(panel, points=rng.choice((2, 3, 10)))
    draw = PlainFormulas(rng, columns)
    atoms = [oracle.text(draw.vector(rng.randint(0, 2)), rng) for _ in range(rng.randint(2, 6))]
    weigh = [f" @{rng.choice((0.5, 2, 30))}" if rng.random() < 0.3 else "" for _ in atoms]
    start = rng.choice(("F(V) | G(V)", "F(V)", "F(V) | count(V) {<, >} [1, 2]"))
    told = " | ".join(f"{atom}{weight}" for atom, weight in zip(atoms, weigh, strict=True))
    return Grammar.parse(f"Start ::= {start}\nV ::= V and V | not V | {told}", panel)


def draw_model(rng, grammar):
    """A classifier to learn with; None for a grammar is the default language."""
    search = rng.choice((MonteCarlo, GeneticProgramming, GrammaticalEvolution, CrossEntropy, Pipe))
    depth = rng.randint(4, 8) if grammar is None else grammar.least_depth + rng.randint(0, 4)
    return GrammarTreeClassifier(
        grammar,
        search(evaluations=rng.choice((20, 200, 500)), max_depth=depth),
        criterion=rng.choice((None, MDL(), GiniSize(), GiniSize(0.0))),
        max_depth=rng.randint(1, 5),
        min_samples_leaf=rng.choice(("auto", 1, 3)),
        growth=Greedy(prevent_same_label=rng.random() < 0.3, thresholds=rng.choice((None, "midpoint", "grid"))),
        class_weight=rng.choice((None, None, "balanced")),
        random_state=rng.randrange(1000),
    )


def learned(model, panel, labels, weights):
    return model.fit(panel, labels, sample_weight=weights)


ATTACKS = (evaluation, parts, proofs, derivations, learning, speech, grammars, programs, stl, inputs, damaged)


def attack(name, seed, folder):
    """Run one case of an attack; warnings about odd data are meant."""
    (function,) = (one for one in ATTACKS if one.__name__ == name)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DataWarning)
        function(random.Random(f"{name} {seed}"), folder)
