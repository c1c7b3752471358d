"""Where a file stands, when it is published under several names."""

from __future__ import annotations

from pathlib import Path

from assay.errors import BadFile


def found(directory: Path, *names: str) -> Path:
    """The first of these files that exists."""
    paths = [directory / name for name in names]
    for path in paths:
        if path.exists():
            return path
    raise BadFile(f"{' or '.join(map(str, paths))} cannot be read: there is no such file.")
