"""Section 14.1: which heuristics a model of entailment follows (HANS), and whether it reads the order of words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from assay.statistics.arrays import Floats
from assay_studies.claims import Claim, Evidence, above, below, claim, within
from assay_studies.rationales.questions import DATASETS, Question
from assay_studies.samples import spread
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each
from assay_studies.whole_model.tasks import SURVEY, Task, only, reason, share

HEURISTICS = ("lexical overlap", "subsequence", "constituent")
LABELS = ("entailment", "non-entailment")
_BERT = {"lexical overlap": "17%", "subsequence": "5%", "constituent": "17%"}  # the survey's Table 3
_CHANCE, _NEARLY, _LITTLE = 0.5, 0.9, 0.05


def _measure(task: Task) -> Subject:
    found = task.describe("behavioral_probe", suite=f"hans:{task.file()}", most=task.sizes.hans, examples=0)
    groups = found.by_name
    measures = {
        (heuristic, label): share(groups[f"{heuristic}: {label}"].passed, groups[f"{heuristic}: {label}"].n)
        for heuristic in HEURISTICS
        for label in LABELS
        if f"{heuristic}: {label}" in groups
    }
    return Subject(task.name, task.title, measures)


def _claims(subject: Subject) -> Iterator[Claim]:
    for heuristic in HEURISTICS:
        yield claim(
            f"{subject.title}: where {heuristic} misleads, the model is wrong more often than right (14.1)",
            Evidence(
                "accuracy where the heuristic misleads",
                subject.estimate(heuristic, LABELS[1]),
                below(_CHANCE),
                published=_BERT[heuristic],
            ),
            key="heuristics",
            about=heuristic,
        )
        yield claim(
            f"{subject.title}: where {heuristic} leads right, the model is nearly always right",
            Evidence("accuracy where it leads right", subject.estimate(heuristic, LABELS[0]), above(_NEARLY)),
            key="entailed",
            about=heuristic,
        )


PART = PartSpec(
    name="heuristics",
    title="HANS: accuracy by heuristic",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="hans",
            title="HANS: accuracy by heuristic",
            rows=HEURISTICS,
            columns={LABELS[0]: "entailment", LABELS[1]: "non-entailment"},
            layout="tables",
            better="higher",
            drawn="columns",
        )
    ],
    claims=[_claims],
    published=SURVEY,
    wants=only("heuristics"),
    left_out=reason,
)


def _shuffled(task: Task) -> Subject:
    rows = spread(list(DATASETS["esnli"].read(task.request)), task.sizes.shuffled)
    rng = np.random.default_rng(0)
    task.request.say(f"{task.title}: {len(rows):,} pairs")
    versions = {
        "as it is": [one.text for one in rows],
        "hypothesis shuffled": [_mixed(one, ("hypothesis",), rng) for one in rows],
        "both shuffled": [_mixed(one, ("premise", "hypothesis"), rng) for one in rows],
    }
    measures = {name: Values(_right(task, texts, rows)) for name, texts in versions.items()}
    return Subject(task.name, task.title, measures)


def _mixed(question: Question, fields: tuple[str, ...], rng: np.random.Generator) -> Any:
    """The same pair with the words of these fields in a random order."""
    assert isinstance(question.text, dict)
    return {name: _order(text, rng) if name in fields else text for name, text in question.text.items()}


def _order(text: str, rng: np.random.Generator) -> str:
    words = text.rstrip(".").split()
    return " ".join(words[i] for i in rng.permutation(len(words)).tolist())


def _right(task: Task, texts: list[Any], rows: list[Question]) -> Floats:
    """Where the model says the right label."""
    said = task.model.predict(texts).argmax(axis=1)
    return np.array(
        [task.model.labels[i].lower() == one.choices[one.answer] for i, one in zip(said, rows, strict=True)], float
    )


def _order_claims(subject: Subject) -> Iterator[Claim]:
    for version in ("hypothesis shuffled", "both shuffled"):
        yield claim(
            f"{subject.title}: shuffling words does not change the accuracy much (14.1)",
            Evidence("accuracy lost", subject.gap("as it is", version), within(_LITTLE)),
            Evidence("accuracy left", subject.estimate(version)),
            key="shuffled",
            about=version,
        )


SHUFFLED = PartSpec(
    name="shuffled",
    title="Words in a random order",
    measure=on_each(_shuffled),
    tables=[
        TableSpec(
            name="shuffled",
            title="Accuracy with the words in a random order",
            rows=("as it is", "hypothesis shuffled", "both shuffled"),
            better="higher",
            drawn="columns",
        )
    ],
    claims=[_order_claims],
    published=SURVEY,
    wants=only("shuffled"),
    left_out=reason,
)
