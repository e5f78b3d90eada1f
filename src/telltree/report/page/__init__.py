"""The report: one HTML page with all that was learned, which needs only a browser.

`page.py` assembles it. Python computes numbers and texts, and passes them on as plain data; `templates/` holds the
page, its style and its script, which draws the data.
"""
