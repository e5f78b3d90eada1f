"""Adds to the site the pages that stand outside docs/, and turns links to and from them: a hook of MkDocs, named in
mkdocs.yml."""

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

OUTSIDE = {"changelog.md": "CHANGELOG.md", "contributing.md": "CONTRIBUTING.md"}
"""Where a page stands on the site, and in the project."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Take in the pages as if they stood in docs/."""
    root = Path(config.config_file_path).parent
    for page, source in OUTSIDE.items():
        content = (root / source).read_text(encoding="utf-8").replace("](docs/", "](")
        files.append(File.generated(config, page, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Lead links out of docs/ to the pages of the site."""
    for other, source in OUTSIDE.items():
        depth = page.file.src_uri.count("/")
        markdown = re.sub(rf"\]\((?:\.\./)+{re.escape(source)}", f"]({'../' * depth}{other}", markdown)
    return markdown
