"""Files that are there whole or not at all, even when the power goes.

Written under a temporary name, fsynced, renamed; then the directory is fsynced too.
"""

from __future__ import annotations

import errno
import os
import re
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

PART = ".part"
_BESIDE = re.compile(rf"\..+\.[0-9a-f]{{8}}{re.escape(PART)}")
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def abandoned(path: Path) -> bool:
    """Whether this is a file of ours that was being written by a process that was killed then."""
    return _BESIDE.fullmatch(path.name) is not None


def is_full(error: OSError) -> bool:
    """Whether there is no room, which is nobody's mistake and passes."""
    return error.errno in _FULL


def write_whole(path: Path, data: bytes, *, durable: bool = True) -> None:
    """Write a file so that nobody ever sees a part of it under its name; not `durable`, a power cut may cost it."""
    beside = path.with_name(f".{path.name}.{uuid4().hex[:8]}{PART}")
    try:
        with beside.open("xb") as stream:
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        beside.replace(path)
    except BaseException:
        with suppress(OSError):  # where nothing can be written, nothing can be removed
            beside.unlink(missing_ok=True)
        raise
    if durable:
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the names in a directory as durable as the files; some systems cannot and need not."""
    try:
        handle = os.open(path, os.O_RDONLY)
    except PermissionError:  # Windows opens no directories
        return
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
