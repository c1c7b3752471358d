"""Where a result was made and with what: kept with each result of a study, so that its page names it by code.

    {"machine": "NVIDIA H200, 16 cores, x86_64", "commit": "01ef889", "versions": "torch 2.11.0, ..."}

$ASSAY_MACHINE stands for the machine and $ASSAY_COMMIT for the commit, where a copy of the code knows neither.
"""

from __future__ import annotations

import os
import platform
from functools import cache
from pathlib import Path
from subprocess import SubprocessError  # nosec B404
from subprocess import run as run_process  # nosec B404

from assay.verbs import versions

MACHINE, COMMIT, VERSIONS = "machine", "commit", "versions"


@cache
def origin(device: str | None) -> dict[str, str]:
    """Of what this process makes on that device."""
    named = ", ".join(f"{name} {version}" for name, version in versions().items())
    found = {MACHINE: os.environ.get("ASSAY_MACHINE") or _machine(device), COMMIT: _commit(), VERSIONS: named}
    return {name: value for name, value in found.items() if value}


def _commit() -> str:
    """That of the checkout which the study runs from, or $ASSAY_COMMIT where a copy of it has no history."""
    if given := os.environ.get("ASSAY_COMMIT"):
        return given
    command = ("git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD")
    try:  # a fixed command: nothing that a user gives is in it
        done = run_process(command, capture_output=True, text=True, timeout=10, check=True)  # nosec B603
        return done.stdout.strip()
    except (OSError, SubprocessError):
        return ""


def _machine(device: str | None) -> str:
    import torch  # slow to import

    cores = f"{os.cpu_count()} cores, {platform.machine()}"
    on_card = device is not None and device.startswith("cuda") and torch.cuda.is_available()
    return f"{torch.cuda.get_device_name()}, {cores}" if on_card else cores
