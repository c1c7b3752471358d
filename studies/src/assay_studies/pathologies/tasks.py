"""The tasks of the study: texts, the model that is reduced, and what its texts are reduced to.

snli      SNLI dev, of which the bundled model saw nothing; the hypothesis is reduced. Other models learn from pairs of
          SNLI train
sst       SST-2 dev (a task of one text, as section 5.3 has it)
squad     SQuAD dev, the question is reduced
scenes    questions about generated scenes in the place of VQA, by a small visual model that is trained here

DIR/reduced/TASK.json.gz     the reduced texts with the ways to them
DIR/models/, DIR/mend/       models that were trained for the study
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from assay.data import esnli, sst
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.edits import Edits
from assay.models import TextModel, load
from assay.questions.base import Conversation
from assay.text.example import Example
from assay.verbs import explain
from assay.workflows.mend import MendResult, mend
from assay.workflows.people.free_answers import plain
from assay_studies.asking import asked
from assay_studies.data import squad
from assay_studies.models.scenes.images import questions
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.sizes import Sizes
from assay_studies.published import published
from assay_studies.request import Request
from assay_studies.samples import spread
from assay_studies.store import Store

T = TypeVar("T")
PAPER = published("pathologies")
TITLES = {"snli": "SNLI", "sst": "SST-2", "squad": "SQuAD", "scenes": "Scenes"}
MODELS = {"snli": "snli", "sst": "sst2", "squad": "squad", "scenes": "scenes"}
LAYOUT = (
    "esnli/{s1,s2,labels}.dev and snli_train_subset/snli.tsv.xz (snli), sst2/{dev,train}.tsv and sst/trees/train.txt "
    "(sst), and squad_v1.1/{dev,train}.json.xz (squad); a task of size 0 needs no files"
)
_TRAIN, _STUDIED = 1, 2  # seeds of the scenes to learn from and of those that are reduced
_ALL = 0.99  # whatever mending does to accuracy, the study reports it
_FEW = 2


@dataclass(frozen=True, eq=False)
class Task:
    """One dataset; `others` are labelled texts to learn from. Models and reductions are made when first wanted."""

    name: str
    examples: tuple[Example, ...]
    others: tuple[Example, ...]
    request: Request
    sizes: Sizes
    store: Store
    notes: tuple[str, ...] = ()
    sentences: tuple[Example, ...] = ()  # for the attentive model, where it learns from others than mending does

    def __post_init__(self) -> None:
        if len(self.examples) < _FEW:
            raise BadInput(f"{self.title} has {len(self.examples)} usable texts; a study needs {_FEW} or more.")

    @property
    def title(self) -> str:
        return TITLES[self.name]

    @cached_property
    def model(self) -> TextModel:
        found = self._opened()
        unknown = set() if found.target is not None else {str(e.label) for e in self.examples} - set(found.labels)
        if unknown:
            raise BadInput(
                f"{self.title} has the label {min(unknown)}, which the model {found.name} does not know; its labels "
                f"are {', '.join(found.labels)}."
            )
        return found

    def _opened(self) -> TextModel:
        if self.name != "scenes" or "scenes" in self.request.models:
            return self.request.open(MODELS[self.name])
        from assay_studies.pathologies.other_models import visual  # trainers are only wanted where they train

        model = visual(self)
        model.name = MODELS[self.name]  # not the directory, which may be elsewhere tomorrow
        return model

    @cached_property
    def engine(self) -> Engine:
        return Engine(self.model)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What the reductions depend on."""
        return {"texts": digest(self.examples), "model": self._identity, "beam": self.sizes.beam}

    @property
    def _identity(self) -> str:
        """A model that was trained here is what it learned from: its place must not count."""
        if self.name != "scenes" or "scenes" in self.request.models:
            return self.model.fingerprint()
        return f"visual {self.learned} {self.sizes.scene_epochs}"

    @cached_property
    def learned(self) -> str:
        """A digest of the texts that other models learn from, however many of them each takes."""
        return digest(self.others, self.sentences)

    @cached_property
    def reduced(self) -> Reduced:
        return self.reduced_by(lambda: self.engine, self.examples, self.name, self.settings)

    def reduced_by(
        self, engine: Callable[[], Engine], examples: Sequence[Example], name: str, settings: dict[str, Any]
    ) -> Reduced:
        """Texts reduced by a model of this task, taken from the directory where they are there."""

        def reduce() -> list[dict[str, Any]]:
            self.request.say(f"{self.title}: reducing {len(examples)} texts ({name})")
            options: dict[str, Any] = {"engine": engine(), "progress": self.request.progress, "beam": self.sizes.beam}
            texts: list[Any] = [example.text for example in examples]
            found: list[Edits] = explain(None, texts, "input_reduction", **options)
            return [e.to_dict() for e in found]

        edits = tuple(map(Edits.from_dict, self.store.once("reduced", name, settings, reduce)))
        return Reduced(name, self.title, edits, tuple(map(self._gold, edits, examples)))

    def _gold(self, e: Edits, example: Example) -> str:
        """The right label; of several right answers the one that was given, if it was."""
        right = squad.answers(example) if self.name == "squad" else []
        return e.label if any(plain(answer) == plain(e.label) for answer in right) else str(example.label)

    def ask(self, talks: Iterable[Conversation[T]], engine: Engine | None = None) -> list[T]:
        return asked(engine or self.engine, talks)

    @property
    def mendable(self) -> bool:
        return (self.name in ("snli", "sst") and self.sizes.mend_train > 0) or self.mends_spans

    @property
    def mends_spans(self) -> bool:
        return self.name == "squad" and self.sizes.mend_squad > 0

    def mend_place(self, floor: int = 0) -> Path:
        names = ("squad",) if self.mends_spans else ("train", "reduced")
        sizes = [getattr(self.sizes, f"mend_{name}") for name in (*names, "epochs", "rank")]
        return self.store.out / "mend" / f"{self.name}-{floor}-{digest(self.settings, self.learned, sizes)}"

    @property
    def after(self) -> TextModel:
        """The mended model."""
        self.mended()  # from now on it is there
        return load(self.mend_place(), device=self.request.device)

    @cached_property
    def second(self) -> TextModel | None:
        """Another architecture for the task; None where there is none, or none is wanted."""
        from assay_studies.pathologies.other_models import second  # trainers are only wanted where they train

        return second(self)

    @cached_property
    def mendings(self) -> dict[str, MendResult]:
        """By the paper's rule, and by that of the released code for SNLI, as titles of a table."""
        floor = 0 if self.mends_spans else self.sizes.mend_floor
        found = {self.title: self.mended()}
        return found | ({f"{self.title}, at least {floor / 100:g} sure": self.mended(floor)} if floor else {})

    def mended(self, floor: int = 0) -> MendResult:
        """Before, after, and after random reductions, measured on the studied texts; `mend` keeps what it found."""
        self.request.say(f"{self.title}: mending" + (f", {floor} % sure" if floor else ""))
        count, reduced = self.sizes.mend_train, self.sizes.mend_reduced
        if self.mends_spans:
            count, reduced = self.sizes.mend_squad, -(-self.sizes.mend_squad // 2)
        train = spread(self.others, count)
        return mend(
            self.model,
            train,
            self.examples,
            out=self.mend_place(floor),
            margin=_ALL,
            beam=self.sizes.beam,
            at_least=floor / 100,
            limit=reduced or None,
            epochs=self.sizes.mend_epochs,
            rank=self.sizes.mend_rank,
            device=self.request.device,
            progress=self.request.progress,
        )


def tasks(request: Request, sizes: Sizes, store: Store) -> list[Task]:
    """All that are wanted; every file is read before a model is loaded."""
    wanted = [name for name in TITLES if getattr(sizes, name)]
    if not wanted:
        raise BadInput("the study has no task left: give one of them a number of texts.")
    found = []
    for name in wanted:
        examples, others, notes = _READ[name](request, sizes)
        known = _sentences(request) if name == "sst" and sizes.checkpoints else ()
        found.append(Task(name, tuple(examples), tuple(others), request, sizes, store, notes, known))
    return found


Read = tuple[Sequence[Example], Sequence[Example], tuple[str, ...]]


def _snli(request: Request, sizes: Sizes) -> Read:
    """The pairs to learn from share no premise with those that are studied."""
    place = request.file("esnli/s1.dev", LAYOUT).parent
    for name in ("s2.dev", "labels.dev"):
        request.file(f"esnli/{name}", LAYOUT)
    dev = list(esnli.pairs(place, "dev"))
    studied = spread(dev, sizes.snli)
    held = {row.strings[0] for row in studied}
    learned = esnli.tagged(request.file("snli_train_subset/snli.tsv.xz", LAYOUT))
    others = [row for row in learned if row.strings[0] not in held]
    return studied, others, (f"SNLI: {len(studied):,} of {len(dev):,} pairs of dev.",)


def _sst(request: Request, sizes: Sizes) -> Read:
    studied = spread(list(sst.glue(request.file("sst2/dev.tsv", LAYOUT))), sizes.sst)
    others = sst.glue(request.file("sst2/train.tsv", LAYOUT)) if sizes.mend_train else ()
    return studied, list(others), ()


def _sentences(request: Request) -> tuple[Example, ...]:
    return tuple(sst.read(request.file("sst/trees/train.txt", LAYOUT)))


def _squad(request: Request, sizes: Sizes) -> Read:
    studied = spread(list(squad.read(_packed(request, "squad_v1.1/dev.json"))), sizes.squad)
    learn = sizes.drqa_train or sizes.mend_squad
    others = squad.read(_packed(request, "squad_v1.1/train.json")) if learn else ()
    return studied, list(others), ()


def _packed(request: Request, name: str) -> Path:
    """The file as it is published, or packed."""
    plain_file = request.directory(LAYOUT) / name
    return plain_file if plain_file.is_file() else request.file(f"{name}.xz", LAYOUT)


def _scenes(request: Request, sizes: Sizes) -> Read:
    note = "Scenes: generated images of coloured shapes, questions and answers (assay_studies.models), in place of VQA."
    others = [] if "scenes" in request.models else questions(sizes.scene_train, seed=_TRAIN)
    known = {row.strings for row in others}
    fresh = (row for row in questions(2 * sizes.scenes, seed=_STUDIED) if row.strings not in known)
    return [row for row, _ in zip(fresh, range(sizes.scenes), strict=False)], others, (note,)


_READ: dict[str, Callable[[Request, Sizes], Read]] = {
    "snli": _snli,
    "sst": _sst,
    "squad": _squad,
    "scenes": _scenes,
}


def columns(rows: Iterable[Example]) -> tuple[list[Any], list[str]]:
    """Strings and labels, as trainers take them."""
    known = list(rows)
    return [row.strings for row in known], [str(row.label) for row in known]


def digest(*data: Any) -> str:
    return blake2b(repr(data).encode(), digest_size=6).hexdigest()


def notes(listed: Iterable[Task]) -> Iterator[str]:
    return (note for task in listed for note in task.notes)
