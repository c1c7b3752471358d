"""Mending: what is reduced, learned, measured, refused and resumed, on tiny models and with the real reduction."""

from __future__ import annotations

import json
import re
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from scipy.stats import binomtest

import assay
from assay.engine.engine import Engine
from assay.errors import AssayError, BadFile, BadInput, Unanswerable, UnknownName
from assay.training import entropy
from assay.training.entropy import regularise
from assay.verbs import Aims
from assay.workflows.mend import held_out, report
from assay.workflows.mend import mend as package_verb
from assay.workflows.mend.measures import ModelMeasures, calibration_error, change, confidences, mean, share
from assay.workflows.mend.reduction import Reduced, distinct, reductions, versions
from assay.workflows.mend.result import BEFORE, MENDED, RANDOM, MendResult

FILL = (
    "it is what it is",
    "two dogs run",
    "the plot and more of it",
    "a film they say",
    "in the end",
    "one of the scenes",
)
SAID = [(f"{word} {fill}", label) for fill in FILL for word, label in (("good", "up"), ("dull", "down"))]
NAMES = {0: "up", 1: "down"}
TRAIN, DEV = SAID[:8], SAID[4:]
HOW: Any = {"beam": 2, "progress": False, "rate": 2e-3, "epochs": 4, "batch": 4, "weight": 1.0}


@cache
def model() -> Any:
    """A model that knows good from dull, its labels in no order of the alphabet."""
    tokenizer = tiny.wordpiece()
    named = {"id2label": NAMES, "label2id": {name: i for i, name in NAMES.items()}, "num_labels": 2}
    start = assay.load((tiny._bert_model(tokenizer, **named), tokenizer))
    texts = [(text,) for text, _ in SAID]
    made = regularise(
        start, texts, [label for _, label in SAID], texts[:1], weight=0.0, rate=3e-3, epochs=25, batch=4, progress=False
    )
    return made.model, tokenizer  # type: ignore[attr-defined]


def mended(out: Path, train: Any = TRAIN, dev: Any = DEV, **settings: Any) -> MendResult:
    return assay.mend(settings.pop("model", model()), train, dev, out=out, **HOW | settings)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, MendResult]:
    out = tmp_path_factory.mktemp("mend") / "m"
    return out, mended(out, margin=0.9)


def test_the_verb_is_public() -> None:
    assert package_verb is assay.mend
    assert assay.MendResult is MendResult


def test_a_directory_that_loads_like_any_other(done: tuple[Path, MendResult]) -> None:
    out, result = done
    names = {path.name for path in out.iterdir()}
    assert {"mend.json", "report.html", "report.md", "config.json", "model.safetensors"} <= names
    assert "parts" not in names
    opened = assay.load(str(out))
    assert opened.labels == ("up", "down")
    told = opened.predict([text for text, _ in DEV])
    np.testing.assert_allclose(told.max(axis=1), result.models[MENDED].confidence, atol=1e-5)
    found = [opened.labels[i] == label for i, (_, label) in zip(told.argmax(axis=1), DEV, strict=True)]
    assert tuple(found) == result.models[MENDED].right


def test_before_and_after_are_those_of_the_models(done: tuple[Path, MendResult]) -> None:
    """ModelMeasures again by hand: one text at a time, from the saved model and from the user's."""
    out, result = done
    for name, source in ((BEFORE, model()), (MENDED, str(out))):
        one = result.models[name]
        for i, (text, label) in enumerate(DEV):
            e = assay.explain(source, text, "input_reduction", beam=2)
            assert (e.label == label) == one.right[i]
            assert len(e.edits[-1].kept) == one.left[i]
            assert e.edits[-1].strings == one.reduced[i]
            shown = assay.load(source).predict([e.edits[-1].text])[0]
            assert shown.max() == pytest.approx(one.left_confidence[i], abs=1e-5)
            rubbish = assay.load(source).predict([result.models[BEFORE].reduced[i][0]])[0]
            assert rubbish.max() == pytest.approx(one.rubbish[i], abs=1e-5)


def test_the_models_differ_and_before_is_the_users(done: tuple[Path, MendResult]) -> None:
    result = done[1]
    assert result.models[BEFORE].accuracy.value == 1.0
    assert result.models[MENDED].rubbish_sure.value < result.models[BEFORE].rubbish_sure.value
    assert result.models[RANDOM].confidence != result.models[MENDED].confidence
    assert result.models[BEFORE].rubbish == pytest.approx(result.models[BEFORE].left_confidence, abs=1e-6)


def test_the_users_objects_are_left_alone(tmp_path: Path) -> None:
    net, tokenizer = deepcopy(model()[0]), model()[1]
    before, spelled = deepcopy(net.state_dict()), tokenizer.backend_tokenizer.to_str()
    random = torch.get_rng_state().tolist(), np.random.get_state()[1].tolist()  # type: ignore[index]
    mended(tmp_path / "m", model=(net, tokenizer), margin=0.9, baseline=False, rank=2)
    assert all(torch.equal(before[name], tensor) for name, tensor in net.state_dict().items())
    assert all(p.requires_grad for p in net.parameters())
    assert tokenizer.backend_tokenizer.to_str() == spelled
    assert (torch.get_rng_state().tolist(), np.random.get_state()[1].tolist()) == random  # type: ignore[index]


def test_random_versions_have_the_same_lengths_and_other_words() -> None:
    engine = Engine(assay.load(model()))
    told = list(reductions(engine, [text for text, _ in SAID], "train", Aims(), beam=2))
    found = [one for e in told for one in versions(e, 1, 0)]
    assert all(len(one.row[0].split()) == len(one.random[0].split()) == one.words for one in found)
    for e in told:
        for one in versions(e, 1, 0):
            words = iter(e.text.words)
            assert all(word in words for word in one.random[0].split())  # in their order
    assert any(one.row != one.random for one in found)
    assert [v for e in told for v in versions(e, 1, 0)] == found
    assert [v for e in told for v in versions(e, 1, 1)] != found


def test_each_reduced_version_counts_once() -> None:
    a, b, c = Reduced(("x",), ("y",), 1), Reduced(("x",), ("z",), 1), Reduced(("w",), ("y",), 1)
    assert distinct([a, b, c, a]) == [a, c]


def test_of_a_pair_the_second_text_is_reduced(tmp_path: Path) -> None:
    pairs = [((text, "a man sleeps in the street"), i % 3) for i, (text, _) in enumerate(SAID)]
    result = mended(tmp_path / "m", pairs[:8], pairs[8:], model=tiny.bert(), margin=0.99, epochs=1)
    told = result.models[BEFORE]
    assert all(row[0] == text for row, ((text, _), _) in zip(told.reduced, pairs[8:], strict=True))
    assert set(told.words) == {6}
    assert result.settings["focus"] == ["hypothesis"]
    assert "numbers" in result.warnings[0]
    other = mended(tmp_path / "n", pairs[:8], pairs[8:], model=tiny.bert(), margin=0.99, epochs=1, focus=["premise"])
    assert all(row[1] == "a man sleeps in the street" for row in other.models[BEFORE].reduced)


def test_a_span_reader_is_mended(tmp_path: Path) -> None:
    from training.test_entropy import CONTEXT, reader  # the same tiny reader

    rows = [(("who was in the film ?", CONTEXT), "A good cast"), (("what was slow ?", CONTEXT), "The film")] * 2
    result = mended(tmp_path / "m", rows, rows[:2], model=reader(), margin=0.99, epochs=1, longest=20)
    assert all(len(row) == 2 and row[1] == CONTEXT for row in result.models[MENDED].reduced)
    assert result.settings["focus"] == ["question"]
    with pytest.raises(assay.AssayError, match="other fields must stay"):
        mended(tmp_path / "c", rows, rows[:2], model=reader(), focus=["context"])
    opened = assay.load(str(tmp_path / "m"))
    told = assay.explain(opened, rows[0][0], "input_reduction", beam=2)
    assert told.label == result.models[MENDED].labels[0]


FALLING: Any = {"rate": 2e-2, "epochs": 6, "weight": 0.0, "baseline": False}
TURNED = [(text, {"up": "down", "down": "up"}[label]) for text, label in TRAIN]


def test_a_model_that_lost_accuracy_is_refused_and_taken_with_a_wider_margin(tmp_path: Path, monkeypatch: Any) -> None:
    out = tmp_path / "m"
    with pytest.raises(AssayError, match=r"fell from 1\.0000 to 0\.\d+, by more than the margin of 0.01, so no model"):
        mended(out, TURNED, **FALLING)
    assert sorted(path.name for path in out.iterdir()) == ["mend.json", "parts", "report.html", "report.md"]
    with pytest.raises(AssayError, match="has no config"):
        assay.load(str(out))
    assert "Refused" in (out / "report.md").read_text()
    told = MendResult.at(out)
    assert not told.accepted
    with monkeypatch.context() as patch:
        patch.setattr(entropy, "regularise", None)
        result = mended(out, TURNED, margin=0.999, **FALLING)
    assert result.fall == told.fall > 0.01
    assert assay.load(str(out)).labels == ("up", "down")
    assert "Refused" not in (out / "report.md").read_text()
    with pytest.raises(BadInput, match=r"margin was 0\.999, is 0\.5"):
        mended(out, TURNED, margin=0.5, **FALLING)


def test_a_fall_of_exactly_the_margin_is_allowed() -> None:
    def one(right: int) -> ModelMeasures:
        sure, rows = (0.9,) * 100, (("x",),) * 100
        return ModelMeasures(
            tuple(i < right for i in range(100)), sure, (5,) * 100, (1,) * 100, sure, rows, ("a",) * 100, sure
        )

    def told(right: int, margin: float) -> MendResult:
        parts: Any = {"texts": (("x",),) * 100, "gold": ("a",) * 100, "train": 1, "reduced_texts": 1, "reduced": 1}
        return MendResult(models={BEFORE: one(90), MENDED: one(right)}, margin=margin, **parts)

    assert told(89, 0.01).accepted
    assert not told(88, 0.01).accepted
    assert told(95, 0.0).accepted
    assert not told(89, 0.0).accepted


class Killed(Exception):
    """What stands for a kill."""


@pytest.mark.parametrize("at", ["reduction", "training", "measuring", "taking"])
def test_a_killed_mending_goes_on(at: str, done: tuple[Path, MendResult], tmp_path: Path, monkeypatch: Any) -> None:
    from assay.workflows.mend import files as files_module

    whole, out = done[1], tmp_path / "m"
    calls = iter(range(1000))

    def dying(original: Any, after: int) -> Any:
        def call(*args: Any, **more: Any) -> Any:
            if next(calls) == after:
                raise Killed
            return original(*args, **more)

        return call

    import sys

    verb = sys.modules["assay.workflows.mend"]
    with monkeypatch.context() as patch:
        match at:
            case "reduction":
                patch.setattr(verb, "versions", dying(versions, 3))
            case "training":
                patch.setattr(entropy, "log_chances", dying(entropy.log_chances, 9))
            case "measuring":
                patch.setattr(verb, "confidences", dying(confidences, 1))
            case "taking":
                patch.setattr(files_module.Path, "replace", dying_at_taking(out))
        with pytest.raises((Killed, AssayError)):
            mended(out, margin=0.9)
    result = mended(out, margin=0.9)
    for name, one in whole.models.items():
        again = result.models[name]
        assert (again.reduced, again.right, again.labels) == (one.reduced, one.right, one.labels)
        np.testing.assert_allclose(again.left_confidence, one.left_confidence, atol=1e-6)
        np.testing.assert_allclose(again.rubbish, one.rubbish, atol=1e-6)
    assert not (out / "parts").exists()
    texts = [text for text, _ in DEV]
    np.testing.assert_array_equal(assay.load(str(out)).predict(texts), assay.load(str(done[0])).predict(texts))


def dying_at_taking(out: Path) -> Any:
    replace, moved = Path.replace, iter(range(100))

    def call(self: Path, target: Any) -> Any:
        if self.parent == out / "parts" / MENDED and next(moved) == 2:
            raise Killed
        return replace(self, target)

    return call


def test_a_finished_mending_is_read_and_another_is_refused(done: tuple[Path, MendResult], monkeypatch: Any) -> None:
    out, result = done
    with monkeypatch.context() as patch:
        patch.setattr(entropy, "regularise", None)
        again = mended(out, margin=0.9)
    assert json.dumps(again.to_dict()) == json.dumps(result.to_dict())
    with pytest.raises(BadInput, match=r"another mending: .*beam was 2, is 3"):
        mended(out, margin=0.9, **{"beam": 3})
    with pytest.raises(BadInput, match=r"training\.weight"):
        mended(out, margin=0.9, weight=0.5)


def test_other_files_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("dear")
    with pytest.raises(BadInput, match=r"letter\.txt"):
        mended(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter.txt"]
    with pytest.raises(BadFile, match="no finished mending"):
        MendResult.at(tmp_path)


def test_without_the_baseline_and_with_a_limit(tmp_path: Path) -> None:
    result = mended(tmp_path / "m", baseline=False, limit=3, margin=0.9, epochs=1)
    assert list(result.models) == [BEFORE, MENDED]
    assert (result.reduced_texts, result.train) == (3, len(TRAIN))
    assert "random" not in str(result)


def test_reduced_texts_keep_the_confidence_that_is_asked(tmp_path: Path) -> None:
    result = mended(tmp_path / "m", baseline=False, margin=0.9, epochs=1, at_least=0.98)
    for one in result.models.values():
        pairs = zip(one.words, one.left, one.left_confidence, strict=True)
        assert all(sure >= 0.98 or left == words for words, left, sure in pairs)
    told = list(reductions(Engine(assay.load(model())), [text for text, _ in DEV], "dev", Aims(), beam=2))
    assert sum(result.models[BEFORE].left) > sum(len(e.edits[-1].kept) for e in told)
    assert "confidence 0.98 or more" in (tmp_path / "m" / "report.md").read_text()


def test_labels(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match=r"row 2 of dev: no label is called 'upp'; did you mean 'up'"):
        mended(tmp_path / "m", dev=[("good", "up"), ("dull", "upp")])
    with pytest.raises(BadInput, match="row 1 of train needs a label"):
        mended(tmp_path / "m", [("good", None)])
    with pytest.raises(BadInput, match=r"pair .text, label."):
        mended(tmp_path / "m", ["good"])
    with pytest.raises(BadInput, match="no texts in dev"):
        mended(tmp_path / "m", dev=[])
    with pytest.raises(AssayError, match="row 2 of dev: the text"):
        mended(tmp_path / "m", dev=[("good", "up"), ("  ", "up")], epochs=1)
    with pytest.raises(BadInput, match="row 2 of train: the texts must all be"):
        mended(tmp_path / "m", [("good", "up"), (("good", "dull"), "up")])
    assert not (tmp_path / "m").exists()
    with pytest.raises(Unanswerable, match="InputGradient"):
        mended(tmp_path / "n", model=lambda texts: np.full((len(texts), 2), 0.5))
    with pytest.raises(BadInput, match="margin"):
        mended(tmp_path / "n", margin=-0.1)


def test_texts_of_train_in_dev_are_told(done: tuple[Path, MendResult]) -> None:
    assert "4 of the 8 texts of dev are in train too" in done[1].warnings[0]


def test_calibration_error_by_a_slow_loop() -> None:
    rng = np.random.default_rng(0)
    confidence = np.concatenate([rng.uniform(0.3, 1, 200), [1.0, 0.2, 0.0, 1 / 15]])
    right = rng.uniform(size=204) < confidence
    slow = 0.0
    for b in range(15):
        inside = [i for i, c in enumerate(confidence) if b / 15 < c <= (b + 1) / 15 or (b == 0 and c == 0)]
        if inside:
            slow += len(inside) / 204 * abs(np.mean(right[inside]) - np.mean(confidence[inside]))
    assert calibration_error(confidence, right) == pytest.approx(slow)
    assert calibration_error(np.array([1.0, 1.0]), np.array([True, True])) == 0
    assert calibration_error(np.array([0.9]), np.array([False])) == pytest.approx(0.9)
    assert calibration_error(np.array([0.95, 1.0]), np.array([True, False])) == pytest.approx(0.475)  # one bin


@pytest.mark.parametrize(("right", "n"), [(0, 5), (5, 5), (37, 50), (99, 100)])
def test_wilson(right: int, n: int) -> None:
    told = share([True] * right + [False] * (n - right))
    low, high = binomtest(right, n).proportion_ci(method="wilson")
    assert (told.value, told.low, told.high) == pytest.approx((right / n, low, high), abs=1e-9)


def test_bootstrap_intervals() -> None:
    values = np.random.default_rng(1).standard_normal(200) + 3
    told = mean(values)  # type: ignore[arg-type]
    half = 1.96 * values.std() / 200**0.5
    expected = values.mean(), values.mean() - half, values.mean() + half
    assert (told.value, told.low, told.high) == pytest.approx(expected, abs=0.02)
    moved = change([2, 3, 4], [1, 2, 3])
    assert (moved.value, moved.low, moved.high) == (1, 1, 1)


def test_held_out() -> None:
    rows = [str(i) for i in range(100)]
    train, dev = (list(part.texts) for part in held_out(rows, 0.2, 3))
    assert sorted(train + dev) == sorted(rows)
    assert len(dev) == 20
    assert [list(part.texts) for part in held_out(rows, 0.2, 3)] == [train, dev]
    assert [list(part.texts) for part in held_out(rows, 0.2, 4)] != [train, dev]
    assert [len(part) for part in held_out(["1", "2"], 0.9)] == [1, 1]
    with pytest.raises(BadInput, match="two rows"):
        held_out(["1"])


def test_the_report_says_it_all_and_escapes(done: tuple[Path, MendResult]) -> None:
    out, result = done
    page, lines = (out / "report.html").read_text(), (out / "report.md").read_text()
    for shown in (page, lines):
        assert all(sentence.split(":")[0].split("(")[0] in shown for sentence in result.sentences())
        assert f"{result.models[MENDED].length.value:.2f}" in shown
        assert "beam 2" in shown
    assert sum(sum(counts) for _, counts in result.histogram()) == 3 * len(DEV)
    bad = MendResult.from_dict(
        json.loads(json.dumps(result.to_dict() | {"texts": [["<script>alert(1)</script>\x1b[2J"]] * len(DEV)}))
    )
    made = report.pages(bad)
    assert "<script>" not in made["report.html"]
    assert "\x1b" not in made["report.html"] + made["report.md"]
    assert "http" not in page.replace("http-equiv", "")


def test_the_report_shows_no_image_of_a_text(done: tuple[Path, MendResult]) -> None:
    """Nobody hears from it that the report was opened."""
    _, result = done
    text = "see ![x](http://evil.example/p.png) [y](http://evil.example) \\![z](u) <img src=http://evil.example/q.png>"
    settings = result.settings | {"model": {"name": "![n](http://evil.example/n.png)", "labels": ["a"]}}
    named = {"texts": [[text]] * len(DEV), "settings": settings}
    made = report.pages(MendResult.from_dict(json.loads(json.dumps(result.to_dict() | named))))
    assert "evil.example" in made["report.md"]
    assert not re.search(r"(?<!\\)(?:\\\\)*!?\[[xyzn]", made["report.md"])
    assert "<img" not in made["report.md"] + made["report.html"]


def test_histogram_counts_every_length() -> None:
    one = ModelMeasures(
        (True,) * 4, (1.0,) * 4, (20,) * 4, (1, 3, 3, 14), (1.0,) * 4, (("x",),) * 4, ("a",) * 4, (1.0,) * 4
    )
    result = MendResult(
        models={BEFORE: one, MENDED: one}, texts=(("x",),) * 4, gold=("a",) * 4, train=1, reduced_texts=1, reduced=1,
        margin=0.1,
    )  # fmt: skip
    shown = dict(result.histogram())
    assert shown["1"] == [1, 1]
    assert shown["2"] == [0, 0]
    assert shown["3"] == [2, 2]
    assert shown["10+"] == [1, 1]
    assert len(shown) == 10
