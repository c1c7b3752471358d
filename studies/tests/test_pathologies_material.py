"""What the study of pathologies reads and plans, without a run of it: its texts, its jobs, its files and errors."""

from __future__ import annotations

import json
import lzma
import shutil
from pathlib import Path

import pytest
import tiny
from pathologies_data import asked, pairs, write
from pathologies_runs import SIZES, models, run

from assay.errors import BadFile, BadInput, UnknownName
from assay_studies import Request, find_study
from assay_studies.data import squad
from assay_studies.pathologies import STUDY
from assay_studies.pathologies.jobs import jobs, part_waits
from assay_studies.pathologies.sizes import Sizes


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("pathologies_data"))


def test_studied_pairs_share_no_premise_with_those_to_learn_from(data: Path, tmp_path: Path) -> None:
    from assay_studies.pathologies.tasks import tasks
    from assay_studies.store import Store

    request = Request(data=data, out=tmp_path, models=models())
    snli, _, reading, seen = tasks(request, Sizes.of(True, SIZES), Store(tmp_path))
    held = {row.strings[0] for row in snli.examples}
    assert len(snli.examples) == 9
    assert not held & {row.strings[0] for row in snli.others}
    assert len(reading.others) == 40, "all of train, so that mending stays the same whatever a second model learns from"
    assert not {row.strings for row in seen.examples} & {row.strings for row in seen.others}


def test_pairs_of_snli_train_are_learned_from_but_for_studied_premises(data: Path, tmp_path: Path) -> None:
    from assay_studies.pathologies.tasks import tasks
    from assay_studies.store import Store

    place = shutil.copytree(data, tmp_path / "data")
    learned = [*pairs(5, 24), next(pairs(4, 15))]  # the last has a premise of dev
    text = "".join(f"{label}\tmade\t{one}\t{two}\n" for one, two, label in learned)
    (place / "snli_train_subset/snli.tsv.xz").write_bytes(lzma.compress(text.encode()))
    only = {**SIZES, "sst": 0, "squad": 0, "scenes": 0, "snli": 100}
    (snli,) = tasks(Request(data=place, out=tmp_path), Sizes.of(True, only), Store(tmp_path))
    assert [(*e.strings, e.label) for e in snli.examples] == list(pairs(4, 15)), "all of dev: the model saw none of it"
    assert [(*e.strings, e.label) for e in snli.others] == list(pairs(5, 24))


def test_the_span_reader_is_mended_where_that_is_wanted(data: Path, tmp_path: Path) -> None:
    only = {"sst": 0, "snli": 0, "scenes": 0}
    for wanted in (0, 6):
        request = Request(data=data, out=tmp_path, quick=True, sizes={**SIZES, **only, "mend_squad": wanted})
        begun = STUDY.begun(request)
        assert begun.tasks[0].mendable == bool(wanted)
        names = [job.name for job in jobs(begun)]
        assert ("mended SQuAD, floor 0" in names) == bool(wanted)
        assert not any("floor 40" in name for name in names), "a floor is SNLI's rule alone"
        assert [part_waits("table_2", name) for name in names] == [name.startswith("mended") for name in names]
        assert sum(part_waits("transfer", name) for name in names) == 2, "the reductions and the second model"


@pytest.mark.parametrize(("size", "gone"), [("exhaustive", {"agreement"}), ("draws", {"random_removal", "transfer"})])
def test_what_takes_long_can_be_left_out(data: Path, tmp_path: Path, size: str, gone: set[str]) -> None:
    """No other part depends on whether it is made."""
    begun = [STUDY.begun(Request(data=data, out=tmp_path, quick=True, sizes={**SIZES, size: one})) for one in (0, 1)]
    without, whole = ({part.name: STUDY._settings(run, part) for part in STUDY._specs(run)} for run in begun)
    assert whole.keys() - without.keys() == gone
    assert without == {name: settings for name, settings in whole.items() if name not in gone}


def test_answers_without_tasks(data: Path, tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "snli.csv").write_text("item,annotator,answer\n", encoding="utf-8")
    with pytest.raises(BadInput, match="no tasks in"):
        run(data, tmp_path)


def test_squad_is_read_with_all_its_answers(data: Path, tmp_path: Path) -> None:
    first = next(squad.read(data / "squad_v1.1/dev.json.xz"))
    assert first.strings[0] == "where did the two dogs play ?"
    assert first.label == "river"
    assert squad.answers(first) == ["river", "the river"]
    broken = asked(1, 0)
    broken["data"][0]["paragraphs"][0]["qas"][0]["answers"][1]["answer_start"] = 3
    (tmp_path / "dev.json").write_text(json.dumps(broken), encoding="utf-8")
    with pytest.raises(BadFile, match="article 1: the answer 'the river' does not stand at 3"):
        list(squad.read(tmp_path / "dev.json"))


@pytest.mark.parametrize(
    "name",
    [
        "snli_train_subset/snli.tsv.xz",
        "esnli/s2.dev",
        "sst2/dev.tsv",
        "sst2/train.tsv",
        "sst/trees/train.txt",
        "squad_v1.1/dev.json.xz",
    ],
)
def test_a_missing_file_is_one_sentence(data: Path, tmp_path: Path, name: str) -> None:
    shutil.copytree(data, tmp_path / "data")
    (tmp_path / "data" / name).unlink()
    with pytest.raises(BadFile, match=f"there is no {name} in .* must hold esnli"):
        run(tmp_path / "data", tmp_path / "out")


def test_errors(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean 'checkpoints'"):
        run(data, tmp_path, checkpoint=1)
    with pytest.raises(BadInput, match="no task left"):
        run(data, tmp_path, snli=0, sst=0, squad=0, scenes=0)
    strange = {**models(), "sst2": tiny.bert(num_labels=2)}
    request = Request(data=data, out=tmp_path, quick=True, sizes={**SIZES, "snli": 0, "squad": 0}, models=strange)
    with pytest.raises(BadInput, match="SST-2 has the label positive, which the model"):
        find_study("pathologies")(request)
