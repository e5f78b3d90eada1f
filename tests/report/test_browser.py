"""The report in a browser: everything a reader does, by mouse and by keyboard, wide, narrow and dark."""

import csv
import io
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from tests.support.browser import NARROW, WIDE, Page, tab
from tests.support.class_trees import class_leaf, class_tree
from tests.support.report_cases import HARD, HOSTILE, grown, small, uneven_times

from telltree import Formula, Panel
from telltree.explain import categorize
from telltree.explain.sentence import claims_of
from telltree.report import write_report
from telltree.tree import Node
from telltree.tree.pruning_path import PruningPath, TreeScore
from telltree.tree.tree import Headline

SEEN = "return [...document.querySelectorAll(arguments[0])].map((e) => e.innerText.replace(/\\s+/g, ' ').trim())"


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("reports")


@pytest.fixture(scope="module")
def report(folder):
    tree, panel, y = small(60)
    return write_report(tree, panel, y, folder / "small.html", title="Sixty", held_out=(panel[:20], y[:20]))


@pytest.fixture
def page(driver, report):
    opened = Page(driver, report)
    yield opened
    assert opened.complaints() == []
    assert opened.requests() == []


def test_everything_is_drawn(page):
    data = page.data()
    assert len(page.all("[role=treeitem]")) == len(data["nodes"])
    assert len(page.all(".card")) == len(data["categories"])
    assert len(page.all(".links path")) == len(data["nodes"]) - 1
    assert page.one("#record-view h3").text.startswith("Record ")
    assert page.run("return performance.getEntriesByType('navigation')[0].loadEventEnd") > 0


def test_nodes_fold_and_unfold(page):
    seen = "return [...document.querySelectorAll('.box')].filter((box) => box.getClientRects().length).length"
    whole = page.run(seen)
    page.click("[data-place='0'] > .fold")
    assert page.run(seen) == 1
    assert page.one("[data-place='0']").get_attribute("aria-expanded") == "false"
    assert "folded away" in page.one("[data-place='0'] .folded-note").text
    page.click("[data-place='0'] > .fold")
    assert page.run(seen) == whole


@pytest.mark.slow
def test_sentences_switch_between_plain_paper_and_formula_all_over_the_page(page):
    data = page.data()
    told = {"plain": "english", "paper": "paper", "formula": "formula"}
    first = "document.querySelector('input[name=say]:checked')"
    assert page.run(f"return {first}.value") == "plain"
    page.run("document.querySelectorAll('details.whole').forEach((part) => { part.open = true; })")
    page.run(f"{first}.focus()")
    for way in ("plain", "paper", "formula"):
        assert page.run(f"return {first}.value") == way
        for place, thing in (("[data-place='0'] .says", data["nodes"][0]), (".card .sentence", data["categories"][0])):
            assert page.one(f"{place} .in-{way}").text == thing[told[way]]
            shown = [part.is_displayed() for part in page.all(f"{place} span")]
            assert sum(shown) == len(page.all(place)), "one of three"
        page.press(tab("ARROW_RIGHT"))
    assert page.run(f"return {first}.value") == "plain"  # round once


@pytest.mark.slow
def test_a_page_in_the_papers_style_opens_in_the_papers_form(driver, folder):
    tree, panel, y = small(30)
    page = Page(driver, write_report(tree, panel, y, folder / "paper.html", style="paper"))
    assert page.run("return document.querySelector('input[name=say]:checked').value") == "paper"
    assert page.one("[data-place='0'] .says .in-paper").is_displayed()


@pytest.mark.slow
def test_the_formula_as_it_was_found_is_told_on_demand(driver, folder):
    tree, panel, y = small(30)
    found = Formula.parse("not G(speed <= 2.5)", panel.schema)
    path = write_report(replace(tree, root=replace(tree.root, found=found)), panel, y, folder / "found.html")
    opened = Page(driver, path)
    assert str(found) not in opened.one("#details").text
    opened.click("#details .found summary")
    assert str(found) in opened.one("#details").text
    assert opened.complaints() == []


@pytest.mark.slow
def test_a_card_says_what_sets_its_category_apart_from_its_sibling(page):
    data = page.data()
    leaf = data["nodes"][data["categories"][0]["node"]]
    last = data["nodes"][leaf["parent"]]
    told = page.one(".card .apart").text
    assert told.startswith("Unlike categor")
    assert last["english" if leaf["side"] else "negated"] in told
    assert data["categories"][0]["figures"] in page.one(".card").text


@pytest.mark.slow
def test_siblings_stand_together_below_what_they_share(page):
    data = page.data()
    pairs = [category for category in data["categories"] if category["beside"] == category["number"] + 1]
    assert pairs
    groups = page.all(".siblings")
    assert len(groups) == len(pairs)
    for group, category in zip(groups, pairs, strict=True):
        above = f"Categories {category['number']} and {category['beside']} share: {category['shared']['english']}"
        assert above in group.text
        assert group.text.count(category["shared"]["english"]) == 1
        assert category["english"] not in group.text or category["english"] in category["shared"]["english"]


@pytest.mark.slow
def test_a_card_without_its_sibling_says_what_they_share(page):
    category = next(one for one in page.data()["categories"] if one["beside"])
    unwanted = f"#category-{category['beside']}"
    page.run("""
        const search = document.querySelector('#category-tools input[type=search]');
        search.value = arguments[0];
        search.dispatchEvent(new Event('input'));
    """, category["formula"])  # fmt: skip
    assert not page.all(unwanted)
    told = page.one(f"#category-{category['number']} .own")
    assert told.is_displayed()
    assert told.text == f"Like category {category['beside']}: {category['shared']['english']}"


@pytest.fixture(scope="module")
def pumps(folder):
    """The report of two mixed categories, and of two told by a condition that few of their records meet."""
    names = ("electromechanical counterbalancing failure", "hydraulic overpressure shutdown", "normal operation",
             "rhabarberbarbarabarbarbarenbartbarbier")  # fmt: skip
    records, y = [], []
    for i in range(80):
        origin, x = ("EWR" if i % 10 == 0 else "JFK"), 1.0 + i % 4
        steps = [[5.0 if i % 2 else 1.0, 9.0 if i % 40 == 0 else x, x, origin], [0.0, x, x, "JFK"]]
        records.append(np.array(steps, object))
        y.append(names[i // 4 % 2 + (0 if i % 2 else 2)] if i % 20 else names[2])
    kinds = {"origin": {"type": "categorical"}, "a_pressure_of_many_words": {"unit": "bar"}}
    panel = Panel.from_arrays(records, columns=["a_pressure_of_many_words", "x", "load", "origin"], schema=kinds)
    questions = ["F(a_pressure_of_many_words > 3)", 'G(origin = "EWR" implies x < 6)', "F(load > 2)"]
    tree = grown(panel, y, questions)
    return write_report(tree, panel, y, folder / "pumps.html", held_out=(panel[:40], y[:40]))


@pytest.mark.slow
def test_a_card_says_in_how_many_members_the_condition_of_a_sentence_occurs(driver, pumps):
    page = Page(driver, pumps)
    data = page.data()
    whenever = "whenever origin is EWR, x is below 6"
    told = [c["number"] for c in data["categories"] if whenever in c["english"]]
    assert len(told) == 2
    counts = {number: [0, 0] for number in told}
    for i in range(0, 80, 2):  # the even ones, without the two whose x is above 6
        if i % 40:
            number = data["list"]["category"][i]
            counts[number][0] += i % 10 == 0
            counts[number][1] += 1
    notes = {number: f"(the condition occurs in {met} of its {all_} members)" for number, (met, all_) in counts.items()}
    notes = {number: note.replace(" in 0 of", " in none of") for number, note in notes.items()}
    met, all_ = np.sum(list(counts.values()), axis=0)
    shared = f"{whenever} (the condition occurs in {met} of their {all_} members)"
    assert [shared in text for text in page.run(SEEN, ".siblings > .shares")].count(True) == 1
    page.run("document.querySelectorAll('.whole').forEach((e) => { e.open = true; })")
    for number, note in notes.items():
        [card] = page.run(SEEN, f"#category-{number} .whole")
        assert card.endswith(note)
        [row] = [text for text in page.run(SEEN, ".glance tbody tr") if text.split()[0] == str(number)]
        assert (note in row) == (data["categories"][number - 1]["headline"] is None)
    assert "the condition occurs" not in " ".join(data["categories"][told[0] - 1][way] for way in ("english", "paper"))
    page.click("input[name=say][value=paper]")
    assert not any("the condition occurs" in text for text in page.run(SEEN, "#cards"))


@pytest.mark.slow
@pytest.mark.parametrize("own", [True, False])
def test_a_headline_that_is_what_sets_a_category_apart_is_told_once(driver, folder, own):
    tree, panel, y = small(60)
    branches = iter([branches for _, branches in tree.leaves])
    other = Formula.parse("F(age > 0)", panel.schema)  # no question is about it

    def headed(node):
        if isinstance(node, Node):
            return replace(node, true=headed(node.true), false=headed(node.false))
        last = Formula(claims_of(next(branches))[-1])
        return replace(node, headline=Headline(last if own else other, 0, 1))

    tree = replace(tree, root=headed(tree.root))
    page = Page(driver, write_report(tree, panel, y, folder / "headed.html", overwrite=True))
    for category in categorize(tree, panel, y):
        card = f"#category-{category.number}"
        said = category.apart if own else "age is above 0"
        figures = category.headline.removeprefix(said)
        assert figures.startswith(" (all of its members, ")
        assert len(page.all(f"{card} .headline")) == (not own)
        [seen] = page.run(SEEN, card)
        assert seen.count(figures) == 1
        assert f"{said}{figures}" in seen
    page.click("input[name=say][value=paper]")  # which has no headlines
    assert not any(part.is_displayed() for part in page.all(".headline"))
    assert not any("(all of its members, " in text for text in page.run(SEEN, ".card"))


@pytest.mark.slow
def test_a_mixed_category_says_whose_share_it_tells_and_shows_the_label_of_each_member(driver, pumps):
    page = Page(driver, pumps)
    data = page.data()
    mixed = [c for c in data["categories"] if c["mixed"]]
    assert mixed
    for category in data["categories"]:
        card = f"#category-{category['number']}"
        names = [data["parts"][part] for part in category["mixed"]]
        assert category["title"] == (f"mixed: {' or '.join(names)}" if names else category["predicted"])
        assert page.texts(f"{card} h3 .data") == [category["title"]]
        assert len(page.all(f"{card} h3 .swatch rect")) == max(1, len(names))
        assert page.texts(f"{card} .figures")[0].startswith(f"{names[0]}: " if names else tuple("0123456789"))
        assert page.texts(f"{card} .measures dt")[1] == ("Labelled as the first" if names else "Labelled so")
        own = [
            data["records"][i] for i in range(len(data["records"])) if data["records"][i]["at"] in category["typical"]
        ]
        shown = page.texts(f"{card} .group:first-child .thumb .is")
        assert sorted(shown) == (sorted(f"labelled {data['parts'][r['label']]}" for r in own) if names else [])
        lists = [category[sort] for sort in ("typical", "borderline", "exceptions")]
        assert sum(map(len, lists)) == len(set().union(*lists))
    assert all("labelled so" not in page.texts(f"[data-place='{c['node']}']")[0] for c in mixed)


BROKEN = """
    const broken = [];
    for (const e of document.querySelectorAll('.whole-words')) {
        const walker = document.createTreeWalker(e, NodeFilter.SHOW_TEXT);
        for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            if (node.parentElement.closest('.formula')) continue;
            for (const {0: word, index} of node.data.matchAll(/\\S+/g)) {
                const range = document.createRange();
                range.setStart(node, index);
                range.setEnd(node, index + word.length);
                if (new Set([...range.getClientRects()].map((r) => Math.round(r.top))).size > 1
                    && !word.includes('-')) broken.push(word);
            }
        }
        const swatch = e.querySelector('.swatch');
        if (swatch && swatch.getClientRects().length) {
            const range = document.createRange();
            range.selectNodeContents(e.lastChild);
            const [line] = range.getClientRects();
            const {top, bottom} = swatch.getBoundingClientRect();
            if (top < line.top - 2 || bottom > line.bottom + 2) broken.push('a swatch');
        }
        if (e.classList.contains('named') && e.title.slice(0, 60) !== e.textContent.slice(0, 60)) broken.push(e.title);
    }
    return broken;
"""


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_names_never_break_inside_a_word(driver, pumps, size):
    page = Page(driver, pumps, size)
    page.run("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    page.run("document.querySelectorAll('.box').forEach((e) => e.setAttribute('aria-selected', 'false'))")
    names = set(page.texts(".whole-words"))
    assert set(page.data()["parts"]) <= names
    assert page.run(BROKEN) == []
    inside = "const frame = document.getElementById('tree-frame'); return frame.scrollWidth - frame.clientWidth"
    assert page.run(inside) <= 0
    cut = """
        const words = [...document.querySelectorAll('.matrix .whole-words')];
        const cells = words.filter((e) => e.title === arguments[0]).map((e) => e.parentElement);
        return cells.map((e) => [getComputedStyle(e).textOverflow, e.scrollWidth > e.clientWidth]);
    """
    long = "rhabarberbarbarabarbarbarenbartbarbier"
    assert page.run(cut, long) == 4 * [["ellipsis", True]]  # two tables, in which it stands twice
    assert page.run("return document.documentElement.scrollWidth") <= size[0]


@pytest.mark.slow
def test_the_boxes_of_categories_have_room_for_words_of_usual_length(driver, folder):
    """A deep tree, whose boxes are narrow."""
    name = "Überhitzung des Hauptlagers"
    panel = Panel.from_arrays([np.array([[float(k)]]) for k in range(32)], columns=["a_pressure_of_many_words"])
    y = [f"{name} {k}" for k in range(32)]
    questions = [f"F(a_pressure_of_many_words > {k})" for k in range(6)]
    page = Page(driver, write_report(grown(panel, y, questions), panel, y, folder / "deep.html"))
    cut = """
        return [...document.querySelectorAll('.leaf-head .data')].filter((e) => e.getClientRects().length)
            .map((e) => e.scrollWidth - e.clientWidth);
    """
    found = page.run(cut)
    assert found
    assert max(found) <= 0


@pytest.mark.slow
def test_boxes_of_the_tree_show_their_whole_text(page):
    cut = (
        "return [...document.querySelectorAll('.box .says')].filter((e) => e.scrollHeight > e.clientHeight + 2).length"
    )
    assert page.run(cut) == 0


@pytest.mark.slow
def test_on_a_narrow_screen_the_links_fit_into_one_row(driver, folder):
    tree, panel, y = small(30)
    opened = Page(driver, write_report(tree, panel, y, folder / "narrow.html"), NARROW)
    places = opened.run("return [...document.querySelectorAll('.parts a')].map((a) => { const b = "
                        "a.getBoundingClientRect(); return [b.top, b.left, b.right]; })")  # fmt: skip
    wide = opened.run("return document.documentElement.clientWidth")
    assert len({top for top, _, _ in places}) == 1
    assert all(left >= 0 and right <= wide for _, left, right in places)
    opened.run("document.getElementById('categories').scrollIntoView()")
    bar = opened.run("return document.querySelector('.parts ul').getBoundingClientRect().bottom")
    assert bar < 60
    assert opened.run("return document.getElementById('speech').getBoundingClientRect().bottom") <= 0


@pytest.mark.slow
def test_a_node_tells_its_gain_margin_and_runners_up(page):
    page.click("[data-place='0']")
    told = page.one("#details").text
    node = page.data()["nodes"][0]
    assert "12.5" in told
    assert "0.25" in told
    assert node["others"][1]["formula"] in told
    assert node["others"][1]["english"] in told


def test_choosing_a_record_lights_its_way_and_draws_it(page):
    data = page.data()
    index = max(range(len(data["records"])), key=lambda i: len(data["records"][i]["way"]))
    record = data["records"][index]
    page.choose("#record-tools select", str(index))
    assert page.one("#record-view h3").text == f"Record {record['id']}"
    wanted = {turn["node"] for turn in record["way"]} | {data["categories"][record["category"] - 1]["node"]}
    lit = page.run("return [...document.querySelectorAll('.box.taken')].map((e) => Number(e.dataset.place))")
    assert set(lit) == wanted
    assert len(page.all(".turn")) == len(record["way"]) + 1
    assert len(page.all(".plot.strip")) == sum(len(turn["looks"]) for turn in record["way"])
    assert len(page.all(".moment")) == len({turn["step"] for turn in record["way"]})
    page.choose(".scrub input", "2")
    assert page.one(".scrub input").get_attribute("aria-valuetext") == "1 s"
    assert all(page.texts(".lane-value"))


@pytest.mark.slow
def test_values_are_told_in_the_digits_that_were_kept(driver, folder):
    altitudes = [18200.0 + 25 * np.arange(12) * k for k in range(4)]
    panel = Panel.from_arrays([values[:, None] for values in altitudes], columns=["altitude"])
    tree = grown(panel, ["low", "low", "high", "high"], ["F(altitude > 18500)"])
    page = Page(driver, write_report(tree, panel, None, folder / "digits.html"))
    for index, record in enumerate(page.data()["records"]):
        page.choose("#record-tools select", str(index))
        page.choose(".scrub input", "3")
        assert page.texts(".lane-value")[0] == f"{altitudes[record['at']][3]:,.0f}"


@pytest.mark.slow
def test_uneven_times_are_read_where_they_are(driver, folder):
    tree, panel, y = uneven_times()
    page = Page(driver, write_report(tree, panel, y, folder / "uneven.html"))
    record = page.data()["records"][0]
    page.choose("#record-tools select", "0")
    for step in (0, 3, 12, 29):
        page.choose(".scrub input", str(step))
        told = float(page.texts(".lane-value")[0])
        assert told == pytest.approx(
            panel.values("x", record["at"])[step], abs=np.ptp(panel.values("x", record["at"])) / 1000
        )


@pytest.mark.slow
def test_a_thumbnail_opens_its_record(page):
    page.click("#category-1 .thumb")
    first = page.one("#category-1 .thumb .id").get_attribute("title")
    assert page.one("#record-view h3").text == f"Record {first}"
    assert page.focused("id") == "record"


@pytest.mark.slow
def test_cards_are_filtered_and_sorted(page):
    data = page.data()
    part = data["categories"][0]["part"]
    page.choose("#category-tools .field:nth-child(2) select", str(part))
    alike = [c["number"] for c in data["categories"] if c["part"] == part]
    assert page.texts(".card .badge") == [str(number) for number in alike]
    page.choose("#category-tools .field:nth-child(2) select", "")
    page.choose("#category-tools .field:nth-child(1) select", "records")
    bySize = sorted(data["categories"], key=lambda c: (-c["records"], c["number"]))
    assert page.texts(".card .badge") == [str(c["number"]) for c in bySize]
    page.choose("#category-tools input[type=search]", "no such words")
    assert page.all(".card") == []
    assert page.one("#category-count").text.startswith("0 of")
    page.run("document.querySelector('.glance a[href=\"#category-2\"]').click()")  # a link drops what hides its card
    assert page.one("#category-2").is_displayed()


@pytest.mark.slow
def test_categories_stand_side_by_side(page):
    for number in (1, 2):
        page.click(f"#category-{number} .card-head input")
    data = page.data()
    told = page.one("#comparison").text
    assert data["categories"][0]["english"] in told
    assert data["categories"][1]["english"] in told
    assert len(page.all("#comparison thead th")) == 2
    page.click("#comparison button")
    assert not page.one("#comparison").is_displayed()


@pytest.mark.slow
def test_sentences_are_copied_and_said_so(page):
    origin = {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    page.driver.execute_cdp_cmd("Browser.grantPermissions", origin)
    page.click("#category-1 .row button")
    said = page.awaited("document.querySelector('#said').textContent")  # which is gone after a while
    assert said == "Copied the sentence of category 1."
    read = "navigator.clipboard.readText().then(arguments[0], (error) => arguments[0](String(error)))"
    assert page.driver.execute_async_script(read) == page.data()["categories"][0]["english"]


def downloaded(page, folder, name, button):
    """The rows of a table that a button of the export gives."""
    allow = {"behavior": "allow", "downloadPath": str(folder)}
    page.driver.execute_cdp_cmd("Browser.setDownloadBehavior", allow)
    page.click(f"#export-tools button:nth-child({button})")
    while not (folder / name).exists():  # it gets its name when it is whole
        time.sleep(0.05)
    return list(csv.DictReader(io.StringIO((folder / name).read_bytes().decode("utf-8-sig"), newline="")))


@pytest.mark.slow
def test_tables_are_downloaded(page, tmp_path):
    data = page.data()
    rows = downloaded(page, tmp_path, "categories.csv", 1)
    assert [row["english"] for row in rows] == [c["english"] for c in data["categories"]]
    assert [int(row["records"]) for row in rows] == [c["records"] for c in data["categories"]]
    rows = downloaded(page, tmp_path, "members.csv", 2)
    assert [row["record"] for row in rows] == data["list"]["ids"]
    assert [int(row["category"]) for row in rows] == data["list"]["category"]


@pytest.mark.slow
def test_no_cell_of_a_table_is_a_formula_to_a_spreadsheet(driver, folder, tmp_path):
    ids = ['=1+1,"x"\n', "@a", "+b", "-c", "-5", "+1.5", *map(str, range(34))]
    page = Page(driver, write_report(*small(ids=ids), folder / "formulas.html"))
    rows = downloaded(page, tmp_path, "members.csv", 2)
    assert [row["record"] for row in rows[:6]] == ['\'=1+1,"x"\n', "'@a", "'+b", "'-c", "-5", "+1.5"]
    assert page.complaints() == []


def test_the_keyboard_reaches_everything(page):
    page.press(tab("TAB"))
    assert page.focused("class") == "skip"
    page.press(tab("ENTER"))
    assert page.run("return location.hash") == "#overview"
    page.run("document.querySelector('[data-place=\"0\"]').focus()")
    page.press(tab("ARROW_RIGHT"))
    assert page.focused("data-place") == "1"
    page.press(tab("ARROW_LEFT"), tab("ARROW_LEFT"))
    assert page.focused("data-place") == "0"
    page.press(tab("HOME"))
    assert page.focused("data-place") == "0"
    page.press(tab("ENTER"))
    folded = page.one("[data-place='0']").get_attribute("aria-expanded")
    page.press(tab("SPACE"))
    assert {folded, page.one("[data-place='0']").get_attribute("aria-expanded")} == {"true", "false"}
    page.press(tab("END"))
    assert page.one(f"[data-place='{page.focused('data-place')}']").get_attribute("aria-selected") == "true"
    assert len(page.all("[role=treeitem][tabindex='0']")) == 1


CONTROLS = """
return [...document.querySelectorAll('a[href], button, input, select, summary, [tabindex="0"]')]
    .filter((e) => e.checkVisibility({ contentVisibilityAuto: true }) && e.tabIndex >= 0)
    .filter((e) => e.type !== 'radio' || e.checked)
"""


@pytest.mark.slow
def test_tab_alone_reaches_every_control_and_keys_work_them(page):
    controls = len(page.run(CONTROLS))
    for _ in range(controls):
        page.press(tab("TAB"))
        page.run("document.activeElement.dataset.reached = 'yes'")
    assert page.run(CONTROLS + ".filter((e) => !e.dataset.reached).map((e) => e.outerHTML)") == []
    page.run("document.querySelector('#record-tools select').focus()")
    before = page.one("#record-view h3").text
    page.press(tab("ARROW_DOWN"))
    assert page.one("#record-view h3").text != before
    for number in (1, 2):
        page.run("document.querySelector(`#category-${arguments[0]} .card-head input`).focus()", number)
        page.press(tab("SPACE"))
    assert page.one("#comparison").is_displayed()
    page.run("document.querySelector('#category-2 .thumb').focus()")
    page.press(tab("ENTER"))
    assert page.one("#record-view h3").text == f"Record {page.one('#category-2 .thumb .id').get_attribute('title')}"
    page.run("document.querySelector('.scrub input').focus()")
    page.press(tab("HOME"))
    assert page.one(".scrub input").get_attribute("value") == "0"


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, (760, 900), NARROW], ids=["wide", "middle", "narrow"])
def test_no_width_makes_the_page_scroll_sideways(driver, report, size):
    page = Page(driver, report, size)
    assert page.run("return document.documentElement.scrollWidth") <= size[0]
    layout = page.one(".tree").get_attribute("data-layout")
    assert layout == ("outline" if size[0] < 760 else "diagram") or size[0] == 760
    assert page.complaints() == []


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_trees_of_other_sizes_fit_any_width_and_mark_this_one(driver, folder, size):
    tree, panel, y = small(60)
    pruning_path = PruningPath.of(tree)
    pruning_path = pruning_path.scored([TreeScore(0.9, 0.0123)] * len(pruning_path))
    path = write_report(
        SimpleNamespace(pruning_path_=pruning_path, tree_=tree), panel, y, folder / "sizes.html", overwrite=True
    )
    page = Page(driver, path, size)
    assert page.texts(".sizes .own th") == [f"{len(tree.leaves)} (this tree)"]
    assert len(page.all(".sizes tbody tr")) == len(pruning_path)
    for table in (".sizes", "[aria-label='Table of scores'] table"):
        assert page.run("const e = document.querySelector(arguments[0]).parentElement;"
                        "return e.scrollWidth - e.clientWidth", table) <= 0  # fmt: skip
    assert page.run("return document.documentElement.scrollWidth") <= size[0]
    assert page.complaints() == []
    assert page.grave_findings() == []


@pytest.mark.slow
def test_dark_is_dark(driver, report):
    page = Page(driver, report, dark=True)
    paper = page.run("return getComputedStyle(document.body).backgroundColor")
    assert max(int(part) for part in paper[4:-1].split(",")) < 60
    assert page.complaints() == []


@pytest.mark.slow
@pytest.mark.parametrize("case", HARD, ids=lambda case: case.__name__)
def test_hard_data_is_drawn_without_complaint(driver, folder, case):
    path = folder / f"{case.__name__}.html"
    page = Page(driver, write_report(*case(), path, overwrite=True), NARROW)
    assert page.run("return document.documentElement.scrollWidth") <= NARROW[0]
    for index in range(min(4, len(page.data()["records"]))):
        page.choose("#record-tools select", str(index))
    assert len(page.all("#record-view .turn")) >= 1
    assert page.complaints() == []
    assert page.requests() == []


def test_hostile_text_stays_text_in_the_browser(driver, folder):
    hostile = HOSTILE.replace("\ud800", "")
    slots = {
        "names": (hostile, "b" + hostile, "c" + hostile, "d" + hostile), "phrase": "p" + hostile, "unit": hostile,
        "levels": (hostile, "x" + hostile), "classes": (hostile, "y" + hostile), "time_unit": hostile,
        "ids": [f"{k}{hostile}" for k in range(40)],
    }  # fmt: skip
    plain = {
        "names": ("a", "b", "c", "d"), "phrase": "p", "unit": "u", "levels": ("k", "x"), "classes": ("m", "y"),
        "time_unit": "t", "ids": [f"{k}" for k in range(40)],
    }  # fmt: skip
    shapes = []
    for name, given in (("plain", plain), ("hostile", slots)):
        path = write_report(*small(**given), folder / f"{name}.html", title=given["unit"])
        page = Page(driver, path)
        page.run("document.querySelectorAll('.card-head input').forEach((e, i) => i < 3 && e.click())")
        page.click("[data-place='1']")
        shapes.append(page.run("return [...document.querySelectorAll('*')].map((e) => e.localName).sort().join()"))
        assert page.run("return typeof window.boom") == "undefined"
        assert page.complaints() == []
        assert page.requests() == []
    assert shapes[0] == shapes[1]
    shown = page.texts(".card h3 .data")  # shortened, where a heading is meant
    assert any(text.rstrip("…") and page.data()["parts"][0].startswith(text.rstrip("…")) for text in shown)


@pytest.mark.slow
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_audit_finds_nothing_serious(driver, report, size, dark):
    page = Page(driver, report, size, dark)
    page.run("document.querySelectorAll('details').forEach((e) => { e.open = true; })")
    page.run("document.querySelectorAll('.card-head input').forEach((e, i) => i < 2 && e.click())")
    assert page.grave_findings() == []


@pytest.mark.slow
def test_shapes_are_drawn_among_words_and_where_they_were_found(driver, folder):
    rise = np.concatenate([np.zeros(9), np.arange(6.0)])
    panel = Panel.from_arrays([rise[:, None], rise[::-1, None]], columns=["x"])
    question = Formula.parse("F(distance[0, 1, 3, 4, 6, 7](x) < 0.12)", panel.schema)
    sides = class_leaf((1, 0), (1.0, 0.0)), class_leaf((0, 1), (0.0, 1.0))
    tree = class_tree(Node(question, *sides), ("up", "down"), panel.schema)
    page = Page(driver, write_report(tree, panel, ["up", "down"], folder / "shapes.html"))
    drawn = page.run(
        "const lines = document.querySelectorAll('.says .in-plain svg.shape polyline');"
        "return [...lines].map((line) => line.getAttribute('points'))"
    )
    assert drawn == ["0,8 1,7 2,5 3,4 4,2 5,1"]
    assert page.texts(".says .in-plain")[0] == (
        "at some point the last 6 values of x so far look like a rise ▁▂▄▅▇█ within a distance of 0.12"
    )
    page.choose("#record-tools select", "0")
    (left, right) = page.run(
        "const [piece] = document.querySelectorAll('.piece'); const b = piece.getBBox(); return [b.x, b.x + b.width]"
    )
    assert (round(left * 15 / 1000 - 0.5, 3), round(right * 15 / 1000 - 0.5, 3)) == (9, 14)
    assert page.complaints() == []
