"""What a command leaves behind: lines on stdout, or a page that is written whole or not at all."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from rich.console import RenderableType

from assay.errors import BadFile, BadInput
from assay.storage.files import write_named
from assay.views.printing import print_parts
from assay.views.visible import STEERING, visible

# Some readers take the last two for line ends; one object must stay one line for them too.
_ESCAPED = {code: f"\\u{code:04x}" for code in (*STEERING, 0x2028, 0x2029)}


def show(*parts: RenderableType) -> None:
    """Print for people; colour only where the terminal has it."""
    print_parts(*parts)


def show_json(*lines: str) -> None:
    """Print for programs; where stdout cannot hold a sign, JSON's own escapes can."""
    for line in lines:
        whole = line if _holds(line) else json.dumps(json.loads(line))
        print(whole.translate(_ESCAPED), flush=True)


def require_place(path: Path | None, as_json: bool) -> None:
    """Fail before the work is done, not after it."""
    if path is None:
        return
    if as_json:
        raise BadInput("give --json or --html, not both.")
    if path.is_dir():
        raise BadFile(f"{path} is a directory; --html takes a file.")
    if not path.parent.is_dir():
        raise BadFile(f"there is no directory {path.parent} to write {path.name} into.")


def write_page(path: Path, page: str, quiet: bool, *said: RenderableType) -> None:
    """A page that is there whole or not at all; into what is no plain file (/dev/stdout) it is written as it is.

    `said` is what the page comes to: who reads the terminal need not open the page to know it.
    """
    plain = path.is_file() or not path.exists()
    write_named(path, page)
    if not quiet:
        show(*said if plain else ())
        print(f"wrote {visible(str(path))}")


def _holds(line: str) -> bool:
    try:
        line.encode(sys.stdout.encoding or "utf-8")
        return True
    except UnicodeEncodeError:
        return False
