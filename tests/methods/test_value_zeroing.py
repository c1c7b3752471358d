"""Value zeroing, against matrix algebra written out and against the bare model with one value vector after another."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf
from scipy.spatial.distance import cosine
from scipy.special import erf, softmax
from torch import nn

import assay
from assay.engine.engine import Engine
from assay.errors import Unanswerable
from assay.models.transformers.handlers import value_zeroing
from assay.questions.inside import ValueZeroing
from assay.text.text import Text

TEXT = "the unforgettable film was good"
TEXTS = [TEXT, "good", "a slow and dull plot , really dull and slow and long", "not bad"]


def with_biases(model: Any) -> Any:
    """A copy whose biases are not zero: a value vector is zero with its bias."""
    model = deepcopy(model)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        for name, weight in model.named_parameters():
            if name.endswith("bias"):
                nn.init.normal_(weight, std=0.2)
    return model


# Where each family keeps its layers and its value projection, and which part of that output are the value vectors.
PLACES: dict[str, tuple[Any, str, str, slice]] = {
    "bert": (tiny.bert, "bert.encoder.layer", "attention.self.value", slice(None)),
    "roberta": (tiny.roberta, "roberta.encoder.layer", "attention.self.value", slice(None)),
    "distilbert": (tiny.distilbert, "distilbert.transformer.layer", "attention.v_lin", slice(None)),
    "gpt2": (tiny.gpt2, "transformer.h", "attn.c_attn", slice(48, 72)),
    "llama": (tiny.llama, "model.layers", "self_attn.v_proj", slice(None)),
}
every_family = pytest.mark.parametrize("family", list(PLACES))


def built(family: str) -> tuple[Any, Any]:
    model, tokenizer = PLACES[family][0]()
    return with_biases(model), tokenizer


def first(output: Any) -> Any:
    return output if isinstance(output, torch.Tensor) else output[0]


def outputs(model: Any, ids: Any, path: str) -> list[Any]:
    """What every layer of the bare model gives."""
    given: list[Any] = []
    layers = model.get_submodule(path)
    handles = [layer.register_forward_hook(lambda m, a, out: given.append(first(out)[0].numpy())) for layer in layers]
    with torch.no_grad():
        model(input_ids=ids)
    for handle in handles:
        handle.remove()
    return given


def slow_maps(model: Any, ids: Any, family: str) -> Any:
    """One pass of the whole network for every layer and every piece."""
    _, path, projection, values = PLACES[family]
    n, layers = ids.shape[1], model.get_submodule(path)
    whole, maps = outputs(model, ids, path), np.zeros((len(layers), n, n))
    for at, layer in enumerate(layers):
        for j in range(n):

            def zero(module: Any, args: Any, out: Any, j: int = j) -> Any:
                out = out.clone()
                out[0, j, values] = 0
                return out

            handle = layer.get_submodule(projection).register_forward_hook(zero)
            changed = outputs(model, ids, path)[at]
            handle.remove()
            maps[at, :, j] = [cosine(a.astype(float), b.astype(float)) for a, b in zip(whole[at], changed, strict=True)]
    return maps / maps.sum(-1, keepdims=True)


def rolled(maps: Any, reader: int) -> Any:
    product = np.eye(maps.shape[-1])
    for layer in maps:
        product = layer @ product
    return product[reader]


def per_word(numbers: Any, offsets: Any, text: str = TEXT) -> Any:
    spans = Text.of(text).spans
    return [sum(x for x, (s, e) in zip(numbers, offsets, strict=True) if s < b and a < e and s < e) for a, b in spans]


@every_family
@pytest.mark.parametrize("text", TEXTS)
def test_the_whole_network_piece_by_piece(family: str, text: str) -> None:
    model, tokenizer = built(family)
    encoding = tokenizer(text, return_tensors="pt", return_offsets_mapping=True)
    maps = slow_maps(model, encoding["input_ids"], family)
    answer = Engine(assay.load((model, tokenizer))).ask(ValueZeroing(Text.of(text)))
    np.testing.assert_allclose(answer.weights[:, 0], maps, atol=2e-5)
    e = assay.explain((model, tokenizer), text, "value_zeroing")
    reader = -1 if family in ("gpt2", "llama") else 0
    expected = per_word(rolled(maps, reader), encoding["offset_mapping"][0].tolist(), text)
    np.testing.assert_allclose(e.scores, expected, atol=5e-5)
    assert e.facts == {"signed": False, "layers": 2}


def bert_layer(w: dict[str, Any], name: str, x: Any, zeroed: int | None, heads: int = 2) -> Any:
    """One layer of BERT in float64, without the value vector of one piece."""

    def linear(part: str, value: Any) -> Any:
        return value @ w[f"{name}.{part}.weight"].T + w[f"{name}.{part}.bias"]

    def norm(part: str, value: Any) -> Any:
        scaled = (value - value.mean(-1, keepdims=True)) / np.sqrt(value.var(-1, keepdims=True) + 1e-12)
        return scaled * w[f"{name}.{part}.weight"] + w[f"{name}.{part}.bias"]

    q, k, v = (linear(f"attention.self.{part}", x) for part in ("query", "key", "value"))
    if zeroed is not None:
        v[zeroed] = 0
    mixed = []
    for part in np.split(np.arange(x.shape[1]), heads):
        weights = softmax(q[:, part] @ k[:, part].T / np.sqrt(len(part)), axis=-1)
        mixed.append(weights @ v[:, part])
    y = norm("attention.output.LayerNorm", linear("attention.output.dense", np.hstack(mixed)) + x)
    inner = linear("intermediate.dense", y)
    return norm("output.LayerNorm", linear("output.dense", inner * (1 + erf(inner / np.sqrt(2))) / 2) + y)


def test_matrix_algebra_on_a_tiny_bert() -> None:
    model, tokenizer = built("bert")
    w = {name: tensor.double().numpy() for name, tensor in model.state_dict().items()}
    encoding = tokenizer(TEXT, return_tensors="pt", return_offsets_mapping=True)
    with torch.no_grad():
        x = model.bert.embeddings(encoding["input_ids"])[0].double().numpy()
    maps = []
    for at in range(2):
        name, n = f"bert.encoder.layer.{at}", len(x)
        after = bert_layer(w, name, x, None)
        changed = [bert_layer(w, name, x, j) for j in range(n)]
        distances = np.array([[cosine(after[i], changed[j][i]) for j in range(n)] for i in range(n)])
        maps.append(distances / distances.sum(1, keepdims=True))
        x = after
    expected = per_word(rolled(np.stack(maps), 0), encoding["offset_mapping"][0].tolist())
    np.testing.assert_allclose(assay.explain((model, tokenizer), TEXT, "value_zeroing").scores, expected, atol=1e-5)


@every_family
@pytest.mark.parametrize("budget", [1, 40, 4096])
def test_padding_and_company_do_not_matter(family: str, budget: int) -> None:
    model = assay.load(built(family))
    model.preferred_tokens = budget  # how many tokens a layer is run with at once
    alone = [assay.explain(assay.load(built(family)), text, "value_zeroing").scores for text in TEXTS]
    for asked in (budget, 4096):
        together = assay.explain(model, TEXTS, "value_zeroing", engine=Engine(model, budget=asked))
        for one, e in zip(alone, together, strict=True):
            np.testing.assert_allclose(e.scores, one, atol=1e-5)


@every_family
def test_maps_are_shares_and_look_where_attention_looks(family: str) -> None:
    model = assay.load(built(family))
    answer = Engine(model).ask(ValueZeroing(Text.of(TEXT)))
    np.testing.assert_allclose(answer.weights.sum(-1), 1, atol=1e-5)
    assert (answer.weights >= 0).all()
    assert np.triu(answer.weights[:, 0], k=1).any() == (family not in ("gpt2", "llama"))


def test_layers_that_share_their_weights() -> None:
    """ALBERT runs one module for all its layers."""
    answer = Engine(assay.load(tiny.albert())).ask(ValueZeroing(Text.of(TEXT)))
    assert len(answer.weights) == 2
    assert np.abs(answer.weights[0] - answer.weights[1]).max() > 0.01


def test_a_layer_that_nothing_turns_keeps_to_itself() -> None:
    model, tokenizer = built("bert")
    for layer in model.bert.encoder.layer:
        nn.init.zeros_(layer.attention.output.dense.weight)
    answer = Engine(assay.load((model, tokenizer))).ask(ValueZeroing(Text.of(TEXT)))
    np.testing.assert_array_equal(answer.weights[0, 0], np.eye(answer.weights.shape[-1]))


def hung(model: Any) -> list[tuple[int, ...]]:
    """The hooks on every module; other tests of the same models may have left some of transformers' own."""
    return [(*module._forward_hooks, *module._forward_pre_hooks) for module in model.modules()]


@pytest.mark.parametrize("way", ["sdpa", "eager"])
def test_the_users_way_of_attention_comes_back(way: str) -> None:
    model, tokenizer = built("bert")
    model.set_attn_implementation(way)
    before, hooks = model(**tokenizer(TEXT, return_tensors="pt")).logits, hung(model)
    assay.explain((model, tokenizer), TEXT, "value_zeroing")
    assert model.config._attn_implementation == way
    assert torch.equal(model(**tokenizer(TEXT, return_tensors="pt")).logits, before)
    assert hung(model) == hooks


def test_the_rows_of_all_texts_are_run_together() -> None:
    """With room for all: one pass of the texts, and then each layer once, with a row for every piece of every text."""
    pair = built("bert")
    model = assay.load(pair)
    model.preferred_tokens = model.enough = 10**6
    assert not model.found.problems  # tried before anybody counts
    here = Engine(model)
    texts = list(map(Text.of, tiny.CORPUS[:8]))
    rows: list[int] = []
    layer = pair[0].bert.encoder.layer[0]
    hook = layer.register_forward_hook(lambda module, args, output: rows.append(args[0].shape[0]))
    for outcome in here.run(_asked(text) for text in texts):
        outcome.get()
    hook.remove()
    assert rows == [8, sum(len(model.task.pieces(text)) + 1 for text in texts)]


def _asked(text: Any) -> Any:
    return (yield ValueZeroing(text))


def test_the_cost_is_that_of_a_row_per_piece() -> None:
    model, tokenizer = built("bert")
    n = len(tokenizer(TEXT)["input_ids"])
    e = assay.explain((model, tokenizer), TEXT, "value_zeroing")
    assert e.about.cost.tokens >= n * (n + 1)


def test_attention_that_cannot_be_reached_is_said() -> None:
    with pytest.raises(Unanswerable, match="attention_rollout"):
        assay.explain(tiny.deberta(), TEXT, "value_zeroing")
    with pytest.raises(Unanswerable, match="leave_one_out"):
        assay.explain(tiny.linear_bow()[:2], "a funny film", "value_zeroing")
    with pytest.raises(Unanswerable, match="leave_one_out"):
        assay.explain(lambda texts: np.full(len(texts), 0.5), TEXT, "value_zeroing")


def test_layers_with_two_attentions_are_refused() -> None:
    tokenizer = tiny.byte_level()
    config = hf.BartConfig(
        vocab_size=len(tokenizer), d_model=24, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_position_embeddings=64,
        pad_token_id=1, eos_token_id=2, bos_token_id=0, decoder_start_token_id=2,
    )  # fmt: skip
    model = tiny.seeded(lambda: hf.BartForSequenceClassification(config))
    with pytest.raises(Unanswerable, match="reads the text a second time"):
        assay.explain((model, tokenizer), TEXT, "value_zeroing")


def test_layers_in_two_parts_are_refused() -> None:
    """The attention of T5 stands in a list of its own within each layer, and its decoder reads the same text."""
    tokenizer = tiny.word_level()
    config = hf.T5Config(
        vocab_size=len(tokenizer), d_model=24, d_kv=12, d_ff=32, num_layers=2, num_heads=2, num_labels=3,
        pad_token_id=tokenizer.pad_token_id, eos_token_id=tokenizer.sep_token_id, decoder_start_token_id=0,
    )  # fmt: skip
    model = tiny.seeded(lambda: hf.T5ForSequenceClassification(config))
    with pytest.raises(Unanswerable, match="reads the text a second time"):
        assay.explain((model, tokenizer), TEXT, "value_zeroing")


class Counting(nn.Module):
    """A layer that gives something else every time."""

    def __init__(self, layer: nn.Module) -> None:
        super().__init__()
        self.layer, self.calls = layer, 0

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return first(self.layer(*args, **kwargs)) * self.calls


def test_a_layer_that_remembers_is_refused() -> None:
    model, tokenizer = built("bert")
    model.bert.encoder.layer[1] = Counting(model.bert.encoder.layer[1])
    with pytest.raises(Unanswerable, match="by itself"):
        assay.explain((model, tokenizer), TEXT, "value_zeroing")
    assert model.config._attn_implementation == "sdpa"


def test_small_angles_are_not_lost_in_rounding() -> None:
    one = torch.tensor([[1.0, 2.0, 3.0]])
    two = one + torch.tensor([[3e-5, 0.0, 0.0]])
    exact = cosine(one[0].double(), two[0].double())
    assert exact < 1e-8
    assert float(value_zeroing._cosine(one, two)) == pytest.approx(exact, rel=0.02)
