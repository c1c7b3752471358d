"""Adversaries side by side: each is the one that is trained alone; the large LSTM is the small ones."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from assay.models import load
from assay.training.adversaries import Watched, oppose_side_by_side
from assay.training.adversary import Opposed, oppose
from assay.training.attention_reading import observed
from assay.training.attentive import Attend, attend, prepared
from assay.training.observed import Observed
from assay.training.side_by_side import SideBySide
from attention_toys import columns, how, sentences

TEXTS, LABELS = columns(sentences(60))
LAMBDAS = (0.0, 0.02, 1.0)


@pytest.fixture(scope="module")
def seen() -> Observed:
    return observed(attend(TEXTS, LABELS, how=how(3), progress=False), TEXTS)


def alone(seen: Observed, penalty: float, plan: Attend, variant: Any = "paper") -> Observed:
    return observed(oppose((TEXTS, LABELS), seen, penalty, how=plan, variant=variant, progress=False), TEXTS)


@pytest.mark.parametrize("variant", ["paper", "released"])
def test_each_is_the_one_that_is_trained_alone(seen: Observed, tmp_path: Path, variant: Any) -> None:
    outs = [tmp_path / f"{value:g}" for value in LAMBDAS]
    oppose_side_by_side((TEXTS, LABELS), seen, LAMBDAS, outs, how=how(5), variant=variant, progress=False)
    for value, out in zip(LAMBDAS, outs, strict=True):
        here, there = observed(load(out), TEXTS), alone(seen, value, how(5), variant)
        assert here.chances == pytest.approx(there.chances, abs=2e-4)
        for mine, other in zip(here.weights, there.weights, strict=True):
            assert mine == pytest.approx(other, abs=2e-4)
        oppose((TEXTS, LABELS), seen, value, how=how(5), variant=variant, out=out, progress=False)  # found, not refused
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"{value:g}" for value in LAMBDAS)


def test_each_keeps_its_own_best_epoch_and_is_weary_alone(seen: Observed, tmp_path: Path) -> None:
    rash = how(12)
    rash = replace(rash, plan=replace(rash.plan, patience=2, rate=0.1))  # so that the last epoch is not the best
    values = (0.0, 0.3)
    outs = [tmp_path / f"{value:g}" for value in values]
    oppose_side_by_side((TEXTS, LABELS), seen, values, outs, how=rash, progress=False)
    for value, out in zip(values, outs, strict=True):
        assert observed(load(out), TEXTS).chances == pytest.approx(alone(seen, value, rash).chances, abs=5e-3)


def test_what_is_watched_is_what_fit_would_keep() -> None:
    ready = prepared(how(1), [(text,) for text in TEXTS], LABELS)
    several = Watched(ready.network, 2, patience=2)
    told = []
    for epoch, totals in enumerate([(3.0, 3.0), (2.0, 4.0), (2.5, 5.0), (1.0, 1.0), (0.5, 0.5)]):
        with torch.no_grad():
            several.projection.bias.fill_(epoch)
        several.add(torch.tensor(totals))
        told.append(several.watch())
    assert [float(several.weights(i)["projection.bias"][0]) for i in (0, 1)] == [4.0, 0.0]  # the second was weary
    assert told == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert several.weary.tolist() == [False, True]


def test_a_killed_run_goes_on(seen: Observed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = ([tmp_path / name / f"{value:g}" for value in LAMBDAS] for name in ("whole", "killed"))
    oppose_side_by_side((TEXTS, LABELS), seen, LAMBDAS, first, how=how(4), progress=False)
    real, calls = Opposed.loss, []

    def dies(self: Opposed, chosen: Any) -> Any:
        calls.append(chosen)
        if len(calls) > 10:  # in the third epoch of four batches
            raise KeyboardInterrupt
        return real(self, chosen)

    monkeypatch.setattr(Opposed, "loss", dies)
    with pytest.raises(KeyboardInterrupt):
        oppose_side_by_side((TEXTS, LABELS), seen, LAMBDAS, second, how=how(4), progress=False)
    monkeypatch.setattr(Opposed, "loss", real)
    oppose_side_by_side((TEXTS, LABELS), seen, LAMBDAS, second, how=how(4), progress=False)
    for one, other in zip(first, second, strict=True):
        assert (observed(load(one), TEXTS).chances == observed(load(other), TEXTS).chances).all()


@pytest.mark.parametrize("encoder", ["lstm", "cnn", "average"])
def test_networks_of_different_weights_answer_as_they_do_alone(encoder: Any) -> None:
    ready = prepared(how(1, encoder=encoder), [(text,) for text in TEXTS], LABELS)
    several = SideBySide(ready.network, 3).eval()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for tensor in several.parameters():
            tensor.copy_(torch.randn(tensor.shape, generator=generator) / 3)
    inputs, _ = ready.rows.batch([3, 5, 8], "cpu")
    found = several(**inputs)
    several.keep(torch.tensor([True, True, True]))
    for place in range(3):
        ready.network.load_state_dict(several.weights(place))
        expected = ready.network.eval()(**inputs, output_attentions=True)
        torch.testing.assert_close(found.logits[place], expected.logits, atol=1e-5, rtol=1e-5)
        torch.testing.assert_close(found.attentions[0][place], expected.attentions[0], atol=1e-6, rtol=1e-5)


def test_the_released_code_counts_one_of_two_labels(seen: Observed) -> None:
    """By hand: half of the TVD, and the loss times the summed costs of the gold labels."""
    ready = prepared(how(1), [(text,) for text in TEXTS], LABELS)
    chosen = [0, 1, 2, 3]
    whole, half = (Opposed.to(ready, seen, 0.0, v, ready.network).loss(chosen).item() for v in ("paper", "released"))
    costs = sum(float(ready.costs[ready.rows.labels[i]]) for i in chosen)  # type: ignore[index]
    assert half == pytest.approx(whole / 2 * costs, rel=1e-5)
