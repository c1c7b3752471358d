"""Training attentive models: what they learn, where they begin, how they are saved, resumed and chosen."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import binary_cross_entropy_with_logits

import assay
from assay.errors import BadFile, BadInput, UnknownName
from assay.training.adversary import oppose
from assay.training.attention_reading import observed
from assay.training.attentive import Attend, attend, prepared, scored
from assay.training.batches import rows_of
from assay.training.fit import _optimiser
from assay.training.guided import guide
from assay.training.recipes import recipe
from assay.training.vectors import vectors

RNG = np.random.default_rng(0)
FILLER = "the a of in film story scene of with and".split()


def corpus(n: int) -> tuple[list[str], list[str]]:
    texts, labels = [], []
    for i in range(n):
        words = list(RNG.choice(FILLER, int(RNG.integers(3, 9))))
        words.insert(int(RNG.integers(len(words))), "great" if i % 2 else "awful")
        texts.append(" ".join(words))
        labels.append("yes" if i % 2 else "no")
    return texts, labels


TRAIN, DEV = corpus(200), corpus(60)
SMALL = Attend(hidden=8, size=8, plan=replace(Attend().plan, epochs=6, rate=0.02))


@pytest.mark.parametrize("encoder", ["lstm", "cnn", "average"])
@pytest.mark.parametrize("attention", ["additive", "dot"])
def test_it_learns_and_attends_to_what_matters(encoder: Any, attention: Any) -> None:
    model = attend(*TRAIN, how=SMALL, encoder=encoder, attention=attention, dev=DEV, progress=False)
    assert model.labels == ("no", "yes")
    assert scored(model.predict(DEV[0]), DEV[1], model.labels) > 0.97
    if encoder == "average":  # states of words alone: there is nowhere else to look
        maps = assay.explain(model, DEV[0], "attention", progress=False)
        found = [e.scores[[w in ("great", "awful") for w in e.words]].sum() * len(e.words) for e in maps]
        assert np.mean(found) > 1.5  # times what it would have among equals


def test_pairs_with_answers_from_the_vocabulary() -> None:
    places = "kitchen garden office".split()
    stories = [(f"john went to the {a} . mary went to the {b}", "where is mary") for a in places for b in places] * 8
    labels = [story.rsplit(" ", 1)[1] for story, _ in stories]
    how = replace(SMALL, answers="vocabulary", hidden=32, batch=8, plan=replace(SMALL.plan, epochs=12, rate=0.01))
    model = attend(stories, labels, how=how, progress=False)
    assert {"mary", "kitchen"} <= set(model.labels)
    found = [model.labels[i] for i in model.predict(stories[:9]).argmax(axis=1)]
    assert np.mean([a == b for a, b in zip(found, labels, strict=False)]) > 0.9


def test_the_loss_is_that_of_the_paper() -> None:
    """A summed binary cross-entropy in which the positive texts weigh n / n_pos - 1."""
    texts, labels = TRAIN[0][:30], ["no"] * 20 + ["yes"] * 10
    ready = prepared(SMALL, rows_of(texts, labels), labels)
    ready.network.eval()
    inputs, gold = ready.rows.batch(range(30), "cpu")
    logits = ready.network(**inputs).logits
    z = logits[:, 1] - logits[:, 0]
    slow = binary_cross_entropy_with_logits(z, gold.float(), pos_weight=torch.tensor(2.0), reduction="sum")
    assert ready.loss(list(range(30))).item() == pytest.approx(slow.item(), rel=1e-5)
    alike = prepared(replace(SMALL, balanced=False), rows_of(texts, labels), labels)
    assert alike.costs is None


def test_attention_has_no_decay() -> None:
    ready = prepared(SMALL, rows_of(*TRAIN), TRAIN[1])
    groups = _optimiser(ready.network, SMALL.plan, 1.0).param_groups
    by_decay = {group["weight_decay"]: {id(t) for t in group["params"]} for group in groups}
    assert set(by_decay) == {0.0, 1e-5}
    assert by_decay[0.0] == {id(t) for t in ready.network.attention.parameters()}
    assert all(group["amsgrad"] for group in groups)


def test_the_same_seed_the_same_model_and_the_global_generator_stays() -> None:
    before = torch.get_rng_state()
    one, two, other = (
        attend(*TRAIN, how=replace(SMALL, plan=replace(SMALL.plan, epochs=1, seed=seed)), progress=False)
        for seed in (3, 3, 4)
    )
    assert torch.equal(before, torch.get_rng_state())
    assert one.fingerprint() == two.fingerprint() != other.fingerprint()


def test_it_is_saved_and_not_trained_twice(tmp_path: Any) -> None:
    first = attend(*TRAIN, how=SMALL, dev=DEV, out=tmp_path / "m", progress=False)
    again = attend(*TRAIN, how=SMALL, dev=DEV, out=tmp_path / "m", progress=False)
    assert again.predict(DEV[0]) == pytest.approx(first.predict(DEV[0]), abs=1e-6)
    assert assay.load(tmp_path / "m").predict(DEV[0]) == pytest.approx(first.predict(DEV[0]), abs=1e-6)
    with pytest.raises(BadInput, match="differs in hidden"):
        attend(*TRAIN, how=replace(SMALL, hidden=12), dev=DEV, out=tmp_path / "m", progress=False)


def test_a_finished_training_is_found_where_it_would_have_been_trained(tmp_path: Any) -> None:
    base = attend(*TRAIN, how=SMALL, out=tmp_path / "m", device="cpu", progress=False)
    assert base.model.device.type == "cpu"
    for place in ("meta", "cpu"):  # the one device beside the CPU that every machine has
        assert attend(*TRAIN, how=SMALL, out=tmp_path / "m", device=place, progress=False).model.device.type == place
    guides = observed(base, TRAIN[0])
    for train in (guide, partial(oppose, penalty=0.1)):
        out = tmp_path / getattr(train, "__name__", "oppose")
        train(TRAIN, guides, how=replace(SMALL, device="cpu"), out=out, progress=False)
        found = train(TRAIN, guides, how=replace(SMALL, device="meta"), out=out, progress=False)
        assert found.model.device.type == "meta"


def test_a_killed_run_goes_on_with_the_same_weights(tmp_path: Any, monkeypatch: Any) -> None:
    whole = attend(*TRAIN, how=SMALL, dev=DEV, progress=False)
    from assay.training import fit as module

    real, calls = module._Run.epoch, []

    def dying(run: Any) -> None:
        if len(calls) == 3:
            raise KeyboardInterrupt
        calls.append(real(run))

    monkeypatch.setattr(module._Run, "epoch", dying)
    with pytest.raises(KeyboardInterrupt):
        attend(*TRAIN, how=SMALL, dev=DEV, out=tmp_path / "m", progress=False)
    monkeypatch.setattr(module._Run, "epoch", real)
    resumed = attend(*TRAIN, how=SMALL, dev=DEV, out=tmp_path / "m", progress=False)
    assert resumed.predict(DEV[0]) == pytest.approx(whole.predict(DEV[0]), abs=1e-6)


def test_what_cannot_be_trained() -> None:
    with pytest.raises(BadInput, match="at least two labels"):
        attend(["a film"], ["yes"], how=SMALL)
    with pytest.raises(BadInput, match="one label"):
        attend(["a film", "b"], ["yes"], how=SMALL)
    with pytest.raises(UnknownName, match="maybe"):
        attend(*TRAIN, how=SMALL, dev=(["a film"], ["maybe"]))
    with pytest.raises(BadInput, match="multiple of 4"):
        Attend(hidden=10)


def test_vectors_from_a_file(tmp_path: Any) -> None:
    path = tmp_path / "v.txt"
    path.write_text("3 2\ngood 1 2\nbad -1 0.5\nother 7 7\n", encoding="utf-8")
    table = vectors(path, {"<pad>": 0, "good": 1, "nowhere": 2, "bad": 3}, size=99)
    assert table.tolist() == [[0, 0], [1, 2], [0, 0], [-1, 0.5]]
    path.write_text("good 1 2\nbad 1\n", encoding="utf-8")
    with pytest.raises(BadFile, match="line 2"):
        vectors(path, {"<pad>": 0, "good": 1}, size=2)
    path.write_text("good 1 x\n", encoding="utf-8")
    with pytest.raises(BadFile, match="not all numbers"):
        vectors(path, {"<pad>": 0, "good": 1}, size=2)
    with pytest.raises(BadFile, match="none of the 1"):
        vectors(path, {"<pad>": 0}, size=2)


def test_roar_can_train_them_by_name() -> None:
    assert isinstance(recipe("attentive"), Attend)
    assert recipe("attentive:cnn").settings["encoder"] == "cnn"
    assert recipe("attentive").settings["optimiser"] == "adam"
