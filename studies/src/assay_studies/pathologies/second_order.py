"""Section 3.2, Figures 5 and 6: heat maps shift although only unimportant words go.

    tau_t = how alike the maps before and after step t order the words that remain in both

By the paper a map "shifts drastically" while words of least importance are removed; it shows this on examples, without
numbers. Here all steps of all texts count, by the maps that the search itself went by (the gradient; Figure 6 of the
paper has leave-one-out). A text counts once, by the mean over its steps; steps that leave fewer than two words, or a
map without order, leave nothing to compare. A linear model has tau 1 throughout and never another first word.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from assay.explanations.edits import Edit, Edits
from assay.statistics.arrays import Floats
from assay.views import page
from assay_studies.claims import Claim, Evidence, claim, higher
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.tasks import PAPER, Task
from assay_studies.specification import PartSpec, Subject, TableSpec, Values, on_each

_STEADY = 1e-5  # differences below this share of the largest may be rounding inside the model
_LONG = 200  # signs of a context that are shown
PATHS = "paths.html"
_TAUS = {"kendall": "Kendall's tau", "spearman": "Spearman's rho"}
_SHARES = {
    "changed": "per cent of the steps after which another word is the most important",
    "chance": "the same if maps had nothing to do with each other",
    "toppled": "per cent of the steps after which the most important word is the least important",
    "ever": "per cent of the texts with another most important word at some step",
}
_NOTE = "The paper has no numbers for this; that more than half of the texts is much is our reading of “drastically”."


@dataclass(frozen=True)
class Shift:
    """Of one text: mean correlations (None where no step has one), and shares of its steps in per cent."""

    kendall: float | None
    spearman: float | None
    changed: float
    chance: float
    toppled: float
    ever: float


def shift(e: Edits) -> Shift | None:
    """None where no step leaves two words to compare."""
    steps = [(_fate(*pair), 1 - 1 / len(pair[1])) for pair in pairs(e)]
    if not steps:
        return None
    changed, toppled = (100 * float(np.mean([fate[i] for fate, _ in steps])) for i in (0, 1))
    chance = 100 * float(np.mean([chance for _, chance in steps]))
    kendall, spearman = (e.facts.get(f"mean_{name}") for name in _TAUS)
    return Shift(kendall, spearman, changed, chance, toppled, 100.0 * (changed > 0))


def pairs(e: Edits) -> Iterator[tuple[Floats, Floats]]:
    """The map before and the map after each step, both on the words that remain; two of them at least."""
    maps = e.facts.get("heat_maps", ())
    for longer, shorter, before, after in zip(e.edits, e.edits[1:], maps, maps[1:], strict=False):
        if before is not None and after is not None and len(after) > 1:
            yield np.array(before)[np.isin(longer.kept, shorter.kept)], np.array(after)


def _fate(before: Floats, after: Floats) -> tuple[bool, bool]:
    """Whether the most important word before is no longer that, and whether it is even the least important one."""
    slack = _STEADY * float(np.abs(after).max())
    first = after[before >= before.max() - _STEADY * np.abs(before).max()].max()  # the best of those that tie
    changed = bool(first < after.max() - slack)
    return changed, changed and bool(first <= after.min() + slack)


def subject(task: Reduced) -> Subject:
    """Correlations from step to step, and how often the most important word is another one."""
    found = [one for one in map(shift, task.edits) if one is not None]
    return Subject(task.name, task.title, {name: Values(_known(found, name)) for name in (*_TAUS, *_SHARES)})


def _known(found: Sequence[Shift], name: str) -> Floats:
    values = [getattr(one, name) for one in found]
    return np.array([value for value in values if value is not None], dtype=np.float64)


def _claims(subject: Subject) -> Iterator[Claim]:
    most = Values(subject.values("ever").columns / 100 - 0.5).estimate()
    yield claim(
        f"{subject.title}: heat maps shift though unimportant words go (section 3.2): in more than half of the texts "
        "the most important word becomes another one",
        Evidence("share of the texts less one half", most, higher),
        Evidence("mean Kendall's tau from step to step", subject.estimate("kendall")),
        key="shifts",
        about=subject.title,
    )


def notes(listed: Iterable[Reduced]) -> Iterator[str]:
    """What the paper lacks, and a path for each task."""
    yield _NOTE
    for task in listed:
        yield from _path(task)


def ordinary(task: Reduced) -> Edits | None:
    """The text with the middle correlation among those with several steps: an example that nobody picked."""
    known = [e for e in task.edits if e.facts.get("mean_kendall") is not None and len(e.edits) > 3]
    ranked = sorted(known, key=lambda e: float(e.facts["mean_kendall"]))
    return ranked[len(ranked) // 2] if ranked else None


def _path(task: Reduced) -> Iterator[str]:
    """As Figure 5: how sure the model is, and the words; the one that goes next stands in brackets."""
    e = ordinary(task)
    if e is None:
        return
    beside = [f"{field.name}: {field.string[:_LONG]}" for field in e.text.read.fields if field.name not in e.text.focus]
    yield "; ".join([f"{task.title}, the text with the middle correlation ({e.label})", *beside])
    for edit, after in zip(e.edits, [*e.edits[1:], None], strict=True):
        yield f"{edit.prediction[e.label]:.2f}  {' '.join(_bracketed(e, edit, after))}"


def _bracketed(e: Edits, edit: Edit, after: Edit | None) -> Iterator[str]:
    for i in edit.kept:
        goes = after is not None and i not in after.kept
        yield f"[{e.words[i]}]" if goes else e.words[i]


def _measure(task: Task) -> Subject:
    return subject(task.reduced)


def _with_page(tasks: Sequence[Task]) -> list[str]:
    """The paths that the report shows also stand with shaded words on a page of their own."""
    shown = [e for e in (ordinary(task.reduced) for task in tasks) if e is not None]
    if shown:
        store = tasks[0].store
        store.write(store.out / PATHS, page(shown).encode())
    return list(notes(task.reduced for task in tasks))


PART = PartSpec(
    name="second_order",
    title="Section 3.2: second-order sensitivity (Figures 5 and 6)",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="second_order_correlation", title="Heat maps from one step to the next: rank correlation", rows=_TAUS
        ),
        TableSpec(
            name="second_order_words",
            title="Heat maps from one step to the next: the most important word",
            rows=_SHARES,
            digits=1,
        ),
    ],
    claims=[_claims],
    notes=_with_page,
    published=PAPER,
)
