"""Examples: the training texts that a prediction owes most to, and how much each of them pushed it.

scores       of every training text; positive: it pushed toward the explained label, negative: away from it
examples     the training texts with the highest and the lowest scores, from the highest down
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from assay.explanations.sample_explanation import SampleId
from assay.explanations.text_explanation import TextExplanation
from assay.statistics.arrays import Floats, Ints
from assay.text.example import Example
from assay.text.text import Row

if TYPE_CHECKING:
    import pandas as pd

KEPT = 10  # texts in each direction that an explanation holds, unless somebody says otherwise


@dataclass(frozen=True)
class TrainingText:
    """A row of the training set, counted from 0, with its label, if it has one, and its score.

    `parts` is the score split among the words of the text, in their order, and what belongs to none of them, last;
    nothing where it is not known.
    """

    index: int
    strings: Row
    label: str | None
    score: float
    parts: tuple[float, ...] = ()

    @property
    def text(self) -> str:
        """As people read it; of a pair, both with a bar between them."""
        return " | ".join(self.strings)

    def to_dict(self) -> dict[str, Any]:
        pair = {"strings": list(self.strings)} if len(self.strings) > 1 else {}
        parts = {"word_scores": list(self.parts[:-1]), "rest": self.parts[-1]} if self.parts else {}
        return {"index": self.index, "text": self.text, "label": self.label, "score": self.score, **pair, **parts}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        strings = tuple(data.get("strings") or (data["text"],))
        parts = (*data["word_scores"], data["rest"]) if "word_scores" in data else ()
        return cls(data["index"], strings, data["label"], data["score"], parts)


@dataclass(frozen=True, eq=False)
class Examples(TextExplanation):
    """The scores of all training texts, and the texts at both ends of them."""

    kind: ClassVar[str] = "Examples"

    scores: Floats = field(default_factory=lambda: np.zeros(0))
    examples: tuple[TrainingText, ...] = ()
    train: SampleId = SampleId("training set", "", 0)

    def __post_init__(self) -> None:
        scores = np.array(self.scores, dtype=np.float64)
        if scores.shape != (self.train.size,) or not np.isfinite(scores).all():
            raise ValueError(f"{self.train.size} training texts need as many finite scores, not {scores!r:.200}")
        if not {one.index for one in self.examples} <= set(range(len(scores))):
            raise ValueError(
                f"examples are rows below {len(scores)}, not {[one.index for one in self.examples]!r:.200}"
            )
        scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)

    @property
    def ranking(self) -> Ints:
        """The rows of the training set from the highest score to the lowest; among equals the earlier row first."""
        return np.argsort(-self.scores, kind="stable")

    @property
    def toward(self) -> tuple[TrainingText, ...]:
        """The examples that pushed toward the explained label, strongest first."""
        return tuple(one for one in self.examples if one.score > 0)

    @property
    def away(self) -> tuple[TrainingText, ...]:
        """The examples that pushed away from it, strongest first."""
        return tuple(one for one in reversed(self.examples) if one.score < 0)

    def random_like(self, count: int) -> Iterator[Self]:
        """Random scores of the same norm for the same training texts; the texts that are shown get theirs."""
        rng = np.random.default_rng([self.case.seed, self.text.seed, 1])
        size = np.linalg.norm(self.scores)
        for _ in range(count):
            drawn = rng.standard_normal(len(self.scores))
            scores = drawn * (size / np.linalg.norm(drawn)) if size else drawn
            shown = [replace(one, score=float(scores[one.index]), parts=()) for one in self.examples]
            yield self.told(scores=scores, examples=tuple(sorted(shown, key=lambda one: (-one.score, one.index))))

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "examples": [one.to_dict() for one in self.examples],
            "all_scores": self.scores.tolist(),  # `scores` are those of words, in files and runs
            "train": vars(self.train).copy(),
        }

    def to_frame(self) -> pd.DataFrame:
        """One row per example."""
        import pandas as pd  # slow to import, and only wanted here

        columns = ("index", "text", "label", "score")
        return pd.DataFrame([one.to_dict() for one in self.examples], columns=columns)

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "scores": np.array(data["all_scores"], dtype=np.float64),
            "examples": tuple(map(TrainingText.from_dict, data["examples"])),
            "train": SampleId(**data["train"]),
        }


def at_both_ends(
    scores: Floats, rows: Sequence[Example], kept: int = KEPT, parts: Mapping[int, Floats] | None = None
) -> tuple[TrainingText, ...]:
    """The rows with the highest positive and the lowest negative scores, at most `kept` of each, from the highest."""

    def shown(i: int) -> TrainingText:
        label, own = rows[i].label, (parts or {}).get(i, ())
        return TrainingText(
            i, rows[i].strings, None if label is None else str(label), float(scores[i]), tuple(map(float, own))
        )

    return tuple(map(shown, both_ends(scores, kept)))


def both_ends(scores: Floats, kept: int = KEPT) -> tuple[int, ...]:
    """Their numbers."""
    order = np.argsort(-scores, kind="stable")
    first = [i for i in order[:kept].tolist() if scores[i] > 0]
    return (*first, *[i for i in order[::-1][:kept].tolist() if scores[i] < 0][::-1])
