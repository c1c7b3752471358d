"""Questions about images: the small model against its equations, a tiny ViLT, and images of every kind."""

from __future__ import annotations

import builtins
import pickle
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import small_checks as small
import task_checks as check
import tiny
import torch
import transformers as hf

import assay
from assay.data import scenes
from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput, ModelNotLoaded
from assay.models.own.attentive import words
from assay.models.own.visual import SceneConfig, SceneForVisualQuestionAnswering, picture
from assay.questions.fill import Fill
from assay.questions.inside import Attention, Hidden
from assay.questions.predict import Predict, Settle
from assay.text.text import Field, Text
from assay.text.variants import Variants
from assay.training.fit import Plan
from assay.training.small import right
from assay.training.visual import Look, look

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


def vilt(**more: Any) -> Any:
    tokenizer = tiny.wordpiece()
    config = hf.ViltConfig(
        vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=20, image_size=32, patch_size=8, initializer_range=0.3, num_labels=4,
        id2label=dict(enumerate(["yes", "no", "red", "2"])), **more,
    )  # fmt: skip
    return tiny.seeded(lambda: hf.ViltForQuestionAnswering(config)), (tokenizer, eyes())


def eyes() -> Any:
    pytest.importorskip("PIL")
    from transformers.models.vilt.image_processing_pil_vilt import ViltImageProcessorPil

    return ViltImageProcessorPil(size={"shortest_edge": 16}, size_divisor=8)


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


def test_a_masked_language_model_does_not_read_the_name_of_the_image() -> None:
    language = assay.load(tiny.masked_lm())
    question, keep = Text.of("what color is the circle ?"), [[True, True, False, True, True, True]]
    alone = Engine(language, resolve=lambda name: language).ask(Fill(Variants(question, np.array(keep)), model="lm"))
    both = Text((replace(question.fields[0], name="question"), Field("image", "some/file.png", ())), ("question",))
    beside = Engine(language, resolve=lambda name: language).ask(Fill(Variants(both, np.array(keep)), model="lm"))
    assert beside[0].words == alone[0].words
    np.testing.assert_allclose(beside[0].probabilities, alone[0].probabilities, atol=1e-6)


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
    assert not {Attention, Hidden} & assay.load(model()).answers


# Images


def test_one_image_in_every_form(tmp_path: Any) -> None:
    pixels = scenes.Scene.read(SCENE).pixels()
    np.save(tmp_path / "bytes.npy", pixels)
    np.save(tmp_path / "floats.npy", pixels / 255)
    np.save(tmp_path / "ints.npy", pixels.astype(np.int32))
    forms = [SCENE, picture(pixels), picture(pixels / 255), *(str(path) for path in tmp_path.iterdir())]
    pillow = pytest.importorskip("PIL.Image")
    pillow.fromarray(pixels).save(tmp_path / "image.png")
    pillow.fromarray(pixels).convert("RGBA").save(tmp_path / "alpha.png")
    forms += [str(tmp_path / "image.png"), str(tmp_path / "alpha.png")]
    chances = assay.load(model()).predict([(PAIR[0], form) for form in forms])
    assert len(forms) == 8
    np.testing.assert_allclose(chances, chances[:1].repeat(8, axis=0), atol=1e-6)
    (named,) = {assay.explain(model(), (PAIR[0], form), "random").text.strings[1].split(" #")[1] for form in forms}
    assert len(named) == 16


def test_a_mapping_and_grey(tmp_path: Any) -> None:
    np.save(tmp_path / "grey.npy", np.full((36, 36), 100, dtype=np.uint8))
    loaded = assay.load(model())
    told = assay.explain(loaded, {"question": PAIR[0], "image": str(tmp_path / "grey.npy")}, "leave_one_out")
    full = picture(np.full((36, 36, 3), 100, dtype=np.uint8))
    np.testing.assert_allclose(told.scores, assay.explain(loaded, (PAIR[0], full), "leave_one_out").scores, atol=1e-6)


def test_an_image_that_changes_under_its_name(tmp_path: Any) -> None:
    """The new pixels are seen when a text is read anew; a text read before them is refused."""
    path = str(tmp_path / "image.npy")
    loaded = assay.load(model())
    np.save(path, scenes.Scene.read(SCENE).pixels())
    before = loaded.predict([(PAIR[0], path)])
    old = assay.explain(loaded, (PAIR[0], path), "leave_one_out").text
    np.save(path, scenes.Scene.read(OTHER).pixels())
    after = loaded.predict([(PAIR[0], path)])
    np.testing.assert_array_equal(after, loaded.predict([(PAIR[0], OTHER)]))
    assert not np.allclose(before, after)
    with pytest.raises(BadFile, match="not what it was"):
        assay.load(model()).predict([old])


def broken(tmp_path: Any) -> dict[str, str]:
    (tmp_path / "text.png").write_text("this is no image")
    (tmp_path / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00")
    np.save(tmp_path / "first.npy", np.zeros((3, 36, 36), dtype=np.uint8))
    np.save(tmp_path / "nan.npy", np.full((36, 36, 3), np.nan))
    np.save(tmp_path / "objects.npy", np.array([[{}]]), allow_pickle=True)
    np.save(tmp_path / "small.npy", np.zeros((12, 12, 3), dtype=np.uint8))
    (tmp_path / "empty.png").write_bytes(b"")
    return {
        str(tmp_path / "missing.png"): "No such file",
        str(tmp_path): "cannot be read",
        "": "cannot be read",
        "x" * 5000: "cannot be read",
        "a\0b": "cannot be read",
        str(tmp_path / "text.png"): "no image",
        str(tmp_path / "empty.png"): "no image",
        str(tmp_path / "cut.npy"): "broken .npy",
        str(tmp_path / "objects.npy"): "broken .npy",
        str(tmp_path / "first.npy"): "height, width, 3",
        str(tmp_path / "nan.npy"): "0 to 255",
        str(tmp_path / "small.npy"): "36 by 36",
        "scene:xx": "spells no scene",
        "array #0123456789abcdef": "given as an array",
    }


def test_images_that_cannot_be_used(tmp_path: Any) -> None:
    pytest.importorskip("PIL")
    loaded = assay.load(model())
    for name, said in broken(tmp_path).items():
        with pytest.raises(BadInput, match=said) as error:
            assay.explain(loaded, (PAIR[0], name), "leave_one_out")
        assert str(error.value).endswith(".")
        assert "\n" not in str(error.value)


def test_a_broken_image_is_an_error_of_its_own_text_alone(tmp_path: Any) -> None:
    loaded = assay.load(model())
    good, bad = assay.verbs.stream(loaded, [PAIR, (PAIR[0], str(tmp_path / "none.png"))], "leave_one_out")
    assert good.error is None
    assert isinstance(bad.error, BadFile)


def test_without_pillow(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "image.png").write_bytes(b"\x89PNG")
    usual = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.startswith("PIL"):
            raise ImportError(name)
        return usual(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(BadFile, match="install pillow"):
        assay.load(model()).predict([(PAIR[0], str(tmp_path / "image.png"))])


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        ("what color is the circle ?", {}, "takes a pair"),
        ({"image": SCENE, "question": "what ?"}, {}, "the question, and then the image"),
        (PAIR, {"focus": ["image"]}, "image"),
        (("", SCENE), {}, "no word"),
    ],
)
def test_what_cannot_be_asked(source: Any, options: Any, said: str) -> None:
    check.refuses(model(), source, said, **options)


def test_a_text_that_is_not_settled_is_not_answered() -> None:
    with pytest.raises(assay.AssayError, match="settled"):
        Engine(assay.load(model())).ask(Predict(Text.of(PAIR, names=("question", "image"))))


# ViLT


def vilt_by_hand(question: str, image: Any) -> Any:
    network, (tokenizer, processor) = vilt()
    with torch.no_grad():
        words, pixels = tokenizer(question, return_tensors="pt"), processor([image], return_tensors="pt")
        return network(**words, **pixels).logits[0].double().numpy()


QUESTION = "who is in the good film ?"


def test_vilt_answers_as_it_does_itself() -> None:
    for seed, size in enumerate([(16, 16), (20, 40), (32, 16)]):
        image = noise(*size, seed)
        (logits,) = small.asked(assay.load(vilt()), Predict, [(QUESTION, picture(image))], 1)
        np.testing.assert_allclose(logits, vilt_by_hand(QUESTION, image), atol=1e-5)


def test_vilt_alone_and_in_company_of_other_images() -> None:
    loaded = assay.load(vilt())
    sizes = [(16, 16), (20, 40), (32, 16), (16, 16)]
    pairs = [(QUESTION[: 9 + 3 * i], picture(noise(*size, i))) for i, size in enumerate(sizes)]
    alone = [small.asked(loaded, Predict, [pair], 1)[0] for pair in pairs]
    together = Engine(loaded, budget=4096)
    texts = together.ask(Settle(*(Text.of(pair, names=loaded.fields, focus=loaded.focus) for pair in pairs)))
    before = together.batcher.batches
    np.testing.assert_allclose(together.ask(Predict(*texts)).logits, alone, atol=1e-5)
    assert together.batcher.batches == before + 1
    many = assay.explain(loaded, pairs, "input_x_gradient", engine=Engine(loaded, budget=4096))
    for pair, told in zip(pairs, many, strict=True):
        np.testing.assert_allclose(told.scores, assay.explain(loaded, pair, "input_x_gradient").scores, atol=1e-4)


def test_vilt_gradients_are_slopes() -> None:
    network, (tokenizer, processor) = vilt()
    network = deepcopy(network).double()
    image = noise(16, 24)
    told = assay.explain((network, (tokenizer, processor)), (QUESTION, picture(image)), "input_x_gradient", target="no")
    inputs = {**tokenizer(QUESTION, return_tensors="pt"), **processor([image], return_tensors="pt")}
    inputs["pixel_values"] = inputs["pixel_values"].double()
    layer = network.get_input_embeddings()
    embedded = layer(inputs["input_ids"]).detach()

    def value(vectors: Any) -> Any:
        logits = small.logits_at(network, inputs, vectors).logits[0]
        return logits[1] - torch.logsumexp(logits[[0, 2, 3]], dim=0)

    coded = tokenizer(QUESTION)
    owners = [[i for i, w in enumerate(coded.word_ids()) if w == word] for word in range(len(told.words))]
    check.gradient_times_input(told, embedded, owners, value)


def test_vilt_by_processor_and_from_a_directory(tmp_path: Any) -> None:
    network, (tokenizer, processor) = vilt()
    both = type("Processor", (), {"tokenizer": tokenizer, "image_processor": processor})()
    pair = (QUESTION, picture(noise(16, 24)))
    told = assay.explain((network, both), pair, "leave_one_out")
    assert told.words == tuple(QUESTION.split())
    for part in (network, tokenizer, processor):
        part.save_pretrained(tmp_path)
    again = assay.explain(str(tmp_path), pair, "leave_one_out")
    np.testing.assert_allclose(again.scores, told.scores, atol=1e-5)
    assert assay.load((network, both)).labels == ("yes", "no", "red", "2")
    pipeline = type("Pipeline", (), {"model": network, "tokenizer": tokenizer, "image_processor": processor})()
    np.testing.assert_allclose(assay.explain(pipeline, pair, "leave_one_out").scores, told.scores, atol=1e-6)


def test_vilt_leaves_no_trace() -> None:
    pair, loaded = (QUESTION, picture(noise(16, 24))), assay.load(vilt())
    before = torch.get_rng_state()
    assay.explain(loaded, pair, "input_reduction")
    assert torch.equal(before, torch.get_rng_state())


def test_a_long_question_is_cut_and_the_image_is_not() -> None:
    told = assay.explain(vilt(), (QUESTION * 9, picture(noise(16, 24))), "leave_one_out")
    assert told.truncated
    assert told.text.strings[1].startswith("array #")
    assert len(told.words) < len(QUESTION.split()) * 9


def test_the_image_processor_counts() -> None:
    network, (tokenizer, processor) = vilt()
    other = deepcopy(processor)
    other.image_mean = [0.1, 0.1, 0.1]
    assert (
        assay.load((network, (tokenizer, processor))).fingerprint()
        != assay.load((network, (tokenizer, other))).fingerprint()
    )


def test_models_that_cannot_be_used() -> None:
    network, (tokenizer, processor) = vilt()
    with pytest.raises(ModelNotLoaded, match="image processor"):
        assay.load((network, tokenizer))
    chosen, rest = vilt(max_image_length=3)
    with pytest.raises(ModelNotLoaded, match="random"):
        assay.load((chosen, rest))
    text = {
        "vocab_size": 30,
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "intermediate_size": 8,
    }
    eye = {
        "hidden_size": 8,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "intermediate_size": 8,
        "image_size": 16,
        "patch_size": 8,
    }
    blip = hf.BlipForQuestionAnswering(hf.BlipConfig(text_config={**text, "encoder_hidden_size": 8}, vision_config=eye))
    with pytest.raises(ModelNotLoaded, match="known answers"):
        assay.load((blip, (tokenizer, processor)))


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
