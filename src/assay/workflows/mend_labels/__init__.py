"""Mending labels: find rows whose labels look wrong, have people correct them, and measure what that changes.

    found = assay.mend_labels(model, data, out="DIR")                            DIR/labels.html, DIR/relabel.csv
    done = assay.mend_labels(model, data, out="DIR", corrections="DIR/relabel.csv")      once people have filled it in

Which rows look wrong follows from models trained without them, from the model itself and from self-influence
(signs.py). With corrections, models are trained on the given and on the corrected labels by the same recipe and seeds,
and compared on rows that neither saw. Models lie in DIR/models by their digests, so a killed call goes on where it
stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from assay.engine.engine import Engine
from assay.engine.threads import with_threads
from assay.errors import AssayError, BadInput
from assay.methods.influential.tracin import Tracin
from assay.models import TextModel, load
from assay.registry.finding import find_method, require
from assay.text.labelled import LabelledTexts
from assay.text.sample import Sample
from assay.text.training_set import TrainingSet
from assay.training.epochs import checkpoints_in
from assay.training.recipes import Recipe, Trainer, recipe
from assay.verbs import versions
from assay.workflows.held_directory import HeldDirectory
from assay.workflows.labelled_rows import labelled_rows, numbers_read, require_words
from assay.workflows.mend import held_out
from assay.workflows.mend_labels.correction import Correction, corrected, read_rightly, sample_of
from assay.workflows.mend_labels.page import PAGE, page
from assay.workflows.mend_labels.result import LabelMending
from assay.workflows.mend_labels.sheet import SHEET, corrections, sheet
from assay.workflows.mend_labels.signs import Signs, signs
from assay.workflows.mend_labels.suspects import suspects, with_words

__all__ = ["LabelMending", "mend_labels"]

_MODELS = "models"


@with_threads
def mend_labels(
    model: Any,
    data: Any,
    *,
    out: str | Path,
    dev: Any = None,
    corrections: str | Path | None = None,
    recipe: str | Trainer | Recipe | None = None,
    folds: int = 5,
    share: float = 0.2,
    dev_share: float = 0.2,
    seeds: int = 3,
    seed: int = 0,
    device: str | None = None,
    threads: int | None = None,
) -> LabelMending:
    """Find rows of `data` whose labels look wrong; with `corrections`, train again and say what these changed.

    `data` are labelled texts as Sample.of reads them, with labels that the model has. `dev` are rows to measure on;
    without it `dev_share` of the data are kept for that and are not looked at. `recipe` says how models are trained:
    by default as the model's own directory says, else by fine-tuning it. `share` bounds the list of suspects, `folds`
    is the number of models of the cross-validation, `seeds` that of the models before and after the corrections.
    So many `threads` compute until the call returns.
    """
    if folds < 2 or seeds < 1 or not (0 < share <= 1 and 0 < dev_share < 1):
        raise BadInput("folds are 2 or more, seeds 1 or more, and share and dev_share lie between 0 and 1.")
    reader = load(model, device=device)
    if reader.multi_label or len(reader.labels) < 2:
        raise BadInput(f"{reader.name} does not choose one of several labels, so no label of a row is the wrong one.")
    learned, measured, by_number = _parts(data, dev, dev_share, seed, reader)
    if len(given_labels := set(learned[0].labels)) < 2:
        raise BadInput(
            f"all rows have the label {given_labels.pop()!r}: a wrong label shows beside right ones of others."
        )
    given = _Given(reader, *learned, measured, dev is None, by_number, *_recipe(recipe, reader), folds, share, seed)
    with LabelFiles.held(out, given.settings) as files:
        return given.mend(files, None if corrections is None else Path(corrections), seeds)


class LabelFiles(HeldDirectory):
    """DIR/mend_labels.json, DIR/labels.html, DIR/relabel.csv, DIR/models."""

    file = "mend_labels.json"
    job = "mending of labels"
    names = (SHEET, PAGE, _MODELS)


Numbered = tuple[LabelledTexts, list[int]]


def _parts(data: Any, dev: Any, share: float, seed: int, reader: TextModel) -> tuple[Numbered, LabelledTexts, bool]:
    """The rows to look at with their numbers in the data, and those to measure on."""
    whole, by_number = labelled_rows("data", data, reader)
    require_words(whole, reader.fields, None)
    if dev is not None:
        measured, also = labelled_rows("dev", dev, reader)
        return (whole, list(range(1, len(whole) + 1))), measured, by_number or also
    numbered = Sample.of([(str(i), None) for i in range(len(whole))])
    parts = [[int(row.strings[0]) for row in part] for part in held_out(numbered, share, seed)]
    looked_at, kept = (_picked(whole, places) for places in parts)
    return (looked_at, [i + 1 for i in parts[0]]), replace(kept, name="held-out rows"), by_number


def _picked(data: LabelledTexts, places: list[int]) -> LabelledTexts:
    return LabelledTexts(data.name, [data.strings[i] for i in places], [data.labels[i] for i in places])


def _recipe(given: Any, reader: TextModel) -> tuple[Recipe, tuple[str, ...]]:
    """How models are trained, and what must be said of it."""
    from assay.models.transformers.adapter import HuggingFace  # torch is slow to import
    from assay.training.known_recipe import recipe_of

    if given is not None:
        return recipe(given), ()
    if (own := recipe_of(reader.name)) is not None:
        return own, ()
    if not isinstance(reader, HuggingFace):
        return recipe("words"), (
            "nobody knows how the model was trained, so the recipe words is used in its place; name yours.",
        )
    said = "nobody knows how the model was trained, so models start from its own encoder, which may have learned these"
    return recipe(f"finetune:{reader.name}"), (f"{said} labels before; name a recipe with a start that has not.",)


@dataclass(frozen=True)
class _Given:
    """All that decides which rows look wrong."""

    model: TextModel
    data: LabelledTexts
    rows: list[int]
    dev: LabelledTexts
    from_data: bool  # whether dev is a part of the data
    by_number: bool
    how: Recipe
    said: tuple[str, ...]
    folds: int
    share: float
    seed: int

    @property
    def settings(self) -> dict[str, Any]:
        named = {"name": self.model.name, "labels": list(self.model.labels), "weights": self.model.fingerprint()}
        read = {"data": self.data.digest, "dev": self.dev.digest}
        own = {"folds": self.folds, "share": self.share, "seed": self.seed}
        return {"model": named, **read, **own, "recipe": dict(self.how.settings)}

    @cached_property
    def sample(self) -> Sample:
        return sample_of(list(zip(self.data.strings, self.data.labels, strict=True)), "the data")

    def mend(self, files: LabelFiles, sheet_file: Path | None, seeds: int) -> LabelMending:
        engine = Engine(self.model, trained=files.path / _MODELS)
        found = self._found(files, engine)
        if sheet_file is None:
            return found
        known = dict(zip(self.rows, self.data.strings, strict=True))
        labels = corrections(sheet_file, known, self.model.labels)
        done = replace(found, correction=self._correction(engine, labels, found, seeds))
        files.write(PAGE, page(done))
        files.finish(self.settings, replace(done, settings={}).to_dict())
        return done

    def _found(self, files: LabelFiles, engine: Engine) -> LabelMending:
        """As it lies there, or made now; a sheet that people may have begun to fill in is not written again."""
        done = files.read()
        if done and done["result"]:
            settings = {**done["settings"], "versions": versions()}
            return replace(LabelMending.from_dict(done["result"]), settings=settings, correction=None)
        read = signs(self.sample, self.model.labels, self.how, self.folds, self.seed, self._by_gradient())
        found = self._listed(next(engine.run([read])).get(), engine)
        if not (files.path / SHEET).exists():  # else a call that was killed right behind it wrote the same
            files.write(SHEET, sheet(found.suspects))
        files.write(PAGE, page(found))
        files.finish(self.settings, replace(found, settings={}).to_dict())
        return found

    def _listed(self, found: Signs, engine: Engine) -> LabelMending:
        labels = self.model.labels
        given = np.array([labels.index(label) for label in self.data.labels])
        disagreeing = int((found.out_of_fold.argmax(axis=1) != given).sum())
        most = max(1, round(self.share * len(self.data)))
        listed = suspects(self.data, self.rows, labels, found, most)
        fold = dict(zip(self.rows, found.fold.tolist(), strict=True))
        shown = with_words(listed, fold, [engine.models[name] for name in found.models])
        settings = {**self.settings, "versions": versions()}
        return LabelMending(
            self.model.name, len(self.data), disagreeing, tuple(shown), settings, tuple(self._warnings())
        )

    def _by_gradient(self) -> Tracin | None:
        """Over the first half of the model's checkpoints: later ones have learned wrong labels too."""
        place = Path(self.model.name)
        numbers = checkpoints_in(place) if place.is_dir() else []
        method = Tracin(train=TrainingSet(self.sample), checkpoints=tuple(numbers[: -(-len(numbers) // 2)]))
        try:
            require(find_method("tracin"), self.model, method)
        except AssayError:  # a black box has no gradients, and the other signs do without
            return None
        return method

    def _correction(self, engine: Engine, labels: Mapping[int, str], found: LabelMending, seeds: int) -> Correction:
        numbers = range(self.seed, self.seed + seeds)
        mended = corrected(self.data, self.rows, labels)
        _, before = next(engine.run([read_rightly(self.how, self.sample, self.dev, numbers)])).get()
        names, after = next(engine.run([read_rightly(self.how, mended, self.dev, numbers)])).get()
        given = dict(zip(self.rows, self.data.labels, strict=True))
        changed = [row for row, label in labels.items() if label != given[row]]
        suggested = {one.row: one.suggested for one in found.suspects}
        agreed = sum(suggested.get(row) == labels[row] for row in changed)
        place = f"{_MODELS}/{names[0].partition(':')[2]}"
        return Correction(len(labels), len(changed), agreed, before, after, place)

    def _warnings(self) -> Iterator[str]:
        yield from self.said
        if self.by_number:
            yield numbers_read(self.model)
        if self.from_data:
            yield (
                f"{len(self.dev):,} rows of the data were set aside to measure on; their labels were not looked at, "
                "and wrong ones among them hide a part of what corrections gain."
            )
