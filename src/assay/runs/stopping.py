"""Whatever ends a run part-way becomes one sentence that says what is kept and how to go on."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from assay.errors import AssayError, BadFile, Interrupted, Stopped
from assay.runs.execution import Execution
from assay.runs.progress import Tracker
from assay.storage.durable import is_full


@contextmanager
def resumable(execution: Execution, tracker: Tracker) -> Iterator[None]:
    """Within it, whatever ends the run part-way is one sentence with the way to go on."""
    try:
        with _terminable():
            yield
    except Stopped as error:
        raise Stopped(_how_to_go_on(str(error), execution, tracker)) from error
    except _Terminated:
        raise Stopped(_how_to_go_on("stopped", execution, tracker)) from None
    except KeyboardInterrupt:
        raise Interrupted(_how_to_go_on("stopped by Ctrl-C", execution, tracker)) from None
    except (OSError, MemoryError) as error:
        raise _ended_by(error, execution, tracker) from error


def _ended_by(error: OSError | MemoryError, execution: Execution, tracker: Tracker) -> AssayError:
    """Before anything could be read or written, a directory that cannot be used is the user's to mend."""
    reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
    if isinstance(error, OSError) and not tracker.rows and not is_full(error):
        refused = f"{execution.out} cannot be used for a run: {reason}"
        return BadFile(f"{refused}. Use another --out, or mend that and go on: {execution.command}")
    return Stopped(_how_to_go_on(f"the run cannot go on: {reason}", execution, tracker))


def _how_to_go_on(what: str, execution: Execution, tracker: Tracker) -> str:
    kept = f"{tracker.kept:,} of {f'{tracker.rows:,}' if tracker.rows else '?'} rows are kept in {execution.out}"
    return f"{what.rstrip('.')}; {kept}. To go on: {execution.command}"


class _Terminated(KeyboardInterrupt):
    """A kill that lets the run end by itself."""


@contextmanager
def _terminable() -> Iterator[None]:
    """A polite kill stops the run like Ctrl-C."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        raise _Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
