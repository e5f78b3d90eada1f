"""Packs the sample of aircraft encounters that comes with telltree: python docs/pack_acasx.py PATH, the whole data.

PATH is what `telltree.datasets.load_acasx` takes.
"""

import sys
from pathlib import Path

import numpy as np

from telltree.datasets import load_acasx
from telltree.datasets.acasx.load import packed

RECORDS = 2_000
SHOWN = (944, 1303, 5246)  # of the paper's figures

panel, y = load_acasx(sys.argv[1], cut=False)
rng = np.random.default_rng(0)
chosen = []
for label in np.unique(y):
    of_class = np.flatnonzero(y == label)
    wanted = round(RECORDS * len(of_class) / len(y))
    shown = [place for place in of_class if panel.ids[place] in SHOWN]
    others = rng.permutation([place for place in of_class if panel.ids[place] not in SHOWN])
    chosen += [*shown, *others[: wanted - len(shown)]]
part = np.sort(np.array(chosen))
columns = {name: panel[part].stacked(name) for name in panel.schema}
file = Path(__file__).parent.parent / "src/telltree/datasets/acasx/sample.npz.xz"
file.write_bytes(packed(columns, panel.ids[part], y[part] == "NMAC"))
print(f"wrote {file}: {len(part)} encounters, {file.stat().st_size / 1e6:.2f} MB")
