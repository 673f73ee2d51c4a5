"""Every command, option, setting, error and byte on disk is documented, and no link leads nowhere."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import pkgutil
import re

import click
import pytest
from fastapi import FastAPI

import dovetail
from dovetail import errors, papers
from dovetail._storage.manifest import Manifest
from dovetail._storage.segment import SegmentRef
from dovetail.catalog import records
from dovetail.catalog.decisions import Decision
from dovetail.cli.verbs import VERBS, load
from dovetail.indexes.registry import INDEXES
from dovetail.lake.containers.registry import CONTAINER_SUFFIXES
from dovetail.lake.dialect import PARSERS
from dovetail.lake.formats import COMPRESSION_BY_SUFFIX, FORMAT_BY_SUFFIX
from dovetail.lake.listing import Root
from dovetail.normalise.column_type import KINDS
from dovetail.serve.rest import Rest
from dovetail.serve.service import Service
from dovetail.serve.tools import Tools
from dovetail.serve.work import Workers
from dovetail.settings import SETTINGS
from support.pages import PAGES, ROOT, page, program

ERRORS = [item for item in vars(errors).values() if inspect.isclass(item) and issubclass(item, Exception)]


def test_the_command_line_reference_is_fresh():
    reference = program("docs/make_cli_reference.py").reference()
    assert page("docs/reference/cli.md") == reference, "run: python docs/make_cli_reference.py"


def test_the_changelog_has_the_version():
    headings = re.findall(r"^## (.+)$", page("CHANGELOG.md"), re.MULTILINE)
    assert headings[0] == "Unreleased" and headings[1].startswith(f"{dovetail.__version__} (")


@pytest.mark.parametrize("command", [load(name) for name in VERBS], ids=lambda command: command.name)
def test_commands_and_their_options(command):
    assert f"`dovetail {command.name}" in page("docs/guides/questions.md")
    if any("--json" in parameter.opts for parameter in command.params):
        assert f"## dovetail {command.name}\n" in page("docs/reference/json.md")
    section = page("docs/reference/cli.md").partition(f"## dovetail {command.name}\n")[2].partition("\n## ")[0]
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{command.name} {parameter.name} has no help"
            assert all(option in section for option in parameter.opts)


@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_settings(setting):
    assert f"| `{setting.name}` | {setting.default} | {setting.help} |" in page("docs/reference/settings.md")


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.__name__)
def test_errors(error):
    assert f"| `{error.__name__}` |" in page("docs/reference/python.md")
    assert re.search(rf"^\W*{error.__name__}\b", errors.__doc__ or "", re.MULTILINE), "draw it in the tree of errors.py"


@pytest.mark.parametrize("name", dovetail.__all__)
def test_public_names(name):
    assert f"`dovetail.{name}" in page("docs/reference/python.md")


@pytest.mark.parametrize("name", [n for n in dir(dovetail.Lake) if not n.startswith("_")])
def test_what_an_open_index_answers(name):
    assert f"`lake.{name}" in page("docs/reference/python.md")


@pytest.mark.parametrize("name", [module.name for module in pkgutil.iter_modules(papers.__path__)])
def test_published_algorithms(name):
    """Each has its page, cites its paper, and what it offers is in the reference."""
    if name == "arguments" or name.endswith("kernels"):
        return
    module = importlib.import_module(f"dovetail.papers.{name}")
    written, shown = inspect.getdoc(module), page("docs/reference/python.md")
    (cited,) = re.findall(r"doi:(\S+\d)", written)
    assert cited in page(f"docs/algorithms/{name}.md")
    assert all(part in written for part in ("| paper | here |", "Guarantee:", "Departures:"))
    functions = [each for each, item in inspect.getmembers(module, inspect.isfunction) if f"`{name}.{each}(" in shown]
    assert functions


def test_rest_and_tools(sample_index, tmp_path):
    service = Service(str(sample_index), tmp_path)
    workers = Workers(service)
    described, reference = FastAPI(), page("docs/reference/rest.md")
    described.include_router(Rest(service, workers).router)
    for path, methods in described.openapi()["paths"].items():
        for method in methods:
            assert f"| `{method.upper()} {path}` |" in reference
    for tool in asyncio.run(Tools(service, workers, read_only=False).server.list_tools()):
        assert f"`{tool.name}`" in page("docs/reference/mcp.md").partition("| Tool |")[2]


def test_formats_and_dialects():
    guide = page("docs/guides/lakes-and-formats.md")
    for suffix in (*FORMAT_BY_SUFFIX, *COMPRESSION_BY_SUFFIX, *CONTAINER_SUFFIXES):
        assert f"`{suffix}`" in guide
    for name in PARSERS:
        assert f"| `{name}` |" in guide


def test_kinds_of_columns():
    for kind in KINDS:
        assert f"`{kind}`" in page("docs/reference/json.md")
        assert f"| `{kind}` |" in page("docs/guides/normalisation.md")


def test_bytes_on_disk(sample_index):
    spec = page("docs/formats/v3.md")
    fields = {*Manifest(1).to_json(), *SegmentRef("", "", 0).to_json(), *Root("").to_json()}
    fields |= {*records._TABLES.names, *records._COLUMNS.names, *records._EXAMPLES.names}
    fields |= {"decisions", *Decision("", (), "", (), "never").to_json()}
    lake = dovetail.open(sample_index)
    for segment in lake.segments:
        fields |= {*segment.segment.counts, *segment.segment.parts}
        for index in INDEXES:
            fields |= set(segment.segment.pack(index.name).names())
            assert f"## Part `{index.name}`, version {index.version}\n" in spec
    assert f"## Part `{records.NAME}`, version {records.VERSION}\n" in spec
    assert not [name for name in sorted(fields) if f"`{name}`" not in spec]


def test_every_index_has_its_page():
    for index in INDEXES:
        assert index.question.rstrip("?") in page(f"docs/algorithms/{index.name}.md").lower()


def test_every_page_can_be_reached_and_no_link_is_broken():
    reached = {ROOT / "README.md", ROOT / "docs" / "index.md"}
    for path in PAGES:
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", path.read_text()):
            if not target.startswith("http"):
                assert (path.parent / target).exists(), f"{path.name} links to {target}"
                reached.add((path.parent / target).resolve())
    assert not set(PAGES) - reached


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_tests_that_pages_name_are_there(path):
    for name in re.findall(r"`((?:tests|benchmarks|docs|examples|src)/[\w./-]+)`", path.read_text()):
        assert (ROOT / name).exists(), f"{path.name} names {name}"
