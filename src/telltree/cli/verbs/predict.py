"""telltree predict: the class of each record."""

from typing import Annotated

import typer

from telltree.cli.options import DataOptions, Force, Json, Model, Output, Source
from telltree.cli.output import check_output, put_csv, put_json
from telltree.cli.sources import as_learnt, id_heading, read_sources


def predict(
    *,
    model: Model,
    source: Source,
    data: DataOptions,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of every class.")] = False,
    output: Output = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Predict the class of each record: a table of record, prediction and its probability.

    \b
    Examples:
      telltree predict model.json new.parquet --id flight --time t > predictions.csv
      cat new.csv | telltree predict model.json - --id flight --time t --json
    """
    from telltree.tree.model import load_predictor

    check_output(output, force=force)
    loaded = load_predictor(model)
    data = as_learnt(source, data, loaded.tree)
    panel, _ = read_sources(source, data, loaded.schema)
    reached = [loaded.tree.leaves[cluster - 1][0] for cluster in loaded.tree.apply(panel).tolist()]
    classes = loaded.classes.tolist()
    columns = ["prediction", "probability"]
    if proba:
        columns += [f"probability of {label}" for label in loaded.classes]
    columns.insert(0, id_heading(data, columns))
    rows = []
    for record, leaf in zip(panel.ids.tolist(), reached, strict=True):
        shares = leaf.probabilities.tolist()
        rows.append([record, classes[leaf.label], max(shares), *(shares if proba else ())])
    if json:
        put_json([dict(zip(columns, row, strict=True)) for row in rows], output)
    else:
        put_csv(columns, rows, output)
