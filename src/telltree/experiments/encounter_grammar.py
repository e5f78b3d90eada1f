"""The grammar for encounters of two aircraft, crafted as the paper's: attributes divided by type and by kind."""

from importlib.resources import files


def encounter_grammar(proximity: bool = False, distance: bool = True) -> str:
    """The text of the grammar.

    proximity: whether it speaks of range, position and bearing. Those nearly are the definition of a near mid-air
        collision: with them the tree says where the aircraft were, and without them why they came there.
    distance: whether it speaks of the vertical distance, now and as projected. Without that, the tree can only say what
        aircraft, pilots and the avoidance logic did.
    """
    text = (files("telltree.experiments") / "encounters.bnf").read_text(encoding="utf-8")
    left_out = [mark for mark, wanted in (("# proximity", proximity), ("# distance", distance)) if not wanted]
    return "\n".join(line for line in text.splitlines() if not line.rstrip().endswith(tuple(left_out))) + "\n"
