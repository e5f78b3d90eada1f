"""Formulas: sentences that are true or false for a record."""

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

# ---- Formulas: sentences that are true or false for a record.


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
        `telltree.english.quotations`. SpeechError says where the text cannot be understood, what was expected, and the
        nearest sentence that can be. What is said to be so "unless missing values leave it open" is true where it
        possibly is.
        """
        from telltree.english.read_sentence import read_sentence  # most formulas are evaluated, and never spoken of
        from telltree.english.tokens import asks_what_is_missing, parted

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
        """The truth of the formulas: formulas × records of a panel with the schema."""
        if not self.formulas:
            return np.empty((0, len(panel)), np.bool_)
        if tracer is None:  # signals of a few records of many had better leave out the rows of the others
            tracer = Tracer(panel.alone() if panel.is_small_part else panel)
        if tracer.is_faster(self._parts):
            return tracer.truth(self._parts)
        from telltree.engine.formula_evaluator import FormulaEvaluator  # loads compiled code

        return FormulaEvaluator(tracer.panel, tracer.signals).truth(self.formulas)

    def check_time(self, learnt: StepLength | None, panel: Panel) -> None:
        """Raise DataError if the records measure time in another way than those that the formulas were learned from.

        That is so if formulas ask for times, and the panel counts them in another unit; if they ask for shares of the
        record's time, and these would be other shares; or if they look at windows of steps, and its steps are of
        another length.
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
        """The truth of many formulas: formulas × records."""
        panel = self._tracer.panel
        new = [formula for formula in dict.fromkeys(formulas) if formula not in self._known]
        if new:
            self._known.update(zip(new, CompiledFormulas(new, panel.schema).truth(panel, self._tracer), strict=True))
        found = [self._known[formula] for formula in formulas]
        return np.array(found, np.bool_).reshape(len(formulas), len(panel))


def truth_of(formulas: Sequence[Expression], panel: Panel) -> NDArray[np.bool_]:
    """The truth of many formulas at once: formulas × records."""
    return CompiledFormulas(formulas, panel.schema).truth(panel)


# ---- Checks that records measure time as those did from which formulas were learned.


def _check_length(learnt: StepLength | None, found: StepLength | None) -> None:
    """DataError if steps are known to be of another length than those by which windows were counted."""
    if learnt is None or found is None or None in (learnt[0], found[0]) or _alike(learnt, found):
        return
    raise DataError(
        f"formulas look at windows of steps of {number_text(learnt[0] or 0.0)} {learnt[1]}, but these records have "
        f"steps of {number_text(found[0] or 0.0)} {found[1]}; resample them to the same length"
    )


def _check_share(learnt: StepLength | None, found: StepLength | None) -> None:
    """DataError if one has shares of the record's time, and the other knows no times. Of even steps both are alike."""
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
