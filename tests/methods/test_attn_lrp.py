"""AttnLRP, against the paper's rules written out as relevances in numpy, and by what they promise."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf
from scipy.special import erf, softmax
from torch import nn
from transformers.modeling_outputs import SequenceClassifierOutput

import assay
from assay.text.text import Text

TEXT = "the unforgettable film was good"
TEXTS = [TEXT, "good", "a slow and dull plot , really dull and slow and long", "not bad"]
FAMILIES = ["bert", "roberta", "distilbert", "albert", "xlm_roberta", "deberta", "gpt2"]
PARTS = ("words", "scale", "constants", "biases", "softmax", "other_pieces")


def with_biases(model: Any, size: float = 0.2) -> Any:
    """A copy in float64 whose biases are not zero, as those of a fresh model are."""
    model = deepcopy(model).double()
    torch.manual_seed(5)
    for name, weight in model.named_parameters():
        if name.endswith("bias"):
            nn.init.normal_(weight, std=size)
    return model


@pytest.fixture(autouse=True)
def _same_generator() -> Any:
    with torch.random.fork_rng():
        yield


def one_layer(**more: Any) -> tuple[Any, Any]:
    tokenizer = tiny.wordpiece()
    config = tiny.bert()[0].config.to_dict() | {"num_hidden_layers": 1, **more}
    model = tiny.seeded(lambda: hf.BertForSequenceClassification(hf.BertConfig(**config)))
    return with_biases(model), tokenizer


@dataclass
class Slow:
    """Layer-wise relevance propagation through a BERT of one layer, relevance by relevance."""

    weights: dict[str, Any]
    heads: int = 2
    eps: float = 1e-12
    biases: float = 0.0
    softmax: float = 0.0
    _kept: dict[str, Any] = field(default_factory=dict)

    def linear(self, name: str, x: Any) -> Any:
        self._kept[name] = x
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def linear_back(self, name: str, relevance: Any) -> Any:
        x, w, b = self._kept[name], self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        ratio = relevance / (x @ w.T + b)
        self.biases += float((b * ratio).sum())
        return x * (ratio @ w)

    def norm(self, name: str, x: Any) -> Any:
        self._kept[name] = x
        return self._applied(name, x)

    def _matrix(self, name: str, row: Any) -> Any:
        n = len(row)
        return np.diag(self.weights[f"{name}.weight"] / np.sqrt(row.var() + self.eps)) @ (np.eye(n) - 1 / n)

    def _applied(self, name: str, x: Any) -> Any:
        return np.stack([self._matrix(name, row) @ row for row in x]) + self.weights[f"{name}.bias"]

    def norm_back(self, name: str, relevance: Any) -> Any:
        x, b = self._kept[name], self.weights[f"{name}.bias"]
        ratio = relevance / self._applied(name, x)
        self.biases += float((b * ratio).sum())
        return np.stack([row * (self._matrix(name, row).T @ r) for row, r in zip(x, ratio, strict=True)])

    def attention(self, x: Any) -> Any:
        q, k, v = (self._split(self.linear(f"{_SELF}.{part}", x)) for part in ("query", "key", "value"))
        scores = q @ k.swapaxes(1, 2) / np.sqrt(q.shape[-1])
        self._kept["attention"] = q, k, v, scores, softmax(scores, axis=-1)
        return self._joined(softmax(scores, axis=-1) @ v)

    def attention_back(self, relevance: Any) -> Any:
        q, k, v, scores, a = self._kept["attention"]
        ratio = self._split(relevance) / (a @ v)
        shares = np.einsum("hij,hjp,hip->hijp", a, v, ratio)  # what piece j gave piece i, dimension by dimension
        to_v, to_a = shares.sum(1) / 2, shares.sum(3) / 2
        to_s = scores * (to_a - a * to_a.sum(-1, keepdims=True))
        self.softmax += float(to_a.sum() - to_s.sum())
        terms = np.einsum("hip,hjp,hij->hijp", q, k, to_s / scores) / np.sqrt(q.shape[-1])
        parts = {"query": terms.sum(2) / 2, "key": terms.sum(1) / 2, "value": to_v}
        return sum(self.linear_back(f"{_SELF}.{name}", self._joined(part)) for name, part in parts.items())

    def _split(self, x: Any) -> Any:
        return x.reshape(len(x), self.heads, -1).swapaxes(0, 1)

    def _joined(self, x: Any) -> Any:
        return x.swapaxes(0, 1).reshape(x.shape[1], -1)


_LAYER = "bert.encoder.layer.0"
_SELF = f"{_LAYER}.attention.self"


def slow_relevance(model: Any, ids: list[int], target: int) -> tuple[Any, Slow, float, float]:
    """Relevance of each piece, the notes, what position and type embeddings took, and the logit."""
    w = {name: tensor.numpy() for name, tensor in model.state_dict().items()}
    run, e = Slow(w), "bert.embeddings"
    words = w[f"{e}.word_embeddings.weight"][ids]
    others = w[f"{e}.position_embeddings.weight"][: len(ids)] + w[f"{e}.token_type_embeddings.weight"][0]
    x0 = run.norm(f"{e}.LayerNorm", words + others)
    mixed = run.linear(f"{_LAYER}.attention.output.dense", run.attention(x0))
    x1 = run.norm(f"{_LAYER}.attention.output.LayerNorm", mixed + x0)
    inner = run.linear(f"{_LAYER}.intermediate.dense", x1)
    fed = run.linear(f"{_LAYER}.output.dense", inner * (1 + erf(inner / np.sqrt(2))) / 2)
    x2 = run.norm(f"{_LAYER}.output.LayerNorm", fed + x1)
    pooled = np.tanh(run.linear("bert.pooler.dense", x2[:1]))
    logits = run.linear("classifier", pooled)

    r = run.linear_back("classifier", logits * np.eye(logits.shape[1])[target])
    r = run.linear_back("bert.pooler.dense", r)
    r = np.vstack([r, np.zeros((len(ids) - 1, r.shape[1]))])
    r = run.norm_back(f"{_LAYER}.output.LayerNorm", r) / (fed + x1)
    down = run.linear_back(f"{_LAYER}.intermediate.dense", run.linear_back(f"{_LAYER}.output.dense", fed * r))
    r = run.norm_back(f"{_LAYER}.attention.output.LayerNorm", x1 * r + down) / (mixed + x0)
    r = x0 * r + run.attention_back(run.linear_back(f"{_LAYER}.attention.output.dense", mixed * r))
    r = run.norm_back(f"{e}.LayerNorm", r) / (words + others)
    return (words * r).sum(1), run, float((others * r).sum()), float(logits[0, target])


def per_word(numbers: Any, offsets: Any, text: str = TEXT) -> Any:
    spans = Text.of(text).spans
    return [sum(x for x, (s, e) in zip(numbers, offsets, strict=True) if s < b and a < e and s < e) for a, b in spans]


@pytest.mark.parametrize("target", [0, 1, 2])
@pytest.mark.parametrize("way", ["sdpa", "eager"])
def test_the_papers_rules_written_out(target: int, way: str) -> None:
    model, tokenizer = one_layer()
    model.set_attn_implementation(way)
    encoding = tokenizer(TEXT, return_offsets_mapping=True)
    pieces, notes, constants, logit = slow_relevance(model, encoding["input_ids"], target)
    e = assay.explain((model, tokenizer), TEXT, "attn_lrp", target=target, scalar="logit")
    np.testing.assert_allclose(e.scores, per_word(pieces, encoding["offset_mapping"]), atol=1e-9)
    slow = {"value": logit, "biases": notes.biases, "softmax": notes.softmax, "constants": constants, "scale": 0}
    assert {name: e.facts[name] for name in slow} == pytest.approx(slow, abs=1e-9)
    assert e.facts["other_pieces"] == pytest.approx(pieces.sum() - e.scores.sum(), abs=1e-9)
    assert pieces.sum() + constants + notes.biases + notes.softmax == pytest.approx(logit, abs=1e-9)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("scalar", ["logit", "log_odds", "probability"])
def test_relevance_is_neither_made_nor_lost(family: str, scalar: str) -> None:
    model, tokenizer = getattr(tiny, family)()
    for text in TEXTS:
        e = assay.explain((with_biases(model), tokenizer), text, "attn_lrp", scalar=scalar)
        assert abs(e.facts["gap"]) <= 1e-6 * max(abs(e.facts[part]) for part in PARTS)
        assert e.facts["words"] == pytest.approx(e.scores.sum())
        assert abs(e.facts["biases"]) > 1e-4
        assert e.warnings == ()
        assert (e.facts["scale"] == pytest.approx(0, abs=1e-9)) == (scalar == "logit")


@pytest.mark.parametrize("family", FAMILIES)
def test_without_biases_the_embeddings_and_the_softmaxes_have_it_all(family: str) -> None:
    """In float32, as users have it."""
    model, tokenizer = getattr(tiny, family)()
    model = deepcopy(model)
    for name, weight in model.named_parameters():
        if name.endswith("bias"):
            nn.init.zeros_(weight)
    e = assay.explain((model, tokenizer), TEXT, "attn_lrp", scalar="logit")
    assert e.facts["biases"] == 0
    found = sum(e.facts[part] for part in ("words", "other_pieces", "constants", "softmax"))
    assert found == pytest.approx(e.facts["value"], rel=1e-4)


def test_the_value_is_the_models_own() -> None:
    model = assay.load(tiny.bert())
    for scalar in ("logit", "log_odds", "probability"):
        e = assay.explain(model, TEXT, "attn_lrp", scalar=scalar, target=1)
        p = model.predict([TEXT])[0]
        known = {"probability": p[1], "log_odds": np.log(p[1] / (1 - p[1]))}
        assert e.facts["value"] == pytest.approx(known.get(scalar, e.facts["value"]), abs=1e-5)


def test_a_contrast_is_the_difference_of_two_logits() -> None:
    pair = (with_biases(tiny.bert()[0]), tiny.bert()[1])
    one, two = (assay.explain(pair, TEXT, "attn_lrp", scalar="logit", target=t) for t in (0, 2))
    contrast = assay.explain(pair, TEXT, "attn_lrp", target=0, against=2)
    np.testing.assert_allclose(contrast.scores, one.scores - two.scores, atol=1e-9)
    assert contrast.facts["scale"] == pytest.approx(0, abs=1e-9)


def test_on_a_linear_model_it_is_input_x_gradient() -> None:
    bow = tiny.linear_bow(double=True)
    text = "a funny film that never lets go"
    lrp = assay.explain((bow.model, bow.tokenizer), text, "attn_lrp")
    plain = assay.explain((bow.model, bow.tokenizer), text, "input_x_gradient")
    np.testing.assert_allclose(lrp.scores, plain.scores, atol=1e-12)
    assert lrp.facts["words"] == pytest.approx(lrp.facts["value"])


@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_it_is_not_input_x_gradient_elsewhere(family: str) -> None:
    lrp = assay.explain(getattr(tiny, family)(), TEXT, "attn_lrp")
    plain = assay.explain(getattr(tiny, family)(), TEXT, "input_x_gradient")
    assert np.abs(lrp.scores - plain.scores).max() > 0.01


@pytest.mark.parametrize("way", ["sdpa", "eager"])
def test_decoders_of_today(way: str) -> None:
    model, tokenizer = tiny.llama()
    model.set_attn_implementation(way)
    together = assay.explain((model, tokenizer), TEXTS, "attn_lrp", scalar="logit")
    for text, e in zip(TEXTS, together, strict=True):
        assert abs(e.facts["gap"]) < 1e-4 * max(abs(e.facts[part]) for part in PARTS)
        assert e.warnings == ()
        np.testing.assert_allclose(
            e.scores, assay.explain((model, tokenizer), text, "attn_lrp", scalar="logit").scores, atol=1e-5
        )


def test_both_ways_of_attention_agree() -> None:
    told = []
    for way in ("sdpa", "eager"):
        model, tokenizer = tiny.llama()
        model.set_attn_implementation(way)
        told.append(assay.explain((model, tokenizer), TEXT, "attn_lrp"))
    np.testing.assert_allclose(told[0].scores, told[1].scores, atol=1e-5)
    assert told[0].facts == pytest.approx(told[1].facts, abs=1e-4)


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert"])
def test_the_company_does_not_matter(family: str) -> None:
    pair = getattr(tiny, family)()
    together = assay.explain(pair, TEXTS, "attn_lrp")
    for text, e in zip(TEXTS, together, strict=True):
        alone = assay.explain(pair, text, "attn_lrp")
        np.testing.assert_allclose(alone.scores, e.scores, atol=1e-5)
        assert alone.facts == pytest.approx(e.facts, abs=1e-4)


def test_a_span_reader() -> None:
    tokenizer, config = tiny.wordpiece(), deepcopy(tiny.bert()[0].config)
    config.num_labels = 2
    model = with_biases(tiny.seeded(lambda: hf.BertForQuestionAnswering(config)))
    e = assay.explain((model, tokenizer), ("who paid for the tickets", "she paid for two tickets"), "attn_lrp")
    assert len(e.words) == 5
    assert abs(e.facts["gap"]) <= 1e-6 * max(abs(e.facts[part]) for part in PARTS)
    assert e.warnings == ()


class CubedForSequenceClassification(tiny.BagForSequenceClassification):
    """A bag of words with a step that no rule is for; it can also fail half-way."""

    broken = False

    def forward(self, input_ids: Any, attention_mask: Any) -> Any:
        total = ((self.embedding(input_ids) @ self.direction) * attention_mask).sum(-1)
        if self.broken:
            raise RuntimeError("broken")
        return SequenceClassifierOutput(logits=torch.stack([torch.zeros_like(total), total**3], dim=-1))


def cubed() -> tuple[Any, Any]:
    bow = tiny.linear_bow()
    table = bow.model.embedding.weight.detach()
    return CubedForSequenceClassification(table, bow.model.direction, bow.model.config).eval(), bow.tokenizer


def test_a_step_without_a_rule_is_said() -> None:
    e = assay.explain(cubed(), "a funny film", "attn_lrp", scalar="logit", target=1)
    assert e.facts["words"] == pytest.approx(3 * e.facts["value"], rel=1e-4)
    assert e.facts["gap"] == pytest.approx(-2 * e.facts["value"], rel=1e-4)
    assert [said.split(":")[0] for said in e.warnings] == ["unconserved"]


def test_a_model_that_fails_is_left_as_it_was() -> None:
    model, tokenizer = cubed()
    adapter = assay.load((model, tokenizer))
    model.embedding.weight.requires_grad_(True)
    assert next(iter(assay.stream(adapter, ["a funny film"], "attn_lrp"))).error is None
    model.broken = True
    with pytest.raises(assay.AssayError, match="broken"):
        assay.explain(adapter, "a funny film", "attn_lrp")
    assert model.embedding.weight.requires_grad
    assert not model.embedding._forward_hooks
    assert torch.overrides._len_torch_function_stack() == 0


def test_the_way_back_is_counted() -> None:
    assert assay.explain(tiny.bert(), TEXT, "attn_lrp").about.cost.backwards == 1


def test_a_black_box_has_no_relevance() -> None:
    with pytest.raises(assay.AssayError, match="leave_one_out"):
        assay.explain(lambda texts: np.full(len(texts), 0.5), TEXT, "attn_lrp")
