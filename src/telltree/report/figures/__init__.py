"""Figures, one a file; `telltree.report` has their names.

Every function returns a `matplotlib.figure.Figure` of its own, made without pyplot: it is saved with
`figure.savefig(path)`, shown by a notebook as it is, and nothing else in matplotlib is touched.
"""
