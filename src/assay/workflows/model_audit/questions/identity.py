"""Who is the model? What was found out when it was loaded, and which methods it can answer."""

from __future__ import annotations

from collections import Counter

from assay.registry.finding import methods
from assay.workflows.model_audit.asking import AuditContext
from assay.workflows.model_audit.part import AuditPart, listed

QUESTION = "Who is the model?"


def identity(context: AuditContext) -> AuditPart:
    model = context.model
    works = [name for name, card in methods().items() if set(card.needs) <= set(model.answers)]
    not_asked = [name for name in methods() if name not in works]
    rows = [
        ("reads", listed(model.fields)),
        ("answers with", _answers(context)),
        *(("found", fact) for fact in (*model.facts, *model.warnings)),
        ("methods that can ask it", f"{len(works)} of {len(methods())}"),
        *((("methods that cannot", ", ".join(not_asked)),) if not_asked else ()),
        *_sample(context),
    ]
    return AuditPart(
        "identity",
        QUESTION,
        model.name,
        f"It reads {listed(model.fields)}; {len(works)} of the {len(methods())} methods can ask it what they need.",
        head=("", ""),
        rows=tuple(rows),
    )


def _answers(context: AuditContext) -> str:
    """Its labels; of a language model they only stand for a word that is asked about, and all others."""
    model = context.model
    asked = {"word", "continuation"} & set(model.fields)
    if asked:
        return f"the likelihood of a {asked.pop()}"
    return ", ".join(model.labels) if len(model.labels) <= 20 else f"{len(model.labels)} labels"


def _sample(context: AuditContext) -> list[tuple[str, str]]:
    """What the texts are that everything below rests on."""
    lengths = sorted(sum(len(string.split()) for string in row.strings) for row in context.rows)
    if not lengths:
        return []
    drawn = f"{len(lengths):,} of {len(context.sample):,} in {context.sample.name}"
    found = [("texts", f"{drawn}, drawn by the seed" if len(lengths) < len(context.sample) else f"all {drawn}")]
    if context.unread:
        found.append(("cannot be read", f"{len(context.unread):,} of them; the first: {context.unread[0]}"))
    found.append(("their words", f"{lengths[0]} to {lengths[-1]}, median {lengths[len(lengths) // 2]}"))
    if context.labelled:
        counts = Counter(context.label(row) for row in context.rows).most_common(8)
        found.append(("their labels", ", ".join(f"{name} {count / len(lengths):.0%}" for name, count in counts)))
    return found
