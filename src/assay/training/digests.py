"""What a training is known by: digests of its settings, and of the bytes of the files that it starts from.

A directory of weights or a file of word vectors keeps its path when somebody writes other numbers into it, and a model
that was trained from the old ones must not be taken for one from the new ones. Files are read once, and again only when
their size, their time or their place on the disk has changed.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from assay.errors import BadFile
from assay.text.opening import Stamp, digest_of

_BESIDE_WEIGHTS = ("*.json", "*.txt", "*.model")  # configuration and tokenizer


def digest(*data: Any) -> str:
    """Of plain data, as Python writes it."""
    return blake2b(repr(data).encode(), digest_size=16).hexdigest()


def as_json(data: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON gives it back, so that what is saved and what is asked for can be compared."""
    return dict(json.loads(json.dumps(data)))


def digest_of_files(path: str | Path) -> str | None:
    """Of the file, or of the model in the directory: weights, configuration, tokenizer. None where nothing is there."""
    place = Path(path)
    if place.is_file():
        return _digest_of_file(place)
    if not place.is_dir():
        return None
    return digest([(str(file.relative_to(place)), _digest_of_file(file)) for file in _model_files(place)])


def _model_files(place: Path) -> Iterator[Path]:
    beside = (file for pattern in _BESIDE_WEIGHTS for file in place.glob(pattern))
    yield from sorted(file for file in (*place.rglob("*.safetensors"), *beside) if file.is_file())


def _digest_of_file(path: Path) -> str:
    try:
        return _digest_of_version(path.resolve(), Stamp.of(path))
    except OSError as error:
        raise BadFile(f"{path} cannot be read: {error.strerror or error}.") from error


@lru_cache(maxsize=1024)
def _digest_of_version(path: Path, stamp: Stamp) -> str:
    """The stamp is only there to be looked up by."""
    return digest_of(path)
