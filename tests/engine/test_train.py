"""Train: a model by its name, trained once, in a directory under its digest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_engine import lexicon, sentences

from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput, UnknownName
from assay.models import BlackBox, TextModel
from assay.questions import Conversation, Each, Predict, Train, elsewhere
from assay.text.sample import Sample
from assay.text.text import Text
from assay.training.attentive import Attend
from assay.training.fit import Plan
from assay.training.words import Words

TEXTS = sentences(40)
SAMPLE = Sample.of([(text, "good" if "good" in text or "fine" in text else "bad") for text in TEXTS])
DEV = Sample.of([("a good film", "good"), ("a dull plot", "bad")])


def box() -> BlackBox:
    return BlackBox(lexicon, labels=["bad", "good"])


def value(text: str) -> Conversation[list[float]]:
    answer = yield Predict(Text.of(text))
    return list(answer.probabilities[0])


def trained_value(recipe: Any, seed: int = 0, sample: Sample = SAMPLE) -> Conversation[tuple[str, list[float]]]:
    name = yield Train(recipe, sample, seed=seed)
    return name, (yield from elsewhere(value("a good film"), name))


class Counted(Words):
    """Counts its trainings; frozen dataclasses compare by value, so all are one recipe."""

    made = 0

    def make(self, *args: Any, **settings: Any) -> None:
        type(self).made += 1
        super().make(*args, **settings)


def test_a_trained_model_answers_under_its_name(tmp_path: Path) -> None:
    engine = Engine(box(), trained=tmp_path)
    name, found = next(engine.run([trained_value(Words())])).get()
    rows = list(SAMPLE)
    expected = (
        Words().train([row.strings for row in rows], [str(row.label) for row in rows], 0).predict(["a good film"])
    )
    assert name.startswith("@trained:")
    assert [path.name for path in tmp_path.iterdir()] == [name.removeprefix("@trained:")]
    np.testing.assert_allclose(found, expected[0], atol=1e-9)
    assert engine.totals.trainings == 1


def test_the_same_model_is_trained_once_and_found_by_the_next_run(tmp_path: Path) -> None:
    Counted.made = 0

    def parent() -> Conversation[Any]:
        return (yield Each(trained_value(Counted()) for _ in range(3)))

    first = next(Engine(box(), trained=tmp_path).run([parent()]))
    second = next(Engine(box(), trained=tmp_path).run([parent()]))
    assert Counted.made == 1
    assert (first.cost.trainings, second.cost.trainings) == (1, 0)
    assert first.get() == second.get()


def test_other_seeds_samples_and_settings_are_other_models(tmp_path: Path) -> None:
    engine = Engine(box(), trained=tmp_path)
    asked = [
        trained_value(Words()),
        trained_value(Words(), seed=1),
        trained_value(Words(ngrams=2)),
        trained_value(Words(), sample=SAMPLE.head(30)),
    ]
    names = {outcome.get()[0] for outcome in engine.run(asked)}
    assert len(names) == 4


def test_an_attentive_model_is_saved_resumed_and_opened(tmp_path: Path) -> None:
    recipe = Attend("average", hidden=4, size=4, plan=Plan(epochs=2, rate=1e-2, optimiser="adam"))
    before = next(Engine(box(), trained=tmp_path).run([trained_value(recipe)])).get()
    engine = Engine(box(), trained=tmp_path)
    assert next(engine.run([trained_value(recipe)])).get() == before
    assert engine.totals.trainings == 0


def test_without_a_directory_models_go_with_the_engine() -> None:
    engine = Engine(box())
    next(engine.run([trained_value("words")])).get()
    place = engine.trained.place
    assert any(place.iterdir())
    del engine
    assert not place.exists()


class OnlyTrains:
    """A trainer of a user: it cannot save."""

    def __init__(self) -> None:
        self.trained: list[int] = []

    @property
    def settings(self) -> Mapping[str, Any]:
        return {"trainer": "mine"}

    def train(self, texts: Sequence[Any], labels: Sequence[str], seed: int) -> TextModel:
        self.trained.append(seed)
        return Words().train(texts, labels, seed)


def test_a_trainer_that_cannot_save_is_kept_in_memory() -> None:
    mine = OnlyTrains()
    outcomes = Engine(box()).run(trained_value(mine, seed) for seed in (0, 0, 1))
    assert [outcome.get()[1] for outcome in outcomes]
    assert sorted(set(mine.trained)) == [0, 1]


def test_the_epoch_is_chosen_on_dev(tmp_path: Path) -> None:
    recipe = Attend("average", hidden=4, size=4, plan=Plan(epochs=2, rate=1e-2, optimiser="adam"))
    engine = Engine(box(), trained=tmp_path)
    assert engine.ask(Train(recipe, SAMPLE)) != engine.ask(Train(recipe, SAMPLE, dev=DEV))


def test_what_cannot_be_trained_is_one_sentence(tmp_path: Path) -> None:
    engine = Engine(box(), trained=tmp_path)
    with pytest.raises(BadInput, match="needs a label"):
        engine.ask(Train(Words(), Sample.of(["no label"])))
    with pytest.raises(UnknownName, match="wordz"):
        engine.ask(Train("wordz", SAMPLE))
    with pytest.raises(BadInput, match="no model 123 was trained here"):
        next(engine.run([elsewhere(value("x"), "@trained:123")])).get()
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(BadFile, match="cannot be written"):
        Engine(box(), trained=file / "below").ask(Train(Words(), SAMPLE))
