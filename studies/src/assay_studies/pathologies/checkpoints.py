"""Section 5.1: is it overfitting? Input reduction of a model after each epoch of its training.

The paper reduces every checkpoint of its reader and finds "similar results on earlier checkpoints", without numbers;
here it is the attentive model of sentiment. Lengths count as similar if they differ by less than one word on average.
As it is recurrent, like the models of the paper, it is also asked what section 2.1 says: whether the gradient chooses
the word that exhaustive search would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from assay.engine.engine import Engine
from assay_studies.claims import Claim, Evidence, claim, within
from assay_studies.pathologies import agreement
from assay_studies.pathologies.agreement import Agreement
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.tasks import PAPER, Task, digest
from assay_studies.samples import spread
from assay_studies.specification import Key, PartSpec, Quantity, Subject, TableSpec, Values, on_each

_WORD = 1.0
_AFTER = "words after"
_NOTE = (
    "The paper has no numbers for this, and reduces a reader of SQuAD; here it is an attentive BiLSTM, trained from "
    "scratch on the treebank's sentences and reduced after every epoch."
)


def subject(epochs: Sequence[Reduced], agreed: Sequence[Sequence[Agreement | None]]) -> Subject:
    """The same texts after each epoch, in their order; `agreed` is what the talks of `agreement` returned for each."""
    measures: dict[Key, Quantity] = {}
    for i, (task, found) in enumerate(zip(epochs, agreed, strict=True), start=1):
        choices = {agreement.LINES[name]: values for name, values in agreement.measures(found).items()}
        measures |= {(name, f"epoch {i}"): values for name, values in {**_reduction(task), **choices}.items()}
    last = agreement.measures(agreed[-1])
    return Subject(epochs[0].name, epochs[0].title, measures, facts={"epochs": len(epochs), "last": last})


def _reduction(task: Reduced) -> Mapping[str, Values]:
    """What is measured on each text, by the names of the lines."""
    right = {} if task.accuracy is None else {"accuracy, per cent": Values(100.0 * np.array(task.accuracy))}
    return {
        **right,
        "words before": Values(task.before),
        _AFTER: Values(task.after),
        "per cent of the texts reduced to one or two words": Values(np.where(task.after <= 2, 100.0, 0.0)),
        "confidence on whole texts": Values(task.confident),
        "confidence on reduced texts": Values(task.still_confident),
    }


def _claims(subject: Subject) -> Iterator[Claim]:
    if (count := subject.facts["epochs"]) > 1:
        yield claim(
            f"{subject.title}: early checkpoints are reduced to similar lengths as the last (section 5.1), within a "
            "word",
            Evidence(
                "words after reduction, first epoch - last",
                subject.gap((_AFTER, "epoch 1"), (_AFTER, f"epoch {count}")),
                within(_WORD),
            ),
            digits=2,
            key="checkpoints",
            about=subject.title,
        )
    yield agreement.same_word(f"{subject.title}, attentive BiLSTM", subject.facts["last"], "same_word_recurrent")


def _measure(task: Task) -> Subject:
    """The same texts, reduced by the attentive model after each epoch."""
    from assay_studies.pathologies.other_models import epochs  # trainers are only wanted where they train

    examples, found, agreed = spread(task.examples, task.sizes.checkpoint_texts), [], []
    learned = [digest(task.sentences), task.sizes.glove, task.sizes.checkpoints]
    for i, model in enumerate(epochs(task), start=1):
        settings = {"texts": digest(examples), "model": [*learned, i], "beam": task.sizes.beam}
        found.append(task.reduced_by(partial(Engine, model), examples, f"sst_epoch_{i}", settings))
        agreed.append(task.ask(agreement.talks(found[-1]), Engine(model)))
    return subject(found, agreed)


PART = PartSpec(
    name="checkpoints",
    title="Section 5.1: input reduction across training",
    measure=on_each(_measure),
    wants=lambda task: task.name == "sst",
    tables=[
        TableSpec(
            name="checkpoints",
            title="{title}, attentive BiLSTM: what is left of the texts after each epoch",
            rows=lambda subject: tuple(dict.fromkeys(key[0] for key in subject.measures)),
            columns=lambda subject: tuple(dict.fromkeys(key[1] for key in subject.measures)),
            layout="tables",
            digits=2,
        )
    ],
    claims=[_claims],
    notes=lambda tasks: (_NOTE,),
    published=PAPER,
    trains=True,
)
