"""The grammar for encounters of two aircraft, crafted as the paper's: attributes divided by type and by kind."""

from importlib.resources import files

_MARK = "# proximity"


def encounter_grammar(proximity: bool = False) -> str:
    """The text of the grammar; with `proximity` it also speaks of range, position and time to closest approach.

    Those nearly are the definition of a near mid-air collision: with them the tree says where the aircraft were, and
    without them why they came there.
    """
    text = (files("telltree.experiments") / "encounters.bnf").read_text(encoding="utf-8")
    lines = text.splitlines()
    return "\n".join(line for line in lines if proximity or not line.rstrip().endswith(_MARK)) + "\n"
