"""The study of Pham et al.: its numbers against loops of our own on tiny models, its directory, its errors."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from math import ceil, log2
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_data
from found_tables import ours, table

from assay import cli
from assay.errors import BadFile, UnknownName
from assay.explanations.case import Case
from assay.models import load
from assay.questions.answers import Fills
from assay.questions.fill import Fill
from assay.text.text import Text
from assay_studies import Findings, Request, find_study
from assay_studies.double_trouble import retraining
from assay_studies.double_trouble.predictable_words import guess
from assay_studies.double_trouble.sizes import Sizes
from assay_studies.double_trouble.tasks import tasks
from assay_studies.samples import spread, spread_or_all
from assay_studies.store import Store

SIZES = {
    **{"lime_samples": 12, "lime_bert_samples": 6, "drop_samples": 4, "sanity_texts": 2, "sanity_seeds": 1},
    **{"threshold_texts": 3, "mlm_train": 0, "multirc_train": 0},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return study_data.write(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def request_(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Request:
    return Request(data=data, out=tmp_path_factory.mktemp("out"), models=study_data.models(), sizes=SIZES)


@pytest.fixture(scope="module")
def findings(request_: Request) -> Findings:
    return find_study("double_trouble")(request_)


class Sentiment:
    """The sentiment model, asked string by string."""

    def __init__(self, request: Request) -> None:
        self.model = load(request.models["sst2"])
        self.texts = [s.split() for s in study_data.SENTENCES]
        self.truth = [study_data.label(s) for s in study_data.SENTENCES]

    def chances(self, words: list[str]) -> Any:
        return self.model.predict([" ".join(words)])[0]

    def predicted(self, words: list[str]) -> int:
        return int(self.chances(words).argmax())

    def loo(self, words: list[str]) -> list[float]:
        target = self.predicted(words)
        return [odds(self.chances(words)[target]) - odds(self.chances(w)[target]) for w in without_each(words)]


def odds(p: float) -> float:
    return log2(p / (1 - p))


def without_each(words: list[str]) -> list[list[str]]:
    return [words[:i] + words[i + 1 :] for i in range(len(words))]


@pytest.fixture(scope="module")
def sentiment(request_: Request) -> Sentiment:
    return Sentiment(request_)


def test_all_tables_are_there_and_every_measured_number_is_finite(findings: Findings) -> None:
    names = [t.name for t in findings.tables]
    assert names == [
        "table_1", "section_4", "table_3_sst2", "table_3_sst2_strong", "table_3_esnli", "table_3_esnli_l3",
        "table_a2", "table_4", "table_a1", "table_a3", "table_a4", "table_a5",
    ]  # fmt: skip
    cells = [cell.ours for t in findings.tables for line in t.lines for cell in line.cells if cell.ours]
    assert np.isfinite([(c.value, c.low, c.high) for c in cells]).all()
    assert all(c.low <= c.value + 1e-9 and c.value <= c.high + 1e-9 for c in cells)
    (roar,) = [part for part in findings.parts if part.name == "table_2"]
    assert "left out" in roar.notes[0]


def test_deletion_of_loo_is_the_released_area_on_right_predictions(findings: Findings, sentiment: Sentiment) -> None:
    areas = []
    for words, truth in zip(sentiment.texts, sentiment.truth, strict=True):
        if sentiment.predicted(words) != truth:
            continue
        order = sorted(range(len(words)), key=lambda i: -sentiment.loo(words)[i])
        m = max(2, ceil(0.2 * (len(words) - 1)))
        left = [[w for i, w in enumerate(words) if i not in order[:k]] for k in range(1, m + 1)]
        curve = [sentiment.chances(some)[truth] for some in left]
        areas.append(sum((a + b) / 2 / m for a, b in pairwise(curve)))
    assert 0 < len(areas) < len(sentiment.texts)  # else the test would not see that wrong predictions are left out
    assert ours(findings, "table_1", "SST-2, Deletion", "LOO_empty") == pytest.approx(np.mean(areas), abs=1e-5)


def test_lost_accuracy_is_that_of_a_loop_over_words(findings: Findings, sentiment: Sentiment) -> None:
    lost = []
    for words, truth in zip(sentiment.texts, sentiment.truth, strict=True):
        right = float(sentiment.predicted(words) == truth)
        lost.append(right - np.mean([sentiment.predicted(some) == truth for some in without_each(words)]))
    expected = 100 * float(np.mean(lost))
    assert expected != 0
    assert ours(findings, "table_4", "LOO (one word deleted)", "SST-2") == pytest.approx(expected, abs=1e-9)


def test_magnitudes_are_over_all_words_on_the_scale_of_log2(findings: Findings, sentiment: Sentiment) -> None:
    maps = [np.abs(sentiment.loo(words)) for words in sentiment.texts]
    everything = np.concatenate(maps).mean()
    scaled = np.concatenate([m / m.max() for m in maps]).mean()
    assert ours(findings, "table_a1", "LOO_empty, log2-odds", "SST-2") == pytest.approx(everything, rel=1e-4)
    assert ours(findings, "table_a1", "LOO_empty", "SST-2") == pytest.approx(scaled, rel=1e-4)


def test_words_that_come_back_are_those_the_masked_model_says(findings: Findings, request_: Request) -> None:
    import torch

    model, tokenizer = request_.models["mlm"]
    vocab = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    allowed = torch.tensor([not t.startswith(("##", "[")) for t in vocab])
    hits = words = 0
    for sentence in study_data.SENTENCES:
        split = sentence.split()
        for i, word in enumerate(split):
            holed = " ".join([*split[:i], "[MASK]", *split[i + 1 :]])
            ids = tokenizer(holed, return_tensors="pt")
            at = ids["input_ids"][0].tolist().index(tokenizer.mask_token_id)
            with torch.no_grad():
                logits = model(**ids).logits[0, at].masked_fill(~allowed, -torch.inf)
            hits += vocab[int(logits.argmax())] == word
            words += 1
    label = "exact match, per cent of all words"
    assert ours(findings, "table_a3", label, "SST-2") == pytest.approx(100 * hits / words)


def test_a_word_comes_back_if_it_is_the_first_candidate_whatever_its_case() -> None:
    case = Case(Text.of("A fine film"), 0)
    talk = guess(case)
    question = next(talk)
    assert isinstance(question, Fill)
    assert question.variants.keep.tolist() == (~np.eye(3, dtype=bool)).tolist()
    chances = np.array([[0.5, 0.25]])
    with pytest.raises(StopIteration) as stop:
        talk.send([Fills((words,), chances) for words in (("a", "the"), ("good", "fine"), ("film", "day"))])
    found = stop.value.value
    assert found.match.tolist() == [True, False, True]
    assert found.first.tolist() == [0.5] * 3
    assert found.mass.tolist() == [0.75] * 3


def test_sanity_is_that_of_a_loop_over_the_randomised_model(findings: Findings, sentiment: Sentiment) -> None:
    other = sentiment.model.derived("randomized:released:0")
    signs, changes = [], []
    for words in (sentiment.texts[0], sentiment.texts[5]):
        target, before = sentiment.predicted(words), np.array(sentiment.loo(words))
        whole, *rest = (odds(other.predict([" ".join(some)])[0][target]) for some in (words, *without_each(words)))
        after = whole - np.array(rest)
        signs.append(np.mean(before * after < 0))
        changes.append(np.mean(np.abs(before / np.abs(before).max() - after / np.abs(after).max())))
    line = "LOO_empty: per cent of words that change sign"
    assert ours(findings, "table_a5", line, "SST-2") == pytest.approx(100 * np.mean(signs))
    line = "LOO_empty: mean absolute change of a score"
    assert ours(findings, "table_a5", line, "SST-2") == pytest.approx(np.mean(changes), rel=1e-3)


def test_people_are_compared_at_the_best_threshold(findings: Findings, sentiment: Sentiment) -> None:
    rows = []
    for words, truth in zip(sentiment.texts, sentiment.truth, strict=True):
        if sentiment.predicted(words) == truth:
            people = {w for w in words if w in (study_data.GOOD if truth else study_data.BAD)}
            rows.append((np.array(sentiment.loo(words)), np.array([w in people for w in words])))
    best = max(np.mean([_iou(scores, people, t / 20) for scores, people in rows]) for t in range(1, 20))
    assert ours(findings, "table_3_sst2_strong", "IoU", "LOO_empty") == pytest.approx(best, abs=1e-9)


def _iou(scores: Any, people: Any, threshold: float) -> float:
    marked = scores / scores.max() >= threshold if scores.max() > 0 else np.zeros(len(scores), dtype=bool)
    union = (marked | people).sum()
    return float((marked & people).sum() / union) if union else 1.0


def test_published_numbers_stand_beside_ours(findings: Findings) -> None:
    first = table(findings, "table_1")
    printed = dict(zip(first.columns, [cell.published for cell in first.lines[0].cells], strict=True))
    assert (printed["IM"], printed["LOO_empty"], printed["Random"]) == ("0.4732", "0.4241", "")
    assert ("published", "71.41 ± 17.12", "56.07 ± 21.82") in table(findings, "table_a5").rows


def test_few_texts_decide_no_claim(findings: Findings) -> None:
    assert len(findings.claims) > 20
    assert {claim.holds for claim in findings.claims if "ten candidates" not in claim.text} == {None}


def test_files_are_written(findings: Findings, request_: Request) -> None:
    out = request_.out
    for found in findings.tables:
        assert (out / "tables" / f"{found.name}.csv").read_text(encoding="utf-8") == found.to_csv()
        assert (out / "tables" / f"{found.name}.md").exists()
    page, text = ((out / f"report.{kind}").read_text(encoding="utf-8") for kind in ("html", "md"))
    assert findings.claims[0].text in page
    assert findings.claims[0].text in text
    assert "http" not in page.replace("http-equiv", "")


@pytest.fixture
def no_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay_studies.report.can_draw", lambda: False)


@pytest.mark.usefixtures("no_matplotlib")
def test_what_is_finished_is_not_computed_again(findings: Findings, request_: Request) -> None:
    said: list[str] = []
    again = find_study("double_trouble")(replace(request_, say=said.append))
    assert [part.to_dict() for part in again.parts] == [part.to_dict() for part in findings.parts]
    assert all("taken from" in line for line in said)
    (request_.out / "parts" / "table_a1.json").write_text("{", encoding="utf-8")
    anew = find_study("double_trouble")(replace(request_, say=said.append))
    assert table(anew, "table_a1") == table(findings, "table_a1")
    assert "matplotlib is not installed" in (request_.out / "report.md").read_text(encoding="utf-8")


@pytest.mark.usefixtures("no_matplotlib")
def test_other_settings_are_computed_anew(findings: Findings, request_: Request, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(request_.out, tmp_path / "out")
    said: list[str] = []
    other = replace(request_, out=tmp_path / "out", sizes={**SIZES, "sst2": 5, "esnli": 2}, say=said.append)
    found = find_study("double_trouble")(other)
    assert not any("taken from" in line for line in said)
    words = table(found, "table_a1").lines[0].cells[0].ours
    assert words is not None
    assert words.n == 5


def test_retraining_goes_through_roar(request_: Request, tmp_path: Path) -> None:
    sizes = Sizes.of(True, {"roar_train": 6, "roar_seeds": 2, "sst2": 6, "esnli": 2})
    request = replace(request_, models={**request_.models, "trainer": "words"}, out=tmp_path)
    part = retraining.PART.make(tasks(request, sizes, Store(tmp_path)))
    (found,) = part.tables
    assert [line.label for line in found.lines] == ["LOO_empty", "IM", "Random"]
    assert found.columns[0] == "ROAR 10%"
    assert all(cell.ours and cell.published and 0 <= cell.ours.value <= 100 for cell in found.lines[0].cells)
    assert [claim.comparisons[0].about for claim in part.claims] == 2 * ["SST-2, ROAR", "SST-2, ROAR_BERT"]
    assert found.lines[0].cells[0].ours is not None
    assert found.lines[0].cells[0].ours.n == 2
    assert len(list((tmp_path / "retrained").glob("*/words.npz"))) > 2 * 3, "the models lie there"


def test_missing_data_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_DATA", raising=False)
    with pytest.raises(BadFile, match=r"--data DIR.*sst2/dev.tsv"):
        find_study("double_trouble")(Request(out=tmp_path))
    with pytest.raises(BadFile, match=r"there is no sst2/dev.tsv in .*esnli/dev_human_highlights_from_im.jsonl"):
        find_study("double_trouble")(Request(data=tmp_path, out=tmp_path))


def test_unknown_names(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="double_trouble"):
        find_study("double_troubles")
    with pytest.raises(UnknownName, match="lime_samples"):
        find_study("double_trouble")(Request(data=tmp_path, out=tmp_path, sizes={"lime_sample": 3}))


def test_the_command_says_what_is_wrong(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["study", "double_trouble", "--data", str(tmp_path), "--out", str(tmp_path / "o")]) == 2
    assert "there is no sst2/dev.tsv" in capsys.readouterr().err
    assert cli.main(["study", "double_trouble", "--size", "sst2"]) == 2
    assert "KEY=N" in capsys.readouterr().err
    assert cli.main(["study", "nothing"]) == 2
    assert "no study is called 'nothing'" in capsys.readouterr().err


def test_texts_are_taken_evenly() -> None:
    assert spread(list(range(10)), 4) == [0, 3, 6, 9]
    assert spread([1, 2], 5) == [1, 2]
    assert spread_or_all([1, 2, 3], 2) == (1, 3)
    assert spread_or_all([1, 2, 3], 0) == (1, 2, 3)
