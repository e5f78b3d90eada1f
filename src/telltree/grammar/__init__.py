"""Grammars: their text, their normal form, and the derivations they allow."""

from typing import TYPE_CHECKING

from telltree.lazy import lazily

if TYPE_CHECKING:  # what type checkers and editors see; the table below is what runs
    from telltree.grammar.formulas import parse_formula as parse_formula
    from telltree.grammar.grammar import Derivation as Derivation
    from telltree.grammar.grammar import Grammar as Grammar
    from telltree.grammar.normal_form import Rule as Rule

_HOMES = {
    "Derivation": "grammar",
    "Grammar": "grammar",
    "Rule": "normal_form",
    "parse_formula": "formulas",
}

__all__ = [*_HOMES]  # noqa: PLE0604 - the keys of the table are strings

__getattr__, __dir__ = lazily(__name__, _HOMES)
