"""A fit that was killed goes on from its checkpoint, and ends as it would have ended undisturbed."""

import hashlib
import json
import os
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
import typer
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from tests.support.effort import examples, few_fast
from tests.support.programs import beside_tests

from telltree import Grammar, GrammarTreeClassifier, Panel, user_function
from telltree.cli.app import app
from telltree.errors import CheckpointError, SettingsError
from telltree.scale import checkpoint
from telltree.scale import checkpoint as keeping
from telltree.scale.checkpoint import Checkpoint
from telltree.search import Auto, CrossEntropy, GeneticProgramming, GrammaticalEvolution, MonteCarlo, Pipe
from telltree.tree import MDL, GiniSize, Greedy, Optimal, TreeSettings, grow
from telltree.tree.class_target import ClassLabels, ClassTarget
from telltree.tree.induction import TreeRun


class Killed(BaseException):
    """Nobody catches it: what a process does next, it does not do."""


@user_function(takes=["real"], gives="real", elementwise=True)
def halved(x):
    return x / 2


def data(records=40, seed=2):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(records, 8, 3)).cumsum(axis=1)
    labels = np.where(values[:, :, 0].max(axis=1) > 1, "high", np.where(values[:, -1, 1] > 0, "up", "down"))
    labels[rng.random(records) < 0.1] = "up"
    return Panel.from_arrays(list(values), columns=["a", "b", "c"]), labels


PANEL, LABELS = data()
GP = GeneticProgramming(evaluations=250, population=40)
SPOKEN = (
    'A ::= F(V) "it happens that {0}" | G(V)\nV ::= a > grid(9) | b < grid(9) | halved(c) > grid(-1, 1, 5) | V and V'
)
PLAIN = "A ::= F(V) | G(V)\nV ::= a > grid(9) | b < grid(9) | c > grid(9) | V and V"
DRAWN = "A ::= F(V)\nV ::= a > C | b < C | V or V\nC ::= random(-2, 2)"
CASES = {
    "genetic programming": {"search": GP},
    "children alone survive": {"search": replace(GP, survival="children", unique=False), "criterion": GiniSize()},
    "Monte Carlo": {"search": MonteCarlo(evaluations=2_500)},
    "grammatical evolution": {"search": GrammaticalEvolution(evaluations=250, population=40)},
    "cross-entropy": {"search": CrossEntropy(evaluations=250, population=40)},
    "pipe": {"search": Pipe(evaluations=250, population=40)},
    "auto": {"search": Auto(evaluations=700), "grammar": PLAIN},
    "auto, random constants": {"search": Auto(evaluations=1_500), "grammar": DRAWN},
    "in folds": {"search": GP, "cv": 2},
    "weights": {"search": GP, "class_weight": "balanced"},
    "words and functions": {"search": GP, "grammar": SPOKEN, "functions": [halved]},
    "random constants, centred": {"search": GP, "grammar": DRAWN, "growth": Greedy(thresholds="midpoint")},
    "a fitness of one's own": {
        "search": GP,
        "criterion": lambda true, whole, size: -abs(true @ [1, 0, -1]) + 0.1 * size,
    },
}


def fitted(case, path=None, **changes):
    return GrammarTreeClassifier(**({"random_state": 3, "max_depth": 2} | CASES[case] | changes)).fit(
        PANEL, LABELS, checkpoint=path
    )


def saved(model, folder):
    """The bytes of the model's file."""
    model.save(folder / "model.json", overwrite=True)
    return (folder / "model.json").read_bytes()


def found(model):
    """What the searches met on the way, times apart, which no model file holds."""
    return {
        number: (
            (str(search.best.derivation), search.best.fitness, search.proof),
            [(str(one.derivation), one.fitness) for one in search.runners_up],
            [(moment.evaluations, moment.fitness) for moment in search.history],
            [str(model.grammar_.derivation(search.ties, i)) for i in range(len(search.ties.lengths))],
            [(str(one.best.derivation), len(one.ties.lengths)) for one in search.by_size],
            search.evaluations,
        )
        for number, search in model.searches_.items()
    }


@pytest.fixture
def often(monkeypatch):
    """Checkpoints are written after every generation and node."""
    monkeypatch.setattr(keeping, "EVERY", 0.0)
    monkeypatch.setattr(keeping, "SHARE", 1e9)


@pytest.fixture
def writes(often, monkeypatch):
    """How many checkpoints were written, and after how many the process is killed."""
    write, told = keeping.write_whole, {"written": 0, "last": None}

    def counted(path, content):
        write(path, content)
        told["written"] += 1
        if told["written"] == told["last"]:
            raise Killed

    monkeypatch.setattr(keeping, "write_whole", counted)
    return told


@pytest.mark.parametrize("case", few_fast(CASES, 1))
def test_a_fit_goes_on_wherever_it_was_killed(case, writes, tmp_path):
    expected = fitted(case)
    fitted(case, tmp_path / "all")
    number = writes["written"]
    assert number > 5
    for last in (2, number // 2, number - 1):
        path = tmp_path / f"killed after {last}"
        writes.update(written=0, last=last)
        with pytest.raises(Killed):
            fitted(case, path)
        writes["last"] = None
        model = fitted(case, path)
        assert saved(model, tmp_path) == saved(expected, tmp_path)
        assert found(model) == found(expected)


@pytest.mark.slow
def test_a_fit_is_killed_again_and_again(writes, tmp_path):
    path, kills = tmp_path / "checkpoint", 0
    while True:
        writes.update(written=0, last=3)
        try:
            model = fitted("in folds", path)
            break
        except Killed:
            kills += 1
    assert kills > 3
    assert saved(model, tmp_path) == saved(fitted("in folds"), tmp_path)


def test_what_is_finished_is_not_searched_again(tmp_path):
    path, events = tmp_path / "checkpoint", []
    expected = fitted("in folds", path)
    again = fitted("in folds", path, callback=events.append)
    assert not events
    assert saved(again, tmp_path) == saved(expected, tmp_path)
    assert {n: s.seconds for n, s in again.searches_.items()} == {n: s.seconds for n, s in expected.searches_.items()}


def test_without_a_seed_that_of_the_checkpoint_is_taken(tmp_path):
    first, second = (fitted("genetic programming", tmp_path / "checkpoint", random_state=None) for _ in range(2))
    assert saved(first, tmp_path) == saved(second, tmp_path)


def test_a_fit_that_was_interrupted_goes_on_too(often, tmp_path):
    path, events = tmp_path / "checkpoint", []

    def stop(event):
        events.append(event)
        if event.node > 1:
            raise KeyboardInterrupt

    cut = fitted("genetic programming", path, callback=stop)
    assert cut.interrupted_
    whole = fitted("genetic programming", path)
    assert not whole.interrupted_
    assert saved(whole, tmp_path) == saved(fitted("genetic programming"), tmp_path)


def test_the_file_is_written_no_more_often_than_is_worth_it(writes, monkeypatch, tmp_path):
    class Clock:
        now = 0.0

        def monotonic(self):
            Clock.now += 0.01
            return self.now

    monkeypatch.setattr(keeping, "EVERY", 5.0)
    monkeypatch.setattr(keeping, "SHARE", 0.01)
    monkeypatch.setattr(keeping, "time", Clock())
    fitted("genetic programming", tmp_path / "checkpoint")
    assert Clock.now > 0.3  # it was looked at after every generation
    assert writes["written"] <= Clock.now / 5 + 1


# what is refused


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    path = tmp_path_factory.mktemp("kept") / "checkpoint"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keeping, "EVERY", 0.0)
        patch.setattr(keeping, "SHARE", 1e9)
        patch.setattr(keeping.Checkpoint, "write", _until(keeping.Checkpoint.write, 12))
        with pytest.raises(Killed):
            fitted("genetic programming", path)
    return path.read_bytes()


def _until(write, last):
    number = iter(range(last))

    def counted(self):
        write(self)
        if next(number, None) is None:
            raise Killed

    return counted


OTHERS = {
    "search was GeneticProgramming(evaluations=250": {"search": replace(GP, evaluations=251)},
    "criterion was": {"criterion": MDL(price=0.1)},
    "max_depth was 2, and is 3": {"max_depth": 3},
    "growth was Greedy(), and is Greedy(min_gain=1)": {"growth": Greedy(min_gain=1)},
    "growth was Greedy(), and is Greedy(prevent_same_label=True)": {"growth": Greedy(prevent_same_label=True)},
    "growth was Greedy(), and is Optimal(pool=50)": {"growth": Optimal(50)},
    "the grammar is not the same": {"grammar": DRAWN},
    "growth was Greedy(), and is Greedy(thresholds='midpoint')": {"growth": Greedy(thresholds="midpoint")},
    "cv, or groups is not the same": {"cv": 2},
    "sample and class weights is not the same": {"class_weight": "balanced"},
    "the seed that follows from random_state was": {"random_state": 4},
}


@pytest.mark.parametrize("said", OTHERS)
def test_other_settings_are_refused(said, kept, tmp_path):
    path = tmp_path / "checkpoint"
    path.write_bytes(kept)
    with pytest.raises(CheckpointError) as caught:
        fitted("genetic programming", path, **OTHERS[said])
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "to start afresh, delete the file or name another" in str(caught.value)
    assert path.read_bytes() == kept


def test_other_data_are_refused(kept, tmp_path):
    path = tmp_path / "checkpoint"
    path.write_bytes(kept)
    model = GrammarTreeClassifier(search=GP, random_state=3, max_depth=2)
    swapped, other = LABELS.copy(), int(np.argmax(LABELS[0] != LABELS))
    swapped[[0, other]] = LABELS[[other, 0]]
    for panel, labels in ((data(seed=3)[0], LABELS), (PANEL, swapped)):
        with pytest.raises(CheckpointError, match=r"of another fit: the data .* is not the same"):
            model.fit(panel, labels, checkpoint=path)


def test_other_versions_are_refused(kept, tmp_path):
    path = tmp_path / "checkpoint"
    for before, after in ((b'"version":2', b'"version":3'), (b'"telltree":"', b'"telltree":"9.')):
        assert before in kept
        path.write_bytes(kept.replace(before, after, 1))
        with pytest.raises(CheckpointError, match="it was written by telltree"):
            fitted("genetic programming", path)


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[[[", b"\xff\n", b"id,time\n1,2\n", b'{"format": "telltree checkpoint"}\n']
)
def test_other_files_are_refused_and_left_as_they_are(content, tmp_path):
    path = tmp_path / "precious"
    path.write_bytes(content)
    with pytest.raises(CheckpointError, match="it is no checkpoint"):
        fitted("genetic programming", path)
    assert path.read_bytes() == content


def test_places_that_cannot_be_written_are_refused_before_the_work(tmp_path):
    for path in (tmp_path, tmp_path / "none" / "checkpoint", os.devnull):
        with pytest.raises(SettingsError, match="the checkpoint"):
            fitted("genetic programming", path)


# damage


CODED = ClassLabels(np.unique(LABELS, return_inverse=True)[1], ClassTarget.of(np.unique(LABELS)))


def learned(case, path):
    """The tree of all records alone, without what a fit does before and after."""
    setting = CASES[case]
    grammar = Grammar.parse(setting.get("grammar", PLAIN), PANEL)
    checkpoint_store = Checkpoint(path).tree(0)
    tree_settings = TreeSettings(setting["search"], MDL(), max_depth=2, seed=3)
    return grow(PANEL, CODED, grammar, tree_settings, TreeRun(checkpoint=checkpoint_store))


@examples(50, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damage_is_one_error(data, kept, tmp_path):
    path, place = tmp_path / "checkpoint", data.draw(st.integers(0, len(kept) - 1))
    if data.draw(st.booleans()):
        damaged = kept[:place]
    else:
        other = data.draw(st.integers(0, 255).filter(lambda byte: byte != kept[place]))
        damaged = kept[:place] + bytes([other]) + kept[place + 1 :]
    path.write_bytes(damaged)
    with pytest.raises(CheckpointError, match=r"the checkpoint '.*to start afresh"):
        fitted("genetic programming", path)


def forged(content, change):
    """The content with the arrays of one node changed, and a checksum that is right."""
    lines = content.splitlines()[:-1]
    lines = [lines[0], *map(change, lines[1:])]
    body = b"".join(line + b"\n" for line in lines)
    return body + json.dumps({"sha256": hashlib.sha256(body).hexdigest()}, separators=(",", ":")).encode() + b"\n"


STRANGE = {
    "i": [-1, 0, 1, 7, 255, 2**31 - 1],
    "u": [0, 1, 2**64 - 1],
    "f": [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300],
}


def spoilt(array, draw):
    """An array with something wrong: a value, its length, its type."""
    array = np.array(array)
    match draw(st.sampled_from(["value", "length", "type", "empty"])):
        case "value" if array.size:
            flat, strange = array.reshape(-1), draw(st.sampled_from(STRANGE[array.dtype.kind]))
            flat[draw(st.integers(0, array.size - 1))] = (
                min(strange, np.iinfo(array.dtype).max) if array.dtype.kind in "iu" else strange
            )
            return array
        case "length" if array.ndim:
            return np.concatenate([array, array[: draw(st.integers(0, 2))]])
        case "type":
            with np.errstate(all="ignore"):
                return array.astype(draw(st.sampled_from(["<i4", "<i8", "<f8"])))
    return array[:0] if array.ndim else array


@pytest.mark.parametrize(
    "case", few_fast(["genetic programming", "grammatical evolution", "random constants, centred"])
)
@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_forged_arrays_do_no_harm(case, data, often, tmp_path, forgeries):
    path, content = tmp_path / "checkpoint", forgeries[case]

    def change(line):
        place, state = checkpoint._place(line), checkpoint.entry_state(line)
        for _ in range(data.draw(st.integers(0, 2))):
            name = data.draw(st.sampled_from(sorted(state)))
            state[name] = spoilt(state[name], data.draw)
        return checkpoint.entry_line(place, state)[:-1]

    path.write_bytes(forged(content, change))
    with suppress(CheckpointError):
        learned(case, path)


@pytest.fixture(scope="module")
def forgeries(tmp_path_factory):
    """Checkpoints with a node that is finished and one that is under way."""
    found = {}
    for case in ("genetic programming", "grammatical evolution", "random constants, centred"):
        path = tmp_path_factory.mktemp("forged") / "checkpoint"
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(keeping, "EVERY", 0.0)
            patch.setattr(keeping, "SHARE", 1e9)
            patch.setattr(keeping.Checkpoint, "write", _until(keeping.Checkpoint.write, 14))
            with pytest.raises(Killed):
                learned(case, path)
        found[case] = path.read_bytes()
        kinds = {checkpoint._place(line).finished for line in found[case].splitlines()[1:-1]}
        assert kinds == {True, False}
    return found


# processes that are really killed

SCRIPT = """
import os, signal, sys
from telltree.scale import checkpoint as keeping
from tests.scale.test_checkpoint import fitted

path = sys.argv[1]
fitted("genetic programming")  # loads the kernels for all processes
keeping.EVERY, keeping.SHARE = 0.0, 1e9

def fit(last, moment):
    replace, number = os.replace, 0

    def counted(source, target):
        nonlocal number
        number += 1
        if number == last and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        replace(source, target)
        if number == last and moment == "after":
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = counted
    fitted("genetic programming", path).save(path + ".json")

for last, moment in ((5, "before"), (5, "after"), (10**9, "never")):
    process = os.fork()
    if not process:
        fit(last, moment)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are begun and ended otherwise here")
def test_a_process_that_was_killed_is_followed_by_one_that_ends_the_work(tmp_path):
    command, env = [sys.executable, "-c", SCRIPT, tmp_path / "checkpoint"], {"PYTHONPATH": beside_tests()}
    ended = subprocess.run(command, env=os.environ | env, capture_output=True, text=True, check=False)
    assert ended.stdout.split() == [str(-signal.SIGKILL), str(-signal.SIGKILL), "0"], ended.stderr
    assert (tmp_path / "checkpoint.json").read_bytes() == saved(fitted("genetic programming"), tmp_path)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["checkpoint", "checkpoint.json", "model.json"]


# the command line


def fit_at_the_command_line(*words):
    """The exit code of `telltree fit`, in this process."""
    with pytest.raises(SystemExit) as ended:
        typer.main.get_command(app)(list(map(str, ["fit", *words])))
    return ended.value.code


def test_the_same_command_goes_on(writes, tmp_path, capsys):
    table = PANEL.to_frame()
    table["label"] = np.repeat(LABELS, PANEL.lengths)
    table.to_csv(tmp_path / "data.csv", index=False)
    words = [tmp_path / "data.csv", "--id", "id", "--label", "label", "--max-depth", 2, "--cv", 2,
             "--search-evaluations", 400]  # fmt: skip
    kept, model = tmp_path / "kept", tmp_path / "model.json"
    assert fit_at_the_command_line(*words, "-o", tmp_path / "expected.json") == 0
    writes["last"] = 5
    with pytest.raises(Killed):
        typer.main.get_command(app)(list(map(str, ["fit", *words, "--checkpoint", kept, "-o", model])))
    assert kept.exists()
    assert fit_at_the_command_line(*words, "--checkpoint", kept, "--random-state", 1) == 4
    assert "the seed that follows from random_state was" in capsys.readouterr().err
    assert fit_at_the_command_line(*words, "--checkpoint", kept) == 0
    assert f"{kept} keeps what was found out" in capsys.readouterr().err  # the model was not saved
    assert fit_at_the_command_line(*words, "--checkpoint", kept, "-o", model) == 0
    assert model.read_bytes() == (tmp_path / "expected.json").read_bytes()
    assert not kept.exists()
