"""Writes docs/reference/cli.md from the commands. A test fails if the page is out of date.

python docs/make_cli_reference.py
"""

from __future__ import annotations

from pathlib import Path

import click

from dovetail.cli.verbs import VERBS, cli, load

PAGE = Path(__file__).parent / "reference" / "cli.md"
INTRODUCTION = """\
# Command line

`python docs/make_cli_reference.py` generates this page from the commands.

Answers go to standard output; progress, notes and errors to standard error. On a terminal, tables fit its width;
otherwise their cells are separated by tabs. Every command that asks an index takes it as `--index INDEX`, from the
environment variable `DOVETAIL_INDEX`, and, except for `search` and `join`, as its first argument.

| Exit code | Meaning |
|---|---|
| 0 | done |
| 1 | nothing was found or joins; `index --strict` skipped a file or a lake; `verify` found damage |
| 2 | bad input, an index that is damaged or of another version, another writer, no way to write, too little memory |
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
