"""The command `assay`, in this process, in a directory of its own."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assay import cli
from run_toys import dataset


@pytest.fixture
def assay_(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    dataset(tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(os, "environ", os.environ.copy())

    def command(*arguments: str, stdin: bytes = b"") -> tuple[int, str, str]:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        monkeypatch.setattr(sys, "argv", ["assay", *arguments])
        monkeypatch.delitem(sys.modules, "run_models", raising=False)
        code = cli.main(arguments)
        said = capsys.readouterr()
        return code, said.out, said.err

    return command
