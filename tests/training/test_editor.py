"""Editors: the loss by hand, resumption, what is refused, and that mice takes what was trained."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.cli import main
from assay.engine.engine import Engine
from assay.errors import BadInput, ModelNotLoaded
from assay.training import editor as trained
from assay.training.editor import EditorTraining, train_editor
from assay.training.prompted import Prompted, answer_losses

TEXTS = ["the plot was a very dull one", "this is a very good film indeed"] * 6
LABELS = ["bad", "good"] * 6


@pytest.fixture
def base(tmp_path: Path) -> str:
    model, tokenizer = tiny.causal_lm("llama")
    model.save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    return str(tmp_path / "base")


def how(base: str, **settings: Any) -> EditorTraining:
    return EditorTraining(**{"base": base, "steps": 6, "batch": 4, "rank": 2, "width": 60, **settings})


def test_the_loss_is_on_the_answers_alone() -> None:
    model, tokenizer = tiny.causal_lm("llama")
    rows = Prompted.of(tokenizer, [("a film", " good"), ("the plot was", " very dull")], 60, tokenizer.eos_token_id)
    losses = answer_losses(model, *rows.batch([0, 1], "cpu")).tolist()
    byhand = []
    for ids, start in zip(rows.ids, rows.starts, strict=True):
        with torch.no_grad():
            logs = model(torch.tensor([ids])).logits[0].log_softmax(-1)
        byhand += [-float(logs[at - 1, ids[at]]) for at in range(start, len(ids))]
    assert losses == pytest.approx(byhand, abs=1e-5)
    assert rows.ids[0][-1] == tokenizer.eos_token_id


def test_each_row_comes_once_before_any_comes_again() -> None:
    rows = Prompted([[1] * n for n in range(1, 11)], [0] * 10)
    seen = [i for batch in rows.batches(5, 4, np.random.default_rng(0)) for i in batch]
    assert sorted(seen) == sorted([*range(10), *range(10)])


def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(
    base: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trained, "EVERY", 2)
    at_once = train_editor(TEXTS, LABELS, tmp_path / "once", how(base), progress=False)
    real, calls = trained._loss, []

    def failing(*given: Any) -> Any:
        calls.append(0)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(*given)

    monkeypatch.setattr(trained, "_loss", failing)
    with pytest.raises(KeyboardInterrupt):
        train_editor(TEXTS, LABELS, tmp_path / "twice", how(base), progress=False)
    train_editor(TEXTS, LABELS, tmp_path / "twice", how(base), progress=False)
    one, two = (trained.opened_base(str(tmp_path / name))[0].state_dict() for name in ("once", "twice"))
    assert all(torch.allclose(one[name], two[name], atol=1e-6) for name in one)
    assert len(at_once.losses) == 3
    assert train_editor(TEXTS, LABELS, tmp_path / "once", how(base)).steps == 0, "it is there already"
    with pytest.raises(BadInput, match="holds another training"):
        train_editor(TEXTS, LABELS, tmp_path / "once", how(base, steps=7))


def test_it_learns_and_mice_takes_it(base: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = tmp_path / "texts.csv"
    table.write_text("text,label\n" + "\n".join(f"{t},{c}" for t, c in zip(TEXTS, LABELS, strict=True)))
    out = str(tmp_path / "editor")
    settings = ["--steps", "40", "--batch", "4", "--rank", "4", "--rate", "0.02", "--width", "60", "--quiet"]
    given = ["train-editor", "--data", str(table), "--out", out, "--base", base, *settings]
    assert main([*given, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["labels"] == ["bad", "good"]
    assert told["losses"][-1] < told["losses"][0] - 0.5
    bow = tiny.linear_bow()
    here = Engine(assay.load((bow.model, bow.tokenizer)))
    e = assay.explain(here.model, TEXTS[1], "mice", engine=here, editor=out, levels=1, rounds=1, samples=4)
    assert e.facts["editor"] == out
    assert e.facts["fills"]["written"] == 4


def test_minutes_become_steps_that_are_written_down(base: str, tmp_path: Path) -> None:
    made = train_editor(TEXTS, LABELS, tmp_path / "out", how(base, minutes=0.0005), progress=False)
    assert made.steps >= 1
    assert not list(tmp_path.glob("out.*")), "what a resumed run needs goes in the end"


@pytest.mark.parametrize(
    ("texts", "labels", "says"),
    [(TEXTS, ["one"] * 12, "at least two labels"), (["a film", "b"], ["x", "y"], "5 words or more")],
)
def test_what_cannot_be_learned_from_is_refused(
    base: str, tmp_path: Path, texts: list[str], labels: list[str], says: str
) -> None:
    with pytest.raises(BadInput, match=says):
        train_editor(texts, labels, tmp_path / "out", how(base))


def test_a_base_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelNotLoaded, match="there is no directory"):
        train_editor(TEXTS, LABELS, tmp_path / "out", how(str(tmp_path / "nowhere")))
