"""structural_probe on treebanks whose tags follow from the words, or from nothing; its checks and views."""

from __future__ import annotations

import json
import tracemalloc
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
from rich.console import Console

import assay
from assay import cli
from assay.data.treebanks import Sentence
from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput, Unanswerable
from assay.explanations.probe_scores import ProbeScores
from assay.methods.linguistic.probe_tasks import Labels, ProbeItems, items
from assay.registry import find_check, find_method
from assay.views import descriptions

TAGS = {"film": "NOUN", "plot": "NOUN", "comedy": "NOUN", "dull": "ADJ", "funny": "ADJ", "runs": "VERB", "cry": "VERB"}


def write(path: Path, sentences: int, seed: int, tag: Any) -> str:
    rng, lines = np.random.default_rng(seed), []
    for _ in range(sentences):
        words = rng.choice(list(TAGS), int(rng.integers(2, 8))).tolist()
        for i, word in enumerate(words):
            lines.append(f"{i + 1}\t{word}\t_\t{tag(word, rng)}\t_\t_\t{i}\tdep\t_\t_")
        lines.append("")
    path.write_text("\n".join(lines))
    return str(path)


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    place = tmp_path_factory.mktemp("trees")
    return {
        "known": write(place / "known.conllu", 80, 0, lambda word, rng: TAGS[word]),
        "random": write(place / "random.conllu", 250, 1, lambda word, rng: rng.choice(["A", "B", "C"])),
        "many": write(place / "many.conllu", 3000, 2, lambda word, rng: TAGS[word]),
    }


def described(corpus: str, seed: int = 0, **settings: Any) -> Any:
    given = {"task": "pos", "corpus": corpus, "steps": 60, **settings}
    return assay.describe(assay.load(tiny.bert()), method="structural_probe", seed=seed, progress=False, **given)


@pytest.fixture(scope="module")
def known(trees: dict[str, str]) -> Any:
    return described(trees["known"])


@pytest.fixture(scope="module")
def random(trees: dict[str, str]) -> Any:
    return described(trees["random"])


def test_what_words_say_is_read_off_the_embedding(known: Any) -> None:
    """The tiny model has random weights, so that words get lost on the way up."""
    assert known.layers == tuple(range(len(known.layers)))
    assert known.best == 0
    assert known.scores[0] > 0.9
    assert known.mix_score > 0.85
    assert known.bits[0] < 0.8 * known.label_bits[0]
    assert known.mix.argmax() == 0
    assert known.mix.sum() == pytest.approx(1)
    assert all(low <= score <= high for (low, high), score in zip(known.intervals, known.scores, strict=True))
    assert known.majority < 0.6


def test_random_labels_are_at_chance_and_the_bits_say_so(random: Any) -> None:
    spread = 4 * (random.majority * (1 - random.majority) / random.items[1]) ** 0.5
    assert (np.abs(random.scores - random.majority) < spread).all()
    assert (random.bits > 0.97 * random.label_bits[0]).all()
    assert random.uniform_bits == pytest.approx(np.log2(3))


def checked(e: Any, check: str, **settings: Any) -> dict[str, Any]:
    engine = Engine(assay.load(tiny.bert()))
    made = find_check(check).make(settings)
    (found,) = assay.verdicts.judge.judge(engine, [e], [made], draws=200, progress=False)
    return found.to_dict()


def test_a_control_of_words_is_learned_by_heart(known: Any, random: Any) -> None:
    """With seven words every control label can be learned, so that nothing is selective, and random labels are less."""
    found = checked(known, "control_task")
    assert found["facts"]["control"] > 0.9
    assert abs(found["mean"]) < 0.1
    assert checked(random, "control_task")["mean"] < 0
    assert checked(random, "control_task")["verdict"] != "better than random"


def test_description_length_passes_what_is_known_and_not_what_is_random(known: Any, random: Any) -> None:
    assert checked(known, "description_length")["verdict"] == "better than random"
    assert checked(known, "description_length")["mean"] > 1.5
    chance = checked(random, "description_length")
    assert 0.8 < chance["mean"] < 1.03
    assert chance["verdict"] != "better than random"


def test_the_untrained_model_is_another_one_with_the_same_probes(known: Any, trees: dict[str, str]) -> None:
    found = checked(known, "untrained_baseline", seed=3)
    assert found["facts"]["untrained"] == pytest.approx(1, abs=0.05)  # words can be told apart by any embedding
    assert abs(found["mean"]) < 0.05
    assert "untrained_bits" in found["facts"]


def test_a_probe_on_random_labels_is_one_of_the_random_ones(random: Any) -> None:
    """What stands for a random explanation is as good as probes that were really trained on random labels."""
    drawn = np.array([e.scores.mean() for e in random.random_like(300)])
    assert abs(random.scores.mean() - drawn.mean()) < 0.08


def test_labels_of_a_sample() -> None:
    rng = np.random.default_rng(0)
    rows = [(" ".join(rng.choice(words, 6)), label) for label, words in
            (("film", ["film", "plot"]), ("dogs", ["dogs", "grass"])) for _ in range(40)]  # fmt: skip
    e = assay.describe(assay.load(tiny.bert()), rows, "structural_probe", steps=60, progress=False)
    assert e.task == "label"
    assert e.scores.max() > 0.9
    assert len(e.control) == 0
    assert e.items == (64, 16)
    with pytest.raises(BadInput, match="has no word types"):
        checked(e, "control_task")
    with pytest.raises(BadInput, match="are not kept"):
        checked(e, "untrained_baseline")


SENTENCE = Sentence(
    ("the", "dull", "film", "runs"), ("DET", "ADJ", "NOUN", "VERB"), (2, 2, 3, -1), ("det", "amod:x", "nsubj", "root")
)


def test_the_items_of_each_task() -> None:
    rng = np.random.default_rng(0)
    assert [(i.places, i.label) for i in items(SENTENCE, "relations", rng)] == [
        ((0, 2), "det"),
        ((1, 2), "amod"),
        ((2, 3), "nsubj"),
    ]
    assert [i.label for i in items(SENTENCE, "depth", rng)] == ["2", "2", "1", "0"]
    assert all(i.label == ("before" if i.places[0] < i.places[1] else "after") for i in items(SENTENCE, "order", rng))
    for item in items(SENTENCE, "distance", rng):
        assert (
            item.label
            == {(0, 1): "2", (0, 2): "1", (0, 3): "2", (1, 2): "1", (1, 3): "2", (2, 3): "1"}[
                (min(item.places), max(item.places))
            ]
        )
    with pytest.raises(BadFile, match="needs trees"):
        items(Sentence(("a",), ("O",)), "depth", rng)


def test_items_as_numbers_are_the_items() -> None:
    rng = np.random.default_rng(0)
    found = [items(SENTENCE, task, rng) for task in ("distance", "order")] + [[]]
    table = ProbeItems.of(found)
    assert len(table) == sum(map(len, found))
    for i, (s, item) in enumerate((s, item) for s, one in enumerate(found) for item in one):
        assert tuple(table.places[i]) == item.places
        assert (table.sentence[i], table.labels[table.label[i]], table.types[table.type[i]]) == (
            s,
            item.label,
            item.type,
        )
    odd = np.arange(len(table)) % 2 == 1
    assert table.some(odd).places.tolist() == table.places[1::2].tolist()
    assert len(ProbeItems.of([[], []])) == 0


@pytest.mark.parametrize("task", ["relations", "order", "depth", "distance"])
def test_every_task_has_scores(task: str, trees: dict[str, str], tmp_path: Path) -> None:
    corpus = trees["known"]
    if task == "relations":  # two relations, by the tag of the word
        lines = [
            line.replace("\tdep\t", "\tobj\t") if "NOUN" in line else line
            for line in Path(corpus).read_text().splitlines(True)
        ]
        corpus = str(tmp_path / "relations.conllu")
        Path(corpus).write_text("".join(lines))
    e = described(corpus, task=task, steps=30, most=400)
    assert len(e.scores) == len(e.bits) == len(e.control)
    assert e.scores.max() > e.majority - 0.05


def test_control_labels_go_by_the_type_and_by_the_frequencies() -> None:
    labels = Labels(("a", "b"), (75, 25))
    types = [f"word{i % 4000}" for i in range(8000)]
    drawn = np.array(list(labels.drawn_for(types, 1)))
    np.testing.assert_array_equal(drawn[:4000], drawn[4000:])
    assert drawn.mean() == pytest.approx(0.25, abs=0.03)
    assert (drawn != np.array(list(labels.drawn_for(types, 2)))).any()


def test_memory_stays_bounded_however_many_sentences(trees: dict[str, str]) -> None:
    """The states of all words would take more than is ever held: they go to a file as they come."""
    method = find_method("structural_probe").make({"task": "pos", "corpus": trees["many"], "most": 10_000})
    engine = Engine(assay.load(tiny.bert()), live=64)
    read = method._treebank(np.random.default_rng(0))
    tracemalloc.start()
    found = next(engine.run([read.states()])).get()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    whole = found.layers * found.words * found.size * 4
    assert found.filled == found.words > 9000
    assert most < 0.7 * whole


def test_no_more_words_than_wanted_are_read(trees: dict[str, str]) -> None:
    e = described(trees["many"], most=300, steps=5)
    assert 250 < e.items[0] <= 300
    assert e.about.cost.forwards < 120


def test_the_shell(trees: dict[str, str], capsys: pytest.CaptureFixture[str]) -> None:
    command = ["describe", "--model", "mlm", "-m", "structural_probe", "-q"]
    settings = ["-p", "task=pos", "-p", f"corpus={trees['known']}", "-p", "steps=5", "-p", "most=60"]
    assert cli.main([*command, *settings, "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["kind"] == "ProbeScores"
    assert len(data["layers"]) == len(data["scores"]) == len(data["control"]) == len(data["bits"]) == 7
    assert cli.main([*command, "-p", "task=pos"]) == 2
    assert "every other task needs a file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "error", "said"),
    [
        ({"task": "pos"}, BadInput, "needs a file: corpus=FILE"),
        ({}, BadInput, "give one"),
        ({"task": "pos", "corpus": "nowhere.conllu"}, BadFile, r"nowhere\.conllu"),
        ({"task": "pos", "corpus": "x", "most": 1}, BadInput, "most >= 20"),
        ({"task": "label", "corpus": "x"}, BadInput, "labels of a sample"),
    ],
)
def test_what_cannot_be_probed_is_said(settings: dict[str, Any], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said):
        assay.describe(assay.load(tiny.bert()), method="structural_probe", progress=False, **settings)


def test_one_label_or_no_states_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "one.conllu", 30, 0, lambda word, rng: "X")
    with pytest.raises(BadInput, match="at least 2 labels"):
        described(path)
    box = assay.BlackBox(lambda texts: [[0.5, 0.5]] * len(texts))
    with pytest.raises(Unanswerable, match="Hidden"):
        assay.describe(box, method="structural_probe", task="pos", corpus=path)


@pytest.mark.parametrize("width", [80, 60])
def test_views_and_saving(known: Any, width: int) -> None:
    for shown in (known.to_html(), known._repr_html_()):
        assert "Which layers know the part of speech of each word?" in shown
        assert "layer 1" in shown
    stream = StringIO()
    Console(file=stream, width=width, color_system=None).print(descriptions.terminal([known]))
    assert all(len(line) <= width for line in stream.getvalue().splitlines())
    assert ProbeScores.from_json(known.to_json()).to_dict() == known.to_dict()
    assert list(known.to_frame().columns) == ["layer", "scores", "control", "bits", "mix"]
    with pytest.raises(ValueError, match="finite bits"):
        known.told(bits=np.array([np.nan] * len(known.layers)))
