"""The report: one HTML page with all that was learned, which needs nothing but a browser.

`page.py` assembles it. Python works out numbers and texts, and hands them over as plain data; `templates/` holds the
page, its style and its script, which draws the data.
"""
