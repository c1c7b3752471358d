"""MultiRC: whether an answer to a question about a passage is right; people marked the sentences that are needed.

No bundled model reads it, so one is trained: the encoder of the masked language model under a new head, on so many
answers as `multirc_train` says, kept in DIR/models/multirc. Three epochs, as in the paper, but at a rate of 1e-4 in
batches of 32 for its 2e-5 and 8: our encoder is a fifth of its size. The passage and the question are one text, the
answer is the other, as in the released code. A pair that is beyond the window loses the last sentences of its passage,
never a word of the question or of the answer (the released code leaves such pairs out). Words stand one blank apart, as
in the paper, but are cut by our rule and not by spaCy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

from assay.checks.trained_models import count_right
from assay.data import multirc
from assay.data.highlights import Highlights
from assay.engine.engine import Engine
from assay.models import TextModel
from assay.text.example import Example
from assay.text.sample import Sample
from assay.text.text import Row, Text
from assay_studies.double_trouble.sizes import Sizes
from assay_studies.request import Request
from assay_studies.samples import spread
from assay_studies.store import Store

NAME = "multirc"
_FILES = ("multirc/train_456-fixedIds.json", "multirc/dev_83-fixedIds.json")
_RATE, _EPOCHS, _BATCH = 1e-4, 3, 32
_JUDGED = 25  # times as many answers as are explained are judged for the accuracy: all of dev in the full study


@dataclass(frozen=True)
class Answers:
    """The files of MultiRC, read as far as the models can see them."""

    train: list[Example]
    dev: list[Example]
    cut: int

    @classmethod
    def read(cls, train: Path | None, dev: Path, window: _Window) -> Answers:
        whole, seen = list(multirc.read(dev)), list(multirc.read(dev, fits=window.fits))
        cut = sum(a.strings != b.strings for a, b in zip(whole, seen, strict=True))
        return cls(list(multirc.read(train, fits=window.fits)) if train else [], seen, cut)

    def explained(self, count: int) -> list[Example]:
        """Answers of dev whose evidence is not cut off, as the models are asked."""
        return list(map(_spaced, spread(self._marked, count)))

    @property
    def highlights(self) -> Highlights:
        return Highlights.of(self._marked, "MultiRC")

    @property
    def _marked(self) -> list[Example]:
        return [row for row in self.dev if any(row.marks)]

    @property
    def note(self) -> str:
        bare = len(self.dev) - len(self._marked)
        return (
            f"MultiRC: of {len(self.dev):,} answers, {self.cut:,} have a passage that is beyond the models' window; it "
            f"lost its last sentences. The {bare:,} that have no evidence left were not explained."
        )


class _Window:
    """What a model sees."""

    def __init__(self, model: Any) -> None:
        self._room = model.encoder.window - model.encoder.template(2).size
        self._pieces: Callable[[str], int] = cache(lambda string: len(model.encoder.spans(string)))

    def fits(self, row: Row) -> bool:
        return bool(sum(map(self._pieces, row)) <= self._room)


def files(request: Request, sizes: Sizes, layout: str) -> tuple[Path | None, Path] | None:
    """Where the answers lie; None where MultiRC is left out, and no training file where a model is given."""
    if not (sizes.multirc and sizes.multirc_train):
        return None
    needed = f"{layout}, {_FILES[0]} and {_FILES[1]} (MultiRC is left out by --size multirc_train=0)"
    train = None if NAME in request.models else request.file(_FILES[0], needed)
    return train, request.file(_FILES[1], needed)


def answers(request: Request, train: Path | None, dev: Path) -> Answers:
    return Answers.read(train, dev, _Window(request.open("mlm")))


def reader(request: Request, sizes: Sizes, found: Answers) -> TextModel:
    """The model that judges answers: what the caller gave, or else what is trained here."""
    if NAME in request.models:
        return request.open(NAME)
    place = request.out / "models" / NAME
    _train(request, place, [_spaced(row) for row in spread(found.train, sizes.multirc_train)])
    model = replace(request, models={NAME: str(place)}).open(NAME)
    model.name = NAME  # not the directory, which may be elsewhere tomorrow
    return model


def identity(request: Request, sizes: Sizes, found: Answers, start: str) -> str:
    """What the reader is, before it is trained; nothing where it is given. `start` is the encoder's fingerprint."""
    if NAME in request.models:
        return ""
    learned = [(row.strings, row.label) for row in spread(found.train, sizes.multirc_train)]
    return blake2b(repr((start, learned, _RATE, _EPOCHS, _BATCH)).encode(), digest_size=8).hexdigest()


def _train(request: Request, place: Path, rows: Sequence[Example]) -> None:
    from assay.training.finetune import FineTune, fine_tune  # only wanted where models are trained
    from assay.training.fit import Plan

    if not place.exists():
        request.say(f"MultiRC: a model learns {len(rows):,} answers")
    plan, start = Plan(epochs=_EPOCHS, rate=_RATE), request.models.get("mlm", "mlm")
    how = FineTune(start=start, plan=plan, batch=_BATCH, width=10**6, device=request.device)
    texts, labels = [row.strings for row in rows], [str(row.label) for row in rows]
    fine_tune(texts, labels, how=how, out=place, progress=request.progress)


def accuracy(
    open: Callable[[], TextModel], *, found: Answers, sizes: Sizes, store: Store, identity: str
) -> tuple[float, list[str]]:
    """The share of the answers of dev that are judged right, kept in the directory, and what would be right."""
    rows = list(map(_spaced, spread(found.dev, _JUDGED * sizes.multirc)))
    texts, labels = [row.strings for row in rows], [str(row.label) for row in rows]
    settings = {"model": identity or open().fingerprint(), "texts": blake2b(repr((texts, labels)).encode()).hexdigest()}
    if (known := store.data("models", f"{NAME}_accuracy", settings)) is None:
        known = next(Engine(open()).run([count_right(Sample.of(rows))])).get() / len(rows)
        store.keep_data("models", f"{NAME}_accuracy", settings, known)
    return float(known), labels


def _spaced(row: Example) -> Example:
    """One blank between words; what people marked is found all the same, as blanks do not count there."""
    return replace(row, strings=tuple(" ".join(Text.of(string).words) for string in row.strings), marks=())
