"""Tables 4 and 5, Figures 5 and 6: models trained to say the same and to look elsewhere.

For each lambda the adversaries' F1 and their mean distance from the base, over seeds (see sweeps): TVD of the answers,
JSD of the attention. A convex curve (JSD across, TVD up) says that attention can be moved far before the answers
follow. Beside the curve, as
in the paper, stand models of other seeds and with uniform attention, and attention sought text by text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from assay.statistics.arrays import Floats, Ints
from assay.statistics.intervals import mean_over_seeds
from assay.text.text import Masks
from assay_studies.attention_is_not_not_explanation.intervals import interval
from assay_studies.attention_is_not_not_explanation.sweeps import least_sure
from assay_studies.attention_is_not_not_explanation.tasks import PAPER, Task
from assay_studies.claims import Claim, Evidence, above, claim, higher
from assay_studies.specification import Key, PartSpec, Quantity, Subject, TableSpec, on_each
from assay_studies.tables import Cell

_COLUMNS = {"F1": "f1", "TVD": "tvd", "JSD": "jsd"}
_ACROSS_AND_UP = {"JSD": "attention JSD", "TVD": "answer TVD"}
_SEEDS, _UNIFORM, _SOUGHT = _MARKS = ("other seeds", "uniform attention", "sought text by text")
_FAR, _NEAR = 0.4, 0.03
_ONE = "texts; the adversaries of the first seed"
_NOTE = "Across: how far attention is moved (at most ln 2 = 0.693). Up: how far the answers follow."
_HALF = "Published TVD are half of the paper's definition, as the released code counts them; ours are the whole."
_FIRST = "By the adversaries and the base of the first seed."


def _measure(task: Task) -> Subject:
    """By lambda, as the published numbers have it, and by class; the best adversary has no lambda in its keys."""
    found, sweeps, n = task.adversaries, task.sweeps, len(task.split.test)
    columns = {"F1": sweeps.f1, "TVD": sweeps.tvd, "JSD": sweeps.jsd}
    best = sweeps.best()
    measures: dict[Key, Quantity] = {
        column: None if best is None else interval(of[best], n) for column, of in columns.items()
    }
    measures["lambda",] = Cell(counted="none" if best is None else f"{best:g}")
    for value in {*sweeps.lambdas, *_published(task.name)}:
        measures |= {(f"{value:g}", column): interval(of.get(value), n) for column, of in columns.items()}
    for label, curve in found.by_class().items():
        for i, value in enumerate(found.lambdas):
            measures |= _distances(f"{value:g}", curve.jsd[i], curve.tvd[i], label)
    measures |= _marked(task, np.ones(len(found.predicted), dtype=bool))
    for i, label in enumerate(found.base.labels):
        if label in found.by_class():
            measures |= _marked(task, found.predicted == i, label)
    verdicts = {f"{v.check}, lambda {v.facts['lambda']:g}": v for v in found.verdicts()}
    return Subject(task.name, task.title, measures, facts={"task": task}, verdicts=verdicts)


def _published(dataset: str) -> list[float]:
    """The lambdas of the paper's Table 5."""
    lines = (line.split(", ") for line in PAPER.lines("table_5"))
    return [float(value) for name, value in lines if name == dataset]


def _distances(name: str, jsd: Floats, tvd: Floats, *label: str) -> dict[Key, Quantity]:
    """Means over texts of how far attention and answers are from the base; of no texts there are none."""
    both = {"JSD": jsd, "TVD": tvd}
    return {
        (name, axis, *label): interval(mean_over_seeds(of), len(of)) if len(of) else None for axis, of in both.items()
    }


def _marked(task: Task, own: Masks, *label: str) -> dict[Key, Quantity]:
    """How far other seeds, uniform attention and sought attention are from the base on a group of texts."""
    measures: dict[Key, Quantity] = {}
    for name, places, jsd, tvd in _marks(task):
        measures |= _distances(name, jsd[own[places]], tvd[own[places]], *label)
    return measures


def _marks(task: Task) -> Iterator[tuple[str, Ints, Floats, Floats]]:
    """Of the tests that are made: the name, the places of its texts, JSD and TVD of each."""
    every, sizes = np.arange(len(task.adversaries.predicted)), task.sizes
    if sizes.test_seeds:
        yield _SEEDS, every, task.seeds.median, task.seeds.tvd.mean(axis=0)
    if sizes.test_uniform:
        yield _UNIFORM, every, task.uniform.jsd.mean(axis=0), task.uniform.tvd.mean(axis=0)
    if sizes.sought:
        yield _SOUGHT, task.sought.places, task.sought.jsd, task.sought.tvd


def _swept(subject: Subject) -> dict[str, str]:
    return {f"{value:g}": f"lambda {value:g}" for value in subject.facts["task"].sweeps.lambdas}


def _points(subject: Subject) -> dict[str, str]:
    """The lambdas of ours and of the paper, and the marks."""
    values = sorted({*subject.facts["task"].adversaries.lambdas, *_published(subject.name)})
    return {**_labels(values), **dict(zip(_MARKS, _MARKS, strict=True))}


def _class_points(subject: Subject) -> dict[str, str]:
    return {**_labels(subject.facts["task"].adversaries.lambdas), **dict(zip(_MARKS, _MARKS, strict=True))}


def _class_columns(subject: Subject) -> dict[tuple[str, str], str]:
    classes = subject.facts["task"].adversaries.by_class()
    return {(axis, label): f"{words}, predicted {label}" for label in classes for axis, words in _ACROSS_AND_UP.items()}


def _labels(values: Sequence[float]) -> dict[str, str]:
    return {f"{value:g}": f"λ {_short(value)}" for value in values}


def _short(value: float) -> str:
    """A lambda as the paper writes it: 5.25e-4, 0.001."""
    if not 0 < value < 1e-3:
        return f"{value:g}"
    return f"{value:.2e}".replace(".00e", "e").replace("0e", "e").replace("e-0", "e-")


def _claims(subject: Subject) -> Iterator[Claim]:
    task: Task = subject.facts["task"]
    n, sweeps = len(task.split.test), task.sweeps
    over = f"{sweeps.over}{task.stopped_early}"
    yield _elsewhere(subject.title, task)
    weak = () if (least := sweeps.weakest()) is None else ((f"without λ {_short(least[0])}", least[1]),)
    yield claim(
        f"{subject.title}: the curve of TVD over JSD is convex, whichever adversary is left out",
        Evidence("bend", interval(sweeps.bend, n), higher, over=over),
        *(Evidence(name, interval(found, n), higher, over=over) for name, found in weak),
        key="convex",
        about=subject.title,
        reach="alike",
    )
    if task.sizes.sought:
        yield _sought(subject.title, task)


def _sought(title: str, task: Task) -> Claim:
    """Against the curve of the adversaries that learned, and against the same without any one of them."""
    curve, learned = task.adversaries.curve, task.sweeps.learned
    found = [Evidence("TVD less", task.sought.below(curve, learned) if learned else None, higher, over=_ONE)]
    if len(learned) > 2:
        rest = {task.sweeps.lambdas[i]: task.sought.below(curve, [j for j in learned if j != i]) for i in learned}
        value, weak = least_sure(rest, found[0].estimate)
        found.append(Evidence(f"without λ {_short(value)}", weak, higher, over=_ONE))
    text = f"{title}: attention sought text by text moves answers less than a model trained to look as far away"
    return claim(text, *found, key="sought", about=title, reach="alike")


def _elsewhere(title: str, task: Task) -> Claim:
    """Of the adversaries that surely look elsewhere one is enough, corrected for how many there are."""
    sweeps, found = task.sweeps, []
    for place, value in enumerate(sweeps.lambdas):
        if sweeps.jsd[value].low > _FAR:
            gap = interval(sweeps.f1_less_base(place), len(task.split.test))
            name, published = f"λ {_short(value)}, F1 less the base's", _published_gap(task.name, value)
            found.append(Evidence(name, gap, above(-_NEAR), published, over=f"{sweeps.over}{task.stopped_early}"))
    text = f"{title}: adversaries can be trained that look elsewhere (JSD > {_FAR}) and do as well (F1 within {_NEAR})"
    return claim(text, *found, key="elsewhere", about=title, reach="any")


def _published_gap(dataset: str, value: float) -> str:
    """The F1 of the paper's adversary less that of its base."""
    one = PAPER.find("table_5", f"{dataset}, {value:g}", "F1")
    base = PAPER.find("table_2", dataset, "learned attention")
    return f"{one.value - base.value:.3f}" if one and base else ""


PART = PartSpec(
    name="tables_4_and_5",
    title="Can a model say the same and look elsewhere?",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="table_4",
            title="Table 4: the adversary of best F1 among those with a mean JSD above 0.4",
            columns=("lambda", *_COLUMNS),
            layout="rows",
            notes=(_HALF,),
            drawn="not",
        ),
        TableSpec(
            name="table_5_{name}",
            title="Table 5, {title}: adversaries",
            rows=_swept,
            columns=tuple(_COLUMNS),
            layout="tables",
            notes=(_HALF,),
            published="table_5",
        ),
        TableSpec(
            name="figure_5_{name}",
            title="Figure 5, {title}: distance from the base as lambda goes",
            rows=_points,
            columns=_ACROSS_AND_UP,
            layout="tables",
            notes=(_NOTE, _HALF),
            published="table_5",
            drawn="curves",
            marks=_MARKS,
        ),
        TableSpec(
            name="figure_6_{name}",
            title="Figure 6, {title}: the same by predicted class",
            rows=_class_points,
            columns=_class_columns,
            layout="tables",
            notes=(_NOTE, _FIRST),
            drawn="curves",
            marks=_MARKS,
        ),
    ],
    claims=[_claims],
    published=PAPER,
)
