"""Formulas to English and back: normal form, wording, and a parser for sentences."""

from telltree.english.cost import cost
from telltree.english.normal_form import plain, question, term_of
from telltree.english.read import read
from telltree.english.say import conditions, name_of, quotations, say, spoken, words_in
from telltree.english.words import repeats
from telltree.english.write import expression_of

__all__ = [
    "conditions",
    "cost",
    "expression_of",
    "name_of",
    "plain",
    "question",
    "quotations",
    "read",
    "repeats",
    "say",
    "spoken",
    "term_of",
    "words_in",
]
