"""What all programs that formulas are exported to have in common: what they cannot say, and when categories agree."""

from dataclasses import dataclass

from telltree.data import Schema
from telltree.errors import SettingsError
from telltree.operators import Attribute, Expression, Level, Type, UserFunction


def unsayable(e: Expression, language: str) -> SettingsError:
    """The error for an expression that has no counterpart."""
    if isinstance(e.head, UserFunction):
        return SettingsError(
            f"the formula calls the user function {e.head.name!r}, which cannot be exported to {language}: only Python "
            "code knows what it does; learn without it, or save the model with model.save()"
        )
    return SettingsError(f"{str(e)[:200]} cannot be exported to {language}")


@dataclass(frozen=True, slots=True)
class Refused:
    """In place of a cell: the language has no words for the operator, and why."""

    why: str = ""

    def error(self, e: Expression, language: str) -> SettingsError:
        """The error for an expression with that operator."""
        return unsayable(e, f"{language}, {self.why}" if self.why else language)


def common_levels(e: Expression, schema: Schema) -> list[str]:
    """The categories for which an equality of categories can be true: those that both sides know."""
    left, right = ((arg.head.name,) if isinstance(arg.head, Level) else _levels(arg, schema) for arg in e.args)
    return [level for level in left if level in set(right)]


def _levels(e: Expression, schema: Schema) -> tuple[str, ...]:
    assert isinstance(e.head, Attribute)
    return schema[e.head.name].levels


def is_never_missing(e: Expression) -> bool:
    """Whether `missing` of it is false always: formulas are true or false."""
    return e.type in (Type.BOOLEAN, Type.BOOLEAN_VECTOR) and not isinstance(e.head, Attribute)
