"""Checkpoints: a file from which learning goes on after its process was killed.

It is written whole or not at all, and so seldom that it takes no more than a hundredth of the time.
"""

import binascii
import hashlib
import json
import math
import os
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from telltree import __version__
from telltree.checks import is_whole
from telltree.engine import Formula
from telltree.errors import CheckpointError, GrammarError, SettingsError, TelltreeWarning
from telltree.files import is_device, remove_parts, require_writable, write_whole
from telltree.grammar import Grammar
from telltree.grammar.derivation import Population
from telltree.panel import Panel
from telltree.search.archive import Candidate, OfSize, moments
from telltree.search.proof import Proof
from telltree.search.search import Remember, SearchResult
from telltree.search.state import SavedState, State, flat, together
from telltree.tree.induction import CheckpointStore
from telltree.tree.settings import TreeSettings
from telltree.tree.split_search import NodeTask, ShownFormula, Split, SplitResult, SplitSearch
from telltree.tree.target import Labels
from telltree.tree.training_facts import fingerprint
from telltree.tree.tree import Leaf

EVERY = 1.0
"""The least number of seconds between two writes."""
SHARE = 0.01
"""The share of time that may go into writing: after a write that took a second there is none for the next hundred."""

Name = str | os.PathLike[str]
_CUTS, _NO_CUTS = "cuts", np.array([-1])


@contextmanager
def naming(path: Name) -> Iterator[None]:
    """Make CheckpointErrors raised within name the file and the remedy."""
    try:
        yield
    except CheckpointError as error:
        remedy = "to start afresh, delete the file or name another"
        raise CheckpointError(f"the checkpoint {os.fspath(path)!r}: {error}; {remedy}") from error


class NodePlace(NamedTuple):
    """The place of an entry: tree 0 is that of all records, the others are those of folds."""

    tree: int
    node: int
    finished: bool
    """True for the result of a node, False for the state of its search."""


class Checkpoint:
    """The results of the nodes of all trees of one fit, in memory and in a file."""

    def __init__(self, path: Name) -> None:
        """Read the file, if it exists; check that it can be written."""
        self._path, self._about = Path(path), dict[str, str]()
        self._lines: dict[NodePlace, bytes] = {}
        self._made: dict[NodePlace, Callable[[], State]] = {}
        self._lock, self._next, self._warned = threading.RLock(), time.monotonic() + EVERY, False
        try:
            require_writable(path)
        except OSError as error:
            raise SettingsError(f"the checkpoint {os.fspath(path)!r} cannot be written: {error.strerror}") from None
        if is_device(self._path):
            raise SettingsError(f"the checkpoint {os.fspath(path)!r} must be a file, which can be replaced")
        self.found = self._path.exists()
        if self.found:
            self._about, self._lines = read_file(path)
            remove_parts(path)  # of writes that were killed

    def seed(self, otherwise: int) -> int:
        """Return the seed of the fit in the file; `otherwise` if there is none."""
        text = self._about.get(_SEED, "")
        return int(text) if text.isdecimal() and len(text) < 20 else otherwise

    def require(self, description: Mapping[str, str]) -> None:
        """Raise CheckpointError if the file belongs to another fit; a new file is for this one."""
        if self.found:
            _require_same(self._about, description)
        self._about = dict(description)

    def tree(self, number: int) -> CheckpointStore:
        """Return the store of a tree: 0 is that of all records, the others are those of folds."""
        return _TreeCheckpoint(self, number)

    def state(self, place: NodePlace) -> State | None:
        """Return the state of a node that the file holds."""
        line = self._lines.get(place)
        return None if line is None else entry_state(line)

    def remember(self, place: NodePlace, make: Callable[[], State]) -> None:
        """Keep the state that `make` returns. It is called when the file is written, which is now if that is due."""
        with self._lock:
            due = time.monotonic() >= self._next
            if place.finished:
                self._lines.pop(place._replace(finished=False), None)
            if place.finished or due:
                self._made[place] = make
            if due:
                self.write()

    def write(self) -> None:
        """Write the file now. A failure is warned about once; the file stays as it was, and learning goes on."""
        with self._lock:
            began = time.monotonic()
            self._lines |= {place: entry_line(place, make()) for place, make in self._made.items()}
            self._made.clear()
            try:
                write_whole(self._path, file_content(self._about, self._lines.values()))
            except (OSError, CheckpointError) as error:
                self._warn(getattr(error, "strerror", None) or str(error))
            now = time.monotonic()
            self._next = now + max(EVERY, (now - began) / SHARE)

    def _warn(self, reason: str) -> None:
        if not self._warned:
            message = f"the checkpoint {str(self._path)!r} cannot be written: {reason}; learning goes on without"
            warnings.warn(TelltreeWarning(message), stacklevel=2)
        self._warned = True


class _TreeCheckpoint(CheckpointStore):
    def __init__(self, checkpoint: Checkpoint, tree: int) -> None:
        self._checkpoint, self._tree = checkpoint, tree

    def result(self, task: NodeTask, split_search: SplitSearch) -> SplitResult | None:
        state = self._checkpoint.state(NodePlace(self._tree, task.number, finished=True))
        return None if state is None else node_result(state, task, split_search)

    def unfinished(self, task: NodeTask, cuts: NDArray[np.int64]) -> tuple[State | None, Remember | None]:
        place = NodePlace(self._tree, task.number, finished=False)
        state = self._checkpoint.state(place)
        if state is not None and not np.array_equal(state.pop(_CUTS, _NO_CUTS), cuts):
            state = None  # written with another number of workers: the node begins again
        return state, lambda make: self._checkpoint.remember(place, lambda: {_CUTS: cuts, **make()})

    def keep(self, task: NodeTask, result: SplitResult) -> None:
        if result.search is not None:
            place = NodePlace(self._tree, task.number, finished=True)
            self._checkpoint.remember(place, lambda: node_state(result, task))


def _require_same(before: Mapping[str, str], now: Mapping[str, str]) -> None:
    """Raise CheckpointError with all differences between two fits, if there are any."""
    differing = [name for name in {**before, **now} if before.get(name) != now.get(name)]
    if differing:
        texts = [_difference(name, before.get(name, "nothing"), now.get(name, "nothing")) for name in differing]
        raise CheckpointError(f"it is of another fit: {'; '.join(texts)}")


def _difference(name: str, before: str, now: str) -> str:
    if "sha256:" in before + now:
        return f"{name} is not the same"
    return f"{name} was {before:.200}, and is {now:.200}"


# ---- The description of a fit: a fit goes on from a checkpoint only if both have the same.

_SEED = "the seed that follows from random_state"


def description_of(
    panel: Panel,
    labels: Labels,
    grammar: Grammar | None,
    settings: TreeSettings,
    folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]] | None,
) -> dict[str, str]:
    """Return the data and settings of a fit, under the names that error messages show.

    A criterion, search or function of the user's own is identified by its name, and by its settings if it has any.
    """
    functions = [] if grammar is None else sorted(function.name for function in grammar.functions)
    return {
        "the data (columns, records and their labels)": fingerprint(panel, labels),
        "the step": str(panel.step),
        "sample and class weights": "none" if labels.weights is None else _hash(labels.weights),
        "cv, or groups": "none" if folds is None else _hash(*[half for fold in folds for half in fold]),
        "the grammar": _hash_text([str(grammar), functions]),
        "search": _name_of(settings.search),
        "criterion": _name_of(settings.criterion),
        "growth": repr(replace(settings.growth, simplicity=1.0)),  # it only prunes
        "max_depth": str(settings.max_depth),
        "min_samples_leaf": str(settings.min_samples_leaf),
        "the columns whose thresholds move": _hash_text(sorted(settings.movable)),
        "missing": "unknown" if settings.three_valued else "false",
        _SEED: str(settings.seed),
    }


def _name_of(setting: Any) -> str:
    if is_dataclass(setting):
        return repr(setting)
    if hasattr(setting, "__qualname__"):
        return f"{setting.__module__}.{setting.__qualname__}"
    return type(setting).__name__


def _hash_text(value: Any) -> str:
    return _hash(np.frombuffer(json.dumps(value).encode(), np.uint8))


def _hash(*arrays: NDArray[Any]) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(f"{len(array)} ".encode() + np.ascontiguousarray(array).tobytes())
    return f"sha256:{digest.hexdigest()}"


# ---- The file of a checkpoint: a description, the entries of nodes, and a checksum; a line of JSON each.
#
# Arrays are written as their type, shape and bytes. Files are not trusted: sizes are bounded, and every error is a
# CheckpointError.

FORMAT, VERSION = "telltree checkpoint", 2
MOST_BYTES = 1 << 30
MOST_ITEMS = 10_000_000
"""The most objects, lists and items, which take memory when they are read: a node has about two hundred."""
_MOST_HEAD = 1 << 20
_TYPES = ("<i4", "<i8", "<u8", "<f8", "|u1")


def file_content(about: Mapping[str, str], lines: Iterable[bytes]) -> bytes:
    """Return the content of a file; CheckpointError if it is too large to be read again."""
    head = {"format": FORMAT, "version": VERSION, "telltree": __version__, "about": dict(about)}
    content = _written(head) + b"".join(lines)
    content += _written({"sha256": hashlib.sha256(content).hexdigest()})
    _require_bounded(content)
    return content


def entry_line(place: NodePlace, state: State) -> bytes:
    """Return the line of an entry."""
    return _written({**place._asdict(), "arrays": {name: _array_out(array) for name, array in state.items()}})


def read_file(path: str | os.PathLike[str]) -> tuple[dict[str, str], dict[NodePlace, bytes]]:
    """Return the description of the fit, and the line of each entry."""
    try:
        with open(path, "rb") as file:
            head = file.readline(_MOST_HEAD)
            about = _about(head)
            content = head + file.read(MOST_BYTES + 1)
    except OSError as error:
        raise CheckpointError(f"it cannot be read: {error.strerror}") from None
    _require_bounded(content)
    end = content.rstrip(b"\n").rfind(b"\n") + 1
    if content[end:] != _written({"sha256": hashlib.sha256(content[:end]).hexdigest()}):
        raise CheckpointError("it is damaged or cut short: its checksum is wrong")
    return about, {_place(line): line + b"\n" for line in content[len(head) : end].splitlines()}


def entry_state(line: bytes) -> State:
    """Return the state that a line holds."""
    arrays = _object(line).get("arrays")
    if not isinstance(arrays, dict):
        raise CheckpointError("it is damaged: a node has no arrays")
    return {name: _array_in(array) for name, array in arrays.items()}


def _written(value: dict[str, Any]) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode() + b"\n"


def _require_bounded(content: bytes) -> None:
    if len(content) > MOST_BYTES:
        raise CheckpointError(f"it has more than {MOST_BYTES:,} bytes, the most that a checkpoint may have")
    if sum(map(content.count, (b"{", b"[", b","))) > MOST_ITEMS:
        raise CheckpointError(f"it has more than {MOST_ITEMS:,} items, the most that a checkpoint may have")


def _object(line: bytes) -> dict[str, Any]:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise CheckpointError("it is no checkpoint, or a damaged one")
    return found


def _about(head: bytes) -> dict[str, str]:
    """Return the description of the fit, from the first line."""
    found = _object(head)
    version, about = found.get("version"), found.get("about")
    if found.get("format") != FORMAT or type(version) is not int:
        raise CheckpointError("it is no checkpoint")
    if version != VERSION or found.get("telltree") != __version__:
        raise CheckpointError(
            f"it was written by telltree {found.get('telltree')!s:.40} in format {version!s:.20}, and this is telltree "
            f"{__version__}, which goes on from format {VERSION} of its own version alone"
        )
    if not isinstance(about, dict) or not all(isinstance(text, str) for text in about.values()):
        raise CheckpointError("it is damaged: it does not say what it is of")
    return about


def _place(line: bytes) -> NodePlace:
    found = _object(line)
    place = NodePlace._make(found.get(name) for name in NodePlace._fields)
    if type(place.tree) is not int or type(place.node) is not int or type(place.finished) is not bool:
        raise CheckpointError("it is damaged: a line does not say which node it is of")
    return place


def _array_out(array: NDArray[Any]) -> list[Any]:
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    return [plain.dtype.str, list(array.shape), binascii.b2a_base64(plain.data, newline=False).decode()]


def _array_in(written: Any) -> NDArray[Any]:
    try:
        kind, shape, text = written
        if kind not in _TYPES or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError
        content = binascii.a2b_base64(text, strict_mode=True)
        if math.prod(shape) * np.dtype(kind).itemsize != len(content):
            raise ValueError
        found: NDArray[Any] = np.frombuffer(content, kind).reshape(shape)
    except (TypeError, ValueError):
        raise CheckpointError("it is damaged: an array is not as it says") from None
    return found.astype(found.dtype.newbyteorder("="))


# ---- The result of a node, as plain arrays, and back.


def node_state(result: SplitResult, task: NodeTask) -> State:
    """Return the arrays of the result of a node that was searched; its leaf follows from its records."""
    assert result.search is not None
    state = together(search=search_state(result.search))
    split = result.split
    if split is None:
        return state
    formula, found = split.formula.expression, split.derivation.expression
    text = "" if formula == found else str(formula)  # a formula with English of its own stays as it was found
    return (
        state
        | _state_of_shown(split)
        | {
            "formula": np.frombuffer(text.encode(), np.uint8),
            "true": np.isin(task.members, split.true).astype(np.uint8),
            "figures": np.array([split.fitness, split.gain, split.robustness]),
            **together(found=flat(Population.of([split.derivation], split.derivation.grammar.has_random_constants))),
        }
    )


def node_result(state: State, task: NodeTask, split_search: SplitSearch) -> SplitResult:
    """Return the result of a node; CheckpointError if the state cannot be one of it."""
    given = SavedState(state, split_search.grammar, split_search.settings.search.max_depth)
    leaf, found = Leaf(split_search.labels[task.members].summary()), search_result(given.part("search"))
    if "formula" not in state:
        return SplitResult(leaf, found)
    true, rows = given.array("true", np.uint8, len(task.members)) != 0, given.rows("found")
    if found.best is None or len(rows.lengths) != 1 or true.all() or not true.any():
        raise CheckpointError("a question does not split the records of its node")
    derivation = split_search.grammar.derivation(rows, 0)
    formula = _formula(given, split_search) or Formula(derivation.expression)
    fitness, gain, robustness = given.array("figures", np.float64, 3).tolist()
    shown = _shown(given, state, formula, split_search)
    sides = task.members[true], task.members[~true]
    return SplitResult(leaf, found, Split(formula, derivation, *sides, fitness, gain, robustness, shown))


def _state_of_shown(split: Split) -> State:
    """Return the arrays of the shown formula, if answers may be unknown."""
    if split.shown is None:
        return {}
    formula, negated, unknown, unknown_is_true = split.shown
    text = "" if formula == split.formula else str(formula)
    figures = np.array([negated, unknown, unknown_is_true], np.int64)
    return {"shown": np.frombuffer(text.encode(), np.uint8), "unknown": figures}


def _shown(given: SavedState, state: State, formula: Formula, split_search: SplitSearch) -> ShownFormula | None:
    if ("shown" in state) != split_search.settings.three_valued:
        raise CheckpointError("a question does not say what becomes of unknown answers")
    if not split_search.settings.three_valued:
        return None
    negated, unknown, unknown_is_true = given.array("unknown", np.int64, 3).tolist()
    shown = _formula(given, split_search, "shown") or formula
    return ShownFormula(shown, bool(negated), unknown, bool(unknown_is_true))


def _formula(given: SavedState, split_search: SplitSearch, name: str = "formula") -> Formula | None:
    """Return the formula, if it differs from the one that was found."""
    grammar = split_search.grammar
    try:
        text = given.array(name, np.uint8, None).tobytes().decode()
        return Formula.parse(text, grammar.schema, functions=grammar.functions) if text else None
    except (UnicodeDecodeError, GrammarError) as error:
        raise CheckpointError(f"a formula cannot be read: {error}") from None


# ---- The result of a search as plain arrays, and back: finished searches are kept like unfinished ones.


def search_state(found: SearchResult) -> State:
    """Return the arrays of a finished search."""
    constants = found.best is not None and found.best.derivation.grammar.has_random_constants

    def rows(candidates: list[Candidate]) -> State:
        return flat(Population.of([one.derivation for one in candidates], constants))

    first, best = [best for best, _ in found.by_size], [] if found.best is None else [found.best]
    ties = [found.ties] if found.ties is not None else []
    return {
        "fitness": np.array([one.fitness for one in found.runners_up]),
        "best_fitness": np.array([one.fitness for one in best]),
        "evaluations": np.array(found.evaluations),
        "seconds": np.array(found.seconds),
        "history": np.array(found.history, np.float64).reshape(-1, 3),
        "fitness_by_size": np.array([one.fitness for one in first]),
        "ties_by_size": np.array([len(rows.lengths) for _, rows in found.by_size], np.int64),
        **({} if found.proof is None else {"proof": np.frombuffer(_text(found.proof), np.uint8)}),
    } | together(
        best=rows(best),
        runners_up=rows(list(found.runners_up)),
        ties=_all(ties),
        by_size=rows(first),
        of_sizes=_all([tied for _, tied in found.by_size]),
    )


def search_result(given: SavedState) -> SearchResult:
    """Return the result of a finished search; CheckpointError if the arrays cannot be one."""
    best, runners_up = _candidates(given, "best", "best_fitness"), _candidates(given, "runners_up", "fitness")
    ties = given.rows("ties")
    first, tied = _candidates(given, "by_size", "fitness_by_size"), given.rows("of_sizes")
    ends = np.cumsum(given.array("ties_by_size", np.int64, len(first)))
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    if (ends < starts).any() or (ends[-1] if len(ends) else 0) != len(tied.lengths):
        raise CheckpointError("the formulas of each size are not as many as it says")
    parts = [tied.take(np.arange(*ends_of)) for ends_of in zip(starts, ends, strict=True)]
    if not len(best) == bool(runners_up) == bool(len(ties.lengths)):
        raise CheckpointError("there is a best formula, and none that ties for the best, or the other way round")
    return SearchResult(
        best=best[0] if best else None,
        runners_up=runners_up,
        ties=ties if len(ties.lengths) else None,
        history=tuple(moments(given)),
        evaluations=given.number("evaluations", np.int64),
        seconds=given.number("seconds", np.float64),
        interrupted=False,
        by_size=tuple(map(OfSize, first, parts)),
        proof=_proof(given) if given.has("proof") else None,
    )


def _text(proof: Proof) -> bytes:
    """Return a proof as text: numbers of formulas may have any number of digits."""
    return json.dumps(asdict(proof)).encode()


def _proof(given: SavedState) -> Proof:
    try:
        entry = json.loads(given.array("proof", np.uint8, None).tobytes())
        proof = Proof(**entry)
    except (ValueError, TypeError, RecursionError) as error:
        raise CheckpointError(f"what was proved cannot be read: {error}") from None
    whole = (proof.atoms, proof.depth, proof.formulas, proof.tried, proof.wanted, proof.sampled)
    if not all(is_whole(number, 0) for number in whole) or not (proof.size is None or is_whole(proof.size, 0)):
        raise CheckpointError("what was proved has impossible numbers")
    if not isinstance(proof.fitness, float):
        raise CheckpointError("what was proved has an impossible fitness")
    if not all(isinstance(flag, bool) for flag in (proof.is_all, proof.goes_deeper)):
        raise CheckpointError("which formulas were proved not to be fitter is neither true nor false")
    return proof


def _all(populations: list[Population]) -> State:
    return flat(Population.joined(populations) if populations else Population.empty(0, 1, False))


def _candidates(given: SavedState, name: str, fitness: str) -> tuple[Candidate, ...]:
    rows = given.rows(name)
    reached = given.array(fitness, np.float64, len(rows.lengths)).tolist()
    return tuple(Candidate(given.grammar.derivation(rows, i), of) for i, of in enumerate(reached))
