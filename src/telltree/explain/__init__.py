"""Explanations of trees in words: categories, rules, the path of a record, and answers to questions about a panel."""

from telltree.english.styles import Style, english
from telltree.explain.ask import Answer, ClassAnswer, Verdict, ask
from telltree.explain.categories import Categories, Category, categories_text, categorize
from telltree.explain.evidence import Moments, PathStep, Robustness, decisive_step, decisive_steps, path_of, path_step
from telltree.explain.outline import outline
from telltree.explain.rules import RuleRow, as_records, rules_table, rules_text
from telltree.explain.sentence import plain, redundant, sentence, shown

__all__ = [
    "Answer",
    "Categories",
    "Category",
    "ClassAnswer",
    "Moments",
    "PathStep",
    "Robustness",
    "RuleRow",
    "Style",
    "Verdict",
    "as_records",
    "ask",
    "categories_text",
    "categorize",
    "decisive_step",
    "decisive_steps",
    "english",
    "outline",
    "path_of",
    "path_step",
    "plain",
    "redundant",
    "rules_table",
    "rules_text",
    "sentence",
    "shown",
]
