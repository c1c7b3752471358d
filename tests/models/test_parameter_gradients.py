"""Gradients of single rows against autograd's, one by one, in any company; projections, products, curvature."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import unusual

import assay
from assay.engine.engine import Engine
from assay.errors import BadInput, Unanswerable
from assay.models import TextModel
from assay.models.transformers import kronecker, parameters, row_parts, row_reductions
from assay.models.transformers.handlers.parameters import encoded_targets
from assay.models.transformers.row_reductions import reduction
from assay.questions.base import Aim
from assay.questions.each import Each
from assay.questions.parameters import (
    Conjugate,
    EqualShares,
    GradientProducts,
    Kronecker,
    LastLayer,
    Lissa,
    Loss,
    ParameterGradient,
    Reduce,
    Target,
    TrainingRows,
)
from assay.questions.self_products import SelfProducts

TEXTS = [
    "a funny film",
    "dull",
    "the plot was not good , not funny",
    "two dogs run",
    "a dull plot",
    "no good film at all",
]
TARGETS = [Target((text,), of) for text in TEXTS for of in (Loss(1), Aim(2), Aim(0, "probability"))]
TRAIN = TrainingRows([Target((text,), Loss(i % 3)) for i, text in enumerate(TEXTS)])
FAMILIES = {**tiny.FAMILIES, "attentive": tiny.attentive, "llama": tiny.llama}


@cache
def model(family: str) -> TextModel:
    return assay.load(FAMILIES[family]())


def by_autograd(adapter: Any, target: Target, layers: str) -> np.ndarray:
    """The gradient of the number itself, of the user's own model, one row, nothing shared with the code under test."""
    network = adapter.model
    before = {name: weight.requires_grad for name, weight in network.named_parameters()}
    weights = [network.get_parameter(name) for name in parameters.chosen(network, layers)]
    for weight in network.parameters():
        weight.requires_grad_(True)
    ids, types = adapter.task.rows([target.strings])[0]
    logits = network(**adapter.network.inputs([ids], [types])).logits[0].double()
    if isinstance(target.of, Loss):
        value = -logits.log_softmax(-1)[target.of.label]
    else:
        chance = logits.softmax(-1)[target.of.target]
        value = chance if target.of.scalar == "probability" else (chance / (1 - chance)).log()
    found = torch.autograd.grad(value, weights, allow_unused=True)
    for name, weight in network.named_parameters():
        weight.requires_grad_(before[name])
    parts = [(torch.zeros_like(w) if g is None else g).flatten() for g, w in zip(found, weights, strict=True)]
    return torch.cat(parts).double().numpy()


@pytest.mark.parametrize("layers", ["head", "last:1", "all"])
@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "albert", "deberta", "gpt2", "attentive", "llama"])
def test_gradients_are_autograds_alone_and_in_company(family: str, layers: str) -> None:
    adapter = model(family)
    together = Engine(adapter, budget=4096).ask(ParameterGradient(TARGETS, layers=layers))
    slow = np.array([by_autograd(adapter, target, layers) for target in TARGETS])
    size = np.abs(slow).max()
    assert np.abs(together - slow).max() <= 2e-6 * max(1.0, size)
    alone = Engine(adapter).ask(ParameterGradient(TARGETS[:1], layers=layers))
    assert np.abs(together[0] - alone[0]).max() <= 2e-6 * max(1.0, size)


@pytest.mark.parametrize(
    ("family", "expected"), [("bert", True), ("roberta", True), ("albert", True), ("attentive", False)]
)
def test_rows_go_together_where_every_layer_is_known(family: str, expected: bool) -> None:
    adapter = model(family)
    Engine(adapter, budget=4096).ask(ParameterGradient(TARGETS, layers="all"))
    assert parameters._TOGETHER[adapter]["all", True] is expected  # type: ignore[index]


def test_norms_and_projections() -> None:
    engine = Engine(model("bert"))
    whole = engine.ask(ParameterGradient(TARGETS, layers="last:1"))
    norms = engine.ask(ParameterGradient(TARGETS, layers="last:1", reduce="norm"))
    np.testing.assert_allclose(norms[:, 0], np.linalg.norm(whole, axis=1), rtol=1e-5)
    # The mean over seeds of the products of projections is the product; one projection is another for another seed.
    seeds = [engine.ask(ParameterGradient(TARGETS, layers="last:1", project=256, seed=s)) for s in range(20)]
    products = np.mean([part @ part.T for part in seeds], axis=0)
    scale = np.outer(norms, norms)
    assert np.abs((products - whole @ whole.T) / scale).max() < 0.1
    assert np.abs(seeds[0] - seeds[1]).max() > 0
    again = engine.ask(ParameterGradient(TARGETS[:2], layers="last:1", project=256, seed=3))
    np.testing.assert_allclose(again, seeds[3][:2], atol=1e-6)


@pytest.mark.parametrize("family", ["bert", "albert"])
@pytest.mark.parametrize(("reduce", "size"), [("norm", 0), ("project", 64), ("project", 257)])
@pytest.mark.parametrize(("narrow", "chances"), [(0, False), (16, True)])
def test_what_is_left_does_not_need_the_gradient(
    family: str, reduce: Reduce, size: int, narrow: int, chances: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """From the parts that layers add, as from gradients that are written out number by number."""
    monkeypatch.setattr(row_reductions, "_NARROW", narrow)
    gradients = parameters.RowGradients(model(family), "all")  # type: ignore[arg-type]
    rows = encoded_targets(model(family), TARGETS)  # type: ignore[arg-type]
    how = reduction(reduce, size, 5, chances, gradients.parameters)
    fast, slow = gradients._together(rows, how), gradients._one_by_one(rows, how)
    assert fast.shape == slow.shape == (len(TARGETS), (size or 1) + 3 * chances)
    assert float((fast - slow).abs().max()) <= 1e-5 * float(slow.abs().max())


def test_products_are_those_of_the_gradients() -> None:
    engine = Engine(model("bert"))
    queries = engine.ask(ParameterGradient(TARGETS[:5], layers="last:1"))
    train = engine.ask(ParameterGradient(TRAIN.targets, layers="last:1"))
    for target, query in zip(TARGETS[:5], queries, strict=True):
        found = engine.ask(GradientProducts(target, TRAIN, layers="last:1"))
        np.testing.assert_allclose(found.values, train @ query, rtol=1e-4, atol=1e-5)


def test_products_are_split_among_the_words() -> None:
    """The embeddings' part of a word is that of its pieces; a state of the whole text belongs to none."""
    engine, adapter = Engine(model("bert")), model("bert")
    assert not engine.ask(GradientProducts(TARGETS[0], TRAIN, layers="head", parts=6)).parts
    found = engine.ask(GradientProducts(TARGETS[0], TRAIN, layers="all", parts=6))
    for i, parts in found.parts.items():
        assert len(parts) == 1 + len(TEXTS[i].split())
        assert parts.sum() == pytest.approx(found.values[i], rel=1e-4, abs=1e-5)
        assert abs(parts[-1]) > 0
    assert len(found.parts) == 6
    few = engine.ask(GradientProducts(TARGETS[0], TRAIN, layers="all", parts=1))
    assert set(few.parts) == {int(np.argmin(found.values)), int(np.argmax(found.values))}
    words = engine.ask(GradientProducts(TARGETS[0], TRAIN, layers="word_embeddings", parts=6))
    mine = by_autograd(adapter, TARGETS[0], "word_embeddings").reshape(-1, 24)
    for i in words.parts.keys() - {2, 5}:  # texts in which no piece stands twice; with no piece in common none
        theirs = by_autograd(adapter, TRAIN.targets[i], "word_embeddings").reshape(-1, 24)
        slow = []
        for word in TEXTS[i].split():
            pieces = adapter.tokenizer(word, add_special_tokens=False)["input_ids"]  # type: ignore[attr-defined]
            slow.append(sum(float(theirs[p] @ mine[p]) for p in pieces))
        np.testing.assert_allclose(words.parts[i][:-1], slow, atol=1e-6)


def dense_hessian(adapter: Any, layers: str) -> np.ndarray:
    """Of the mean training loss, column by column, by finite differences of its gradient in float64."""
    network, tokenizer = adapter.model, adapter.tokenizer
    from copy import deepcopy

    exact = deepcopy(network).double()
    weights = [exact.get_parameter(name) for name in parameters.chosen(exact, layers)]
    for weight in exact.parameters():
        weight.requires_grad_(True)

    def gradient() -> torch.Tensor:
        losses = []
        for target in TRAIN.targets:
            assert isinstance(target.of, Loss)
            inputs = tokenizer(target.strings[0], return_tensors="pt")
            losses.append(-exact(**inputs).logits[0].log_softmax(-1)[target.of.label])
        found = torch.autograd.grad(torch.stack(losses).mean(), weights)
        return torch.cat([part.flatten() for part in found])

    columns, step = [], 1e-5
    for weight in weights:
        flat = weight.data.view(-1)
        for i in range(len(flat)):
            flat[i] += step
            up = gradient()
            flat[i] -= 2 * step
            columns.append((up - gradient()) / (2 * step))
            flat[i] += step
    return torch.stack(columns).numpy()


def test_conjugate_gradients_and_lissa_solve_with_the_hessian() -> None:
    adapter = model("bert")
    engine = Engine(adapter)
    layers = "classifier|pooler.dense.bias"  # few parameters, and not only the last layer
    h = dense_hessian(adapter, layers)
    train = engine.ask(ParameterGradient(TRAIN.targets, layers=layers))
    (query,) = engine.ask(ParameterGradient(TARGETS[1:2], layers=layers))
    damping = max(0.0, -np.linalg.eigvalsh(h)[0]) + 0.2
    expected = train @ np.linalg.solve(h + damping * np.eye(len(h)), query)
    how = Conjugate(damping=damping, iterations=200, tolerance=1e-7)
    found = engine.ask(GradientProducts(TARGETS[1], TRAIN, layers=layers, inverse=how))
    assert found.damping == damping
    np.testing.assert_allclose(found.values, expected, rtol=1e-3, atol=1e-4)
    recursion = Lissa(damping=damping, depth=200, batch=len(TRAIN))
    slow = engine.ask(GradientProducts(TARGETS[1], TRAIN, layers=layers, inverse=recursion))
    np.testing.assert_allclose(slow.values, expected, rtol=1e-2, atol=1e-3)


@pytest.mark.parametrize("make", [unusual.nystromformer, tiny.bert])
def test_lissa_draws_rows_of_any_length_also_where_padding_reaches_the_answer(make: Any) -> None:
    """Against the recursion written out, with the Hessian of the last layer: the mean of sum_l p_l g_l g_l'."""
    adapter = assay.load(make())
    engine, n = Engine(adapter), len(TRAIN)
    everything = [Target(target.strings, Loss(label)) for target in TRAIN.targets for label in range(3)]
    gradients = engine.ask(ParameterGradient(everything)).reshape(n, 3, -1)
    chances = adapter.predict([target.strings[0] for target in TRAIN.targets])
    h = np.einsum("il,ilp,ilq->pq", chances, gradients, gradients) / n
    (query,) = engine.ask(ParameterGradient(TARGETS[1:2]))
    s, damping, scale = query.copy(), 0.1, 100.0
    for _ in range(20):
        s = query + s - (h @ s + damping * s) / scale
    own = engine.ask(ParameterGradient(TRAIN.targets))
    how = Lissa(damping=damping, scale=scale, depth=20, batch=n)
    found = engine.ask(GradientProducts(TARGETS[1], TRAIN, inverse=how))
    np.testing.assert_allclose(found.values, own @ s / scale, rtol=1e-3, atol=1e-5 * np.abs(own @ s / scale).max())


def test_kronecker_factors_count_every_call_of_a_layer() -> None:
    """ALBERT runs one layer again and again: what it reads and gives counts each time, not the last time alone."""
    adapter: Any = assay.load(tiny.albert())
    gradients = parameters.RowGradients(adapter, "ffn")
    rows = encoded_targets(adapter, TRAIN.targets)
    reads: dict[str, list[torch.Tensor]] = {}
    named = {name: part for name, part in adapter.model.named_modules() if name.rpartition(".")[2].startswith("ffn")}
    handles = [
        part.register_forward_hook(lambda m, args, out, name=name: reads.setdefault(name, []).append(args[0][0]))
        for name, part in named.items()
    ]
    with torch.no_grad():
        for row in rows:
            adapter.model(**gradients.inputs([row]))
    for handle in handles:
        handle.remove()
    sizes = np.cumsum([0, *(weight.numel() for weight in gradients.parameters.values())]).tolist()
    places = {name: slice(*ends) for name, ends in zip(gradients.parameters, pairwise(sizes), strict=True)}
    blocks = kronecker._blocks(gradients, places, [[row] for row in rows])
    assert len(blocks) == len(named) == 2
    for block, parts in zip(blocks, reads.values(), strict=True):
        a = torch.cat([torch.cat([part, part.new_ones(len(part), 1)], dim=1) for part in parts])
        turned = block.inputs.T @ (a.T @ a) @ block.inputs
        off = turned - torch.diag(turned.diagonal())
        assert float(off.abs().max()) <= 1e-4 * float(turned.abs().max())


@pytest.mark.parametrize(("family", "labels"), [("bert", 3), ("bert", 2), ("gpt2", 2)])
@pytest.mark.parametrize("together", [True, False])
def test_kronecker_factors_by_a_slow_loop(
    family: str, labels: int, together: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One text, one label at a time: the squares of the gradient that autograd gives, turned as a whole."""
    network, tokenizer = getattr(tiny, family).__wrapped__()
    config = deepcopy(network.config)
    config.num_labels = labels
    network = type(network)(config).eval()
    adapter: Any = assay.load((network, tokenizer))
    gradients = parameters.RowGradients(adapter, "last:1")
    rows = encoded_targets(adapter, [Target((text,), Loss(0)) for text in TEXTS])
    if not together:
        monkeypatch.setattr(parameters.RowGradients, "_by_parts", lambda self, batch: False)
    batches = [rows] if family == "bert" else [[row] for row in rows]  # this GPT-2 pads nothing
    factors = kronecker.kronecker_factors(gradients, batches)
    weights = dict(network.named_parameters())
    assert len(factors.turned.blocks) >= 4
    for block in factors.turned.blocks:
        squares = torch.zeros_like(block.squares)
        for row in rows:
            logs = network(**gradients.inputs([row])).logits.log_softmax(-1)[0]
            for label in range(labels):
                wanted = [weights[f"{block.name}.weight"], *([weights[f"{block.name}.bias"]] if block.bias else [])]
                weight, *bias = torch.autograd.grad(logs[label], wanted, retain_graph=True)
                matrix = torch.column_stack([weight.T if block.turned_round else weight, *bias])
                squares += logs[label].exp().detach() * (block.outputs.T @ matrix @ block.inputs) ** 2 / len(rows)
        np.testing.assert_allclose(block.squares, squares, atol=1e-4 * float(squares.max()))


@pytest.mark.parametrize(
    ("family", "layers"), [("bert", "last:1"), ("bert", "all"), ("gpt2", "last:1"), ("attentive", "all")]
)
def test_the_products_of_gradients_with_themselves(family: str, layers: str) -> None:
    """One by one, as the product of a training text with itself; `all` has embeddings and norms in no block."""
    engine, how = Engine(model(family)), Kronecker(damping=0.05)
    found = engine.ask(SelfProducts(TRAIN, layers=layers, inverse=how))
    for i, target in enumerate(TRAIN.targets):
        one = engine.ask(GradientProducts(target, TRAIN, layers=layers, inverse=how)).values[i]
        assert found[i] == pytest.approx(one, rel=1e-3, abs=1e-6)
    assert (found > 0).all()


@pytest.mark.parametrize(("family", "layers"), [("bert", "all"), ("attentive", "all"), ("gpt2", "last:1")])
def test_equal_shares_by_a_slow_loop(family: str, layers: str) -> None:
    """Gradients that autograd gives one by one; each parameter over its mean squared length, so the rows sum to n P."""
    adapter: Any = model(family)
    engine, network = Engine(adapter), adapter.model
    slow = np.array([by_autograd(adapter, target, layers) for target in TRAIN.targets])
    sizes = [network.get_parameter(name).numel() for name in parameters.chosen(network, layers)]
    lengths = np.array([[(part**2).sum() for part in np.split(row, np.cumsum(sizes)[:-1])] for row in slow])
    mean = lengths.mean(axis=0)
    there = mean > 1e-9 * mean.sum()  # less is rounding, as of the bias of keys, which changes nothing
    scale = np.repeat(np.divide(1, mean, out=np.zeros_like(mean), where=there), sizes)
    own = engine.ask(SelfProducts(TRAIN, layers=layers, inverse=EqualShares()))
    np.testing.assert_allclose(own, (slow**2 * scale).sum(axis=1), rtol=1e-3)
    assert own.sum() == pytest.approx(len(TRAIN) * there.sum(), rel=1e-3)
    asked = engine.ask(GradientProducts(TARGETS[2], TRAIN, layers=layers, inverse=EqualShares())).values
    expected = slow * scale @ by_autograd(adapter, TARGETS[2], layers)
    np.testing.assert_allclose(asked, expected, rtol=1e-3, atol=1e-4 * np.abs(expected).max())


def test_passes_are_kept_as_far_as_little_memory_holds_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """EK-FAC of the last layer reads the rows for its bases, and once more for all that follows."""
    adapter: Any = assay.load(tiny.bert())
    question = SelfProducts(TRAIN, inverse=Kronecker())
    counted: list[int] = []
    handle = adapter.network.model.register_forward_hook(lambda m, args, output: counted.append(len(output.logits)))

    def asked() -> np.ndarray:
        counted.clear()
        return np.asarray(Engine(adapter).ask(question))

    asked()  # tries once for the model whether rows go together
    kept, few = asked(), sum(counted)
    monkeypatch.setattr(row_parts, "_KEPT", 0)
    anew, more = asked(), sum(counted)
    handle.remove()
    np.testing.assert_allclose(kept, anew, rtol=1e-6)
    assert (few, more) == (2 * len(TEXTS), 3 * len(TEXTS))


def test_layers_that_read_one_state_are_asked_for_words_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    by_piece = parameters.RowGradients.by_piece

    def counted(self: Any, batch: Any, directions: Any, whose: Any) -> Any:
        asked.append(len(batch))
        return by_piece(self, batch, directions, whose)

    monkeypatch.setattr(parameters.RowGradients, "by_piece", counted)
    found = list(Engine(model("bert")).run([_products(target) for target in TARGETS[:4]]))
    assert all(not outcome.get().parts for outcome in found)
    assert len(asked) == 1


def _products(target: Target, layers: str = "head") -> Any:
    return (yield GradientProducts(target, TRAIN, layers=layers, parts=2))


@pytest.mark.parametrize("layers", ["all", "word_embeddings"])
def test_words_are_the_same_in_company(layers: str) -> None:
    """Each explained text lists other training texts; they go through the model together."""
    adapter = model("bert")
    together = [one.get() for one in Engine(adapter).run([_products(target, layers) for target in TARGETS])]
    listed = {tuple(sorted(one.parts)) for one in together}
    assert len(listed) > 1, "all texts list the same: this tests nothing"
    for target, found in zip(TARGETS, together, strict=True):
        alone = Engine(adapter).ask(GradientProducts(target, TRAIN, layers=layers, parts=2))
        assert set(found.parts) == set(alone.parts)
        for i, words in alone.parts.items():
            np.testing.assert_allclose(found.parts[i], words, rtol=1e-4, atol=1e-6 * np.abs(words).max())


@pytest.mark.parametrize("labels", [2, 3])
def test_directions_of_the_labels_are_the_curvature_of_the_loss(labels: int) -> None:
    chances = torch.rand(5, labels, dtype=torch.float64).softmax(dim=-1)
    found = sum(w[:, None, None] * u[:, :, None] * u[:, None, :] for w, u, _ in parameters.label_directions(chances))
    expected = torch.diag_embed(chances) - chances[:, :, None] * chances[:, None, :]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_negative_curvature_raises_the_damping() -> None:
    adapter = model("bert")
    h = dense_hessian(adapter, "pooler.dense.bias|classifier.bias")
    assert np.linalg.eigvalsh(h)[0] < -1e-4
    question = GradientProducts(
        TARGETS[1], TRAIN, layers="pooler.dense.bias|classifier.bias", inverse=Conjugate(damping=0.0)
    )
    found = Engine(adapter).ask(question)
    assert found.damping > 0
    assert np.isfinite(found.values).all()


def test_the_kronecker_factored_curvature_of_one_linear_layer() -> None:
    """For one text and the last layer the Fisher matrix is a Kronecker product, so EK-FAC is exact."""
    engine = Engine(model("bert"))
    one = TrainingRows(TRAIN.targets[:1])
    (state,) = engine.ask(LastLayer([TRAIN.targets[0].strings]))
    chances = model("bert").predict([TEXTS[0]])[0]
    a = np.append(state, 1.0)
    fisher = np.kron(np.diag(chances) - np.outer(chances, chances), np.outer(a, a))  # [label, input] twice
    (query,), (train,) = (engine.ask(ParameterGradient([t], layers="head")) for t in (TARGETS[4], one.targets[0]))

    def turned(g: np.ndarray) -> np.ndarray:
        return np.column_stack([g[:-3].reshape(3, -1), g[-3:]]).ravel()  # the bias behind each label's weights

    expected = turned(train) @ np.linalg.solve(fisher + 0.1 * np.eye(len(fisher)), turned(query))
    found = engine.ask(GradientProducts(TARGETS[4], one, inverse=Kronecker(damping=0.1)))
    np.testing.assert_allclose(found.values, [expected], rtol=1e-3)


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "gpt2", "llama"])
def test_the_last_layer_reads_what_gives_the_logits(family: str) -> None:
    adapter: Any = model(family)
    states = Engine(adapter).ask(LastLayer([(text,) for text in TEXTS]))
    layer = parameters.last_linear(adapter.model)
    logits = layer(torch.tensor(states, dtype=torch.float32)).softmax(-1).detach().numpy()
    np.testing.assert_allclose(logits, adapter.predict(TEXTS), atol=1e-5)


def test_bad_layers_are_named() -> None:
    engine = Engine(model("bert"))
    for layers, message in {
        "last:9": "has 2 layers; layers=last:9 asks for more",
        "no_such": "no parameter fits layers='no_such'",
        "(": "no regular expression",
    }.items():
        with pytest.raises(BadInput, match=message):
            engine.ask(ParameterGradient(TARGETS, layers=layers))
        with pytest.raises(BadInput, match=message):
            engine.ask(GradientProducts(TARGETS[0], TRAIN, layers=layers))


def test_a_quantised_model_is_refused_in_a_sentence() -> None:
    network, _ = tiny.bert.__wrapped__()
    weight = network.classifier.weight
    network.classifier.weight = torch.nn.Parameter(weight.detach().to(torch.int8), requires_grad=False)
    with pytest.raises(Unanswerable, match=r"classifier.weight is quantised \(int8\): it has no gradient"):
        parameters.chosen(network, "head")


def test_what_stands_below_quantised_layers_has_no_gradient() -> None:
    """Zeros would look like numbers."""
    network, tokenizer = tiny.bert.__wrapped__()
    quantised = torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear}, dtype=torch.qint8)
    adapter = assay.load((quantised, tokenizer))
    with pytest.raises(Unanswerable, match="no gradient gets back to the weights of layers='all'"):
        Engine(adapter).ask(ParameterGradient(TARGETS[:1], layers="all"))


def test_a_quantised_model_has_a_fingerprint_of_its_weights() -> None:
    """An index and a run on disk begin with it; such layers hold packed weights and types in the place of tensors."""

    def quantised(shift: float) -> str:
        network, tokenizer = tiny.bert.__wrapped__()
        network.classifier.weight.data[0, 0] += shift
        packed = torch.ao.quantization.quantize_dynamic(network, {torch.nn.Linear}, dtype=torch.qint8)
        return assay.load((packed, tokenizer)).fingerprint()

    assert quantised(0.0) == quantised(0.0) != quantised(1.0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_half_precision_projects_gradients_and_refuses_their_curvature(dtype: torch.dtype) -> None:
    network, tokenizer = tiny.bert.__wrapped__()
    engine = Engine(assay.load((network.to(dtype), tokenizer)))
    whole = Engine(model("bert")).ask(ParameterGradient(TARGETS, layers="last:1", project=64))
    found = engine.ask(ParameterGradient(TARGETS, layers="last:1", project=64))
    assert np.abs(found - whole).max() <= 0.05 * np.abs(whole).max()
    for inverse in (Conjugate(), Lissa(), Kronecker()):
        with pytest.raises(Unanswerable, match="too coarse for products with their curvature"):
            engine.ask(GradientProducts(TARGETS[0], TRAIN, inverse=inverse))
    assert np.isfinite(engine.ask(GradientProducts(TARGETS[0], TRAIN)).values).all()


def test_models_of_several_labels_at_once_and_black_boxes_do_not_answer() -> None:
    many = assay.load(tiny.bert(problem="multi_label_classification"))
    assert ParameterGradient not in many.answers
    assert ParameterGradient not in assay.BlackBox(lambda texts: [0.5] * len(texts), labels=["a", "b"]).answers


def test_texts_solved_together_are_solved_as_alone() -> None:
    """Also where one of them needs more damping than another."""
    layers = "pooler.dense.bias|classifier.bias"
    for how in (Conjugate(damping=0.0, iterations=8), Lissa(damping=0.5, scale=2.0, depth=8)):
        asked = [GradientProducts(target, TRAIN, layers=layers, inverse=how) for target in TARGETS[:3]]
        together = next(Engine(model("bert")).run([_each(asked)])).get()
        for question, found in zip(asked, together, strict=True):
            alone = Engine(model("bert")).ask(question)
            assert found.damping == alone.damping
            np.testing.assert_allclose(found.values, alone.values, rtol=1e-4, atol=1e-5)


def _each(questions: list[Any]) -> Any:
    def one(question: Any) -> Any:
        return (yield question)

    return (yield Each(map(one, questions)))
