"""A program that needs no extras, and prints the error where one is needed; tests/project/test_wheel.py runs it."""

import tempfile
from pathlib import Path

from telltree import GrammarTreeClassifier, export_model, load, read
from telltree.errors import MissingLibraryError
from telltree.search import MonteCarlo

folder = Path(tempfile.mkdtemp())
rows = [f"{i},{t},{i % 2 * t},{'ab'[i % 2]}" for i in range(20) for t in range(3)]
(folder / "x.csv").write_text("\n".join(["id,t,x,y", *rows]))
(folder / "x.parquet").write_bytes(b"PAR1")

panel, y = read(folder / "x.csv", id="id", time="t", label="y")
model = GrammarTreeClassifier(search=MonteCarlo(evaluations=50), max_depth=1, random_state=0).fit(panel, y)
model.save(folder / "model.json")
again = load(folder / "model.json")
assert list(again.predict(panel)) == list(y)
assert "SELECT" in export_model(again, "sql")
print(again.categories(panel, y)[0].english)

for use in (
    lambda: model.report(panel, y, folder / "page.html"),
    model.plot,
    lambda: read(folder / "x.parquet", id="id"),
):
    try:
        use()
    except MissingLibraryError as error:
        print(error)
