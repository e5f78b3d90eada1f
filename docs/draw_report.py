"""Draws docs/images/report.png: the tree of the demo's report, as Chromium shows it.

Run it with `python docs/draw_report.py`; it needs selenium, Pillow, Chromium and its driver.
"""

import base64
import io
import tempfile
from pathlib import Path

from PIL import Image
from selenium import webdriver

from telltree.datasets import make_encounters
from telltree.datasets.encounters import PROXIMITY
from telltree.demo import NMAC, RECORDS, fit
from telltree.report import write_report

IMAGE = Path(__file__).parent / "images" / "report.png"
FLAGS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--window-size=1376,1000", "--hide-scrollbars")
SHOW = """
document.querySelector('.parts').hidden = true;
document.querySelector('#category-1 .thumb').click();
document.activeElement.blur();
const [tools, frame] = ['tree-tools', 'tree-frame'].map((id) => document.getElementById(id).getBoundingClientRect());
return {x: tools.left + scrollX - 16, y: tools.top + scrollY - 12, width: tools.width + 32,
        height: frame.bottom - tools.top + 24, scale: 1};
"""


def main() -> None:
    """Write the report, open it, light the way of a record, and keep a picture of the tree."""
    panel, ends, _ = make_encounters(RECORDS, NMAC)
    panel = panel.select([name for name in panel.schema if name not in PROXIMITY])
    options = webdriver.ChromeOptions()
    with tempfile.TemporaryDirectory() as folder:
        path = write_report(fit(panel, ends), panel, ends, Path(folder) / "report.html")
        for flag in (*FLAGS, f"--user-data-dir={folder}/profile"):
            options.add_argument(flag)
        with webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver")) as browser:
            browser.get(path.as_uri())
            asked = {"format": "png", "captureBeyondViewport": True, "clip": browser.execute_script(SHOW)}
            taken = browser.execute_cdp_cmd("Page.captureScreenshot", asked)
    picture = Image.open(io.BytesIO(base64.b64decode(taken["data"])))
    picture.convert("RGB").quantize(128).save(IMAGE, optimize=True)


if __name__ == "__main__":
    main()
