"""The Auslan loader: every layout it reads, where it looks, and archives that mean no good."""

import gzip
import io
import os
import tarfile
from pathlib import Path

import numpy as np
import pytest

from telltree import Formula
from telltree.datasets import load_auslan
from telltree.datasets.auslan import WORDS
from telltree.errors import DataError, SettingsError
from telltree.explain import english

REAL = Path(__file__).parents[3] / "shared" / "data" / "auslan8"
NAMES = ("x", "y", "z", "roll", "pitch", "yaw", "thumbbend", "forebend", "middlebend", "ringbend", "littlebend")
EXTRA = ("flash-light", "God")


def sign(word, folder, number):
    """Some values that belong to one example alone, of a length that differs from others'."""
    seed = [sum(word.encode()), folder, number]
    return np.random.default_rng(seed).normal(size=(3 + number, 22)).round(4)


def text(values):
    return "".join("\t".join(f"{value:.6f}" for value in row) + "\n" for row in values).encode()


def examples(words=(*WORDS, *EXTRA)):
    return {
        f"tctodd{folder}/{word}-{number}.tsd": text(sign(word, folder, number))
        for folder in (1, 2, 10)
        for word in words
        for number in (1, 2)
    }


def make_folder(home, contents):
    for name, content in contents.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_bytes(content)
    return home


def member(name, content=b"", kind=tarfile.REGTYPE, size=None, target=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname, info.size = kind, target, len(content) if size is None else size
    return info, content


def make_archive(path, members, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for info, content in members:
            archive.addfile(info, io.BytesIO(content))
    return path


@pytest.fixture
def folder(tmp_path):
    return make_folder(tmp_path / "tctodd", examples())


@pytest.fixture
def archive(tmp_path):
    folders = [member(f"./tctodd{number}", kind=tarfile.DIRTYPE) for number in (1, 2, 10)]
    files = [member(f"./{name}", content) for name, content in sorted(examples().items(), reverse=True)]
    return make_archive(tmp_path / "tctodd.tar.gz", [*folders, member("./README", b"hello\n"), *files])


def test_the_folder_as_the_repository_lays_it_out(folder):
    panel, y = load_auslan(folder)
    assert len(panel) == len(y) == 8 * 6
    assert y[::6].tolist() == list(WORDS)
    assert panel.ids[:6].tolist() == [f"tctodd{f}/hello-{n}" for f in (1, 2, 10) for n in (1, 2)]
    assert panel.lengths[:2].tolist() == [4, 5]
    for column, name in enumerate(panel.schema):
        assert panel.values(name, 5).tolist() == sign("hello", 10, 2)[:, column].tolist()


def test_the_archive_gives_what_the_folder_gives_and_writes_nothing(folder, archive, tmp_path):
    before = sorted(tmp_path.rglob("*"))
    from_folder, from_archive = load_auslan(folder), load_auslan(archive)
    assert from_folder.panel == from_archive.panel
    assert from_folder.y.tolist() == from_archive.y.tolist()
    assert sorted(tmp_path.rglob("*")) == before


def test_an_archive_may_be_unpacked_already(archive, tmp_path):
    plain = tmp_path / "signs.tar"
    plain.write_bytes(gzip.decompress(archive.read_bytes()))
    assert load_auslan(plain).panel == load_auslan(archive).panel


def test_columns_say_what_they_are(folder):
    schema = load_auslan(folder).panel.schema
    assert len(schema) == 22
    assert schema["littlebend_1"].phrase == "left little finger bend"
    assert schema["roll_2"].phrase == "right palm roll"
    assert (schema["x_2"].kind, schema["x_2"].unit, schema["x_2"].type) == ("x position", "m", "real")
    assert schema["x_1"].kind == schema["x_2"].kind != schema["y_1"].kind


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("G(yaw_2 < 0.66)", "the right palm yaw is always below 0.66 of a half turn"),
        ("F(abs(roll_1) > 0.085)", "at some point the left palm roll is beyond ±0.085 of a half turn"),
        ("F(abs(yaw_1 - yaw_2) < 0.25)",
         "at some point the left palm yaw is within 0.25 of a half turn of the right palm yaw"),
    ],
)  # fmt: skip
def test_angles_are_parts_of_a_half_turn(folder, text, said):
    schema = load_auslan(folder).panel.schema
    formula = Formula.parse(text, schema)
    assert english(formula.expression, schema) == said
    assert Formula.from_english(said, schema) == formula


@pytest.mark.parametrize("source", ["folder", "archive"])
def test_any_words_in_the_order_asked_for(source, request):
    path = request.getfixturevalue(source)
    assert load_auslan(path, words=["God", "flash-light"]).y.tolist() == ["God"] * 6 + ["flash-light"] * 6
    assert sorted(set(load_auslan(path, words="all").y.tolist())) == sorted([*WORDS, *EXTRA])


def test_an_unknown_word_is_named_with_its_nearest(folder):
    with pytest.raises(DataError, match=r"unknown word in .*: 'helo'; did you mean 'hello'"):
        load_auslan(folder, words=["yes", "helo"])


@pytest.mark.parametrize("words", ["hello", [], ["yes", "yes"], [1]])
def test_words_that_make_no_sense(folder, words):
    with pytest.raises(SettingsError, match="words must be"):
        load_auslan(folder, words=words)


def test_it_is_found_in_the_named_folder_then_in_the_users(folder, tmp_path, monkeypatch):
    home, named = tmp_path / "home", tmp_path
    (home / "telltree").mkdir(parents=True)
    monkeypatch.setenv("XDG_DATA_HOME", str(home))
    monkeypatch.setattr("platformdirs.user_data_path", lambda *_, **__: home / "telltree")
    monkeypatch.delenv("TELLTREE_DATA", raising=False)
    with pytest.raises(DataError, match=r"no Auslan signs in .*telltree: download .*archive\.ics\.uci\.edu.*tctodd"):
        load_auslan()
    make_folder(home / "telltree" / "tctodd", examples(("hello", "yes")))
    assert len(load_auslan(words=["yes"]).panel) == 6
    with pytest.raises(DataError, match="'please'"):
        load_auslan()
    monkeypatch.setenv("TELLTREE_DATA", str(named))
    assert len(load_auslan().panel) == 48


def test_a_path_that_leads_nowhere(tmp_path):
    with pytest.raises(DataError, match="which does not exist"):
        load_auslan(tmp_path / "nothing")
    with pytest.raises(DataError, match=r"expected tctodd\.tar\.gz, or a folder tctodd or auslan8; download"):
        load_auslan(tmp_path)


BAD_FILES = {
    "empty": (b"", "empty"),
    "ragged": (b"1\t2\n", "line 1: expected 22 numbers, found 2"),
    "words": (b"\t".join([b"x"] * 22), "expected numbers"),
    "infinite": (b"\t".join([b"inf"] * 22), "not a finite number"),
    "bytes": (bytes(range(128, 150)), "line 1: expected 22 numbers"),
    "huge": (b"1\t" * (1 << 20), "too many for a sign"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_a_damaged_file_is_named(name, tmp_path):
    content, told = BAD_FILES[name]
    folder = make_folder(tmp_path / "tctodd", {"tctodd1/yes-1.tsd": content})
    with pytest.raises(DataError, match=told) as caught:
        load_auslan(folder, words=["yes"])
    assert "yes-1" in str(caught.value)


GOOD = member("tctodd1/yes-1.tsd", text(sign("yes", 1, 1)))
HOSTILE = {
    "symbolic link": (member("tctodd1/yes-2.tsd", kind=tarfile.SYMTYPE, target="/etc/passwd"), "neither a file"),
    "hard link": (member("tctodd1/yes-2.tsd", kind=tarfile.LNKTYPE, target="tctodd1/yes-1.tsd"), "neither a file"),
    "device": (member("tctodd1/yes-2.tsd", kind=tarfile.CHRTYPE), "neither a file"),
    "pipe": (member("tctodd1/yes-2.tsd", kind=tarfile.FIFOTYPE), "neither a file"),
    "way up": (member("tctodd1/../../yes-2.tsd", b"1"), "points out of it"),
    "way up of a folder": (member("../tctodd1", kind=tarfile.DIRTYPE), "points out of it"),
    "absolute": (member("/tctodd1/yes-2.tsd", b"1"), "points out of it"),
    "way up elsewhere": (member("..\\tctodd1\\yes-2.tsd", b"1"), "points out of it"),
    "large sign": (member("tctodd1/yes-2.tsd", bytes(2 << 20)), "too many for a sign"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_an_archive_that_means_no_good_is_refused(name, tmp_path):
    bad, told = HOSTILE[name]
    path = make_archive(tmp_path / "tctodd.tar.gz", [GOOD, bad])
    with pytest.raises(DataError, match=told):
        load_auslan(path, words=["yes"])


def test_a_small_archive_that_unpacks_to_much_is_refused(tmp_path):
    path = tmp_path / "tctodd.tar.gz"
    zeros = bytes(1 << 20)
    with gzip.open(path, "wb", compresslevel=1) as file:
        info, content = GOOD
        file.write(info.tobuf() + content + bytes(-len(content) % 512))
        file.write(member("README", size=1 << 40)[0].tobuf())
        for _ in range(140):
            file.write(zeros)
    with pytest.raises(DataError, match="unpacks to more than 128 MB"):
        load_auslan(path, words=["yes"])


def test_an_archive_of_very_many_members_is_refused(tmp_path):
    path = tmp_path / "tctodd.tar.gz"
    info = member("x")[0].tobuf()
    path.write_bytes(gzip.compress(info * 20_001 + bytes(1024)))
    with pytest.raises(DataError, match="more than 20,000 members"):
        load_auslan(path, words=["yes"])


def test_half_an_archive_and_no_archive(archive, tmp_path):
    whole = archive.read_bytes()
    for content in (whole[: len(whole) // 2], b"", b"\x1f\x8b and no more", b"something else", whole[:-300]):
        broken = tmp_path / "broken.tar.gz"
        broken.write_bytes(content)
        with pytest.raises(DataError, match=r"broken\.tar\.gz"):
            load_auslan(broken)


def make_auslan8(home, words=("hello", "yes"), **files):
    names = [f'"{name}_{hand}"' for hand in (1, 2) for name in NAMES]
    records = [sign(word, 1, number) for word in words for number in (1, 2)]
    starts = np.cumsum([1] + [len(record) for record in records[:-1]])
    contents = {
        "data.csv": ",".join(names) + "\n" + text(np.vstack(records)).decode().replace("\t", ","),
        "starts.txt": ",".join(map(str, starts)),
        "labels.txt": "Symbol\n" + ",".join(word for word in words for _ in (1, 2)),
    } | files
    return make_folder(home, {name: content.encode() for name, content in contents.items()})


def test_the_eight_words_as_the_authors_published_them(tmp_path):
    home = make_auslan8(tmp_path / "auslan8", WORDS)
    panel, y = load_auslan(tmp_path)
    assert load_auslan(home).panel == panel
    assert y.tolist() == [word for word in WORDS for _ in (1, 2)]
    assert panel.ids[:3].tolist() == ["hello-1", "hello-2", "please-1"]
    assert panel.values("yaw_2", 1).tolist() == sign("hello", 1, 2)[:, 16].tolist()


def test_more_than_the_eight_words_come_from_the_other_layout(tmp_path, folder):
    make_auslan8(tmp_path / "auslan8", WORDS)
    assert len(load_auslan(tmp_path).panel) == 16
    assert load_auslan(tmp_path, words=["God", "hello"]).y.tolist() == ["God"] * 6 + ["hello"] * 6
    assert len(set(load_auslan(tmp_path, words="all").y.tolist())) == 10


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"starts.txt": "1,5,4,9"}, "first rows must begin with 1, rise"),
        ({"starts.txt": "1,5,10,900"}, "first rows must begin with 1, rise"),
        ({"starts.txt": "1,5"}, "2 starts but 4 labels"),
        ({"starts.txt": "1,two"}, "something else than numbers"),
        ({"labels.txt": "Symbol\nhello"}, "4 starts but 1 label"),
        ({"data.csv": "a,b\n1,2\n"}, "expected the columns 'x_1'"),
        ({"data.csv": "a,b\n1\n1,2\n"}, "something else than numbers"),
        ({"data.csv": ""}, "expected the columns"),
    ],
)
def test_files_that_do_not_belong_together(tmp_path, files, told):
    home = make_auslan8(tmp_path / "auslan8", **files)
    with pytest.raises(DataError, match=told):
        load_auslan(home, words=["hello"])


@pytest.mark.skipif(not REAL.is_dir(), reason=f"the real data are not in {os.path.join('..', 'shared', 'data')}")
def test_the_real_data():
    panel, y = load_auslan(REAL)
    assert (len(panel), panel.steps) == (216, 11_790)
    assert (panel.lengths.min(), panel.lengths.max()) == (47, 84)
    assert np.unique(y, return_counts=True)[1].tolist() == [27] * 8
    assert panel.values("x_1", 0)[0] == -0.103487
