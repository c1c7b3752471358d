"""What the study of Pham et al. trains: a filler that knows SST-2, a reader of MultiRC, models without LIME's words."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_data
import torch
import transformers as hf
from found_tables import table

import assay
from assay.data import multirc, sst
from assay.errors import BadFile, BadInput
from assay.methods.input_features.lime import Lime
from assay.models import load
from assay.questions.erasers import eraser
from assay.questions.fill import Fill
from assay.registry.finding import find_check
from assay.text.text import Text
from assay.text.variants import Variants
from assay.training.batches import Rows
from assay.training.fit import Plan
from assay.training.words import Words
from assay_studies import Findings, Request, find_study
from assay_studies.double_trouble import further_trained as further
from assay_studies.double_trouble import lime_retraining, multirc_task, retraining
from assay_studies.double_trouble.methods import FURTHER
from assay_studies.double_trouble.sizes import Sizes
from assay_studies.double_trouble.tasks import Task, tasks
from assay_studies.findings import StudyVerdict
from assay_studies.samples import spread
from assay_studies.store import Store
from assay_studies.tables import Table

SMALL = {
    **{"lime_samples": 12, "lime_bert_samples": 8, "drop_samples": 4, "sanity_texts": 2, "sanity_seeds": 1},
    **{"threshold_texts": 2, "sst2": 5, "esnli": 2, "multirc": 4, "multirc_train": 8, "mlm_train": 40},
}
SENTENCES = ["Two dogs run.", "A man is sad.", "The street is empty.", "It is slow."]
QUESTIONS = [
    ("Who runs?", [0], [("two dogs", True), ("a man", False)]),
    ("What is empty?", [2], [("the street", True), ("a film", False)]),
    ("Who is sad?", [1, 3], [("a man", True), ("the dogs", False)]),
]
STRONG = Plan(epochs=12, rate=5e-3, warm_up=0.0, decay=0.0)


def paragraph(sentences: list[str], questions: list[Any]) -> dict[str, Any]:
    text = "".join(f"<b>Sent {i}: </b>{s}<br>" for i, s in enumerate(sentences, start=1))
    told = [
        {"question": q, "sentences_used": used, "idx": i, "answers": [{"text": t, "isAnswer": y} for t, y in answers]}
        for i, (q, used, answers) in enumerate(questions)
    ]
    return {"id": f"p{len(sentences)}", "paragraph": {"text": text, "questions": told}}


def write_multirc(place: Path) -> None:
    (place / "multirc").mkdir()
    long = paragraph([*SENTENCES, *["Nobody laughed there, or so they say."] * 4], QUESTIONS[:1])
    data = json.dumps({"data": [paragraph(SENTENCES, QUESTIONS), long]})
    for name in ("train_456", "dev_83"):
        (place / "multirc" / f"{name}-fixedIds.json").write_text(data, encoding="utf-8")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = study_data.write(tmp_path_factory.mktemp("data"))
    write_multirc(place)
    more = [s.replace("the", "a") for s in study_data.SENTENCES] + [s.upper() for s in study_data.SENTENCES]
    lines = "".join(f"{s} \t{study_data.label(s)}\n" for s in [*study_data.SENTENCES, *more] * 12)
    (place / "sst2/train.tsv").write_text(f"sentence\tlabel\n{lines}", encoding="utf-8")
    return place


@pytest.fixture(scope="module")
def request_(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Request:
    models = study_data.models()
    return Request(data=data, out=tmp_path_factory.mktemp("out"), models=models, sizes=SMALL)


@pytest.fixture(scope="module")
def strong() -> Any:
    """Training that changes what tiny models answer."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(further, "_PLAN", STRONG)
        patch.setattr("assay_studies.report.can_draw", lambda: False)
        yield


@pytest.fixture(scope="module")
def listed(request_: Request, strong: None) -> list[Task]:
    return tasks(request_, Sizes.of(False, SMALL), Store(request_.out))


@pytest.fixture(scope="module")
def findings(request_: Request, strong: None) -> Findings:
    return find_study("double_trouble")(request_)


def values(found: Table, label: str) -> list[float | None]:
    cells = next(line.cells for line in found.lines if line.label == label)
    return [None if cell.ours is None else cell.ours.value for cell in cells]


# --- the masked language model


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


def opened(place: Path) -> tuple[Any, Any]:
    return hf.BertForMaskedLM.from_pretrained(place).eval(), hf.AutoTokenizer.from_pretrained(place)


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
    assert task.accuracy == (np.mean(hits), 8)
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
    assert dict(findings.facts)["MultiRC"].endswith("% of 8 texts of dev")


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


# --- Table A6


@dataclass(frozen=True)
class Counting(Words):
    """A recipe that counts its models."""

    asked: list[int] = field(default_factory=list, compare=False)

    @property
    def settings(self) -> Any:
        return Words().settings

    def make(self, texts: Any, labels: Any, seed: int, out: Path, **dev: Any) -> None:
        self.asked.append(seed)
        super().make(texts, labels, seed, out, **dev)


def test_models_of_table_2_are_not_trained_again(request_: Request, strong: None, tmp_path: Path) -> None:
    counting = Counting()
    changes = {**SMALL, "multirc_train": 0, "roar_train": 8, "roar_seeds": 2, "roar_lime": 1, "roar_lime_samples": 6}
    request = replace(request_, models={**request_.models, "trainer": counting}, out=tmp_path)
    listed = tasks(request, Sizes.of(False, changes), Store(tmp_path))
    second = retraining.PART.make(listed).tables[0]
    trained = len(counting.asked)
    assert trained == 2 + 2 * 3 * 3 * 2  # whole texts once; for both metrics three methods at three shares
    part = lime_retraining.PART.make(listed)
    (found,) = part.tables
    limes, metrics, shares, seeds = 3, 3, 3, 2
    more = len(counting.asked) - trained
    assert more == limes * metrics * shares * seeds + shares * seeds  # and random ones, where another model fills
    assert [line.label for line in found.lines] == ["LIME", "LIME_BERT", "LIME_BERT_SST2", "Random"]
    assert found.columns[6] == "ROAR_BERT_SST2 10%"
    assert values(found, "Random")[:6] == values(second, "Random")
    assert found.lines[0].cells[8].published == "72.18 ± 1.02"
    assert len(part.claims) == 2
    again = len(counting.asked)
    assert [v.cells[1:] for v in part.verdicts[:9]] == roar_by_check(listed[0])
    lime_retraining.PART.make(listed)
    assert len(counting.asked) == again
    other = replace(request, models={**request.models, FURTHER: request_.models["mlm"]})
    lime_retraining.PART.make(tasks(other, Sizes.of(False, changes), Store(tmp_path)))
    assert len(counting.asked) == again, "filled by the model of ROAR_BERT, whose models are there"


def roar_by_check(task: Task) -> list[tuple[str, ...]]:
    """What `assay.check` says of the same request; its models are those of the study."""
    assert task.train is not None
    settings = {"recipe": task.trainer, "eraser": "delete", "seeds": 2, "variant": "released"}
    train, dev = spread(list(sst.glue(task.train)), task.sizes.roar_train), list(task.examples)
    limes = [
        Lime(samples=6),
        Lime(samples=6, eraser=eraser("resample")),
        Lime(samples=6, eraser=eraser(f"resample:{FURTHER}")),
    ]
    options: dict[str, Any] = {
        "dev": dev,
        "out": task.store.out / "retrained",
        "engine": task.engine,
        "progress": False,
    }
    found = assay.check(None, train, limes, [find_check("roar").make(settings)], **options)
    return [StudyVerdict.of("", verdict).cells[1:] for verdict in found]


def test_without_table_2_all_is_trained(request_: Request, tmp_path: Path) -> None:
    changes = {**SMALL, "multirc_train": 0, "mlm_train": 0, "roar_train": 8, "roar_seeds": 2, "roar_lime": 1}
    request = replace(request_, models={**request_.models, "trainer": "words"}, out=tmp_path)
    (found,) = lime_retraining.PART.make(tasks(request, Sizes.of(False, changes), Store(tmp_path))).tables
    assert [line.label for line in found.lines] == ["LIME", "LIME_BERT", "Random"]
    assert len(found.columns) == 6


def test_a_lime_is_called_as_a_run_calls_it() -> None:
    assert lime_retraining.named(Lime()) == "lime"
    assert lime_retraining.named(Lime(samples=7)) == "lime(samples=7)"
