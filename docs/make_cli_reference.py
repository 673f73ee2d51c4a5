"""Writes docs/reference/cli.md from the commands themselves. A test fails where the page is stale.

python docs/make_cli_reference.py
"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.cli.main import VERBS, cli, load

PAGE = Path(__file__).parent / "reference" / "cli.md"
INTRODUCTION = """\
# Command line

This page is made from the commands by `python docs/make_cli_reference.py`.

Answers go to standard output; progress, notes and errors to standard error.

| Exit code | Meaning |
|---|---|
| 0 | done |
| 1 | nothing was found; or, with `--strict`, a file was skipped; or `verify` found damage |
| 2 | bad input, a damaged or foreign index, another writer, a target that cannot be written: one sentence says more |
| 130 | interrupted with Ctrl-C; what was committed stays |

The keys of `--json` are in [json.md](json.md), the settings of `index --set` in [settings.md](settings.md).
"""


def reference() -> str:
    """The whole page."""
    context = click.Context(cli, info_name="dovetail", help_option_names=cli.context_settings["help_option_names"])
    parts = [INTRODUCTION]
    for name in VERBS:
        command = load(name)
        with click.Context(command, info_name=name, parent=context, max_content_width=100, terminal_width=100) as inner:
            parts.append(f"## dovetail {name}\n\n```text\n{command.get_help(inner)}\n```\n")
    return "\n".join(parts)


if __name__ == "__main__":
    PAGE.write_text(reference())
