"""Classifiers: the bare model's answers in any company, gradients against a slow way, and the model left alone."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from torch import Tensor, nn

import assay
from assay.engine.engine import Engine
from assay.errors import ModelFailed, ModelNotLoaded, OutOfMemory
from assay.models.base import TextModel
from assay.models.batching import Batcher
from assay.models.transformers.scalars import explained
from assay.questions.answers import Predictions
from assay.questions.base import Aim
from assay.questions.gradients import GradientRow, InputGradient, Noise
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Symbol

FAMILIES = sorted(tiny.FAMILIES)
family = pytest.mark.parametrize("name", FAMILIES)

TEXTS: list[Any] = [
    "a gripping, funny film",
    "dull",
    "The plot was dull, the acting worse; I wouldn't watch it again!",
    "東京タワー naïve 🙂",
    "film " * 90,
    "the film the film the film",
    "x.y,z   a_b \t 1st",
]
PAIRS: list[Any] = [
    ("a man sleeps", "a man"),
    ("dogs", "two dogs run through the grass"),
    ("a film " * 40, "a dog " * 40),
    ("a", ""),
]


def bare(model: Any, tokenizer: Any, text: Any) -> Tensor:
    """Logits of one text alone, in the way of the transformers documentation."""
    row = ([part] for part in ((text,) if isinstance(text, str) else text))
    inputs = deepcopy(tokenizer)(*row, truncation=True, max_length=tiny.WINDOW, return_tensors="pt")
    with torch.no_grad():
        return model(**inputs).logits[0]  # type: ignore[no-any-return]


@family
def test_predict_is_the_bare_model(name: str) -> None:
    model, tokenizer = tiny.FAMILIES[name]()
    adapter = assay.load((model, tokenizer))
    for texts in (TEXTS, PAIRS):
        expected = [bare(model, tokenizer, text).softmax(-1).tolist() for text in texts]
        assert adapter.predict(texts) == pytest.approx(np.array(expected), abs=1e-6)


def logits(adapter: TextModel, texts: list[Any], budget: int) -> np.ndarray:
    values, _ = Batcher(budget).answers(adapter, Predict, [Text.of(text).strings for text in texts])
    return np.array(values)


@family
def test_the_company_does_not_matter(name: str) -> None:
    adapter = assay.load(tiny.FAMILIES[name]())
    alone = np.concatenate([logits(adapter, [text], 1) for text in TEXTS])
    for budget in (1, 40, 256, 10_000):
        assert logits(adapter, TEXTS, budget) == pytest.approx(alone, abs=1e-5)
        assert logits(adapter, TEXTS[::-1], budget)[::-1] == pytest.approx(alone, abs=1e-5)


def test_predictions_differ_between_texts() -> None:
    """Otherwise the tests above would pass for any model."""
    for name in FAMILIES:
        table = assay.load(tiny.FAMILIES[name]()).predict(TEXTS)
        assert table.std(axis=0).max() > 0.01, name


def test_single_texts_and_pairs_side_by_side() -> None:
    model, tokenizer = tiny.bert()
    texts = ["a film", ("a film", "a dog"), "dogs"]
    expected = [bare(model, tokenizer, text).softmax(-1).tolist() for text in texts]
    assert assay.load((model, tokenizer)).predict(texts) == pytest.approx(np.array(expected), abs=1e-6)


@pytest.mark.parametrize("problem", [None, "multi_label_classification"])
def test_a_single_logit_is_two_labels(problem: str | None) -> None:
    model, tokenizer = tiny.bert(num_labels=1, problem=problem)
    adapter = assay.load((model, tokenizer))
    assert adapter.labels == ("not LABEL_0", "LABEL_0")
    yes = torch.stack([bare(model, tokenizer, text).sigmoid() for text in TEXTS]).numpy()
    assert adapter.predict(TEXTS) == pytest.approx(np.hstack([1 - yes, yes]), abs=1e-6)


def test_an_output_that_may_be_a_regression_is_warned_about() -> None:
    unsaid, said = tiny.bert(num_labels=1), tiny.bert(num_labels=1, problem="multi_label_classification")
    assert any("if it is a regression" in one for one in assay.explain(unsaid, "a film", "leave_one_out").warnings)
    assert not assay.explain(said, "a film", "leave_one_out").warnings


@pytest.mark.parametrize("method", ["leave_one_out", "integrated_gradients", "attn_lrp"])
@pytest.mark.parametrize("target", [0, 1])
def test_the_only_logit_is_explained_whole(method: str, target: int) -> None:
    """Its columns are -z/2 and z/2; the logit of the second label is z, that of the first -z."""
    model, tokenizer = tiny.bert(num_labels=1)
    text, sign = "a gripping funny film", 2 * target - 1
    z = {row: sign * float(bare(model, tokenizer, row)[0]) for row in (text, "gripping funny film")}
    told = assay.explain((model, tokenizer), text, method, scalar="logit", target=target)
    if method == "leave_one_out":
        assert told.scores[0] == pytest.approx(z[text] - z["gripping funny film"], abs=1e-5)
    else:
        assert told.facts["value"] == pytest.approx(z[text], abs=1e-5)


def test_the_only_output_of_an_attentive_model_is_explained_whole() -> None:
    adapter = assay.load(tiny.attentive(num_labels=2))
    answers = Engine(adapter).ask(Predict(Text.of("a good film")))
    p = answers.probabilities[0]
    assert answers.value(1, "logit") == pytest.approx(np.log(p[1] / p[0]), abs=1e-6)


def test_several_labels_may_hold() -> None:
    model, tokenizer = tiny.bert(problem="multi_label_classification")
    adapter = assay.load((model, tokenizer))
    assert adapter.multi_label
    expected = [bare(model, tokenizer, text).sigmoid().tolist() for text in TEXTS]
    assert adapter.predict(TEXTS) == pytest.approx(np.array(expected), abs=1e-6)


def test_regression_is_refused() -> None:
    with pytest.raises(ModelNotLoaded, match="regression"):
        assay.load(tiny.bert(num_labels=1, problem="regression"))


def test_names_of_labels() -> None:
    model, tokenizer = tiny.bert()
    model = deepcopy(model)
    model.config.id2label = {0: "bad", 1: "so-so", 2: "good"}
    assert assay.load((model, tokenizer)).labels == ("bad", "so-so", "good")


def test_a_decoder_without_padding_token_goes_row_by_row() -> None:
    adapter = assay.load(tiny.gpt2())
    assert adapter.most_rows == 1
    batcher = Batcher(10_000)
    batcher.answers(adapter, Predict, [("a film",), ("a longer film",), ("dogs",)])
    assert batcher.batches == 3


def test_a_decoder_whose_config_alone_names_the_padding() -> None:
    model, tokenizer = tiny.gpt2()
    model = deepcopy(model)
    model.config.pad_token_id = 5
    adapter = assay.load((model, tokenizer))
    together = adapter.predict(TEXTS)
    assert together == pytest.approx(np.concatenate([adapter.predict([text]) for text in TEXTS]), abs=1e-6)


def test_one_word_taken_from_a_text_of_one_word() -> None:
    """A decoder sees no token at all then: an answer or an error with a name."""
    try:
        told = assay.explain(assay.load(tiny.gpt2()), "film", "leave_one_out")
    except assay.AssayError:
        return
    assert np.isfinite(told.scores).all()


AIMS = [Aim(0), Aim(2), Aim(1, "probability"), Aim(1, "logit"), Aim(0, "log_odds", 2), Aim(2, "probability", 0)]


@pytest.mark.parametrize("aim", AIMS, ids=str)
@pytest.mark.parametrize("multi_label", [False, True])
def test_scalars_are_the_same_in_torch_and_numpy(aim: Aim, multi_label: bool) -> None:
    table = np.random.default_rng(0).normal(size=(5, 3)) * 4
    expected = Predictions(table, multi_label).value(*aim)
    assert explained(torch.tensor(table), [aim] * 5, multi_label).numpy() == pytest.approx(expected, abs=1e-9)
    mixed = explained(torch.tensor(table), [*AIMS[:4], aim], multi_label).numpy()
    assert mixed[4] == pytest.approx(expected[4], abs=1e-9)


def slow_scalar(row: Tensor, aim: Aim) -> Tensor:
    """From the definitions: p / (1 - p) and so on."""
    chances = row.softmax(-1)
    if aim.against is not None:
        return (chances[aim.target] / chances[aim.against]).log()
    match aim.scalar:
        case "probability":
            return chances[aim.target]
        case "logit":
            return row[aim.target]
    return (chances[aim.target] / (chances.sum() - chances[aim.target])).log()


def slow_gradient(adapter: Any, row: GradientRow) -> np.ndarray:
    """At each point the explained value and one number per word: one text, inputs_embeds, autograd, plain loops."""
    return np.array([slow_point(adapter, row, at) for at in row.at])


def slow_point(adapter: Any, row: GradientRow, at: float) -> list[float]:
    model, pieces = deepcopy(adapter.model).double(), adapter.encoder.pieces(row.text)
    layer = model.get_input_embeddings()
    embedded = layer(torch.tensor([pieces.ids])).detach()
    symbol = {"pad": Symbol.PAD, "mask": Symbol.MASK}.get(row.baseline or "")
    token = None if symbol is None else adapter.tokenizer.convert_tokens_to_ids(adapter.spelling[symbol])
    start = embedded.clone()
    for piece in set(pieces.piece.tolist()):
        start[0, piece] = 0 if token is None else layer.weight[token].detach()
    point = (start + at * (embedded - start)).requires_grad_()
    types = {} if pieces.types is None else {"token_type_ids": torch.tensor([pieces.types])}
    if "token_type_ids" not in adapter.network.takes:
        types = {}
    value = slow_scalar(model(inputs_embeds=point, **types).logits[0], row.aim)
    (gradient,) = torch.autograd.grad(value, point)
    scores = [_reduced(row.reduce, gradient[0], (embedded - start)[0], pieces, w) for w in range(len(row.text))]
    return [value.item(), *scores]


def _reduced(kind: str, gradient: Tensor, way: Tensor, pieces: Any, word: int) -> float:
    mine = [(p, s) for p, w, s in zip(pieces.piece, pieces.word, pieces.share.tolist(), strict=True) if w == word]
    match kind:
        case "dot":
            return sum(s * float(gradient[p] @ way[p]) for p, s in mine)
        case "l1":
            return sum(s * float(gradient[p].abs().sum()) for p, s in mine)
        case "l2":
            return float(sum(s * float((gradient[p] ** 2).sum()) for p, s in mine) ** 0.5)
    return max((float(gradient[p].abs().max()) for p, _ in mine), default=0.0)


WORDS = Text.of("a gripping, funny film isn't it")
PAIR = Text.of(("the film the dog", "the film"), focus=["hypothesis"])
ROWS = [
    *[GradientRow(WORDS, Aim(1), reduce, None) for reduce in ("dot", "l1", "l2", "linf")],
    *[GradientRow(WORDS, aim, "dot", None) for aim in AIMS],
    *[GradientRow(WORDS, Aim(0), "dot", start, (at,)) for start in ("pad", "mask", "zero") for at in (0.0, 0.3, 1.0)],
    GradientRow(PAIR, Aim(2), "dot", "zero", (0.5, 1.0)),
    GradientRow(PAIR, Aim(2), "l2", None),
    GradientRow(WORDS, Aim(1), "dot", "zero", (0.9, 0.1, 0.4)),
    GradientRow(Text.of(("a film", "東京 🙂")), Aim(2), "linf", None),
    GradientRow(Text.of("dull"), Aim(0), "l1", "zero", (0.5, 0.25, 1.0, 0.0)),
]  # fmt: skip


@family
def test_gradients_are_those_of_the_slow_way(name: str) -> None:
    """All rows in one batch, of different lengths, reductions, aims and baselines."""
    adapter = assay.load(tiny.FAMILIES[name]())
    has = {"zero", None, *adapter.spelling}
    rows = [row for row in ROWS if row.baseline in has and (adapter.line_tokens or len(row.at) == 1)]
    values, _ = Batcher(100_000).answers(adapter, InputGradient, rows)
    for row, value in zip(rows, values, strict=True):
        expected = slow_gradient(adapter, row)
        assert value == pytest.approx(expected, abs=1e-5 + 2e-5 * np.abs(expected).max()), row


def test_gradients_of_several_labels_and_of_one_logit() -> None:
    for problem, labels in (("multi_label_classification", 3), (None, 1)):
        model, tokenizer = tiny.bert(num_labels=labels, problem=problem)
        adapter = assay.load((model, tokenizer))
        ((value,),), _ = Batcher(1).answers(adapter, InputGradient, [GradientRow(WORDS, Aim(1), "dot", None)])
        pieces = adapter.encoder.pieces(WORDS)  # type: ignore[attr-defined]
        point = model.get_input_embeddings()(torch.tensor([pieces.ids])).detach().requires_grad_()
        logit = model(inputs_embeds=point).logits[0, 1 if labels == 3 else 0]
        (gradient,) = torch.autograd.grad(logit, point)
        assert value[0] == pytest.approx(logit.item(), abs=1e-5)
        owned = sorted(set(pieces.piece.tolist()))
        assert value[1:].sum() == pytest.approx(float((gradient * point.detach())[0, owned].sum()), abs=1e-4)


def test_input_gradient_puts_rows_together() -> None:
    engine = Engine(assay.load(tiny.bert()))
    one, two = engine.ask(InputGradient(WORDS, Text.of("dull film"), aim=Aim(1), baseline="zero", at=(0.25, 1.0)))
    assert (one.scores.shape, two.scores.shape) == ((2, len(WORDS)), (2, 2))
    expected = slow_gradient(engine.model, GradientRow(Text.of("dull film"), Aim(1), "dot", "zero", (0.25,)))
    assert [two.values[0], *two.scores[0]] == pytest.approx(expected[0].tolist(), abs=1e-4)


@pytest.mark.parametrize("tokens", [0, 1, 20, 100, 10_000])
def test_points_of_a_line_share_rows_and_nothing_else(tokens: int) -> None:
    """However many go together, every point has the same answer, and counts as a sequence."""
    model: Any = assay.load(tiny.bert())
    model.line_tokens = tokens
    texts, at = [WORDS, Text.of("dull film"), Text.of("x")], (0.1, 0.5, 0.7, 0.9, 1.0)
    question = InputGradient(*texts, aim=Aim(1), baseline="zero", at=at)
    most = {0: 1, 1: 1, 10_000: len(at)}.get(tokens)
    assert most is None or {len(row.at) for row in question.rows(model)} == {most}
    engine = Engine(model)
    for text, told in zip(texts, engine.ask(question), strict=True):
        expected = slow_gradient(model, GradientRow(text, Aim(1), "dot", "zero", at))
        assert np.column_stack([told.values, told.scores]) == pytest.approx(expected, abs=1e-4)
    assert (engine.totals.sequences, engine.totals.backwards) == (15, 15)
    alone = [engine.model.lengths(InputGradient, model.encode(InputGradient, question.rows(model)[-1:]))[0] * 5]  # type: ignore[attr-defined]
    assert engine.totals.tokens >= alone[0]


@pytest.mark.parametrize("most", [200, 30, 12, 8])
def test_points_that_do_not_fit_together_are_parted(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Memory for so many tokens: every point that fits alone is answered, and one that does not is an error alone."""
    model: Any = assay.load(tiny.bert())
    model.line_tokens = 10_000
    texts, at = [WORDS, Text.of("dull film"), Text.of("x")], (0.1, 0.5, 0.7, 0.9, 1.0)
    asked: list[int] = []
    answer = type(model).answer

    def tight(self: Any, kind: Any, batch: Any) -> Any:
        asked.append(max(self.lengths(kind, batch)) * sum(line.sequences for line in batch))
        if asked[-1] > most:
            raise RuntimeError("CUDA out of memory. Tried to allocate 2 GiB")
        return answer(self, kind, batch)

    monkeypatch.setattr(type(model), "answer", tight)
    rows = InputGradient(*texts, aim=Aim(1), baseline="zero", at=at).rows(model)
    values, _ = Batcher(10_000).answers(model, InputGradient, rows)
    lengths = model.lengths(InputGradient, model.encode(InputGradient, rows))
    monkeypatch.undo()
    for row, length, value in zip(rows, lengths, values, strict=True):
        if length > most:
            assert isinstance(value, OutOfMemory)
        else:
            assert value == pytest.approx(slow_gradient(model, row), abs=1e-4)
    assert max(asked) > most or most == 200
    assert len({type(value) for value in values}) == (2 if most <= 12 else 1)


def test_points_of_other_baselines_and_noises_stay_apart() -> None:
    model: Any = assay.load(tiny.bert())
    model.line_tokens = 10_000
    noise, others = [Noise(0.1, 1), Noise(0.1, 1), None, None], [WORDS, WORDS, WORDS, Text.of("dull")]
    rows = InputGradient(WORDS, aim=Aim(1), baseline=others, at=(0.1, 0.2, 0.3, 0.4), noise=noise).rows(model)
    assert [(row.at, row.noise) for row in rows] == [
        ((0.1,), noise[0]), ((0.2,), noise[0]), ((0.3,), None), ((0.4,), None)
    ]  # fmt: skip


def test_a_word_without_pieces_scores_nothing() -> None:
    """BERT drops the replacement character: its word has no piece."""
    told = assay.explain(assay.load(tiny.bert()), "a \ufffd film", "gradient")
    assert told.words == ("a", "\ufffd", "film")
    assert told.scores[1] == 0 < told.scores[0]


def state(model: nn.Module) -> dict[str, Any]:
    modules = dict(model.named_modules())
    return {
        "modes": {name: module.training for name, module in modules.items()},
        "hooks": {n: [*m._forward_hooks, *m._forward_pre_hooks, *m._backward_hooks] for n, m in modules.items()},
        "weights": {name: tensor.clone() for name, tensor in model.state_dict().items()},
        "grads": {name: p.grad is None for name, p in model.named_parameters()},
        "wanted": {name: p.requires_grad for name, p in model.named_parameters()},
    }


def same_state(before: dict[str, Any], after: dict[str, Any]) -> None:
    assert all(torch.equal(before["weights"][name], after["weights"][name]) for name in before["weights"])
    assert {k: v for k, v in before.items() if k != "weights"} == {k: v for k, v in after.items() if k != "weights"}


def in_training(name: str) -> Any:
    """A model in training mode, but for one part of it, with a hook and a frozen layer of the user's own."""
    model, tokenizer = tiny.FAMILIES[name]()
    model = deepcopy(model).train()
    next(m for m in model.modules() if isinstance(m, nn.LayerNorm)).training = False
    model.get_input_embeddings().register_forward_hook(lambda module, args, output: None)
    next(model.parameters()).requires_grad_(False)
    return model, tokenizer


@pytest.mark.parametrize("name", ["bert", "roberta", "gpt2"])
def test_a_model_in_training_answers_quietly_and_stays_in_training(name: str) -> None:
    model, tokenizer = in_training(name)
    before = state(model)
    adapter = assay.load((model, tokenizer))
    expected = assay.load(tiny.FAMILIES[name]())
    assert adapter.predict(TEXTS) == pytest.approx(expected.predict(TEXTS), abs=1e-6)
    scores = assay.explain(adapter, "a funny film", "input_x_gradient").scores
    assert scores == pytest.approx(assay.explain(expected, "a funny film", "input_x_gradient").scores, abs=1e-5)
    same_state(before, state(model))


class Broken(RuntimeError):
    """What a model may raise."""


@pytest.mark.parametrize("method", ["leave_one_out", "input_x_gradient"])
def test_a_model_that_fails_is_left_as_it_was(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = in_training("bert")
    before, adapter = state(model), assay.load((model, tokenizer))
    head = model.classifier

    def fail(hidden: Tensor) -> Tensor:
        if hidden.requires_grad or method == "leave_one_out":
            raise Broken("no")
        return nn.functional.linear(hidden, head.weight, head.bias)

    monkeypatch.setattr(head, "forward", fail)
    with pytest.raises(ModelFailed, match="Broken: no"):
        assay.explain(adapter, "a funny film", method)
    same_state(before, state(model))


def test_gradients_in_inference_mode() -> None:
    adapter = assay.load(tiny.bert())
    expected = assay.explain(adapter, "a funny film", "gradient").scores
    with torch.inference_mode():
        inside = assay.explain(adapter, "a funny film", "gradient").scores
    with torch.no_grad():
        assert assay.explain(adapter, "a funny film", "gradient").scores == pytest.approx(expected)
    assert inside == pytest.approx(expected)


def test_a_slow_tokenizer_predicts_but_gives_no_gradients() -> None:
    model, tokenizer = tiny.slow()
    adapter = assay.load((model, tokenizer))
    expected = bare(model, tokenizer, "a funny film").softmax(-1).numpy()
    assert adapter.predict(["a funny film"])[0] == pytest.approx(expected)
    assert InputGradient not in adapter.answers
    with pytest.raises(assay.AssayError, match="leave_one_out"):
        assay.explain(adapter, "a funny film", "gradient")


def test_the_linear_bag_of_words_tells_its_weights() -> None:
    bow = tiny.linear_bow()
    adapter = assay.load((bow.model, bow.tokenizer))
    text = Text.of("the film was dull , the acting worse !")
    truth = [bow.weights[word] for word in text.words]
    assert len(set(np.round(truth, 6))) > 5
    for method in ("leave_one_out", "input_x_gradient"):
        assert assay.explain(adapter, text, method, target=1).scores == pytest.approx(truth, abs=1e-6)
        assert assay.explain(adapter, text, method, target=0).scores == pytest.approx([-w for w in truth], abs=1e-6)


def test_fingerprints_follow_weights_and_tokenizer() -> None:
    model, tokenizer = tiny.bert()
    prints = {assay.load((model, tokenizer)).fingerprint(), assay.load((model, tiny.word_level())).fingerprint()}
    changed = deepcopy(model)
    with torch.no_grad():
        changed.classifier.bias[0] += 1e-3
    assert len(prints | {assay.load((changed, tokenizer)).fingerprint()}) == 3
    assert assay.load((deepcopy(model), deepcopy(tokenizer))).fingerprint() in prints
