"""Counts of things in words."""


def counted(number: int, thing: str, things: str | None = None) -> str:
    """So many things, with the plural where it belongs: `1 record`, `2,000 records`, `3 categories`.

    `things` is the plural where it takes more than an s. Both may go on to the verb: ("record has", "records have").
    """
    return f"{number:,} {thing if number == 1 else things or thing + 's'}"
