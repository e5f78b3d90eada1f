"""The normal form of a grammar: rules that each write a terminal, as objects and as arrays for compiled code."""
