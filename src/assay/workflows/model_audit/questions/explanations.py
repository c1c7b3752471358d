"""May its explanations be believed? The trust card of a few of its texts."""

from __future__ import annotations

from assay.models import TextModel
from assay.questions.gradients import InputGradient
from assay.text.text import TextLike
from assay.verdicts.trust import trust
from assay.workflows.model_audit.asking import FULL, AuditContext
from assay.workflows.model_audit.part import AuditPart, listed

QUESTION = "May its explanations be believed?"
_LEAST = 20  # texts from which it may be said that no map is better than random
_ANSWERS = {"yes": "Yes", "partly": "As a hint", "no": "No", "open": "Cannot be said"}


def explanations(context: AuditContext) -> AuditPart:
    texts: list[TextLike] = [row.text for row in context.some(context.sizes.explained)]
    methods = None if context.sizes.explained >= FULL.explained else _few(context.model)
    card = trust(context.model, texts, methods, seed=context.seed, engine=context.engine, progress=context.progress)
    best = card.ordered[0]
    few = best.level == "no" and len(texts) < _LEAST
    answer = _ANSWERS["open" if few else best.level]
    told = f"No map is better than random in most tests, the best {_small(best.count)}" if few else card.summary
    return AuditPart(
        "explanations",
        QUESTION,
        f"{answer}: {best.title}" if best.level in ("yes", "partly") else answer,
        f"{told}. {len(texts)} texts are too few to say that none is." if few else f"{told} {_tested(len(texts))}",
        good=(f"{best.title} passes the tests of explanations",) if best.level == "yes" else (),
        bad=("no method that was tried passes the tests of explanations",) if best.level == "no" and not few else (),
        head=("method", "tests") if few else ("method", "believe it?", "tests"),
        rows=tuple(
            (one.title, f"{one.count}.") if few else (one.title, _ANSWERS[one.level], one.sentence)
            for one in card.ordered
        ),
        left_out=(("checks", f"{listed(list(card.left_out))} were not asked: see `assay trust`"),)
        if card.left_out
        else (),
    )


def _small(count: str) -> str:
    return count[:1].lower() + count[1:]


def _tested(texts: int) -> str:
    return "Tested on 1 text." if texts == 1 else f"Tested on {texts} texts."


def _few(model: TextModel) -> list[str]:
    """Two methods of different kinds."""
    return ["leave_one_out", "integrated_gradients" if InputGradient in model.answers else "partition_shap"]
