"""May its explanations be believed? The trust card of a few of its texts."""

from __future__ import annotations

from assay.models import TextModel
from assay.questions.gradients import InputGradient
from assay.verdicts.trust import trust
from assay.workflows.model_audit.asking import FULL, AuditContext
from assay.workflows.model_audit.part import AuditPart, listed

QUESTION = "May its explanations be believed?"
_ANSWERS = {"yes": "Yes", "partly": "As a hint", "no": "No", "open": "Cannot be said"}


def explanations(context: AuditContext) -> AuditPart:
    texts = context.some(context.sizes.explained)
    methods = None if context.sizes.explained >= FULL.explained else _few(context.model)
    card = trust(context.model, texts, methods, seed=context.seed, engine=context.engine, progress=context.progress)
    best = card.ordered[0]
    none = best.level in ("no", "open")
    return AuditPart(
        "explanations",
        QUESTION,
        f"{_ANSWERS[best.level]}: {best.title}" if not none else _ANSWERS[best.level],
        f"{card.summary} Tested on {len(texts)} texts.",
        good=(f"{best.title} passes the tests of explanations",) if best.level == "yes" else (),
        bad=("no method that was tried explains it better than chance",) if best.level == "no" else (),
        head=("method", "believe it?", "tests"),
        rows=tuple((one.title, _ANSWERS[one.level], one.sentence) for one in card.ordered),
        left_out=(("checks", f"{listed(list(card.left_out))} were not asked: see `assay trust`"),)
        if card.left_out
        else (),
    )


def _few(model: TextModel) -> list[str]:
    """Two methods of different kinds."""
    return ["leave_one_out", "integrated_gradients" if InputGradient in model.answers else "partition_shap"]
