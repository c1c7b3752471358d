"""`assay index`: the projected gradients of a training set, written to disk part by part.

    assay.index(model, train, "DIR", layers="last:2", project=512)             -> GradientIndex
    assay.explain(model, text, "trak", index="DIR")

Parts that are there are not made again, so the same call goes on after a kill.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from assay.engine.engine import Engine
from assay.engine.threads import with_threads
from assay.errors import BadFile, BadInput
from assay.methods.influential.shared import shared_training
from assay.methods.influential.training import Training
from assay.models import load
from assay.progress import track
from assay.questions.base import Conversation
from assay.questions.parameters import LossTokens
from assay.registry.finding import find_method, require
from assay.statistics.arrays import Floats
from assay.storage.lock import Lock
from assay.text.example import Example
from assay.text.gradient_index import PART, GradientIndex, IndexHeader, IndexPart, begin, write_part
from assay.text.sample import Sample
from assay.text.training_set import TrainingSet


@with_threads
def index(
    model: Any,
    train: Any,
    out: str | Path,
    *,
    layers: str = "last:2",
    project: int = 512,
    seed: int = 0,
    device: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: bool | None = None,
) -> GradientIndex:
    """Write the index of a training set: whatever `TrainingSet.of` reads, with labels that the model has."""
    engine = engine or Engine(load(model, device=device))
    require(find_method("trak"), engine.model)
    if project < 1:
        raise BadInput(f"gradients are projected to 1 dimension or more, not {project}.")
    sample = TrainingSet.of(train).sample
    own = engine.model
    labels = () if LossTokens in own.answers else own.labels  # a language model's are outcomes, and no text has one
    header = IndexHeader(own.fingerprint(), labels, len(sample), sample.digest, layers, project, seed)
    place = Path(out)
    with _alone(place) as held:
        missing = begin(place, header)
        for number in track(missing, len(missing), "indexing", progress):
            rows = list(sample.rows(number * PART, (number + 1) * PART))
            part = next(Engine(own).run([_part(rows, header)])).get()
            held.require()
            write_part(place, number, part)
    return GradientIndex(place)


@contextmanager
def _alone(place: Path) -> Iterator[Lock]:
    """The directory, for this process alone."""
    with ExitStack() as stack:
        try:
            place.mkdir(parents=True, exist_ok=True)
            held = stack.enter_context(Lock(place))
        except OSError as error:
            raise BadFile(f"{place} cannot be used for an index: {error.strerror or error}.") from error
        yield held


def _part(rows: Sequence[Example], header: IndexHeader) -> Conversation[IndexPart]:
    held = [Example(row.id, row.strings, row.label, position=row.position) for row in rows]
    training: Training = yield from shared_training(TrainingSet(Sample.of(held, name="the training set")), "index")
    found: Floats = yield training.gradients(training.features, header.layers, header.project, header.seed)
    read = [target.strings for target in training.losses.targets]
    return IndexPart(held, read, found[:, header.project :], found[:, : header.project])
