"""Why, in words: English, questions, categories, the rule table, and the steps that decided."""

from telltree.explain.ask import Answer, ClassAnswer, Verdict, ask
from telltree.explain.categories import (
    Categories,
    Category,
    categories_text,
    categorize,
    redundant,
    sentence,
    shown,
)
from telltree.explain.english import Style, english, plain
from telltree.explain.evidence import Moments, PathStep, Robustness, decisive_step, decisive_steps, path_of, path_step
from telltree.explain.outline import outline
from telltree.explain.rules import RuleRow, as_records, rules_table, rules_text

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
