"""Draws the pictures of docs/report.md: parts of the reports of encounters and of Auslan, as Chromium shows them.

Run it with `python docs/draw_report.py`; it needs selenium, Pillow, Chromium with its driver, and the Auslan signs
where `telltree.datasets.load_auslan` looks for them (see there).
"""

import base64
import io
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver

from telltree import GrammarTreeClassifier, demo
from telltree.datasets import load_auslan

IMAGES = Path(__file__).with_name("images")
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1376,1000", "--hide-scrollbars")
SHOW = """
document.querySelector('.parts').hidden = true;
const [begin, end, edge, category] = arguments;
document.querySelector(`#category-${category} .thumb`).click();
document.activeElement.blur();
const [first, last] = [begin, end].map((part) => document.querySelector(part).getBoundingClientRect());
return {x: first.left + scrollX - 16, y: first.top + scrollY - 12, width: first.width + 32,
        height: last[edge] - first.top + 24, scale: 1};
"""
"""Chooses the first typical member of a category, and tells what to take: from one part to an edge of another."""


def encounters(path: Path) -> None:
    """The report of the demo's tree."""
    panel, ends = demo.encounters()
    train = slice(0, demo.LEARNT_FROM)
    demo.fit(panel[train], ends[train]).report(panel[train], ends[train], path)


def auslan(path: Path) -> None:
    """The report of a tree of all signs."""
    panel, words = load_auslan()
    GrammarTreeClassifier(random_state=0).fit(panel, words).report(panel, words, path)


def take(browser: Any, *what: Any) -> Image.Image:
    """A picture of a part of the open page."""
    asked = {"format": "png", "captureBeyondViewport": True, "clip": browser.execute_script(SHOW, *what)}
    taken = browser.execute_cdp_cmd("Page.captureScreenshot", asked)
    return Image.open(io.BytesIO(base64.b64decode(taken["data"])))


def main() -> None:
    """Write both reports, open them, and keep a picture of the tree of one and of a record of the other."""
    options = webdriver.ChromeOptions()
    with tempfile.TemporaryDirectory() as folder:
        for flag in (*FLAGS, f"--user-data-dir={folder}/profile"):
            options.add_argument(flag)
        with webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver")) as browser:
            for write, name, *what in (
                (encounters, "report.png", "#tree-tools", "#tree-frame", "bottom", 1),
                (auslan, "report_record.png", "#record-view", ".lanes h4 + .lane ~ h4", "top", 4),
            ):
                path = Path(folder) / f"{name}.html"
                write(path)
                browser.get(path.as_uri())
                take(browser, *what).convert("RGB").quantize(64).save(IMAGES / name, optimize=True)


if __name__ == "__main__":
    main()
