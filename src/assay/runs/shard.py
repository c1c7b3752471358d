"""A shard: one parquet file that says of itself whether it is whole.

    shards/00012-<digest of all bytes>.parquet      footer: number of the shard, rows, content digest, plan digest

The name holds the digest of the bytes, so any bit that is flipped or cut is found, also where parquet would not look.
The content digest is over the values of the columns and does not depend on how the file was packed. Nothing of time or
place is in the file: the same rows under the same plan give the same bytes, whoever computed them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.errors import AssayError
from assay.storage.durable import write_whole
from assay.text.opening import digest_of

FOLDER = "shards"
_PREFIX = b"assay."


class BadShard(AssayError):
    """A file among the shards that does not count."""


@dataclass(frozen=True)
class Footer:
    """What a shard says of itself."""

    shard: int
    rows: int
    content: str
    plan: str

    def written(self) -> dict[bytes, bytes]:
        return {_PREFIX + name.encode(): str(value).encode() for name, value in vars(self).items()}

    @classmethod
    def read(cls, metadata: dict[bytes, bytes]) -> Footer:
        found = {name: metadata[_PREFIX + name.encode()].decode() for name in cls.__dataclass_fields__}
        return cls(int(found["shard"]), int(found["rows"]), found["content"], found["plan"])


def packed(table: pa.Table, shard: int, rows: int, plan: str) -> bytes:
    """The bytes of the shard."""
    footer = Footer(shard, rows, content_digest(table), plan)
    sink = pa.BufferOutputStream()
    pq.write_table(table.replace_schema_metadata(footer.written()), sink, compression="zstd")
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def write(folder: Path, shard: int, data: bytes) -> Path:
    path = folder / f"{shard:05d}-{blake2b(data, digest_size=16).hexdigest()}.parquet"
    write_whole(path, data)
    return path


def number_of(path: Path) -> int:
    return int(path.name.partition("-")[0])


def is_intact(path: Path) -> bool:
    """Whether its bytes are those that were written."""
    return path.stem.partition("-")[2] == digest_of(path)


def require_whole(path: Path, plan: str, rows: range, *, deep: bool = False) -> Footer:
    """The footer of a shard that counts; `deep` also unpacks it and counts and digests its content."""
    if not is_intact(path):
        raise BadShard("its bytes are not those that were written")
    try:
        footer = Footer.read(pq.read_schema(path).metadata or {})
        table = pq.read_table(path) if deep else None
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        raise BadShard(f"it cannot be read: {type(error).__name__}: {error}") from error
    if footer.plan != plan:
        raise BadShard("it belongs to another plan")
    if (footer.shard, footer.rows) != (number_of(path), len(rows)):
        raise BadShard(f"it holds {footer.rows} rows of shard {footer.shard}")
    if table is not None and (content_digest(table) != footer.content or _numbers(table) != list(rows)):
        raise BadShard("its content is not what its footer says")
    return footer


def content_digest(table: pa.Table) -> str:
    """A digest of names, types and values."""
    digest = blake2b(digest_size=16)
    for name in table.column_names:
        digest.update(name.encode())
        for part in _parts(table.column(name).combine_chunks()):
            digest.update(len(part).to_bytes(8))
            digest.update(part)
    return digest.hexdigest()


def _parts(array: Any) -> Iterator[bytes]:
    """The values of an array as bytes, whatever its buffers hold besides: which are there, how long, and what."""
    if isinstance(array, pa.ChunkedArray):
        array = pa.concat_arrays(array.chunks) if array.num_chunks else pa.array([], array.type)
    yield _kind(array.type).encode()
    yield np.packbits(array.is_valid().to_numpy(zero_copy_only=False)).tobytes()
    there = array.drop_null()
    if pa.types.is_list(array.type):
        yield there.value_lengths().to_numpy(zero_copy_only=False).tobytes()
        yield from _parts(there.flatten())
    elif pa.types.is_struct(array.type):
        for child in there.flatten():
            yield from _parts(child)
    elif pa.types.is_string(array.type):
        strings = [value.encode() for value in there.to_pylist()]
        yield np.array([len(value) for value in strings], dtype=np.int64).tobytes()
        yield b"".join(strings)
    else:
        yield there.to_numpy(zero_copy_only=False).tobytes()


def _kind(kind: pa.DataType) -> str:
    """The type without the names that parquet changes inside of lists."""
    if pa.types.is_struct(kind):
        return f"struct {[field.name for field in kind]}"
    return "list" if pa.types.is_list(kind) else str(kind)


def _numbers(table: pa.Table) -> list[int]:
    """The rows of the dataset, each once, in order."""
    return list(dict.fromkeys(table.column("row").to_pylist()))
