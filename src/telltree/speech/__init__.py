"""Formulas in words: a normal form, plain English, and the way back from English to formulas."""

from telltree.speech.choice import plain, question
from telltree.speech.cost import cost
from telltree.speech.normal import term_of
from telltree.speech.read import read
from telltree.speech.repeats import repeats
from telltree.speech.say import conditions, name_of, quotations, say, spoken, words_in
from telltree.speech.write import expression_of

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
