"""The report as text: what it says, that nothing from the data becomes markup, and that hard data does no harm."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import polars as pl
import pytest
from report_cases import HARD, HOSTILE, grown, holes, long_records, single_leaf, sixty_categories, small

from telltree import DataError, Formula, GrammarTreeClassifier, MonteCarlo, Panel, SettingsError
from telltree.explain import categorize, way_of
from telltree.explain.rules import wilson
from telltree.report import report_html, write_report
from telltree.report.page import traces
from telltree.report.page.members import distances, medoids
from telltree.report.page.page import data_block


class Page(HTMLParser):
    """The elements of a page, and what its data block and its visible text say."""

    def __init__(self, html):
        super().__init__()
        self.elements, self.texts, self.block, self._inside = [], [], "", None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, tuple(name for name, _ in attrs)))
        self._inside = "data" if ("id", "data") in attrs else tag

    def handle_data(self, data):
        if self._inside == "data":
            self.block += data
        elif self._inside not in ("script", "style"):
            self.texts.append(data)

    def handle_endtag(self, tag):
        self._inside = None

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


def data_of(html):
    return json.loads(Page(html).block)


@pytest.fixture(scope="module")
def plain():
    return small()


@pytest.fixture(scope="module")
def html(plain):
    tree, panel, y = plain
    return report_html(tree, panel, y, title="A title", held_out=(panel[:20], y[:20]))


@pytest.fixture(scope="module")
def data(html):
    return data_of(html)


def test_same_inputs_give_the_same_bytes(plain, html):
    tree, panel, y = plain
    again = report_html(*small()[:2], y, title="A title", held_out=(panel[:20], y[:20]))
    assert again == html
    assert report_html(tree, panel, y, title="Another") != html


def test_the_policy_allows_our_style_and_script_by_their_hashes_and_nothing_else(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html).group(1).replace("&#39;", "'")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    [style] = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    [script] = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    for rule, text in (("style-src", style), ("script-src", script)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules.pop(rule) == f"'sha256-{digest}'"
    wanted = {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}
    assert rules == wanted


def test_the_policy_stands_before_anything_it_must_govern(html):
    assert html.index("Content-Security-Policy") < html.index("<title") < html.index("<style") < html.index("<script")


def test_no_part_of_the_page_comes_from_elsewhere_or_carries_style_or_handlers(html):
    for tag, names in Page(html).elements:
        assert "style" not in names, tag
        assert "src" not in names, tag
        assert not [name for name in names if name.startswith("on")], tag
    outside = html.replace("http://www.w3.org/2000/svg", "")  # the name of SVG, which nobody fetches
    assert "http:" not in outside
    assert "https:" not in outside
    assert "innerHTML" not in html


SLOTS = {
    "column": {"names": (HOSTILE, "on", "mode", "age")},
    "Boolean column": {"names": ("speed", HOSTILE, "mode", "age")},
    "static column": {"names": ("speed", "on", "mode", HOSTILE)},
    "phrase": {"phrase": HOSTILE},
    "unit": {"unit": HOSTILE},
    "level": {"levels": (HOSTILE, "down")},
    "class": {"classes": ("calm", HOSTILE)},
    "id": {"ids": [f"{k}{HOSTILE}" for k in range(40)]},
    "time unit": {"time_unit": HOSTILE},
}
SAFE = HOSTILE.replace("\ud800", "\ufffd")
TABLES = HOSTILE.replace("\ud800", "")  # polars holds no halves of surrogate pairs


def with_text(value, text):
    """What a slot is given, with another text in place of the hostile one."""
    if isinstance(value, str):
        return value.replace(HOSTILE, text)
    return type(value)(with_text(part, text) for part in value)


@pytest.mark.parametrize("slot", SLOTS)
def test_hostile_text_stays_text(slot):
    def made(text):
        tree, panel, y = small(**{name: with_text(value, text) for name, value in SLOTS[slot].items()})
        return report_html(tree, panel, y, held_out=(panel[:20], y[:20]))

    hostile = made(HOSTILE if slot in ("phrase", "unit", "time unit") else TABLES)
    page, harmless = Page(hostile), Page(made("zzz"))
    assert page.elements == harmless.elements
    assert "boom()" in page.block
    assert not set("<>&\u2028\u2029") & set(page.block)
    hostile.encode()


def test_a_hostile_title_stays_text(plain):
    tree, panel, y = plain
    made = report_html(tree, panel, y, title=HOSTILE)
    ordinary = Page(report_html(tree, panel, y, title="Plain"))
    page = Page(made)
    assert page.elements == ordinary.elements
    assert json.loads(page.block)["title"] == SAFE
    assert "{{7*7}}" in page.text  # the template engine does not look into what it is given


def test_the_data_block_cannot_end_its_element():
    told = data_block({"a": TABLES})
    assert not set("<>&\u2028\u2029") & set(told)
    assert json.loads(told) == {"a": TABLES}


@pytest.mark.parametrize("case", HARD, ids=lambda case: case.__name__)
def test_hard_data_is_shown(case):
    tree, panel, y = case()
    made = report_html(tree, panel, y)
    found = data_of(made)
    assert len(found["categories"]) == len(tree.leaves)
    assert sum(category["records"] for category in found["categories"]) == len(panel)
    assert found["total"] == len(panel)
    assert len(made.encode()) < 2_000_000


def test_the_overview_says_how_well_the_tree_does(plain, html):
    tree, panel, y = plain
    right = np.array(tree.classes, dtype=object)[tree.predict(panel)] == np.asarray(y, dtype=object)
    low, high = wilson(right[:20].mean(), 20)
    text = Page(html).text
    assert f"{100 * right.mean():.1f} %" in text
    assert f"{100 * low:.1f} % to {100 * high:.1f} %" in text or f"{100 * low:.1f} % to 100 %" in text
    assert "Held out" in text


def test_categories_are_those_of_explain(plain, data):
    tree, panel, y = plain
    for told, category in zip(data["categories"], categorize(tree, panel, y), strict=True):
        assert told["english"] == category.english
        assert told["formula"] == category.description
        assert told["records"] == len(category.positions)
        right = category.counts.get(category.label, 0)
        assert told["wrong"] == len(category.positions) - right
        low, high = wilson(right / told["records"], told["records"])
        assert (told["low"], told["high"]) == pytest.approx((low, high), rel=1e-4)


def test_members_belong_to_their_category_and_exceptions_are_wrong(plain, data):
    tree, panel, y = plain
    clusters = tree.apply(panel)
    for category in data["categories"]:
        for sort in ("typical", "borderline", "exceptions"):
            assert set(clusters[category[sort]]) <= {category["number"]}
        label = data["classes"][category["label"]]
        assert all(y[i] != label for i in category["exceptions"])
        assert len(category["typical"]) == min(4, category["records"])


def test_borderline_members_have_the_smallest_margins(plain, data):
    tree, panel, _ = plain
    clusters = tree.apply(panel)
    least = [min(abs(turn.margin) for turn in way_of(tree, panel, i)) for i in range(len(panel))]
    for category in data["categories"]:
        inside = sorted(least[i] for i in np.flatnonzero(clusters == category["number"]))
        assert [least[i] for i in category["borderline"]] == pytest.approx(inside[: len(category["borderline"])])


def test_ways_are_those_of_explain(plain, data):
    tree, panel, _ = plain
    for record in data["records"]:
        turns = way_of(tree, panel, record["at"])
        assert len(record["way"]) == len(turns)
        for told, turn in zip(record["way"], turns, strict=True):
            node = data["nodes"][told["node"]]
            assert node["formula"] == str(turn.formula)
            assert (told["holds"], told["step"], told["time"]) == (turn.holds, turn.step, turn.time)
            assert told["margin"] == pytest.approx(abs(turn.margin), rel=1e-4)
            assert (node["english"] if turn.holds else node["negated"]) == turn.english


def test_looks_are_where_the_operand_holds(plain, data):
    _, panel, _ = plain
    record = data["records"][0]
    told = record["way"][0]
    assert data["nodes"][told["node"]]["looks"] == ["speed > 2.5"]
    truth = panel.values("speed", record["at"]) > 2.5
    assert told["looks"] == ["".join("AB"[int(value)] for value in truth)]


def test_a_node_tells_its_runners_up_even_of_columns_it_does_not_have(plain):
    tree, panel, y = plain
    made = data_of(report_html(tree, panel.select(["speed", "on", "mode", "age"]), y))
    assert made["nodes"][0]["others"][0]["formula"] == "F(speed > 2.5)"
    assert made["nodes"][0]["others"][0]["english"] == "at some point, [speed] is greater than 2.5 m/s"
    assert made["nodes"][0]["gain"] == 12.5


def decoded(line):
    """The values of a line, as the page reads them."""
    low, high = (line["lo"], line["hi"]) if line["lo"] is not None else (np.nan, np.nan)
    special = {4095: np.nan, 4094: np.inf, 4093: -np.inf}
    digits = [traces.ALPHABET.index(character) for character in line["v"]]
    codes = [64 * first + second for first, second in zip(digits[::2], digits[1::2], strict=True)]
    return np.array([special[code] if code in special else low + (high - low) * code / 4092 for code in codes])


def test_lines_keep_values_gaps_and_infinities():
    values = np.array([1.0, np.nan, -2.5, np.inf, -np.inf, 7.25])
    back = decoded(traces.line(values))
    assert np.isnan(back[1])
    assert (back[3], back[4]) == (np.inf, -np.inf)
    finite = np.isfinite(values)
    assert np.abs(back[finite] - values[finite]).max() <= (7.25 + 2.5) / 4092


@pytest.mark.parametrize("values", [[np.nan], [np.inf, -np.inf], [3.0], [1.7e308, -1.7e308], [5e-324, 0.0]])
def test_odd_lines_are_written_without_a_warning(values):
    told = traces.line(np.array(values))
    assert len(told["v"]) == 2 * len(values)
    json.dumps(told, allow_nan=False)


def test_peaks_survive_down_sampling():
    rng = np.random.default_rng(0)
    values = rng.normal(size=5000)
    values[[17, 3333, 4999]] = [90.0, -80.0, 70.0]
    told = traces.line(values)
    assert len(told["v"]) <= 2 * traces.MOST_POINTS
    back = decoded(told)
    width = traces.bucket(5000)
    for step in (17, 3333, 4999):
        bucket = back[2 * (step // width) : 2 * (step // width) + 2]
        assert np.abs(bucket - values[step]).min() < 0.1


def test_a_bucket_of_more_than_one_value_is_mixed():
    flags = np.zeros(5000, np.int8)
    flags[2600] = 1
    told = traces.band(flags)
    assert told.count(traces.MIXED) == 1
    assert told[2600 // traces.bucket(5000)] == traces.MIXED
    assert set(told) == {"A", traces.MIXED}


def test_long_records_are_drawn_in_few_points():
    tree, panel, y = long_records()
    for record in data_of(report_html(tree, panel, y))["records"]:
        assert record["s"] == 5000
        for trace in record["x"].values():
            assert len(trace["v"] if isinstance(trace, dict) else trace) <= 2 * traces.MOST_POINTS


def test_missing_values_are_gaps():
    tree, panel, y = holes()
    made = data_of(report_html(tree, panel, y))
    names = [column["name"] for column in made["columns"]]
    for record in made["records"]:
        absent = np.isnan(panel.values("x", record["at"]))
        assert np.array_equal(np.isnan(decoded(record["x"][str(names.index("x"))])), absent)
        flags = panel.values("b", record["at"])
        assert [c == "." for c in record["x"][str(names.index("b"))]] == (flags < 0).tolist()


def test_medoids_are_the_record_nearest_to_all_and_then_the_most_different():
    places = np.array([0.0, 1.0, 2.0, 3.0, 50.0])
    chosen = medoids(np.abs(places[:, None] - places), 2)
    assert chosen.tolist() == [2, 4]


def test_distances_look_at_the_columns_asked_for_alone():
    rng = np.random.default_rng(0)
    same = rng.normal(size=(4, 5, 1)).repeat(2, axis=0)
    noise = rng.normal(size=(8, 5, 1))
    both = np.concatenate([same, noise], axis=2)
    panel = Panel.from_arrays(both, columns=["a", "b"], layout="records, steps, columns")
    apart = distances(panel, ["a"], {"a": 1.0}, np.arange(8))
    assert (np.diag(apart) == 0).all()
    assert apart[0, 1] == 0 < apart[0, 2]
    assert np.array_equal(apart, apart.T)
    assert distances(panel, ["a", "b"], {"a": 1.0, "b": 1.0}, np.arange(8))[0, 1] > 0


def test_ten_thousand_records_fit_into_two_megabytes():
    rng = np.random.default_rng(0)
    rows, whose = 500_000, np.repeat(np.arange(10_000), 50)
    table = {"id": whose} | {f"x{k}": rng.normal(size=rows).round(2) for k in range(6)}
    table |= {"b": rng.random(rows) < 0.02, "c": np.array(["up", "down", "none"])[rng.integers(0, 3, rows)]}
    panel = Panel.from_frame(pl.DataFrame(table), id="id", period=1.0, time_unit="s")
    y = np.where(panel.stacked("x1").reshape(-1, 50).max(axis=1) > 3, "high", "low")
    tree = grown(panel, y, ["F(x1 > 2.5)", "F(b and x2 < 0)", "G(x3 < 2.8)", 'F(c = "up" and x4 > 2)'])
    made = report_html(tree, panel, y)
    assert len(made.encode()) < 2_000_000
    found = data_of(made)
    assert len(found["list"]["ids"]) == 10_000
    assert len(found["records"]) < found["total"] == 10_000
    shown = {record["at"] for record in found["records"]}
    for category in found["categories"]:
        assert category["typical"]
        assert set(category["typical"]) <= shown


def test_labels_may_be_left_away(plain):
    tree, panel, _ = plain
    made = report_html(tree, panel)
    found = data_of(made)
    assert not found["labelled"]
    assert found["list"]["label"] is None
    assert all(category["wrong"] is None and category["purity"] is not None for category in found["categories"])
    assert "No labels were given" in Page(made).text


def test_labels_the_tree_has_never_seen_are_named(plain):
    tree, panel, y = plain
    strange = y.copy()
    strange[3] = "never seen"
    made = report_html(tree, panel, strange)
    assert data_of(made)["classes"] == ["calm", "wild", "never seen"]
    assert "never seen: never seen" in Page(made).text


@pytest.mark.parametrize(
    ("change", "error", "told"),
    [
        ({"y": ["calm"]}, DataError, "1 labels for 40 records"),
        ({"y": ["a"] * 40}, DataError, "none of the labels is a class of the tree"),
        ({"panel": [[1.0]]}, DataError, "a report shows the records of a Panel, got list"),
        ({"tree": "a tree"}, SettingsError, "a Tree or a fitted classifier, got str"),
        ({"held_out": 3}, DataError, r"held_out must be a pair \(panel, labels\)"),
        ({"examples": 0}, SettingsError, "examples must be a whole number of at least 1, got 0"),
        ({"seed": -1}, SettingsError, "seed must be a whole number of at least 0, got -1"),
    ],
)
def test_bad_input_gets_one_clear_error(plain, change, error, told):
    tree, panel, y = plain
    given = {"tree": tree, "panel": panel, "y": y} | change
    with pytest.raises(error, match=told):
        report_html(given.pop("tree"), given.pop("panel"), given.pop("y"), **given)


def test_a_panel_without_records_is_refused(plain):
    tree, panel, y = plain
    with pytest.raises(DataError, match="no records to report on"):
        report_html(tree, panel[:0], y[:0])
    with pytest.raises(DataError, match="held_out has no records"):
        report_html(tree, panel, y, held_out=(panel[:0], []))


def test_a_file_is_written_whole_and_never_over_another_unasked(plain, tmp_path):
    tree, panel, y = plain
    path = tmp_path / "rapport é.html"
    assert write_report(tree, panel, y, path) == path
    assert path.read_text("utf-8") == report_html(tree, panel, y)
    with pytest.raises(SettingsError, match="exists; give overwrite=True"):
        write_report(tree, panel, y, path)
    write_report(tree, panel, y, str(path), overwrite=True, title="Again")
    assert "<title>Again</title>" in path.read_text("utf-8")
    assert [entry.name for entry in tmp_path.iterdir()] == [path.name]


def test_an_unwritable_place_is_told_before_the_work(tmp_path):
    with pytest.raises(SettingsError, match="there is no directory"):
        write_report(None, None, None, tmp_path / "nowhere" / "report.html")
    with pytest.raises(SettingsError, match="it is a directory"):
        write_report(None, None, None, tmp_path)


def test_columns_left_out_are_told_with_the_reason():
    records = [np.column_stack([np.arange(4.0) * k, np.ones(4)]) for k in range(6)]
    panel = Panel.from_arrays(records, columns=["x", "still"])
    y = ["a"] * 3 + ["b"] * 3
    text = Page(report_html(grown(panel, y, ["F(x > 7)"]), panel, y)).text
    assert "still : constant" in text


def test_a_single_leaf_and_sixty_leaves_say_so():
    tree, panel, y = single_leaf()
    assert "The tree is a single leaf" in Page(report_html(tree, panel, y)).text
    tree, panel, y = sixty_categories()
    assert "60 categories of 600 records" in Page(report_html(tree, panel, y)).text
    mistaken = ["class 39" if label == "class 7" else label for label in y]
    text = Page(report_html(tree, panel, mistaken)).text
    assert "The commonest mistakes, records shown Label The tree’s answer Records class 39 class 7 20" in text


def test_formulas_of_counts_and_connectives_show_all_they_look_at():
    panel = small()[1]
    formula = Formula.parse("count(on) > 0 and not F(speed > 2) implies G(on or speed < 1)", panel.schema)
    y = np.where(formula(panel), "yes", "no")
    found = data_of(report_html(grown(panel, y, [str(formula)]), panel, y))
    assert found["nodes"][0]["looks"] == ["on", "speed > 2", "on ∨ (speed < 1)"]
    assert found["nodes"][0]["marks"] == [["speed", 2], ["speed", 1]]


def test_a_fitted_classifier_tells_how_it_was_searched():
    _, panel, y = small()

    def fitted():
        grammar = "Start ::= F(VB) | G(VB)  VB ::= each Boolean | each real {<, >} grid(5)"
        return GrammarTreeClassifier(grammar, MonteCarlo(evaluations=300), max_depth=2, random_state=3).fit(panel, y)

    model = fitted()
    made = report_html(model, panel, y)
    text = Page(made).text
    assert "MonteCarlo(evaluations=300" in text
    assert "max depth 2" in text
    assert "Start ::= F(VB) | G(VB)" in text
    assert str(sum(search.evaluations for search in model.searches_.values())) in text
    assert report_html(fitted(), panel, y) == made
    for record in data_of(made)["records"][:5]:
        turns = way_of(model.tree_, panel, record["at"])
        assert [turn["margin"] for turn in record["way"]] == pytest.approx([abs(t.margin) for t in turns], rel=1e-4)


def test_a_fitness_of_ones_own_is_named_without_its_address():
    _, panel, y = small()

    def halves(true, total, size):
        return np.abs(true.sum(axis=1) / total.sum() - 0.5) + 0.001 * size

    search = MonteCarlo(evaluations=100)
    model = GrammarTreeClassifier(search=search, fitness=halves, max_depth=1, random_state=0).fit(panel, y)
    made = report_html(model, panel, y)
    assert "halves" in Page(made).text
    assert " at 0x" not in made
