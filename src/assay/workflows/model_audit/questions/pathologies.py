"""Does it answer for the wrong reasons? Texts reduced to nonsense (Feng et al. 2018), and changes without meaning."""

from __future__ import annotations

from typing import Any

import numpy as np

from assay.data.behavior.from_sample import SMALL
from assay.errors import AssayError, BadInput
from assay.explanations.behavior import Behavior
from assay.explanations.edits import Edit, Edits
from assay.questions.gradients import InputGradient
from assay.statistics.intervals import Estimate, estimate
from assay.text.text import TextLike
from assay.verbs import explain
from assay.workflows.model_audit.asking import AuditContext
from assay.workflows.model_audit.part import AuditPart, listed

QUESTION = "Does it answer for the wrong reasons?"
_LITTLE = 0.25  # of the words
_STEADY, _SURE = 0.95, 0.9


def pathologies(context: AuditContext) -> AuditPart:
    context.require_readable()
    left_out: list[tuple[str, str]] = []
    reduced: list[Edits] = []
    changed: Behavior | None = None
    try:
        reduced = _reduced(context)
    except AssayError as error:
        left_out.append(("reduced texts", str(error)))
    try:
        found = context.unlabelled
        changed = found.told(groups=tuple(group for group in found.groups if group.name == SMALL), warnings=())
    except AssayError as error:
        left_out.append(("small changes", str(error)))
    if not reduced and changed is None:
        raise BadInput("; ".join(f"{what}: {why.rstrip('.')}" for what, why in left_out) + ".")
    return _part(reduced, changed, left_out)


def _reduced(context: AuditContext) -> list[Edits]:
    importance = "gradient" if InputGradient in context.model.answers else "leave_one_out"
    texts: list[TextLike] = [row.text for row in context.some(context.sizes.reduced)]
    same: dict[str, Any] = {"engine": context.engine, "seed": context.seed, "progress": context.progress}
    return list(
        explain(context.model, texts, "input_reduction", importance=importance, beam=context.sizes.beam, **same)
    )


def _part(reduced: list[Edits], changed: Behavior | None, left_out: list[tuple[str, str]]) -> AuditPart:
    kept = estimate(np.array([_kept(e) for e in reduced]))
    groups = changed.groups if changed else ()
    shaky = [group.case for group in groups if group.share.high < _STEADY]
    steady = bool(groups) and all(group.share.low >= _SURE for group in groups)
    hollow = kept is not None and not kept.few and kept.high < _LITTLE
    bad = [
        *(["it gives the same answer to a few words that are left of a text"] if hollow else []),
        *([f"changes without meaning turn its answers ({listed(shaky)})"] if shaky else []),
    ]
    clear = (kept is None or kept.low >= _LITTLE) and (steady or not groups)
    return AuditPart(
        "pathologies",
        QUESTION,
        "In part" if bad else "Not as far as was seen" if clear else "Not shown either way",
        " ".join([*_about_reduced(reduced, kept), *_about_changes(changed)]),
        good=("changes without meaning turn fewer than one answer in ten",) if steady and not shaky else (),
        bad=tuple(bad),
        head=("text", "reduced to, with the same answer") if reduced else (),
        rows=tuple((_whole(e), f"{_shortest(e).text} ({_chance(e):.0%} {e.label})") for e in reduced[:5]),
        described=(changed,) if changed else (),
        left_out=tuple(left_out),
        titles=("changes without meaning",) if changed else (),
    )


def _shortest(e: Edits) -> Edit:
    return min(e.edits, key=lambda edit: len(edit.kept))


def _kept(e: Edits) -> float:
    """The share of the words that is left."""
    return len(_shortest(e).kept) / max(1, len(e.text))


def _chance(e: Edits) -> float:
    return float(_shortest(e).prediction.get(e.label, float("nan")))


def _whole(e: Edits) -> str:
    return e.text.strings[_shortest(e).edited]


def _about_reduced(reduced: list[Edits], kept: Estimate | None) -> list[str]:
    if kept is None:
        return []
    sure = float(np.mean([_chance(e) for e in reduced]))
    few = " Too few texts to say more." if kept.few else ""
    return [
        f"Of {len(reduced)} texts {kept.value:.0%} [{kept.low:.0%}, {kept.high:.0%}] of the words are enough for the "
        f"same answer, given with {sure:.0%} on average.{few}"
    ]


def _about_changes(changed: Behavior | None) -> list[str]:
    if changed is None:
        return []
    shown = [f"{g.case} {g.share.shown()} of {g.n}" for g in changed.groups]
    return [f"The answer stays the same after changes without meaning: {'; '.join(shown)}."]
