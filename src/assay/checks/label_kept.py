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
from assay.questions.predict import Predict
from assay.registry.cards import check


@check(
    title="Label kept",
    better="higher",
    paper="arXiv:2012.13985",
    needs=(),
    sensitive_to="the judge: where it is wrong of the whole text, it says nothing of the versions",
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
        texts = [version_text(e, edit) for edit in e.edits]
        answers = yield Predict(*texts).sent_to(self.judge)
        if answers.probabilities.shape[1] != len(e.about.labels or e.prediction):
            raise BadInput(f"the judge {self.judge} has other labels than the explained model.")
        new = flips(answers.probabilities, e.target, wanted_label(e), answers.multi_label)
        return float(np.mean(new if self.expect == "new" else ~new))
