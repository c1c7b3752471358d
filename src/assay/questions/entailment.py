"""Whether two texts say the same, by a model of pairs: each of them has to follow from the other.

    min( p(entailment | x, x'),  p(entailment | x', x) )

So Padó, Galley, Jurafsky and Manning (2009) judge translations, doi:10.3115/1687878.1687922. The model is any that
reads a premise and a hypothesis and has a label that begins with "entail".
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.errors import BadInput
from assay.questions.base import Conversation
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.text.text import Text


def mutual_entailments(string: str, others: Sequence[str], judge: str) -> Conversation[Floats]:
    """For each of the others how sure the judge is that it follows from the string, and the string from it."""
    facts: KnownFacts = yield ModelFacts().sent_to(judge)
    labels = [i for i, label in enumerate(facts.labels) if label.lower().startswith("entail")]
    if len(labels) != 1 or len(facts.fields) != 2:
        raise BadInput(f"{judge} is no judge of meaning: it must read pairs and have one label that is entailment.")
    if not others:
        return np.zeros(0)
    pairs = [pair for other in others for pair in ((string, other), (other, string))]
    answers = yield Predict(*(Text.of(pair, names=facts.fields) for pair in pairs)).sent_to(judge)
    both: Floats = answers.probabilities[:, labels[0]].reshape(-1, 2)
    return np.asarray(both.min(axis=1))
