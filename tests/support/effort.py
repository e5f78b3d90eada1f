"""How much random tests try: little by default, all of it with `--hypothesis-profile large`, as `make test-all` has it.

Of tests with a parameter such as a seed, a few run by default, and the others are marked slow.
"""

import pytest
from hypothesis import settings

SMALL, LARGE = 20, 100
"""The examples of a random test that does not say how many it needs."""


def load_profiles():
    """Register both profiles and load the small one; examples are the same every time, so that failures come back."""
    for name, number in (("small", SMALL), ("large", LARGE)):
        settings.register_profile(name, max_examples=number, deadline=None, derandomize=True, print_blob=True)
    settings.load_profile("small")


def is_large():
    """True where everything is tried. The profile is known when tests are collected, after this file is imported."""
    return settings.default.max_examples >= LARGE


def share(number, least=5):
    """So many in the large profile, a fifth of it in the small one."""
    return number if is_large() else max(min(number, least), number * SMALL // LARGE)


def examples(number, **options):
    """Settings of a test that tries so many examples in the large profile."""
    return settings(max_examples=share(number), **options)


def few_fast(values, fast=1):
    """Values of a parameter, of which the first so many run by default, and the others with slow tests."""
    values = list(values)
    return values[:fast] + [pytest.param(value, marks=pytest.mark.slow) for value in values[fast:]]
