"""telltree explain: how one record came to its category."""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from telltree.amounts import counted
from telltree.cli.options import DataOptions, Json, Model, Source
from telltree.cli.output import put, put_json
from telltree.cli.sources import read_sources
from telltree.errors import DataError

if TYPE_CHECKING:
    from telltree.data import Panel
    from telltree.explain import Turn


def explain(
    *,
    model: Model,
    source: Source,
    data: DataOptions,
    record: Annotated[str, typer.Option("--record", metavar="ID", help="The id of the record.")],
    json: Json = False,
) -> None:
    """Say, branch by branch, how one record came to its category, and when each formula was decided.

    \b
    Example:
      telltree explain model.json flights.csv --id flight --time t --record 17
    """
    from telltree.estimators import load
    from telltree.explain import way_of

    classifier = load(model)
    panel, _ = read_sources(source, data, classifier.training_.schema)
    place = position_of(panel, record)
    training = classifier.training_
    turns = way_of(classifier.tree_, panel, place, reference=training.spread)
    category, label = int(classifier.apply(panel[[place]])[0]), classifier.predict(panel[[place]])[0]
    if json:
        turned = [{**asdict(turn), "formula": str(turn.formula)} for turn in turns]
        put_json({"record": panel.ids[place], "category": category, "class": label, "branches": turned})
        return
    lines = [f"record {record}: category [{category}], {label}"]
    lines += [_told(turn) for turn in turns] or ["  the tree is a single leaf: all records come here"]
    put("\n".join(lines))


def position_of(panel: "Panel", record: str) -> int:
    """Where the record with this id stands in the panel."""
    from difflib import get_close_matches

    ids = [str(one) for one in panel.ids.tolist()]
    if record in ids:
        return ids.index(record)
    near = get_close_matches(record, ids, 3) or ids[:3]
    raise DataError(f"there is no record {record!r} among {counted(len(ids), 'record')}, such as {', '.join(near)}")


def _told(turn: "Turn") -> str:
    verdict = "true" if turn.holds else "false"
    said = f"is {verdict}: {turn.english}\n    decided at {turn.moment}; margin {turn.distance}"
    return f"\n  {turn.formula}\n    {said}"
