"""The documentation as a site: every page is on it, no link or anchor is broken, and nothing comes from other hosts."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.pages import ROOT

pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """What `make docs` builds; in its strict mode a warning is an error."""
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", folder],
        cwd=ROOT, env=os.environ | {"NO_MKDOCS_2_WARNING": "1"}, check=True,
    )  # fmt: skip
    return folder


def test_every_page_is_on_the_site(site):
    for path in (ROOT / "docs").rglob("*.md"):
        assert (site / path.relative_to(ROOT / "docs").with_suffix(".html")).is_file()
    assert {path.name for path in (ROOT / "docs" / "images").iterdir()} <= {
        path.name for path in (site / "images").iterdir()
    }


def test_pages_load_nothing_from_other_hosts(site):
    for path in site.rglob("*.html"):
        loaded = re.findall(r'<(?:script|img|iframe)[^>]* src="([^"]+)"|<link[^>]* href="([^"]+)"', path.read_text())
        assert not [address for pair in loaded for address in pair if re.match(r"(https?:)?//", address)], path.name
