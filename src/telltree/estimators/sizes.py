"""The trees of other sizes beside a model's own, and the rule by which its size was chosen, in words."""

from telltree.defaults import FOLDS
from telltree.estimators.classifier import GrammarTreeClassifier
from telltree.tree import MDL
from telltree.tree.induction import DEFAULT_CRITERION, DEFAULT_GROWTH
from telltree.tree.settings import Optimal

INSTEAD = f"cross-validation, cv={FOLDS} or --cv {FOLDS}, chooses by balanced accuracy instead"


def sizes_told(model: GrammarTreeClassifier) -> str:
    """The pruning path as a table, with a legend and the tree that was taken; empty if there is only one tree."""
    pruning_path = model.pruning_path_
    if len(pruning_path) < 2:
        return ""
    table = "\n".join(f"  {line}" for line in pruning_path.table().splitlines())
    return f"trees of all sizes ({pruning_path.legend}):\n{table}\n{size_rule(model)}"


def size_rule(model: GrammarTreeClassifier) -> str:
    """The rule by which the model's tree was taken from its pruning path, in one sentence."""
    criterion, growth = model.criterion or DEFAULT_CRITERION, model.growth or DEFAULT_GROWTH
    if model.validation_ is not None:
        if not growth.simplicity:
            return "the tree of the best balanced accuracy is taken, of equals the smallest"
        errors = "a standard error" if growth.simplicity == 1 else f"{growth.simplicity:g} standard errors"
        return f"the smallest tree is taken that is behind the best by no more than {errors} of the difference"
    if isinstance(criterion, MDL) and not isinstance(growth, Optimal):
        price = growth.simplicity * criterion.price_for(model.pruning_path_.whole.records)
        return (
            f"the largest tree is taken whose branches are all worth more than {price:.3g}, the price of a bit; "
            f"{INSTEAD}"
        )
    return "the whole tree is taken: without cross-validation nothing of it is cut"
