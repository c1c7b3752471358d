"""Words and signed scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from assay.explanations.brief import shortened, signed
from assay.explanations.text_explanation import TextExplanation
from assay.statistics.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = 4  # words in `repr`


@dataclass(frozen=True, eq=False)
class TokenScores(TextExplanation):
    """Words and signed scores; positive speaks for the target."""

    kind: ClassVar[str] = "TokenScores"

    scores: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        scores = np.array(self.scores, dtype=np.float64)
        if scores.shape != (len(self.text),) or not np.isfinite(scores).all():
            raise ValueError(f"{len(self.text)} words need as many finite scores, not {scores!r:.200}")
        scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)

    @cached_property
    def ranking(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Word positions from the highest score to the lowest; among equals the earlier word first."""
        return np.argsort(-self.scores, kind="stable")

    def top(self, k: int) -> tuple[str, ...]:
        """The k words with the highest scores."""
        return tuple(self.words[i] for i in self.ranking[:k])

    def random_like(self, count: int) -> Iterator[Self]:
        """Random scores for the same text, of the same norm; everything else as in this explanation.

        Where that has no sign (norms, attention), they have none: a check may count words above zero.
        """
        rng = np.random.default_rng([self.case.seed, self.text.seed, 1])
        size = np.linalg.norm(self.scores)
        for _ in range(count):
            drawn = rng.standard_normal(len(self.text))
            scores = drawn if self.facts.get("signed", True) else np.abs(drawn)
            yield self.told(scores=scores * (size / np.linalg.norm(scores)) if size else scores)

    def _in_short(self) -> Iterator[str]:
        order = np.argsort(-np.abs(self.scores), kind="stable").tolist()
        if not self.facts.get("signed", True):
            yield f"strongest: {self._listed(order)}"
            return
        for title, sign in (("for", 1), ("against", -1)):
            if words := [i for i in order if sign * self.scores[i] > 0]:
                yield f"{title}: {self._listed(words)}"

    def _listed(self, places: Sequence[int]) -> str:
        return ", ".join(f"{shortened(self.words[i], 30)[1:-1]} {signed(self.scores[i])}" for i in places[:_SHOWN])

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"scores": self.scores.tolist()}

    def to_frame(self) -> pd.DataFrame:
        """One row per word."""
        import pandas as pd  # slow to import, and only wanted here

        start, end = zip(*self.spans, strict=True)
        columns = {"word": self.words, "start": start, "end": end, "field": self.text.where, "score": self.scores}
        return pd.DataFrame(columns)

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"scores": np.array(data["scores"])}
