"""What breaks it? Words exchanged by gradients, triggers that work on any text, rules of paraphrase: where built in.

Other methods of these rows are asked as soon as they are registered under their names; until then the page says that
they were not asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from assay.errors import AssayError, BadInput
from assay.explanations.base import Explanation
from assay.explanations.edits import Edits
from assay.explanations.reading import Describes
from assay.explanations.rules import Rules
from assay.explanations.triggers import Triggers
from assay.registry.finding import methods, require, resolve_method
from assay.statistics.exact import Share
from assay.verbs import explain
from assay.views import change_rules, triggers
from assay.views.say import counted
from assay.workflows.model_audit.asking import AuditContext
from assay.workflows.model_audit.part import AuditPart, listed

QUESTION = "What breaks it?"
_WHOLE = ("universal_triggers", "sear")
_TITLES = {
    "hotflip": "exchanged words",
    "universal_triggers": "triggers that work on any text",
    "sear": "rules of paraphrase",
}


def attacks(context: AuditContext) -> AuditPart:
    context.require_readable()
    described: dict[str, Explanation] = {}
    left_out: list[tuple[str, str]] = []
    edits: list[Edits] = []
    for name in ("hotflip", *_WHOLE):
        try:
            made = _asked(context, name)
            edits += [e for e in made if isinstance(e, Edits)]
            described.update((_TITLES[name], e) for e in made if not isinstance(e, Edits))
        except AssayError as error:
            left_out.append((_TITLES[name], str(error)))
    if not described and not edits:
        raise BadInput("; ".join(f"{what}: {why.rstrip('.')}" for what, why in left_out) + ".")
    return _part(edits, described, left_out)


def _asked(context: AuditContext, name: str) -> list[Any]:
    if name not in methods():
        raise BadInput(f"{name} is not built yet")
    card, made = resolve_method(name)
    require(card, context.model, made)
    rows = context.some(context.sizes.attacked)
    if isinstance(made, Describes):
        labels = [{"label": context.label(row)} for row in rows] if context.labelled else None
        return [context.described(name, context.sample_of(rows, labels))]
    same: dict[str, Any] = {"engine": context.engine, "seed": context.seed, "progress": context.progress}
    return list(explain(context.model, [row.text for row in rows], name, **same))


def _part(edits: Sequence[Edits], described: dict[str, Explanation], left_out: list[tuple[str, str]]) -> AuditPart:
    flipped = [e for e in edits if any(edit.flips for edit in e.edits)]
    words = [min(len(edit.operations) for edit in e.edits if edit.flips) for e in flipped]
    fragile = Share.exact(sum(count == 1 for count in words), len(edits)).low > 0.5
    many = "One word, for most texts" if fragile else f"{len(flipped)} of {len(edits)} texts can be turned"
    return AuditPart(
        "attacks",
        QUESTION,
        many if edits else _found(described.values()),
        " ".join([*_about_words(edits, words), *map(_about, described.values())]),
        bad=("for most texts one exchanged word turns its answer",) if fragile else (),
        head=("text", "becomes", "changed") if edits else (),
        rows=tuple(map(_row, flipped[:5])),
        described=tuple(described.values()),
        left_out=tuple(left_out),
        titles=tuple(described),
    )


def _about_words(edits: Sequence[Edits], words: list[int]) -> Iterator[str]:
    """How many texts are turned by exchanged words, and how many words it takes."""
    if not edits:
        return
    share = Share.exact(len(words), len(edits))
    said = f"Exchanging words by their gradients changes the answer to {share.shown()} of {len(edits)} texts"
    one = sum(count == 1 for count in words)
    yield said + (
        f", with {np.median(words):g} changed in the median; {one} times one word is enough." if words else "."
    )


def _found(described: Iterable[Explanation]) -> str:
    """The short answer where no words were exchanged one by one."""
    rules = sum(len(e.rules) for e in described if isinstance(e, Rules))
    found = sum(len(e.triggers) for e in described if isinstance(e, Triggers))
    made = [counted(count, what) for count, what in ((found, "trigger"), (rules, "rule")) if count]
    return f"Found: {listed(made)}" if made else "Nothing was found"


def _about(e: Explanation) -> str:
    return triggers.sentence(e) if isinstance(e, Triggers) else change_rules.sentence(e) if isinstance(e, Rules) else ""


def _row(e: Edits) -> tuple[str, ...]:
    best = min((edit for edit in e.edits if edit.flips), key=lambda edit: len(edit.operations))
    whole = e.text.strings[best.edited]
    return f"{e.label}: {whole}", best.text, counted(len(best.operations), "word")
