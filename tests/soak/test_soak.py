"""The soak: a short one finds nothing, a fault is written down to be run again, and what was found stays mended."""

from pathlib import Path

import pytest

from tests.soak import attacks, soak
from tests.support.effort import is_large

from telltree.engine import truth_of

CORPUS = Path(__file__).parent / "corpus"
FILES = sorted(path for path in CORPUS.glob("*/*") if path.is_file())
CASES = [line.split(" ", 2) for line in (CORPUS / "cases.txt").read_text().splitlines() if not line.startswith("#")]


def test_a_short_soak_finds_nothing(tmp_path):
    times = 2 if is_large() else 1
    run = soak.soak(0, cases=times * len(soak.NAMES), faults=tmp_path / "faults")
    assert run.is_fine(), "\n".join(path.read_text() for path in (tmp_path / "faults").glob("*.txt"))
    assert dict(run.cases) == dict.fromkeys(soak.NAMES, times)
    assert not (tmp_path / "faults").exists()


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_files_that_led_to_faults_are_read_or_refused(path, tmp_path, recwarn):
    attacks.judge(path.parent.name, path.read_bytes(), tmp_path)


@pytest.mark.parametrize(("name", "seed", "what"), CASES)
def test_cases_that_found_faults_pass(name, seed, what, tmp_path):
    attacks.attack(name, int(seed), tmp_path)


def test_a_fault_is_written_with_its_seed_and_the_file_that_led_to_it(tmp_path, monkeypatch, capsys):
    def broken(content, folder):
        raise KeyError("not of telltree's own")

    monkeypatch.setitem(attacks.READERS, "grammar", broken)
    words = ["--only", "damaged", "--seed", "5", "--cases", "1", "--faults", str(tmp_path)]
    assert soak.main(words) == 1
    assert "FAULT python -m tests.soak.soak --only damaged --seed 5 --cases 1" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"damaged-5.txt", "damaged-5.grammar"}
    told = (tmp_path / "damaged-5.txt").read_text()
    assert 'KeyError: "not of telltree\'s own"' in told
    with pytest.raises(attacks.Damaged):
        attacks.judge("grammar", (tmp_path / "damaged-5.grammar").read_bytes(), tmp_path)


def test_a_wrong_answer_is_a_fault(tmp_path, monkeypatch):
    monkeypatch.setattr(attacks, "truth_of", lambda expressions, panel: ~truth_of(expressions, panel))
    run = soak.soak(0, cases=3, only="parts", faults=tmp_path)
    assert run.failed["parts"] > 0


def test_memory_that_grows_is_a_fault(tmp_path):
    flat = soak.Soak(tmp_path, memory=[900.0] * 100 + [500.0] * 900)
    growing = soak.Soak(tmp_path, memory=[500.0 + number / 5 for number in range(1000)])
    assert (flat.is_fine(), growing.is_fine()) == (True, False)
    assert soak.Soak(tmp_path, memory=[1.0, 900.0]).is_fine()  # kernels compile at the start


def test_messages_as_long_as_a_book_are_a_fault(tmp_path, monkeypatch):
    def wordy(content, folder):
        error = attacks.TelltreeError("short")
        error.args = ("x" * 10_000_000,)
        raise error

    monkeypatch.setitem(attacks.READERS, "toml", wordy)
    with pytest.raises(attacks.Damaged):
        attacks.judge("toml", b"", tmp_path)
