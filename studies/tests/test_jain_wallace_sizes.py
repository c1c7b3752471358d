"""All corpora of Jain and Wallace: missing files, and the published sizes where ASSAY_DATA has the real files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from jain_wallace_files import every, lengths, texts

from assay.errors import BadFile, UnknownName
from assay_studies.data.jain_wallace import (
    NAMES,
    Bounds,
    adr,
    ag_news,
    babi,
    cnn,
    imdb,
    mimic,
    newsgroups,
    read,
    snli,
    sst,
)

DATA = os.environ.get("ASSAY_DATA")
real = pytest.mark.skipif(not DATA, reason="ASSAY_DATA names no directory of the published files")


# all of them


@pytest.mark.parametrize("name", NAMES)
def test_files_that_are_not_there(tmp_path: Path, name: str) -> None:
    with pytest.raises(BadFile, match="cannot be read"):
        read(name, tmp_path)


def test_a_dataset_of_no_name() -> None:
    with pytest.raises(UnknownName, match="did you mean 'newsgroups'"):
        read("newsgroup", "nowhere")


def test_sizes_in_the_notes_are_those_of_table_1() -> None:
    from assay_studies.published import published

    paper = published("attention_is_not_explanation")

    said = {
        "sst": sst,
        "imdb": imdb,
        "adr": adr,
        "newsgroups": newsgroups,
        "ag_news": ag_news,
        "cnn": cnn,
        "snli": snli,
    }
    ours = {name: module.TABLE_1 for name, module in said.items()} | {f"babi_{i}": babi.TABLE_1 for i in (1, 2, 3)}
    ours |= {"diabetes": mimic.DIABETES_TABLE_1, "anemia": mimic.ANEMIA_TABLE_1}
    assert ours == {
        name: (paper.text("datasets", name, "training texts"), paper.text("datasets", name, "test texts"))
        for name in paper.lines("datasets")
    }
    assert set(ours) == set(NAMES)


# the real files


def sizes(name: str, **options: Any) -> tuple[str, str, str]:
    split = read(name, str(DATA), **options)
    return split.sizes("train"), split.sizes("dev"), split.sizes("test")


@real
def test_real_sst_has_the_published_sizes_to_the_text() -> None:
    whole = read("sst", str(DATA), bounds=Bounds())
    assert (len(whole.train), len(whole.dev), len(whole.test)) == (6920, 872, 1821)
    train, _, test = sizes("sst", drop_extremes=True)
    assert (train, test) == sst.TABLE_1


@real
def test_real_newsgroups_are_the_release() -> None:
    whole = read("newsgroups", str(DATA), bounds=Bounds())
    assert len(every(whole)) == 1933  # 1,993 messages less those in which nothing is left
    assert sizes("newsgroups")[2] == "178 / 178"  # released: 179 / 178
    example = [text for text in texts(every(whole)) if "no way baserunning could be" in text]
    assert example[0].startswith("i meant to comment on this at the time there ' s just no way baserunning could be")
    assert example[0].endswith("about qqq qqq accurate on a team level and there ' s a lot more than baserunning that "
                               "has to account for the remaining percent .")  # fmt: skip


@real
def test_real_ag_news_and_snli_have_the_published_test_parts() -> None:
    assert sizes("ag_news")[2] == ag_news.TABLE_1[1]
    assert sizes("ag_news", drop_extremes=True)[2] == "1900 / 1898"  # as released
    assert sizes("snli")[2] == snli.TABLE_1[1]


@real
@pytest.mark.parametrize(("task", "known"), [(1, ("8500", "1500")), (2, ("8500", "1500")), (3, ("850", "150"))])
def test_real_babi_has_ten_thousand_questions_to_learn_where_they_are_there(task: int, known: tuple[str, str]) -> None:
    assert sizes(f"babi_{task}") == (*known, "1000")


@real
@pytest.mark.slow
def test_real_imdb_has_about_the_published_test_part() -> None:
    split = read("imdb", str(DATA))
    assert abs(len(split.test) - (2184 + 2172)) < 30
    assert max(lengths(every(split))) == 399
    assert not any("<" in text or "br" in text.split() for text in texts(split.test[:500]))
