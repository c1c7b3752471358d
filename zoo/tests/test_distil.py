"""What teachers hand down to an adapter: their chances, their answers, and the loss between them."""

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_writers import PAIRS, options_for, tiny_writer

torch.set_num_threads(1)
ASKED = ["a dog is", "it rains"]


def two_models(writing: Any) -> list[Any]:
    """Two that differ."""
    models = [writing.base(None)[0] for _ in range(2)]
    with torch.no_grad():
        models[1].model.layers[0].mlp.down_proj.weight.mul_(40).add_(0.3)
    return models


def slow_chances(models: list[Any], ids: list[int], start: int) -> torch.Tensor:
    """The mean of the models' softmax at every place of one answer, without a batch."""
    each = [model(input_ids=torch.tensor([ids])).logits[0].softmax(-1) for model in models]
    return (sum(each) / len(each))[start - 1 : len(ids) - 1].detach()


@pytest.mark.parametrize("kept", [5, 97])
def test_chances_are_the_mean_of_the_models_with_the_token_that_stands_there(
    kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    writing = tiny_writer(monkeypatch)
    import distil

    rows, models = writing.prepared(writing.base(None)[1], PAIRS, 50), two_models(writing)
    got = distil.chances(models, rows, kept, "cpu")
    slow = torch.cat([slow_chances(models, ids, start) for ids, start in zip(rows.ids, rows.starts, strict=True)])
    stands = [token for ids, start in zip(rows.ids, rows.starts, strict=True) for token in ids[start:]]
    assert torch.allclose(got["chances"].float(), slow.gather(1, got["tokens"].long()), atol=1e-3)
    for tokens, token, chances in zip(got["tokens"].tolist(), stands, slow, strict=True):
        assert len(set(tokens)) == kept
        assert token in tokens
        assert set(chances.topk(kept - 1).indices.tolist()) <= set(tokens)


@pytest.mark.parametrize("kept", [5, 97])
def test_the_loss_is_that_of_a_plain_loop(kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = tiny_writer(monkeypatch)
    import distil

    rows, (model, other) = writing.prepared(writing.base(None)[1], PAIRS, 50), two_models(writing)
    told = distil.chances([other], rows, kept, "cpu")
    sizes = [len(ids) - start for ids, start in zip(rows.ids, rows.starts, strict=True)]
    own, begins = [0.5, 0.0, 0.25, 1.0], [sum(sizes[:i]) for i in range(4)]
    taught = distil.Taught(rows.ids, rows.starts, told["tokens"], told["chances"].float(), own, begins)
    terms = []
    for i in (2, 0, 3):
        p, q = (slow_chances([one], rows.ids[i], rows.starts[i]).tolist() for one in (other, model))
        for place, token in enumerate(rows.ids[i][rows.starts[i] :]):
            named = told["tokens"][begins[i] + place].tolist()
            rest = (1 - sum(p[place][t] for t in named), 1 - sum(q[place][t] for t in named))
            theirs = sum(p[place][t] * math.log(q[place][t]) for t in named)
            theirs += rest[0] * math.log(rest[1]) if kept < 97 else 0
            terms.append(-own[i] * math.log(q[place][token]) - (1 - own[i]) * theirs)
    assert float(taught.loss(model, [2, 0, 3], "cpu").detach()) == pytest.approx(sum(terms) / len(terms), abs=2e-3)


def test_answers_are_drawn_as_the_model_gives_them(monkeypatch: pytest.MonkeyPatch) -> None:
    writing = tiny_writer(monkeypatch)
    import distil

    model, tokenizer = writing.base(None)
    torch.manual_seed(0)
    asked = ["ab", "a longer one"] * 1500
    assert distil.answers(model, tokenizer, asked[:40], 1, "cpu") == []  # an end, or no end
    found = distil.answers(model, tokenizer, asked, 2, "cpu")  # a character and its end: one in a hundred
    ends = {prompt: sum(one == prompt for one, _ in found) / 1500 for prompt in ("ab", "a longer one")}
    for prompt, share in ends.items():
        ids = torch.tensor([tokenizer(prompt)["input_ids"]])
        first = model(input_ids=ids).logits[0, -1].softmax(-1).detach()
        after = [model(input_ids=torch.cat([ids, torch.tensor([[t]])], 1)).logits[0, -1].softmax(-1) for t in range(97)]
        blank = tokenizer.convert_tokens_to_ids(" ")
        chance = sum(float(first[t] * after[t][0].detach()) for t in range(1, 97) if t not in (blank, 96))
        assert share == pytest.approx(chance, abs=4 * (chance / 1500) ** 0.5)


def test_an_adapter_is_taught_and_goes_on_with_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = tiny_writer(monkeypatch)
    import distil

    teaching = distil.Teaching(lambda _: ASKED * 4, rates=(0.02, 0.04), steps=30, writes=3, longest=40, kept=20)
    task = writing.Writing("explainer", "t", lambda _: PAIRS * 8, {}, (), "k", ())
    chosen, tokenizer = options_for(tmp_path, steps=30), writing.base(None)[1]
    rows = distil.taught(teaching, task, tokenizer, PAIRS * 8, chosen)
    folder = tmp_path / ".explainer.teachers"
    known = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    (folder / "chances-1").unlink()
    again = distil.taught(teaching, task, tokenizer, PAIRS * 8, chosen, first=1)
    assert {path.name for path in folder.iterdir() if path.stat().st_mtime_ns != known.get(path.name)} <= {
        "chances-1"
    } | {name for name in known if name.endswith(".lock")}
    assert again.own == rows.own
    assert torch.equal(again.chances, rows.chances)
    assert rows.own[: len(PAIRS) * 8] == [0.5] * len(PAIRS) * 8
    assert set(rows.own[len(PAIRS) * 8 :]) <= {0.0}
    model = writing.base(None)[0]
    before = float(rows.loss(model, range(32), "cpu").detach())
    writing.add_writer_lora(model, 4)
    writing.fit(model, rows, replace(task, steps=40, rate=0.02), replace(chosen, steps=None))
    after = float(rows.loss(model, range(32), "cpu").detach())

    assert after < before - 0.1, (before, after)


def test_the_mean_of_runs_is_the_nearest_of_its_rank_to_the_mean_of_what_they_add() -> None:
    import averaging

    from assay_zoo.packing import DOWN, UP

    torch.manual_seed(0)
    runs = [{"a" + UP: torch.randn(7, 2), "a" + DOWN: torch.randn(2, 5)} for _ in range(2)]
    slow = sum(w * (run["a" + UP] @ run["a" + DOWN]) for w, run in zip((0.75, 0.25), runs, strict=True))
    whole = averaging.mean(runs, (0.75, 0.25), 4)
    assert torch.allclose(whole["a" + UP] @ whole["a" + DOWN], slow, atol=1e-5)
    fewer = averaging.mean(runs, (0.75, 0.25), 2)
    assert fewer["a" + UP].shape == (7, 2)
    u, s, v = torch.linalg.svd(slow)
    assert torch.allclose(fewer["a" + UP] @ fewer["a" + DOWN], (u[:, :2] * s[:2]) @ v[:2], atol=1e-5)


def test_the_runs_of_the_least_perplexity_together_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writing = tiny_writer(monkeypatch)
    import averaging
    from safetensors.torch import save_file

    from assay_zoo.packing import DOWN, LORA_SCALE, UP

    monkeypatch.setattr(averaging, "choosing", lambda _: PAIRS)
    torch.manual_seed(1)
    name = "model.layers.0.mlp.down_proj"
    ups, downs = [torch.randn(16, 2) for _ in range(3)], [torch.randn(2, 24) for _ in range(3)]
    ups[2] = -ups[0] + 0.01 * ups[2]  # one that undoes the first: the better choice is seldom a single one
    downs[2] = downs[0]
    folders = [tmp_path / f"run{i}" for i in range(3)]
    for folder, up, down in zip(folders, ups, downs, strict=True):
        folder.mkdir()
        save_file({name + UP: up, name + DOWN: down}, folder / averaging.FILE)
    candidates = averaging.together(folders)
    assert len(candidates) == 7
    assert all(sum(weight for _, weight in some) == pytest.approx(1) for some in candidates)
    slow = {}
    for some in candidates:
        model, tokenizer = writing.base(None)
        change = sum(w * ups[folders.index(f)] @ downs[folders.index(f)] for f, w in some)
        model.get_submodule(name).weight.data += LORA_SCALE * change
        losses = []
        for ids, start in zip(*vars(writing.prepared(tokenizer, PAIRS, 160)).values(), strict=True):
            logs = model(input_ids=torch.tensor([ids])).logits[0].log_softmax(-1).detach()
            losses += [-float(logs[i - 1, ids[i]]) for i in range(start, len(ids))]
        slow[tuple(f.name for f, _ in some)] = sum(losses) / len(losses)
    found = averaging.best(candidates, options_for(tmp_path))
    assert tuple(folder.name for folder, _ in found) == min(slow, key=slow.__getitem__)
    assert len(found) > 1
