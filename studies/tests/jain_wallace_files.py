"""Files in the formats of Jain and Wallace's data, written for tests, and the texts that are read of them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from assay.text.example import Example
from assay_studies.data.jain_wallace import (
    Split,
)


def put(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def objects(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def texts(part: Sequence[Example]) -> list[str]:
    return [example.strings[0] for example in part]


def every(split: Split) -> list[Example]:
    return [*split.train, *split.dev, *split.test]


def made(*lengths: int, task: Any = "classification") -> Split:
    part = tuple(Example(str(n), (" ".join(["w"] * n),), "a") for n in lengths)
    return Split("made", part, part, part, ("a", "b"), task)


def lengths(part: Sequence[Example]) -> list[int]:
    return [len(example.strings[0].split()) for example in part]
