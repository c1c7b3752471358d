"""What is measured of the first version of each text, by every way of editing.

flips        the model says something else, by a fresh forward pass
changed      edit distance in words over the words of the text                        (of texts that flip)
fluency      log of the ratio of pseudo-perplexities near the edit, by the masked LM  (of texts that flip)
similarity   cosine of the sentence encoder                                           (of texts that flip)
kept         the judge gives the label that the text had        (of texts that flip, of which it gave that label)
rows         rows that models were asked, and tokens that they wrote, for one text
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log

import numpy as np

from assay.checks.fluency import Fluency
from assay.checks.minimality import Minimality
from assay.checks.similarity import Similarity
from assay.explanations.edits import Edits
from assay.explanations.flips import fresh_flips, version_text
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay_studies.edits.tasks import JUDGE

MEASURES = ("flips", "changed", "fluency", "similarity", "kept", "rows")


def best(e: Edits) -> Edits:
    """The first version alone."""
    return replace(e, edits=e.edits[:1])


def measured(e: Edits) -> Conversation[dict[str, float]]:
    """The measures of one text; one that does not apply is missing."""
    cost = e.about.cost
    found = {"flips": 0.0, "rows": float(cost.sequences + cost.generated)}
    first = best(e)
    if not (yield from fresh_flips(first)).any():
        return found
    found |= {"flips": 1.0, "changed": (yield from Minimality().examine(first))}
    found["similarity"] = float((yield from Similarity().examine(first)).score)
    ratio = float((yield from Fluency().examine(first)).facts["ratio"])
    found["fluency"] = log(ratio)
    before, after = yield from judged_labels(first)
    if before == e.target:
        found["kept"] = float(after == before)
    return found


def judged_labels(e: Edits) -> Conversation[tuple[int, int]]:
    """What the judge says of the text and of its first version."""
    answers = yield Predict(e.text, version_text(e, e.edits[0])).sent_to(JUDGE)
    before, after = answers.argmax().tolist()
    return before, after


def columns(rows: Sequence[Mapping[str, float]]) -> dict[str, Floats]:
    """For each measure its value on every text; NaN where there is none."""
    return {name: np.array([row.get(name, np.nan) for row in rows]) for name in MEASURES}


def known(values: Floats) -> Floats:
    return values[np.isfinite(values)]


def both(one: Floats, other: Floats) -> tuple[Floats, Floats]:
    """The values of two ways on the texts that have both."""
    n = min(len(one), len(other))
    a, b = one[:n], other[:n]
    used = np.isfinite(a) & np.isfinite(b)
    return a[used], b[used]
