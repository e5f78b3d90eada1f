"""Options of the command line: printed and read back as a configuration, and completed by shells."""

import tomllib

import pytest

from tests.cli.test_verbs import VERBS, bad, good


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("telltree exp", {"explain", "export", "experiment"}),
        (
            "telltree fit --search-",
            {
                "--search-evaluations",
                "--search-seconds",
                "--search-max-depth",
                "--search-max-atoms",
                "--search-seed",
                "--search-setting",
            },
        ),
        ("telltree export --to s", {"stl", "sql"}),
    ],
)
def test_shells_can_complete_verbs_options_and_choices(words, offered):
    place = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" ")), "_TELLTREE_COMPLETE": "complete_bash"}
    assert set(good(env=place).split()) == offered


@pytest.mark.parametrize("verb", VERBS)
def test_a_printed_configuration_is_read_back(verb, tmp_path):
    config = tmp_path / "printed.toml"
    config.write_text(good(verb, "--print-config"))
    assert good(verb, "--config", config, "--print-config") == config.read_text()


def test_options_of_any_form_are_printed_and_read_back(tmp_path):
    config, odd = tmp_path / "printed.toml", 'a "b" \\ \x7f é'
    chosen = ("--label", odd, "--column", "speed", "--column", odd, "--no-simplify", "--class-weight", "balanced")
    config.write_text(good("fit", *chosen, "--period", "0.5", "--print-config"))
    found = tomllib.loads(config.read_text())["fit"]
    assert (found["label"], found["column"], found["simplify"], found["period"]) == (odd, ["speed", odd], False, 0.5)
    assert good("fit", "--config", config, "--print-config") == config.read_text()
    config.write_text('column = "speed"\n')  # one of what may be several
    assert tomllib.loads(good("inspect", "--config", config, "--print-config"))["inspect"]["column"] == ["speed"]
    bad(2, "fit", "--max-depth", "deep", "--print-config", says="max-depth")
    bad(2, "fit", "--max-dept", "3", "--print-config", says="max-dept")
