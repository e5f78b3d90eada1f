"""Figures, one per file; `telltree.report` exports them.

Every function returns a `matplotlib.figure.Figure` of its own, made without pyplot: it is saved with
`figure.savefig(path)`, shown by a notebook as it is, and nothing else in matplotlib is touched.
"""
