"""A directory for one study at a time: two would train into each other's models. See `assay.storage.lock`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from assay.errors import BadFile
from assay.storage.lock import Lock


@contextmanager
def alone(out: Path) -> Iterator[None]:
    """Within it nobody else has the directory, which is there; one that is still empty afterwards goes again."""
    with ExitStack() as stack:
        try:
            stack.callback(_dropped, out, new=not out.exists())
            out.mkdir(parents=True, exist_ok=True)
            stack.enter_context(Lock(out))
        except OSError as error:
            raise BadFile(f"{out} cannot be written: {error.strerror or error}.") from error
        yield


def _dropped(out: Path, new: bool) -> None:
    if new:
        with suppress(OSError):  # it is not empty
            out.rmdir()
