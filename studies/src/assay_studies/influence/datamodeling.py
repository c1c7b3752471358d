"""Whether scores foretell models of random halves of the training set, and whether methods agree with each other.

Of the bag of words alone: its optimum has no noise. Of an encoder a half is trained many times, side by side:
`benchmarks/influence_lds.py`.

The checks `linear_datamodeling` (Park et al. 2023, section 4, arXiv:2303.14186) and `exact_retraining` (Koh and Liang
2017, section 4.2). Agreement is the rank correlation of the scores of two methods
over the training texts, one number for each explained text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np

import assay
from assay.checks.exact_retraining import ExactRetraining
from assay.checks.linear_datamodeling import LinearDatamodeling
from assay.engine.engine import Engine
from assay.explanations.examples import Examples
from assay.statistics.ranks import spearman
from assay.verdicts.judge import judge
from assay_studies.claims import Claim, Evidence, above, claim, higher
from assay_studies.influence.tasks import PAPER, TITLES, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_PAIRS = {("alike", *pair): f"{TITLES[pair[0]]}; {TITLES[pair[1]]}" for pair in combinations(TITLES, 2)}
_SCORES = {("lds", key): title for key, title in TITLES.items()}
_LEFT = {("left_out", key): title for key, title in TITLES.items()}
_TITLE = "Models of random halves, foretold by summed scores"
_EXACT = 0.9  # rank correlation with leaving out


def _measure(task: Task) -> Subject:
    """Random halves, and leaving out one by one."""
    task.request.say(f"{task.title}: models of random halves")
    sizes = task.sizes
    check = LinearDatamodeling(recipe=task.recipe(), subsets=sizes.subsets)
    measures, verdicts = _checked(task, sizes.rows, "lds", check)
    exact, more = _checked(task, sizes.left_out, "left_out", ExactRetraining(recipe=task.recipe()))
    measures |= {key: values for key, values in exact.items() if key[0] != "alike"}
    verdicts |= more
    return Subject(task.name, task.title, measures, verdicts=verdicts)


def _checked(task: Task, rows: int, what: str, check: Any) -> tuple[dict[Any, Values], dict[str, Any]]:
    """Of each method what the check says of it, and how alike the scores of two methods are."""
    sample = task.sample(rows, "training texts")
    engine, texts = task.trained(sample), task.queries(task.sizes.queries)
    measures: dict[Any, Values] = {}
    verdicts, scores = {}, {}
    for key, (name, settings) in task.kind.methods.items():
        found = _explained(engine, texts, name, {**settings, "train": sample}, task.request.progress)
        (verdict,) = judge(engine, found, [check], draws=5, progress=task.request.progress)
        measures[what, key] = Values(verdict.scores)
        verdicts[f"{verdict.check.replace('_', ' ')}, {TITLES[key]}"] = verdict
        scores[key] = [e.scores for e in found]
    for one, two in combinations(scores, 2):
        alike = [spearman(a, b) for a, b in zip(scores[one], scores[two], strict=True)]
        measures["alike", one, two] = Values(np.array(alike))
    return measures, verdicts


def _explained(
    engine: Engine, texts: Sequence[Any], name: str, settings: dict[str, Any], progress: bool | None
) -> list[Examples]:
    found: list[Examples] = assay.explain(None, list(texts), name, engine=engine, progress=progress, **settings)
    return found


def _claims(subject: Subject) -> Iterator[Claim]:
    for key, title in TITLES.items():
        if ("lds", key) in subject:
            yield claim(
                f"{subject.title}: {title} foretells models of random halves",
                Evidence("rank correlation", subject.estimate("lds", key), higher),
                key=f"{key}_foretells",
                about=subject.title,
            )
        if ("left_out", key) in subject:
            yield claim(
                f"{subject.title}: {title} says what leaving a text out does",
                Evidence("rank correlation", subject.estimate("left_out", key), above(_EXACT)),
                key=f"{key}_exact",
                about=subject.title,
            )
    yield claim(
        f"{subject.title}: influence functions foretell more than TracIn",
        Evidence("rank correlation, more than TracIn", subject.gap(("lds", "influence"), ("lds", "tracin")), higher),
        key="influence_beats_tracin",
        about=subject.title,
    )


PART = PartSpec(
    name="datamodeling",
    title=_TITLE,
    measure=on_each(_measure),
    tables=[
        TableSpec(name="datamodeling", title=_TITLE, rows=_SCORES, better="higher", digits=2),
        TableSpec(name="left_out", title="Texts left out one by one", rows=_LEFT, better="higher", digits=2),
        TableSpec(name="alike", title="Rank correlation of the scores of two methods", rows=_PAIRS, digits=2),
    ],
    claims=[_claims],
    published=PAPER,
    wants=lambda task: task.name == "bag",  # of others a half says little before it was trained on many times
)
