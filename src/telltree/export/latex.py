"""LaTeX mathematics; `aligned` and `text` are amsmath's."""

import re

from telltree.export.subject import Chosen, Subject
from telltree.operators import Expression, Level, Operator
from telltree.operators.table import AND, Form


def latex(subject: Subject) -> str:
    """The formula of one category; or all, one a line, after the labels that they imply."""
    if subject.category is not None:
        return "".join(map(_formula, subject.categories)) + "\n"
    lines = [f"{_latex(Expression(Level(str(one.label))))} &\\Leftarrow {_formula(one)}" for one in subject.categories]
    return "\\begin{aligned}\n" + " \\\\\n".join(lines) + "\n\\end{aligned}\n"


def _formula(chosen: Chosen) -> str:
    alone = len(chosen.formulas) == 1
    parts = [_latex(e) if alone or not _is_infix(e) else f"({_latex(e)})" for e in chosen.formulas]
    return f" {AND.latex} ".join(parts) or r"\top"


def _latex(e: Expression) -> str:
    return re.sub(r"\s", " ", e.latex())  # a name may have line breaks


def _is_infix(e: Expression) -> bool:
    return isinstance(e.head, Operator) and e.head.form is Form.INFIX
