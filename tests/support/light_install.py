"""Run a program as if only some packages, and what they need, were installed: python light_install.py PACKAGES FILE."""

import runpy
import sys
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


def closure(packages):
    """The packages and all that comes with them, as pip would install them here."""
    found, left = set(), [canonicalize_name(package) for package in packages]
    while left:
        package = left.pop()
        if package not in found:
            found.add(package)
            needs = map(Requirement, metadata.requires(package) or ())
            left += [canonicalize_name(n.name) for n in needs if not n.marker or n.marker.evaluate({"extra": ""})]
    return found


class Absent:
    """A finder that comes first, and finds that other packages are not there."""

    def __init__(self, there):
        homes = metadata.packages_distributions()
        self._hidden = {
            module for module, owners in homes.items() if there.isdisjoint(map(canonicalize_name, owners))
        } - {"telltree"}

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in self._hidden:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


if __name__ == "__main__":
    _, given, program = sys.argv
    absent = Absent(closure(given.split(",")))
    for name in [name for name in sys.modules if name.partition(".")[0] == "packaging"]:
        del sys.modules[name]
    sys.meta_path.insert(0, absent)
    sys.argv = [program]
    runpy.run_path(program, run_name="__main__")
