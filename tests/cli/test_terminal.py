"""On a real terminal: a bar while learning, none left behind, results as off it."""

import re
import shutil
import subprocess
import time
import uuid

import pytest

from tests.cli.test_verbs import KEYS, QUICK, good, write_csv
from tests.support.programs import PROGRAM

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")


class Terminal:
    """A tmux session of its own, and a file with all that was ever written to it."""

    def __init__(self, written):
        self._written = written
        self._socket = f"telltree-{uuid.uuid4().hex}"
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", "150", "-y", "50", "bash --norc --noprofile")
        self._tmux("pipe-pane", f"cat > '{written}'")

    def _tmux(self, *args):
        return subprocess.run(["tmux", "-L", self._socket, *args], capture_output=True, text=True, check=True).stdout

    def type(self, line):
        self._tmux("send-keys", line, "Enter")

    def press(self, key):
        self._tmux("send-keys", key)

    def screen(self, *options):
        return self._tmux("capture-pane", "-p", "-S", "-200", *options)

    def written(self):
        """Also what stood on the screen too shortly to be seen there."""
        return self._written.read_text(errors="replace")

    def wait_for(self, text):
        """The screen on which the text is; the program that was typed last must not end before."""
        ended = False
        while text not in (screen := self.screen()):
            assert not ended, f"{text!r} did not appear:\n{screen}"
            ended = re.search(r"^ended-\d", screen, re.MULTILINE)  # and what it said last may stand on the next screen
            time.sleep(0.1)
        return screen

    def close(self):
        self._tmux("kill-server")


@pytest.fixture
def terminal(tmp_path):
    made = Terminal(tmp_path / "written")
    yield made
    made.close()


@pytest.fixture(scope="module")
def flights(tmp_path_factory, plain, labels):
    found = write_csv(tmp_path_factory.mktemp("terminal") / "flights.csv", plain, labels)
    good("fit", found, *KEYS, "--label", "nmac", *QUICK)  # compiles: half a second would not be enough for that
    return found


def command(*args):
    return " ".join(f"'{word}'" for word in map(str, (PROGRAM, *args)))


def test_a_bar_is_shown_while_learning_and_then_gone(terminal, flights):
    limits = ("--search-seconds", "0.5", "--search-evaluations", "1000000000", "--max-depth", "1")
    terminal.type(command("fit", flights, *KEYS, "--label", "nmac", *limits) + "; echo ended-$?")
    ended = terminal.wait_for("ended-0")
    shown = re.sub("\x1b\\[[0-9;?]*[a-zA-Z]", "", terminal.written())
    # How far, time left, speed and the best so far; a formula is cut off where the line ends, and nothing before it.
    assert re.search(
        r"━ +\d+ % \d:\d\d:\d\d left [\d:-]{7} [\d,]+ formulas/s · node 1, \d+ records · [\d.]+ [FG]\(", shown
    )
    assert "… left" not in shown
    assert "fold 2 of 5" in shown
    assert "formulas/s" not in ended
    assert "fold 2 of 5" not in ended
    assert "[1] " in ended  # a slow machine may find nothing worth asking in half a second


@pytest.mark.slow
def test_ctrl_c_on_a_terminal_keeps_the_best_so_far(terminal, flights, tmp_path):
    saved = tmp_path / "model.json"
    options = (*KEYS, "--label", "nmac", "--search-seconds", "60", "--search-evaluations", "1000000000", "-o", saved)
    terminal.type(command("fit", flights, *options) + "; echo ended-$?")
    terminal.wait_for("formulas/s")
    terminal.press("C-c")
    assert "formulas/s" not in terminal.wait_for("ended-130")
    assert "yes:" in good("show", saved)


@pytest.mark.slow
def test_results_are_the_same_on_a_terminal_and_off_it(terminal, flights):
    options = ("fit", flights, *KEYS, "--label", "nmac", *QUICK)
    terminal.type(command(*options) + "; echo ended-$?")
    screen = terminal.wait_for("ended-0")
    shown = " ".join(screen.split())  # long lines are folded
    assert all(" ".join(line.split()) in shown for line in good(*options).splitlines())


@pytest.mark.slow
def test_colours_are_left_out_where_asked(terminal, flights):
    options = (*KEYS, "--label", "nmac", "--search-seconds", "60", "--search-evaluations", "1000000000")
    colour = re.compile("\x1b\\[[0-9;]*(3[0-9]|4[0-9]|9[0-7])[0-9;]*m")
    terminal.type("TERM=xterm-256color " + command("fit", flights, *options))
    terminal.wait_for("formulas/s")
    assert colour.search(terminal.screen("-e"))
    terminal.press("C-c")
    terminal.wait_for("yes:")
    terminal.type("clear; NO_COLOR=1 " + command("fit", flights, *options))
    terminal.wait_for("formulas/s")
    assert not colour.search(terminal.screen("-e"))
    terminal.press("C-c")


@pytest.mark.slow
def test_results_cannot_steer_a_terminal(terminal, plain, labels, tmp_path):
    odd = [f"\x1b[8m{label}" for label in labels]
    data = write_csv(tmp_path / "odd.csv", plain, odd)
    options = (*KEYS, "--label", "nmac", *QUICK, "-o", tmp_path / "model.json")
    good("fit", data, *options)
    terminal.type(command("predict", tmp_path / "model.json", data, *KEYS) + "; echo ended-$?")
    assert "\\x1b[8m" in terminal.wait_for("ended-0")
