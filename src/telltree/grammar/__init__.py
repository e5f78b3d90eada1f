"""What may be said: grammars in text, their normal form, and the derivations they allow."""

from telltree.grammar.derivations.derivation import Derivation
from telltree.grammar.grammar import Grammar
from telltree.grammar.parse import parse_formula
from telltree.grammar.rules.rule import Rule

__all__ = ["Derivation", "Grammar", "Rule", "parse_formula"]
