"""telltree evaluate: judge a model on labelled records."""

from typing import Annotated

import typer

from telltree.cli.evaluation import read_judged
from telltree.cli.inputs import Functions, as_learnt, functions_in
from telltree.cli.options import DataOptions, Force, Json, Model, Output, Source
from telltree.cli.output import check_output, put, put_json


def evaluate(
    *,
    model: Model,
    source: Source,
    data: DataOptions,
    train: Annotated[
        list[str] | None,
        typer.Option(
            "--train",
            metavar="DATA",
            help="Records that the model learnt from (repeatable): a decision tree on their summaries is judged too.",
        ),
    ] = None,
    functions: Functions = None,
    output: Output = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Say how well a model tells the classes of labelled records, beside always saying the commonest class.

    Scores have 95 % intervals. Records that the model learnt from flatter it: give others.

    \b
    Examples:
      telltree evaluate model.json new.csv --id flight --time t --label nmac
      telltree evaluate model.json new.csv --id flight --time t --label nmac --train flights.csv --json
    """
    from telltree.estimators.judgement import judge_on
    from telltree.estimators.loading import load_tree

    check_output(output, force=force)
    classifier = load_tree(model, functions=functions_in(functions))
    schema, data = classifier.training_.schema, as_learnt(source, data, classifier.tree_)
    panel, labels = read_judged(source, data, schema)
    judgement = judge_on(classifier, panel, labels, read_judged(train, data, schema) if train else None)
    if json:
        put_json(judgement.as_dict(), output)
    else:
        put(str(judgement), output)
