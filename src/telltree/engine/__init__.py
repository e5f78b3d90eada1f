"""What formulas mean: bit planes, the compiled machine that evaluates programs on them, margins."""

from telltree.engine.formula import Answers, Formula, truth_of

__all__ = ["Answers", "Formula", "truth_of"]
