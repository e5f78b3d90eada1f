"""Expressions of telltree as the oracle reads them: nested tuples."""

from telltree.logic import Attribute, Level, Number, Shape, UserFunction


def judged(e):
    """An expression as the oracle reads it."""
    match e.head:
        case Attribute(name=name):
            return ("x", name)
        case Number(value=value):
            return ("number", value)
        case Shape(values=values):
            return ("shape", values)
        case Level(name=name):
            return ("level", name)
        case UserFunction(name=name):
            return ("call", name, *map(judged, e.args))
    return (e.head.name, *map(judged, e.args))
