"""Formulas that a user would have a search try first."""

from collections.abc import Iterable
from typing import Any

from telltree.errors import GrammarError, SettingsError, SpeechError
from telltree.grammar import Derivation, Grammar
from telltree.grammar.parse import parse_formula
from telltree.operators import Expression


def checked_seeds(seeds: Any) -> tuple[Any, ...]:
    """The seeds as a tuple; SettingsError if they are no list of formulas."""
    if isinstance(seeds, str) or not isinstance(seeds, Iterable):
        raise SettingsError(
            f"seeds must be a list of formulas or sentences, got {seeds!r:.200}; write [{seeds!r:.200}]"
        )
    found = tuple(seeds)
    for number, seed in enumerate(found):
        if not isinstance(getattr(seed, "expression", seed), str | Expression):
            raise SettingsError(f"seeds[{number}] must be a Formula or a text, got {seed!r:.200}")
    return found


def derived(seeds: Iterable[Any], grammar: Grammar, max_depth: int) -> list[Derivation]:
    """How the grammar says each seed; SettingsError if it cannot, within the depth."""
    found: list[Derivation] = []
    for number, seed in enumerate(seeds):
        told = f"seeds[{number}], {str(seed)!r:.200}"
        try:
            derivation = grammar.derive(_expression(getattr(seed, "expression", seed), told, grammar))
        except GrammarError as error:
            raise SettingsError(f"{told}: {error}; let the grammar say it, or leave it out") from None
        if derivation.depth > max_depth:
            raise SettingsError(f"{told}: nests {derivation.depth} operators, and max_depth is {max_depth}")
        if derivation not in found:
            found.append(derivation)
    return found


def _expression(seed: str | Expression, told: str, grammar: Grammar) -> Expression:
    """The formula that a text says, in the grammar language or in plain English."""
    if isinstance(seed, Expression):
        return seed
    from telltree.speech.read import read  # few searches have seeds, and fewer in English

    try:
        return parse_formula(seed, grammar.schema, functions=grammar.functions)
    except GrammarError as error:
        no_formula = error
    try:
        return read(seed, grammar.schema, functions=grammar.functions)
    except SpeechError as error:
        raise SettingsError(f"{told}: is no formula ({no_formula}), and no sentence ({error})") from None
