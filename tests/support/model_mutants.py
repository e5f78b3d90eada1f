"""Hostile versions of a model file: bytes changed at random, and JSON values replaced by ones that do not belong."""

import json

WRONG = (
    None, True, 0, -1, 10**30, -(10**30), 2**53 + 1, 1e308, -0.5, [], {}, [[]], [None], [1, 2, 3], {"a": 1},
    {"kind": "leaf"}, "", "x", "\u0000", "\ud800", "F(x < 1)", "F(", "inf", "real", "branch", "leaf", "learned",
    "__import__('os')", "a" * 5000, "é" * 300, "S ::= F(each real < grid(0, 1, 10000))",
)  # fmt: skip
RAW = (
    b"NaN",
    b"Infinity",
    b"1e999",
    b"9" * 5000,
    b'{"a":1,"a":2}',
    b"[" * 3000,
    b"\xff\xfe",
    b"\x00",
    b"'",
    b"//",
    b"",
)


def mutant(rng, content):
    """The content of a file, changed in one to three ways."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        content = rng.choice((_flipped, _cut, _without, _doubled, _raw, _revalued, _revalued, _rekeyed))(rng, content)
    return content


def _flipped(rng, content):
    place = rng.randrange(len(content) or 1)
    return content[:place] + bytes([rng.randrange(256)]) + content[place + 1 :]


def _cut(rng, content):
    return content[: rng.randrange(len(content) + 1)]


def _slice(rng, content):
    start = rng.randrange(len(content) + 1)
    return start, min(len(content), start + rng.choice((1, 2, 10, 100, 1000)))


def _without(rng, content):
    start, end = _slice(rng, content)
    return content[:start] + content[end:]


def _doubled(rng, content):
    start, end = _slice(rng, content)
    return content[:end] + content[start:]


def _raw(rng, content):
    start, end = _slice(rng, content)
    return content[:start] + rng.choice(RAW) + content[end if rng.random() < 0.5 else start :]


def _places(value, found):
    """All containers in a JSON value, each with its keys or indices."""
    if isinstance(value, dict | list) and value:
        found.append(value)
        for part in value.values() if isinstance(value, dict) else value:
            _places(part, found)
    return found


def _changed(content, change):
    try:
        document = json.loads(content)
        places = _places(document, [])
    except (ValueError, RecursionError):
        return content[::-1]
    if places:
        change(places)
    return json.dumps(document).encode()


def _revalued(rng, content):
    """A value replaced by a wrong one, or by another of the file."""

    def change(places):
        place = rng.choice(places)
        key = rng.choice(list(place)) if isinstance(place, dict) else rng.randrange(len(place))
        other = rng.choice(places)
        wrong = rng.choice((rng.choice(WRONG), rng.choice(list(other.values()) if isinstance(other, dict) else other)))
        place[key] = json.loads(json.dumps(wrong))

    return _changed(content, change)


def _rekeyed(rng, content):
    """A key renamed, dropped or added; or an item dropped, repeated or moved."""

    def change(places):
        place = rng.choice(places)
        if isinstance(place, dict):
            key = rng.choice(list(place))
            value = place.pop(key) if rng.random() < 0.7 else place[key]
            if rng.random() < 0.6:
                place[rng.choice(("name", "kind", "weights", key + "x", key.upper(), ""))] = value
        else:
            item = place.pop(rng.randrange(len(place)))
            place[rng.randrange(len(place) + 1) : 0] = [item] * rng.choice((0, 1, 2, 50))

    return _changed(content, change)
