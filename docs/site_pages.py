"""Adds to the site the pages that stand outside docs/: a hook of MkDocs, named in mkdocs.yml."""

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

OUTSIDE = {"changelog.md": "CHANGELOG.md"}
"""Where a page stands on the site, and in the project."""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Take in the pages as if they stood in docs/."""
    root = Path(config.config_file_path).parent
    for page, source in OUTSIDE.items():
        files.append(File.generated(config, page, content=(root / source).read_text(encoding="utf-8")))
    return files
