"""A masked language model that goes on learning from SST-2: what is hidden, what is learned, that it may stop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_data
import torch
from trained_data import STRONG, opened

from assay.errors import BadInput
from assay.training.batches import Rows
from assay_studies import Request
from assay_studies.double_trouble import further_trained as further
from assay_studies.double_trouble.methods import FURTHER


def test_what_is_hidden_is_a_seventh_of_the_tokens_and_no_mark_around_a_text() -> None:
    _, tokenizer = study_data.models()["mlm"]
    ids = torch.randint(10, len(tokenizer), (400, 52))
    ids[:, 0], ids[:, 50], ids[:, 51] = tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id
    with torch.random.fork_rng():
        torch.manual_seed(0)
        seen, guessed = further.hidden(ids, tokenizer)
    assert not guessed[:, [0, 50, 51]].any()
    assert float(guessed[:, 1:50].float().mean()) == pytest.approx(0.15, abs=0.01)
    assert (seen == ids)[~guessed].all()
    masked = seen[guessed] == tokenizer.mask_token_id
    same = seen[guessed] == ids[guessed]
    assert float(masked.float().mean()) == pytest.approx(0.8, abs=0.03)
    assert float(same.float().mean()) == pytest.approx(0.1, abs=0.03)


def test_a_text_of_one_token_has_it_guessed() -> None:
    _, tokenizer = study_data.models()["mlm"]
    ids = torch.tensor([[tokenizer.cls_token_id, 20, tokenizer.sep_token_id]])
    for seed in range(20):
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            assert further.hidden(ids, tokenizer)[1].tolist() == [[False, True, False]]


def test_sentences_of_dev_are_not_learned(data: Path) -> None:
    found = further.learnable(data / "sst2/train.tsv", [s + "  " for s in study_data.SENTENCES])
    assert found
    assert not {s.lower() for s in found} & set(study_data.SENTENCES)
    assert set(found) == {s.replace("the", "a") for s in study_data.SENTENCES} - set(study_data.SENTENCES)
    with pytest.raises(BadInput, match="mlm_train=0"):
        further.learnable(data / "sst2/dev.tsv", study_data.SENTENCES)


def surprise(source: Any, sentences: list[str]) -> float:
    """The mean cross-entropy of every token, masked alone."""
    model, tokenizer = source
    found = []
    for sentence in sentences:
        ids = tokenizer(sentence, return_tensors="pt")["input_ids"]
        for at in range(1, ids.shape[1] - 1):
            holed = ids.clone()
            holed[0, at] = tokenizer.mask_token_id
            with torch.no_grad():
                found.append(-float(model(input_ids=holed).logits[0, at].log_softmax(-1)[ids[0, at]]))
    return float(np.mean(found))


def test_it_learns_the_sentences_and_leaves_the_start_alone(request_: Request, strong: None, tmp_path: Path) -> None:
    before = {name: tensor.clone() for name, tensor in request_.models["mlm"][0].state_dict().items()}
    request = further.further_trained(replace(request_, out=tmp_path), study_data.SENTENCES[:3] * 8)
    assert request.models[FURTHER] == str(tmp_path / "models" / FURTHER)
    learned, first = (
        surprise(source, study_data.SENTENCES[:3])
        for source in (opened(tmp_path / "models" / FURTHER), request_.models["mlm"])
    )
    assert learned < first - 1
    assert all(torch.equal(tensor, before[name]) for name, tensor in request_.models["mlm"][0].state_dict().items())


def test_a_stopped_training_ends_with_the_same_weights(
    request_: Request, strong: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = study_data.SENTENCES[:3]
    further.further_trained(replace(request_, out=tmp_path / "whole"), sentences)
    epochs, epoch = [], Rows.epoch

    def stopping(self: Rows, size: int, rng: np.random.Generator) -> list[list[int]]:
        epochs.append(1)
        if len(epochs) == 5:
            raise KeyboardInterrupt
        return epoch(self, size, rng)

    monkeypatch.setattr(Rows, "epoch", stopping)
    with pytest.raises(KeyboardInterrupt):
        further.further_trained(replace(request_, out=tmp_path / "part"), sentences)
    further.further_trained(replace(request_, out=tmp_path / "part"), sentences)
    assert len(epochs) == 5 + STRONG.epochs - 4
    models = [opened(tmp_path / name / "models" / FURTHER)[0].state_dict() for name in ("whole", "part")]
    assert all(torch.equal(models[0][name], models[1][name]) for name in models[0])
    further.further_trained(replace(request_, out=tmp_path / "part"), sentences)
    assert len(epochs) == 5 + STRONG.epochs - 4  # finished: not an epoch more
    with pytest.raises(BadInput, match="holds another training"):
        further.further_trained(replace(request_, out=tmp_path / "part"), study_data.SENTENCES)
