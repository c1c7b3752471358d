"""What is explained of many texts alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from assay.questions.answers import Scalar
from assay.text.splitting import Splitter


@dataclass(frozen=True, kw_only=True)
class Aims:
    """What is explained about every text: which label, on which scale, which words."""

    target: str | int | None = None
    against: str | int | None = None
    scalar: Scalar = "log_odds"
    focus: Sequence[str] | None = None
    split: str | Splitter = "words"
    seed: int = 0
    tokens: Literal["each"] | None = None  # each token of a continuation by itself, or the continuation as a whole
