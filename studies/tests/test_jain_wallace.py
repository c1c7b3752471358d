"""Tokens, parts and lengths of Jain and Wallace's data, their tables and IMDb: tiny files in the published formats."""

from __future__ import annotations

import lzma
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jain_wallace_files import every, lengths, made, objects, put, texts
from sklearn.model_selection import train_test_split

from assay.errors import BadFile, BadInput
from assay_studies.data.jain_wallace import (
    Bounds,
    imdb,
    read,
)
from assay_studies.data.jain_wallace.filters import filtered
from assay_studies.data.jain_wallace.splits import parted, with_dev
from assay_studies.data.jain_wallace.tokens import plain, tokenised

# tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("I don't think it's bad.", "i do n't think it 's bad ."),
        ("We'll go, they've GONE; I'd stay", "we 'll go , they 've gone ; i 'd stay"),
        ("can’t  won't\nain't", "ca n’t wo n't ai n't"),
        ("the 21st of May", "the qqq of may"),
        ("DON'T", "do n't"),
        ("$3.50 (b2b)", "$ qqq . qqq ( qqq )"),
        ("rock'n'roll -- 'so'", "rock ' n ' roll - - ' so '"),
        ("children 's is n't", "children 's is n't"),
        ("Füße 東京 x²", "füße 東京 x ²"),
        (" \t ", ""),
    ],
)
def test_texts_are_cut_into_tokens(text: str, tokens: str) -> None:
    assert tokenised(text) == tokens


def test_tokens_that_are_parted_already_are_not_cut_again() -> None:
    assert plain("Isn't  U.S. b4 @entity12 @12 <DE>") == "isn't u.s. qqq @entity12 qqq <de>"


@given(st.text(max_size=60))
def test_no_sign_of_a_text_is_lost_and_no_digit_stays(text: str) -> None:
    tokens = tokenised(text).split(" ")
    assert not re.search(r"\d", "".join(tokens))
    if not re.search(r"\d", text):
        assert "".join(tokens) == "".join(text.lower().split())


# parts and bounds


def test_parts_are_those_of_scikit_learn() -> None:
    items = [f"row {i}" for i in range(41)]
    assert list(parted(items, 0.15, 16377)) == train_test_split(items, test_size=0.15, random_state=16377)
    by = ["a"] * 30 + ["b"] * 11
    rest, taken = parted(items, 0.2, 7, by)
    assert [rest, taken] == train_test_split(items, test_size=0.2, random_state=7, stratify=by)
    assert sum(items.index(item) >= 30 for item in taken) == 2


def test_a_part_of_too_few_rows() -> None:
    assert with_dev([]) == ((), ())
    with pytest.raises(BadFile, match="cannot be taken out of 3 rows"):
        parted([1, 2, 3], 0.2, 1, ["a", "a", "b"])


def test_bounds_are_strict_and_hold_for_all_three_parts() -> None:
    split = filtered(made(0, 5, 6, 7, 499, 500), Bounds(5, 500))
    assert [lengths(part) for part in (split.train, split.dev, split.test)] == [[6, 7, 499]] * 3
    assert lengths(filtered(made(0, 5, 6), Bounds()).train) == [5, 6]


def test_the_release_drops_the_shortest_and_the_longest_where_no_bound_is_given() -> None:
    split = made(3, 3, 5, 8, 9, 9)
    assert lengths(filtered(split, Bounds(), drop_extremes=True).train) == [5, 8]
    assert lengths(filtered(split, Bounds(above=5), drop_extremes=True).train) == [8]
    assert lengths(filtered(split, Bounds(below=9), drop_extremes=True).train) == [5, 8]


def test_questions_are_never_left_out() -> None:
    split = made(1, 2, 900, task="question_answering")
    assert filtered(split, Bounds(1, 100), drop_extremes=True) is split


def test_bounds_that_leave_nothing() -> None:
    with pytest.raises(BadInput, match="no text of made is left"):
        filtered(made(1, 2), Bounds(above=9))


# the authors' tables


TABLE = """text,label,exp_split
a fine film that we saw twice,1,train
it s a 2nd rate and dull film,0,train
"well , well , well , well",1,dev
THE end of the long story here,0,test
"""


def test_sst(tmp_path: Path) -> None:
    put(tmp_path / "sst" / "jw_sst_dataset.csv", TABLE)
    split = read("sst", tmp_path)
    assert split.labels == ("negative", "positive")
    assert (split.task, split.answers, split.name) == ("classification", "labels", "sst")
    assert texts(split.train) == ["a fine film that we saw twice", "it s a qqq rate and dull film"]
    assert [e.label for e in every(split)] == ["positive", "negative", "positive", "negative"]
    assert texts(split.test) == ["the end of the long story here"]
    assert "Train 1 / 1, dev 0 / 1, test 1 / 0; the paper has train 3034 / 3321 and test 863 / 862" in split.notes[-1]


def test_the_users_bounds_are_taken(tmp_path: Path) -> None:
    put(tmp_path / "sst" / "jw_sst_dataset.csv", TABLE)
    assert len(read("sst", tmp_path, bounds=Bounds(below=8)).train) == 1
    assert len(read("sst", tmp_path, bounds=Bounds()).train) == 2
    assert len(read("sst", tmp_path, bounds=Bounds()).test) == 1
    put(tmp_path / "sst" / "jw_sst_dataset.csv", TABLE + "one more of the test rows is this,1,test\n")
    assert [e.label for e in read("sst", tmp_path, drop_extremes=True).test] == ["negative"]


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("x,2,train", "line 6: exp_split must be train, dev or test and label 0 or 1, not 'train' and '2'"),
        ("x,1,rest", "not 'rest' and '1'"),
        ("x,1", "this row has 2 cells, not 3"),
    ],
)
def test_a_bad_row_of_a_table_has_its_line(tmp_path: Path, row: str, said: str) -> None:
    put(tmp_path / "sst" / "jw_sst_dataset.csv", TABLE + row + "\n")
    with pytest.raises(BadFile, match=re.escape(said)):
        read("sst", tmp_path)


def test_a_table_without_test_rows(tmp_path: Path) -> None:
    put(tmp_path / "sst" / "jw_sst_dataset.csv", "text,label,exp_split\na b,1,train\n")
    with pytest.raises(BadFile, match="rows whose exp_split is test"):
        read("sst", tmp_path)


def test_mimic_as_the_authors_write_it(tmp_path: Path) -> None:
    rows = [f"the patient has {i} <DE> in many words,{i % 2},train" for i in range(20)]
    rows.append("the patient has 21 <DE> in many words,1,test")
    table = "text,label,exp_split\n" + "\n".join(rows)
    put(tmp_path / "mimic" / "mimic_anemia_dataset.csv", table)
    put(tmp_path / "mimic" / "mimic_diabetes_dataset.csv", table + "\n" + rows[0].replace("train", "dev"))
    anemia, diabetes = read("anemia", tmp_path), read("diabetes", tmp_path)
    assert anemia.labels == ("chronic", "acute")
    assert [e.label for e in anemia.test] == ["acute"]
    assert texts(anemia.test) == ["the patient has qqq <de> in many words"]
    assert (len(anemia.train), len(anemia.dev)) == (17, 3)
    assert any("no dev rows" in note for note in anemia.notes)
    assert (len(diabetes.train), len(diabetes.dev)) == (20, 1)
    assert [e.label for e in diabetes.dev] == ["no diabetes"]


def test_tweets_as_the_authors_have_them(tmp_path: Path) -> None:
    put(tmp_path / "adr" / "adr_dataset.csv", TABLE.replace("fine", "DRUG"))
    split = read("adr", tmp_path)
    assert texts(split.train)[0] == "a drug film that we saw twice"
    assert split.labels == ("no reaction", "reaction")
    assert split.train[0].label == "reaction"


def test_tweets_as_the_corpus_has_them(tmp_path: Path) -> None:
    rows = [f'{i}\t9\t{int(i % 4 == 0)}\tI can\'t sleep "since" day {i} of it' for i in range(40)]
    put(tmp_path / "adr" / "tweets.tsv", "\n".join([*rows, "77\t9\t1\tNot Available"]))
    split = read("adr", tmp_path)
    assert len(every(split)) == 40
    assert texts(split.train)[0] == 'i ca n\'t sleep " since " day qqq of it'
    assert {e.label for e in every(split) if int(e.id) % 4 == 0} == {"reaction"}
    assert split.sizes("test") == "6 / 2"
    put(tmp_path / "adr" / "tweets.tsv", "1\t9\tY\ttext")
    with pytest.raises(BadFile, match="line 1: the class must be 0 or 1, not 'Y'"):
        read("adr", tmp_path)


# IMDb


def review(name: str, text: str, label: int) -> dict[str, Any]:
    return {"id": name, "label": label, "stars": 3, "text": text}


def test_imdb(tmp_path: Path) -> None:
    text = "It's \"great\"...<br /><br />Isn't it? 10/10 (a must-see)!"
    rows = [review(f"r{i}", text, i % 2) for i in range(10)]
    edge = [review("399", "word " * 399, 1), review("400", "word " * 400, 1)]
    (tmp_path / "imdb").mkdir()
    (tmp_path / "imdb" / "train.jsonl.xz").write_bytes(lzma.compress(objects(*rows, *edge).encode()))
    put(tmp_path / "imdb" / "test.jsonl", objects(*rows * 4))
    split = read("imdb", tmp_path)
    assert texts(split.test)[0] == "it's great isn't it qqq qqq a must see"
    assert sorted(e.id for e in (*split.train, *split.dev)) == ["399", *(f"r{i}" for i in range(10))]
    assert (len(split.train), len(split.dev), len(split.test)) == (8, 3, 8)
    assert {(e.id, e.label) for e in split.test} <= {(f"r{i}", imdb.LABELS[i % 2]) for i in range(10)}
