"""What the study of Pham et al. trains: a filler that knows SST-2, a reader of MultiRC."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_data
import torch
from found_tables import table, values
from trained_data import QUESTIONS, SENTENCES, SMALL, opened, paragraph

import assay
from assay.data import multirc
from assay.errors import BadFile
from assay.models import load
from assay.questions.fill import Fill
from assay.text.text import Text
from assay.text.variants import Variants
from assay_studies import Findings, Request, find_study
from assay_studies.double_trouble import multirc_task
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.double_trouble.sizes import Sizes
from assay_studies.double_trouble.tasks import Task, tasks
from assay_studies.store import Store


@pytest.fixture(scope="module")
def listed(request_: Request, strong: None) -> list[Task]:
    return tasks(request_, Sizes.of(False, SMALL), Store(request_.out))


@pytest.fixture(scope="module")
def findings(request_: Request, strong: None) -> Findings:
    return find_study("double_trouble")(request_)


# --- the masked language model


def test_the_filler_is_the_further_trained_model(listed: list[Task], request_: Request) -> None:
    task = listed[0]
    text = Text.of(study_data.SENTENCES[0], split="whitespace")
    keep = np.arange(len(text))[None] != 4
    (fill,) = task.engine.ask(Fill(Variants(text, keep), model=FURTHER, k=1))  # trained when it is first asked
    model, tokenizer = opened(request_.out / "models" / FURTHER)
    ids = tokenizer(" ".join(w if i != 4 else "[MASK]" for i, w in enumerate(text.words)), return_tensors="pt")
    at = ids["input_ids"][0].tolist().index(tokenizer.mask_token_id)
    with torch.no_grad():
        chances = model(**ids).logits[0, at].softmax(-1)
    vocab = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    whole = torch.tensor([not t.startswith(("##", "[")) for t in vocab])
    assert fill.words[0][0] == vocab[int(chances.masked_fill(~whole, -1).argmax())]
    assert fill.probabilities[0, 0] == pytest.approx(float(chances.masked_fill(~whole, -1).max()), rel=1e-4)


def test_lime_bert_sst2_is_lime_with_that_filler(listed: list[Task], request_: Request) -> None:
    task = listed[0]
    eraser = f"resample:{request_.out / 'models' / FURTHER}"
    given: Any = [e.text for e in task.examples]
    ours, plain = (task.maps(name) for name in ("LIME_BERT_SST2", "LIME_BERT"))
    by_hand = assay.explain(request_.models["sst2"], given, "lime", split="whitespace", samples=8, eraser=eraser)
    assert all(np.allclose(a.scores, b.scores, atol=1e-5) for a, b in zip(ours, by_hand, strict=True))
    assert not all(np.allclose(a.scores, b.scores, atol=1e-3) for a, b in zip(ours, plain, strict=True))


def test_explanations_of_another_filler_are_made_anew(listed: list[Task], request_: Request) -> None:
    task, other = (
        listed[0],
        tasks(
            replace(request_, models={**request_.models, FURTHER: request_.models["mlm"]}),
            Sizes.of(False, SMALL),
            Store(request_.out),
        )[0],
    )
    task.maps("LIME_BERT_SST2")
    assert all(
        np.allclose(a.scores, b.scores, atol=1e-5)
        for a, b in zip(other.maps("LIME_BERT_SST2"), other.maps("LIME_BERT"), strict=True)
    )


# --- MultiRC


def test_only_the_passage_is_cut(tmp_path: Path) -> None:
    path = tmp_path / "dev.json"
    question = ("Who runs?", [0, 3], [("two dogs", True)])
    path.write_text(json.dumps({"data": [paragraph(SENTENCES, [question])]}), encoding="utf-8")
    (row,) = multirc.read(path, fits=lambda row: len(" ".join(row).split()) <= 11)
    assert row.strings == ("Two dogs run. A man is sad. Who runs?", "two dogs")
    assert [row.strings[0][m.start : m.end] for m in row.marks[0]] == ["Two dogs run."]
    (least,) = multirc.read(path, fits=lambda row: False)
    assert least.strings == ("Two dogs run. Who runs?", "two dogs")
    (whole,) = multirc.read(path)
    assert whole.strings[0] == " ".join([*SENTENCES, "Who runs?"])


def test_answers_are_as_the_models_see_them(listed: list[Task], request_: Request) -> None:
    task = listed[2]
    assert task.title == "MultiRC"
    found = multirc_task.answers(request_, None, request_.file("multirc/dev_83-fixedIds.json", ""))
    assert (len(found.dev), found.cut) == (8, 2)
    assert "8 answers, 2 have a passage" in task.notes[0]
    asked = {e.strings for e in found.explained(99)}
    assert ("Two dogs run . A man is sad . The street is empty . It is slow . Who runs ?", "two dogs") in asked
    _, tokenizer = request_.models["mlm"]
    sizes = [len(tokenizer(*row)["input_ids"]) for row in asked]
    assert max(sizes) <= 64
    (cut,) = [row for row in asked if "Nobody" in row[0] and row[1] == "a man"]
    assert cut[0].endswith("Who runs ?")
    longer = cut[0].replace(" Who runs ?", " Nobody laughed there , or so they say . Who runs ?")
    assert len(tokenizer(longer, cut[1])["input_ids"]) > 64


def test_a_pair_fits_up_to_the_last_place_of_the_window(request_: Request) -> None:
    _, tokenizer = request_.models["mlm"]
    window = multirc_task._Window(load(request_.models["mlm"]))
    pairs = [("a " * n, "is empty") for n in range(1, 70)]
    sizes = [len(tokenizer(*pair)["input_ids"]) for pair in pairs]
    assert 64 in sizes
    assert [window.fits(pair) for pair in pairs] == [size <= 64 for size in sizes]


def test_people_marked_the_words_of_the_sentences_used(listed: list[Task]) -> None:
    task = listed[2]
    used = {q.replace("?", " ?"): [SENTENCES[i].rstrip(".") for i in at] for q, at, _ in QUESTIONS}
    for e in task.maps("Random"):
        (asked,) = [q for q in used if e.strings[0].endswith(q)]
        votes = task.highlights["multirc"].votes(e, same_label=False)
        marked = [w for w, m in zip(e.words, votes[0], strict=True) if m]
        assert " ".join(marked) == " . ".join(used[asked]) + " ."


def test_the_reader_is_trained_once_and_its_accuracy_is_that_of_a_loop(
    listed: list[Task], request_: Request, strong: None
) -> None:
    task = listed[2]
    place = request_.out / "models/multirc"
    assert task.engine.model.name == "multirc"
    assert task.engine.model.fingerprint() == load(str(place)).fingerprint()
    _, tokenizer = request_.models["mlm"]
    seen = multirc.read(
        request_.file("multirc/dev_83-fixedIds.json", ""), fits=lambda row: len(tokenizer(*row)["input_ids"]) <= 64
    )
    model, hits = load(str(place)), []
    for row in seen:
        chances = model.predict([(row.strings[0], row.strings[1])])[0]
        hits.append(model.labels[int(chances.argmax())] == row.label)
    assert len(hits) == 8
    share, labels = task.accuracy
    assert (share, len(labels)) == (np.mean(hits), 8)
    commonest = max(labels.count(label) for label in set(labels)) / 8
    assert task.learned.performance.value == np.mean(hits)
    assert task.learned.commonest == commonest
    stamp = (place / "model.safetensors").stat().st_mtime_ns
    tasks(request_, Sizes.of(False, SMALL), Store(request_.out))
    assert (place / "model.safetensors").stat().st_mtime_ns == stamp


def test_a_missing_file_is_one_sentence(data: Path, request_: Request, tmp_path: Path) -> None:
    import shutil

    place = shutil.copytree(data, tmp_path / "data")
    (place / "multirc/train_456-fixedIds.json").unlink()
    request = replace(request_, data=place, out=tmp_path / "out")
    with pytest.raises(BadFile, match=r"there is no multirc/train_456-fixedIds.json in .*--size multirc_train=0\)\.$"):
        find_study("double_trouble")(request)
    shutil.rmtree(place / "multirc")
    small = Sizes.of(False, {**SMALL, "multirc_train": 0, "mlm_train": 0})
    assert [task.name for task in tasks(request, small, Store(request.out))] == ["sst2", "esnli"]
    (place / "sst2/train.tsv").unlink()
    with pytest.raises(BadFile, match=r"there is no sst2/train.tsv in .*--size mlm_train=0"):
        tasks(request, Sizes.of(False, {**SMALL, "multirc_train": 0}), Store(request.out))
    assert not request.out.exists()


# --- the whole


def test_tables_have_the_new_columns(findings: Findings) -> None:
    for gold in ("sst2", "sst2_strong"):
        assert table(findings, f"table_3_{gold}").columns == (
            "IM", "LOO_empty", "LIME", "LIME_BERT", "LIME_BERT_SST2", "Random"
        )  # fmt: skip
        assert None not in values(table(findings, f"table_3_{gold}"), "IoU")
    people = table(findings, "table_3_multirc")
    assert people.columns == ("IM", "LOO_empty", "Random")
    assert ("published", "0.0437", "0.0887", "–") in people.rows
    for name in ("table_4", "table_a1", "table_a3"):
        found = table(findings, name)
        assert found.columns == ("SST-2", "e-SNLI", "MultiRC")
        assert None not in values(found, found.lines[0].label)
        assert not found.notes
    first = [line.label for line in table(findings, "table_1").lines]
    assert "MultiRC, Deletion" in first
    assert "MultiRC, Deletion_BERT" in first
    assert not any("MultiRC" in line.label for line in table(findings, "section_4").lines)
    assert table(findings, "table_a5").columns == ("SST-2", "e-SNLI")
    assert not any("left out" in note for note in findings.notes)
    assert "% of 8 texts of dev, the commonest label " in dict(findings.facts)["MultiRC"]


def put_back(source: Any, sentences: list[str]) -> float:
    """The per cent of words that are the likeliest whole word in their own place."""
    model, tokenizer = source
    vocab = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    whole = torch.tensor([not t.startswith(("##", "[")) for t in vocab])
    hits = []
    for words in map(str.split, sentences):
        for i, word in enumerate(words):
            ids = tokenizer(" ".join([*words[:i], "[MASK]", *words[i + 1 :]]), return_tensors="pt")
            at = ids["input_ids"][0].tolist().index(tokenizer.mask_token_id)
            with torch.no_grad():
                hits.append(vocab[int(model(**ids).logits[0, at].masked_fill(~whole, -torch.inf).argmax())] == word)
    return 100 * float(np.mean(hits))


def test_what_the_filler_gained_is_told(findings: Findings, listed: list[Task], request_: Request) -> None:
    (part,) = [part for part in findings.parts if part.name == "table_3"]
    sentences = [e.strings[0] for e in listed[0].examples]
    before, after = (
        put_back(source, sentences) for source in (request_.models["mlm"], opened(request_.out / "models" / FURTHER))
    )
    assert after > before
    assert f"puts {after:.1f} [" in part.notes[0]
    assert f"before that {before:.1f} [" in part.notes[0]


def test_nothing_is_done_twice(findings: Findings, request_: Request) -> None:
    said: list[str] = []
    again = find_study("double_trouble")(replace(request_, say=said.append))
    assert [part.to_dict() for part in again.parts] == [part.to_dict() for part in findings.parts]
    assert all("taken from" in line for line in said)
