"""The options of `telltree fit` that say how to learn, and the estimator that they make."""

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from telltree.cli.inputs import Functions, functions_in
from telltree.cli.output import USAGE, fail
from telltree.defaults import DEFAULT_SEARCH, RANDOM_STATE
from telltree.errors import SettingsError
from telltree.files import read_small
from telltree.search import SEARCHES

if TYPE_CHECKING:
    from telltree.estimators import GrammarTreeClassifier
    from telltree.search import Search
    from telltree.tree.growth import Growth

    SearchName = str
else:
    SearchName = Literal[*SEARCHES]

GrowthName = Literal["greedy", "look-ahead", "optimal"]
Thresholds = Literal["grid", "midpoint", "best"]
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


def classifier_from(options: TreeOptions) -> "GrammarTreeClassifier":
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

    from telltree.tree.growth import Greedy, LookAhead, Optimal

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


# ---- Weights and recalls of classes.


def class_weights(given: list[str] | None) -> dict[str, float] | str | None:
    """The value of --class-weight, by the text of each class; SettingsError if it cannot be read."""
    if not given:
        return None
    if "balanced" in given:
        if len(set(given)) > 1:
            raise SettingsError("--class-weight balanced gives every class its weight: give no others")
        return "balanced"
    return _by_class(given, _WEIGHT)


def min_recalls(given: list[str] | None) -> dict[str, float] | None:
    """The value of --min-recall, by the text of each class; SettingsError if it cannot be read."""
    return _by_class(given, _RECALL) if given else None


def by_class(found: dict[str, float] | Any, labels: Any, option: str = "--class-weight") -> Any:
    """What an option says of classes, by class; SettingsError if there is no such class."""
    if not isinstance(found, dict):
        return found
    from telltree.panel.schema import listed

    classes = {str(label): label for label in sorted(set(labels.tolist()))}
    unknown = [label for label in found if label not in classes]
    if unknown:
        raise SettingsError(f"{option}: there is no class {unknown[0]!r}; there are {listed(classes, 10)}")
    return {classes[label]: number for label, number in found.items()}


class _Number(NamedTuple):
    """What an option gives to a class."""

    option: str
    name: str
    expected: str
    most: float


_WEIGHT = _Number("--class-weight", "weight", "balanced, or a class and its weight such as bad=4", math.inf)
_RECALL = _Number("--min-recall", "recall", "a class and a share such as bad=.95", 1.0)


def _by_class(given: list[str], of: _Number) -> dict[str, float]:
    """The number that each CLASS=NUMBER gives to a class."""
    found: dict[str, float] = {}
    for text in given:
        label, equals, number = text.rpartition("=")
        if not equals:
            raise SettingsError(f"{of.option} must be {of.expected}, got {text!r}")
        if label in found:
            raise SettingsError(f"{of.option} gives two {of.name}s to {label!r}; give one")
        found[label] = _read(label, number, of)
    return found


def _read(label: str, number: str, of: _Number) -> float:
    try:
        found = float(number)
    except ValueError:
        found = math.nan
    if not (0 <= found <= of.most and found < math.inf):
        bounds = "of at least 0" if of.most == math.inf else f"between 0 and {of.most:g}"
        raise SettingsError(f"{of.option}: the {of.name} of {label!r} must be a number {bounds}, got {number!r}")
    return found
