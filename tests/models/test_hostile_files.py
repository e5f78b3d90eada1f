"""Whatever a file holds, loading gives a model or one of telltree's errors, soon, and without eating memory."""

import json
import os
import random
import tracemalloc

import numpy as np
import pytest

from tests.support.effort import few_fast
from tests.support.model_mutants import mutant

from telltree import GrammarTreeClassifier, TelltreeError
from telltree.errors import ModelFormatError, ModelVersionError
from telltree.estimators import load
from telltree.search import MonteCarlo

GRAMMAR = """
Start ::= F(VB) "at some point, {VB}" | G(VB) | count(VB) {<, >} [1, 2]
VB    ::= VB and VB | not VB | on | mode = levels | each real {<, >} [0, 1, 2.5] | abs(speed - height) < random(0, 5)
"""


@pytest.fixture(scope="module")
def fitted(panel, labels):
    search = MonteCarlo(evaluations=300)
    return GrammarTreeClassifier(GRAMMAR, search, max_depth=3, class_weight={"fast": 2.0}, random_state=1).fit(
        panel, labels
    )


@pytest.fixture(scope="module")
def content(fitted, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.json"
    fitted.save(path)
    return path.read_bytes()


@pytest.fixture
def loaded(tmp_path):
    """Loads bytes."""

    def from_bytes(content):
        path = tmp_path / "model.json"
        path.write_bytes(content)
        return load(path)

    return from_bytes


def refused(loaded, content, match):
    with pytest.raises(ModelFormatError, match=match) as caught:
        loaded(content)
    assert len(str(caught.value)) < 1500
    assert type(caught.value) is ModelFormatError


def changed(content, change):
    document = json.loads(content)
    change(document)
    return json.dumps(document).replace("Infinity", "1e999").encode()


@pytest.mark.parametrize("seed", few_fast(range(4)))
def test_mutants_give_a_model_or_our_error(seed, loaded, content, panel):
    rng, models = random.Random(seed), 0
    for _ in range(100):
        hostile = mutant(rng, content)
        try:
            model = loaded(hostile)
        except ModelFormatError:
            continue
        models += 1
        try:
            model.predict(panel[:2])
            model.rules()
        except TelltreeError:  # it may ask for columns that the panel does not have
            continue
    assert models < 60  # else the mutations are too mild to mean anything


@pytest.mark.parametrize(
    ("content", "match"),
    [
        (b"", "cut short: line 1, column 1"),
        (b"not JSON", "no model file"),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "byte 0 is no text in UTF-8"),
        (b"PK\x03\x04", "no model file"),
        ("{}".encode("utf-16"), "is no text in UTF-8"),
        (b"{}", 'should be a JSON object with "format"'),
        (b"[]", "should be a JSON object"),
        (b"3", "should be a JSON object"),
        (b'{"format": "another", "version": 1}', "should be a JSON object"),
        (b'{"format": "telltree model"}', "its version is None"),
        (b'{"format": "telltree model", "version": true}', "its version is True"),
        (b'{"format": "telltree model", "version": "1"}', "its version is '1'"),
        (b'{"format": "telltree model", "version": 0}', "its version is 0"),
        (b'{"format": "telltree model", "version": 1}', "at columns: Field required"),
        (b'{"format": "telltree model", "format": "telltree model"}', "'format' stands twice"),
        (b'{"format": "\\uD800"}', "half of a character"),
        (b'{"format": NaN}', "NaN is no number"),
        (b'{"format": -Infinity}', "-Infinity is no number"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b"9" * 100_000, "no model file"),
        (b"[" + b"[]," * 300_000 + b"[]]", r"times .*, and at most \d+,000 are read"),
        (b"[" + b"0," * 2_500_000 + b"0]", "2,500,000 times .,., and at most 1,500,000"),
        (b"{" + b",".join(b'"%d":0' % i for i in range(2000)) + b"}", "2,000 keys"),
    ],
)
def test_what_is_no_model_is_refused(loaded, content, match):
    refused(loaded, content, match)


def _first_leaf(document):
    return next(node for node in document["tree"] if node["kind"] == "leaf")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        (lambda d: d.update(surprise=1), "at surprise: Extra inputs"),
        (lambda d: d["classes"].update(values=[]), "at classes"),
        (lambda d: d["classes"].update(values=["calm", "calm", "high"]), "not different values"),
        (lambda d: d["classes"].update(dtype="str", values=[1, 2, 3]), "not different values of type str"),
        (lambda d: d["classes"].update(dtype="int8", values=[1, 2, 1000]), "damaged"),
        (lambda d: d["classes"].update(dtype="float64", values=[1.0, 2.0, 1e999]), "at classes"),
        (lambda d: d["tree"].clear(), "ends too early"),
        (lambda d: d["tree"].pop(), "ends too early"),
        (lambda d: d["tree"].append(d["tree"][-1]), "after the end of the tree"),
        (lambda d: d.update(tree=[d["tree"][0]] * 300), "branches deep"),
        (lambda d: d["tree"][0].update(formula="F(speed <"), r"its formula 'F\(speed <': line 1"),
        (lambda d: d["tree"][0].update(formula="F(" * 200 + "on" + ")" * 200), "nested more than"),
        (lambda d: d["tree"][0].update(formula="F(nowhere)"), "no attribute"),
        (lambda d: d["tree"][0].update(formula="on"), "not true or false of a record|Boolean"),
        (lambda d: d["tree"][0].update(formula="x" * 200_000), "at tree → 0 → branch → formula"),
        (lambda d: d["tree"][0].update(fitness="high"), "at tree → 0 → branch → fitness"),
        (lambda d: d["tree"][0].update(kind="twig"), "at tree → 0"),
        (lambda d: _first_leaf(d).update(counts=[1]), "a count and a weight for each of 3 classes"),
        (lambda d: _first_leaf(d).update(weights=[0.0, 0.0, 0.0]), "a count and a weight"),
        (lambda d: _first_leaf(d).update(weights=[-1.0, 1.0, 1.0]), "greater than or equal to 0"),
        (lambda d: _first_leaf(d).update(counts=[10**30, 1, 1]), "less than or equal"),
        (lambda d: _first_leaf(d).update(counts=[True, 1, 1]), "valid integer"),
        (lambda d: d["columns"].pop(0), "which it does not have"),
        (lambda d: d["columns"].append(d["columns"][0]), "two columns are named"),
        (lambda d: d["columns"][0].update(type="Boolean"), "."),
        (lambda d: d["columns"][0].update(levels=["a"]), "only categorical columns have levels"),
        (lambda d: d["grammar"].update(text="S ::= F(each real < grid(0, 1, 10000))"), "written out"),
        (lambda d: d["grammar"].update(text="S ::= "), "its grammar, line 1"),
        (lambda d: d["grammar"]["columns"].append("nowhere"), "which it does not have"),
        (lambda d: d["settings"]["search"].update(name="Annealing"), "at settings → search"),
        (lambda d: d["settings"]["search"]["settings"].update(temperature=3), "no setting 'temperature'"),
        (lambda d: d["settings"].update(functions=["steep"]), "name the function 'steep'"),
        (lambda d: d["training"]["spread"].append({"signal": "x", "deviation": 0.0}), "greater than 0"),
        (lambda d: d["training"].update(seed=-1), "at training → seed"),
    ],
)
def test_damage_is_named_with_its_place(loaded, content, change, match):
    refused(loaded, changed(content, change), match)


@pytest.mark.parametrize("version", [3, 17, 10**40])
def test_newer_files_ask_for_a_newer_telltree(loaded, content, version):
    with pytest.raises(ModelVersionError, match="upgrade telltree"):
        loaded(changed(content, lambda document: document.update(version=version, more="than we know")))


def test_a_cut_file_is_refused_wherever_it_is_cut(loaded, content):
    for end in np.linspace(0, len(content) - 2, 60).astype(int):
        refused(loaded, content[:end], "no model file")


def test_large_files_are_not_read_whole(tmp_path):
    path = tmp_path / "large.json"
    with path.open("wb") as file:
        file.write(b'{"format": "')
        file.truncate(100_000_000)
    tracemalloc.start()
    with pytest.raises(ModelFormatError, match="more than 16 MB"):
        load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80_000_000


@pytest.mark.parametrize(
    "hostile",
    [
        b'{"format": "' + b"a" * 30_000_000 + b'"}',
        b'{"format": "telltree model", "version": 1, "classes": {"values": [' + b"null," * 1_900_000 + b"1]}}",
        b"[" + b"{}," * 249_000 + b"{}]",
        b'{"format": "telltree model", "version": 1, "columns": [' + b"[]," * 249_000 + b"[]]}",
    ],
    ids=["string", "items", "objects", "lists"],
)  # fmt: skip
def test_memory_stays_bounded(loaded, hostile):
    tracemalloc.start()
    with pytest.raises(ModelFormatError):
        loaded(hostile)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 200_000_000


def test_nothing_but_a_file_is_read(tmp_path):
    for path, match in (
        (tmp_path, "directory"),
        (tmp_path / "none.json", "No such file"),
        ("nul\0l", "null"),
        (os.devnull, "no model file"),
    ):
        with pytest.raises(ModelFormatError, match=match):
            load(path)
