"""One run (or mending, or study) at a time in a directory: a locked file that names its owner.

The kernel locks the file, through filelock: it lets go of a dead process's lock at once, whatever became of the process
(killed, a zombie, its number given to another). Three things filelock does not give, and they are done here:

- The name of the owner, for the sentence that refuses a second run and for `assay status`.
- An owner on another machine. A network file system may keep the kernel's locks to one machine, or have none, or keep
  that of a machine that is gone. So the owner touches the file every few seconds, and an owner elsewhere that has not
  for a minute is dead. (filelock's SoftFileLease has such a beat, but it watches a silent owner for the whole minute
  before it decides, and takes nothing over where files cannot be exchanged in one step, as on NFS and SMB.)
- Knowing that the lock was lost, as by a process that slept for that minute: it finds another owner's name, and stops
  before it writes more. A shard it still wrote is a second copy of the same bytes, so nothing is lost.
"""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event, Thread
from time import time
from typing import Self
from uuid import uuid4

from filelock import FileLock, Timeout, lock_descriptor

from assay.errors import BadInput, Stopped

FILE = "lock"
BEAT, STALE = 2.0, 60.0
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EBADF)  # the last: of a file on NFS, open for reading
_PATIENCE = 0.2  # seconds; `assay status` holds the lock for a moment to see whether it is free


@dataclass(frozen=True)
class Owner:
    """A process, and a token that no other lock has."""

    host: str
    pid: int
    token: str

    @classmethod
    def me(cls) -> Owner:
        return cls(socket.gethostname(), os.getpid(), uuid4().hex)

    @classmethod
    def at(cls, path: Path) -> Owner | None:
        """The owner that the file names; None where there is no file, or its owner is just writing it."""
        try:
            return cls(**json.loads(path.read_text()))
        except (OSError, ValueError, TypeError):
            return None


def held_by(directory: Path) -> Owner | None:
    """The owner of a lock that is in force; looking writes nothing."""
    path = directory / FILE
    try:
        with path.open("rb") as stream:
            free = _locks(lambda: lock_descriptor(stream.fileno(), blocking=False))
    except OSError:
        return None
    owner = Owner.at(path)
    return owner if owner and _in_force(path, owner, free) else None


def _locks(attempt: Callable[[], bool]) -> bool | None:
    """Whether the kernel gave the lock; None where the file system has none."""
    try:
        return attempt()
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise
        return None


def _in_force(path: Path, owner: Owner | None, free: bool | None) -> bool:
    """The kernel knows about the processes of this machine; the beat tells about all others."""
    if free is not None and (owner is None or owner.host == socket.gethostname()):
        return not free
    return owner is not None and _age(path) <= STALE


def _age(path: Path) -> float:
    """Seconds since the last beat."""
    try:
        return _clock(path) - path.stat().st_mtime
    except OSError:
        return 0.0


def _clock(path: Path) -> float:
    """The clock of the file system; that of this machine where nothing can be written."""
    probe = path.with_name(f".{FILE}.{uuid4().hex[:8]}.part")
    try:
        probe.touch()
        return probe.stat().st_mtime
    except OSError:
        return time()
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


class Lock:
    """Held within `with`; `require` raises where it was lost. `beat` is called at every beat."""

    def __init__(self, directory: Path, beat: Callable[[], None] = lambda: None) -> None:
        self.path, self.owner, self.beat = directory / FILE, Owner.me(), beat
        self._kernel = FileLock(self.path, timeout=_PATIENCE, poll_interval=_PATIENCE / 4, fallback_to_soft=False)
        self._ended = Event()
        self._thread = Thread(target=self._keep_beating, daemon=True)

    def __enter__(self) -> Self:
        free = _locks(self._acquired)
        found = Owner.at(self.path)
        try:
            self._require_free(found, free)
            if free is False:
                self._replace(found)
            self._write_name()
        except BaseException:
            self._kernel.release()
            raise
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._is_mine():
            with suppress(OSError):  # a file that cannot be removed is free for all once the kernel's lock is gone
                self.path.unlink(missing_ok=True)
        self._kernel.release()

    def require(self) -> None:
        if not self._is_mine():
            raise Stopped("another run has taken over the directory, or its lock was deleted")

    def _is_mine(self) -> bool:
        return Owner.at(self.path) == self.owner

    def _acquired(self) -> bool:
        try:
            self._kernel.acquire()
        except Timeout:
            return False
        return True

    def _require_free(self, found: Owner | None, free: bool | None) -> None:
        if _in_force(self.path, found, free):
            who = f"process {found.pid} on {found.host}" if found else "a process that is just starting"
            raise BadInput(f"{self.path.parent} is in use by {who}; wait for it, or use another directory.")

    def _replace(self, dead: Owner | None) -> None:
        """A new file instead of the one on which a server keeps the lock of a machine that is gone.

        Only one of several takers can rename it away, and it must be the one that was found dead.
        """
        away = self.path.with_name(f".{FILE}.{self.owner.token[:8]}.old")
        with suppress(FileNotFoundError):
            self.path.rename(away)
        taken = Owner.at(away)
        away.unlink(missing_ok=True)
        if taken != dead or not self._acquired():
            raise BadInput(f"{self.path.parent} was taken by another run at the same moment; try again.")

    def _write_name(self) -> None:
        try:
            self.path.write_text(json.dumps(asdict(self.owner)))
        except OSError:  # a lock without a name is of no use to anybody
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
            raise

    def _keep_beating(self) -> None:
        while not self._ended.wait(BEAT):
            try:
                if self._is_mine():
                    os.utime(self.path)
                self.beat()
            except OSError:  # a full disk or a lost directory is reported by the run itself
                continue
