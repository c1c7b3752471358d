"""Files and folders of ours are plain: a link under such a name is somebody's, and is never followed or replaced.

That holds for who writes and for who reads: the files behind a link are not those of the directory one named.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from assay.errors import BadInput

NOFOLLOW: int = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)  # nor wait for who writes into a pipe
_MOST = 4096  # bytes of a lock or a probe: more than any of ours has


def require_plain(directory: Path, names: Iterable[str]) -> None:
    """Refuse a directory in which one of these names is a link, or neither a file nor a folder."""
    for name in names:
        path = directory / name
        if path.is_symlink() or (path.exists() and not path.is_file() and not path.is_dir()):
            kind = "a link" if path.is_symlink() else "no plain file"
            raise BadInput(f"{path} is {kind}, which is neither followed nor replaced; use another directory.")


def read_start(path: Path) -> bytes:
    """The first bytes of a small file, which must be no link."""
    handle = os.open(path, os.O_RDONLY | NOFOLLOW)
    try:
        return os.read(handle, _MOST)
    finally:
        os.close(handle)
