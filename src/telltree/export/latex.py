"""LaTeX mathematics; `aligned` and `text` are amsmath's."""

import re

from telltree.export.exported import Chosen, Exported
from telltree.operators import Expression, Level, Operator
from telltree.operators.table import AND, Form


def latex(exported: Exported) -> str:
    """The formula of one category; or all, one per line, after the labels that they imply."""
    if exported.category is not None:
        return "".join(map(_formula, exported.categories)) + "\n"
    lines = [f"{_latex(Expression(Level(str(one.label))))} &\\Leftarrow {_formula(one)}" for one in exported.categories]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"


def _formula(chosen: Chosen) -> str:
    alone = len(chosen.formulas) == 1
    parts = [_latex(e) if alone or not _is_infix(e) else f"({_latex(e)})" for e in chosen.formulas]
    return f" {AND.latex} ".join(parts) or r"\top"


def _latex(e: Expression) -> str:
    return re.sub(r"\s", " ", e.latex())  # a name may have line breaks


def _is_infix(e: Expression) -> bool:
    return isinstance(e.head, Operator) and e.head.form is Form.INFIX
