"""Formulas, which are true or false for a record, and formulas compiled once for the records of many panels."""

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from telltree.engine.three_valued import possibly
from telltree.engine.trace import FormulaParts, Tracer
from telltree.errors import DataError, GrammarError
from telltree.grammar import parse_formula
from telltree.logic import Expression, Type, UserFunction
from telltree.logic.operators import AND, GONE, TIMES, Form, Operator
from telltree.logic.types import number_text
from telltree.panel import Panel, Schema
from telltree.panel.dates import StepLength


@dataclass(frozen=True)
class Formula:
    """A Boolean expression; `formula(panel)` is its truth for every record."""

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
        """Read a formula from plain English: sentences of `telltree.explain.english`, and similar ones.

        `step` is the length of a step and its unit, for durations such as "for more than 8 s in all". `quotations` are
        a grammar's or function's own words that the text may contain, with their meaning, as returned by
        `telltree.english.quotations`. SpeechError names the place that cannot be understood, what was expected there,
        and the nearest sentence that is understood. A condition with "unless missing values leave it open" is true
        where it is possibly true.
        """
        from telltree.english.read_sentence import read_sentence  # most formulas are never put into words
        from telltree.english.tokens import mentions_missing_values, parted

        def meaning(part: str, missing: Container[str] | None = None) -> Expression:
            return read_sentence(part, schema, functions=functions, step=step, sentences=quotations, missing=missing)

        known, left_open = parted(text)
        if not left_open:
            return cls(meaning(text))
        possible = possibly(meaning(left_open, None if mentions_missing_values(left_open) else ()))
        return cls(Expression(AND, (meaning(known), possible)) if known else possible)

    def __str__(self) -> str:
        return str(self.expression)

    @property
    def terminals(self) -> int:
        """The number of terminals in the text, as the paper counts: F(x1 ∧ x2) has four."""
        return self.expression.terminals

    @property
    def depth(self) -> int:
        """The nesting depth of operators."""
        return self.expression.depth

    def latex(self) -> str:
        """Return the formula as LaTeX mathematics."""
        return self.expression.latex()

    def __call__(self, panel: Panel) -> NDArray[np.bool_]:
        """Return the truth for every record of the panel."""
        truth: NDArray[np.bool_] = truth_of([self.expression], panel)[0]
        return truth

    def over_time(self, panel: Panel) -> list[NDArray[np.bool_]]:
        """Return the truth at every step of every record; F and G range from that step to the end."""
        trace = Tracer(panel).trace(self.expression, follow=[self.expression])
        return [trace.part_truth(self.expression, record) for record in range(len(panel))]


class CompiledFormulas:
    """Formulas compiled once for a schema, to be evaluated on the records of many panels."""

    def __init__(self, formulas: Sequence[Expression], schema: Schema) -> None:
        self.formulas = formulas
        self._schema = schema

    @cached_property
    def _parts(self) -> FormulaParts:
        return FormulaParts.of(self.formulas, self._schema)

    def truth(self, panel: Panel, tracer: Tracer | None = None) -> NDArray[np.bool_]:
        """Return the truth of the formulas: formulas × records of a panel with the schema."""
        if not self.formulas:
            return np.empty((0, len(panel)), np.bool_)
        if tracer is None:  # compute signals for the rows of these records only
            tracer = Tracer(panel.alone() if panel.is_small_part else panel)
        if tracer.is_faster(self._parts):
            return tracer.truth(self._parts)
        from telltree.engine.formula_evaluator import FormulaEvaluator  # loads compiled code

        return FormulaEvaluator(tracer.panel, tracer.signals).truth(self.formulas)

    def check_time(self, learnt: StepLength | None, panel: Panel) -> None:
        """Raise DataError if the records measure time in another way than those that the formulas were learned from.

        Formulas with times need the same unit, those with shares of the record need the same kind of shares, of time or
        of steps, and those with windows need steps of the same length.
        """
        if self._has_windows:
            _check_length(learnt, panel.step)
        if GONE in self._heads:
            _check_share(learnt, panel.step)
        if self._heads.isdisjoint(TIMES):
            return
        wanted, found = _counted(learnt), _counted(panel.step)
        if wanted != found:
            remedy = "read the data without times" if learnt is None else _remedy(learnt[1])
            raise DataError(
                f"formulas ask for the time elapsed in {wanted}, but these records have it in {found}; {remedy}"
            )

    @cached_property
    def _heads(self) -> frozenset[Any]:
        return frozenset(e.head for formula in self.formulas for e in formula.walk())

    @cached_property
    def _has_windows(self) -> bool:
        return any(isinstance(head, Operator) and head.form is Form.WINDOW for head in self._heads)


class Answers:
    """The truth of formulas for the records of one panel, computed once; some may be `known` beforehand."""

    def __init__(self, panel: Panel, known: Mapping[Expression, NDArray[np.bool_]] | None = None) -> None:
        self._tracer, self._known = Tracer(panel), dict(known or {})

    def truth(self, formulas: Sequence[Expression]) -> NDArray[np.bool_]:
        """Return the truth of many formulas: formulas × records."""
        panel = self._tracer.panel
        new = [formula for formula in dict.fromkeys(formulas) if formula not in self._known]
        if new:
            self._known.update(zip(new, CompiledFormulas(new, panel.schema).truth(panel, self._tracer), strict=True))
        found = [self._known[formula] for formula in formulas]
        return np.array(found, np.bool_).reshape(len(formulas), len(panel))


def truth_of(formulas: Sequence[Expression], panel: Panel) -> NDArray[np.bool_]:
    """Return the truth of many formulas at once: formulas × records."""
    return CompiledFormulas(formulas, panel.schema).truth(panel)


# ---- Checks that records measure time like the training records.


def _check_length(learnt: StepLength | None, found: StepLength | None) -> None:
    """Raise DataError if both step lengths are known and differ."""
    if learnt is None or found is None or None in (learnt[0], found[0]) or _alike(learnt, found):
        return
    raise DataError(
        f"formulas look at windows of steps of {number_text(learnt[0] or 0.0)} {learnt[1]}, but these records have "
        f"steps of {number_text(found[0] or 0.0)} {found[1]}; resample them to the same length"
    )


def _check_share(learnt: StepLength | None, found: StepLength | None) -> None:
    """Raise DataError if one side has shares of time, and the other shares of steps, and steps differ in length."""
    if learnt is None and found is not None and found[0] is None:
        raise DataError(
            "formulas ask for shares of the record's steps, but these records have times, and steps of different "
            "lengths; read the data without times"
        )
    if found is None and learnt is not None and learnt[0] is None:
        raise DataError(
            f"formulas ask for shares of the record's time, but these records have no times; {_remedy(learnt[1])}"
        )


def _alike(learnt: StepLength, found: StepLength) -> bool:
    return learnt[1] == found[1] and math.isclose(learnt[0] or 0.0, found[0] or 0.0, rel_tol=1e-9)


def _counted(step: StepLength | None) -> str:
    return "steps" if step is None else f"{step[1]!r}" if step[1] else "times without a unit"


def _remedy(unit: str) -> str:
    return f"give times, or a period, in {unit!r} and time_unit={unit!r}" if unit else "give times without a time_unit"
