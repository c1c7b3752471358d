"""What is explained of many texts alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Literal, get_args

from assay.errors import BadInput, UnknownName
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

    def __post_init__(self) -> None:
        if self.scalar not in get_args(Scalar):
            raise UnknownName.of("scale", self.scalar, get_args(Scalar))
        if isinstance(self.seed, bool) or not isinstance(self.seed, Integral) or self.seed < 0:
            raise BadInput(f"a seed is a whole number of 0 or more, not {self.seed!r}.")
