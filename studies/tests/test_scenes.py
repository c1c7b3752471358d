"""Questions about scenes: the small model against its equations, and its training."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import small_checks as small
import tiny
import torch

import assay
import task_checks as check
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.models.own.attentive import words
from assay.models.transformers.images import picture
from assay.questions.inside import Attention, Hidden
from assay.questions.predict import Predict
from assay.training.fit import Plan
from assay_studies.models.scenes import SceneConfig, SceneForVisualQuestionAnswering
from assay_studies.models.scenes import images as scenes
from assay_studies.models.scenes.training import Look, look
from assay_studies.models.training import right

SCENE = "scene:rcbs----yt--------"
OTHER = "scene:gsgs----gc------rt"
PAIR = ("what color is the circle ?", SCENE)
PAIRS = [
    PAIR,
    ("is there a red square ?", OTHER),
    ("how many ?", SCENE),
    ("how many big red circles are there , then ?", OTHER),
]


def model(double: bool = False) -> Any:
    tokenizer = words([(one.strings[0],) for one in scenes.questions(72)])
    names = dict(enumerate(sorted(scenes.ANSWERS)))
    config = SceneConfig(vocab_size=len(tokenizer), embedding_size=6, hidden_size=8, id2label=names)
    network = tiny.seeded(lambda: SceneForVisualQuestionAnswering(config))
    with torch.no_grad():
        network.answer[-1].weight *= 8  # so that answers differ
    return (network.double() if double else network), tokenizer


def noise(height: int, width: int, seed: int = 0) -> Any:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def by_hand(question: str, scene: str) -> Any:
    """The small model by a loop over patches, in float64."""
    network, tokenizer = model(double=True)
    image = torch.tensor(scenes.Scene.read(scene).pixels() / 255 - 0.5)
    with torch.no_grad():
        vectors = network.embedding.weight[[2, *tokenizer(question, add_special_tokens=False)["input_ids"], 3]]
        states = tiny.bilstm(network.question)(vectors[None])[0][0]
        asked = torch.cat([states[-1, :8], states[0, 8:]])
        total = torch.zeros(8, dtype=torch.float64)
        for row in range(3):
            for column in range(3):
                patch = image[12 * row : 12 * row + 12, 12 * column : 12 * column + 12].permute(2, 0, 1)
                seen = (network.patches.weight * patch).sum((1, 2, 3)) + network.patches.bias
                total += network.meet(torch.cat([seen.relu(), asked]))
        return network.answer(total).numpy()


@pytest.mark.parametrize("pair", PAIRS)
def test_the_equation(pair: tuple[str, str]) -> None:
    (logits,) = small.asked(assay.load(model()), Predict, [pair], 1)
    np.testing.assert_allclose(logits, by_hand(*pair), atol=1e-5)


def test_company_does_not_matter() -> None:
    loaded, pairs = assay.load(model()), [*PAIRS, ("", SCENE), ("zzz", OTHER)]
    alone = [small.asked(loaded, Predict, [pair], 1)[0] for pair in pairs]
    np.testing.assert_allclose(small.asked(loaded, Predict, pairs, 4096), alone, atol=1e-5)
    for method in ("leave_one_out", "input_x_gradient"):
        single = [assay.explain(loaded, pair, method, engine=Engine(loaded, budget=1)).scores for pair in PAIRS]
        many = assay.explain(loaded, PAIRS, method, engine=Engine(loaded, budget=4096))
        for a, b in zip(single, many, strict=True):
            np.testing.assert_allclose(b.scores, a, atol=1e-5)


@pytest.mark.parametrize("question", ["", "zzz xyzzy", "<pad> <unk> <sos>", "東京 🙂"])
def test_odd_questions_have_a_result(question: str) -> None:
    chances = assay.load(model()).predict([(question, SCENE)])
    assert chances.sum() == pytest.approx(1)


def test_the_image_stays_while_words_go() -> None:
    loaded = assay.load(model())
    told = assay.explain(loaded, PAIR, "leave_one_out", target="blue", scalar="probability")
    assert told.words == ("what", "color", "is", "the", "circle", "?")
    parts = PAIR[0].split()
    chances = loaded.predict([PAIR, *((" ".join(parts[:i] + parts[i + 1 :]), SCENE) for i in range(6))])
    column = loaded.labels.index("blue")
    np.testing.assert_allclose(told.scores, chances[0, column] - chances[1:, column], atol=1e-6)
    elsewhere = assay.explain(loaded, (PAIR[0], OTHER), "leave_one_out", target="blue", scalar="probability")
    assert not np.allclose(told.scores, elsewhere.scores)


def test_the_gradient_is_a_slope() -> None:
    network, tokenizer = model(double=True)
    told = assay.explain((network, tokenizer), PAIR, "input_x_gradient", target="red")
    pixels = torch.tensor(scenes.Scene.read(SCENE).pixels()).permute(2, 0, 1)[None].float() / 255
    inputs = {**tokenizer(PAIR[0], return_tensors="pt"), "pixel_values": pixels.double()}
    embedded = network.embedding(inputs["input_ids"]).detach()
    at = sorted(scenes.ANSWERS).index("red")

    def value(vectors: Any) -> Any:
        logits = small.logits_at(network, inputs, vectors).logits[0]
        others = [i for i in range(len(logits)) if i != at]
        return logits[at] - torch.logsumexp(logits[others], dim=0)

    check.gradient_times_input(told, embedded, [[i + 1] for i in range(6)], value)


def test_integrated_gradients_add_up() -> None:
    told = assay.explain(model(), PAIR, "integrated_gradients", baseline="zero", tolerance=0.001)
    assert told.scores.sum() == pytest.approx(told.facts["value"] - told.facts["baseline"], rel=0.01, abs=1e-4)


@pytest.mark.parametrize("pair", PAIRS)
def test_input_reduction_keeps_answer_and_image(pair: tuple[str, str]) -> None:
    loaded = assay.load(model())
    told = assay.explain(loaded, pair, "input_reduction")
    question, image = told.edits[-1].strings
    assert image == told.text.strings[1]
    whole, reduced = loaded.predict([pair, (question, image)]).argmax(axis=1)
    assert whole == reduced == told.target
    assert len(question.split()) <= len(pair[0].split())


@check.every_method
def test_every_method_runs_and_is_saved(method: str) -> None:
    loaded = assay.load(model())
    told = assay.explain(loaded, PAIR, method, **check.METHODS[method])
    assert type(told).from_json(told.to_json()).to_dict() == told.to_dict()
    assert "circle" in told.to_html()


def test_saved_and_loaded(tmp_path: Any) -> None:
    check.saved(model(), tmp_path, PAIR)
    again = assay.load(str(tmp_path))
    assert again.labels == tuple(sorted(scenes.ANSWERS))
    np.testing.assert_array_equal(again.predict(PAIRS), assay.load(model()).predict(PAIRS))


def test_the_fingerprint_is_that_of_the_weights() -> None:
    network, tokenizer = model()
    before = assay.load((network, tokenizer)).fingerprint()
    assert before == assay.load(model()).fingerprint()
    assert assay.load((small.perturbed(network), tokenizer)).fingerprint() != before


def test_it_can_be_sent_elsewhere() -> None:
    loaded = assay.load(model())
    expected = loaded.predict([PAIR])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(loaded)).predict([PAIR]), expected)
    array = picture(scenes.Scene.read(SCENE).pixels())
    np.testing.assert_array_equal(loaded.predict([pickle.loads(pickle.dumps((PAIR[0], array)))]), expected)
    assert not np.allclose(loaded.derived("randomized:head:0").predict([PAIR]), expected)


def test_there_is_nothing_to_look_into() -> None:
    assert not {Attention, Hidden} & assay.load(model()).answers.keys()


# Scenes as images


def test_a_scene_is_the_image_of_its_pixels(tmp_path: Any) -> None:
    pixels = scenes.Scene.read(SCENE).pixels()
    np.save(tmp_path / "bytes.npy", pixels)
    chances = assay.load(model()).predict([(PAIR[0], f) for f in (SCENE, picture(pixels), str(tmp_path / "bytes.npy"))])
    np.testing.assert_allclose(chances, chances[:1].repeat(3, axis=0), atol=1e-6)


def test_images_that_cannot_be_used(tmp_path: Any) -> None:
    np.save(tmp_path / "small.npy", np.zeros((12, 12, 3), dtype=np.uint8))
    check.refuses(model(), (PAIR[0], str(tmp_path / "small.npy")), "36 by 36")
    check.refuses(model(), (PAIR[0], "scene:xx"), "spells no scene")


# Training


def colors(n: int, seed: int) -> tuple[list[Any], list[str]]:
    asked = [one for one in scenes.questions(3 * n, seed=seed) if one.strings[0].startswith("what")]
    return [one.strings for one in asked], [one.label or "" for one in asked]


def test_it_learns_to_look(tmp_path: Any) -> None:
    how = Look(hidden=32, size=16, batch=16, plan=Plan(epochs=22, rate=3e-3, decay=0.0, clip=5.0, optimiser="adam"))
    trained = look(*colors(500, 0), how=how, out=tmp_path / "m", progress=False)
    texts, answers = colors(120, 1)
    assert right(trained, texts, answers) > 0.8
    blank = [(question, "scene:" + "--" * 9) for question, _ in texts]
    assert right(trained, blank, answers) < 0.4
    again = look(*colors(500, 0), how=how, out=tmp_path / "m", progress=False)
    np.testing.assert_array_equal(again.predict(texts), trained.predict(texts))


@pytest.mark.parametrize(
    ("texts", "answers", "settings", "said"),
    [
        ([PAIR], [], {}, "one answer"),
        ([PAIR, PAIRS[1]], ["yes", "yes"], {}, "two labels"),
        ([PAIR, PAIRS[1]], ["yes", "no"], {"patch": 7}, "multiple of patch=7"),
        ([PAIR, ("what ?", "none.png")], ["yes", "no"], {}, "none.png"),
        ([PAIR, ("what ?", picture(noise(12, 12)))], ["yes", "no"], {}, "one size"),
    ],
)
def test_what_cannot_be_learnt(texts: Any, answers: Any, settings: Any, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        look(texts, answers, progress=False, **settings)
