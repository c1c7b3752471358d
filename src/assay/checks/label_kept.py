"""Label kept: whether a second model gives the versions the label that they should have.

    adversarial       the old label: a version is a mistake of the model only if its meaning stayed
    counterfactual    the new label: a version is a contrast only if its meaning changed

The share of versions, by a `judge` that reads the same labels: a stronger model, or one that was trained otherwise. So
it measures what the flip alone cannot tell: an adversarial text on which the judge flips too is no mistake, and a
counterfactual on which it does not flip is an adversarial text. Ross,
Marasovic and Peters (2021), arXiv:2012.13985, and others ask people instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from assay.errors import BadInput
from assay.explanations.edits import Edits
from assay.explanations.flips import flips, version_text, wanted_label
from assay.questions.base import Conversation
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict
from assay.registry.cards import check


@check(
    title="Label kept",
    better="higher",
    paper="arXiv:2012.13985",
    needs=(),
    sensitive_to="the judge: where it is wrong about the whole text, it says nothing about the versions",
    reads=Edits,
)
@dataclass(frozen=True, kw_only=True)
class LabelKept:
    """How often the judge agrees with what the versions claim to be."""

    judge: str = ""
    expect: Literal["new", "old"] = "new"

    def examine(self, e: Edits) -> Conversation[float]:
        if not self.judge:
            raise BadInput("label_kept needs a second model with the same labels: judge=NAME, a bundled one or a path.")
        if not e.edits:
            return 0.0
        facts: KnownFacts = yield ModelFacts().sent_to(self.judge)
        places = _places(tuple(e.prediction) or e.about.labels, facts)
        answers = yield Predict(*(version_text(e, edit) for edit in e.edits)).sent_to(self.judge)
        new = flips(answers.probabilities[:, places], e.target, wanted_label(e), answers.multi_label)
        return float(np.mean(new if self.expect == "new" else ~new))


def _places(labels: tuple[str, ...], judge: KnownFacts) -> list[int]:
    """Where the judge has the labels of the explained model: it may know them in another order."""
    if sorted(labels) != sorted(judge.labels):
        own, other = ", ".join(labels), ", ".join(judge.labels)
        raise BadInput(
            f"the judge {judge.name} has the labels {other}, the explained model {own}: they must be the same."
        )
    return [judge.labels.index(label) for label in labels]
