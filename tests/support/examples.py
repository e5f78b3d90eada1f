"""Panels written out by hand, and what formulas say of them."""

from tests.support.strategies import Column, panel_of

from telltree.engine import Formula

KINDS = {float: "real", int: "real", bool: "Boolean", str: "categorical"}


def records(*given):
    """A panel of records, each a dict of lists; a type is that of the first value that is not missing."""
    columns = []
    for name in given[0]:
        values = [value for record in given for value in record[name] if value is not None]
        columns.append(Column(name, KINDS[type(values[0])] if values else "real"))
    return panel_of(columns, given)


def holds(text, *given, functions=()):
    """Return the truth of the formula for each record."""
    panel = records(*given)
    return Formula.parse(text, panel.schema, functions=functions)(panel).tolist()


def over_time(text, functions=(), **columns):
    """At which steps of one record the formula is true."""
    panel = records(columns)
    return Formula.parse(text, panel.schema, functions=functions).over_time(panel)[0].tolist()


def steps(text, functions=(), **columns):
    """At which steps a Boolean vector is true, each step a record of its own: F and G must both say so."""
    length = len(next(iter(columns.values())))
    alone = ({name: [values[t]] for name, values in columns.items()} for t in range(length))
    panel = panel_of([Column(name, _kind(values)) for name, values in columns.items()], list(alone))
    eventually, globally = (Formula.parse(f"{o}({text})", panel.schema, functions=functions)(panel) for o in "FG")
    assert eventually.tolist() == globally.tolist()
    return eventually.tolist()


def _kind(values):
    return next((KINDS[type(value)] for value in values if value is not None), "real")
