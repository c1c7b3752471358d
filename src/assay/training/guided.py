"""Training an attentive model under the attention of another one, which is imposed on it.

    y = D(sum_i g_i h_i)        with given weights g, text by text, in training and in testing

Wiegreffe and Pinter (2019), arXiv:1908.04626, section 3.4.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from torch import Tensor

from assay.errors import BadInput
from assay.models import BlackBox, TextModel, load
from assay.statistics.arrays import Floats
from assay.text.text import Row
from assay.training.attention_reading import observed, padded, token_counts
from assay.training.attentive import Attend, Prepared, prepared, scored, trained
from assay.training.batches import rows_of
from assay.training.digests import digest
from assay.training.observed import Observed
from assay.training.place import KeptInPlace, opened
from assay.training.recipes import Labelled as LabelledRows

Labelled = tuple[Sequence[str | Row], Sequence[str]]


@dataclass(frozen=True, eq=False)
class Guided(KeptInPlace):
    """The recipe: `guides` are the weights of another model on all texts that the guided one will see."""

    how: Attend
    guides: Observed

    @property
    def settings(self) -> Mapping[str, Any]:
        return {**self.how.settings, "trainer": "guided", "guide": self.guides.source}

    def make(
        self, texts: Sequence[Row], labels: Sequence[str], seed: int, out: Path, *, dev: LabelledRows | None = None
    ) -> None:
        how = replace(self.how, plan=replace(self.how.plan, seed=seed))
        seen = self.guides.of(texts)
        there = None if dev is None else self.guides.of(dev[0])
        guide((texts, labels), seen, how=how, dev=dev, dev_guides=there, out=out, progress=False)

    def open(self, out: Path) -> TextModel:
        """The model and its guide, as one: it answers for the texts that the guide is for."""
        model = opened(out, self.how.device)
        return BlackBox(_UnderGuide(model, self.guides), labels=model.labels, name="guided", of=str(out))


@dataclass(frozen=True, eq=False)
class _UnderGuide:
    """Probabilities under the weights of the guide."""

    model: TextModel
    guides: Observed

    def __call__(self, texts: Sequence[str | Row]) -> Floats:
        rows = [(text,) if isinstance(text, str) else text for text in texts]
        return observed(self.model, rows, self.guides.of(rows).weights).chances


def guide(
    train: Labelled,
    guides: Observed,
    *,
    how: Attend | None = None,
    dev: Labelled | None = None,
    dev_guides: Observed | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
) -> TextModel:
    """A model that never looks by itself: ask it by `observed(model, texts, weights)`.

    As it has no attention of its own, its weights are uniform where none are given.
    """
    how = replace(how or Attend(encoder="average"), attention="uniform")
    if (dev is None) != (dev_guides is None):
        raise BadInput("the texts of dev need a guide too: give dev and dev_guides, or neither.")
    ready = prepared_for(how, train, guides)

    def loss(chosen: list[int]) -> Tensor:
        return ready.loss(chosen, attention_weights=padded(guides.weights, chosen, ready.network.device))

    score = _guided_score(ready, dev, dev_guides) if dev and dev_guides else None
    source = {"guide": guides.source, "dev guide": dev_guides.source if dev_guides else None}
    training = {**how.settings, "data": digest(train, dev), **source}
    return trained(ready, how, training, loss, score, out, progress)


def _guided_score(ready: Prepared, dev: Labelled, guides: Observed) -> Callable[[], float]:
    def score() -> float:
        model = load((ready.network, ready.rows.tokenizer))
        return scored(observed(model, dev[0], guides.weights).chances, dev[1], model.labels)

    return score


def prepared_for(how: Attend, train: Labelled, seen: Observed) -> Prepared:
    """The network and the encoded texts, whose tokens are those of the other model."""
    ready = prepared(how, rows_of(*train), train[1])
    seen.require_tokens(token_counts(ready.rows))
    return ready
