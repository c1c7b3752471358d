"""The study of Pham et al. by the jobs that processes share: the same tables as by one process."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import study_data
from jobs_in_turn import one_by_one

from assay.training.fit import Plan
from assay_studies import Request, find_study
from assay_studies.double_trouble import further_trained as further
from assay_studies.double_trouble.jobs import jobs
from assay_studies.study import run_of
from assay_studies.tables import Table

SIZES = {
    **{"lime_samples": 4, "lime_bert_samples": 4, "drop_samples": 2, "sanity_texts": 1, "sanity_seeds": 1},
    **{"threshold_texts": 0, "multirc_train": 0, "mlm_train": 20, "sst2": 4, "esnli": 2},
    **{"roar_train": 12, "roar_seeds": 2, "roar_lime": 3, "roar_lime_samples": 4},
}
ROUNDING = 1e-6  # answers of float32 in batches of other texts; measured: 3e-7, on scores of up to 2 log2-odds


@pytest.fixture
def request_(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Request:
    monkeypatch.setattr(further, "_PLAN", Plan(epochs=2, rate=5e-3, warm_up=0.0, decay=0.0))
    monkeypatch.setattr("assay_studies.report.can_draw", lambda: False)
    monkeypatch.setattr("assay_studies.study.work", one_by_one)
    data = study_data.write(tmp_path / "data")
    more = "".join(f"{s.replace('the', 'a')} \t{study_data.label(s)}\n" for s in study_data.SENTENCES)
    with (data / "sst2/train.tsv").open("a", encoding="utf-8") as file:
        file.write(more)
    return Request(data=data, models={**study_data.models(), "trainer": "words"}, sizes=SIZES)


def test_processes_that_share_the_work_make_the_same_tables(request_: Request, tmp_path: Path) -> None:
    def tables(workers: int) -> dict[str, Table]:
        request = replace(request_, out=tmp_path / f"{workers}", workers=workers)
        return {table.name: table for table in find_study("double_trouble")(request).tables}

    alone, shared = tables(1), tables(2)
    assert list(alone) == list(shared)
    assert {"table_1", "table_1b", "table_2", "table_a6", "section_4", "table_4"} <= set(alone)
    for name, table in alone.items():
        assert numbers(shared[name]) == pytest.approx(numbers(table), abs=ROUNDING), name


def numbers(table: Table) -> list[float]:
    """Of all cells, in their order, with the ends of the intervals."""
    found = [cell.ours for line in table.lines for cell in line.cells if cell.ours]
    return [number for one in found for number in (one.value, one.low, one.high)]


def test_table_2_comes_whole_before_table_a6(request_: Request, tmp_path: Path) -> None:
    """A study that is stopped then has one of them; every job comes after what it waits for, and once."""
    names = [job.name for job in jobs(run_of("double_trouble", replace(request_, out=tmp_path / "run")))]
    assert len(set(names)) == len(names)
    last = max(
        i for i, name in enumerate(names) if name.startswith("ROAR") and "LIME" not in name and "SST2" not in name
    )
    first = min(i for i, name in enumerate(names) if name.startswith("ROAR") and "LIME" in name)
    assert last < first
    learned = [name for name in names if name.startswith("ROAR: ROAR")]
    assert len(learned) == 2 * (2 * (3 + 3) + 3 + 1)  # seeds x (two metrics of both tables, and one of the last)


def test_nothing_is_explained_for_models_that_are_there(request_: Request, tmp_path: Path) -> None:
    """A stopped study goes on: of Table A6 one metric is missing, whose models need the explanations by LIME alone."""
    request = replace(request_, out=tmp_path / "run", sizes={**SIZES, "mlm_train": 0, "roar_lime": 1})
    run = run_of("double_trouble", request)
    for job in (job for job in jobs(run) if job.name.startswith("ROAR")):
        job.do()
    assert not [job.name for job in jobs(run) if job.name.startswith("ROAR: ROAR") or "texts 0" in job.name]
    more = run_of("double_trouble", replace(request, out=tmp_path / "more", sizes={**request.sizes, "roar_lime": 2}))
    (tmp_path / "more").mkdir()
    for folder in ("accuracies", "explained"):
        (tmp_path / "run" / folder).rename(tmp_path / "more" / folder)
    left = [job.name for job in jobs(more) if job.name.startswith("ROAR: ") and "whole" not in job.name]
    explained, learned = left[:1], [name for name in left if "seed" in name]
    assert explained == ["ROAR: LIME, texts 0"]
    assert {name.split(",")[0] for name in learned} == {"ROAR: ROAR_BERT"}
    assert not [name for name in left if "IM," in name or "LOO" in name or "Random" in name]
