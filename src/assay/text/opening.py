"""Files opened as text: plain, .gz or .xz, in UTF-8; what is wrong with one is one sentence."""

from __future__ import annotations

import csv
import gzip
import lzma
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import blake2b
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, Literal
from zlib import error as ZlibError

from assay.errors import BadFile

PathLike = str | Path
OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}
_MAGIC = {b"\x1f\x8b": ".gz", b"\xfd7zXZ\x00": ".xz"}
_BROKEN = (EOFError, csv.Error, lzma.LZMAError, ZlibError)
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_CHUNK = 1 << 20
ENDS = ". \n"


@contextmanager
def readable(path: PathLike) -> Iterator[None]:
    """Within it, what goes wrong with the file is one sentence."""
    try:
        yield
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {str(error.strerror or error).strip(ENDS)}.") from error
    except UnicodeDecodeError as error:
        byte = f"byte 0x{error.object[error.start]:02x}"
        raise BadFile(f"{path} cannot be read as UTF-8 ({byte}); {SAVE_AS_UTF8}.") from error
    except _BROKEN as error:
        raise BadFile(f"{path} is damaged or cut short ({error}) and cannot be read; make it again.") from error


SAVE_AS_UTF8 = "save it as UTF-8, for example: iconv -f WINDOWS-1252 -t UTF-8"


@contextmanager
def opened(
    path: PathLike, newline: str | None = None, errors: Literal["strict", "surrogateescape"] = "strict"
) -> Iterator[IO[str]]:
    """The file as text, without a byte order mark, unpacked as its name or else its first bytes say.

    With `surrogateescape`, bytes that are no UTF-8 come as lone surrogates, which no text may hold, so that a reader
    can blame their row alone.
    """
    with readable(path), _unpacked(Path(path)) as raw:
        yield decoded(raw, str(path), newline, errors)


def decoded(raw: IO[bytes], name: str, newline: str | None, errors: str) -> IO[str]:
    """Bytes as text."""
    if raw.read(2) in _UTF16:
        raise BadFile(f"{name} cannot be read: it looks like UTF-16; save it as UTF-8 (iconv -f UTF-16 -t UTF-8).")
    raw.seek(0)
    return TextIOWrapper(raw, encoding="utf-8-sig", errors=errors, newline=newline)


def _unpacked(path: Path) -> Any:
    ending = path.suffix.lower()
    if ending not in OPENERS:
        with path.open("rb") as file:
            start = file.read(max(map(len, _MAGIC)))
        ending = next((ending for magic, ending in _MAGIC.items() if start.startswith(magic)), "")
    return OPENERS.get(ending, open)(path, "rb")


def digest_of(path: Path) -> str:
    """A digest of all bytes of a file."""
    digest = blake2b(digest_size=16)
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


@dataclass(frozen=True)
class Stamp:
    """What shows quickly that a file is another one than before."""

    size: int
    changed: int
    inode: int

    @classmethod
    def of(cls, path: Path) -> Stamp:
        stat = path.stat()
        return cls(stat.st_size, stat.st_mtime_ns, stat.st_ino)
