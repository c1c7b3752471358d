"""The verb behind the check of the same name: take the best words away everywhere, retrain, see what is still learned.

    result = assay.roar(model, train, dev, ["leave_one_out", "lime"], trainer="finetune", out="DIR")
    print(result); result.to_frame(); result.verdicts()

See checks/roar.py for what is measured and result.py for the tests. Random explanations are drawn anew for
every seed. Texts are explained, filled and classified through the engine; what is beyond the window of the explained
model is cut off before words are taken away, for all methods alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np

from assay.checks.roar import Roar
from assay.engine.engine import Engine
from assay.errors import BadAnswer, BadInput
from assay.explanations.token_scores import TokenScores
from assay.models import TextModel, load
from assay.progress import track
from assay.questions.answers import Predictions
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.registry.cards import MethodCard
from assay.registry.finding import checks, require, resolve_method
from assay.registry.parameters import parameters, plain
from assay.text.example import Example
from assay.text.labelled import LabelledTexts, require_learnable
from assay.text.sample import Sample
from assay.text.text import Row, Text, TextLike
from assay.text.variants import Variants
from assay.training.trainers import Trainer
from assay.training.trainers import trainer as find_trainer
from assay.verbs import Aims, stream
from assay.workflows.roar.files import RoarFiles, file_name
from assay.workflows.roar.result import RANDOM, Retrained, RoarResult

_WHOLE = "whole"
_ROWS = 512  # texts a file
Labelled = tuple[TextLike, str] | Example
Key = tuple[str, int, int]  # method, number of the share, seed


def roar(
    model: Any,
    train: Sequence[Labelled] | Sample,
    dev: Sequence[Labelled] | Sample,
    methods: Sequence[Any],
    *,
    trainer: str | Trainer,
    out: str | Path | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> RoarResult:
    """Retrain without the words that each method ranks highest, and compare the accuracies.

    `train` and `dev` are (text, label) pairs, Examples, or Samples with labels. `model` is what is explained; None
    takes one that the trainer makes of the whole texts. `trainer` is words, finetune, finetune:MODEL or an object
    (assay.training.trainers). `settings` are those of the check: shares, eraser, seeds, variant. `out` keeps the score
    of every finished model, and the same call goes on from there.
    """
    check = checks()["roar"].make(settings)
    data = LabelledTexts.of(train, "train"), LabelledTexts.of(dev, "dev")
    require_learnable(*data)
    work = _Work(check, *data, _chosen(methods), find_trainer(trainer), model, seed, engine)
    work.require_answers()
    return work.result(RoarFiles.made(out, work.about() if out is not None else {}), progress)


@dataclass(frozen=True)
class _Method:
    """A method, and a name that tells it from the same one with other parameters."""

    name: str
    card: MethodCard
    made: Any

    @classmethod
    def of(cls, given: Any) -> _Method:
        card, made = resolve_method(given)
        if not isinstance(card, MethodCard) or not issubclass(card.returns, TokenScores):
            raise BadInput(f"roar needs scores of words, which {card.name} does not give.")
        if (unit := getattr(made, "unit", "words")) != "words":
            raise BadInput(f"roar takes words away; let {card.name} explain words, not {unit}.")
        usual = {name: plain(f.default) for name, f in card.parameters.items()}
        own = [f"{name}={value}" for name, value in parameters(made).items() if value != usual[name]]
        return cls(f"{card.name}({', '.join(own)})" if own else card.name, card, made)


def _chosen(methods: Sequence[Any]) -> list[_Method]:
    """Each method once; random goes along anyway."""
    if isinstance(methods, str):
        raise BadInput("methods are a list of names or of methods, such as ['lime', 'leave_one_out'].")
    named = {one.name: one for one in map(_Method.of, methods) if one.name != RANDOM}
    if not named:
        raise BadInput("roar needs a method to test, as listed by `assay methods`.")
    return list(named.values())


@dataclass(frozen=True)
class _Shortened:
    """The texts of train and dev without the best words: for every text, one row per share."""

    train: list[list[Row]]
    dev: list[list[Row]]
    truncated: int = 0

    def at(self, share: int) -> _Rows:
        train, dev = ([rows[share] for rows in texts] for texts in (self.train, self.dev))
        return _Rows(train, dev, self.truncated)


@dataclass(frozen=True)
class _Rows:
    """What one model learns from, and what it is tested on."""

    train: list[Row]
    dev: list[Row]
    truncated: int = 0


@dataclass(frozen=True)
class _Work:
    """All that decides the accuracies."""

    check: Roar
    train: LabelledTexts
    dev: LabelledTexts
    methods: list[_Method]
    trainer: Trainer
    model: Any
    seed: int
    engine: Engine | None

    @property
    def seeds(self) -> range:
        return range(self.seed, self.seed + self.check.seeds)

    @property
    def made_here(self) -> bool:
        return self.model is None and self.engine is None

    @cached_property
    def explained(self) -> Engine:
        """The engine of the model that is explained; where none is given, it is trained first."""
        if self.made_here:
            return Engine(self.trainer.train(self.train.strings, self.train.labels, self.seed))
        return self.engine or Engine(load(self.model))

    def require_answers(self) -> None:
        """A model that is given is asked at once what it can answer; one that is made here, when it is there."""
        if not self.made_here:
            for one in self.methods:
                require(one.card, self.explained.model.answers, self.explained.model.name)

    def about(self) -> dict[str, Any]:
        """The same as plain data."""
        return {
            "check": parameters(self.check),
            "methods": [one.name for one in self.methods],
            "trainer": dict(self.trainer.settings),
            "model": "made by the trainer" if self.made_here else self.explained.model.fingerprint(),
            "train": self.train.digest,
            "dev": self.dev.digest,
            "seed": self.seed,
        }

    def result(self, files: RoarFiles, progress: bool | None) -> RoarResult:
        names = [*(one.name for one in self.methods), RANDOM]
        shares = list(enumerate(self.check.shares))
        total = len(self.seeds) * (1 + len(names) * len(shares))
        told = dict(track(self._told(files), total, "retraining", progress))
        found = {key: one["right"] / len(self.dev) for key, one in told.items()}
        return RoarResult(
            rows=tuple(
                Retrained(n, q, np.array([found[n, i, s] for s in self.seeds])) for n in names for i, q in shares
            ),
            whole=tuple(found[_WHOLE, 0, s] for s in self.seeds),
            texts=len(self.dev),
            parameters=parameters(self.check),
            trainer=dict(self.trainer.settings),
            model="made by the trainer" if self.made_here else self.explained.model.name,
            seed=self.seed,
            warnings={one.name: tuple(self._warnings(one, told[one.name, 0, self.seed])) for one in self.methods},
        )

    def _warnings(self, one: _Method, told: Mapping[str, Any]) -> Iterator[str]:
        if parameters(one.made).get("eraser") == str(self.check.eraser):
            yield f"same eraser: method and check both take words away by {str(self.check.eraser)!r}."
        if told["truncated"]:
            both = len(self.train) + len(self.dev)
            yield f"truncated: {told['truncated']} of {both} texts were longer than the model's window."

    def _told(self, files: RoarFiles) -> Iterator[tuple[Key, Any]]:
        """What is known of every model, in the order of training."""
        whole = _Rows(self.train.strings, self.dev.strings)
        for s in self.seeds:
            yield (_WHOLE, 0, s), self._model(files, (_WHOLE, 0, s), lambda: whole)
        for one, draw, seeds in self._groups():
            texts = cache(partial(self._shortened, files, one, draw))  # only if a model of the group is missing
            for key in [(one.name, i, s) for i in range(len(self.check.shares)) for s in seeds]:
                yield key, self._model(files, key, lambda texts=texts, i=key[1]: texts().at(i))  # type: ignore[misc]

    def _groups(self) -> Iterator[tuple[_Method, int, Sequence[int]]]:
        """A method, the seed of its explanations, and the seeds of the models that learn by these."""
        for one in self.methods:
            yield one, self.seed, self.seeds
        for s in self.seeds:
            yield _Method.of(RANDOM), s, [s]

    def _model(self, files: RoarFiles, key: Key, rows: Callable[[], _Rows]) -> Any:
        """Train and test a model, unless that was done before."""
        name = f"scores/{file_name(key[0])}-{key[1]}-{key[2]}.json"
        if (told := files.get(name)) is None:
            texts = rows()
            model = self.trainer.train(texts.train, self.train.labels, key[2])
            told = {"right": right(model, texts.dev, self.dev.labels), "truncated": texts.truncated}
            files.put(name, told)
        return told

    def _shortened(self, files: RoarFiles, one: _Method, draw: int) -> _Shortened:
        parts = [list(self._reduced(files, one, draw, data)) for data in (self.train, self.dev)]
        cut = sum(part["truncated"] for group in parts for part in group)
        train, dev = ([[tuple(row) for row in rows] for part in group for rows in part["rows"]] for group in parts)
        return _Shortened(train, dev, cut)

    def _reduced(self, files: RoarFiles, one: _Method, draw: int, data: LabelledTexts) -> Iterator[Any]:
        """File by file, each made unless it is there."""
        for start in range(0, len(data), _ROWS):
            name = f"texts/{file_name(one.name)}-{draw}-{data.name}-{start}.json"
            if (part := files.get(name)) is None:
                part = self._reduce(one, draw, data, range(start, min(start + _ROWS, len(data))))
                files.put(name, part)
            yield part

    def _reduce(self, one: _Method, draw: int, data: LabelledTexts, rows: range) -> dict[str, Any]:
        """Explain these texts, and take the best words away."""
        engine, aims = self.explained, Aims(seed=draw)
        require(one.card, engine.model.answers, engine.model.name)
        outcomes = stream(engine.model, [data.texts[i] for i in rows], one.made, aims=aims, engine=engine)
        told = [_named(data, i, outcome) for i, outcome in zip(rows, outcomes, strict=True)]
        erased = engine.run(self.check.reduce(e) for e in told)
        versions: list[Variants] = [_named(data, i, outcome) for i, outcome in zip(rows, erased, strict=True)]
        short = [variants.rows(engine.model.spelling) for variants in versions]
        return {"rows": short, "truncated": sum(e.truncated for e in told)}


def _named(data: LabelledTexts, i: int, outcome: Any) -> Any:
    """The result; an error says which of the texts it is about."""
    if outcome.error is not None:
        raise type(outcome.error)(f"text {i + 1} of {data.name}: {outcome.error}") from outcome.error
    return outcome.result


def right(model: TextModel, texts: Sequence[Row], labels: Sequence[str]) -> int:
    """How many texts get their label; labels are compared by name, as each model has its own order of them."""
    if missing := sorted(set(labels) - set(model.labels)):
        raise BadAnswer(f"the trained model has no label {missing[0]!r}; its labels are {', '.join(model.labels)}.")
    answers = Engine(model).run(_predicted(Text.of(row if len(row) == 2 else row[0])) for row in texts)
    found = [model.labels[outcome.get()] for outcome in answers]
    return sum(name == label for name, label in zip(found, labels, strict=True))


def _predicted(text: Text) -> Conversation[int]:
    answer: Predictions = yield Predict(text)
    return int(answer.argmax()[0])
