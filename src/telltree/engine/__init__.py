"""Evaluation of formulas: a compiler, bitsets, the machine that runs programs on them, robustness, traces."""

from telltree.engine.evaluator_choice import use_evaluator
from telltree.engine.formula import Answers, CompiledFormulas, Formula, truth_of

__all__ = ["Answers", "CompiledFormulas", "Formula", "truth_of", "use_evaluator"]
