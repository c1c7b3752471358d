"""How does it do, and for whom worse? Accuracy by label, by length, and by the columns that the user names.

A group is worse where the upper end of its exact 95 % interval lies below the accuracy of all texts. With many groups
one of them may fall below by chance: at 95 % one in forty.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from assay.explanations.behavior import Behavior, GroupResult
from assay.statistics.exact import Share
from assay.text.example import Example
from assay.workflows.model_audit.asking import AuditContext
from assay.workflows.model_audit.part import AuditPart, listed

QUESTION = "How does it do, and for whom worse?"
_LEAST = 20  # texts that a group needs to be called worse
_HEAD = ("texts", "right", "95 % interval", "of")


def by_group(context: AuditContext) -> AuditPart:
    context.require_labels()
    rows = context.readable
    lengths = _lengths(rows)
    columns = [
        {"label": context.label(row), "length": length, **{c: str(row.extra[c]) for c in context.groups}}
        for row, length in zip(rows, lengths, strict=True)
    ]
    sample = context.sample_of(rows, columns)
    found = [_by(context, sample, name) for name in ("label", "length", *context.groups)]
    return _part(found, [one["label"] for one in columns])


def _by(context: AuditContext, sample: object, column: str) -> Behavior:
    """Accuracy by one column; the model answers each text once for all of them."""
    found: Behavior = context.described("behavioral_probe", sample, groups=(column,), examples=2)
    named = tuple(replace(group, name=f"by {column}", case=group.name) for group in found.groups)
    return found.told(groups=tuple(sorted(named, key=lambda group: group.passed / group.n)))


def _part(found: list[Behavior], labels: list[str]) -> AuditPart:
    groups = found[0].groups
    whole = Share.exact(sum(group.passed for group in groups), sum(group.n for group in groups))
    assert whole.value is not None
    usual = max(labels.count(name) for name in set(labels)) / len(labels)
    worse = [g for one in found for g in one.groups if g.n >= _LEAST and g.share.high < whole.value]
    short = f"{whole.value:.1%} right" + (f", worse for {listed([_named(g) for g in worse[:3]])}" if worse else "")
    sentence = (
        f"{whole.shown()} of {whole.of:,} texts are answered as labelled; the most frequent label alone would be right "
        f"for {usual:.1%}."
    )
    guess = () if whole.low > usual else ("it is no better than always giving the most frequent label",)
    return AuditPart(
        "by_group",
        QUESTION,
        short,
        sentence + _worst(worse),
        good=() if worse or guess else ("no group of texts is answered clearly worse than the others",),
        bad=(*guess, *(f"it is worse for {_named(g)} ({g.passed / g.n:.0%})" for g in worse[:3])),
        head=_HEAD,
        rows=tuple(_row(group) for one in found for group in one.groups[:8]),
        described=tuple(one.told(warnings=()) for one in found),
        titles=tuple(one.groups[0].name for one in found),
    )


def _worst(worse: list[GroupResult]) -> str:
    if not worse:
        return " No group of 20 texts or more lies clearly below that."
    return f" Clearly below that: {listed([f'{_named(g)} with {g.share.shown()} of {g.n}' for g in worse[:5]])}."


def _named(group: GroupResult) -> str:
    return f"{group.name.removeprefix('by ')} {group.case}"


def _row(group: GroupResult) -> tuple[str, ...]:
    share = group.share
    return _named(group), f"{group.passed / group.n:.1%}", f"{share.low:.1%} to {share.high:.1%}", f"{group.n:,}"


def _lengths(rows: list[Example]) -> list[str]:
    """Short, middling and long texts, as many of each as the lengths allow."""
    words = np.array([sum(len(string.split()) for string in row.strings) for row in rows])
    low, high = (int(edge) for edge in np.quantile(words, (1 / 3, 2 / 3), method="lower"))
    names = {0: f"up to {low} words", 1: f"{low + 1} to {high} words", 2: f"more than {high} words"}
    return [names[int(one > low) + int(one > high and high > low)] for one in words]
