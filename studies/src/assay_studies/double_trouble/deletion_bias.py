"""Table 1: Deletion prefers the method that deletes, Deletion_BERT the one that replaces.

Areas as in the released code (variant="released"), on right predictions only; under each the same area by the paper's
own words, with the start and up to 20 % of the words. Deletion_BERT takes one word after the other and fills it by the
likeliest other word, the earlier ones staying, as the released code does; beside it all that are gone are filled at
once. The paper does not have MultiRC here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from assay.checks.deletion import Deletion
from assay.questions.erasers import Delete, Eraser, Resample
from assay.statistics.curves import Variant
from assay.statistics.intervals import Estimate
from assay.verdicts.concluding import VerdictBuilder
from assay_studies.claims import Claim, Evidence, claim, higher, lower
from assay_studies.double_trouble.methods import COMPARED, wanted
from assay_studies.double_trouble.tasks import PAPER, Task
from assay_studies.rules import Rule
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

Areas: TypeAlias = dict[str, VerdictBuilder]
METRICS: Mapping[str, Eraser] = {"Deletion": Delete(), "Deletion_BERT": Resample(order="one_by_one")}
_ALL: Mapping[str, Eraser] = {**METRICS, "Deletion_BERT, all at once": Resample()}
_EXTREMES: Sequence[tuple[str, str, Rule, str]] = (
    ("Deletion", "LOO_empty", lower, "best of IM and the three LOO"),
    ("Deletion", "IM", higher, "worst of the four"),
    ("Deletion_BERT", "IM", lower, "best of the four"),
)
_WHOLE = "whole curve"
_TITLE = "Table 1: area under the probability as words go"


def areas(task: Task, methods: Iterable[str], metric: str, variant: Variant = "released") -> Areas:
    """For each method the area of every text that is predicted right, and the verdict of them."""
    task.say(f"{task.title}: {metric}")
    check = Deletion(eraser=_ALL[metric], variant=variant)
    return {name: task.judge(check, task.of_correct(name)) for name in methods}


def judged_subject(task: Task, found: Mapping[Any, VerdictBuilder], **more: Any) -> Subject:
    """What was measured on each text, and the verdict of it, by their keys."""
    measures = {key: Values(np.array(one.scores)) for key, one in found.items()}
    verdicts = {", ".join(key): one.verdict() for key, one in found.items()}
    return Subject(task.name, task.title, measures, verdicts=verdicts, **more)


def _measure(task: Task) -> Subject:
    methods = wanted(task.name)
    released = {(metric, name): of for metric in _ALL for name, of in areas(task, methods, metric).items()}
    whole = {
        (metric, _WHOLE, name): of for metric in _ALL for name, of in areas(task, methods, metric, "paper").items()
    }
    return judged_subject(task, {**released, **whole})


def _claims(subject: Subject) -> Iterator[Claim]:
    known = PAPER.find("table_1", f"{subject.name}, Deletion", "IM") is not None
    for metric, method, rule, words in _EXTREMES if known else ():
        others = [name for name in COMPARED if name != method]
        gaps = (Evidence(f"{method} - {o}", *_gap(subject, metric, method, o, rule)) for o in others)
        text = f"{subject.title}: under {metric} {method} is the {words} (Table 1)"
        yield claim(text, *gaps, **_of(subject, f"{metric}_{words.split()[0]}"))
    where = "section 4" if known else "section 4, which does not measure it here"
    yield claim(
        f"{subject.title}: the order of IM and LOO_empty turns around between Deletion and Deletion_BERT ({where})",
        *(
            Evidence(f"IM - LOO_empty under {metric}", *_gap(subject, metric, "IM", "LOO_empty", rule))
            for metric, rule in (("Deletion", higher), ("Deletion_BERT", lower))
        ),
        **_of(subject, "turns"),
    )


def _gap(subject: Subject, metric: str, one: str, other: str, rule: Rule) -> tuple[Estimate | None, Rule, str]:
    """Ours, the rule, and the difference of the published areas."""
    line = f"{subject.name}, {metric}"
    return subject.gap((metric, one), (metric, other)), rule, PAPER.gap("table_1", (line, one), (line, other))


def _of(subject: Subject, key: str) -> dict[str, Any]:
    return {"key": key, "about": subject.title, "digits": 4}


PART = PartSpec(
    name="table_1",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="table_1",
            title=_TITLE,
            rows={key: ", ".join(key) for metric in _ALL for key in ((metric,), (metric, _WHOLE))},
            columns=wanted("sst2"),
            layout="rows",
            better="lower",
            digits=4,
            notes=("Areas of the released code leave out the start; they depend on the length of a text.",),
        )
    ],
    claims=[_claims],
    published=PAPER,
)
