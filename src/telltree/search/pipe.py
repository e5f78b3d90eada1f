"""PIPE, probabilistic incremental program evolution: learns, place by place, which rules good formulas have."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.checks import MOST_INDIVIDUALS, require_positive, require_share, require_whole
from telltree.compiled import kernel
from telltree.errors import CheckpointError
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.draw import deepest
from telltree.grammar.prototype_tree import PrototypeTree
from telltree.grammar.random_streams import after, first_state, mix, unit_of
from telltree.search.search import Breeder, Elite, Search, Task
from telltree.search.state import SavedState, State, together

_HALVINGS = 50
"""The number of halvings of the interval in which a wanted probability lies."""
_LIKELY = 0.2
"""A formula that is drawn this often becomes no likelier: it is known by then, and its neighbours are not."""
_LEAST = 1e-300
"""The least probability whose logarithm is meaningful."""


@dataclass(frozen=True, repr=False)
class Pipe(Search):
    """A prototype tree, with chances for the rules at each place of a formula. See `Search` for the other settings.

    population: how many formulas are drawn at a time, of which the best is learned from.
    rate: how likely that formula is to be drawn thereafter, at least, up to one fifth, beyond which nothing is made
    likelier; less if it is worse than the best so far.
    elitist: how often the best so far is learned from too.
    epsilon: how much worse the best of a population may be to be learned from half as much, in distances from the
    median of the population to the best so far.
    mutation, mutation_rate: how often one rule of the formula's places, the more of them the rarer, becomes likelier by
    chance, and how far on the way to being certain.
    threshold: how much of the chances at a place is learned; the rest stays with the grammar's own weights, so that
    nothing becomes impossible.
    """

    population: int = 200
    rate: float = 0.05
    elitist: float = 0.2
    epsilon: float = 1.0
    mutation: float = 0.2
    mutation_rate: float = 0.6
    threshold: float = 0.999

    @classmethod
    def paper(cls) -> "Pipe":
        """The settings in the examples of the later code of the paper's authors, which the paper itself does not use:
        20 generations of 1,000.

        Its c, the size of steps to the goal, is not needed, as the goal is found at once.
        """
        return cls(evaluations=20_000, generations=20, population=1_000)

    def check(self, grammar: Grammar) -> None:
        super().check(grammar)
        require_whole("population", self.population, 2, MOST_INDIVIDUALS)
        for name in ("rate", "elitist", "mutation", "mutation_rate", "threshold"):
            require_share(name, getattr(self, name))
        require_positive("epsilon", self.epsilon)

    def breeder(self, task: Task) -> Breeder:
        return _PipeBreeder(self, task.grammar, task.seed)


class _PipeBreeder:
    """The breeder: draws from a prototype tree, and changes it towards the best."""

    def __init__(self, settings: Pipe, grammar: Grammar, seed: int) -> None:
        self._settings, self._seed, self._generation = settings, np.uint64(seed), 0
        self.tree = PrototypeTree(grammar, settings.max_depth, settings.threshold)
        width = grammar.width(deepest(grammar.tables, settings.max_depth))
        self._drawn = Population.empty(settings.population, width, grammar.has_random_constants)
        self._best = Elite(1, width, grammar.has_random_constants)

    def propose(self, generation: int) -> Population:
        self._generation = generation
        self.tree.draw(self._seed, generation, self._drawn)
        return self._drawn

    def plant(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        """Learn from the best of the formulas that the user gave."""
        self._best.learn(population, fitness, answer)
        if len(self._best.fitness):
            self._towards(_rules(self._best.rows, 0), self._settings.rate)

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        self._best.learn(population, fitness, answer)
        best = int(np.argmin(fitness))
        if not np.isfinite(fitness[best]):
            return
        settings, lots = self._settings, np.empty(1 + 2 * population.rules.shape[1])
        _draw_lots(self._seed, self._generation, len(population.lengths), lots)
        learned = self._towards(_rules(population, best), settings.rate * self._closeness(fitness))
        if lots[0] < settings.elitist:
            learned = self._towards(_rules(self._best.rows, 0), settings.rate)
        self._mutate(learned, lots[1:])

    def _closeness(self, fitness: NDArray[np.float64]) -> float:
        """1 if the best of a population is the best so far, and less the worse it is."""
        least = self._best.fitness[0]
        spread, gap = np.median(fitness[np.isfinite(fitness)]) - least, fitness.min() - least
        epsilon = self._settings.epsilon
        return float(epsilon / (epsilon + gap / spread)) if gap > 0 else 1.0

    def _towards(self, rules: NDArray[np.int32], rate: float) -> NDArray[np.int64]:
        """Make a formula likelier; return its places."""
        path, rules = self.tree.along(rules)
        chance = self.tree.likelihood(path, rules)
        self.tree.make_likely(path, rules, 1 - (1 - chance) * doubt_left(chance, rate))
        return path

    def _mutate(self, path: NDArray[np.int64], lots: NDArray[np.float64]) -> None:
        settings, number = self._settings, len(path)
        struck = np.flatnonzero(lots[:number] < settings.mutation / number**0.5)
        path, lots = path[struck], lots[number + struck]
        rules = self.tree.anyhow(path, lots)
        chance = self.tree.likelihood(path, rules)
        self.tree.make_likely(path, rules, chance + settings.mutation_rate * (1 - chance))

    def state(self) -> State:
        """Return the prototype tree, and the best so far."""
        return together(tree=self.tree.state(), best=self._best.state())

    def resume(self, given: SavedState) -> None:
        tree = given.part("tree")
        symbol, hole, above = (tree.array(name, np.int32, None) for name in ("symbol", "hole", "above"))
        try:
            self.tree.resume(symbol, hole, above, tree.array("chance", np.float64, None))
        except ValueError as error:
            raise CheckpointError(str(error)) from None
        self._best.resume(given.part("best"))


def _rules(population: Population, row: int) -> NDArray[np.int32]:
    return population.rules[row, : population.lengths[row]].copy()


def doubt_left(chance: NDArray[np.float64], rate: float) -> float:
    """Return the share of doubt that may remain in each probability, so that their product P becomes P + rate · (1 −
    P), up to one fifth.

    The product of many is next to nothing, so only its logarithm can be computed with.
    """
    chance = np.maximum(chance, _LEAST)
    together = np.log(chance).sum()
    if together == 0 or rate == 0:
        return 1.0
    wanted = np.logaddexp(together, np.log(rate) + np.log(-np.expm1(together)))
    goal = min(wanted, max(together, np.log(_LIKELY)))
    enough, too_much, doubt = 0.0, 1.0, -(1 - chance)
    for _ in range(_HALVINGS):
        half = (enough + too_much) / 2
        if np.add.reduce(np.log1p(doubt * half)) >= goal:
            enough = half
        else:
            too_much = half
    return enough


@kernel
def _draw_lots(seed, generation, index, lots):
    """Fill `lots` with numbers between 0 and 1, from the stream that follows those of the population."""
    state = first_state(seed, generation, index)
    for k in range(len(lots)):
        state = after(state)
        lots[k] = unit_of(mix(state))
