"""One run (or mending, or study) at a time in a directory: a locked file that names its owner.

The kernel locks the file, through filelock: it lets go of a dead process's lock at once, whatever became of the process
(killed, a zombie, its number given to another). Four things filelock does not give, and they are done here:

- The name of the owner, for the sentence that refuses a second run and for `assay status`. The file never is without
  it: it is linked into the directory with the name in it, so one that is empty or holds something else is a user's
  own, which is left alone.
- An owner on another machine. A network file system may keep the kernel's locks to one machine, or have none, or keep
  that of a machine that is gone. So the owner touches the file every few seconds, and an owner elsewhere that has not
  for a minute is dead. (filelock's SoftFileLease has such a beat, but it watches a silent owner for the whole minute
  before it decides, and takes nothing over where files cannot be exchanged in one step, as on NFS and SMB.)
- Clocks that were wrong. A beat from the future says nothing by its time, so it is watched for a while instead.
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
from time import monotonic, sleep, time
from typing import Self
from uuid import uuid4

from filelock import FileLock, Timeout, lock_descriptor

from assay.errors import BadInput, Stopped
from assay.storage.plain import NOFOLLOW, read_start, require_plain

FILE = "lock"
BEAT, STALE = 2.0, 60.0
_WATCHED = 5  # beats for which a lock from the future is watched
_NO_LOCKS = (errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.EBADF)  # the last: of a file on NFS, open for reading
_NO_LINKS = (errno.EPERM, errno.ENOSYS, errno.EOPNOTSUPP, errno.EMLINK)
_PATIENCE = 0.2  # seconds; `assay status` holds the lock for a moment to see whether it is free
_SIZE = 512  # bytes of the file, always the same: a name is replaced in one write, and nobody reads half of two


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
        """The owner that the file names; None where there is no file, or it is no lock of ours."""
        try:
            return cls(**json.loads(read_start(path)))
        except (OSError, ValueError, TypeError):
            return None

    def written(self) -> bytes:
        return json.dumps(asdict(self)).encode().ljust(_SIZE)


def held_by(directory: Path) -> Owner | None:
    """The owner of a lock that is in force; looking writes nothing."""
    path = directory / FILE
    try:
        handle = os.open(path, os.O_RDONLY | NOFOLLOW)
    except OSError:
        return None
    try:
        free = _locks(lambda: lock_descriptor(handle, blocking=False))
    except OSError:
        return None
    finally:
        os.close(handle)
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
    return owner is not None and _beats(path)


def _beats(path: Path) -> bool:
    """Whether the owner touched the file within a minute; where a clock was wrong, whether it does now."""
    age = _age(path)
    if age >= -STALE:
        return age <= STALE
    last, until = _touched(path), monotonic() + _WATCHED * BEAT
    while _touched(path) == last:
        if monotonic() > until:
            return False
        sleep(BEAT / 4)
    return True


def _touched(path: Path) -> int | None:
    """When, by an open file: a network file system asks its server at every open, not at every look."""
    try:
        handle = os.open(path, os.O_RDONLY | NOFOLLOW)
    except OSError:
        return None
    try:
        return os.fstat(handle).st_mtime_ns
    finally:
        os.close(handle)


def _age(path: Path) -> float:
    """Seconds since the last beat."""
    touched = _touched(path)
    return 0.0 if touched is None else _clock(path) - touched / 1e9


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
    """Held within `with`; `require` raises where it was lost. `beat` is called at every beat.

    `of` is what it guards, as a sentence names it, where that is not the directory that it lies in.
    """

    def __init__(self, directory: Path, beat: Callable[[], None] = lambda: None, *, of: Path | None = None) -> None:
        self.of = of or directory
        self.path, self.owner, self.beat = directory / FILE, Owner.me(), beat
        self._kernel = FileLock(self.path, timeout=_PATIENCE, poll_interval=_PATIENCE / 4, fallback_to_soft=False)
        self._ended = Event()
        self._thread = Thread(target=self._keep_beating, daemon=True)

    def __enter__(self) -> Self:
        require_plain(self.path.parent, [FILE])
        self._make()
        if self._is_foreign():
            raise BadInput(f"{self.path} is no lock of ours and is left alone; use another directory.")
        try:
            self._take()
        except BaseException:
            self._remove()
            raise
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._remove()

    def require(self) -> None:
        if not self._is_mine():
            raise Stopped("another run has taken over the directory, or its lock was deleted")

    def _is_mine(self) -> bool:
        return Owner.at(self.path) == self.owner

    def _is_foreign(self) -> bool:
        """Whether there is a file of this name that no lock wrote."""
        if Owner.at(self.path) is None and self.path.exists():
            sleep(BEAT / 40)  # where files cannot be linked, its owner may just be writing it
            return Owner.at(self.path) is None and self.path.exists()
        return False

    def _make(self) -> bool:
        """A new file that names this process from the first moment on; false where there is one already."""
        if os.path.lexists(self.path):
            return False
        beside = self.path.with_name(f".{FILE}.{self.owner.token[:8]}.part")
        try:
            beside.write_bytes(self.owner.written())
            os.link(beside, self.path)
        except FileExistsError:
            return False
        except OSError as error:
            if error.errno not in _NO_LINKS:
                raise
            return self._make_unlinked()
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
        return True

    def _make_unlinked(self) -> bool:
        try:
            with self.path.open("xb") as stream:
                stream.write(self.owner.written())
        except FileExistsError:
            return False
        return True

    def _take(self) -> None:
        free = _locks(self._acquired)
        found = Owner.at(self.path)
        if found == self.owner and free is not False:
            return
        self._require_free(found, free)
        if not free and found is not None:
            self._replace(found)
        else:
            self._write_name()

    def _acquired(self) -> bool:
        try:
            self._kernel.acquire()
        except Timeout:
            return False
        return True

    def _require_free(self, found: Owner | None, free: bool | None) -> None:
        if _in_force(self.path, found, free):
            named = found is not None and found != self.owner
            who = f"process {found.pid} on {found.host}" if found and named else "a process that is just starting"
            raise BadInput(f"{self.of} is in use by {who}; wait for it, or use another directory.")

    def _replace(self, dead: Owner) -> None:
        """A new file instead of one that the kernel does not give: a server keeps it for a machine that is gone.

        Only one of several takers can rename it away, and it must be the one that was found dead; another is put back.
        """
        away = self.path.with_name(f".{FILE}.{self.owner.token[:8]}.old")
        with suppress(FileNotFoundError):
            self.path.rename(away)
        taken = Owner.at(away)
        if taken not in (dead, None):
            with suppress(OSError):
                os.link(away, self.path)
        away.unlink(missing_ok=True)
        if taken != dead or not self._make() or _locks(self._acquired) is False:
            raise BadInput(f"{self.of} was taken by another run at the same moment; try again.")

    def _write_name(self) -> None:
        """Over the name of a dead owner, or into the empty file that the kernel's lock made."""
        try:
            with os.fdopen(os.open(self.path, os.O_RDWR | NOFOLLOW), "r+b") as stream:
                stream.write(self.owner.written())
                stream.truncate()
        except OSError:  # a lock without a name is of no use to anybody
            with suppress(OSError):
                self.path.unlink(missing_ok=True)
            raise

    def _remove(self) -> None:
        """Under the kernel's lock, so that whoever waits for it finds out that the file is gone."""
        if self._is_mine() and (self._thread.ident or self._kernel.is_locked):
            with suppress(OSError):  # a file that cannot be removed is free for all once the kernel's lock is gone
                self.path.unlink(missing_ok=True)
        self._kernel.release()

    def _keep_beating(self) -> None:
        while not self._ended.wait(BEAT):
            try:
                if self._is_mine():
                    os.utime(self.path)
                self.beat()
            except OSError:  # a full disk or a lost directory is reported by the run itself
                continue
