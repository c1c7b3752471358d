"""Similarity: how alike a text and its versions are to a sentence encoder.

    mean over versions x' of  cos(h(x), h(x')),    h: the mean hidden state of one layer of an encoder

Reimers and Gurevych (2019), Sentence-BERT, arXiv:1908.10084. Higher is better: an adversarial text should mean what the
text means. Where no version was found it is that of the nearest attempt. Random edits of the same size change as many
words to words of no relation, so a method passes whose words fit the meaning better than any words do. A
counterfactual changes the meaning on purpose; there the number says how much of the rest is left.
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.explanations.edits import Edits
from assay.questions.base import Conversation
from assay.questions.sentence_similarity import ENCODER, LAYER, sentence_similarities
from assay.registry.cards import check
from assay.registry.measured import Measured


@check(
    title="Similarity",
    better="higher",
    paper="arXiv:1908.10084",
    needs=(),
    sensitive_to="the length of the text: one word of four moves the mean more; what the encoder was trained on",
    reads=Edits,
)
@dataclass(frozen=True, kw_only=True)
class Similarity:
    """The cosine between the encoder's vectors of a text and of its versions."""

    model: str = ENCODER
    layer: int = LAYER

    def examine(self, e: Edits) -> Conversation[Measured]:
        versions = e.edits or ((e.nearest,) if e.nearest else ())
        if not versions:  # nothing was changed
            return Measured(1.0, {"least": 1.0})
        whole = e.text.read.strings[versions[0].edited]
        found = yield from sentence_similarities(whole, [edit.text for edit in versions], self.model, self.layer)
        return Measured(float(found.mean()), {"least": float(found.min())})
