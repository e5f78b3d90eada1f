"""Pages of reports as text: their elements, what they show, and the data they draw."""

import json
from html.parser import HTMLParser

import numpy as np

from telltree.report import traces


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


def decoded(line):
    """The values of a line, as the page reads them."""
    low, high = (line["lo"], line["hi"]) if line["lo"] is not None else (np.nan, np.nan)
    special = {4095: np.nan, 4094: np.inf, 4093: -np.inf}
    digits = [traces.ALPHABET.index(character) for character in line["v"]]
    codes = [64 * first + second for first, second in zip(digits[::2], digits[1::2], strict=True)]
    return np.array([special[code] if code in special else low + (high - low) * code / 4092 for code in codes])
