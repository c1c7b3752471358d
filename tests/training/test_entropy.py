"""Entropy regularisation: gradients against a closed form, both schedules against slow loops, the user's model left."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch
import transformers as hf

import assay
from assay.errors import BadInput, Unanswerable, UnknownName
from assay.training import entropy as module
from assay.training.entropy import Entropy, Step, alternating, entropy, regularise

TEXTS = [(text,) for text in tiny.CORPUS[:10]]
LABELS = [f"LABEL_{i % 3}" for i in range(10)]
REDUCED = [("film",), ("the",), ("a of",), ("dull street",), ("it",)]
CONTEXT = "The film was slow. A good cast was in the film, and a dull plot."
CALM = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}


def calm(**more: Any) -> Any:
    """A model without dropout, so that a plain loop can be compared."""
    tokenizer = tiny.wordpiece()
    return assay.load((tiny._bert_model(tokenizer, **CALM, **more), tokenizer))


def reader() -> Any:
    tokenizer = tiny.wordpiece()
    config = hf.BertConfig(
        vocab_size=len(tokenizer), hidden_size=24, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=tiny.WINDOW, initializer_range=0.4, **CALM,
    )  # fmt: skip
    return assay.load((tiny.seeded(lambda: hf.BertForQuestionAnswering(config)), tokenizer))


def tuned(model: Any = None, **settings: Any) -> Any:
    model = model or assay.load(tiny.bert())
    return regularise(model, TEXTS, LABELS, REDUCED, progress=False, **{"rate": 1e-3, "batch": 4} | settings)


def weights(model: Any) -> list[Any]:
    return [tensor.detach().numpy().copy() for tensor in model.model.state_dict().values()]


def mean_entropy(model: Any, rows: Any = REDUCED) -> float:
    p = model.predict([row[0] if len(row) == 1 else row for row in rows])
    return float(-(p * np.log(p)).sum(axis=1).mean())


def test_the_gradient_of_softmax_regression_in_closed_form() -> None:
    """H = -sum p log p of z = W x has dH/dz_j = -p_j (log p_j + H)."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((5, 4))
    w = torch.tensor(rng.standard_normal((3, 4)), requires_grad=True)
    total = entropy((torch.tensor(x) @ w.T).log_softmax(-1)).sum()
    total.backward()  # type: ignore[no-untyped-call]
    z = x @ w.detach().numpy().T
    p = np.exp(z) / np.exp(z).sum(axis=1, keepdims=True)
    h = -(p * np.log(p)).sum(axis=1, keepdims=True)
    assert float(total.detach()) == pytest.approx(h.sum())
    np.testing.assert_allclose(w.grad, (-p * (np.log(p) + h)).T @ x, atol=1e-12)


def test_what_is_impossible_adds_nothing() -> None:
    z = torch.tensor([[1.0, -torch.inf, 0.5, -torch.inf], [0.0, 1.0, 2.0, 3.0]], requires_grad=True)
    values = entropy(z.log_softmax(-1))
    short = entropy(torch.tensor([[1.0, 0.5]]).log_softmax(-1))
    assert float(values[0].detach()) == pytest.approx(float(short[0]))
    values.sum().backward()  # type: ignore[no-untyped-call]
    assert z.grad is not None
    assert torch.isfinite(z.grad).all()


def test_two_and_two_take_turns() -> None:
    steps = alternating([[i] for i in range(5)], iter([[10 + i] for i in range(9)]), 2)
    kinds = "".join("L" if step.labelled else "E" for step in steps)
    assert kinds == "LLEELLEELE"
    assert [step.labelled for step in steps if step.labelled] == [[i] for i in range(5)]
    assert [step.reduced for step in steps if step.reduced] == [[10 + i] for i in range(5)]
    assert all(bool(step.labelled) != bool(step.reduced) for step in steps)


def test_an_epoch_has_every_labelled_row_once_and_as_many_batches_of_both() -> None:
    copied = assay.load(tiny.bert())
    data = module._Data.of(copied, TEXTS, LABELS, REDUCED, Entropy(batch=4))
    steps = data.steps(Entropy(batch=4))(np.random.default_rng(0))
    assert sorted(i for step in steps for i in step.labelled) == list(range(10))
    assert sum(bool(step.reduced) for step in steps) == sum(bool(step.labelled) for step in steps) == 3
    joint = data.steps(Entropy(batch=4, schedule="joint"))(np.random.default_rng(0))
    assert [len(step.labelled) for step in joint] == [len(step.labelled) for step in steps if step.labelled]
    assert all(step.reduced for step in joint)


def plain(model: Any, schedule: str, weight: float, epochs: int, rate: float) -> Any:
    """The paper's objective, one text at a time, all texts in a step."""
    net, tokenizer = deepcopy(model.model).train(), tiny.wordpiece()

    def told(row: Any) -> Any:
        return net(**tokenizer(*row, return_tensors="pt")).logits[0].log_softmax(-1)

    def likelihood() -> Any:
        return sum(told(row)[int(label[-1])] for row, label in zip(TEXTS, LABELS, strict=True)) / len(TEXTS)

    def unsure() -> Any:
        return sum(-(told(row).exp() * told(row)).sum() for row in REDUCED) / len(REDUCED)

    joint = schedule == "joint"
    turns = [lambda: -likelihood() - weight * unsure()] if joint else [lambda: -likelihood(), lambda: -unsure()]
    optimisers = [torch.optim.AdamW(net.parameters(), weight_decay=0.01) for _ in turns]
    total, done = epochs * len(turns), 0
    for _ in range(epochs):
        for i, (loss, optimiser) in enumerate(zip(turns, optimisers, strict=True)):
            at = (done + 0.5) / total
            share = at / 0.06 if at < 0.06 else (1 - at) / (1 - 0.06)
            optimiser.param_groups[0]["lr"] = rate * share * (weight if i else 1)
            optimiser.zero_grad()
            loss().backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimiser.step()
            done += 1
    return net.eval()


@pytest.mark.parametrize("schedule", ["joint", "alternate"])
def test_the_paper_and_the_released_code_by_a_slow_loop(schedule: str) -> None:
    model = calm()
    told = tuned(model, schedule=schedule, weight=0.4, epochs=3, batch=50, rate=1e-3)
    slow = plain(model, schedule, 0.4, 3, 1e-3)
    moved = 0.0
    for (name, tensor), start in zip(told.model.state_dict().items(), weights(model), strict=True):
        # Adam divides by the size of a gradient, so where this is nothing but rounding, the sign of a step is too.
        np.testing.assert_allclose(tensor, slow.state_dict()[name], atol=2e-4 if "key.bias" not in name else 1e-2)
        moved = max(moved, float(np.abs(tensor.numpy() - start).max()))
    assert moved > 1e-3


FILL = (
    "it is what it is",
    "two dogs run",
    "the plot and more of it",
    "a film they say",
    "in the end",
    "one of the scenes",
)
SAID = [(f"{word} {fill}", label) for fill in FILL for word, label in (("good", "LABEL_0"), ("dull", "LABEL_1"))]
LEFT = [("good",), ("dull",)]


@cache
def trained() -> Any:
    """A model that knows good from dull, also where nothing else is said."""
    texts = [*SAID, ("good", "LABEL_0"), ("dull", "LABEL_1")]
    return _learned(assay.load(tiny.bert()), texts, weight=0.0, epochs=25, rate=3e-3)


def _learned(model: Any, said: Any = SAID, **settings: Any) -> Any:
    texts, labels = [(text,) for text, _ in said], [label for _, label in said]
    return regularise(model, texts, labels, LEFT, progress=False, batch=4, **settings)


@pytest.mark.parametrize(("schedule", "rank"), [("joint", 0), ("alternate", 0), ("alternate", 4)])
def test_the_model_becomes_unsure_of_reduced_texts_and_not_by_likelihood_alone(schedule: str, rank: int) -> None:
    same = {"schedule": schedule, "rank": rank, "epochs": 20, "rate": 1e-2 if rank else 3e-3}
    before = mean_entropy(trained(), LEFT)
    mended, alone = _learned(trained(), weight=1.0, **same), _learned(trained(), weight=0.0, **same)
    assert before < 0.1
    assert mean_entropy(alone, LEFT) < before + 0.05
    assert mean_entropy(mended, LEFT) > 0.5
    found = mended.predict([text for text, _ in SAID]).argmax(axis=1)
    assert np.mean([mended.labels[i] == label for i, (_, label) in zip(found, SAID, strict=True)]) > 0.9


@pytest.mark.parametrize("schedule", ["joint", "alternate"])
def test_with_weight_zero_the_reduced_texts_change_nothing(schedule: str) -> None:
    same: Any = {"progress": False, "weight": 0.0, "rate": 1e-3, "batch": 50, "schedule": schedule}
    one, two = (regularise(calm(), TEXTS, LABELS, reduced, **same) for reduced in (REDUCED, [("great",)]))
    for a, b in zip(weights(one), weights(two), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)


def test_the_users_model_is_left_alone() -> None:
    net, tokenizer = tiny.bert()
    before, modes = deepcopy(net.state_dict()), [m.training for m in net.modules()]
    graded = [p.requires_grad for p in net.parameters()]
    random = torch.get_rng_state().tolist()
    for rank in (0, 3):
        told = tuned(assay.load((net, tokenizer)), rank=rank, epochs=1)
        assert not np.array_equal(told.predict(["a film"]), assay.load((net, tokenizer)).predict(["a film"]))
    assert all(torch.equal(before[name], tensor) for name, tensor in net.state_dict().items())
    assert [m.training for m in net.modules()] == modes
    assert [p.requires_grad for p in net.parameters()] == graded
    assert torch.get_rng_state().tolist() == random


class Killed(Exception):
    """What stands for a kill."""


@pytest.mark.parametrize("rank", [0, 3])
def test_a_killed_training_goes_on_to_the_same_weights(rank: int, tmp_path: Path, monkeypatch: Any) -> None:
    whole = tuned(epochs=3, rank=rank)
    asked, calls = module.log_chances, iter(range(1000))

    def dying(*args: Any) -> Any:
        if next(calls) == 15:
            raise Killed
        return asked(*args)

    with monkeypatch.context() as patch:
        patch.setattr(module, "log_chances", dying)
        with pytest.raises(Killed):
            tuned(epochs=3, rank=rank, out=tmp_path / "m")
    assert [path.name for path in tmp_path.iterdir()] == ["m.checkpoint"]
    with pytest.raises(BadInput, match="another run"):
        tuned(epochs=3, rank=rank, weight=0.3, out=tmp_path / "m")
    told = tuned(epochs=3, rank=rank, out=tmp_path / "m")
    for one, two in zip(weights(told), weights(whole), strict=True):
        np.testing.assert_array_equal(one, two)
    opened = assay.load(str(tmp_path / "m"))
    np.testing.assert_allclose(opened.predict(["a film"]), whole.predict(["a film"]), atol=1e-6)
    again = tuned(epochs=3, rank=rank, out=tmp_path / "m")
    np.testing.assert_allclose(again.predict(["a film"]), whole.predict(["a film"]), atol=1e-6)
    with pytest.raises(BadInput, match="differs in seed"):
        tuned(epochs=3, rank=rank, seed=1, out=tmp_path / "m")


def test_the_seed_decides() -> None:
    one, two, other = (tuned(epochs=1, seed=seed).predict(["a film"]) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)


def test_labels_go_by_the_models_names() -> None:
    """Names in no order of the alphabet: what is learned must come back under the same name."""
    names = {0: "zebra", 1: "ant", 2: "mole"}
    model = calm(id2label=names, label2id={name: i for i, name in names.items()})
    labels = ["mole" if i % 2 else "zebra" for i in range(10)]
    told = regularise(model, TEXTS, labels, REDUCED, progress=False, weight=0.0, rate=5e-3, epochs=25, batch=5)
    assert told.labels == ("zebra", "ant", "mole")
    found = [told.labels[i] for i in told.predict([row[0] for row in TEXTS]).argmax(axis=1)]
    assert found == labels
    with pytest.raises(UnknownName, match="'moles'"):
        regularise(model, TEXTS, [*labels[1:], "moles"], REDUCED, progress=False)


def test_one_logit_is_two_labels() -> None:
    model = assay.load(tiny.bert(num_labels=1))
    labels = [model.labels[i % 2] for i in range(10)]
    told = regularise(model, TEXTS, labels, REDUCED, progress=False, rate=5e-3, epochs=8, batch=5, weight=1.0)
    assert mean_entropy(told) > mean_entropy(model)


def test_pairs() -> None:
    pairs = [(row[0], "a man sleeps") for row in TEXTS]
    reduced = [("a film", "man"), ("the plot", "sleeps")]
    model = assay.load(tiny.bert())
    told = regularise(model, pairs, LABELS, reduced, progress=False, rate=3e-3, epochs=10, weight=1.0, batch=5)
    assert mean_entropy(told, reduced) > mean_entropy(model, reduced)
    with pytest.raises(BadInput, match="all be pairs"):
        regularise(model, [*pairs[1:], ("alone",)], LABELS, reduced, progress=False)


def test_the_loss_of_a_span_reader_against_the_bare_model() -> None:
    model, tokenizer = reader(), tiny.wordpiece()
    rows, answers = [("who ?", CONTEXT), ("what was it in the film ?", CONTEXT)], ["A good cast", "slow"]
    reduced = [("who", CONTEXT), ("what was it in", CONTEXT), ("the film was", CONTEXT)]
    data = module._Data.of(model, rows, answers, reduced, Entropy())
    assert len(data.reduced) == 2  # of four words there is one, which is left out
    value = module.loss_of(model, data, 0.3)(Step([0, 1], [0, 1]))
    expected = 0.0
    for row, answer in zip(rows, answers, strict=True):
        first, last, spans = ends(model.model, tokenizer, row)
        start = CONTEXT.index(answer)
        inside = [i for i, (a, b) in enumerate(spans) if a < start + len(answer) and start < b]
        expected -= (np.log(first[inside[0]]) + np.log(last[inside[-1]])) / 2
    for row in (reduced[0], reduced[2]):
        first, last, _ = ends(model.model, tokenizer, row)
        expected -= 0.3 * (-(first * np.log(first)).sum() - (last * np.log(last)).sum()) / 2
    assert float(value.detach()) == pytest.approx(expected, rel=1e-4)


def test_an_answer_that_looks_like_a_place_is_found() -> None:
    context = "The film was slow, and at 10:30 at night it was over."
    data = module._Data.of(reader(), [("when ?", context)], ["10:30 at night"], [("when", context)], Entropy())
    _, _, spans = ends(reader().model, tiny.wordpiece(), ("when ?", context))
    first, last = (place - data.labelled[0].context[0] for place in data.targets[0])
    assert context[spans[first][0] : spans[last][1]] == "10:30 at night"


def ends(net: Any, tokenizer: Any, row: Any) -> Any:
    coded = tokenizer(*row, return_tensors="pt", return_offsets_mapping=True)
    inside = [i for i, s in enumerate(coded.sequence_ids(0)) if s == 1]
    with torch.no_grad():
        out = net(input_ids=coded["input_ids"], token_type_ids=coded["token_type_ids"])
    spans = [tuple(coded["offset_mapping"][0][i].tolist()) for i in inside]
    return out.start_logits[0, inside].softmax(-1).numpy(), out.end_logits[0, inside].softmax(-1).numpy(), spans


def test_a_span_reader_is_mended_too(tmp_path: Path) -> None:
    rows, answers = [("who ?", CONTEXT), ("what was slow ?", CONTEXT)] * 4, ["A good cast", "The film"] * 4
    reduced = [("who", CONTEXT), ("slow", CONTEXT)]
    settings: Any = {"progress": False, "rate": 3e-3, "epochs": 10, "weight": 1.0, "batch": 4}
    told = regularise(reader(), rows, answers, reduced, out=tmp_path / "m", **settings)
    sure = [assay.load(one).predict(reduced)[:, 1].mean() for one in (reader(), told, str(tmp_path / "m"))]
    assert sure[1] < sure[0]
    assert sure[2] == pytest.approx(sure[1], abs=1e-6)
    with pytest.raises(BadInput, match=r"text 2: the answer 'nobody' is not in the context"):
        regularise(reader(), rows[:2], ["slow", "nobody"], reduced, progress=False)
    with pytest.raises(BadInput, match="no reduced texts"):
        regularise(reader(), rows[:2], ["slow", "slow"], [("one two three four", CONTEXT)], progress=False)


def test_what_cannot_be_regularised_is_said() -> None:
    for model, said in (
        (assay.load(tiny.bert(problem="multi_label_classification")), "several labels"),
        (assay.load(tiny.gpt2()), "padding"),
        (assay.load(tiny.masked_lm()), "classifier or span reader"),
        (assay.load(lambda texts: np.full((len(texts), 2), 0.5)), "classifier or span reader"),
    ):
        with pytest.raises(Unanswerable, match=said):
            regularise(model, TEXTS, LABELS, REDUCED, progress=False)
    model = assay.load(tiny.bert())
    with pytest.raises(BadInput, match="2 texts and 1 labels"):
        regularise(model, TEXTS[:2], LABELS[:1], REDUCED)
    with pytest.raises(BadInput, match="no reduced texts"):
        regularise(model, TEXTS, LABELS, [])
    with pytest.raises(UnknownName, match="joint"):
        Entropy(schedule="joined")  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="weight"):
        Entropy(weight=-1.0)
    with pytest.raises(BadInput, match="rank"):
        Entropy(rank=-1)
