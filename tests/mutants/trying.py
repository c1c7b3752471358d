"""One fault, tried: a fork of a process that has imported the slow libraries runs the tests with the fault in place.

The fault exists in the memory of the fork only: no file is ever changed. A fork costs the time of its tests and of
importing assay (half a second), not the seconds of importing torch.
"""

from __future__ import annotations

import importlib
import os
import resource
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from math import ceil
from pathlib import Path
from tempfile import TemporaryDirectory
from types import CodeType
from typing import Any, Literal

import pytest

Result = Literal["killed", "timeout", "survived"]
_PATIENCE, _START = 3.0, 15.0  # times as long as the tests took before, and seconds of work for a start
_BUSY = 10  # how much longer the same may take on a busy machine
_QUIET = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:pytest_cov", "--no-header")


class Planted(MetaPathFinder):
    """Imports one module from another source."""

    def __init__(self, path: str, source: str) -> None:
        self.path, self.source = path, source
        self.module = ".".join(Path(path).with_suffix("").parts[1:])

    def find_spec(self, name: str, path: Any, target: Any = None) -> ModuleSpec | None:
        if name != self.module:
            return None
        planted = self

        class Loader(SourceFileLoader):
            def get_code(self, fullname: str) -> CodeType:
                return compile(planted.source, self.path, "exec", dont_inherit=True)

        return spec_from_file_location(name, self.path, loader=Loader(name, str(Path(self.path).resolve())))


def tried(path: str, source: str, tests: Sequence[str], seconds: float) -> Result:
    """What becomes of a fault: killed by a test that fails, or by time (a loop without end), or survived."""

    planted = Planted(path, source)
    if planted.module in sys.modules:
        raise SystemExit(f"{planted.module} is imported already: its faults would not be seen")

    def run() -> int:
        sys.meta_path.insert(0, planted)
        return int(pytest.main([*_QUIET, *tests]))

    code = _forked(run, _START + _PATIENCE * seconds)
    if code is None:
        return "timeout"
    if code in (pytest.ExitCode.USAGE_ERROR, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise SystemExit(f"some of these tests are not there (run `make coverage` again): {' '.join(tests)}")
    return "killed" if code else "survived"


def warm_up(files: Sequence[str]) -> None:
    """Import the libraries that these test files import, but nothing of assay: that is imported with the fault."""
    with TemporaryDirectory() as place:
        seen = Path(place, "modules")

        def collect() -> int:
            code = int(pytest.main([*_QUIET, "--collect-only", *files]))
            libraries = (name for name, module in sys.modules.items() if _is_library(name, module))
            seen.write_text("\n".join(libraries), encoding="utf-8")
            return code

        if _forked(collect, 600) != 0:
            raise SystemExit("the tests cannot be collected: see `pytest --collect-only`")
        names = seen.read_text(encoding="utf-8").splitlines()
    for name in names:
        with suppress(Exception):
            importlib.import_module(name)


def _is_library(name: str, module: Any) -> bool:
    return "site-packages" in (getattr(module, "__file__", None) or "") and not name.startswith("assay")


def _forked(run: Callable[[], int], seconds: float) -> int | None:
    """The exit code of a function run in a fork, without its output; None where it took too long."""
    pid = os.fork()
    if not pid:
        code = 3
        with suppress(BaseException):
            # The fork ends itself, so that none is left behind: after so much work, or long after that by the clock.
            resource.setrlimit(resource.RLIMIT_CPU, (ceil(seconds), ceil(seconds)))
            signal.alarm(_BUSY * ceil(seconds))
            nowhere = os.open(os.devnull, os.O_RDWR)
            for stream in range(3):
                os.dup2(nowhere, stream)
            code = run()
        os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return None if code in (-signal.SIGXCPU, -signal.SIGKILL, -signal.SIGALRM) else code
