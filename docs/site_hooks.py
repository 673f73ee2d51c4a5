"""What the site needs beyond the folder `docs`: pages and files of the repository that the documentation links to."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).resolve().parent.parent
ADDED = {
    "ARCHITECTURE.md": "dev/architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "dev/contributing.md",
    "benchmarks/README.md": "benchmarks/programs.md",
    "benchmarks/reading/README.md": "benchmarks/truth-of-reading.md",
    "examples/tour.ipynb": "tour.ipynb",
    "sample-lake/ORIGINS.md": "sample-lake.md",
}
"""Files of the repository, and what they are called on the site."""

FENCE = re.compile(r"(^```.*?^```$)", re.MULTILINE | re.DOTALL)
LIST_IN_PARAGRAPH = re.compile(r"^(?![-|#> ]|\d+\. )(.+)\n(?=- |1\. )", re.MULTILINE)
LINK = re.compile(r"(\]\()([^)#:]+)((?:#[^)]*)?\))")


def on_files(files: Files, config: Any) -> Files:
    """Add the files as if they were in `docs`."""
    for name, target in ADDED.items():
        files.append(File.generated(config, target, content=_with_links(name, (ROOT / name).read_text())))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Let links that lead out of `docs` lead to the added files, and lists begin without an empty line before them."""
    text = markdown if page.file.generated_by else _with_links(f"docs/{page.file.src_uri}", markdown)
    parts = FENCE.split(text)
    parts[::2] = [LIST_IN_PARAGRAPH.sub(r"\1\n\n", part) for part in parts[::2]]
    return "".join(parts)


def _with_links(name: str, text: str) -> str:
    """The text of a file of the repository, with links as they are on the site."""

    def moved(link: re.Match[str]) -> str:
        target = (ROOT / name).parent.joinpath(link[2]).resolve()
        if not target.is_relative_to(ROOT):
            return link[0]
        there = _on_site(target.relative_to(ROOT).as_posix())
        return f"{link[1]}{os.path.relpath(there, Path(_on_site(name)).parent)}{link[3]}"

    return LINK.sub(moved, text) if name.endswith(".md") else text


def _on_site(name: str) -> str:
    return ADDED.get(name) or name.removeprefix("docs/")
