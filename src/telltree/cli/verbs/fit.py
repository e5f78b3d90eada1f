"""telltree fit: learn a tree."""

import tempfile
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from telltree.cli.inputs import Dask, Functions, client_of, functions_in
from telltree.cli.judging import JudgeOptions, class_weights, judged, least_recalls, of_classes, read_records
from telltree.cli.left_out import say_left_out
from telltree.cli.options import (
    FAILURE,
    INTERRUPTED,
    USAGE,
    Force,
    InStyle,
    Json,
    LogicOptions,
    Source,
    check_output,
    fail,
    put,
    put_json,
    say,
)
from telltree.cli.progress import fitting
from telltree.defaults import DEFAULT_SEARCH, RANDOM_STATE
from telltree.errors import TelltreeError
from telltree.files import read_small
from telltree.search import SEARCHES

if TYPE_CHECKING:
    from collections.abc import Callable

    from telltree.estimators import GrammarTreeClassifier
    from telltree.estimators.judgement import Judgement
    from telltree.explain import Style
    from telltree.panel import Panel
    from telltree.search import Search
    from telltree.tree.settings import Growth

    SearchName = str
else:
    SearchName = Literal[*SEARCHES]

GrowthName = Literal["greedy", "look-ahead", "optimal"]
Thresholds = Literal["grid", "midpoint", "best"]
_USUAL_DEPTH = 6  # assumed for progress if none is given
_PAPER_SEARCH = "gp"


def _number(says: str) -> Any:
    return typer.Option(metavar="NUMBER", help=says)


@dataclass(frozen=True)
class TreeOptions:
    """The parameters of the estimator."""

    preset: Annotated[
        Literal["paper"] | None,
        typer.Option(
            help="paper: criterion, search, stopping and grammar of the paper, nothing pruned or rewritten; other "
            "options change it. Cross-validation then only tells how good the tree is.",
            show_default=False,
        ),
    ] = None
    grammar: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Grammar, as text; by default one that suits the data, see `telltree grammar`; the word shapes for "
            "the same with pieces of training records, paper for the paper's generic grammar.",
        ),
    ] = None
    functions: Functions = None
    max_depth: Annotated[
        int | None, _number("Most branches from root to leaf; by default what suits the number of records.")
    ] = None
    min_samples_leaf: Annotated[
        int | None, _number("Records that each side of a split must have; by default what suits their number.")
    ] = None
    min_gain: Annotated[float | None, _number("The least decrease of the criterion for which a node is split.")] = None
    prevent_same_label: Annotated[
        bool, typer.Option("--prevent-same-label", help="Refuse splits whose sides predict the same.")
    ] = False
    thresholds: Annotated[
        Thresholds | None,
        typer.Option(
            help="Where constants of a chosen formula go. grid: they stay; midpoint: to the middle of their gap; "
            "best: to the gap where the formula is fittest. By default midpoint without --grammar, else grid.",
            show_default=False,
        ),
    ] = None
    simplify: Annotated[
        bool | None,
        typer.Option(
            help="Drop parts of formulas that decide nothing, and rewrite them; --no-simplify keeps each as the "
            "search derived it.",
            show_default=False,
        ),
    ] = None
    simplicity: Annotated[
        float | None,
        _number(
            "How much worse a smaller tree may be and still be taken: standard errors with cross-validation, else "
            "a factor of the price of formulas; 0 takes the best. By default 1."
        ),
    ] = None
    class_weight: Annotated[
        list[str] | None,
        typer.Option(
            "--class-weight",
            metavar="CLASS=NUMBER",
            help="What a record of a class weighs, such as bad=4 (repeatable); balanced gives all classes the same.",
        ),
    ] = None
    min_recall: Annotated[
        list[str] | None,
        typer.Option(
            "--min-recall",
            metavar="CLASS=SHARE",
            help="The least share of the training records of a class to be found, such as bad=.95 (repeatable); its "
            "records weigh more in the leaves if need be.",
        ),
    ] = None
    random_state: Annotated[int, _number("The same seed gives the same tree.")] = RANDOM_STATE
    n_jobs: Annotated[int | None, _number("Threads; -1 for all cores.")] = None
    search: Annotated[
        SearchName, typer.Option(help=", ".join(f"{name}: {row.help}" for name, row in SEARCHES.items()) + ".")
    ] = DEFAULT_SEARCH
    search_evaluations: Annotated[int | None, _number("Distinct formulas to try for each node.")] = None
    search_seconds: Annotated[float | None, _number("Seconds to spend on each node.")] = None
    search_max_depth: Annotated[int | None, _number("How deeply operators may be nested.")] = None
    search_seed: Annotated[
        list[str] | None,
        typer.Option(
            "--search-seed", metavar="FORMULA", help="A formula, or sentence, to try first and breed from (repeatable)."
        ),
    ] = None
    search_setting: Annotated[
        list[str] | None,
        typer.Option(
            "--search-setting",
            metavar="NAME=VALUE",
            help="Another setting of the search, such as population=500 (repeatable).",
        ),
    ] = None
    growth: Annotated[
        GrowthName,
        typer.Option(
            help="greedy: each question is the best by itself; look-ahead: together with the best below it; optimal: "
            "the best of all trees of up to --max-depth 3 levels over a pool of questions, with a proof."
        ),
    ] = "greedy"
    growth_pool: Annotated[int | None, _number("Questions between which growth may choose, if not greedy.")] = None
    search_max_atoms: Annotated[int | None, _number("Up to how many atoms all formulas are tried.")] = None


def fit(
    *,
    source: Source,
    data: LogicOptions,
    tree: TreeOptions,
    judge: JudgeOptions,
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
    check_output(checkpoint, force=True)  # one that exists is gone on from
    judge.check()
    weights, min_recall = class_weights(tree.class_weight), least_recalls(tree.min_recall)
    classifier = _classifier(tree)
    if data.missing == "unknown":
        classifier.set_params(missing="unknown")
    records = read_records(source, data.reading, judge, tree.random_state)
    if data.missing == "unknown":
        _say_how_slow(records.panel)
    from telltree.tree.interruption import Interruption

    cv = None if tree.preset else records.cv
    classifier.set_params(class_weight=of_classes(weights, records.labels), cv=cv)
    classifier.set_params(min_recall=of_classes(min_recall, records.labels, "--min-recall"))
    with client_of(dask) as client:
        with fitting(tree.max_depth or _USUAL_DEPTH, cv or 0) as progress:
            classifier.set_params(callback=progress)
            limits: dict[str, Any] = {"client": client, "checkpoint": checkpoint, "max_memory": max_memory}
            classifier.fit(records.panel, records.labels, groups=records.groups, **limits)
        classifier.set_params(callback=None)
        say_left_out(classifier.grammar_)
        with Interruption() as while_saving:  # what was learned is saved, also when Ctrl-C comes now
            saved = _saved(classifier, output, force)  # before anything is printed: whoever reads may have gone
        if checkpoint is not None:
            _end_checkpoint(checkpoint, finished=saved and output is not None and not classifier.interrupted_)
        if not json:
            _put_tree(classifier, style)
        judgement, interrupted = None, classifier.interrupted_
        if not interrupted:
            judging = partial(judged, classifier, records, tree.random_state, client=client, max_memory=max_memory)
            judgement, interrupted = _unless_interrupted(judging, while_saving.asked)
    if json:
        put_json({**_summary(classifier, style), "scores": None if judgement is None else judgement.as_dict()})
    elif judgement is not None:
        put(f"\n{judgement}")
    if interrupted or not saved:
        raise typer.Exit(INTERRUPTED if saved else FAILURE)


def _say_how_slow(panel: "Panel") -> None:
    """Say beforehand what three-valued answers cost, and of which columns."""
    from telltree.panel.schema import listed

    missed = [name for name, gaps in panel.missing().items() if gaps]
    if missed:
        say(
            f"telltree: values of {listed(missed)} are missing; with --missing unknown, trying a formula about them "
            "takes 30 to 200 times as long as with --missing allow. --search-seconds sets a limit for each question"
        )


def _put_tree(classifier: "GrammarTreeClassifier", style: "Style") -> None:
    """Print the tree, what is proved of it, and the trees of other sizes."""
    from telltree.estimators.cross_validation import sizes_text
    from telltree.explain.outline import remarks

    put(classifier.outline(style=style), wrap=True)
    path, validation = classifier.pruning_path_, classifier.validation_
    sizes = "" if classifier.interrupted_ else sizes_text(path, validation, classifier.criterion, classifier.growth)
    for remark in filter(None, (*remarks(classifier.tree_), sizes)):
        put(f"\n{remark}", wrap=True)


def _end_checkpoint(checkpoint: Path, *, finished: bool) -> None:
    """Delete what is needed no more, or say what it is good for."""
    if finished:
        checkpoint.unlink(missing_ok=True)
    elif checkpoint.exists():
        say(f"{checkpoint} keeps what was found out; the same command goes on from there")


def _saved(classifier: "GrammarTreeClassifier", output: Path | None, force: bool) -> bool:
    """Save the model, if requested; if that fails, save it elsewhere and say so.

    What took hours to learn is not lost because a disk is full: the tree is printed all the same.
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
    """Save the model in the temporary directory, and say where."""
    try:
        place = Path(tempfile.mkdtemp(prefix="telltree-")) / (output.name or "model.json")
        classifier.save(place)
    except (OSError, TelltreeError) as error:
        return f"nor could it be saved elsewhere ({getattr(error, 'strerror', None) or error})"
    return f"the model is in {place}: move it from there"


def _unless_interrupted(judging: "Callable[[], Judgement | None]", asked: bool) -> "tuple[Judgement | None, bool]":
    """How well the tree does, unless Ctrl-C came first; and whether it came, perhaps before (`asked`)."""
    if not asked:
        with suppress(KeyboardInterrupt):
            return judging(), False
    say("telltree: interrupted; how well the tree does is not known")
    return None, True


def _classifier(options: TreeOptions) -> "GrammarTreeClassifier":
    if options.functions is not None and options.grammar is None:
        fail("--functions is for a --grammar that calls them, and none is given", USAGE)
    from telltree.estimators import GrammarTreeClassifier

    usual = GrammarTreeClassifier() if options.preset is None else GrammarTreeClassifier.paper()
    given: dict[str, Any] = {
        "grammar": None if options.grammar is None else _text_of(options.grammar),
        "max_depth": options.max_depth,
        "min_samples_leaf": options.min_samples_leaf,
    }
    return usual.set_params(
        **{name: value for name, value in given.items() if value is not None},
        search=_search(options),
        growth=_growth(options, usual.growth),
        functions=functions_in(options.functions) or (),
        random_state=options.random_state,
        n_jobs=options.n_jobs,
    )


def _text_of(grammar: Path) -> str:
    from telltree.grammar.default_language import SHAPES
    from telltree.grammar.generic_language import PAPER

    if str(grammar) in (SHAPES, PAPER) and not grammar.exists():
        return str(grammar)
    try:
        return read_small(grammar)
    except (OSError, ValueError) as error:  # ValueError: not UTF-8, or too large
        fail(f"the grammar {grammar} cannot be read: {getattr(error, 'strerror', None) or error}", USAGE)


def _search(options: TreeOptions) -> "Search | None":
    """The search as asked for; None, which the estimator knows as the default one, if nothing of it was."""
    from dataclasses import replace

    called = _PAPER_SEARCH if options.preset and options.search == DEFAULT_SEARCH else options.search
    kind: Any = SEARCHES[called].load()
    search: Search = kind.paper() if options.preset and hasattr(kind, "paper") else kind()
    given: dict[str, Any] = {
        "evaluations": options.search_evaluations,
        "seconds": options.search_seconds,
        "max_depth": options.search_max_depth,
        "max_atoms": options.search_max_atoms,
        "seeds": options.search_seed or None,
    }
    if options.search_max_atoms is not None and not hasattr(search, "max_atoms"):
        knowing = [name for name, row in SEARCHES.items() if hasattr(row.load(), "max_atoms")]
        fail(f"--search-max-atoms is for --search {' or '.join(knowing)}, not for {called}", USAGE)
    for setting in options.search_setting or ():
        name, value = _setting(setting, search, called)
        if given.get(name) is not None:
            fail(f"--search-setting {setting}: {name} is given twice", USAGE)
        given[name] = value
    asked = {name: value for name, value in given.items() if value is not None}
    if not asked and called == DEFAULT_SEARCH:
        return None
    changed: Search = replace(search, **asked)
    return changed


def _setting(text: str, search: "Search", kind: str) -> tuple[str, Any]:
    """A setting of a search from NAME=VALUE: a number, a word, or true or false, as its default is."""
    from dataclasses import fields

    name, _, value = text.partition("=")
    known = [field.name for field in fields(search) if field.name != "seeds"]
    if name not in known:
        fail(f"--search-setting {text}: {kind} has no setting {name!r}; it has {', '.join(known)}", USAGE)
    default = getattr(search, name)
    if isinstance(default, bool):
        if value not in ("true", "false"):
            fail(f"--search-setting {text}: {name} is true or false", USAGE)
        return name, value == "true"
    if isinstance(default, str):
        return name, value
    try:
        return name, float(value) if set(value) & set(".einEIN") else int(value)
    except ValueError:
        fail(f"--search-setting {text}: {name} is a number", USAGE)


def _growth(options: TreeOptions, usual: "Growth | None") -> "Growth | None":
    """The growth with the settings given; None, which stands for the default one, if there are none."""
    from dataclasses import fields

    from telltree.tree.settings import Greedy, LookAhead, Optimal

    kinds: dict[str, type[Growth]] = {"greedy": Greedy, "look-ahead": LookAhead, "optimal": Optimal}
    kind = kinds[options.growth]
    given: dict[str, Any] = {
        "thresholds": options.thresholds,
        "simplify": options.simplify,
        "simplicity": options.simplicity,
        "min_gain": options.min_gain,
        "prevent_same_label": options.prevent_same_label or None,
        "pool": options.growth_pool,
    }
    shared = {} if usual is None else {"thresholds": usual.thresholds, "simplify": usual.simplify}
    known = {field.name for field in fields(kind)}
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if name not in known:
            option = "growth-pool" if name == "pool" else name.replace("_", "-")
            knowing = [each for each, other in kinds.items() if name in {field.name for field in fields(other)}]
            fail(f"--{option} is for --growth {' or '.join(knowing)}, not for {options.growth}", USAGE)
    if kind is Greedy and not chosen:
        return usual
    return kind(**shared | chosen)


def _left_out(classifier: "GrammarTreeClassifier") -> dict[str, str]:
    """The columns that the grammar leaves out, and why."""
    return {} if classifier.grammar_ is None else classifier.grammar_.left_out


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
        "left_out": _left_out(classifier),
        "rules": as_records(classifier.rules(style=style)),
    }
