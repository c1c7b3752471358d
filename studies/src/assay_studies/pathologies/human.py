"""Tables 1 and 3: can people answer from reduced texts, and do they prefer them to random ones?

The answers come from a study with people (`assay people`). The paper's numbers are not in the text that we have, only
what it says of them: accuracy falls significantly on all tasks, and the preference is almost fifty-fifty (Table 1);
after fine-tuning people prefer the reduced texts (Table 3). For answers in people's own words the share of right ones
is given, where the paper has F1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from assay.statistics.exact import Share
from assay.statistics.intervals import Estimate
from assay.workflows.people.results import ALL, Line, Scores
from assay_studies.claims import Claim, above, below
from assay_studies.pathologies import people
from assay_studies.pathologies.tasks import PAPER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec

_LEVEL = 0.05
_COLUMNS = {"original": "Original", "reduced": "Reduced", "preferred": "vs. Random"}


def subject(title: str, scores: Scores) -> Subject:
    """What people answered to one task, for each label and for all."""
    measures = {
        (*_group(line), column): _estimate(getattr(line, column)) for line in scores.lines for column in _COLUMNS
    }
    return Subject(title, title, measures, facts={"overall": scores.overall})


def _group(line: Line) -> tuple[str, ...]:
    return () if line.label == ALL else (line.label,)


def _estimate(share: Share) -> Estimate | None:
    if share.value is None:
        return None
    return Estimate(100 * share.value, 100 * share.low, 100 * share.high, share.of)


def _table_1(subject: Subject) -> Iterator[Claim]:
    title, line = subject.title, subject.facts["overall"]
    yield Claim(
        f"{title}: people are right less often on reduced texts than on whole ones (Table 1)",
        _lower(line),
        f"{line.reduced.shown()} against {line.original.shown()}, {_p(line.p_accuracy)}",
    )
    yield Claim(
        f"{title}: there is no evidence that people prefer reduced texts to random ones (Table 1)",
        below(0.5)(_in_shares(line.preferred)),
        f"{line.preferred.shown()}, {_p(line.p_preferred)}",
    )


def _table_3(subject: Subject) -> Iterator[Claim]:
    title, line = subject.title, subject.facts["overall"]
    yield Claim(
        f"{title}: after fine-tuning people prefer reduced texts to random ones (Table 3)",
        above(0.5)(_in_shares(line.preferred)),
        f"{line.preferred.shown()}, {_p(line.p_preferred)}",
    )


def _lower(line: Line) -> bool | None:
    if line.p_accuracy is None or line.p_accuracy >= _LEVEL:
        return None
    return (line.reduced.value or 0) < (line.original.value or 0)


def _in_shares(share: Share) -> Estimate | None:
    return None if share.value is None else Estimate(share.value, share.low, share.high, share.of)


def _p(value: float | None) -> str:
    return "not tested" if value is None else f"p = {value:.3g}"


def _part(name: str, title: str, claims: Callable[[Subject], Iterator[Claim]], *, after: bool) -> PartSpec[Task]:
    """The table of all tasks whose answers are there: of the models as they were, or `after` mending."""

    def scores(tasks: Sequence[Task]) -> Mapping[str, Scores]:
        return people.scores(tasks[0].store.out, after=after)

    def warnings(tasks: Sequence[Task]) -> Iterator[str]:
        return (f"{task}: {warning}" for task, of in scores(tasks).items() for warning in of.warnings)

    table = TableSpec(
        name=name,
        title=f"{title}, per cent",
        rows=lambda subject: {key[:-1]: ", ".join(key[:-1]) for key in subject.measures},
        columns=_COLUMNS,
        layout="rows",
        digits=1,
        notes=("Intervals are exact.",),
    )
    return PartSpec(
        name=name,
        title=title,
        measure=lambda tasks: (subject(task, of) for task, of in scores(tasks).items()),
        tables=[table],
        claims=[claims],
        notes=warnings,
        published=PAPER,
    )


TABLE_1 = _part("table_1", "Table 1: people and reduced texts", _table_1, after=False)
TABLE_3 = _part("table_3", "Table 3: the same after fine-tuning", _table_3, after=True)
