"""Training the small visual model  on questions about images.

    asked = questions(6000)
    model = look([one.strings for one in asked], [one.label for one in asked], out="DIR")

Each text is a question and the name of its image. Adam with amsgrad; the epoch that is best on dev where there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from assay.errors import BadInput, UnknownName
from assay.models import TextModel
from assay.models.transformers.images import named, opened
from assay.text.text import Row
from assay.training.batches import Rows
from assay.training.fit import Plan
from assay_studies.models.scenes import SceneConfig, SceneForVisualQuestionAnswering
from assay_studies.models.training import LONGEST, How, Ready, labelled, learnt, made, paired, right, vocabulary


def _plan() -> Plan:
    return Plan(epochs=20, rate=4e-3, decay=0.0, clip=5.0, patience=5, optimiser="adam")


@dataclass(frozen=True)
class Look(How):
    """How a small visual model is made and trained; `patch` is the side of the squares that an image is cut into."""

    plan: Plan = field(default_factory=_plan)
    hidden: int = 64
    size: int = 32
    batch: int = 64
    patch: int = 12

    def train(self, texts: Sequence[Row], labels: Sequence[str], seed: int) -> TextModel:
        return look(texts, labels, how=replace(self, plan=replace(self.plan, seed=seed)), progress=False)


def look(
    texts: Sequence[Row],
    answers: Sequence[str],
    *,
    how: Look | None = None,
    dev: tuple[Sequence[Row], Sequence[str]] | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> TextModel:
    """A model that answers questions about images; `settings` are fields of Look."""
    how = replace(how or Look(), **settings)
    given, names = paired(texts, answers, "answer"), sorted(set(answers))
    if dev and (unknown := sorted(set(dev[1]) - set(names))):
        raise UnknownName.of("answer", unknown[0], names)
    tried = (paired(*dev, "answer"), list(dev[1])) if dev else None

    def make() -> Ready:
        return _ready(how, given, [names.index(answer) for answer in answers], names)

    scored = (lambda model: right(model, *tried)) if tried else None
    return learnt(how, make, (given, list(answers), tried), dev=scored, out=out, progress=progress)


def _ready(how: Look, texts: Sequence[Row], answers: list[int], names: Sequence[str]) -> Ready:
    questions = [text[:1] for text in texts]
    images, which = _images([image for _, image in texts], how.patch)
    tokenizer = vocabulary(how, questions, ())
    config = {"image_size": images.shape[2], "patch_size": how.patch, **labelled(names)}
    network = made(how, SceneForVisualQuestionAnswering, SceneConfig, tokenizer, **config)
    rows = Rows.of(questions, answers, tokenizer, LONGEST)

    def loss(chosen: list[int]) -> Tensor:
        inputs, wanted = rows.batch(chosen, network.device)
        pixels = images[which[chosen]].to(network.device) / 255
        return cross_entropy(network(**inputs, pixel_values=pixels).logits, wanted)

    return Ready(network, rows, loss)


def _images(names: Sequence[str], patch: int) -> tuple[Tensor, Tensor]:
    """Every image once, as bytes [images, 3, size, size], and the image of each text."""
    numbers = {name: i for i, name in enumerate(dict.fromkeys(names))}
    arrays = [opened(named(name)) for name in numbers]
    (height, width), *others = {array.shape[:2] for array in arrays}
    if others or height != width or height % patch:
        raise BadInput(f"the images must be squares of one size, a multiple of patch={patch}, for this model to learn.")
    stacked = torch.stack([torch.tensor(array).permute(2, 0, 1) for array in arrays])
    return stacked, torch.tensor([numbers[name] for name in names])
