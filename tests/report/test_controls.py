"""Every control of a report is used: each has an effect that a reader can see, and none makes the page complain."""

import pytest

from tests.support.browser import NARROW, WIDE, Page, tab
from tests.support.report_cases import small

from telltree.report import write_report

CONTROLS = "a[href], button, summary, input, select, [role=treeitem], .fold"
STATE = """
    const seen = (e) => e.getClientRects().length > 0;
    const all = [...document.querySelectorAll('*')].filter(seen);
    return JSON.stringify([
        document.body.innerText, document.body.dataset, location.hash, Math.round(scrollY),
        all.map((e) => [e.localName, e.className.baseVal ?? e.className, e.getAttribute('aria-selected'),
            e.getAttribute('aria-expanded'), e.open, e.checked, e.value, e.getAttribute('d'), e.dataset.layout,
            e.style ? e.style.cssText : '', e.scrollTop, e.scrollLeft]),
        document.activeElement.textContent.slice(0, 40),
    ]);
"""
WATCH = """
    window.given = [];
    navigator.clipboard.writeText = (text) => { window.given.push(text); return Promise.resolve(); };
    window.print = () => window.given.push('printed');
    const make = URL.createObjectURL.bind(URL);
    URL.createObjectURL = (blob) => { window.given.push(`${blob.size} bytes`); return make(blob); };
    document.querySelectorAll('details').forEach((e) => { e.open = true; });
    document.querySelectorAll('details').forEach((e) => { e.open = false; });
"""
PREPARE = """
    const e = document.querySelectorAll(arguments[0])[arguments[1]];
    const unfold = [...document.querySelectorAll('button')].find((button) => button.textContent === 'Unfold all');
    if (e === unfold) e.nextElementSibling.click();  // else there is nothing to unfold
    if (e.closest('[role=tree]')) unfold.click();  // else it is folded away with the node above
"""
ACTIVATE = """
    const e = document.querySelectorAll(arguments[0])[arguments[1]];
    if (!e) return null;
    const kind = e.localName === 'input' ? `${e.localName} ${e.type}` : e.className && e.localName === 'div' ? 'node'
        : e.localName;
    const send = (name) => e.dispatchEvent(new Event(name, {bubbles: true}));
    for (let up = e.parentElement; up; up = up.parentElement)
        if (up.localName === 'details' && !(e.localName === 'summary' && e.parentElement === up)) up.open = true;
    if (!e.getClientRects().length || e.disabled) return [kind, 'hidden', ''];
    if (arguments[2]) {
        if (e.localName === 'select') {
            if (e.options.length < 2) return [kind, 'alone', ''];
            e.selectedIndex = (e.selectedIndex + 1) % e.options.length;
            send('change');
        } else if (e.type === 'search') {
            e.value = e.value ? '' : 'zzz';
            send('input');
        } else if (e.type === 'range') {
            e.value = Number(e.value) === Number(e.min) ? e.max : e.min;
            send('input');
            send('change');
        } else if (e.type === 'radio' && e.checked) return [kind, 'chosen', ''];
        else e.dispatchEvent(new MouseEvent('click', {bubbles: true, cancelable: true}));
    }
    return [kind, 'used', (e.getAttribute('aria-label') || e.textContent || e.name || '').trim().slice(0, 60)];
"""


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    tree, panel, y = small(60)
    path = tmp_path_factory.mktemp("controls") / "report.html"
    return write_report(tree, panel, y, path, title="Sixty", held_out=(panel[:20], y[:20]))


@pytest.mark.slow
@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_every_control_has_an_effect(driver, report, size):
    page, idle, used = Page(driver, report, size), [], set()
    page.run(WATCH)
    for place in range(page.run("return document.querySelectorAll(arguments[0]).length", CONTROLS)):
        if page.run(ACTIVATE, CONTROLS, place, False) is None:  # a filter has taken it away
            continue
        page.run(PREPARE, CONTROLS, place)
        page.run("scrollTo(0, 900)")
        before, given = page.run(STATE), page.run("return window.given.length")
        kind, done, name = page.run(ACTIVATE, CONTROLS, place, True)
        assert (kind, done) not in {("node", "hidden"), ("span", "hidden")}
        if done != "used":
            continue
        used.add(kind)
        changed = page.run(STATE) != before or page.run("return window.given.length") > given
        if not changed:
            idle.append((kind, name))
        if kind == "input search":  # all cards come back
            page.run(ACTIVATE, CONTROLS, place, True)
    assert idle == []
    assert used >= {"a", "button", "summary", "select", "input search", "input checkbox", "input radio", "node"}
    assert page.complaints() == []
    assert page.requests() == []


@pytest.mark.slow
def test_every_control_is_reached_by_the_keyboard(driver, report):
    page = Page(driver, report)
    reachable = page.run("""
        return [...document.querySelectorAll('a[href], button, summary, input, select')]
            .filter((e) => e.getClientRects().length && e.tabIndex < 0).map((e) => e.outerHTML.slice(0, 80));
    """)
    assert reachable == []
    page.run("document.querySelector('[data-place=\"0\"]').focus()")
    for key in ("ARROW_RIGHT", "ARROW_DOWN", "ARROW_UP", "END", "HOME", "ARROW_LEFT", "ENTER", "SPACE"):
        before = page.run(STATE)
        page.press(tab(key))
        assert page.run(STATE) != before, key
    assert page.complaints() == []
