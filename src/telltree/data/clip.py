"""Names of any length, shortened for tables. Output for machines is never shortened."""

WIDEST = 40  # characters of a name in a table


def clip(text: object, most: int = WIDEST) -> str:
    """The text, or its beginning and an ellipsis, in at most `width` characters."""
    whole = str(text)
    return whole if len(whole) <= most else whole[: most - 1].rstrip() + "…"
