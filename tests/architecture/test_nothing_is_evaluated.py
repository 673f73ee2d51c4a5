"""Nothing that is read from a file or a client is run: no module unpickles or evaluates, unless it has a reason."""

from __future__ import annotations

import ast
from pathlib import Path

import dovetail

SOURCE = Path(dovetail.__file__).parent
DANGEROUS_MODULES = {"pickle", "cPickle", "dill", "cloudpickle", "joblib", "marshal", "shelve", "yaml", "code", "runpy"}
DANGEROUS_CALLS = {"eval", "exec", "compile", "__import__"}
DANGEROUS_METHODS = {"os.system", "os.popen", "subprocess.getoutput", "pa.deserialize", "pd.read_pickle"}
_PIPE = "between the server and a worker that it has started, over a pipe that nobody else has"
ALLOWED = {
    "serve/work.py": {"pickle": f"answers, kept in memory and sent {_PIPE}"},
    "serve/processes.py": {"pickle": f"questions and answers {_PIPE}"},
}


def _called(node: ast.Call) -> str:
    return ast.unparse(node.func)


def _found(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names} & DANGEROUS_MODULES
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found |= {str(node.module).split(".")[0]} & DANGEROUS_MODULES
        elif isinstance(node, ast.Call):
            found |= {_called(node)} & (DANGEROUS_CALLS | DANGEROUS_METHODS)
            keywords = {keyword.arg: ast.unparse(keyword.value) for keyword in node.keywords}
            if _called(node).endswith(".load") and keywords.get("allow_pickle", "False") != "False":
                found.add("allow_pickle")
            if keywords.get("shell", "False") != "False":
                found.add("shell")
    return found


def test_nothing_is_unpickled_or_evaluated():
    found = {str(path.relative_to(SOURCE)): _found(path) for path in sorted(SOURCE.rglob("*.py"))}
    assert {name: kinds for name, kinds in found.items() if kinds} == {name: set(why) for name, why in ALLOWED.items()}


def test_the_search_finds_what_it_looks_for(tmp_path):
    bad = tmp_path / "bad.py"
    bad.write_text(
        "import pickle, os\nfrom yaml import load\nnp.load(f, allow_pickle=True)\neval('1')\nos.system('x')\n"
    )
    assert _found(bad) == {"pickle", "yaml", "allow_pickle", "eval", "os.system"}
