"""Table 1b: the same areas where another masked language model fills the holes.

The paper takes RoBERTa in the place of BERT, in IM and in Deletion_BERT. Here it is the bundled masked language model
after it was trained further on sentences of SST-2 (further_trained): another model of the same architecture. On SST-2
only, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from assay.checks.deletion import Deletion
from assay.questions.erasers import Delete, Eraser, Resample
from assay.verdicts.concluding import VerdictBuilder
from assay_studies.claims import Claim, Evidence, claim, higher, lower
from assay_studies.double_trouble.deletion_bias import judged_subject
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.double_trouble.tasks import PAPER, Task, is_sst2
from assay_studies.rules import Rule
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each

_METRICS: Mapping[str, Eraser] = {"Deletion": Delete(), "Deletion_BERT": Resample(model=FURTHER, order="one_by_one")}
_METHODS = {"IM": "IM_SST2", "LOO_zero": "LOO_zero", "LOO_unk": "LOO_unk", "LOO_empty": "LOO_empty"}
_CLAIMS: Sequence[tuple[str, str, Rule]] = (("Deletion", "LOO_empty", lower), ("Deletion_BERT", "IM", lower))
_TITLE = "Table 1b: the areas of Table 1 with another masked language model"
_LEFT_OUT = "Table 1b was left out: `--size mlm_train=20000` trains the other masked language model that it needs."


def _measure(task: Task) -> Subject:
    found: dict[tuple[str, str], VerdictBuilder] = {}
    for metric, eraser in _METRICS.items():
        task.say(f"{task.title}: {metric}, filled by {FURTHER}")
        check = Deletion(eraser=eraser, variant="released")
        found |= {(metric, name): task.judge(check, task.of_correct(own)) for name, own in _METHODS.items()}
    return judged_subject(task, found)


def _claims(subject: Subject) -> Iterator[Claim]:
    for metric, best, rule in _CLAIMS:
        others = [name for name in _METHODS if name != best]
        yield claim(
            f"{subject.title}: with another masked language model {best} is the best under {metric} (Table 1b)",
            *(_evidence(subject, metric, best, o, rule) for o in others),
            key=f"{metric}_best_1b",
            about=subject.title,
            digits=4,
        )
    yield claim(
        f"{subject.title}: with another masked language model IM is the worst of the four under Deletion (Table 1b)",
        *(_evidence(subject, "Deletion", "IM", o, higher) for o in _METHODS if o != "IM"),
        key="Deletion_worst_1b",
        about=subject.title,
        digits=4,
    )


def _evidence(subject: Subject, metric: str, one: str, other: str, rule: Rule) -> Evidence:
    line = f"{subject.name}, {metric}"
    printed = PAPER.gap("table_1b", (line, one), (line, other))
    return Evidence(f"{one} - {other}", subject.gap((metric, one), (metric, other)), rule, printed)


PART = PartSpec(
    name="table_1b",
    title=_TITLE,
    measure=on_each(_measure),
    wants=is_sst2,
    left_out=lambda tasks: "" if tasks[0].sizes.mlm_train else _LEFT_OUT,
    tables=[
        TableSpec(
            name="table_1b",
            title=_TITLE,
            rows={(metric,): metric for metric in _METRICS},
            columns=tuple(_METHODS),
            layout="rows",
            better="lower",
            digits=4,
        )
    ],
    claims=[_claims],
    published=PAPER,
)
