"""What was proved of a tree as a whole."""

from dataclasses import dataclass

from telltree.amounts import counted


@dataclass(frozen=True)
class Optimum:
    """That no tree over a pool of questions costs less than this one, at the training records.

    levels: how many questions trees may ask one after the other.
    pool: between how many questions that answer differently there was to choose.
    leaves: how many leaves the tree has that is proved; one that was pruned has fewer.
    compared: how many splits of a node were compared to cover all trees.
    left_out: how many questions of a node were left out with all trees below them, because they would cost more even if
        every leaf was of one class.
    cost: what the tree costs, leaves and questions together.
    greedy: what the tree costs that was grown one question at a time.
    told_in: what that is counted in.
    """

    levels: int
    pool: int
    leaves: int
    compared: int
    left_out: int
    cost: float
    greedy: float
    told_in: str

    @property
    def trees(self) -> int:
        """How many trees of these questions are covered, a single leaf included."""
        found = 1
        for _ in range(self.levels):
            found = 1 + self.pool * found**2
        return found

    def __str__(self) -> str:
        answer = ("question that answers", "questions that answer")
        bounds = f", and {counted(self.left_out, 'question')} left out by what leaves of one class each would cost"
        return (
            f"no tree of up to {counted(self.levels, 'level')} over {counted(self.pool, *answer)} "
            f"differently costs less than {self.cost:,.2f} {self.told_in}; the tree that was grown greedily costs "
            f"{self.greedy:,.2f}: {counted(self.trees, 'tree')}, covered by comparing {counted(self.compared, 'split')}"
            f"{bounds if self.left_out else ''}"
        )
