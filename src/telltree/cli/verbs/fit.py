"""telltree fit: learn a tree."""

import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from telltree.cli.evaluation import EvaluationOptions, judgement_of, read_records
from telltree.cli.inputs import Dask, client_of, say_left_out
from telltree.cli.options import Force, InStyle, Json, LogicOptions, Source
from telltree.cli.output import FAILURE, INTERRUPTED, check_output, put, put_json, say
from telltree.cli.progress import fitting
from telltree.cli.tree_options import TreeOptions, by_class, class_weights, classifier_from, min_recalls
from telltree.errors import TelltreeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from telltree.estimators import GrammarTreeClassifier
    from telltree.estimators.judgement import Judgement
    from telltree.explain import Style
    from telltree.panel import Panel

_USUAL_DEPTH = 6  # assumed for progress if none is given


def fit(
    *,
    source: Source,
    data: LogicOptions,
    tree: TreeOptions,
    judge: EvaluationOptions,
    output: Annotated[Path | None, typer.Option("--output", "-o", metavar="MODEL", help="Save the model here.")] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep here what was found out so far: if this is killed or interrupted, the same command goes on from "
            "there. The file is deleted when the model is saved.",
        ),
    ] = None,
    max_memory: Annotated[
        str | None,
        typer.Option(
            metavar="SIZE", help="The most memory to take, such as 4GB; with --scan, by default half of the machine's."
        ),
    ] = None,
    style: InStyle = "plain",
    force: Force = False,
    dask: Dask = None,
    json: Json = False,
) -> None:
    """Learn a tree of formulas from labelled records, print it, and save it with -o.

    Then say how well it does on records that it has not seen: those of --test, or else in cross-validation. The tree
    is that of GrammarTreeClassifier() for the same data: branches that are not worth the price of their formulas are
    cut. With --cv, cross-validation chooses how large it is: the smallest tree is taken whose balanced accuracy is
    below the best one's by no more than a standard error of the difference. Ctrl-C ends learning early; the best tree
    so far is saved, and the exit code is 130.

    \b
    Examples:
      telltree fit flights.csv --id flight --time t --label nmac --max-depth 4 -o model.json
      telltree fit 'logs/*.parquet' --time t --labels outcomes.csv --grammar mine.bnf -o model.json
      telltree fit flights.csv --id flight --label nmac --class-weight yes=4 --groups pilot --cv 10
      telltree fit flights.csv --id flight --label nmac --checkpoint night.checkpoint -o model.json
      telltree fit 'flights/*.parquet' --id flight --label nmac --scan --max-memory 4GB -o model.json
    """
    check_output(output, force=force)
    check_output(checkpoint, force=True)  # learning goes on from one that exists
    judge.check()
    weights, min_recall = class_weights(tree.class_weight), min_recalls(tree.min_recall)
    classifier = classifier_from(tree)
    records = read_records(source, data.reading, judge, tree.random_state)
    if data.missing == "unknown":
        classifier.set_params(missing="unknown")
        _say_how_slow(records.panel)
    from telltree.tree.interruption import Interruption  # this import loads all that learning needs

    cv = None if tree.preset else records.cv
    classifier.set_params(
        cv=cv,
        class_weight=by_class(weights, records.labels),
        min_recall=by_class(min_recall, records.labels, "--min-recall"),
    )
    with client_of(dask) as client:
        with fitting(tree.max_depth or _USUAL_DEPTH, cv or 0) as progress:
            classifier.set_params(callback=progress)
            limits: dict[str, Any] = {"client": client, "checkpoint": checkpoint, "max_memory": max_memory}
            classifier.fit(records.panel, records.labels, groups=records.groups, **limits)
        classifier.set_params(callback=None)
        say_left_out(classifier.grammar_)
        with Interruption() as while_saving:  # the tree is saved even if Ctrl-C comes now
            saved = _saved(classifier, output, force)  # before printing, which fails if the reader has gone
        if checkpoint is not None:
            _end_checkpoint(checkpoint, finished=saved and output is not None and not classifier.interrupted_)
        if not json:
            _put_tree(classifier, style)
        judgement, interrupted = None, classifier.interrupted_
        if not interrupted:
            judge_model = partial(
                judgement_of, classifier, records, tree.random_state, client=client, max_memory=max_memory
            )
            judgement, interrupted = _unless_interrupted(judge_model, while_saving.asked)
    if json:
        put_json({**_summary(classifier, style), "scores": None if judgement is None else judgement.as_dict()})
    elif judgement is not None:
        put(f"\n{judgement}")
    if interrupted or not saved:
        raise typer.Exit(INTERRUPTED if saved else FAILURE)


def _say_how_slow(panel: "Panel") -> None:
    """Print a warning that three-valued answers are slow, with the columns that cause them."""
    from telltree.panel.schema import listed

    missed = [name for name, gaps in panel.missing().items() if gaps]
    if missed:
        say(
            f"telltree: values of {listed(missed)} are missing; with --missing unknown, trying a formula about them "
            "takes 30 to 200 times as long as with --missing allow. --search-seconds sets a limit for each question"
        )


def _put_tree(classifier: "GrammarTreeClassifier", style: "Style") -> None:
    """Print the tree, remarks such as a proof that it is optimal, and the trees of other sizes."""
    from telltree.estimators.cross_validation import sizes_text
    from telltree.explain.outline import remarks

    put(classifier.outline(style=style), wrap=True)
    path, validation = classifier.pruning_path_, classifier.validation_
    sizes = "" if classifier.interrupted_ else sizes_text(path, validation, classifier.criterion, classifier.growth)
    for remark in filter(None, (*remarks(classifier.tree_), sizes)):
        put(f"\n{remark}", wrap=True)


def _end_checkpoint(checkpoint: Path, *, finished: bool) -> None:
    """Delete the checkpoint of a finished run; otherwise tell the user that it is there."""
    if finished:
        checkpoint.unlink(missing_ok=True)
    elif checkpoint.exists():
        say(f"{checkpoint} keeps what was found out; the same command goes on from there")


def _saved(classifier: "GrammarTreeClassifier", output: Path | None, force: bool) -> bool:
    """Save the model, if requested; return False if that fails.

    A model that took hours to learn must not be lost because a disk is full: it is then saved in the temporary
    directory, and the tree is still printed.
    """
    if output is None:
        say("the model was not saved; give -o model.json to keep it")
        return True
    try:
        classifier.save(output, overwrite=force)
    except BrokenPipeError:  # the reader has closed the pipe
        raise
    except (OSError, TelltreeError) as error:
        reason = getattr(error, "strerror", None) or error
        say(f"telltree: error: {output} cannot be written: {reason}; {_elsewhere(classifier, output)}")
        return False
    say(f"wrote {output}")
    return True


def _elsewhere(classifier: "GrammarTreeClassifier", output: Path) -> str:
    """Save the model in the temporary directory; return a message with the place."""
    try:
        place = Path(tempfile.mkdtemp(prefix="telltree-")) / (output.name or "model.json")
        classifier.save(place)
    except (OSError, TelltreeError) as error:
        return f"nor could it be saved elsewhere ({getattr(error, 'strerror', None) or error})"
    return f"the model is in {place}: move it from there"


def _unless_interrupted(judge: "Callable[[], Judgement | None]", interrupted: bool) -> "tuple[Judgement | None, bool]":
    """Return the judgement, and True if Ctrl-C came instead, or had come before (`interrupted`)."""
    if not interrupted:
        with suppress(KeyboardInterrupt):
            return judge(), False
    say("telltree: interrupted; how well the tree does is not known")
    return None, True


def _summary(classifier: "GrammarTreeClassifier", style: "Style") -> dict[str, Any]:
    from telltree.explain import as_records
    from telltree.explain.outline import proof_text

    tree = classifier.tree_
    return {
        "classes": classifier.classes_.tolist(),
        "depth": tree.depth,
        "leaves": len(tree.leaves),
        "terminals": tree.terminals,
        "interrupted": classifier.interrupted_,
        "proved": proof_text(tree),
        "min_recall": [str(floor) for floor in tree.floors],
        "left_out": {} if classifier.grammar_ is None else classifier.grammar_.left_out,
        "rules": as_records(classifier.rules(style=style)),
    }
