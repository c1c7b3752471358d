"""The tasks of the study: the texts of a dataset, the model that reads them, a judge, and the edits of each way.

Edited are texts that the model is right about: only from these does an adversarial example start (survey, section 7).

DIR/edited/TASK-WAY-0.json.gz     the edits of the first texts, and so on: what a kill costs is one portion
DIR/rules/TASK-SOURCE.json.gz     the rules that SEAR found
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, TypeVar

from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.edits import Edits
from assay.explanations.rewritten import Rewritten
from assay.models import TextModel, load
from assay.questions.base import Conversation
from assay.text.example import text_of
from assay.text.text import TextLike
from assay.verbs import explain
from assay_studies.asking import asked, examined
from assay_studies.edits.judges import judge_of
from assay_studies.edits.sizes import Sizes
from assay_studies.edits.texts import DATASETS, LabelledText
from assay_studies.edits.ways import PEOPLE, RANDOM, WAYS
from assay_studies.published import Published
from assay_studies.request import Request
from assay_studies.samples import spread
from assay_studies.store import Store

T = TypeVar("T")
JUDGE = "judge"
PAPER = Published({})  # the survey prints no numbers of these methods
_PORTION = 25  # texts that are edited together
_MORE = 2  # so many times as many texts are read: of some the model is wrong


@dataclass(frozen=True, eq=False)
class Task:
    """One dataset: `rows` are all its texts, `texts` those that are edited."""

    name: str
    rows: tuple[LabelledText, ...]
    texts: tuple[LabelledText, ...]
    model: TextModel
    request: Request
    sizes: Sizes
    store: Store

    @property
    def title(self) -> str:
        return DATASETS[self.name].title

    @cached_property
    def engine(self) -> Engine:
        return Engine(self.model, resolve=self._other)

    @cached_property
    def judge(self) -> TextModel:
        self.request.say(f"{self.title}: the judge learns")
        source = DATASETS[self.name].learned_from(self.request, self.texts)
        return judge_of(list(source), self.model.labels, self.sizes.judged).model()

    def _other(self, name: str) -> TextModel:
        """Models that questions name are on the device of the study."""
        if name == JUDGE:
            return self.judge
        return load(self.request.models.get(name, name), device=self.request.device)

    @cached_property
    def settings(self) -> dict[str, Any]:
        """What the edits depend on."""
        texts = json.dumps([(one.strings, one.label, one.revised) for one in self.texts]).encode()
        ways = {key: [way.method, dict(way.settings)] for key, way in WAYS.items()}
        digest = blake2b(texts, digest_size=8).hexdigest()
        return {"texts": digest, "model": self.model.fingerprint(), "ways": ways}

    @property
    def ways(self) -> Iterator[str]:
        """Those that can be measured here, in the order of the tables."""
        yield from (key for key, way in WAYS.items() if not (way.shorts and self.name == "imdb"))
        yield RANDOM
        if all(one.revised for one in self.texts):
            yield PEOPLE

    def edited(self, way: str) -> list[Edits]:
        """The edits of the texts, or of the first of them where the way is slow."""
        if way == RANDOM:
            return [next(e.random_like(1)) for e in self.edited("mice")]
        if way == PEOPLE:
            pairs = zip(self.edited("hotflip"), self.texts, strict=True)
            return [_by_people(e, one) for e, one in pairs]
        chosen = self.texts[: self.sizes.paraphrased] if WAYS[way].slow else self.texts
        portions = [chosen[start : start + _PORTION] for start in range(0, len(chosen), _PORTION)]
        return [e for i, portion in enumerate(portions) for e in self._portion(way, i, portion, len(chosen))]

    def _portion(self, way: str, i: int, texts: Sequence[LabelledText], of: int) -> list[Edits]:
        def made() -> list[dict[str, Any]]:
            self.request.say(f"{self.title}: {WAYS[way].title}, {i * _PORTION:,} of {of:,} texts edited")
            return [e.to_dict() for e in self._edited(way, texts)]

        data = self.store.once("edited", f"{self.name}-{way}-{i}", {**self.settings, "portion": len(texts)}, made)
        return [Edits.from_dict(one) for one in data]

    def _edited(self, way: str, chosen: Sequence[LabelledText]) -> list[Edits]:
        texts: list[TextLike] = [text_of(one.strings) for one in chosen]
        settings = dict(WAYS[way].settings)
        found: list[Edits] = explain(
            None, texts, WAYS[way].method, engine=self.engine, progress=self.request.progress, **settings
        )
        return found

    def judged(self, check: Any, edits: Sequence[Edits]) -> Any:
        return examined(self.engine, edits, check, self.sizes.draws, bool(self.request.progress))

    def ask(self, talks: Iterable[Conversation[T]]) -> list[T]:
        return asked(self.engine, talks)


def _by_people(e: Edits, one: LabelledText) -> Edits:
    """What people made of the text, in the place of the edits of a method."""
    assert one.revised is not None
    edit = Rewritten(e.text, one.revised[-1]).edit(flips=True)
    return replace(e, edits=(edit,), nearest=None)


def tasks(request: Request, sizes: Sizes, store: Store) -> list[Task]:
    """All that are wanted; every file is read before a model is loaded."""
    wanted = {name: getattr(sizes, name) for name in DATASETS if getattr(sizes, name)}
    if not wanted:
        raise BadInput("the study has no dataset left: give one of them a number of texts.")
    rows = {name: tuple(DATASETS[name].read(request)) for name in wanted}
    return [_task(name, count, rows[name], request, sizes, store) for name, count in wanted.items()]


def _task(name: str, count: int, rows: tuple[LabelledText, ...], request: Request, sizes: Sizes, store: Store) -> Task:
    model = request.open(DATASETS[name].model)
    model.fields = DATASETS[name].fields
    right = _right(model, spread(rows, _MORE * count))
    if not right:
        raise BadInput(f"the model {model.name} is right about none of the texts of {name}: there is nothing to edit.")
    return Task(name, rows, tuple(spread(right, count)), model, request, sizes, store)


def _right(model: TextModel, rows: Sequence[LabelledText]) -> list[LabelledText]:
    """Those that the model gives their label."""
    found = model.predict([text_of(one.strings) for one in rows]).argmax(axis=1)
    return [one for i, one in zip(found, rows, strict=True) if model.labels[i] == one.label]
