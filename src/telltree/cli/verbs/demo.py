"""telltree demo: a first look."""

from telltree.cli.output import put


def demo() -> None:
    """Simulate aircraft encounters, learn a tree and show what it says.

    \b
    Example:
      telltree demo
    """
    from telltree.demo import report

    for part in report():
        put(part + "\n")
