"""Where a training run stands after each epoch: one file that is there whole or not at all.

Written under a temporary name, fsynced, renamed. A file that belongs to a run with other settings is refused, never
overwritten. Only tensors and plain data are read back (`weights_only`), so that no code in a file is ever run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

import torch

from assay.errors import BadFile, BadInput

State = dict[str, Any]


def save(path: Path, state: Mapping[str, Any]) -> None:
    """Replace the checkpoint by this one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole(path) as stream:
            torch.save(dict(state), stream)
    except (OSError, RuntimeError) as error:  # torch says something else where a write fails
        told = error if isinstance(error, OSError) else error.__context__
        if not isinstance(told, OSError):
            raise
        raise BadFile(f"the checkpoint {path} cannot be written: {told.strerror or told}.") from error


def load(path: Path, settings: Mapping[str, Any]) -> State | None:
    """The checkpoint of a run with these settings; None where there is none yet."""
    if not path.exists():
        return None
    try:
        state: State = torch.load(path, map_location="cpu", weights_only=True)
        saved = state["settings"]
    except Exception as error:  # torch raises many kinds for a file that is not its own
        raise BadFile(f"{path} cannot be read as a checkpoint; delete it to start again ({error!s:.80}).") from error
    if other := sorted(name for name in {*saved, *settings} if saved.get(name) != settings.get(name)):
        raise BadInput(
            f"{path} is the checkpoint of another run (it differs in {', '.join(other)}); use another place."
        )
    return state


@contextmanager
def whole(path: Path) -> Iterator[IO[bytes]]:
    """A stream whose content gets the name `path` at the end, and never before."""
    beside = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
    try:
        with beside.open("xb") as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
