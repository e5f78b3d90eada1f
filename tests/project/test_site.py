"""The documentation site: it builds without a warning and without a network, and has every public name."""

import importlib
import os
import re
import subprocess
import sys

import pytest

from tests.support.documents import ROOT

pytest.importorskip("mkdocs", reason="the site is built with MkDocs")

MODULES = ("telltree", "telltree.explain", "telltree.report", "telltree.datasets", "telltree.experiments")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the built site; any warning of MkDocs is an error."""
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}  # an advertisement of the theme's makers
    done = subprocess.run(command, cwd=ROOT, env=quiet, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert not done.stderr.strip()
    return folder


def test_every_page_is_built(site):
    pages = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
    for page in pages:
        folder = page.parent if page.stem in {"README", "index"} else page.with_suffix("")
        assert (site / folder / "index.html").exists(), page
    assert "Semantic Versioning" in (site / "changelog" / "index.html").read_text(encoding="utf-8")
    assert 'href="../contributing/"' in (site / "architecture" / "index.html").read_text(encoding="utf-8")
    assert 'href="../architecture/"' in (site / "contributing" / "index.html").read_text(encoding="utf-8")


def test_pages_ask_no_server_for_anything(site):
    loads = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*?(?:src|href)=["']?(?:https?:)?//[^>]*>""")
    for path in site.rglob("*.html"):
        asked = loads.findall(path.read_text(encoding="utf-8"))
        assert not [tag for tag in asked if 'rel="canonical"' not in tag], path
    assert not list(site.rglob("*.py"))


@pytest.mark.parametrize("module", MODULES)
def test_the_reference_has_every_public_name(site, module):
    told = "".join(path.read_text(encoding="utf-8") for path in (site / "reference").rglob("index.html"))
    names = [name for name in importlib.import_module(module).__all__ if name != "__version__"]
    assert names
    for name in names:
        places = (f"{module}.{name}", f"telltree.{name}", f"{module}.{name}.{name}")  # a file may be called so too
        assert any(f'id="{place}"' in told for place in places), f"{module}.{name}"


def test_lists_of_parameters_are_lists(site):
    page = (site / "reference" / "estimators" / "index.html").read_text(encoding="utf-8")
    for name in ("max_depth", "random_state", "layout", "robustness"):
        assert f"<li><code>{name}</code>:" in page
    assert "-----" not in page
