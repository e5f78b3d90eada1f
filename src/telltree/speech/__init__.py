"""Formulas in words: a normal form, English that a person would use, and the way back from English to formulas."""
