"""The training loop: the same weights as a plain loop, the same weights after a kill, and nothing global touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from assay.errors import BadFile, BadInput, NonFiniteAnswer
from assay.training import checkpoints
from assay.training.fit import Fitted, Plan, fit, slope

X = torch.tensor(np.random.default_rng(0).standard_normal((40, 6)), dtype=torch.float32)
Y = (X[:, 0] - X[:, 1] > 0).long()
PLAN = Plan(epochs=4, rate=0.05, seed=3)


def network() -> nn.Sequential:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        return nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 2))


def batches(rng: np.random.Generator) -> list[Any]:
    return list(rng.permutation(40).reshape(5, 8))


def loss_of(model: nn.Module) -> Callable[[Any], Tensor]:
    return lambda chosen: nn.functional.cross_entropy(model(X[chosen]), Y[chosen])


def learn(model: nn.Module, plan: Plan = PLAN, **more: Any) -> Fitted:
    return fit(model, batches, more.pop("loss", loss_of(model)), plan, progress=False, **more)


def weights(model: nn.Module) -> list[Any]:
    return [tensor.tolist() for tensor in model.state_dict().values()]


def test_threads_that_train_at_once_do_not_share_their_chance() -> None:
    def slowly(model: nn.Module) -> Callable[[Any], Tensor]:
        def loss(chosen: Any) -> Tensor:
            sleep(0.002)  # the other thread has its turn
            return loss_of(model)(chosen)

        return loss

    models, alone, before = [network(), network()], network(), torch.get_rng_state()
    threads = [Thread(target=learn, args=(one,), kwargs={"loss": slowly(one)}) for one in models]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert torch.equal(torch.get_rng_state(), before)
    learn(alone)
    assert weights(models[0]) == weights(models[1]) == weights(alone)


class Killed(Exception):
    """What stands for a kill in the middle of an epoch."""


def killed_at(model: nn.Module, step: int) -> Callable[[Any], Tensor]:
    steps, loss = iter(range(1000)), loss_of(model)

    def dying(chosen: Any) -> Tensor:
        if next(steps) == step:
            raise Killed
        return loss(chosen)

    return dying


def test_it_learns() -> None:
    model = network()
    fitted = learn(model, Plan(epochs=30, rate=0.05))
    assert fitted.losses[-1] < fitted.losses[0] / 2
    assert not model.training
    assert (model(X).argmax(1) == Y).float().mean() > 0.9


def test_the_weights_are_those_of_a_plain_loop() -> None:
    """Written again with torch's own schedule, for a network without dropout."""
    model, other = (nn.Sequential(nn.Linear(6, 2)) for _ in range(2))
    other.load_state_dict(model.state_dict())
    learn(model, replace(PLAN, clip=0.05))
    optimiser = torch.optim.AdamW(other.parameters(), lr=PLAN.rate, weight_decay=PLAN.decay)
    up = PLAN.warm_up * 20
    rates = [(t + 0.5) / up if t + 0.5 < up else (20 - t - 0.5) / (20 - up) for t in range(20)]
    for epoch in range(4):
        rng = np.random.default_rng([3, epoch])
        rng.integers(2**63)
        for i, chosen in enumerate(rng.permutation(40).reshape(5, 8)):
            optimiser.param_groups[0]["lr"] = PLAN.rate * rates[5 * epoch + i]
            optimiser.zero_grad()
            nn.functional.cross_entropy(other(X[chosen]), Y[chosen]).backward()
            norm = sum(float((p.grad**2).sum()) for p in other.parameters()) ** 0.5
            for p in other.parameters():
                p.grad *= min(1.0, 0.05 / (norm + 1e-6))
            optimiser.step()
    for one, two in zip(model.parameters(), other.parameters(), strict=True):
        torch.testing.assert_close(one, two, rtol=1e-5, atol=1e-6)


def test_the_rate_rises_and_falls() -> None:
    assert [slope(p, 0.2) for p in (0.0, 0.1, 0.2, 0.6, 1.0)] == pytest.approx([0, 0.5, 1, 0.5, 0])
    assert slope(0.0, 0.0) == 1


@pytest.mark.parametrize("step", [0, 3, 5, 12, 19])
def test_a_killed_run_ends_with_the_same_weights(step: int, tmp_path: Path) -> None:
    straight, model, after = network(), network(), network()
    whole = learn(straight)
    file = tmp_path / "run.checkpoint"
    with pytest.raises(Killed):
        learn(model, loss=killed_at(model, step), checkpoint=file)
    assert file.exists() == (step >= 5)
    steps: list[int] = []
    counted = lambda chosen: (steps.append(1), loss_of(after)(chosen))[1]  # noqa: E731
    assert learn(after, loss=counted, checkpoint=file) == whole
    assert len(steps) == 20 - step // 5 * 5
    assert weights(after) == weights(straight)


def test_a_kill_while_writing_leaves_the_checkpoint_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.checkpoint"
    checkpoints.save(file, {"settings": {}, "n": 0})
    first = file.open("rb")  # whoever reads a checkpoint while the next one comes reads it whole
    checkpoints.save(file, {"settings": {}, "n": 1})
    assert torch.load(first, weights_only=True)["n"] == 0
    first.close()

    def half(state: Any, stream: Any) -> None:
        stream.write(b"half")
        raise Killed

    monkeypatch.setattr(torch, "save", half)
    with pytest.raises(Killed):
        checkpoints.save(file, {"settings": {}, "n": 2})
    assert checkpoints.load(file, {}) == {"settings": {}, "n": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["run.checkpoint"]


def test_a_checkpoint_of_other_settings_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "run.checkpoint"
    learn(network(), Plan(epochs=1), checkpoint=file, data="a")
    before = file.read_bytes()
    for plan, data, said in ((Plan(epochs=2), "a", "epochs"), (Plan(epochs=1), "b", "data")):
        with pytest.raises(BadInput, match=f"another run .it differs in {said}"):
            learn(network(), plan, checkpoint=file, data=data)
    assert file.read_bytes() == before
    file.write_bytes(b"what is this")
    with pytest.raises(BadFile, match="delete it to start again"):
        learn(network(), Plan(epochs=1), checkpoint=file, data="a")


def scripted(scores: list[float], model: nn.Module, seen: list[Any]) -> Callable[[], float]:
    def dev() -> float:
        seen.append(weights(model))
        return scores[len(seen) - 1]

    return dev


def test_the_best_epoch_is_kept_and_patience_ends() -> None:
    model, seen = network(), []
    fitted = learn(model, Plan(epochs=9, rate=0.05, patience=2), dev=scripted([0.5, 0.8, 0.8, 0.7, 0.9], model, seen))
    assert (fitted.epochs, fitted.best) == (4, 2)
    assert weights(model) == seen[1] != seen[3]


def test_patience_survives_a_kill(tmp_path: Path) -> None:
    scores, file = [0.5, 0.8, 0.8, 0.7, 0.9], tmp_path / "c"
    plan = Plan(epochs=9, rate=0.05, patience=2)
    straight, model, after = network(), network(), network()
    whole = learn(straight, plan, dev=scripted(scores, straight, []))
    with pytest.raises(Killed):
        learn(model, plan, loss=killed_at(model, 17), dev=scripted(scores, model, []), checkpoint=file)
    assert learn(after, plan, dev=scripted(scores[3:], after, []), checkpoint=file) == whole
    assert weights(after) == weights(straight)


def test_seeds_decide_and_the_global_state_stays() -> None:
    before = torch.get_rng_state().tolist(), repr(np.random.get_state())
    one, two, other = network(), network(), network()
    learn(one)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(99)
        learn(two)
    learn(other, Plan(epochs=4, rate=0.05, seed=4))
    assert weights(one) == weights(two) != weights(other)
    assert (torch.get_rng_state().tolist(), repr(np.random.get_state())) == before


def test_frozen_weights_stay() -> None:
    model = network()
    model[0].requires_grad_(False)
    before = weights(model)
    learn(model)
    assert weights(model)[:2] == before[:2]
    assert weights(model)[2:] != before[2:]
    with pytest.raises(BadInput, match="all of them are frozen"):
        learn(model.requires_grad_(False))


def test_what_cannot_be_trained_is_said() -> None:
    model = network()
    with pytest.raises(NonFiniteAnswer, match="smaller rate"):
        learn(model, loss=lambda chosen: loss_of(model)(chosen) * float("nan"))
    with pytest.raises(NonFiniteAnswer, match="dev"):
        learn(model, dev=lambda: float("nan"))
    with pytest.raises(BadInput, match="no batch"):
        fit(model, lambda rng: [], loss_of(model), PLAN, progress=False)
    for wrong in ({"epochs": 0}, {"patience": 0}, {"rate": 0.0}, {"warm_up": 1.0}):
        with pytest.raises(BadInput):
            Plan(**wrong)
