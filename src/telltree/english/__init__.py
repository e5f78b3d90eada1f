"""Formulas to English and back: normal form, wording, and a parser for sentences."""

from telltree.english.conversion import expression_of
from telltree.english.normal_form import cost, plain, simpler_side, term_of
from telltree.english.read_sentence import read
from telltree.english.tokens import repeats
from telltree.english.write_sentence import conditions, quotations, say, signal_name, text_with_quotations, word_count

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
