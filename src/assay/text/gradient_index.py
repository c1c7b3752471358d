"""The gradients of a training set on disk, randomly projected, so that a query is one matrix product.

    DIR/index.json                 layers, size and seed of the projection, the rows, their digest, the model's labels
    DIR/part-00000.safetensors     of 1,024 rows: the projected gradients of the log-odds of their own labels, and what
                                   the model says of them; of a language model those of the losses of their tokens
    DIR/part-00000.jsonl           the same rows as texts: as they were given, and as the model read them

A part is there whole or not at all, with digests of its texts and numbers, at which readers look; the same command
goes on after a kill with the first part that is missing. Files are mapped into memory, part by part, so that a large
index is searched without being held.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from assay.errors import BadFile, BadInput
from assay.statistics.arrays import Floats, Ints
from assay.storage import lock
from assay.storage.durable import write_whole
from assay.storage.files import read_json, write_text
from assay.storage.plain import require_plain
from assay.text.example import Example
from assay.text.text import Row

D = TypeVar("D", bytes, np.ndarray[Any, np.dtype[Any]])
PART = 1024  # rows of a part
_META, _ADVICE = "index.json", "make the index anew"


@dataclass(frozen=True)
class IndexHeader:
    """What an index is of; one that differs in any of this is another index."""

    model: str  # its fingerprint
    labels: tuple[str, ...]  # none of a language model
    rows: int
    digest: str
    layers: str
    project: int
    seed: int


@dataclass(frozen=True, eq=False)
class IndexPart:
    """Some rows: as given, as the model read them, what it says of them, and the projected gradients."""

    examples: Sequence[Example]
    read: Sequence[Row]
    chances: Floats
    gradients: Floats


class GradientIndex:
    """An index that is there whole; two are equal when they are of the same model, rows and projection."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._checked: set[tuple[Path, str]] = set()
        found = read_json(self.path / _META, _ADVICE)
        if found is None:
            raise BadFile(f"{self.path} holds no index of gradients; make one by `assay index`.")
        try:
            self.header = IndexHeader(**{**found, "labels": tuple(found["labels"])})
        except (KeyError, TypeError) as error:
            raise BadFile(f"{self.path / _META} is no header of an index ({error}); {_ADVICE}.") from error
        if missing := [i for i in range(self.parts) if not part_path(self.path, i).is_file()]:
            many = f"{len(missing)} of its {self.parts} parts are missing"
            raise BadInput(f"the index in {self.path} is not finished: {many}; run the same `assay index` again.")

    @classmethod
    def of(cls, given: Any) -> GradientIndex:
        return given if isinstance(given, GradientIndex) else cls(given)

    @property
    def projection(self) -> dict[str, Any]:
        """As the question for a gradient takes it."""
        return {"layers": self.header.layers, "project": self.header.project, "seed": self.header.seed}

    @property
    def parts(self) -> int:
        return -(-self.header.rows // PART)

    def __len__(self) -> int:
        return self.header.rows

    @cached_property
    def _texts(self) -> list[dict[str, Any]]:
        return [json.loads(line) for i in range(self.parts) for line in self._lines(i).splitlines()]

    def _lines(self, part: int) -> bytes:
        path = part_path(self.path, part).with_suffix(".jsonl")
        try:
            found = path.read_bytes()
        except OSError as error:
            raise BadFile(f"{path} cannot be read ({error.strerror or error}); {_ADVICE}.") from error
        _, told = self._opened(part, "chances")
        return self._same(path, "texts", found, told)

    @cached_property
    def examples(self) -> tuple[Example, ...]:
        """The rows as they were given."""
        rows = enumerate(self._texts)
        return tuple(Example(str(i), tuple(row["strings"]), row["label"], position=i) for i, row in rows)

    @cached_property
    def read(self) -> list[Row]:
        """The rows as the model read them."""
        return [tuple(row["read"]) for row in self._texts]

    @cached_property
    def chances(self) -> Floats:
        return np.concatenate([self._tensor(i, "chances") for i in range(self.parts)])

    @cached_property
    def numbers(self) -> Ints:
        """The labels as numbers."""
        return np.array([self.header.labels.index(str(row.label)) for row in self.examples])

    @property
    def first(self) -> Floats:
        """The projected gradient of the first row."""
        return np.asarray(self._tensor(0, "gradients")[0])

    def gradients(self) -> Iterator[Floats]:
        """Part by part [rows, size]."""
        return (self._tensor(i, "gradients") for i in range(self.parts))

    def _tensor(self, part: int, name: str) -> Floats:
        found, told = self._opened(part, name)
        self._same(part_path(self.path, part), name, found, told)
        return found

    def _opened(self, part: int, name: str) -> tuple[Floats, dict[str, str]]:
        path = part_path(self.path, part)
        try:
            with safe_open(path, "np") as file:
                return np.asarray(file.get_tensor(name)), file.metadata() or {}
        except (SafetensorError, OSError) as error:
            raise BadFile(f"{path} cannot be read ({error}); delete it and run `assay index` again.") from error

    def _same(self, path: Path, name: str, found: D, told: dict[str, str]) -> D:
        """What was read, if it is what was written; looked at once."""
        if (path, name) not in self._checked and told.get(name) != _digest(found):
            raise BadFile(f"{path} is damaged: it is not what was written; delete it and run `assay index` again.")
        self._checked.add((path, name))
        return found

    def __eq__(self, other: object) -> bool:
        return isinstance(other, GradientIndex) and self.header == other.header

    def __hash__(self) -> int:
        return hash(self.header)

    def __deepcopy__(self, memo: dict[int, Any]) -> GradientIndex:
        return self

    def __str__(self) -> str:
        return str(self.path)


def part_path(directory: Path, number: int) -> Path:
    return directory / f"part-{number:05d}.safetensors"


def begin(directory: Path, header: IndexHeader) -> list[int]:
    """Write the header where there is none; the numbers of the parts that are missing."""
    parts = [part_path(directory, i) for i in range(-(-header.rows // PART))]
    require_plain(directory, [_META, *(one.name for part in parts for one in (part, part.with_suffix(".jsonl")))])
    found = read_json(directory / _META, _ADVICE)
    if found is None and (others := _others(directory)):
        raise BadInput(f"{directory} holds other files ({others[0]}) and no index; use another directory.")
    if found is not None and not isinstance(found, dict):
        raise BadInput(f"{directory / _META} is no header of an index; use another directory.")
    if found is None:
        write_text(directory / _META, json.dumps(asdict(header), indent=1))
    elif other := sorted(name for name, value in asdict(header).items() if found.get(name) != _as_json(value)):
        raise BadInput(f"{directory} holds another index (it differs in {', '.join(other)}); use another directory.")
    return [i for i, part in enumerate(parts) if not part.is_file()]


def _others(directory: Path) -> list[str]:
    if not directory.is_dir():
        return []
    return sorted(one.name for one in directory.iterdir() if one.name != lock.FILE and not one.name.startswith("."))


def _as_json(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value


def _digest(data: bytes | np.ndarray[Any, np.dtype[Any]]) -> str:
    return blake2b(
        data if isinstance(data, bytes) else np.ascontiguousarray(data).tobytes(), digest_size=16
    ).hexdigest()


def write_part(directory: Path, number: int, part: IndexPart) -> None:
    """The texts first: a part whose numbers are there has them."""
    rows = zip(part.examples, part.read, strict=True)
    lines = [json.dumps({"strings": e.strings, "label": e.label, "read": read}) for e, read in rows]
    texts = "\n".join(lines) + "\n"
    write_text(part_path(directory, number).with_suffix(".jsonl"), texts)
    arrays: dict[str, np.ndarray[Any, np.dtype[Any]]] = {
        "gradients": np.ascontiguousarray(part.gradients, dtype=np.float32),
        "chances": np.ascontiguousarray(part.chances),  # the bytes of a slice would be those of the whole
    }
    digests = {name: _digest(array) for name, array in arrays.items()} | {"texts": _digest(texts.encode())}
    try:
        write_whole(part_path(directory, number), _in_order(save(arrays, metadata=digests)))
    except OSError as error:
        raise BadFile(f"{directory} cannot be written: {error.strerror or error}.") from error


def _in_order(file: bytes) -> bytes:
    """The same file with its metadata sorted: safetensors has no order for them, and equal parts have equal bytes."""
    size = int.from_bytes(file[:8], "little")
    header = json.loads(file[8 : 8 + size])
    header["__metadata__"] = dict(sorted(header["__metadata__"].items()))
    written = json.dumps(header, separators=(",", ":")).encode().ljust(size)
    return file[:8] + written + file[8 + size :]
