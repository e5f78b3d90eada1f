"""Ragged records of all column types, and labels for them."""

import random

from tests.support.strategies import Column


def mixed_records(number, seed=0):
    """Ragged records of all column types, a few values missing, in plain Python."""
    rng = random.Random(seed)

    def steps(length, draw):
        return [None if rng.random() < 0.03 else draw() for _ in range(length)]

    lengths = [rng.randint(1, 6) for _ in range(number)]
    return [
        {
            "speed": steps(length, lambda: round(rng.gauss(0, 2), 2)),
            "height": steps(length, lambda: float(rng.randrange(5))),
            "on": steps(length, lambda: rng.random() < 0.3),
            "mode": steps(length, lambda: rng.choice(("up", "down", "level"))),
        }
        for length in lengths
    ]


MIXED = (Column("speed", "real"), Column("height", "real"), Column("on", "Boolean"), Column("mode", "categorical"))


def mixed_labels(records):
    """Three classes that formulas tell apart."""
    fast = [any(x is not None and x > 2.5 for x in record["speed"]) for record in records]
    high = [any(h is not None and h >= 4 for h in record["height"]) for record in records]
    return ["fast" if f else "high" if h else "calm" for f, h in zip(fast, high, strict=True)]
