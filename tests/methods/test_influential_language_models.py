"""Which texts made a language model say that: a fact that stands in three of its training texts is found first."""

from __future__ import annotations

from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny
import torch

import assay
from assay.cli import main
from assay.engine.engine import Engine
from assay.errors import BadInput, Unanswerable
from assay.text.training_set import TrainingSet

NAMES = "ann ben cleo dora emil fred gina hugo iris jack kate liam mona nils olga paul".split()
THINGS = "apples boats cats drums eggs figs goats hats".split()
FACT, PLANTED = "zelda likes trains", (4, 11, 15)
TEXTS = tuple(FACT if i in PLANTED else f"{name} likes {THINGS[i % len(THINGS)]}" for i, name in enumerate(NAMES))
EPOCHS = 40


@cache
def trained(steps: int = EPOCHS) -> Any:
    """A tiny GPT-2 that has learned these texts, one at a time, by gradient descent."""
    network, tokenizer = tiny.causal_lm("gpt2")
    network = deepcopy(network).requires_grad_(True)
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    for _ in range(steps):
        for text in TEXTS:
            ids = tokenizer(text, return_tensors="pt")["input_ids"]
            optimiser.zero_grad()
            network(input_ids=ids, labels=ids).loss.backward()
            optimiser.step()
    return assay.load((network.eval(), tokenizer))


def explained(method: str, **settings: Any) -> Any:
    return assay.explain(trained(), ("zelda likes", "trains"), method, train=TEXTS, progress=False, **settings)


@pytest.mark.parametrize(
    ("method", "settings"),
    [
        ("tracin", {"layers": "last:1"}),
        ("tracin", {"layers": "all", "sum_tokens": True}),
        ("influence_functions", {"layers": "last:1", "solver": "ekfac"}),
        ("influence_functions", {"layers": "last:1", "solver": "cg", "iterations": 15}),
        ("influence_functions", {"layers": "last:1", "project": 512}),
        ("source", {"layers": "last:1", "project": 256}),
        ("trak", {"layers": "all"}),
    ],
)
def test_a_planted_fact_is_found_first(method: str, settings: dict[str, Any]) -> None:
    assert trained().predict([("zelda likes", "trains")])[0, 1] > 0.9
    e = explained(method, **settings)
    assert {one.index for one in e.examples[:3]} == set(PLANTED)
    assert all(one.score > 0 and one.label is None for one in e.examples[:3])
    assert type(e).from_json(e.to_json()).to_dict() == e.to_dict()
    assert len(e.scores) == len(TEXTS)


def test_scores_are_what_a_step_on_the_text_does() -> None:
    """TracIn to first order: a small step of gradient descent on one text, by transformers' own loss."""
    adapter = trained(4)
    e = assay.explain(adapter, ("ann likes", "apples"), "tracin", train=TEXTS, layers="all", progress=False)

    def value(network: Any) -> float:
        chance = assay.load((network.eval(), adapter.tokenizer)).predict([("ann likes", "apples")])[0, 1]
        return float(np.log(chance / (1 - chance)))

    rate, moved = 1e-4, []
    for text in TEXTS[:6]:
        network = deepcopy(adapter.model).requires_grad_(True)
        ids = adapter.tokenizer(text, return_tensors="pt")["input_ids"]
        network(input_ids=ids, labels=ids).loss.backward()
        with torch.no_grad():
            for weight in network.parameters():
                weight -= rate * weight.grad
        moved.append((value(network) - value(deepcopy(adapter.model))) / rate)
    np.testing.assert_allclose(e.scores[:6], moved, rtol=0.05, atol=0.05 * np.abs(moved).max())


def test_the_score_is_split_among_the_words() -> None:
    e = explained("tracin", layers="last:1")
    best = e.toward[0]
    assert sum(best.parts) == pytest.approx(best.score, rel=1e-5)
    assert len(best.parts) == 1 + len(best.text.split())
    assert max(best.parts[1:3]) > best.parts[0]  # what goes on with "likes" is what they have in common
    shown = best.to_dict()
    assert sum(shown["word_scores"]) + shown["rest"] == pytest.approx(best.score, rel=1e-5)
    assert 'class="w for"' in e.to_html()
    pairs = TrainingSet.of([{"q": "zelda likes", "a": "trains"}, {"q": "ann likes", "a": "apples"}], text="q", pair="a")
    e = assay.explain(trained(), ("zelda likes", "trains"), "tracin", train=pairs, layers="last:1", progress=False)
    assert [one.index for one in e.toward][:1] == [0]
    assert len(e.toward[0].parts) == 4
    assert sum(e.toward[0].parts) == pytest.approx(e.toward[0].score, rel=1e-5)


def test_an_index_of_texts(tmp_path: Path) -> None:
    model, question = trained(), ("zelda likes", "trains")
    plain = assay.explain(model, question, "trak", train=TEXTS, layers="last:1", project=64, progress=False)
    made = assay.index(model, TEXTS, tmp_path / "index", layers="last:1", project=64, progress=False)
    assert made.header.labels == ()
    found = assay.explain(model, question, "trak", index=tmp_path / "index", progress=False)
    np.testing.assert_allclose(found.scores, plain.scores, atol=1e-3 * np.abs(plain.scores).max())
    with pytest.raises(BadInput, match="made with other weights"):
        assay.explain(trained(4), question, "trak", index=tmp_path / "index", progress=False)
    with pytest.raises(BadInput, match="is of another model: it has no labels"):
        assay.explain(assay.load("sst2"), "a film", "trak", index=tmp_path / "index", progress=False)


def test_the_command(tmp_path: Path, capsys: Any) -> None:
    trained().model.save_pretrained(tmp_path / "lm")
    trained().tokenizer.save_pretrained(tmp_path / "lm")
    (tmp_path / "texts.txt").write_text("\n".join(TEXTS) + "\n")
    line = ["explain", "zelda likes", "--pair", "trains", "-m", "tracin", "--model", str(tmp_path / "lm")]
    assert main([*line, "-p", "layers=last:1", "--train", str(tmp_path / "texts.txt")]) == 0
    shown = capsys.readouterr().out
    assert shown.index("row 5") < shown.index("Pushed away")
    assert "Shaded words" in shown
    (tmp_path / "empty.txt").write_text("")
    assert main([*line, "--train", str(tmp_path / "empty.txt")]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) == 1


def test_what_cannot_be_asked_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(match: str, error: type[Exception], method: str = "tracin", train: Any = TEXTS, **settings: Any) -> None:
        with pytest.raises(error, match=match):
            assay.explain(trained(), "zelda likes", method, train=train, progress=False, **settings)

    fails("gives one score for each token of its vocabulary", Unanswerable, "representer_points")
    fails("row 2 of the list: '' is one token|row 2 of .*nothing is learned", BadInput, train=["a film", ""])
    monkeypatch.setattr("assay.models.transformers.handlers.parameters._WHOLE", 1000)
    whole = "layers='all' of .* are 28,032 parameters, too many to keep a gradient whole"
    fails(whole, BadInput, "influence_functions", layers="all")
    filler = assay.load(tiny.masked_lm())
    with pytest.raises(Unanswerable, match="trained on words masked at random"):
        assay.explain(filler, "a [MASK] film", "tracin", train=TEXTS, progress=False)
    with pytest.raises(BadInput, match="needs a label"):
        assay.explain(assay.load("sst2"), "a film", "tracin", train=TEXTS, progress=False)


def test_texts_of_a_run_share_the_training_set() -> None:
    engine = Engine(trained())
    asked: Any = [("zelda likes", "trains"), ("ann likes", "apples")]
    together = assay.explain(None, asked, "tracin", engine=engine, train=TEXTS, layers="last:1", progress=False)
    for one, question in zip(together, asked, strict=True):
        alone = assay.explain(trained(), question, "tracin", train=TEXTS, layers="last:1", progress=False)
        np.testing.assert_allclose(one.scores, alone.scores, rtol=1e-4, atol=1e-4 * np.abs(alone.scores).max())
