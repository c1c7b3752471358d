"""What breaks it? Words exchanged by gradients, triggers that work on any text, rules of paraphrase: where built in.

Other methods of these rows are asked as soon as they are registered under their names; until then the page says that
they were not asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from assay.errors import AssayError, BadInput
from assay.explanations.base import Explanation
from assay.explanations.edits import Edits
from assay.explanations.reading import Describes
from assay.registry.finding import methods, require, resolve_method
from assay.statistics.exact import Share
from assay.verbs import explain
from assay.workflows.model_audit.asking import AuditContext
from assay.workflows.model_audit.part import AuditPart

QUESTION = "What breaks it?"
_WHOLE = ("universal_triggers", "sear")
_TITLES = {"universal_triggers": "triggers that work on any text", "sear": "rules of paraphrase"}


def attacks(context: AuditContext) -> AuditPart:
    described: list[Explanation] = []
    left_out: list[tuple[str, str]] = []
    edits: list[Edits] = []
    for name in ("hotflip", *_WHOLE):
        try:
            made = _asked(context, name)
            edits += [e for e in made if name == "hotflip" and isinstance(e, Edits)]
            described += [] if name == "hotflip" else made
        except AssayError as error:
            left_out.append((_TITLES.get(name, "exchanged words"), str(error)))
    if not described and not edits:
        raise BadInput("; ".join(f"{what}: {why.rstrip('.')}" for what, why in left_out) + ".")
    return _part(edits, described, left_out)


def _asked(context: AuditContext, name: str) -> list[Any]:
    if name not in methods():
        raise BadInput(f"{name} is not built yet")
    card, made = resolve_method(name)
    require(card, context.model, made)
    texts = context.some(context.sizes.attacked)
    if isinstance(made, Describes):
        rows = context.rows[: len(texts)]
        labels = [{"label": context.label(row)} for row in rows] if context.labelled else None
        return [context.described(name, context.sample_of(rows, labels))]
    found = explain(context.model, texts, name, engine=context.engine, seed=context.seed, progress=context.progress)
    return list(found)


def _part(edits: Sequence[Edits], described: list[Explanation], left_out: list[tuple[str, str]]) -> AuditPart:
    flipped = [e for e in edits if any(edit.flips for edit in e.edits)]
    share = Share.exact(len(flipped), len(edits))
    words = [min(len(edit.operations) for edit in e.edits if edit.flips) for e in flipped]
    part = AuditPart("attacks", QUESTION, "See below", "", described=tuple(described), left_out=tuple(left_out))
    if not edits:
        return part
    few = sum(count == 1 for count in words)
    sentence = f"Exchanging words by their gradients changes the answer to {share.shown()} of {len(edits)} texts"
    sentence += f", with {np.median(words):g} changed in the median; {few} times one word is enough." if words else "."
    easy = Share.exact(few, len(edits))
    fragile = easy.low > 0.5
    return AuditPart(
        part.name,
        QUESTION,
        "One word, for most texts" if fragile else f"{len(flipped)} of {len(edits)} texts can be turned",
        sentence,
        bad=("for most texts one exchanged word turns its answer",) if fragile else (),
        head=("text", "becomes", "words changed"),
        rows=tuple(map(_row, flipped[:5])),
        described=part.described,
        left_out=part.left_out,
    )


def _row(e: Edits) -> tuple[str, ...]:
    best = min((edit for edit in e.edits if edit.flips), key=lambda edit: len(edit.operations))
    whole = e.text.strings[best.edited]
    return f"{e.label}: {whole}", best.text, str(len(best.operations))
