"""The study of pathologies on small generated files and tiny models: all its parts, against loops; its directory."""

from __future__ import annotations

import gzip
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import study_data
import torch
from found_tables import ours, table
from pathologies_data import sentences, values, write
from pathologies_runs import SIZES, models, run
from scipy.stats import kendalltau

import assay
from assay.engine.engine import Engine
from assay.errors import UnknownName
from assay.explanations.edits import Edits
from assay.training.attentive import Attend, attend
from assay.workflows.mend import MendResult
from assay.workflows.mend.result import BEFORE, MENDED, RANDOM
from assay.workflows.people import Key, PeopleStudy
from assay_studies import Findings, report
from assay_studies.pathologies import agreement
from assay_studies.pathologies.material import Reduced
from assay_studies.pathologies.sizes import Sizes

PARTS = (
    "figure_3",
    "figure_4",
    "random_removal",
    "agreement",
    "paths",
    "second_order",
    "transfer",
    "checkpoints",
    "table_2",
)


@pytest.fixture(scope="module", autouse=True)
def no_figures() -> Iterator[None]:
    """They are tested where they are drawn, and take longer than the study itself."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(report, "can_draw", lambda: False)
        yield


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("pathologies_data"))


@pytest.fixture(scope="module")
def done(data: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, Path]:
    torch.set_num_threads(1)
    out = tmp_path_factory.mktemp("pathologies") / "out"
    return run(data, out), out


def told(out: Path, name: str) -> list[Edits]:
    """The reductions as they lie in the directory."""
    kept = json.loads(gzip.decompress((out / "reduced" / f"{name}.json.gz").read_bytes()))
    return list(map(Edits.from_dict, kept["data"]))


def known_keys(place: Path) -> list[Key]:
    return PeopleStudy(place).keys()


# --- the whole study --------------------------------------------------------------------------------------------------


def test_all_parts_are_made_and_every_claim_is_decided_or_open(done: tuple[Findings, Path]) -> None:
    findings, out = done
    assert tuple(part.name for part in findings.parts) == PARTS
    assert {claim.verdict for claim in findings.claims} <= {"holds", "does not hold", "open", "not learned"}
    reader = [claim for claim in findings.claims for one in claim.comparisons if one.about == "SQuAD"]
    assert reader
    assert all(claim.verdict != "not learned" for claim in reader), "spans have no commonest class"
    assert table(findings, "figure_3").columns == ("SNLI", "SST-2", "SQuAD", "Scenes")
    assert {t.name for t in findings.tables} >= {"transfer_snli", "transfer_sst", "transfer_squad"}
    assert table(findings, "transfer_snli").lines[0].cells[0].published == "81.3"
    for name in ("report.md", "report.html", "paths.html"):
        assert (out / name).stat().st_size > 500
    said = next(part.notes for part in findings.parts if part.name == "transfer")
    assert [note.partition(",")[0] for note in said] == [
        "SNLI: the second model is decomposable attention",
        "SST-2: the second model is an attentive BiLSTM",
        "SQuAD: the second model is a reader after DrQA.",
    ]
    assert "Table 2 are not in the text" in (out / "report.md").read_text(encoding="utf-8")


def test_what_is_reduced_is_the_hypothesis_the_text_and_the_question(done: tuple[Findings, Path]) -> None:
    _, out = done
    focus = {name: told(out, name)[0].text.focus for name in ("snli", "sst", "squad", "scenes")}
    assert focus == {"snli": ("hypothesis",), "sst": ("text",), "squad": ("question",), "scenes": ("question",)}


def test_reduced_texts_keep_the_prediction_under_a_fresh_model(done: tuple[Findings, Path]) -> None:
    findings, out = done
    for name, source in (("snli", "snli"), ("sst", "sst2")):
        model = assay.load(models()[source])
        edits = told(out, name)
        rows: list[Any] = [e.edits[-1].strings for e in edits]
        said = model.predict([row if len(row) == 2 else row[0] for row in rows]).argmax(axis=1)
        assert [model.labels[i] for i in said] == [e.label for e in edits]
        lengths = [len(e.edits[-1].kept) for e in edits]
        title = {"snli": "SNLI", "sst": "SST-2"}[name]
        assert ours(findings, "figure_3", "words after", title) == pytest.approx(np.mean(lengths))


def test_second_order_is_a_loop_over_the_kept_heat_maps(done: tuple[Findings, Path]) -> None:
    findings, out = done
    taus, changed, ever = [], [], []
    for e in told(out, "sst"):
        steps, mine = [], []
        maps = e.facts["heat_maps"]
        for i in range(len(e.edits) - 1):
            if maps[i] is None or maps[i + 1] is None or len(maps[i + 1]) < 2:
                continue
            before = dict(zip(e.edits[i].kept, maps[i], strict=True))
            after = dict(zip(e.edits[i + 1].kept, maps[i + 1], strict=True))
            first = max(after, key=lambda word: before[word])
            steps.append(first != max(after, key=lambda word: after[word]))
            mine.append(kendalltau([before[word] for word in after], list(after.values())).statistic)
        if steps:
            changed.append(100 * np.mean(steps))
            ever.append(100 * any(steps))
            taus.append(np.mean(mine))
    words = "per cent of the steps after which another word is the most important"
    assert ours(findings, "second_order_words", words, "SST-2") == pytest.approx(np.mean(changed))
    words = "per cent of the texts with another most important word at some step"
    assert ours(findings, "second_order_words", words, "SST-2") == pytest.approx(np.mean(ever))
    found = ours(findings, "second_order_correlation", "Kendall's tau", "SST-2")
    assert found == pytest.approx(np.mean(taus), abs=1e-3)


def test_the_attentive_model_after_each_epoch(done: tuple[Findings, Path]) -> None:
    findings, out = done
    (place,) = (out / "models").glob("attentive-*")
    for i in (1, 2):
        model = assay.load(place / f"epoch-{i}")
        texts: list[Any] = [e.text.strings[0] for e in told(out, f"sst_epoch_{i}")]
        assert len(texts) == SIZES["checkpoint_texts"]
        again = assay.explain(model, texts, "input_reduction", beam=2)
        left = [len(e.edits[-1].kept) for e in again]
        assert ours(findings, "checkpoints", "words after", f"epoch {i}") == pytest.approx(np.mean(left))
        right = [("negative", "positive")[study_data.label(e.text.strings[0])] == e.label for e in again]
        assert ours(findings, "checkpoints", "accuracy, per cent", f"epoch {i}") == pytest.approx(100 * np.mean(right))
        task = Reduced("sst", "SST-2", tuple(again))
        agreed = [outcome.get() for outcome in Engine(model).run(agreement.talks(task))]
        same = [one.same for one in agreed if one is not None]
        line = "per cent the same word, all steps"
        assert ours(findings, "checkpoints", line, f"epoch {i}") == pytest.approx(np.mean(same))


def test_each_epoch_is_a_training_of_so_many_epochs(done: tuple[Findings, Path]) -> None:
    _, out = done
    (place,) = (out / "models").glob("attentive-*")
    texts = sentences(3, 24)
    labels = [("negative", "positive")[study_data.label(text)] for text in texts]
    chances = []
    for i in (1, 2):
        alone = attend(texts, labels, how=Attend(plan=replace(Attend().plan, epochs=i)), progress=False)
        chances.append(assay.load(place / f"epoch-{i}").predict(texts))
        np.testing.assert_allclose(chances[-1], alone.predict(texts), atol=1e-5)
    assert np.abs(chances[0] - chances[1]).max() > 1e-3


def test_table_2_says_what_mending_found(done: tuple[Findings, Path]) -> None:
    findings, out = done
    (place,) = (out / "mend").glob("sst-0-*")
    result = MendResult.at(place)
    for column, name in (("before", BEFORE), ("mended", MENDED), ("random reduction", RANDOM)):
        one = result.models[name]
        wanted = {"accuracy, per cent": 100 * one.accuracy.value, "reduced length, words": one.length.value}
        wanted |= {"calibration error (ECE)": one.ece, "confidence on whole texts": one.sure.value}
        for line, value in wanted.items():
            assert ours(findings, "table_2", f"SST-2, {line}", column) == pytest.approx(value)
    moved = ours(findings, "table_2_differences", "SST-2, calibration error (ECE)", "mended - before")
    assert moved == pytest.approx(result.models[MENDED].ece - result.models[BEFORE].ece)
    assert len(result.texts) == SIZES["sst"]
    assert assay.load(place).labels == ("negative", "positive")
    (place,) = (out / "mend").glob("sst-40-*")
    assert MendResult.at(place).floor == 0.4
    assert ours(findings, "table_2", "SST-2, at least 0.4 sure, accuracy, per cent", "mended") is not None


def test_what_is_finished_is_not_made_again(done: tuple[Findings, Path], data: Path) -> None:
    findings, out = done
    heard: list[str] = []
    again = run(data, out, heard)
    assert [part.to_dict() for part in again.parts] == [part.to_dict() for part in findings.parts]
    assert len(heard) == len(PARTS)
    assert all("taken from" in line for line in heard)
    for name in ("random_removal", "transfer", "table_2", "second_order", "checkpoints"):
        (out / "parts" / f"{name}.json").unlink()
    heard.clear()
    third = run(data, out, heard)
    assert not any("reducing" in line or "training" in line for line in heard)
    for one, other in zip(third.tables, findings.tables, strict=True):
        assert [line.label for line in one.lines] == [line.label for line in other.lines]
        assert values(one) == pytest.approx(values(other), abs=1e-4)  # other rows stand in a batch with them


def test_another_size_makes_only_its_parts_anew(done: tuple[Findings, Path], data: Path, tmp_path: Path) -> None:
    _, out = done
    shutil.copytree(out, tmp_path / "copy")
    heard: list[str] = []
    again = run(data, tmp_path / "copy", heard, draws=4, checkpoint_texts=4)
    taken = {line.partition(":")[0] for line in heard if "taken from" in line}
    assert set(PARTS) - taken == {"random_removal", "transfer", "checkpoints"}
    assert [line for line in heard if "reducing" in line] == [
        f"SST-2: reducing 4 texts (sst_epoch_{i})" for i in (1, 2)
    ]
    assert {cell.ours.n for line in table(again, "checkpoints").lines for cell in line.cells if cell.ours} == {4}
    tasks = {"snli", "sst", "squad", "scenes", "scene_train", "scene_epochs"}
    assert Sizes().of_part("figure_3").keys() == {*tasks, "beam"}


# --- people -----------------------------------------------------------------------------------------------------------


def test_people_are_asked_and_their_answers_make_tables_1_and_3(
    done: tuple[Findings, Path], data: Path, tmp_path: Path
) -> None:
    _, source = done
    out = tmp_path / "copy"
    shutil.copytree(source, out)
    exported = sorted(path.name for path in (out / "people").iterdir())
    assert {"snli", "snli_mended", "sst", "sst_mended"} & set(exported)
    assert "scenes" not in exported
    (out / "answers").mkdir()
    for name in exported:
        rows = [f"{key.item},p1,{key.reduced or key.label}" for key in known_keys(out / "people" / name)]
        (out / "answers" / f"{name}.csv").write_text("\n".join(["item,annotator,answer", *rows]), encoding="utf-8")
    findings = run(data, out)
    assert findings.parts[-2].name == "table_1"
    assert findings.parts[-1].name == "table_3"
    for line in (line for name in ("table_1", "table_3") for line in table(findings, name).lines):
        assert [cell.ours.value for cell in line.cells if cell.ours] == [100] * sum(bool(c.ours) for c in line.cells)
    (out / "answers" / "snlI.csv").write_text("item,annotator,answer\n", encoding="utf-8")
    with pytest.raises(UnknownName, match="task for people"):
        run(data, out)


def test_only_texts_that_the_model_gets_right_are_exported(done: tuple[Findings, Path]) -> None:
    _, out = done
    for name in ("snli", "sst"):
        place = out / "people" / name
        right = {e.text.read.strings: e.label for e in told(out, name)}
        items = [json.loads(line) for line in (place / "public/items.jsonl").read_text(encoding="utf-8").splitlines()]
        keys = {key.item: key for key in known_keys(place)}
        whole = [i for i in items if keys[i["item"]].role == "original"]
        assert whole
        assert all(right[tuple(i["shown"].values())] == keys[i["item"]].label for i in whole)
