"""`make audit` with services that answer, that know of something, and that cannot be reached."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / ".ci" / "audit.py"
CLEAN = {"name": "numpy", "version": "2.0", "vulns": []}
WEAK = {"name": "torch", "version": "2.0", "vulns": [{"id": "CVE-1", "fix_versions": ["2.1"]}]}
SKIPPED = {"name": "scipy", "skip_reason": "Dependency not found, could not be audited: scipy (1.0)"}


def audited(program: str) -> tuple[int, str]:
    done = subprocess.run(
        [sys.executable, SCRIPT, sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("pins", "code", "said"),
    [
        ([CLEAN], 0, "1 pins, 1 answered for, 0 with known weaknesses"),
        ([CLEAN, WEAK], 1, "torch 2.0: CVE-1, mended in 2.1"),
        ([CLEAN, SKIPPED], 2, "nothing is known of 1 of 2 pins: scipy"),
        ([SKIPPED], 2, "nothing is known of 1 of 1 pins"),
        ([WEAK, SKIPPED], 1, "nothing is known of 1 of 2 pins: scipy"),
        ([], 2, "nothing is known of 0 of 0 pins"),
    ],
)
def test_what_was_not_answered_is_not_called_clean(pins: list[dict[str, Any]], code: int, said: str) -> None:
    found, output = audited(f"print({json.dumps({'dependencies': pins})!r})")
    assert found == code
    assert said in output


def test_a_service_that_cannot_be_reached() -> None:
    code, output = audited("import sys; sys.exit('ERROR: connection refused')")
    assert code == 2
    assert "could not be asked: ERROR: connection refused" in output
    assert "Traceback" not in output


def test_a_command_that_is_not_there() -> None:
    done = subprocess.run([sys.executable, SCRIPT, "/no/such/audit"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "could not be asked" in done.stderr
