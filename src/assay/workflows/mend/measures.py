"""What is measured of a model on dev: accuracy, calibration, and what input reduction leaves of the texts.

    ECE = sum_b (n_b / n) |accuracy_b - confidence_b|        over 15 bins of confidence, all equally wide

Guo et al. (2017), On Calibration of Modern Neural Networks, arXiv:1706.04599. Intervals are of 95 %: Wilson's for an
accuracy, percentiles of 4,000 bootstrap samples of texts for other means and for paired differences.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Self

import numpy as np

from assay.engine.engine import Engine
from assay.explanations.case import Case
from assay.explanations.edits import Edits
from assay.explanations.text_explanation import TextExplanation
from assay.questions.base import Conversation, now
from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, estimate
from assay.text.text import Row
from assay.verbs import Aims, explained

BINS = 15


@dataclass(frozen=True)
class ModelMeasures:
    """One model on dev, text by text: right or wrong, confidence, the reduced text with its words and confidence.

    `rubbish` is the confidence on the texts that the model before mending was reduced to.
    """

    right: tuple[bool, ...]
    confidence: tuple[float, ...]
    words: tuple[int, ...]
    left: tuple[int, ...]
    left_confidence: tuple[float, ...]
    reduced: tuple[Row, ...]
    labels: tuple[str, ...]
    rubbish: tuple[float, ...] = ()

    @classmethod
    def of(cls, reductions: Sequence[Edits], gold: Sequence[str], reads: int) -> Self:
        last = [e.edits[-1] for e in reductions]
        pairs = list(zip(reductions, last, strict=True))
        return cls(
            right=tuple(e.label == label for e, label in zip(reductions, gold, strict=True)),
            confidence=tuple(chance(e.prediction, e.target) for e in reductions),
            words=tuple(len(e.text) for e in reductions),
            left=tuple(len(edit.kept) for edit in last),
            left_confidence=tuple(chance(edit.prediction, e.target) for e, edit in pairs),
            reduced=tuple(edit.strings[:reads] for edit in last),
            labels=tuple(e.label for e in reductions),
        )

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        plain = {name: tuple(values) for name, values in data.items()}
        return cls(**{**plain, "reduced": tuple(map(tuple, data["reduced"]))})

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def only(self, chosen: Sequence[int]) -> Self:
        """The same of some of the texts."""
        known = {name: values for name, values in vars(self).items() if values}
        return replace(self, **{name: tuple(values[i] for i in chosen) for name, values in known.items()})

    @property
    def accuracy(self) -> Estimate:
        return share(self.right)

    @property
    def length(self) -> Estimate:
        return mean(self.left)

    @property
    def sure(self) -> Estimate:
        return mean(self.confidence)

    @property
    def left_sure(self) -> Estimate:
        return mean(self.left_confidence)

    @property
    def rubbish_sure(self) -> Estimate:
        return mean(self.rubbish)

    @property
    def ece(self) -> float:
        return calibration_error(np.array(self.confidence), np.array(self.right))


def chance(prediction: Mapping[str, float], target: int) -> float:
    return float(list(prediction.values())[target])


def calibration_error(confidence: Floats, right: np.ndarray[Any, Any], bins: int = BINS) -> float:
    """The expected calibration error; a confidence on the edge of two bins belongs to the lower one."""
    place = np.clip(np.ceil(confidence * bins).astype(int) - 1, 0, bins - 1)
    gaps = np.bincount(place, right - confidence, minlength=bins)
    return float(np.abs(gaps).sum() / len(confidence))


def share(right: Sequence[bool]) -> Estimate:
    """A share of the texts, with Wilson's interval."""
    from scipy.stats import binomtest  # slow to import, and only wanted here

    count, n = sum(right), len(right)
    interval = binomtest(count, n).proportion_ci(method="wilson")
    return Estimate(count / n, float(interval.low), float(interval.high), n)


def mean(values: Sequence[float] | Floats) -> Estimate:
    """The mean over texts, or over paired differences."""
    found = estimate(np.asarray(values, dtype=np.float64))
    assert found is not None
    return found


def change(after: Sequence[float], before: Sequence[float]) -> Estimate:
    """How much more it is after, on the same texts."""
    return mean(np.array(after, dtype=np.float64) - np.array(before, dtype=np.float64))


class _Nothing:
    """A method that explains nothing; the prediction is all that is wanted."""

    def explain(self, case: Case) -> Conversation[TextExplanation]:
        return now(TextExplanation(case))


def confidences(engine: Engine, rows: Sequence[Row], focus: Sequence[str] | None) -> list[float]:
    """How sure the model is of whatever it predicts for each row."""
    aims = Aims(focus=focus)
    texts: list[Any] = [row[0] if len(row) == 1 else row for row in rows]
    outcomes = engine.run(explained(engine.model, _Nothing(), text, aims) for text in texts)
    return [chance(e.prediction, e.target) for e in (outcome.get() for outcome in outcomes)]
