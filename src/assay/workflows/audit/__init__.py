"""The verb `audit_attention`: may the attention of a model be read as an explanation?

    audit = assay.audit_attention(model, texts)
    print(audit); audit.to_frame(); audit.to_html()

The questions of Jain and Wallace (2019), Attention is not Explanation, arXiv:1902.10186, on any model whose attention
can be read and replaced: does it rank the words as gradients and leave-one-out do, does shuffling it change the answer,
is there a very different one with the same answer. See `assay.workflows.audit.exam` for what is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from assay.checks.adversarial_attention import AdversarialAttention
from assay.checks.attention_permutation import AttentionPermutation
from assay.engine.engine import Engine
from assay.engine.threads import with_threads
from assay.errors import AssayError, BadInput, Unanswerable
from assay.explanations.about import About
from assay.models import TextModel, load
from assay.progress import track
from assay.questions.gradients import InputGradient
from assay.questions.inside import Attention
from assay.questions.interventions import Adversary, InterveneAttention
from assay.questions.predict import Predict
from assay.registry.parameters import parameters
from assay.text.text import Text, TextLike
from assay.verbs import Aims, explained, label_index, versions
from assay.workflows.audit.audited import PAIRS, AuditedText
from assay.workflows.audit.exam import CUT, Exam
from assay.workflows.audit.result import AttentionAudit

__all__ = ["AttentionAudit", "AuditedText", "audit_attention"]

_NEEDS = (Predict, Attention, InputGradient, InterveneAttention, Adversary)
_NOTICED = 0.01  # TVD


@with_threads
def audit_attention(
    model: Any,
    texts: Any,
    *,
    permutations: int = 100,
    k: int = 5,
    steps: int = 500,
    epsilon: float = 0.05,
    layer: int = -1,
    head: int | None = None,
    seed: int = 0,
    labels: Sequence[str | int] | None = None,
    device: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: bool | None = None,
) -> AttentionAudit:
    """Put the attention of a model to the tests of Jain and Wallace (2019), on one text or on a list of them.

    `permutations` of the weights per text; `k` adversaries, sought in `steps`, that may move the answer by `epsilon`;
    `layer` and `head` say which attention, None taking the mean of the heads and changing all of them. `labels` are
    the true ones, if you have them: one for each text. `device` and `threads` are those of `explain`.
    """
    engine = engine or Engine(load(model, device=device))
    given = texts if isinstance(texts, list) else [texts]
    shuffle = AttentionPermutation(permutations=permutations, layer=layer, head=head)
    attack = AdversarialAttention(epsilon=epsilon, k=k, steps=steps, layer=layer, head=head)
    _require(engine.model)
    gold = _gold(engine.model, given, labels)
    _require_texts(engine.model, given)
    exam = Exam(permutation=shuffle, adversary=attack, cut=_can_cut(engine.model))
    audited = tuple(track(_audited(engine, exam, given, gold, seed), len(given), "auditing", progress))
    return AttentionAudit(
        texts=audited,
        model=engine.model.name,
        settings={**parameters(shuffle), **parameters(attack), "seed": seed},
        warnings=tuple(_warnings(audited, exam)),
    )


def _audited(
    engine: Engine, exam: Exam, texts: Sequence[TextLike], gold: Sequence[str | None], seed: int
) -> Iterator[AuditedText]:
    """What was found in each text; all of them are talked about together."""
    model, where = engine.model, {"layer": exam.permutation.layer, "head": exam.permutation.head}
    about = About(method="attention", title="Attention", parameters=where, model=model.name, versions=versions())
    aims = Aims(scalar="probability", seed=seed)
    outcomes = engine.run(explained(model, exam, text, aims) for text in texts)
    for i, (outcome, label) in enumerate(zip(outcomes, gold, strict=True), start=1):
        one = outcome.get(_where(i, len(texts)))
        assert isinstance(one, AuditedText)
        mine = replace(about, seed=seed, cost=outcome.cost, labels=tuple(one.prediction))
        yield one.told(about=mine, gold=label)


def _require(model: TextModel) -> None:
    missing = [question.__name__ for question in _NEEDS if question not in model.answers]
    if missing:
        raise Unanswerable(
            f"an audit of attention asks for {', '.join(missing)}, which the model {model.name} cannot answer; models "
            "that can: attentive ones (assay.training.attentive), and Hugging Face classifiers whose attention can be "
            "replaced, with a fast tokenizer."
        )


def _require_texts(model: TextModel, texts: Sequence[TextLike]) -> None:
    """A text without words is found before the work, not after it."""
    if not texts:
        raise BadInput("there is no text to audit.")
    for i, text in enumerate(texts, start=1):
        try:
            Text.of(text, names=model.fields, focus=model.focus).require_words()
        except AssayError as error:
            where = _where(i, len(texts))
            raise type(error)(f"{where}: {error}" if where else str(error)) from error


def _where(i: int, many: int) -> str:
    """Which of the texts an error is about, where there are several."""
    return f"text {i}" if many > 1 else ""


def _gold(model: TextModel, texts: Sequence[Any], labels: Sequence[str | int] | None) -> list[str | None]:
    """The true labels by name."""
    if labels is None:
        return [None] * len(texts)
    if isinstance(labels, str) or len(labels) != len(texts):
        raise BadInput(f"labels are the true ones, one for each text: {len(texts)}, not {len(labels)}.")
    return [model.labels[label_index(model, label)] for label in labels]


def _can_cut(model: TextModel) -> bool:
    try:
        return InputGradient in model.derived(CUT.removeprefix("@")).answers
    except AssayError:
        return False


def _warnings(texts: Sequence[AuditedText], exam: Exam) -> Iterator[str]:
    many = len(texts)
    if not exam.cut:
        yield (
            "gradients flow through the attention: they cannot be cut there in this model, so its gradients are not "
            "quite those of Algorithm 1."
        )
    gone = {name: sum(text.taus[name] is None for text in texts) for name in PAIRS if not name.startswith("random")}
    if any(gone.values()):
        shown = ", ".join(f"{count} ({' and '.join(PAIRS[name])})" for name, count in gone.items() if count)
        yield f"τ is not defined where all words weigh the same: for {shown} of {many} texts, which no mean counts."
    if alone := sum(len(text.text) == 1 for text in texts):
        yield f"one word: {alone} of {many} texts have nothing to shuffle; they count with 0 in TVD and JSD."
    if (placed := sum(text.placed for text in texts) / many) > _NOTICED:
        yield (
            f"the mean attention was put into all heads, which alone moves the answer by {placed:.2f} (TVD) on "
            "average; the numbers describe the model with this change. Choose one head (--head) to avoid it."
        )
    if cut := sum(text.truncated for text in texts):
        yield f"truncated: {cut} of {many} texts were longer than the model's window."
