"""Section 5.1: is it overfitting? Input reduction of a model after each epoch of its training.

The paper reduces every checkpoint of its reader and finds "similar results on earlier checkpoints", without numbers;
here it is the attentive model of sentiment. Lengths count as similar if they differ by less than one word on average.
As it is recurrent, like the models of the paper, it is also asked what section 2.1 says: whether the gradient chooses
the word that exhaustive search would.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from assay.statistics.arrays import Floats
from assay_studies.claims import Claim, told
from assay_studies.estimates import Estimate, difference, estimate
from assay_studies.findings import Part
from assay_studies.pathologies import agreement
from assay_studies.pathologies.agreement import Agreement
from assay_studies.pathologies.material import Reduced
from assay_studies.tables import Cell, Line, Table

_TITLE = "Section 5.1: input reduction across training"
_WORD = 1.0
_NOTE = (
    "The paper has no numbers for this, and reduces a reader of SQuAD; here it is an attentive BiLSTM, trained from "
    "scratch on the treebank's sentences and reduced after every epoch."
)


def part(epochs: Sequence[Reduced], agreed: Sequence[Sequence[Agreement | None]]) -> Part:
    """The same texts after each epoch, in their order; `agreed` is what the talks of `agreement` returned for each."""
    found = [{**measures(task), **agreement.measures(of)} for task, of in zip(epochs, agreed, strict=True)]
    lines = [Line(name, tuple(Cell(estimate(of[name])) for of in found)) for name in found[0]]
    columns = tuple(f"epoch {i}" for i in range(1, len(epochs) + 1))
    title = f"{epochs[0].title}, attentive BiLSTM: what is left of the texts after each epoch"
    table = Table("checkpoints", title, columns, tuple(lines), "", 2)
    claims = [_claim(epochs)] if len(epochs) > 1 else []
    claims.append(agreement.claim(f"{epochs[0].title}, attentive BiLSTM", agreed[-1]))
    return Part("checkpoints", _TITLE, (table,), tuple(claims), (_NOTE,))


def measures(task: Reduced) -> Mapping[str, Floats]:
    """What is measured on each text, by the names of the lines."""
    right = {} if task.accuracy is None else {"accuracy, per cent": 100.0 * np.array(task.accuracy)}
    return {
        **right,
        "words before": task.before,
        "words after": task.after,
        "per cent of the texts reduced to one or two words": np.where(task.after <= 2, 100.0, 0.0),
        "confidence on whole texts": task.confident,
        "confidence on reduced texts": task.still_confident,
    }


def _claim(epochs: Sequence[Reduced]) -> Claim:
    gap = difference(epochs[0].after, epochs[-1].after)
    return Claim(
        f"{epochs[0].title}: early checkpoints are reduced to similar lengths as the last (section 5.1), within a word",
        similar(gap),
        told({"words after reduction, first epoch - last": gap}, 2),
    )


def similar(gap: Estimate | None) -> bool | None:
    """Surely within a word, surely not, or open."""
    if gap is None or gap.few:
        return None
    return True if gap.low > -_WORD and gap.high < _WORD else False if gap.low > _WORD or gap.high < -_WORD else None
