"""A search can be stopped after any generation: one that takes its state finds what it would have found undisturbed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.search.test_contract import GRAMMARS, RANDOM, Spy, parsed
from tests.support.effort import examples

from telltree.errors import CheckpointError
from telltree.search import CrossEntropy, GeneticProgramming, GrammaticalEvolution, MonteCarlo, Pipe, Scores

KNOWN = {**GRAMMARS, "random constants": parsed(RANDOM)}

monte_carlo = st.builds(MonteCarlo, evaluations=st.integers(1, 9_000), max_depth=st.integers(3, 8))
evolution = st.builds(
    GeneticProgramming,
    evaluations=st.integers(1, 600),
    population=st.integers(2, 80),
    tournament=st.integers(1, 6),
    survival=st.sampled_from(["best", "children"]),
    unique=st.booleans(),
    crossover=st.sampled_from([0.2, 0.5]),
    mutation=st.sampled_from([0.3, 0.5]),
)
genomes = st.builds(
    GrammaticalEvolution,
    evaluations=st.integers(1, 400),
    population=st.integers(2, 60),
    codons=st.integers(1, 25),
    wraps=st.integers(0, 2),
    elite=st.sampled_from([0.1, 0.5, 1.0]),
)
fitted = st.builds(
    CrossEntropy,
    evaluations=st.integers(1, 400),
    population=st.integers(2, 60),
    elite=st.sampled_from([0.1, 0.5, 1.0]),
    rate=st.sampled_from([0.3, 1.0]),
    pseudo_count=st.sampled_from([0.0, 1.0, 5.0]),
)
prototyped = st.builds(
    Pipe,
    evaluations=st.integers(1, 400),
    population=st.integers(2, 60),
    rate=st.sampled_from([0.01, 0.05, 1.0]),
    elitist=st.sampled_from([0.0, 0.2, 1.0]),
    mutation=st.sampled_from([0.2, 1.0]),
    threshold=st.sampled_from([0.9, 0.999, 1.0]),
)


class Sized(Spy):
    """Scores with sizes, so that the best of each size are kept."""

    def __call__(self, population, wanted):
        scores = super().__call__(population, wanted)
        sizes = [len(self.grammar.derivation(population, int(i))) for i in wanted]
        return Scores(scores.fitness, scores.answer, np.array(sizes, np.int64))


def plain(found):
    """All that was found but times, as texts and numbers."""

    def texts(population):
        return (
            []
            if population is None
            else [str(found.best.derivation.grammar.derivation(population, i)) for i in range(len(population.lengths))]
        )

    return {
        "runners up": [(str(one.derivation), one.fitness) for one in found.runners_up],
        "ties": texts(found.ties),
        "history": [(moment.evaluations, moment.fitness) for moment in found.history],
        "evaluations": found.evaluations,
        "by size": [(str(one.best.derivation), one.best.fitness, texts(one.ties)) for one in found.by_size],
    }


def undisturbed(search, grammar, seed, tolerance):
    """What a search finds, and its states after each generation, as they would come back from a file."""
    states = []

    def remember(make):
        states.append(
            {name: np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape) for name, array in make().items()}
        )

    found = search.run(grammar, Sized(grammar), seed, tolerance=tolerance, remember=remember)
    return plain(found), states


@pytest.mark.parametrize(
    "kind", [monte_carlo, evolution, genomes, fitted, prototyped], ids=["mc", "gp", "ge", "ce", "pipe"]
)
@examples(20)
@given(
    name=st.sampled_from(sorted(KNOWN)),
    data=st.data(),
    seed=st.integers(0, 2**64 - 1),
    tolerance=st.sampled_from([0.0, 20.0]),
)
def test_a_search_goes_on_from_every_generation(kind, name, data, seed, tolerance):
    grammar, search = KNOWN[name], data.draw(kind)
    if isinstance(search, GrammaticalEvolution) and grammar.has_random_constants:
        grammar = KNOWN["the paper's"]
    search = replace(search, generations=data.draw(st.integers(1, 12)))
    expected, states = undisturbed(search, grammar, seed, tolerance)
    for state in states:
        found = search.run(grammar, Sized(grammar), seed, tolerance=tolerance, state=state)
        assert plain(found) == expected


def test_what_was_tried_before_was_tried_once():
    grammar, search = KNOWN["the paper's"], MonteCarlo(evaluations=100, generations=2)
    _, states = undisturbed(search, grammar, 0, 0.0)
    (name,) = (name for name in states[0] if name.endswith("memory.keys"))
    twice = states[0][name].copy()
    twice[0] = twice[1]
    with pytest.raises(CheckpointError, match="tried twice"):
        search.run(grammar, Sized(grammar), 0, state={**states[0], name: twice})
