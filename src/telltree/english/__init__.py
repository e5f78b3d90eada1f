"""Formulas to English and back: normal form, wording, and a parser for sentences."""

from telltree.english.cost import cost
from telltree.english.normal_form import plain, simpler_side, term_of
from telltree.english.read import read
from telltree.english.say import conditions, quotations, say, signal_name, text_with_quotations, word_count
from telltree.english.words import repeats
from telltree.english.write import expression_of

__all__ = [
    "conditions",
    "cost",
    "expression_of",
    "plain",
    "quotations",
    "read",
    "repeats",
    "say",
    "signal_name",
    "simpler_side",
    "term_of",
    "text_with_quotations",
    "word_count",
]
