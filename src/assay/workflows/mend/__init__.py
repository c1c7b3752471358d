"""Mending: a model that stays sure of texts without sense is fine-tuned until it is not, and the change is measured.

    result = assay.mend(model, train, dev, out="DIR")        afterwards assay.load("DIR") opens the mended model
    print(result); result.to_frame()

Feng et al. (2018), section 4 and Table 2, arXiv:1804.07781. The training texts are reduced (input_reduction, all
shortest versions, each once), a copy of the model is fine-tuned to be unsure of them (assay.training.entropy), and
before and after are compared on dev: accuracy, the length to which dev texts are reduced, calibration, confidence. A
second copy learns from random reductions of the same lengths: the paper's baseline. Where accuracy falls by more than
`margin`, no model is left in DIR, only the report, and an error says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from assay.engine.engine import Engine
from assay.engine.threads import with_threads
from assay.errors import AssayError, BadInput
from assay.explanations.edits import Edits
from assay.models import TextModel, load
from assay.progress import track
from assay.registry.finding import find_method, require
from assay.text.example import Example
from assay.text.labelled import LabelledTexts
from assay.text.sample import Sample
from assay.text.text import Row, TextLike
from assay.verbs import Aims
from assay.verbs import versions as installed
from assay.workflows.labelled_rows import labelled_rows, numbers_read, require_words
from assay.workflows.mend import report
from assay.workflows.mend.files import MendFiles
from assay.workflows.mend.measures import ModelMeasures, confidences
from assay.workflows.mend.reduction import Reduced, distinct, focused, reductions, versions
from assay.workflows.mend.result import BEFORE, MENDED, RANDOM, MendResult

if TYPE_CHECKING:
    from assay.training.entropy import Entropy

__all__ = ["MendResult", "held_out", "mend"]

Labelled = tuple[TextLike, str | int] | Example
_ROWS = 256  # texts a file


@with_threads
def mend(
    model: Any,
    train: Sequence[Labelled] | Sample,
    dev: Sequence[Labelled] | Sample,
    *,
    out: str | Path,
    margin: float = 0.01,
    beam: int = 5,
    at_least: float = 0.0,
    limit: int | None = None,
    focus: Sequence[str] | None = None,
    baseline: bool = True,
    seed: int = 0,
    how: Entropy | None = None,
    device: str | None = None,
    threads: int | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> MendResult:
    """Fine-tune a copy of the model by entropy regularisation, and report what it changed.

    `train` and `dev` are (text, label) pairs, Examples, or Samples with labels; a text is a string or a pair, a label
    one of the model's, by name or number; for a span reader, the answer. `beam` and `at_least` (the confidence that a
    reduced text must keep, 0.9 in the released code for SNLI) are those of input_reduction. `limit` is how many
    training texts, drawn by the seed, are reduced; all are learned from. `focus` names the fields to reduce.
    `settings` are fields of assay.training.entropy.Entropy: epochs, rate, weight, schedule, rank, batch. The same call
    goes on where a killed one stopped; two at once in `out` are refused.
    """
    from assay.training.entropy import Entropy, trainable, with_targets  # torch is slow to import

    require(find_method("input_reduction"), reader := load(model, device=device))
    learner = trainable(reader)
    _require_settings(margin, at_least, beam, limit)
    (learned, by_number), (measured, also) = (labelled_rows(*one, reader) for one in (("train", train), ("dev", dev)))
    chosen = focused(reader, learned.texts) if focus is None else _possible(reader, tuple(focus))
    for part in (learned, measured):
        require_words(part, reader.fields, chosen)
    with_targets(learner, learned.strings, learned.labels)  # what cannot be learned is said before all the work
    data = (reader, learned, measured, by_number or also, replace(how or Entropy(), **{"seed": seed, **settings}))
    return _Mending(*data, margin, beam, at_least, limit, chosen, baseline, seed, progress).mend(out)


def _possible(reader: TextModel, focus: tuple[str, ...]) -> tuple[str, ...]:
    """The fields that are named; of a model with a focus of its own, no others."""
    if reader.focus is not None and focus != reader.focus:
        raise BadInput(f"of this model the {' and '.join(reader.focus)} is reduced; its other fields must stay.")
    return focus


def _require_settings(margin: float, at_least: float, beam: int, limit: int | None) -> None:
    if not (0 <= margin < 1 and 0 <= at_least <= 1) or beam < 1 or (limit is not None and limit < 1):
        values = f"margin={margin}, at_least={at_least}, beam={beam}, limit={limit}"
        raise BadInput(f"a margin is below 1, at_least a share, beam and limit are 1 or more; given were {values}.")


def held_out(rows: Any, share: float = 0.2, seed: int = 0) -> tuple[Sample, Sample]:
    """The rows in two parts, drawn by the seed: to learn from, and to measure on."""
    sample = Sample.of(rows)
    if len(sample) < 2 or not 0 < share < 1:
        raise BadInput("two parts need at least two rows, and a share above 0 and below 1.")
    order = np.random.default_rng(seed).permutation(len(sample)).tolist()
    size = min(len(sample) - 1, max(1, round(share * len(sample))))
    return sample.pick(order[size:]), sample.pick(order[:size])


@dataclass(frozen=True)
class _Mending:
    """All that decides the result."""

    model: TextModel
    train: LabelledTexts
    dev: LabelledTexts
    by_number: bool  # whether labels were given as numbers
    how: Entropy
    margin: float
    beam: int
    at_least: float
    limit: int | None
    focus: tuple[str, ...] | None
    baseline: bool
    seed: int
    progress: bool | None

    @property
    def settings(self) -> dict[str, Any]:
        """The same as plain data."""
        own = {name: getattr(self, name) for name in ("margin", "beam", "at_least", "limit", "baseline", "seed")}
        read = {"train": self.train.digest, "dev": self.dev.digest, "focus": list(self.focus or ())}
        named = {"name": self.model.name, "labels": list(self.model.labels), "weights": self.model.fingerprint()}
        return {"model": named, **read, **own, "training": self.how.settings}

    @cached_property
    def reads(self) -> int:
        """How many strings of a text the model is given; a settled text has more."""
        return len(self.train.strings[0])

    def mend(self, out: str | Path) -> MendResult:
        settings = self.settings
        with MendFiles.held(out, settings) as files:
            return self._mend(files, settings)

    def _mend(self, files: MendFiles, settings: Mapping[str, Any]) -> MendResult:
        if accepted := files.accepted(MENDED):
            return MendResult.from_dict(accepted)
        result = self.result(files, settings)
        for name, content in report.pages(result).items():
            files.write(name, content)
        files.finish(settings, result.to_dict())
        if not result.accepted:
            raise AssayError(refusal(result, files.path))
        files.take_model(MENDED)
        return result

    def result(self, files: MendFiles, settings: Mapping[str, Any]) -> MendResult:
        found = distinct(list(self._reduced(files)))
        models = {BEFORE: self._measured(files, BEFORE, self.model, None)}
        learned = {MENDED: [one.row for one in found], RANDOM: [one.random for one in found]}
        for name in (MENDED, RANDOM) if self.baseline else (MENDED,):
            models[name] = self._learned(files, name, learned[name], models[BEFORE])
        return MendResult(
            models=models,
            texts=tuple(self.dev.strings),
            gold=tuple(self.dev.labels),
            train=len(self.train),
            reduced_texts=len(self._chosen),
            reduced=len(found),
            margin=self.margin,
            settings={**settings, "versions": installed()},
            warnings=tuple(self._warnings()),
        )

    def _learned(self, files: MendFiles, name: str, rows: Sequence[Row], before: ModelMeasures) -> ModelMeasures:
        """Fine-tune and measure, unless that was done before."""
        if files.get(name) is not None and (name == RANDOM or (files.parts / name).exists()):
            return ModelMeasures.from_dict(files.get(name))
        from assay.training.entropy import regularise

        place, labels = files.parts / name, self.train.labels
        made = regularise(self.model, self.train.strings, labels, rows, how=self.how, out=place, progress=self.progress)
        found = self._measured(files, name, made, before)
        if name != MENDED:  # nobody needs the weights of the baseline
            files.drop(name)
        return found

    @cached_property
    def _chosen(self) -> list[int]:
        """The training texts that are reduced."""
        order = np.random.default_rng(self.seed).permutation(len(self.train)).tolist()
        return sorted(order[: self.limit])

    def _reduced(self, files: MendFiles) -> Iterator[Reduced]:
        """File by file, each made unless it is there."""
        engine = Engine(self.model)
        for start in range(0, len(self._chosen), _ROWS):
            if (part := files.get(f"reduced-{start}")) is None:
                texts = [self.train.texts[i] for i in self._chosen[start : start + _ROWS]]
                part = [
                    one for e in self._reductions(engine, texts, "train") for one in versions(e, self.reads, self.seed)
                ]
                files.put(f"reduced-{start}", part)
            yield from (Reduced(tuple(row), tuple(random), words) for row, random, words in part)

    def _reductions(self, engine: Engine, texts: Sequence[TextLike], name: str) -> Iterator[Edits]:
        aims = Aims(focus=self.focus, seed=self.seed)
        found = reductions(engine, texts, name, aims, beam=self.beam, at_least=self.at_least)
        return track(found, len(texts), f"reducing {name}", self.progress)

    def _measured(self, files: MendFiles, name: str, model: TextModel, before: ModelMeasures | None) -> ModelMeasures:
        if (data := files.get(name)) is not None:
            return ModelMeasures.from_dict(data)
        engine = Engine(model)
        found = ModelMeasures.of(
            list(self._reductions(engine, self.dev.texts, f"dev, {name}")), self.dev.labels, self.reads
        )
        known = replace(found, rubbish=tuple(confidences(engine, (before or found).reduced, self.focus)))
        files.put(name, known.to_dict())
        return known

    def _warnings(self) -> Iterator[str]:
        if self.by_number:
            yield numbers_read(self.model)
        if both := len(set(self.train.strings) & set(self.dev.strings)):
            yield f"{both} of the {len(self.dev)} texts of dev are in train too, so that accuracy flatters the model."


def refusal(result: MendResult, path: Path) -> str:
    before, mended = (result.models[name].accuracy.value for name in (BEFORE, MENDED))
    return (
        f"accuracy on dev fell from {before:.4f} to {mended:.4f}, by more than the margin of {result.margin:g}, so no "
        f"model was saved; {path / report.PAGE} shows what changed. Train with a smaller weight, a smaller rate or "
        "fewer epochs into another directory, or allow a wider margin here."
    )
