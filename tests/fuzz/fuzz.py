"""Fuzz by coverage, with atheris (`pip install atheris`).

    python tests/fuzz/fuzz.py [TARGET …] [--seconds 60] [--megabytes 2048]

Each target, all of them by default, runs in a process of its own for so long. What it finds new goes to a folder of
scratch files; what makes it fail is printed and kept in `tests/fuzz/corpus/TARGET`, to be mended and replayed by
`test_corpus.py` ever after. An input that takes 10 seconds, or more memory, is a failure, too.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TARGETS = ("delimited", "json_text", "containers", "columnar", "normaliser", "index_files", "programs", "requests")
_COMPILED = ("requests",)  # where kernels stay compiled: a search would take seconds without
_LIBRARIES = ("zipfile", "tarfile", "html", "_markupbase")  # that read containers, in Python
_SLOW = 10  # seconds of one input


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=", ".join(TARGETS))
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--megabytes", type=int, default=2_048)
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        _fuzz(options.targets[0], options.seconds, options.megabytes)
        return
    failed = []
    for target in options.targets or TARGETS:
        again = [sys.executable, __file__, target, "--inside", f"--seconds={options.seconds}"]
        done = subprocess.run([*again, f"--megabytes={options.megabytes}"], check=False)
        failed += [target] * (done.returncode != 0)
    sys.exit(f"Failed: {', '.join(failed)}." if failed else 0)


def _fuzz(name: str, seconds: int, megabytes: int) -> None:
    import atheris

    sys.path.insert(0, str(HERE.parent))
    for library in _LIBRARIES:  # what is loaded already would not show
        sys.modules.pop(library, None)
    excluded = _kernels() if name in _COMPILED else []
    with atheris.instrument_imports(include=["dovetail", *_LIBRARIES], exclude=excluded):
        if name not in _COMPILED:
            _run_kernels_as_python()
        target = importlib.import_module(f"targets.{name}")
    scratch = Path(tempfile.mkdtemp(prefix=f"fuzz-{name}-"))
    for number, content in enumerate(target.SEEDS):
        (scratch / f"seed-{number}").write_bytes(content)
        target.check(content)  # imports and compiles what it needs, which takes longer than an input may
    kept = HERE / "corpus" / name
    kept.mkdir(parents=True, exist_ok=True)
    flags = [f"-max_total_time={seconds}", f"-timeout={_SLOW}", f"-rss_limit_mb={megabytes}", "-max_len=65536"]
    flags += [f"-artifact_prefix={kept}/", "-print_final_stats=1", "-verbosity=1"]
    atheris.Setup([sys.argv[0], *flags, str(scratch), str(kept)], target.check)
    atheris.Fuzz()


def _kernels() -> list[str]:
    """Modules with functions that numba compiles, which can only do so with code as it was written."""
    found = importlib.util.find_spec("dovetail")
    assert found and found.origin
    source = Path(found.origin).parent
    files = [path for path in source.rglob("*.py") if "kernel" in path.name or "_compile" in path.read_text()]
    return [".".join(("dovetail", *path.relative_to(source).with_suffix("").parts)) for path in files]


def _run_kernels_as_python() -> None:
    """Coverage shows in Python alone, and only there is reading beyond the end of an array an error."""
    compile_module = importlib.import_module("dovetail._compile")
    compile_module.Kernel.__call__ = lambda kernel, *arguments: kernel.py_func(*arguments)
    importlib.import_module("numpy").seterr(over="ignore")  # hashes overflow on purpose


if __name__ == "__main__":
    main()
