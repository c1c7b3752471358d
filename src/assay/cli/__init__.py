"""The command line: a thin shell around the verbs.

Exit codes: 0 done; 2 bad usage or bad input, with one line on stderr; 75 stopped part-way, kept for runs that can be
resumed; 130 stopped by Ctrl-C, which a run can be resumed after too.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import Any

from typer.main import get_command

from assay.cli import (  # noqa: F401 - they add their commands to the app
    audit_command,
    describe_command,
    editor_command,
    index_command,
    mend_command,
    mend_labels_command,
    model_audit_command,
    people_commands,
    run_commands,
    study_command,
    trust_command,
)
from assay.cli.commands import app
from assay.cli.threads import choose_threads
from assay.errors import AssayError, Interrupted, Stopped
from assay.progress import lines
from assay.views.visible import to_stderr, visible

_EXTRA = re.compile(r"Got unexpected extra argument\S* \((.+)\)")
_BAD, _RESUMABLE, _STOPPED = 2, 75, 130
# Read by the libraries when they are first imported, which happens after this module.
_QUIET = {
    "TRANSFORMERS_VERBOSITY": "error",
    "TRANSFORMERS_NO_ADVISORY_WARNINGS": "1",
    "HF_HUB_DISABLE_PROGRESS_BARS": "1",
    "HF_HUB_VERBOSITY": "error",
    "TOKENIZERS_PARALLELISM": "false",
    "TQDM_DISABLE": "1",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    if arguments is None:  # the process is ours
        sys.excepthook = _show_bug
        choose_threads()
    with warnings.catch_warnings(), _log_lines():
        warnings.simplefilter("ignore")
        return _run(get_command(app), arguments)


@contextmanager
def _log_lines() -> Iterator[None]:
    """Where no terminal shows a bar, long work says every half minute on stderr how far it is."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_VisibleLines("assay: %(message)s"))
    level = lines.level
    lines.addHandler(handler)
    lines.setLevel(logging.INFO)
    try:
        yield
    finally:
        lines.removeHandler(handler)
        lines.setLevel(level)


class _VisibleLines(logging.Formatter):
    """Log lines that steer no terminal."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


def _show_bug(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A traceback as Python prints it; its message may hold what the user's files hold."""
    sys.stderr.write(visible("".join(traceback.format_exception(kind, error, trace))))


def _run(command: Any, arguments: Sequence[str] | None) -> int:
    try:
        code = command.main(args=arguments, prog_name="assay", standalone_mode=False)
        if sys.stdout is not None:  # as where the shell closed it
            sys.stdout.flush()
    except Stopped as error:
        return _say(str(error), _STOPPED if isinstance(error, Interrupted) else _RESUMABLE)
    except AssayError as error:
        return _say(str(error), _BAD)
    except KeyboardInterrupt:
        code = _STOPPED
    except SystemExit as error:  # nothing of ours ends a program so, but rich does where its reader closed the pipe
        if isinstance(error.__context__, BrokenPipeError):
            return 0
        return _say(f"code of the model ended the program (exit code {error.code}).", _BAD)
    except OSError as error:
        return _say(_unwritten(error), _BAD)
    except Exception as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # of click or of typer's own copy; the help is printed
            return 0
        return _say(_usage(error), _BAD)
    return _say("stopped by Ctrl-C.", _STOPPED) if code == _STOPPED else int(code or 0)


def _usage(error: Exception) -> str:
    """A usage error of the command line's own parser, in one line; anything else is a bug and keeps its traceback."""
    if not hasattr(error, "format_message"):
        raise error
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "assay"
    said = error.format_message().rstrip(". ").replace("Value error, ", "")
    end = "" if said.endswith("?") else "."
    if (extra := _EXTRA.match(said)) and os.path.isfile(extra[1]):
        return f"{path} takes a file by an option, such as --file {extra[1]}. See `{path} --help`."
    return f"{said}{end} See `{path} --help`."


def _unwritten(error: OSError) -> str:
    """A full disk and the like; what no system call said is a bug and keeps its traceback."""
    if error.errno is None:
        raise error
    if error.filename is None:  # stdout; Python would try what is left of it again at its end, and complain
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    what = "stdout cannot be written" if error.filename is None else f"{error.filename} cannot be read or written"
    return f"{what}: {error.strerror}."


def _say(message: str, code: int) -> int:
    """One line, whatever the message holds."""
    to_stderr(f"assay: {' '.join(message.split())}")
    return code
