"""telltree predict: predict the class of each record."""

from typing import Annotated

import typer

from telltree.cli.inputs import Functions, as_learnt, functions_in, id_heading, read_sources
from telltree.cli.options import DataOptions, Force, Json, Model, Output, Source
from telltree.cli.output import check_output, put_csv, put_json


def predict(
    *,
    model: Model,
    source: Source,
    data: DataOptions,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probability of every class.")] = False,
    functions: Functions = None,
    output: Output = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Predict the class of each record: a table of record, prediction and its probability.

    Of a model that was learnt with --missing unknown, it also has how many unknown answers each record met.

    \b
    Examples:
      telltree predict model.json new.parquet --id flight --time t > predictions.csv
      cat new.csv | telltree predict model.json - --id flight --time t --json
    """
    from telltree.models import load_predictor

    check_output(output, force=force)
    loaded = load_predictor(model, functions_in(functions))
    data = as_learnt(source, data, loaded.tree)
    panel, _ = read_sources(source, data, loaded.schema)
    predictions = [summary.answers(every=proba) for summary in loaded.tree.summaries]
    columns = list(predictions[0])
    columns.insert(0, id_heading(data, columns))
    categories = zip(panel.ids.tolist(), loaded.tree.apply(panel), strict=True)
    rows = [[record, *predictions[category - 1].values()] for record, category in categories]
    if loaded.tree.three_valued:
        columns.append("unknown")
        rows = [[*row, count] for row, count in zip(rows, loaded.tree.unknown(panel).sum(axis=1).tolist(), strict=True)]
    if json:
        put_json([dict(zip(columns, row, strict=True)) for row in rows], output)
    else:
        put_csv(columns, rows, output)
