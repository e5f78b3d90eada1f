"""Shapes: formulas whose atoms are left open, so that all formulas of a grammar can be told by few of them."""
