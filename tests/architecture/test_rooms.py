"""Data flows one way: a room imports only rooms below it, and no two modules import each other."""

from __future__ import annotations

import ast
from pathlib import Path

import dovetail

SOURCE = Path(dovetail.__file__).parent

# From the lowest to the highest. Rooms on one line import nothing of each other.
LEVELS = (
    ("errors", "_types", "_cancel", "_interrupt"),
    ("_deadline", "_stopwatch"),
    ("_numba",),
    ("_compile", "_memory", "_model", "_names", "_objects", "_output", "_progress", "_text", "settings"),
    ("results", "methods"),
    ("_search_kernels",),
    ("_spark", "normalise", "lake"),
    ("_storage",),
    ("catalog",),
    ("embedders",),
    ("indexes",),
    ("pipeline",),
    ("tables",),
    ("transform",),
    ("similar",),
    ("evidence",),
    ("through",),
    ("search",),
    ("join", "graph", "union"),
    ("augment",),
    ("api",),
    ("papers",),
    ("dovetail",),
    ("serve",),
    ("cli",),
    ("__main__",),
)
LEVEL = {room: level for level, rooms in enumerate(LEVELS) for room in rooms}


def _imports() -> dict[str, set[str]]:
    """Of every module, the modules of the package that it imports, wherever in the file."""
    modules = {}
    for path in SOURCE.rglob("*.py"):
        parts = ("dovetail", *path.relative_to(SOURCE).with_suffix("").parts)
        name = ".".join(part for part in parts if part != "__init__")
        found = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "dovetail":
                found.add(str(node.module))
                found |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names if alias.name.split(".")[0] == "dovetail"}
        modules[name] = found
    return {name: {other for other in found if other in modules and other != name} for name, found in modules.items()}


def _room(module: str) -> str:
    return [*module.split("."), "dovetail"][1] if module != "dovetail" else "dovetail"


IMPORTS = _imports()


def test_every_room_has_a_level():
    assert {_room(module) for module in IMPORTS} == set(LEVEL)


def test_no_room_imports_an_upper_one():
    upward = [
        f"{module} imports {other}"
        for module, others in sorted(IMPORTS.items())
        for other in sorted(others)
        if other != "dovetail" and _room(module) != _room(other) and LEVEL[_room(other)] >= LEVEL[_room(module)]
    ]
    assert not upward, "\n".join(upward)


def test_the_product_does_without_the_papers():
    using = [module for module, others in IMPORTS.items() if any(_room(other) == "papers" for other in others)]
    assert {_room(module) for module in using} == {"papers"}


def test_no_two_modules_import_each_other():
    """Depth first: a module that is met again while its own imports are being followed closes a cycle."""
    done: set[str] = set()
    path: list[str] = []

    def follow(module: str) -> None:
        assert module not in path, " → ".join([*path[path.index(module) :], module])
        if module in done:
            return
        path.append(module)
        for other in sorted(IMPORTS[module]):
            if not (other != "dovetail" and module.startswith(f"{other}.")):  # a package that gathers its own modules
                follow(other)
        path.pop()
        done.add(module)

    for module in sorted(IMPORTS):
        follow(module)
