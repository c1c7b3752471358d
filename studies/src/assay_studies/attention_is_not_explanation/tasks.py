"""The models of the study: one for each dataset, encoder and attention, trained and put through the audit.

    DIR/models/DATASET-ENCODER-ATTENTION            the trained model, which assay.load opens
    DIR/answers/DATASET-ENCODER-ATTENTION.json.gz   what it says of the test texts
    DIR/audits/DATASET-ENCODER-ATTENTION.json.gz    what the audit found on them

Trained as the authors did (see `Recipe`), with GloVe vectors of 50 dimensions in the place of fastText's 300.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from assay.checks.seed_variance import SeedVariance
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.models import TextModel
from assay.models.own.attentive.config import AttentionName, EncoderName
from assay.statistics.arrays import Floats
from assay.text.example import Example
from assay.training.attentive import Attend, attend
from assay.workflows.audit import AttentionAudit, audit_attention
from assay_studies.attention_is_not_explanation.sizes import Sizes
from assay_studies.data.jain_wallace import Split, read
from assay_studies.published import published
from assay_studies.request import Request
from assay_studies.samples import spread_or_all
from assay_studies.specification import Subject
from assay_studies.store import Store

PAPER = published("attention_is_not_explanation")
DATASETS = ("sst", "imdb", "newsgroups", "ag_news", "babi_1", "babi_2", "babi_3", "snli")
TITLES = {
    "sst": "SST",
    "imdb": "IMDb",
    "newsgroups": "20 News (sports)",
    "ag_news": "AG News",
    "babi_1": "bAbI 1",
    "babi_2": "bAbI 2",
    "babi_3": "bAbI 3",
    "snli": "SNLI",
}


SEEDS = (SeedVariance().base_seed, *SeedVariance().seeds)  # those of Wiegreffe and Pinter
BASE: tuple[EncoderName, AttentionName] = ("lstm", "additive")


class Recipe(NamedTuple):
    """What the authors' code has of its own for a dataset."""

    rarest: int
    batch: int = 32
    hidden: int = 128
    vectors: str | None = "glove"


RECIPES = {
    "sst": Recipe(1),
    "imdb": Recipe(10),
    "newsgroups": Recipe(2),
    "ag_news": Recipe(5),
    "babi_1": Recipe(1, 50, 32, None),
    "babi_2": Recipe(1, 50, 32, None),
    "babi_3": Recipe(1, 50, 32, None),
    "snli": Recipe(3, 128),
}


class Setting(NamedTuple):
    """One model of the study; `seed` only where it is not the usual one."""

    dataset: str
    encoder: EncoderName
    attention: AttentionName
    seed: str = ""

    @property
    def way(self) -> tuple[str, ...]:
        """The model without its dataset."""
        return self.encoder, self.attention

    @property
    def name(self) -> str:
        return "-".join(filter(None, self))

    @property
    def published(self) -> str:
        """Its line in the published tables."""
        return ", ".join(self[:3])

    @property
    def title(self) -> str:
        own = f", seed {self.seed}" if self.seed else ""
        return f"{TITLES[self.dataset]}, {self.encoder}, {self.attention}{own}"


class Answers(NamedTuple):
    """What a model says of the test texts: probabilities [texts, labels]."""

    labels: tuple[str, ...]
    chances: Floats


@dataclass(frozen=True, eq=False)
class Task:
    """A setting, its data, and where its model and its audit are kept; `others` differ in their seed alone."""

    setting: Setting
    split: Split
    request: Request
    sizes: Sizes
    store: Store
    others: tuple[Task, ...] = ()

    @property
    def name(self) -> str:
        return self.setting.name

    @cached_property
    def how(self) -> Attend:
        own = RECIPES[self.setting.dataset]
        plain = Attend()
        plan = replace(plain.plan, epochs=self._epochs, seed=int(self.setting.seed or SEEDS[0]))
        return replace(
            plain,
            encoder=self.setting.encoder,
            attention=self.setting.attention,
            hidden=own.hidden,
            vectors=own.vectors if self.sizes.glove else None,
            rarest=own.rarest,
            batch=own.batch,
            answers=self.split.answers,
            plan=plan,
            device=self.request.device,
        )

    @property
    def over(self) -> str:
        """What the intervals of its numbers are over."""
        return f"texts and {1 + len(self.others)} seeds" if self.others else "texts; trained once"

    @property
    def _epochs(self) -> int:
        if self.setting.dataset.startswith("babi"):
            return self.sizes.babi_epochs
        if self.setting.dataset == "imdb":
            return self.sizes.imdb_epochs
        return self.sizes.epochs if self.split.task == "classification" else self.sizes.question_epochs

    @cached_property
    def model(self) -> TextModel:
        self.request.say(f"{self.setting.title}: training")
        train, dev = spread_or_all(self.split.train, self.sizes.train), self.split.dev
        found = attend(
            *_columns(train),
            how=self.how,
            dev=_columns(dev) if dev else None,
            out=self.store.out / "models" / self.setting.name,
            progress=self.request.progress,
        )
        found.name = self.setting.title  # on its page
        return found

    @cached_property
    def test(self) -> tuple[Example, ...]:
        """The test texts; a label that training never saw cannot be predicted, and counts as wrong."""
        return self.split.test

    @cached_property
    def answers(self) -> Answers:
        """Taken from the directory where they are there."""
        if (known := self.store.data("answers", self.setting.name, self.settings)) is not None:
            return Answers(tuple(known["labels"]), np.array(known["chances"]))
        found = Answers(self.model.labels, self.model.predict([example.text for example in self.test]))
        data = {"labels": list(found.labels), "chances": found.chances.tolist()}
        self.store.keep_data("answers", self.setting.name, self.settings, data)
        return found

    @cached_property
    def right(self) -> Floats:
        names = self.answers.labels
        found = [names[i] for i in self.answers.chances.argmax(axis=1)]
        return np.array([a == e.label for a, e in zip(found, self.test, strict=True)], dtype=np.float64)

    @cached_property
    def f1_columns(self) -> Floats:
        """Twice the true positives, and what F1 divides it by, text by text: F1 is the ratio of their sums."""
        positive = self.answers.labels[1]
        predicted = self.answers.chances.argmax(axis=1) == 1
        true = np.array([example.label == positive for example in self.test])
        both = 2.0 * (predicted & true)
        return np.stack([both, both + (predicted != true)], axis=1)

    @cached_property
    def audit(self) -> AttentionAudit:
        """Taken from the directory where it is there."""
        if (known := self.store.data("audits", self.setting.name, self.settings)) is not None:
            return AttentionAudit.from_dict(known)
        found = self._audited()
        self.store.keep_data("audits", self.setting.name, self.settings, found.to_dict())
        return found

    def _audited(self) -> AttentionAudit:
        self.request.say(f"{self.setting.title}: auditing")
        chosen = spread_or_all(self.test, self.sizes.audited)
        return audit_attention(
            self.model,
            [example.text for example in chosen],
            engine=Engine(self.model),
            permutations=self.sizes.permutations,
            k=self.sizes.adversaries,
            steps=self.sizes.steps,
            progress=self.request.progress,
        )

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What decides the model and its audit."""
        own = {name: getattr(self.sizes, name) for name in ("train", "audited", "permutations", "adversaries", "steps")}
        return {**self.how.settings, **own, "texts": len(self.split.train), "test": len(self.split.test)}


def tasks(request: Request, sizes: Sizes, store: Store) -> list[Task]:
    """All settings of the study that are wanted."""
    listed = []
    for dataset in DATASETS:
        if not getattr(sizes, dataset):
            continue
        split = read(dataset, request.directory(LAYOUT))
        listed += [_task(setting, split, request, sizes, store) for setting in settings(dataset, sizes)]
    if not listed:
        raise BadInput("the study has no dataset left: give one of them the size 1.")
    return listed


def _task(setting: Setting, split: Split, request: Request, sizes: Sizes, store: Store) -> Task:
    """The paper's main model with several seeds, the others with one."""
    seeds = SEEDS[1 : sizes.seeds] if setting.way == BASE else ()
    others = (Task(setting._replace(seed=str(seed)), split, request, sizes, store) for seed in seeds)
    return Task(setting, split, request, sizes, store, tuple(others))


@cache
def read_once(dataset: str, directory: Path) -> Split:
    """The dataset, for a process that trains several models on it."""
    return read(dataset, directory)


def settings(dataset: str, sizes: Sizes) -> Iterator[Setting]:
    """The paper's BiLSTM with additive attention first."""
    encoders: list[EncoderName] = ["lstm"]
    encoders += ["average"] if sizes.average_encoder else []
    encoders += ["cnn"] if sizes.cnn_encoder else []
    attentions: list[AttentionName] = ["additive", "dot"] if sizes.dot_attention else ["additive"]
    for attention in attentions:
        for encoder in encoders:
            yield Setting(dataset, encoder, attention)


def by_dataset(listed: Iterable[Task]) -> dict[str, list[Task]]:
    """The models of each dataset."""
    found: dict[str, list[Task]] = {}
    for task in listed:
        found.setdefault(task.setting.dataset, []).append(task)
    return found


def splits(listed: Iterable[Task]) -> dict[str, Split]:
    return {task.setting.dataset: task.split for task in listed}


def ways(subjects: Iterable[Subject], *before: str) -> dict[tuple[str, ...], str]:
    """The encoders and attentions that were measured, as columns; `before` is what their keys begin with."""
    found = (key[len(before) :] for one in subjects for key in one.measures if key[: len(before)] == before)
    return {key: ", ".join(key) for key in found if len(key) == 2}


def _columns(part: tuple[Example, ...]) -> tuple[list[Any], list[str]]:
    return [example.strings for example in part], [str(example.label) for example in part]


LAYOUT = (
    "sst/jw_sst_dataset.csv, imdb/, newsgroups20/, ag_news/, babi_en10k/, babi/en/, snli_train_subset/ and esnli/ "
    "(those of the wanted datasets)"
)
