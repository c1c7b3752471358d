"""Section 4: whether Insertion, Comprehensiveness and Sufficiency have the same bias as Deletion.

The paper says so "in principle" and measures nothing. Each check is run twice, deleting words and replacing them by the
masked language model; the gain of LOO_empty over IM, turned so that more is better, should be smaller when words are
replaced. The difference of the two gains is paired over texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from assay.checks.comprehensiveness import Comprehensiveness
from assay.checks.insertion import Insertion
from assay.checks.sufficiency import Sufficiency
from assay.questions.erasers import Delete, Eraser, Resample
from assay_studies.claims import Claim, Evidence, claim, higher
from assay_studies.double_trouble.deletion_bias import judged_subject
from assay_studies.double_trouble.tasks import PAPER, Task, is_short
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_CHECKS: Mapping[str, tuple[Callable[[Eraser], Any], int]] = {  # and 1 where higher is better, -1 where lower is
    "Insertion": (lambda eraser: Insertion(eraser=eraser), 1),
    "Comprehensiveness": (lambda eraser: Comprehensiveness(eraser=eraser), 1),
    "Sufficiency": (lambda eraser: Sufficiency(eraser=eraser), -1),
}
_WAYS: Mapping[str, Eraser] = {"delete": Delete(), "replace": Resample()}
_METHODS = ("LOO_empty", "IM")
_TITLE = "Section 4: the bias of other checks that take words away"


def _measure(task: Task) -> Subject:
    """What each check gives to both methods in both ways."""
    found = {}
    for name, (make, _) in _CHECKS.items():
        task.say(f"{task.title}: {name}")
        for way, eraser in _WAYS.items():
            for method in _METHODS:
                found[name, way, method] = task.judge(make(eraser), task.of_correct(method))
    return judged_subject(task, found)


def _claims(subject: Subject) -> Iterator[Claim]:
    for name, (_, sign) in _CHECKS.items():
        gains = {way: Values(sign * _gain(subject, name, way)) for way in _WAYS}
        favour = gains["delete"] - gains["replace"]
        yield claim(
            f"{subject.title}: {name} favours the method that takes words away as it does itself (section 4)",
            Evidence("gain of LOO_empty over IM, deleting less replacing", favour, higher),
            digits=4,
            key="variants",
            about=f"{subject.title}, {name}",
        )


def _gain(subject: Subject, check: str, way: str) -> Any:
    return subject.values(check, way, "LOO_empty").columns - subject.values(check, way, "IM").columns


PART = PartSpec(
    name="section_4",
    title=_TITLE,
    measure=on_each(_measure),
    wants=is_short,
    tables=[
        TableSpec(
            name="section_4",
            title=_TITLE,
            rows=tuple(_CHECKS),
            columns={(way, method): f"{method}, {way}" for way in _WAYS for method in _METHODS},
            layout="rows",
            digits=4,
            notes=("Sufficiency: lower is better; the others: higher is better. The paper has no numbers for these.",),
        )
    ],
    claims=[_claims],
    published=PAPER,
)
