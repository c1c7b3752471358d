"""The texts of the study, what people marked in them, and the model that is explained: one engine for each dataset.

SST-2    dev of GLUE, 872 sentences; people's highlights are the phrase labels of the same sentences in the treebank
e-SNLI   pairs of SNLI dev with highlighted words; the bundled model has seen nothing of SNLI dev. The file of the
         authors has no neutral pairs: theirs come with the highlights of one person from esnli_dev_test_nile/dev.tsv.xz
MultiRC  answers of dev to questions about a passage, by a model that is trained for it, see multirc_task

All are split into tokens, as the paper's are, so that a word is what stands between blanks. Models that the study
trains are trained when they are first asked: what is finished needs none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from assay.data import sst
from assay.data.highlights import Highlights
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.models import TextModel
from assay.questions.base import Conversation
from assay.text.example import Example
from assay.text.text import Masks
from assay.verbs import explain
from assay.verdicts.concluding import VerdictBuilder
from assay_studies.asking import asked, examined
from assay_studies.double_trouble import multirc_task
from assay_studies.double_trouble.further_trained import digest, further_trained, learnable, training_of
from assay_studies.double_trouble.methods import FURTHER, METHODS
from assay_studies.double_trouble.sizes import Sizes
from assay_studies.double_trouble.texts import LAYOUT, Read, e_snli, sst2
from assay_studies.published import published
from assay_studies.request import Request
from assay_studies.rules import Learned
from assay_studies.samples import spread
from assay_studies.store import Store

T = TypeVar("T")
SPLIT = "whitespace"
DATASETS = {"sst2": "SST-2", "esnli": "e-SNLI", "multirc": "MultiRC"}
NOT_MEASURED = {"multirc": "MultiRC was left out: no bundled model reads it, and --size multirc_train=0 trains none."}
PAPER = published("double_trouble")
_FEW = 2
_EPOCHS, _RATE, _BATCH = 3, 2e-4, 128  # of the models of Tables 2 and A6, see retraining


@dataclass(eq=False)
class Task:
    """One dataset and its model; explanations are made when they are first wanted, and kept.

    `opened` gives the engine; `identity` names a model that the study trains. `part` marks a task that has only some of
    the texts; `train` and `trainer` are for the part that trains models; `judged_on` gives the accuracy of the model on
    more texts of dev than are explained, and their labels.
    """

    name: str
    opened: Callable[[], Engine]
    examples: Sequence[Example]
    highlights: dict[str, Highlights]
    sizes: Sizes
    store: Store
    say: Callable[[str], None]
    progress: bool | None = False
    notes: tuple[str, ...] = ()
    part: str = ""
    train: Path | None = None
    trainer: Any = "finetune"
    identity: str = ""
    filler: str = ""
    further_trained: str = ""
    judged_on: Callable[[Callable[[], TextModel]], tuple[float, list[str]]] | None = None

    def __post_init__(self) -> None:
        self._maps: dict[str, list[TokenScores]] = {}
        self._of: dict[str, Any] = {}
        if len(self.examples) < _FEW:
            raise BadInput(f"{self.title} has {len(self.examples)} usable texts; a study needs {_FEW} or more.")

    @cached_property
    def engine(self) -> Engine:
        found = self.opened()
        if unknown := {str(e.label) for e in self.examples} - set(found.model.labels):
            raise BadInput(
                f"{self.title} has the labels {', '.join(sorted(unknown))}, which the model {found.model.name} "
                f"does not know; its labels are {', '.join(found.model.labels)}."
            )
        return found

    @property
    def model_name(self) -> str:
        return self.name if self.identity else self.engine.model.name

    @cached_property
    def accuracy(self) -> tuple[float, list[str]] | None:
        return None if self.judged_on is None else self.judged_on(lambda: self.engine.model)

    @cached_property
    def learned(self) -> Learned | None:
        """How good the model is on the texts that are explained, or on those that it is judged on."""
        if self.accuracy is None:
            return Learned.of(self.correct.astype(float), (str(e.label) for e in self.examples))
        share, labels = self.accuracy
        return Learned.of((np.arange(len(labels)) < round(share * len(labels))).astype(float), labels)

    @property
    def title(self) -> str:
        return DATASETS[self.name]

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What a result on this task depends on besides the method: the texts, the models, the unit."""
        texts = repr([(e.strings, e.label) for e in self.examples]).encode()
        models = {"model": self.identity or self.engine.model.fingerprint(), "mlm": self.filler}
        return {"texts": blake2b(texts, digest_size=8).hexdigest(), "split": SPLIT, **models}

    def of(self, name: str, make: Callable[[Task], T]) -> T:
        """What is made of this task once."""
        if name not in self._of:
            self._of[name] = make(self)
        found: T = self._of[name]
        return found

    def maps(self, method: str) -> list[TokenScores]:
        """The explanations of all texts by a method of the study."""
        if method not in self._maps:
            self._maps[method] = self._made(method)
        return self._maps[method]

    def _made(self, method: str) -> list[TokenScores]:
        name, parameters = METHODS[method](self.sizes)
        settings = {**self.settings, **self.further(parameters), "method": name, "parameters": parameters}
        place = f"{self.name}{self.part}-{method}"
        if (known := self.store.maps(place, settings)) is not None:
            return known
        self.say(f"{self.title}: explaining {len(self.examples)} texts by {method}")
        texts: list[Any] = [example.text for example in self.examples]
        options: dict[str, Any] = {"split": SPLIT, "engine": self.engine, "progress": self.progress}
        made: list[TokenScores] = explain(None, texts, name, **options, **parameters)
        self.store.keep_maps(place, settings, made)
        return made

    def further(self, parameters: Mapping[str, Any]) -> dict[str, str]:
        """The masked language model that was trained further, where these parameters name it."""
        named = FURTHER in (parameters.get("model"), str(parameters.get("eraser", "")).rpartition(":")[2])
        return {FURTHER: self.further_trained} if named else {}

    @property
    def cases(self) -> list[Case]:
        """The texts with the predicted label."""
        return [e.case for e in self.maps("Random")]

    @cached_property
    def correct(self) -> Masks:
        """The texts whose label is predicted right."""
        maps = zip(self.maps("Random"), self.examples, strict=True)
        right = np.array([e.label == example.label for e, example in maps])
        if not right.any():
            raise BadInput(f"the model {self.model_name} predicts no text of {self.title} right; use another.")
        return right

    def of_correct(self, method: str) -> list[TokenScores]:
        """The explanations of right predictions, on which the paper compares methods."""
        return [e for e, right in zip(self.maps(method), self.correct, strict=True) if right]

    def judge(self, check: Any, maps: Sequence[TokenScores]) -> VerdictBuilder:
        return examined(self.engine, maps, check, self.sizes.random_maps, self.progress)

    def ask(self, talks: Iterable[Conversation[T]]) -> list[T]:
        return asked(self.engine, talks)


def tasks(request: Request, sizes: Sizes, store: Store) -> list[Task]:
    """The datasets of the study; every file is looked for before a model is loaded."""
    read = {"sst2": sst2(request, sizes.sst2), "esnli": e_snli(request, sizes.esnli)}
    train, answers = _train(request, sizes), multirc_task.files(request, sizes, LAYOUT)
    also = _Also.of(request, sizes, train)
    models = {"sst2": "sst2", "esnli": "snli"}
    found = [_task(name, partial(also.open, models[name]), rows, also, sizes, store) for name, rows in read.items()]
    found = [replace(task, train=train, trainer=_trainer(request)) for task in found]
    return [*found, _multirc(also, sizes, store, *answers)] if answers else found


@dataclass(frozen=True, eq=False)
class _Also:
    """The request, and the masked language model that is trained further on these sentences when it is first asked."""

    request: Request
    sentences: Sequence[str] = ()

    @classmethod
    def of(cls, request: Request, sizes: Sizes, train: Path | None) -> _Also:
        if not (train and sizes.mlm_train) or FURTHER in request.models:
            return cls(request)
        known = (row.strings[0] for row in sst.glue(request.file("sst2/dev.tsv", LAYOUT)))
        return cls(request, spread(learnable(train, known), sizes.mlm_train))

    def open(self, name: str) -> TextModel:
        asked = further_trained(self.request, self.sentences) if name == FURTHER and self.sentences else self.request
        return asked.open(name)

    @cached_property
    def filler(self) -> str:
        return self.request.open("mlm").fingerprint()

    @cached_property
    def further(self) -> str:
        """What the further trained model is, before it is trained."""
        if self.sentences:
            return digest(training_of(self.filler, self.sentences))
        return self.request.open(FURTHER).fingerprint() if FURTHER in self.request.models else ""


def left_out(found: Iterable[Task]) -> tuple[str, ...]:
    """Which of the paper's datasets are not there."""
    names = {task.name for task in found}
    return tuple(note for name, note in NOT_MEASURED.items() if name not in names)


def is_sst2(task: Task) -> bool:
    return task.name == "sst2"


def is_short(task: Task) -> bool:
    """Not MultiRC: the paper does not have it in some tables, and its texts are long."""
    return task.name != multirc_task.NAME


def _train(request: Request, sizes: Sizes) -> Path | None:
    """The sentences to train models on, where some are to be trained."""
    if not (sizes.roar_train or sizes.mlm_train):
        return None
    without = "--size mlm_train=0 and roar_train=0 do without it"
    return request.file("sst2/train.tsv", f"{LAYOUT}, and sst2/train.tsv to train models ({without})")


def _task(name: str, open: Callable[[], TextModel], read: Read, also: _Also, sizes: Sizes, store: Store) -> Task:
    def opened() -> Engine:
        return Engine(open(), resolve=also.open)

    return Task(
        name,
        opened,
        read.examples,
        read.highlights,
        sizes,
        store,
        also.request.say,
        also.request.progress,
        read.notes,
        filler=also.filler,
        further_trained=also.further,
    )


def _multirc(also: _Also, sizes: Sizes, store: Store, train: Path | None, dev: Path) -> Task:
    request = also.request
    found = multirc_task.answers(request, train, dev)
    rows = Read(found.explained(sizes.multirc), {multirc_task.NAME: found.highlights}, (found.note,))
    task = _task(multirc_task.NAME, partial(multirc_task.reader, request, sizes, found), rows, also, sizes, store)
    identity = multirc_task.identity(request, sizes, found, also.filler)
    return replace(
        task,
        identity=identity,
        judged_on=partial(multirc_task.accuracy, found=found, sizes=sizes, store=store, identity=identity),
    )


def _trainer(request: Request) -> Any:
    from assay.training.finetune import FineTune  # only wanted where models are trained
    from assay.training.fit import Plan

    plan = Plan(epochs=_EPOCHS, rate=_RATE)
    return request.models.get("trainer") or FineTune(device=request.device, plan=plan, batch=_BATCH)
