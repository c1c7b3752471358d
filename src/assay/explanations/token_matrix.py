"""What each token of a continuation rests on: tokens by words, signed scores.

    scores[j, i]        what word i of the source does to the explained number of token j, given the tokens before it

The words are those of the text, and for a causal language model also the tokens before the last, as each of them is
read again. A word that is no part of what token j is explained by has NaN there, and null in JSON: it is a token that
comes later, or one that was kept as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from assay.explanations.text_explanation import TextExplanation
from assay.statistics.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class TokenMatrix(TextExplanation):
    """Tokens, words and signed scores [tokens, words]; positive speaks for the token.

    `probabilities` are those of each token, given the text and the tokens before it.
    """

    kind: ClassVar[str] = "TokenMatrix"

    tokens: tuple[str, ...] = ()
    scores: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    probabilities: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        scores = np.array(self.scores, dtype=np.float64)
        if scores.shape != (len(self.tokens), len(self.text)) or np.isinf(scores).any():
            shape = f"{len(self.tokens)} tokens and {len(self.text)} words"
            raise ValueError(f"{shape} need a score for each pair, not {scores.shape}: {scores!r:.200}")
        if len(self.probabilities) != len(self.tokens) or np.isnan(scores).all(axis=1).any():
            raise ValueError(f"each of the {len(self.tokens)} tokens needs a probability and a score")
        scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)

    def top(self, j: int, k: int) -> list[tuple[str, float]]:
        """The words with the largest scores of token j, whatever their sign; among equals the earlier word first."""
        sizes = np.abs(np.nan_to_num(self.scores[j]))
        order = [i for i in np.argsort(-sizes, kind="stable") if sizes[i] > 0]
        return [(self.words[i], float(self.scores[j, i])) for i in order[:k]]

    def to_dict(self) -> dict[str, Any]:
        scores = [[None if np.isnan(one) else one for one in row] for row in self.scores.tolist()]
        own = {"tokens": list(self.tokens), "scores": scores, "probabilities": list(self.probabilities)}
        return super().to_dict() | own

    def to_frame(self) -> pd.DataFrame:
        """One row for each token and each word that it may rest on."""
        import pandas as pd  # slow to import, and only wanted here

        j, i = np.nonzero(~np.isnan(self.scores))
        columns = {
            "token": [self.tokens[one] for one in j],
            "position": j,
            "word": [self.words[one] for one in i],
            "field": [self.text.where[one] for one in i],
            "score": self.scores[j, i],
        }
        return pd.DataFrame(columns)

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        shape = len(data["tokens"]), len(data["words"])
        scores = np.array(data["scores"], dtype=np.float64).reshape(shape)  # None becomes NaN
        own = {"tokens": tuple(data["tokens"]), "probabilities": tuple(data["probabilities"])}
        return own | {"scores": scores}


def padded(rows: Sequence[Floats], width: int) -> Floats:
    """Rows of scores over the first of `width` words, as one matrix."""
    found = np.full((len(rows), width), np.nan)
    for j, row in enumerate(rows):
        found[j, : len(row)] = row
    return found
