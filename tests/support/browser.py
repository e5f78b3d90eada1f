"""A browser without a window, and what a reader can do with a report that is open in it."""

import base64
import json
import os
import shutil
import time
from contextlib import contextmanager
from pathlib import Path

import pytest

BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
DRIVER = shutil.which("chromedriver")
AXE = Path(__file__).parents[2] / ".node" / "node_modules" / "axe-core" / "axe.min.js"
FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage",
)  # fmt: skip
WIDE, NARROW = (1280, 900), (360, 740)


@contextmanager
def opened_browser(profile):
    """A new browser with an empty profile; the test is skipped where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    if not (BROWSER and DRIVER):
        pytest.skip("there is no Chromium with its driver here")
    os.environ["SE_AVOID_STATS"] = "true"
    options = webdriver.ChromeOptions()
    options.binary_location = BROWSER
    for flag in (*FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    with webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER)) as driver:
        driver.set_script_timeout(1_800)  # the tests have a limit of their own
        yield driver


class Page:
    """A report opened in the browser, and what a reader can do with it."""

    def __init__(self, driver, path, size=WIDE, dark=False):
        self.driver = driver
        features = [
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
            {"name": "prefers-reduced-motion", "value": "reduce"},
        ]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        width, height = size
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
        driver.execute_cdp_cmd("Emulation.setFocusEmulationEnabled", {"enabled": True})
        for kind in ("browser", "performance"):
            driver.get_log(kind)  # what came before is another page's
        driver.get(path.as_uri())

    def run(self, script, *arguments):
        return self.driver.execute_script(script, *arguments)

    def all(self, selector):
        return self.driver.find_elements("css selector", selector)

    def one(self, selector):
        return self.driver.find_element("css selector", selector)

    def click(self, selector):
        self.run(
            "const e = document.querySelector(arguments[0]); e.scrollIntoView({block: 'center'}); e.click()", selector
        )

    def choose(self, selector, value):
        self.run(
            "const e = document.querySelector(arguments[0]); e.value = arguments[1];"
            "e.dispatchEvent(new Event(e.localName === 'input' ? 'input' : 'change', {bubbles: true}))",
            selector,
            value,
        )

    def awaited(self, expression):
        """The value of an expression of the page's script, once it is one that counts as true."""
        while not (value := self.run(f"return {expression}")):
            time.sleep(0.05)
        return value

    def texts(self, selector):
        return self.run("return [...document.querySelectorAll(arguments[0])].map((e) => e.textContent)", selector)

    def press(self, *keys):
        from selenium.webdriver import ActionChains

        actions = ActionChains(self.driver)
        for key in keys:
            actions.send_keys(key)
        actions.perform()

    def focused(self, attribute):
        return self.run("return document.activeElement.getAttribute(arguments[0])", attribute)

    def data(self):
        return json.loads(self.run("return document.getElementById('data').textContent"))

    def complaints(self):
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """The addresses that were asked for, beside the report itself and the browser's own start page."""
        events = [json.loads(entry["message"])["message"] for entry in self.driver.get_log("performance")]
        asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
        own = self.driver.current_url.split("#")[0]
        return [url for url in asked if url.split("#")[0] != own and not url.startswith(("data:", "blob:", "chrome"))]

    def picture(self):
        """The content of the window, as PNG."""
        return base64.b64decode(self.driver.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})["data"])

    def grave_findings(self):
        """The serious findings of an accessibility audit; the test is skipped where axe-core is not installed."""
        if not AXE.exists():
            pytest.skip("axe-core is not there: npm install --prefix .node axe-core")
        self.run(AXE.read_text("utf-8"))
        found = self.driver.execute_async_script("axe.run(document).then(arguments[0])")
        return [
            (violation["id"], node["html"][:200], node["failureSummary"])
            for violation in found["violations"]
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"][:3]
        ]


def tab(name):
    from selenium.webdriver.common.keys import Keys

    return getattr(Keys, name)
