"""Known weaknesses of the pinned dependencies: `make audit`. What could not be asked about is not called clean.

    python .ci/audit.py [COMMAND ...]        pip-audit beside this Python, or another command that prints its JSON

pip-audit leaves out what its service does not answer for, and says "none found" if that was everything. Exit status 0:
the service answered for every pin and knows of nothing; 1: it knows of something; 2: it could not be asked, or not for
all pins.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

PIP_AUDIT = [str(Path(sys.executable).with_name("pip-audit")), "--requirement", "constraints.txt"]
OPTIONS = ["--no-deps", "--disable-pip", "--progress-spinner", "off", "--format", "json"]


def asked(command: list[str]) -> list[dict[str, Any]]:
    """What the command says of each pin."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return list(json.loads(done.stdout)["dependencies"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        said = done.stderr.strip().splitlines()[-1:] if isinstance(error, ValueError) else [str(error)]
        sys.stderr.write(f"audit: the service could not be asked: {(said or ['no answer'])[0]}\n")
        sys.exit(2)


def main() -> None:
    found = asked(sys.argv[1:] or [*PIP_AUDIT, *OPTIONS])
    for pin in found:
        for weakness in pin.get("vulns", []):
            mended = ", ".join(weakness.get("fix_versions", [])) or "no version yet"
            print(f"{pin['name']} {pin['version']}: {weakness['id']}, mended in {mended}")
    weak = sum(bool(pin.get("vulns")) for pin in found)
    silent = [pin["name"] for pin in found if "vulns" not in pin]
    print(f"{len(found)} pins, {len(found) - len(silent)} answered for, {weak} with known weaknesses")
    if silent or not found:
        names = ", ".join(silent[:10]) + (" ..." if len(silent) > 10 else "")
        sys.stderr.write(f"audit: nothing is known of {len(silent)} of {len(found)} pins: {names}\n")
        sys.exit(1 if weak else 2)
    sys.exit(int(weak > 0))


if __name__ == "__main__":
    main()
