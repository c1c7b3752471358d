"""Train: a model by its name, trained once, in a directory under its digest."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from test_engine import lexicon, sentences

from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput, Unanswerable, UnknownName
from assay.models import BlackBox, TextModel, load
from assay.questions import Cases, Conversation, Each, Predict, Train, elsewhere
from assay.questions.facts import ModelFacts
from assay.text.sample import Sample
from assay.text.text import Text
from assay.training import digests
from assay.training.attentive import Attend, Prepared
from assay.training.finetune import FineTune
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
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == [name.removeprefix("@trained:")]
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


def facts() -> Conversation[tuple[str, ...]]:
    return (yield ModelFacts()).labels


def reading() -> Conversation[Any]:
    [found] = yield Cases(["a good film"])
    return found.prediction


def test_facts_and_cases_are_those_of_the_model_that_is_asked() -> None:
    """The trained model has its own labels, and reads the text itself."""
    other = Sample.of([(text, "yes" if "good" in text else "no") for text in TEXTS])

    def conversation() -> Conversation[Any]:
        name = yield Train(Words(), other)
        here, there = (yield from facts()), (yield from elsewhere(facts(), name))
        return here, there, (yield from elsewhere(reading(), name)), (yield from elsewhere(value("a good film"), name))

    here, there, read, expected = next(Engine(box()).run([conversation()])).get()
    assert (here, there) == (("bad", "good"), ("no", "yes"))
    assert read == dict(zip(there, expected, strict=True))


def test_an_engine_can_store_its_models_elsewhere(tmp_path: Path) -> None:
    engine = Engine(box(), trained=tmp_path / "first")
    name = engine.ask(Train(Words(), SAMPLE))
    other = engine.storing_in(tmp_path / "second")
    assert other.ask(Train(Words(), SAMPLE)) == name
    assert all((tmp_path / part / name.removeprefix("@trained:")).is_dir() for part in ("first", "second"))
    assert other.model is engine.model


# Two processes


SCRIPT = """
import sys, time
from pathlib import Path
from assay.engine.engine import Engine
from assay.models import BlackBox
from assay.questions import Train
from assay.text.sample import Sample
from assay.training.words import Words

class Slow(Words):
    def make(self, *args, **settings):
        with open(sys.argv[2], "a") as log:
            log.write("made ")
        time.sleep(1.0)
        super().make(*args, **settings)

rows = [("a good film", "good"), ("a dull plot", "bad")] * 5
engine = Engine(BlackBox(lambda texts: [[0.5, 0.5]] * len(texts), labels=["bad", "good"]), trained=sys.argv[1])
Path(sys.argv[1]).mkdir(exist_ok=True)
print(engine.ask(Train(Slow(), Sample.of(rows))), engine.totals.trainings)
"""


def test_two_processes_that_need_the_same_model_train_it_once(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "models"), str(tmp_path / "log")]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    told = [process.communicate(timeout=120)[0].split() for process in running]
    assert told[0][0] == told[1][0]
    assert sorted(count for _, count in told) == ["0", "1"]
    assert (tmp_path / "log").read_text() == "made "


def test_a_model_whose_training_was_killed_is_free_for_the_next(tmp_path: Path) -> None:
    command = [sys.executable, "-c", SCRIPT, str(tmp_path / "models"), str(tmp_path / "log")]
    killed = subprocess.Popen(command, stdout=subprocess.PIPE)
    while not (tmp_path / "log").exists():
        time.sleep(0.02)
    killed.kill()
    killed.communicate()
    told = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout.split()
    assert told[1] == "1"


# Checkpoints


def epochs(number: int, **changes: Any) -> Attend:
    plan = Plan(epochs=number, rate=1e-2, optimiser="adam")
    return Attend("average", hidden=4, size=4, plan=plan, device="cpu", **changes)


def checkpoints(recipe: Any, numbers: Sequence[int]) -> Conversation[list[Any]]:
    name = yield Train(recipe, SAMPLE)
    found = []
    for number in numbers:
        found.append((yield from elsewhere(value("a good film"), f"{name}@checkpoint:{number}")))
    return [name, (yield from elsewhere(value("a good film"), name)), *found]


def test_a_checkpoint_is_a_training_that_ended_there(tmp_path: Path) -> None:
    engine = Engine(box(), trained=tmp_path)
    name, whole, *found = next(engine.run([checkpoints(epochs(3, every_epoch=True), (1, 2, 3))])).get()
    stopped = [next(engine.run([trained_value(epochs(k))])).get()[1] for k in (1, 2, 3)]
    np.testing.assert_allclose(found, stopped, atol=1e-7)
    np.testing.assert_allclose(found[-1], whole, atol=1e-7)
    assert not np.allclose(found[0], found[1], atol=1e-5)
    place = tmp_path / name.removeprefix("@trained:")
    assert sorted(path.name for path in place.glob("checkpoint-*")) == ["checkpoint-1", "checkpoint-2", "checkpoint-3"]
    own = Engine(load(place))
    answers = own.run(elsewhere(value("a good film"), f"@checkpoint:{k}") for k in (3, 1))
    np.testing.assert_allclose([outcome.get() for outcome in answers], [found[2], found[0]], atol=1e-7)


def test_a_fine_tuned_model_has_checkpoints_too(tmp_path: Path) -> None:
    engine = Engine(box(), trained=tmp_path)
    recipe = FineTune(tiny.bert(), plan=Plan(epochs=2, rate=1e-2), device="cpu", every_epoch=True)
    _, whole, first, last = next(engine.run([checkpoints(recipe, (1, 2))])).get()
    np.testing.assert_allclose(last, whole, atol=1e-6)
    assert not np.allclose(first, last, atol=1e-5)
    with pytest.raises(BadInput, match="use rank=0"):
        FineTune(rank=2, every_epoch=True)


def save(place: Path, shift: float = 0.0) -> Path:
    """A tiny encoder in a directory; the same files with other numbers for another shift."""
    model, tokenizer = tiny.bert()
    model = deepcopy(model)
    model.base_model.embeddings.word_embeddings.weight.data[:, ::2] += shift  # all alike would be normalised away
    model.save_pretrained(place)
    tokenizer.save_pretrained(place)
    return place


def test_other_weights_at_the_same_path_are_another_start(tmp_path: Path) -> None:
    place = save(tmp_path / "start")
    recipe = FineTune(str(place), plan=Plan(epochs=1, rate=1e-3), device="cpu")
    engine = Engine(box(), trained=tmp_path / "out")
    first = next(engine.run([trained_value(recipe)])).get()
    assert next(engine.run([trained_value(recipe)])).get() == first
    save(place, shift=0.5)
    second = next(Engine(box(), trained=tmp_path / "out").run([trained_value(recipe)])).get()
    assert first[0] != second[0]
    assert not np.allclose(first[1], second[1], atol=1e-5)
    assert next(engine.run([trained_value(recipe)])).get() == second
    save(place)
    assert next(engine.run([trained_value(recipe)])).get() == first, (
        "the old weights are back, and their model is there"
    )
    (place / "README.md").write_text("a word about it")
    assert next(engine.run([trained_value(recipe)])).get() == first
    (place / "config.json").write_text((place / "config.json").read_text().replace('"gelu"', '"relu"'))
    assert next(engine.run([trained_value(recipe)])).get()[0] not in (first[0], second[0])


def test_other_vectors_in_the_same_file_are_another_start(tmp_path: Path) -> None:
    file = tmp_path / "vectors.txt"
    recipe = Attend("average", hidden=4, vectors=str(file), plan=Plan(epochs=1, rate=1e-2, optimiser="adam"))
    found = []
    for number in ("0.5", "0.7", "0.5"):
        file.write_text(f"good {number} 0.1\nfilm 0.2 {number}\n")
        found.append(next(Engine(box(), trained=tmp_path / "out").run([trained_value(recipe)])).get())
    assert found[0] == found[2]
    assert found[0][0] != found[1][0]


def test_a_start_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Path] = []
    monkeypatch.setattr(digests, "digest_of", lambda path: read.append(path) or "digest")
    place = save(tmp_path / "start")
    known = [FineTune(str(place)).settings["start_digest"] for _ in range(3)]
    assert len(set(known)) == 1
    assert len(read) == len(set(read)) > 2


def test_a_start_that_cannot_be_read_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(path: Path) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(digests, "digest_of", refused)
    (tmp_path / "vectors.txt").write_text("good 0.5 0.1\n")
    with pytest.raises(BadFile, match=r"vectors.txt cannot be read: Permission denied\.$"):
        _ = Attend(vectors=str(tmp_path / "vectors.txt")).settings


def test_another_tokenizer_is_another_start() -> None:
    model, tokenizer = tiny.bert()
    other = deepcopy(tokenizer)
    other.add_tokens(["unheard"])
    starts = [FineTune((model, one)).settings["start"] for one in (tokenizer, deepcopy(tokenizer), other)]
    assert starts[0] == starts[1] != starts[2]


def test_checkpoints_outlive_a_kill(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = Prepared.loss
    steps: list[int] = []

    def dies(self: Prepared, chosen: list[int], **given: Any) -> Any:
        steps.append(1)
        if len(steps) > 5:  # in the third epoch of two batches
            raise KeyboardInterrupt
        return real(self, chosen, **given)

    recipe = epochs(4, every_epoch=True)
    monkeypatch.setattr(Prepared, "loss", dies)
    with pytest.raises(KeyboardInterrupt):
        Engine(box(), trained=tmp_path).ask(Train(recipe, SAMPLE))
    monkeypatch.setattr(Prepared, "loss", real)
    _, _, *found = next(Engine(box(), trained=tmp_path).run([checkpoints(recipe, (1, 2, 3, 4))])).get()
    whole = next(Engine(box()).run([checkpoints(recipe, (1, 2, 3, 4))])).get()
    np.testing.assert_allclose(found, whole[2:], atol=1e-7)


def test_a_checkpoint_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    engine = Engine(box(), trained=tmp_path)
    with pytest.raises(Unanswerable, match="there is no checkpoint of lexicon"):
        next(engine.run([elsewhere(value("x"), "@checkpoint:1")])).get()
    with pytest.raises(UnknownName, match="has no checkpoint '7'; it has 1, 2"):
        next(engine.run([checkpoints(epochs(2, every_epoch=True), (7,))])).get()
    with pytest.raises(Unanswerable, match="loaded from a directory that holds checkpoint-1"):
        next(engine.run([checkpoints(epochs(2), (1,))])).get()
