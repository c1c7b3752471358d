"""What the paper says of the agreement between attention and measures of importance, and our numbers beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from assay.models.own.attentive.config import EncoderName
from assay.statistics.intervals import Estimate
from assay_studies.attention_is_not_explanation.performance import commonest, performance
from assay_studies.attention_is_not_explanation.tasks import Task
from assay_studies.attention_is_not_explanation.taus import FIGURES, MEAN, more, released, tau_of
from assay_studies.claims import Claim, Evidence, above, below, claim, higher, lower
from assay_studies.rules import Rule
from assay_studies.specification import Subject
from assay_studies.tables import Cell

_WEAK = 0.5  # "hovers around or below 0.5"
_MORE = 0.2  # "on average ... by >0.2"
RULES: Mapping[str, Rule] = {"figure_6": above(_MORE), "figure_7": higher, "figure_8": higher}  # of the means
_PAIR = "attention_gradient"
_REVERSED = {("snli", "figure_6")}  # "The lone exception is on SNLI."


def claims(subject: Subject) -> Iterator[Claim]:
    additive = subject.facts.get("additive", {})
    if "lstm" not in additive:
        return
    base, title = additive["lstm"], subject.title
    yield claim(
        f"{title}: attention and gradients agree only modestly (tau below {_WEAK})",
        _of("tau", tau_of(base, _PAIR), below(_WEAK), base, released(base, _PAIR)),
        key="modest",
        about=title,
    )
    for figure, pair in (("figure_6", "attention_loo"), ("figure_7", "attention_gradient")):
        reverse = (subject.name, figure) in _REVERSED
        yield claim(
            f"{title}: gradients and leave-one-out agree {'worse' if reverse else 'better'} with each other than with "
            f"attention ({FIGURES[figure].title.partition(':')[0]})",
            _of(
                "tau more",
                more(additive, ("gradient_loo", "lstm"), (pair, "lstm")),
                lower if reverse else higher,
                base,
                _beside(subject, figure),
            ),
            key=figure,
            about=title,
        )
    if "average" in additive:
        yield from _average_claims(subject, additive)


def _average_claims(subject: Subject, additive: Mapping[EncoderName, Task]) -> Iterator[Claim]:
    worse = min((additive["lstm"], additive["average"]), key=_margin)
    ways = (("average_gradients", "attention_gradient", "gradients"), ("figure_8", "attention_loo", "leave-one-out"))
    for key, pair, words in ways:
        gain = more(additive, (pair, "average"), (pair, "lstm"))
        yield claim(
            f"{subject.title}: with the average encoder attention agrees better than with the BiLSTM ({words})",
            _of("tau more", gain, higher, worse, _beside(subject, key), additive["lstm"].over),
            key=key,
            about=subject.title,
        )


def mean_claims(subject: Subject) -> Iterator[Claim]:
    """What the captions say of the mean over datasets."""
    if "mean" not in subject.facts:
        return
    for figure, rule in RULES.items():
        cell = subject.measures[figure,]
        assert isinstance(cell, Cell)
        found = Evidence("mean", cell.ours, rule, cell.published, over="texts; the datasets are given")
        yield claim(f"{FIGURES[figure].title}, on average {rule}", found, key=f"mean_{figure}", about=MEAN)


def _of(name: str, found: Estimate | None, rule: Rule, task: Task, published: str, over: str = "") -> Evidence:
    """A number of a model, with how well that learned."""
    learned: dict[str, Any] = {"performance": performance(task), "commonest": commonest(task)}
    return Evidence(name, found, rule, published, over or task.over, **learned)


def _margin(task: Task) -> float:
    found = performance(task)
    return 0.0 if found is None else found.low - commonest(task)


def _beside(subject: Subject, figure: str) -> str:
    cell = subject.measures.get((figure,))
    return cell.published if isinstance(cell, Cell) else ""
