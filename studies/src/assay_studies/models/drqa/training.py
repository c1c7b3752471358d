"""Training a reader after DrQA on questions, paragraphs and the places of the answers.

    model = read([(question, paragraph), ...], [(start, end), ...], vectors="glove", dev=(...), out="DIR")

    loss = -log P(first word of the answer) - log P(last word of the answer)        over the words of the paragraph

Chen et al. (2017), arXiv:1704.00051. They take Adamax and three layers; here it is Adam with amsgrad and one layer.
Places are characters of the paragraph, from start to before end. Paragraphs of more than `longest` words are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from assay.errors import BadInput
from assay.models import TextModel
from assay.questions.predict import Settle
from assay.text.text import Row, Span, Text
from assay.training.batches import Rows
from assay.training.fit import Plan
from assay.workflows.people.free_answers import f1, plain
from assay_studies.models.drqa import DrqaConfig, DrqaForQuestionAnswering
from assay_studies.models.training import LONGEST, How, Ready, learnt, made, paired, vocabulary


def _plan() -> Plan:
    return Plan(epochs=8, rate=2e-3, decay=0.0, clip=5.0, patience=3, optimiser="adam")


@dataclass(frozen=True)
class Read(How):
    """How a reader is made and trained."""

    plan: Plan = field(default_factory=_plan)
    hidden: int = 96
    layers: int = 1
    dropout: float = 0.3
    longest: int = 300

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.layers, self.longest) < 1 or not 0 <= self.dropout < 1:
            raise BadInput("layers and longest are 1 or more, and dropout is a share below 1.")


def read(
    texts: Sequence[Row],
    answers: Sequence[Span],
    *,
    how: Read | None = None,
    dev: tuple[Sequence[Row], Sequence[Sequence[str]]] | None = None,
    also: Sequence[str] = (),
    out: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> TextModel:
    """A span reader; `settings` are fields of Read, `also` strings whose words it is to know too.

    `dev` are pairs and, for each of them, the strings that are right; the epoch with the best mean F1 is kept.
    """
    how = replace(how or Read(), **settings)
    given = paired(texts, answers, "answer")
    for (_, paragraph), (start, end) in zip(given, answers, strict=True):
        if not 0 <= start < end <= len(paragraph):
            raise BadInput(f"an answer at {start} to {end} is not inside its paragraph of {len(paragraph)} characters.")
    tried = (paired(*dev, "answer"), [list(one) for one in dev[1]]) if dev else None
    scored = (lambda model: scores(model, *tried)[1]) if tried else None
    data = (given, [tuple(span) for span in answers], tried, list(also))
    return learnt(how, lambda: _ready(how, given, answers, also), data, dev=scored, out=out, progress=progress)


def _ready(how: Read, texts: Sequence[Row], answers: Sequence[Span], also: Sequence[str]) -> Ready:
    tokenizer = vocabulary(how, texts, also)
    coded = tokenizer([paragraph for _, paragraph in texts], add_special_tokens=False, return_offsets_mapping=True)
    places = [_covered(offsets, span) for offsets, span in zip(coded["offset_mapping"], answers, strict=True)]
    kept = [i for i, ids in enumerate(coded["input_ids"]) if len(ids) <= how.longest and places[i]]
    if not kept:
        raise BadInput(f"no paragraph has an answer and at most {how.longest} words.")
    sizes = {"layers": how.layers, "dropout": how.dropout}
    network = made(how, DrqaForQuestionAnswering, DrqaConfig, tokenizer, **sizes)
    rows = Rows.of([texts[i] for i in kept], [0] * len(kept), tokenizer, LONGEST)
    ends = torch.tensor([places[i] for i in kept])

    def loss(chosen: list[int]) -> Tensor:
        inputs, _ = rows.batch(chosen, network.device)
        return span_loss(network(**inputs), inputs, ends[chosen].to(network.device))

    return Ready(network, rows, loss)


def _covered(offsets: Sequence[Span], span: Span) -> tuple[int, int] | None:
    """The first and the last word of a paragraph that have characters of the answer."""
    touched = [i for i, (a, b) in enumerate(offsets) if a < span[1] and span[0] < b]
    return (touched[0], touched[-1]) if touched else None


def span_loss(output: Any, inputs: dict[str, Tensor], ends: Tensor) -> Tensor:
    """The mean loss; ends are counted from the first word of the paragraph, which stands behind its edge."""
    types, there = inputs["token_type_ids"], inputs["attention_mask"]
    first = ((1 - types) * there).sum(dim=1) + 1
    places = torch.arange(types.shape[1], device=types.device)
    inside = (places >= first[:, None]) & (places < there.sum(dim=1)[:, None] - 1)
    looks = (output.start_logits, output.end_logits)
    losses = [cross_entropy(look.masked_fill(~inside, -torch.inf), first + ends[:, i]) for i, look in enumerate(looks)]
    return losses[0] + losses[1]


def answered(model: TextModel, texts: Sequence[Row]) -> list[str]:
    """The model's own answers."""
    given = [Text.of((asked, paragraph), names=model.fields, focus=model.focus) for asked, paragraph in texts]
    settled = model._valued(Settle, [model.clip(text) for text in given])
    return [str(text.fields[2].string.partition(" ")[2]) for text in settled]


def scores(model: TextModel, texts: Sequence[Row], answers: Sequence[Sequence[str]]) -> tuple[float, float]:
    """Mean exact match and mean F1, each the best over the right answers, as SQuAD is scored."""
    pairs = list(zip(answered(model, texts), answers, strict=True))
    exact = sum(max(plain(answer) == plain(one) for one in right) for answer, right in pairs)
    shared = sum(max(f1(answer, one) for one in right) for answer, right in pairs)
    return exact / len(pairs), shared / len(pairs)
