"""`assay index`: the projected gradients of a training set, written to disk part by part.

    assay.index(model, train, "DIR", layers="last:2", project=512)             -> GradientIndex
    assay.explain(model, text, "trak", index="DIR")

Parts that are there are not made again, so the same call goes on after a kill. The parts are shards for the executors
of runs: with "ray" several workers make them, and this process writes them, the same bytes as one process does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay.engine.engine import Engine
from assay.engine.threads import computing_with, with_threads
from assay.errors import BadFile, BadInput
from assay.methods.influential.shared import shared_training
from assay.methods.influential.training import Training
from assay.models import TextModel, load
from assay.progress import track
from assay.questions.base import Conversation
from assay.questions.parameters import LossTokens
from assay.registry.finding import find_method, require
from assay.statistics.arrays import Floats
from assay.storage.lock import Lock
from assay.text.example import Example
from assay.text.gradient_index import PART, GradientIndex, IndexHeader, IndexPart, begin, write_part
from assay.text.row_views import HeldRows
from assay.text.sample import Sample
from assay.text.training_set import TrainingSet

if TYPE_CHECKING:
    from assay.runs.work import Shard, Tell


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
    executor: str = "inline",
    workers: int | None = None,
    gpus_per_worker: float = 0.0,
    address: str | None = None,
    progress: bool | None = None,
) -> GradientIndex:
    """Write the index of a training set: whatever `TrainingSet.of` reads; of a classifier with labels that it has."""
    from assay.runs import executors  # with pyarrow, which is slow to import
    from assay.runs.work import Shard

    execute = executors.find(executor)
    own = engine.model if engine is not None else load(model, device=device)
    require(find_method("trak"), own)
    if project < 1:
        raise BadInput(f"gradients are projected to 1 dimension or more, not {project}.")
    sample = TrainingSet.of(train).sample
    labels = () if LossTokens in own.answers else own.labels  # a language model's are outcomes, and no text has one
    header = IndexHeader(own.fingerprint(), labels, len(sample), sample.digest, layers, project, seed)
    place, here = Path(out), executor == "inline"
    job = IndexJob(own if engine is not None or not _travels(model) else model, device, threads or _threads(), header)
    options = executors.Options(workers, gpus_per_worker, address, own if here else None)
    with _alone(place) as held:
        missing = begin(place, header)
        shards = (Shard(i, tuple(sample.rows(i * PART, (i + 1) * PART))) for i in missing)
        for made in track(execute(job, shards, options), len(missing), "indexing", progress):
            held.require()
            write_part(place, made.number, made.part)
    return GradientIndex(place)


def _travels(model: Any) -> bool:
    """Whether workers load the model themselves: by its name or its place."""
    return isinstance(model, str | Path)


def _threads() -> int:
    """As many as this process has: the number decides the last bits of sums."""
    import torch  # slow to import

    return torch.get_num_threads()


@dataclass(frozen=True)
class IndexJob:
    """What a worker on an index must know."""

    model: Any
    device: str | None
    threads: int
    header: IndexHeader

    def worker(self, model: TextModel | None = None) -> IndexWorker:
        return IndexWorker(self, model)


@dataclass(frozen=True)
class MadePart:
    """A part of an index, ready to be written."""

    number: int
    part: IndexPart


class IndexWorker:
    """One model, ready to take the gradients of parts."""

    def __init__(self, job: IndexJob, model: TextModel | None) -> None:
        self.job, self.model = job, model or load(job.model, device=job.device)

    def work(self, shard: Shard, tell: Tell = lambda cells: None) -> MadePart:
        """In an engine of its own, with nothing remembered of another part: so its bytes do not tell who made it."""
        with computing_with(self.job.threads):
            outcome = next(Engine(self.model).run([_part(shard.rows, self.job.header)]))
        return MadePart(shard.number, outcome.get())


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
    sample = Sample(HeldRows(tuple(held)), "the training set")  # whose rows keep the places that errors name
    training: Training = yield from shared_training(TrainingSet(sample), "index")
    found: Floats = yield training.gradients(training.features, header.layers, header.project, header.seed)
    read = [target.strings for target in training.losses.targets]
    return IndexPart(held, read, found[:, header.project :], found[:, : header.project])
