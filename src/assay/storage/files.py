"""Small files of a directory that Assay works in, with errors in one sentence: text that is written whole, and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from assay.errors import BadFile
from assay.storage.durable import write_whole


def write_text(path: Path, content: str) -> None:
    """A file, in a directory that is made where it is missing."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, content.encode())
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}.") from error


def write_named(path: Path, content: str) -> None:
    """A file that the user named: behind a link the file it leads to, and into what is no plain file as it is.

    So neither a link nor /dev/stdout gives way to a file.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(content, encoding="utf-8")
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path.resolve(), content.encode())
    except OSError as error:
        raise BadFile(f"{path} cannot be written: {error.strerror or error}.") from error


def read_json(path: Path, advice: str) -> Any:
    """What the file holds; None where there is none. `advice` says what to do with one that cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise BadFile(f"{path} cannot be read ({error}); {advice}.") from error
