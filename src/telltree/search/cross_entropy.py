"""Cross-entropy: draw formulas, and make the rules of the best ones likelier for the next draw."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.checks import MOST_INDIVIDUALS, require_not_negative, require_share, require_whole
from telltree.errors import CheckpointError
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.grammar.draw import NO_ROW, Lanes, Levels, deepest, draw
from telltree.grammar.random_streams import own_shares
from telltree.search.search import Breeder, Elite, Search, Task
from telltree.search.state import SavedState, State, together


@dataclass(frozen=True, repr=False)
class CrossEntropy(Search):
    """A probabilistic grammar, fitted to the best formulas again and again. See `Search` for the other settings.

    population: how many formulas are drawn at a time.
    elite: to how many of the best so far the weights of rules are fitted, as a share of the population; each splits the
    records in its own way.
    rate: how far weights go from where they were to where they fit best, from 0 to 1.
    pseudo_count: how many uses of each symbol are added to those that are counted at a depth, spread as at all depths
    together, and to those as the grammar spreads them. With 0 a rule that the best do without is never drawn again, and
    the search collapses.
    """

    population: int = 200
    elite: float = 0.1
    rate: float = 0.5
    pseudo_count: float = 5.0

    @classmethod
    def paper(cls) -> "CrossEntropy":
        """The settings in the examples of the later code of the paper's authors, which the paper itself does not use:
        20 generations of 1,000, fitted to the best 500. Theirs has no pseudo-count.
        """
        return cls(evaluations=20_000, generations=20, population=1_000, elite=0.5, rate=1.0)

    def check(self, grammar: Grammar) -> None:
        super().check(grammar)
        require_whole("population", self.population, 2, MOST_INDIVIDUALS)
        for name in ("elite", "rate"):
            require_share(name, getattr(self, name))
        require_not_negative("pseudo_count", self.pseudo_count)

    @property
    def best(self) -> int:
        """The number of formulas to which weights are fitted."""
        return max(2, round(self.elite * self.population))

    @property
    def revisits(self) -> bool:
        return False  # good formulas stay among the best anyway

    def breeder(self, task: Task) -> Breeder:
        return _CrossEntropyBreeder(self, task.grammar, task.seed)


class _CrossEntropyBreeder:
    """The breeder: draws by weights of rules at levels, which are fitted to the best so far."""

    def __init__(self, settings: CrossEntropy, grammar: Grammar, seed: int) -> None:
        self._settings, self._seed = settings, np.uint64(seed)
        depth = deepest(grammar.tables, settings.max_depth)
        width, constants = grammar.width(depth), grammar.has_random_constants
        self._levels = Levels(grammar.tables, depth, width)
        self._own = own_shares(grammar.rules, grammar.tables)
        self._lanes = Lanes.empty(grammar.tables, width)
        self._drawn = Population.empty(settings.population, width, constants)
        self._elite = Elite(settings.best, width, constants)
        self._shares = np.tile(self._own, (self._levels.number, 1))

    @property
    def shares(self) -> NDArray[np.float64]:
        """The probability of each rule among those of its symbol: a row for each level."""
        return self._shares

    def propose(self, generation: int) -> Population:
        levels = self._levels
        levels.weigh(self._shares)
        draw(levels.tables, levels.depth, self._seed, generation, NO_ROW, self._lanes, *self._drawn.for_kernels())
        return self._drawn

    def learn(self, population: Population, fitness: NDArray[np.float64], answer: NDArray[np.uint64]) -> None:
        self._elite.learn(population, fitness, answer)
        rate = self._settings.rate
        if len(self._elite.fitness):
            self._shares = (1 - rate) * self._shares + rate * self._fitting()

    plant = learn

    def _fitting(self) -> NDArray[np.float64]:
        """Return the shares that fit the best so far; at levels with few counts they stay near those of all levels."""
        rows = self._elite.rows
        counts, pseudo = self._levels.counts(rows, np.arange(len(rows.lengths))), self._settings.pseudo_count
        at_all = counts.sum(axis=0, keepdims=True)
        overall = _shares(at_all, self._levels.totals(at_all), pseudo, self._own)
        return _shares(counts, self._levels.totals(counts), pseudo, overall)

    def state(self) -> State:
        """Return the weights, and the formulas to which they are fitted."""
        return {"shares": self._shares.copy()} | together(elite=self._elite.state())

    def resume(self, given: SavedState) -> None:
        shares = given.array("shares", np.float64, *self._shares.shape)
        if not (np.isfinite(shares) & (shares >= 0)).all():
            raise CheckpointError("there are weights of rules that cannot be")
        self._shares = shares
        self._elite.resume(given.part("elite"))


def _shares(
    counts: NDArray[np.float64], totals: NDArray[np.float64], pseudo: float, likely: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return shares by counts plus `pseudo` uses spread as `likely`; where nothing was counted, `likely` alone."""
    found = np.broadcast_to(likely, counts.shape).copy()
    np.divide(counts + pseudo * likely, totals + pseudo, out=found, where=totals > 0)
    return found
