"""Options of `telltree fit` that become the parameters of the estimator."""

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
    from telltree.tree.settings import Growth

    SearchName = str
else:
    SearchName = Literal[*SEARCHES]

GrowthName = Literal["greedy", "look-ahead", "optimal"]
Thresholds = Literal["grid", "midpoint", "best"]
_PAPER_SEARCH = "gp"


def _number(text: str) -> Any:
    return typer.Option(metavar="NUMBER", help=text)


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
    """Return the estimator with these parameters; class weights and recalls need labels, see `by_class`."""
    if options.functions is not None and options.grammar is None:
        fail("--functions is for a --grammar that calls them, and none is given", USAGE)
    from telltree.estimators import GrammarTreeClassifier

    preset = GrammarTreeClassifier() if options.preset is None else GrammarTreeClassifier.paper()
    given: dict[str, Any] = {
        "grammar": None if options.grammar is None else _text_of(options.grammar),
        "max_depth": options.max_depth,
        "min_samples_leaf": options.min_samples_leaf,
    }
    return preset.set_params(
        **{name: value for name, value in given.items() if value is not None},
        search=_search(options),
        growth=_growth(options, preset.growth),
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
    """Return the search with the settings given; None, the estimator's default, if there are none."""
    from dataclasses import replace

    name = _PAPER_SEARCH if options.preset and options.search == DEFAULT_SEARCH else options.search
    kind: Any = SEARCHES[name].load()
    search: Search = kind.paper() if options.preset and hasattr(kind, "paper") else kind()
    given: dict[str, Any] = {
        "evaluations": options.search_evaluations,
        "seconds": options.search_seconds,
        "max_depth": options.search_max_depth,
        "max_atoms": options.search_max_atoms,
        "seeds": options.search_seed or None,
    }
    if options.search_max_atoms is not None and not hasattr(search, "max_atoms"):
        others = [other for other, row in SEARCHES.items() if hasattr(row.load(), "max_atoms")]
        fail(f"--search-max-atoms is for --search {' or '.join(others)}, not for {name}", USAGE)
    for setting in options.search_setting or ():
        key, value = _setting(setting, search, name)
        if given.get(key) is not None:
            fail(f"--search-setting {setting}: {key} is given twice", USAGE)
        given[key] = value
    settings = {key: value for key, value in given.items() if value is not None}
    if not settings and name == DEFAULT_SEARCH:
        return None
    changed: Search = replace(search, **settings)
    return changed


def _setting(text: str, search: "Search", kind: str) -> tuple[str, Any]:
    """Parse NAME=VALUE: a number, a word, or true or false, like the default of that setting."""
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


def _growth(options: TreeOptions, preset: "Growth | None") -> "Growth | None":
    """Return the growth with the settings given; the preset's, or None for the default, if there are none."""
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
    shared = {} if preset is None else {"thresholds": preset.thresholds, "simplify": preset.simplify}
    known = {field.name for field in fields(kind)}
    chosen = {name: value for name, value in given.items() if value is not None}
    for name in chosen:
        if name not in known:
            option = "growth-pool" if name == "pool" else name.replace("_", "-")
            others = [key for key, other in kinds.items() if name in {field.name for field in fields(other)}]
            fail(f"--{option} is for --growth {' or '.join(others)}, not for {options.growth}", USAGE)
    if kind is Greedy and not chosen:
        return preset
    return kind(**shared | chosen)


# ---- Options that give each class a number: weights and recalls.


def class_weights(given: list[str] | None) -> dict[str, float] | str | None:
    """Parse --class-weight, by the text of each class; SettingsError if it cannot be parsed."""
    if not given:
        return None
    if "balanced" in given:
        if len(set(given)) > 1:
            raise SettingsError("--class-weight balanced gives every class its weight: give no others")
        return "balanced"
    return _parsed(given, _WEIGHT)


def min_recalls(given: list[str] | None) -> dict[str, float] | None:
    """Parse --min-recall, by the text of each class; SettingsError if it cannot be parsed."""
    return _parsed(given, _RECALL) if given else None


def by_class(numbers: dict[str, float] | Any, labels: Any, option: str = "--class-weight") -> Any:
    """Replace the text of each class by the class; SettingsError if there is no such class."""
    if not isinstance(numbers, dict):
        return numbers
    from telltree.panel.schema import listed

    classes = {str(label): label for label in sorted(set(labels.tolist()))}
    unknown = [label for label in numbers if label not in classes]
    if unknown:
        raise SettingsError(f"{option}: there is no class {unknown[0]!r}; there are {listed(classes, 10)}")
    return {classes[label]: number for label, number in numbers.items()}


class _ClassOption(NamedTuple):
    """An option that gives a number to each class."""

    option: str
    quantity: str
    expected: str
    most: float


_WEIGHT = _ClassOption("--class-weight", "weight", "balanced, or a class and its weight such as bad=4", math.inf)
_RECALL = _ClassOption("--min-recall", "recall", "a class and a share such as bad=.95", 1.0)


def _parsed(given: list[str], option: _ClassOption) -> dict[str, float]:
    """Parse each CLASS=NUMBER."""
    found: dict[str, float] = {}
    for text in given:
        label, equals, number = text.rpartition("=")
        if not equals:
            raise SettingsError(f"{option.option} must be {option.expected}, got {text!r}")
        if label in found:
            raise SettingsError(f"{option.option} gives two {option.quantity}s to {label!r}; give one")
        found[label] = _number_of(label, number, option)
    return found


def _number_of(label: str, text: str, option: _ClassOption) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not (0 <= number <= option.most and number < math.inf):
        bounds = "of at least 0" if option.most == math.inf else f"between 0 and {option.most:g}"
        raise SettingsError(
            f"{option.option}: the {option.quantity} of {label!r} must be a number {bounds}, got {text!r}"
        )
    return number
