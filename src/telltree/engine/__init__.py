"""Evaluation of formulas on the records of a panel.

- `formula`: `Formula`, and formulas compiled once for many panels. `three_valued`: bounds where values are missing.
- `signals`, `atoms`: the numbers that atoms compare, and atoms as `signal compared with a constant`.
- `bitset_layout`, `bitsets`, `subset`: the truth of atoms, 64 records a word.
- `instructions`, `compile`: programs, and the compiler that writes them from derivations or expressions.
- `machine`, `bitset_windows`: programs run on bitsets. `robustness`: the same programs run on numbers.
- `evaluator`, `formula_evaluator`, `population_evaluator`: from formulas to counts, truth and robustness.
- `trace`: evaluation of one record, part by part and step by step. `evaluator_choice`: a choice by hand.
"""

from telltree.engine.evaluator_choice import use_evaluator
from telltree.engine.formula import Answers, CompiledFormulas, Formula, truth_of

__all__ = ["Answers", "CompiledFormulas", "Formula", "truth_of", "use_evaluator"]
