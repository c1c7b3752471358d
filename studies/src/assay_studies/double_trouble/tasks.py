"""The texts of the study, what people marked in them, and the model that is explained: one engine for each dataset.

SST-2    dev of GLUE, 872 sentences; people's highlights are the phrase labels of the same sentences in the treebank
e-SNLI   pairs of SNLI dev with highlighted words. The bundled model was trained on most of SNLI dev: of these pairs
         only those count whose premise it never saw
MultiRC  answers of dev to questions about a passage, by a model that is trained for it, see multirc_task

All are split into tokens, as the paper's are, so that a word is what stands between blanks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

from assay.data import esnli, sst
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
from assay.verdicts.judge import judged
from assay_studies.double_trouble import multirc_task
from assay_studies.double_trouble.further_trained import further_trained, learnable
from assay_studies.double_trouble.methods import FURTHER, METHODS
from assay_studies.double_trouble.sizes import Sizes
from assay_studies.published import published
from assay_studies.request import Request
from assay_studies.samples import spread
from assay_studies.store import Store

T = TypeVar("T")
SPLIT = "whitespace"
LAYOUT = "sst2/dev.tsv, sst/trees/dev.txt and esnli/dev_human_highlights_from_im.jsonl"
DATASETS = {"sst2": "SST-2", "esnli": "e-SNLI", "multirc": "MultiRC"}
NOT_MEASURED = {"multirc": "MultiRC was left out: no bundled model reads it, and --size multirc_train=0 trains none."}
PAPER = published("double_trouble")
_FEW = 2


@dataclass(eq=False)
class Task:
    """One dataset and its model; explanations are made when they are first wanted, and kept.

    `part` marks a task that has only some of the texts; `train` and `trainer` are for the part that trains models;
    `accuracy` is that of the model on more texts of dev than are explained, and on how many.
    """

    name: str
    engine: Engine
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
    accuracy: tuple[float, int] | None = None

    def __post_init__(self) -> None:
        self._maps: dict[str, list[TokenScores]] = {}
        if len(self.examples) < _FEW:
            raise BadInput(f"{self.title} has {len(self.examples)} usable texts; a study needs {_FEW} or more.")
        if unknown := {str(e.label) for e in self.examples} - set(self.engine.model.labels):
            raise BadInput(
                f"{self.title} has the labels {', '.join(sorted(unknown))}, which the model {self.engine.model.name} "
                f"does not know; its labels are {', '.join(self.engine.model.labels)}."
            )

    @property
    def title(self) -> str:
        return DATASETS[self.name]

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What a result on this task depends on besides the method: the texts, the models, the unit."""
        texts = repr([(e.strings, e.label) for e in self.examples]).encode()
        filler = self.engine.resolve("mlm").fingerprint()
        models = {"model": self.engine.model.fingerprint(), "mlm": filler}
        return {"texts": blake2b(texts, digest_size=8).hexdigest(), "split": SPLIT, **models}

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
        named = str(parameters.get("eraser", "")).endswith(f":{FURTHER}")
        return {FURTHER: self.engine.resolve(FURTHER).fingerprint()} if named else {}

    @property
    def cases(self) -> list[Case]:
        """The texts with the predicted label."""
        return [e.case for e in self.maps("Random")]

    @cached_property
    def correct(self) -> Masks:
        """The texts whose label is predicted right."""
        labels = self.engine.model.labels
        cases = zip(self.cases, self.examples, strict=True)
        right = np.array([labels[case.target] == example.label for case, example in cases])
        if not right.any():
            raise BadInput(f"the model {self.engine.model.name} predicts no text of {self.title} right; use another.")
        return right

    def of_correct(self, method: str) -> list[TokenScores]:
        """The explanations of right predictions, on which the paper compares methods."""
        return [e for e, right in zip(self.maps(method), self.correct, strict=True) if right]

    def judge(self, check: Any, maps: Sequence[TokenScores]) -> VerdictBuilder:
        """What a check measures on each text, and its verdict: by the judge that `assay check` has."""
        draws = self.sizes.random_maps
        return next(judged(self.engine, maps, [check], draws=draws, progress=self.progress))

    def ask(self, talks: Iterable[Conversation[T]]) -> list[T]:
        return [outcome.get() for outcome in self.engine.run(talks)]


class Read(NamedTuple):
    """The texts of a dataset, what people marked in them, and what is to be said about them."""

    examples: list[Example]
    highlights: dict[str, Highlights]
    notes: tuple[str, ...] = ()


def tasks(request: Request, sizes: Sizes, store: Store) -> list[Task]:
    """The datasets of the study; every file is looked for before a model is loaded."""
    read = {"sst2": _sst2(request, sizes.sst2), "esnli": _esnli(request, sizes.esnli)}
    train, answers = _train(request, sizes), multirc_task.files(request, sizes, LAYOUT)
    if train and sizes.mlm_train:
        known = (row.strings[0] for row in sst.glue(request.file("sst2/dev.tsv", LAYOUT)))
        request = further_trained(request, spread(learnable(train, known), sizes.mlm_train))
    models = {"sst2": "sst2", "esnli": "snli"}
    found = [_task(name, request.open(models[name]), rows, request, sizes, store) for name, rows in read.items()]
    found = [replace(task, train=train, trainer=_trainer(request)) for task in found]
    return [*found, _multirc(request, sizes, store, *answers)] if answers else found


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


def _task(name: str, model: TextModel, read: Read, request: Request, sizes: Sizes, store: Store) -> Task:
    engine = Engine(model, resolve=request.open)
    return Task(name, engine, read.examples, read.highlights, sizes, store, request.say, request.progress, read.notes)


def _multirc(request: Request, sizes: Sizes, store: Store, train: Path | None, dev: Path) -> Task:
    found = multirc_task.answers(request, train, dev)
    model = multirc_task.reader(request, sizes, found)
    rows = Read(found.explained(sizes.multirc), {multirc_task.NAME: found.highlights}, (found.note,))
    task = _task(multirc_task.NAME, model, rows, request, sizes, store)
    return replace(task, accuracy=multirc_task.accuracy(model, found, sizes, store))


def _trainer(request: Request) -> Any:
    from assay.training.finetune import FineTune  # only wanted where models are trained

    return request.models.get("trainer") or FineTune(device=request.device)


def _sst2(request: Request, count: int) -> Read:
    examples = spread(list(sst.glue(request.file("sst2/dev.tsv", LAYOUT))), count)
    trees = request.file("sst/trees/dev.txt", LAYOUT)
    gold = {"sst2": _lowered(sst.read(trees), "SST"), "sst2_strong": _lowered(sst.read(trees, clear=2), "SST, strong")}
    return Read(examples, gold)


def _esnli(request: Request, count: int) -> Read:
    path = request.file("esnli/dev_human_highlights_from_im.jsonl", LAYOUT)
    rows, notes = _unseen(list(esnli.tokens(path)), bundled="snli" not in request.models)
    return Read(spread(rows, count), {"esnli": Highlights.of(rows, "e-SNLI")}, notes)


def _lowered(examples: Iterable[Example], name: str) -> Highlights:
    """GLUE has the sentences of the treebank in small letters."""
    small = (replace(e, strings=tuple(string.lower() for string in e.strings)) for e in examples)
    return Highlights.of((e for e in small), name)


def _unseen(rows: list[Example], bundled: bool) -> tuple[list[Example], tuple[str, ...]]:
    """The pairs that the bundled model was not trained on."""
    if not bundled:
        return rows, ()
    clean = import_module("assay_zoo.heldout").is_clean_snli_premise
    kept = [row for row in rows if clean(row.strings[0], "dev")]
    note = f"e-SNLI: of {len(rows):,} highlighted pairs the {len(kept):,} were used whose premise the model never saw."
    return kept, (note,)
