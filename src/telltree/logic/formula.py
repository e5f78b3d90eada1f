"""Formulas: sentences that are true or false for a record."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from telltree.data import Panel, Schema
from telltree.errors import GrammarError
from telltree.grammar import parse_formula
from telltree.logic.unknown import possibly
from telltree.logic.walking import Walker
from telltree.operators import Expression, Type, UserFunction
from telltree.operators.table import AND


@dataclass(frozen=True)
class Formula:
    """A Boolean expression; `formula(panel)` tells for which records it is true."""

    expression: Expression

    def __post_init__(self) -> None:
        if self.expression.type is not Type.BOOLEAN:
            raise GrammarError(
                f"{self.expression} is a {self.expression.type}, not true or false of a record: wrap it in F or G"
            )

    @classmethod
    def parse(
        cls,
        text: str,
        schema: Schema,
        *,
        functions: Sequence[UserFunction] = (),
        step: tuple[float | None, str] | None = None,
    ) -> "Formula":
        """Read a formula over the columns of `schema`, in any spelling of the operators.

        `step` is the length of a step and its unit, as `panel.step` has them, for windows such as `F[0 s, 5 s](x)`.
        """
        return cls(parse_formula(text, schema, functions=functions, step=step))

    @classmethod
    def from_english(
        cls,
        text: str,
        schema: Schema,
        *,
        functions: Sequence[UserFunction] = (),
        step: tuple[float | None, str] | None = None,
        quotations: Iterable[tuple[str, Expression]] = (),
    ) -> "Formula":
        """Read a formula from plain English: what `telltree.explain.english` says, and similar sentences.

        `step` is the length of a step and its unit, for durations such as "for more than 8 s in all". `quotations` are
        a grammar's or function's own words that the text may contain, with their meaning, as returned by
        `telltree.speech.quotations`. SpeechError says where the text cannot be understood, what was expected, and the
        nearest sentence that can be. What is said to be so "unless missing values leave it open" is true where it
        possibly is.
        """
        from telltree.speech.read import read_sentence  # most formulas are evaluated, and never spoken of
        from telltree.speech.unless import asks_what_is_missing, parted

        def said(part: str, missing: Container[str] | None = None) -> Expression:
            return read_sentence(part, schema, functions=functions, step=step, sentences=quotations, missing=missing)

        known, left_open = parted(text)
        if not left_open:
            return cls(said(text))
        possible = possibly(said(left_open, None if asks_what_is_missing(left_open) else ()))
        return cls(Expression(AND, (said(known), possible)) if known else possible)

    def __str__(self) -> str:
        return str(self.expression)

    @property
    def terminals(self) -> int:
        """How many terminals the text has, as the paper counts: F(x1 ∧ x2) has four."""
        return self.expression.terminals

    @property
    def depth(self) -> int:
        """How deeply operators are nested."""
        return self.expression.depth

    def latex(self) -> str:
        """The formula as LaTeX mathematics."""
        return self.expression.latex()

    def __call__(self, panel: Panel) -> NDArray[np.bool_]:
        """Its truth for every record of the panel."""
        truth: NDArray[np.bool_] = truth_of([self.expression], panel)[0]
        return truth

    def over_time(self, panel: Panel) -> list[NDArray[np.bool_]]:
        """Its truth at every step of every record: F and G look from there to the end."""
        walked = Walker(panel).walk(self.expression, follow=[self.expression])
        return [walked.held(self.expression, record) for record in range(len(panel))]


class Answers:
    """The truth of formulas for the records of one panel, each worked out once; some may be `known` beforehand."""

    def __init__(self, panel: Panel, known: Mapping[Expression, NDArray[np.bool_]] | None = None) -> None:
        self._walker, self._known = Walker(panel), dict(known or {})

    def truth(self, formulas: Sequence[Expression]) -> NDArray[np.bool_]:
        """The truth of many formulas: formulas × records."""
        new = [formula for formula in dict.fromkeys(formulas) if formula not in self._known]
        self._known.update(zip(new, self._worked_out(new), strict=True))
        found = [self._known[formula] for formula in formulas]
        return np.array(found, np.bool_).reshape(len(formulas), len(self._walker.panel))

    def _worked_out(self, formulas: Sequence[Expression]) -> Iterable[NDArray[np.bool_]]:
        if self._walker.is_soon_done(formulas):
            return [self._walker.walk(formula).truth for formula in formulas]
        from telltree.logic.formulas import Formulas  # loads compiled code

        return Formulas(self._walker.panel, self._walker.signals).truth(formulas)


def truth_of(formulas: Sequence[Expression], panel: Panel) -> NDArray[np.bool_]:
    """The truth of many formulas at once: formulas × records."""
    return Answers(panel).truth(formulas)
