"""The grammars for encounters of two aircraft, with attributes grouped by type and kind. Each is one file to read."""

from importlib.resources import files


def acasx_grammar() -> str:
    """The grammar of the paper's authors for the encounters of `load_acasx`, in telltree's language."""
    return _text("acasx.bnf")


def encounter_grammar(proximity: bool = False, distance: bool = True) -> str:
    """The text of the grammar for simulated encounters.

    proximity: whether it speaks of range, position and bearing. Those nearly are the definition of a near mid-air
        collision: with them the tree says where the aircraft were, and without them why they came there.
    distance: whether it speaks of the vertical distance, now and as projected. Without that, the tree can only say what
        aircraft, pilots and the avoidance logic did.
    """
    left_out = [mark for mark, wanted in (("# proximity", proximity), ("# distance", distance)) if not wanted]
    lines = _text("encounters.bnf").splitlines()
    return "\n".join(line for line in lines if not line.rstrip().endswith(tuple(left_out))) + "\n"


def _text(name: str) -> str:
    return (files("telltree.experiments") / name).read_text(encoding="utf-8")
