"""Questions about images: a tiny ViLT against itself run bare, and images of every kind."""

from __future__ import annotations

import builtins
import pickle
from copy import deepcopy
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf

import assay
import task_checks as check
from assay.engine.engine import Engine
from assay.errors import BadFile, BadInput, ModelNotLoaded
from assay.models.transformers.images import picture, register_images
from assay.questions.fill import Fill
from assay.questions.inside import Attention, Hidden
from assay.questions.predict import Predict, Settle
from assay.text.text import Field, Text
from assay.text.variants import Variants

QUESTION = "who is in the good film ?"


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


def asked(model: Any, sources: list[Any]) -> list[Any]:
    """The logits of each pair alone."""
    engine = Engine(model, budget=1)
    texts = [model.clip(Text.of(one, names=model.fields, focus=model.focus)) for one in sources]
    return list(engine.ask(Predict(*engine.ask(Settle(*texts)))).logits)


# ViLT


def vilt_by_hand(question: str, image: Any) -> Any:
    network, (tokenizer, processor) = vilt()
    with torch.no_grad():
        words, pixels = tokenizer(question, return_tensors="pt"), processor([image], return_tensors="pt")
        return network(**words, **pixels).logits[0].double().numpy()


def test_vilt_answers_as_it_does_itself() -> None:
    for seed, size in enumerate([(16, 16), (20, 40), (32, 16)]):
        image = noise(*size, seed)
        (logits,) = asked(assay.load(vilt()), [(QUESTION, picture(image))])
        np.testing.assert_allclose(logits, vilt_by_hand(QUESTION, image), atol=1e-5)


def test_vilt_alone_and_in_company_of_other_images() -> None:
    loaded = assay.load(vilt())
    sizes = [(16, 16), (20, 40), (32, 16), (16, 16)]
    pairs = [(QUESTION[: 9 + 3 * i], picture(noise(*size, i))) for i, size in enumerate(sizes)]
    alone = [asked(loaded, [pair])[0] for pair in pairs]
    together = Engine(loaded, budget=4096)
    texts = together.ask(Settle(*(Text.of(pair, names=loaded.fields, focus=loaded.focus) for pair in pairs)))
    before = together.batcher.batches
    np.testing.assert_allclose(together.ask(Predict(*texts)).logits, alone, atol=1e-5)
    assert together.batcher.batches == before + 1
    many = assay.explain(loaded, pairs, "input_x_gradient", engine=Engine(loaded, budget=4096))
    for pair, told in zip(pairs, many, strict=True):
        np.testing.assert_allclose(told.scores, assay.explain(loaded, pair, "input_x_gradient").scores, atol=1e-4)


def logits_at(model: Any, inputs: dict[str, Any], embedded: Any) -> Any:
    """The output of the bare model with these vectors in the place of its embeddings."""
    handle = model.get_input_embeddings().register_forward_hook(lambda *_: embedded)
    try:
        return model(**inputs)
    finally:
        handle.remove()


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
        logits = logits_at(network, inputs, vectors).logits[0]
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


def test_vilt_draws_from_a_generator_of_its_own() -> None:
    network, processor = vilt()
    states = [torch.get_rng_state()]
    handle = network.classifier.register_forward_hook(lambda *_: states.append(torch.get_rng_state()))
    loaded = assay.load((network, processor))
    loaded.predict([(QUESTION, picture(noise(20, 40)))])
    handle.remove()
    assert len(states) > 1
    assert all(torch.equal(state, states[0]) for state in states)


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


def test_it_can_be_sent_elsewhere() -> None:
    loaded, pair = assay.load(vilt()), (QUESTION, picture(noise(16, 24)))
    expected = loaded.predict([pair])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(loaded)).predict([pair]), expected)
    np.testing.assert_array_equal(loaded.predict([pickle.loads(pickle.dumps(pair))]), expected)
    assert not np.allclose(loaded.derived("randomized:head:0").predict([pair]), expected)


def test_there_is_nothing_to_look_into() -> None:
    assert not {Attention, Hidden} & assay.load(vilt()).answers.keys()


def test_a_masked_language_model_does_not_read_the_name_of_the_image() -> None:
    language = assay.load(tiny.masked_lm())
    question, keep = Text.of("what color is the circle ?"), [[True, True, False, True, True, True]]
    alone = Engine(language, resolve=lambda name: language).ask(Fill(Variants(question, np.array(keep)), model="lm"))
    both = Text((replace(question.fields[0], name="question"), Field("image", "some/file.png", ())), ("question",))
    beside = Engine(language, resolve=lambda name: language).ask(Fill(Variants(both, np.array(keep)), model="lm"))
    assert beside[0].words == alone[0].words
    np.testing.assert_allclose(beside[0].probabilities, alone[0].probabilities, atol=1e-6)


# Images


def test_one_image_in_every_form(tmp_path: Any) -> None:
    pixels = noise(16, 24)
    np.save(tmp_path / "bytes.npy", pixels)
    np.save(tmp_path / "floats.npy", pixels / 255)
    np.save(tmp_path / "ints.npy", pixels.astype(np.int32))
    forms = [picture(pixels), picture(pixels / 255), *(str(path) for path in tmp_path.iterdir())]
    pillow = pytest.importorskip("PIL.Image")
    pillow.fromarray(pixels).save(tmp_path / "image.png")
    pillow.fromarray(pixels).convert("RGBA").save(tmp_path / "alpha.png")
    forms += [str(tmp_path / "image.png"), str(tmp_path / "alpha.png")]
    chances = assay.load(vilt()).predict([(QUESTION, form) for form in forms])
    assert len(forms) == 7
    np.testing.assert_allclose(chances, chances[:1].repeat(7, axis=0), atol=1e-6)
    (named,) = {assay.explain(vilt(), (QUESTION, form), "random").text.strings[1].split(" #")[1] for form in forms}
    assert len(named) == 16


def test_a_mapping_and_grey(tmp_path: Any) -> None:
    np.save(tmp_path / "grey.npy", np.full((36, 36), 100, dtype=np.uint8))
    loaded = assay.load(vilt())
    told = assay.explain(loaded, {"question": QUESTION, "image": str(tmp_path / "grey.npy")}, "leave_one_out")
    full = picture(np.full((36, 36, 3), 100, dtype=np.uint8))
    np.testing.assert_allclose(told.scores, assay.explain(loaded, (QUESTION, full), "leave_one_out").scores, atol=1e-6)


def test_an_image_that_changes_under_its_name(tmp_path: Any) -> None:
    """The new pixels are seen when a text is read anew; a text read before them is refused."""
    path = str(tmp_path / "image.npy")
    loaded = assay.load(vilt())
    np.save(path, noise(16, 24, 1))
    before = loaded.predict([(QUESTION, path)])
    old = assay.explain(loaded, (QUESTION, path), "leave_one_out").text
    np.save(path, noise(16, 24, 2))
    after = loaded.predict([(QUESTION, path)])
    np.testing.assert_array_equal(after, loaded.predict([(QUESTION, picture(noise(16, 24, 2)))]))
    assert not np.allclose(before, after)
    with pytest.raises(BadFile, match="not what it was"):
        assay.load(vilt()).predict([old])


def broken(tmp_path: Any) -> dict[str, str]:
    (tmp_path / "text.png").write_text("this is no image")
    (tmp_path / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00")
    np.save(tmp_path / "first.npy", np.zeros((3, 36, 36), dtype=np.uint8))
    np.save(tmp_path / "nan.npy", np.full((36, 36, 3), np.nan))
    np.save(tmp_path / "objects.npy", np.array([[{}]]), allow_pickle=True)
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
        "array #0123456789abcdef": "given as an array",
    }


def test_images_that_cannot_be_used(tmp_path: Any) -> None:
    pytest.importorskip("PIL")
    loaded = assay.load(vilt())
    for name, said in broken(tmp_path).items():
        with pytest.raises(BadInput, match=said) as error:
            assay.explain(loaded, (QUESTION, name), "leave_one_out")
        assert str(error.value).endswith(".")
        assert "\n" not in str(error.value)


def test_a_broken_image_is_an_error_of_its_own_text_alone(tmp_path: Any) -> None:
    loaded = assay.load(vilt())
    good, bad = assay.verbs.stream(
        loaded, [(QUESTION, picture(noise(16, 24))), (QUESTION, str(tmp_path / "none.png"))], "leave_one_out"
    )
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
        assay.load(vilt()).predict([(QUESTION, str(tmp_path / "image.png"))])


IMAGE = picture(noise(16, 24))


@pytest.mark.parametrize(
    ("source", "options", "said"),
    [
        (QUESTION, {}, "takes a pair"),
        ({"image": IMAGE, "question": "what ?"}, {}, "the question, and then the image"),
        ((QUESTION, IMAGE), {"focus": ["image"]}, "image"),
        (("", IMAGE), {}, "no word"),
    ],
)
def test_what_cannot_be_asked(source: Any, options: Any, said: str) -> None:
    check.refuses(vilt(), source, said, **options)


def test_a_text_that_is_not_settled_is_not_answered() -> None:
    with pytest.raises(assay.AssayError, match="settled"):
        Engine(assay.load(vilt())).ask(Predict(Text.of((QUESTION, "image.png"), names=("question", "image"))))


def test_names_that_another_package_reads() -> None:
    register_images("noise:", lambda name: noise(16, 24, int(name.removeprefix("noise:"))))
    loaded = assay.load(vilt())
    chances = loaded.predict([(QUESTION, "noise:3"), (QUESTION, picture(noise(16, 24, 3))), (QUESTION, "noise:4")])
    np.testing.assert_allclose(chances[0], chances[1], atol=1e-6)
    assert not np.allclose(chances[0], chances[2])
