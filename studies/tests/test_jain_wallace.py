"""Tiny files in the published formats, written here; and the published sizes, where ASSAY_DATA has the real files."""

from __future__ import annotations

import json
import lzma
import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import _twenty_newsgroups as sklearn_news
from sklearn.datasets import load_files
from sklearn.model_selection import train_test_split

from assay.errors import BadFile, BadInput, UnknownName
from assay.text.example import Example
from assay_studies.data.jain_wallace import (
    NAMES,
    Bounds,
    Split,
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
from assay_studies.data.jain_wallace.filters import filtered
from assay_studies.data.jain_wallace.splits import parted, with_dev
from assay_studies.data.jain_wallace.tokens import plain, tokenised

DATA = os.environ.get("ASSAY_DATA")
real = pytest.mark.skipif(not DATA, reason="ASSAY_DATA names no directory of the published files")


def put(path: Path, content: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")
    return path


def objects(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def texts(part: Sequence[Example]) -> list[str]:
    return [example.strings[0] for example in part]


def every(split: Split) -> list[Example]:
    return [*split.train, *split.dev, *split.test]


def made(*lengths: int, task: Any = "classification") -> Split:
    part = tuple(Example(str(n), (" ".join(["w"] * n),), "a") for n in lengths)
    return Split("made", part, part, part, ("a", "b"), task)


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


def lengths(part: Sequence[Example]) -> list[int]:
    return [len(example.strings[0].split()) for example in part]


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


# 20 Newsgroups


MESSAGE = """From: a@b.c
Subject: the game

In article <1@b> d@e writes:
> who won, and why?
| nobody

They won 3-1, didn't they?  It's a fine
team; "so be it".

--
A. Writer, 42 Street
"""

line = st.sampled_from(
    ["", " ", "--", "- -", "> so", "| so", "He writes:", "a wrote: b", "In article 1", "one", "two x"]
)
messages = st.lists(line, max_size=9).map("\n".join)


@given(messages)
def test_headers_footers_and_quotes_go_as_in_scikit_learn(text: str) -> None:
    assert newsgroups.without_header(text) == sklearn_news.strip_newsgroup_header(text)
    assert newsgroups.without_footer(text) == sklearn_news.strip_newsgroup_footer(text)
    assert newsgroups.without_quotes(text) == sklearn_news.strip_newsgroup_quoting(text)


def test_a_message_as_tokens() -> None:
    tokens = "they won qqq qqq did n ' t they it ' s a fine team so be it ."
    assert newsgroups.cleaned(MESSAGE) == tokens


GROUPS = ("alt.atheism", *newsgroups._GROUPS, "sci.med")


def folders(directory: Path, part: str, count: int) -> list[dict[str, str]]:
    """Messages in the published folders, and as objects in another order."""
    rows = []
    for group in GROUPS:
        for i in range(count):
            name = str(99 * i + 7)
            text = f"Subject: x\n\nthis is number {name} of the {part} part of {group} here"
            put(directory / part / group / name, text)
            rows.append({"id": name, "group": group, "text": text})
    return rows[::-1]


def test_the_order_is_that_of_scikit_learn(tmp_path: Path) -> None:
    for part, count in (("train", 12), ("test", 9)):
        put(tmp_path / "newsgroups20" / f"{part}.jsonl", objects(*folders(tmp_path / "news", part, count)))
    loaded = [load_files(tmp_path / "news" / part, encoding="latin1") for part in ("train", "test")]
    names = [name for load in loaded for name in load.filenames]
    order = np.arange(len(names))
    np.random.RandomState(42).shuffle(order)
    shuffled = [Path(names[i]) for i in order]
    ids = [path.name for group in newsgroups._GROUPS for path in shuffled if path.parent.name == group]
    target = [0] * (len(ids) // 2) + [1] * (len(ids) // 2)
    train, test = train_test_split(range(len(ids)), stratify=target, test_size=0.2, random_state=13478)
    train, dev = train_test_split(train, stratify=[target[i] for i in train], test_size=0.2, random_state=13478)
    split = read("newsgroups", tmp_path)
    for part, expected in ((split.train, train), (split.dev, dev), (split.test, test)):
        assert [e.id for e in part] == [ids[i] for i in expected]
        assert [newsgroups.LABELS.index(str(e.label)) for e in part] == [target[i] for i in expected]
    assert "There are not 18846 messages" in split.notes[0]


# AG News


def test_ag_news_as_published(tmp_path: Path) -> None:
    rows = [f'"{i % 4 + 1}","A title","Words of the article {i}, it\'s here"' for i in range(40)]
    put(tmp_path / "ag_news" / "train.csv", "\n".join(rows))
    put(tmp_path / "ag_news" / "test.csv", "\n".join(rows[:8]))
    split = read("ag_news", tmp_path)
    assert split.labels == ("World", "Business")
    assert {e.label for e in every(split)} == {"World", "Business"}
    assert texts(split.test)[0] == "words of the article qqq , it 's here"
    assert (len(split.train), len(split.dev), len(split.test)) == (17, 3, 4)
    assert len(split.notes) == 1


def test_the_subset_of_ag_news_holds_no_test_text(tmp_path: Path) -> None:
    put(tmp_path / "ag_news" / "test.csv", '"3","Title","The bank said -- no."\n"1","Other","War is over"\n')
    rows = ["Fears rise The bank said no.", "War War is over now", "Sport only", "One more"]
    labels = (2, 0, 1, 0)
    subset = objects(*({"label": label, "text": text} for label, text in zip(labels, rows, strict=True)))
    put(tmp_path / "ag_news" / "train_subset.jsonl", subset)
    split = read("ag_news", tmp_path)
    assert sorted(texts((*split.train, *split.dev))) == ["one more", "war war is over now"]
    assert "subset of 3 rows" in split.notes[0]
    assert "1 training texts are left out" in split.notes[0]


# bAbI


STORIES = """1 Mary moved to the bathroom.
2 John went to the hallway.
3 Where is Mary? \tbathroom\t1
4 Daniel went back to the hallway.
5 Where is John?\thallway\t2
1 Sandra travelled to the office.
2 Where is Sandra? \toffice\t1
"""


def put_babi(directory: Path, folder: str, train: str = STORIES, test: str = STORIES) -> None:
    for part, content in (("train", train), ("test", test)):
        put(directory / "babi" / folder / f"qa1_single-supporting-fact_{part}.txt", content)


def test_babi(tmp_path: Path) -> None:
    put_babi(tmp_path, "en", train=STORIES * 10)
    split = read("babi_1", tmp_path)
    first = "mary moved to the bathroom . john went to the hallway"
    assert [(e.id, e.strings, e.label) for e in split.test] == [
        ("3", (first, "where is mary"), "bathroom"),
        ("5", (f"{first} . daniel went back to the hallway", "where is john"), "hallway"),
        ("7", ("sandra travelled to the office", "where is sandra"), "office"),
    ]
    words = {word for e in split.train for string in e.strings for word in string.split()}
    assert split.labels == tuple(sorted(words))
    assert (split.task, split.answers) == ("question_answering", "vocabulary")


def test_babi_takes_ten_thousand_questions_where_they_are(tmp_path: Path) -> None:
    put_babi(tmp_path, "en")
    put_babi(tmp_path, "en-10k", train=STORIES * 10)
    split = read("babi_1", tmp_path)
    assert (len(split.train), len(split.dev)) == (25, 5)
    assert "30 training questions" in split.notes[0]


def test_questions_with_an_answer_that_training_never_saw_are_left_out_and_counted(tmp_path: Path) -> None:
    put_babi(tmp_path, "en", train=STORIES * 10, test=STORIES.replace("\toffice\t", "\tgarden\t"))
    split = read("babi_1", tmp_path)
    assert [e.id for e in split.test] == ["3", "5"]
    assert "1 rows are left out" in split.notes[1]


@pytest.mark.parametrize(
    ("stories", "said"),
    [
        ("1 Where is Mary?\tbathroom\t1\n", "line 1: a question must follow a sentence"),
        ("1 Mary left.\n2 Where is Mary?\t\t1\n", "line 2: a question must follow a sentence"),
        ("Mary left.\n", "line 1: a line is a number"),
    ],
)
def test_a_bad_story_has_its_line(tmp_path: Path, stories: str, said: str) -> None:
    put_babi(tmp_path, "en", train=stories)
    with pytest.raises(BadFile, match=said):
        read("babi_1", tmp_path)


# SNLI


def test_snli_from_its_dev_and_test_pairs(tmp_path: Path) -> None:
    premises = [f"Man {name} sleeps ." for name in "abcdefghij"]
    cycle = ("neutral", "contradiction", "entailment")
    for split_, own in (("dev", premises), ("test", ["Others sleep .", premises[0]])):
        put(tmp_path / "esnli" / f"s1.{split_}", "".join(f"{p} \n" * 3 for p in own))
        put(tmp_path / "esnli" / f"s2.{split_}", "Nobody 's awake . \nNo\nYes\n" * len(own))
        put(tmp_path / "esnli" / f"labels.{split_}", "\n".join(cycle * len(own)))
    split = read("snli", tmp_path)
    train, dev, test = (set(texts(part)) for part in (split.train, split.dev, split.test))
    assert not train & dev
    assert not (train | dev) & test
    assert (len(train), len(dev)) == (7, 2)
    assert len(split.train) == 21
    assert split.labels == ("neutral", "contradiction", "entailment")
    assert split.sizes("test") == "2 / 2 / 2"
    assert split.test[0].strings == ("others sleep .", "nobody 's awake .")
    assert split.task == "nli"


def test_snli_as_published(tmp_path: Path) -> None:
    rows = [
        {"pairID": str(i), "sentence1": "It's 1.", "sentence2": "No.", "gold_label": label}
        for i, label in enumerate(("neutral", "-", "entailment"))
    ]
    for part in ("train", "dev", "test"):
        put(tmp_path / "snli_1.0" / f"snli_1.0_{part}.jsonl", objects(*rows))
    split = read("snli", tmp_path)
    assert [e.label for e in split.train] == ["neutral", "entailment"]
    assert split.dev[0].strings == ("it 's qqq .", "no .")
    assert len(split.notes) == 1


# CNN


def news(*rows: tuple[str, str, str]) -> str:
    return "\n".join("\n".join(row) + "\n" for row in rows)


def test_cnn(tmp_path: Path) -> None:
    one = ("who said @placeholder", "@entity10", "@entity2 met @entity10 in 2014 , he said")
    two = ("@placeholder won", "@entity2", "@entity2 won 3 times")
    put(tmp_path / "cnn" / "train.txt", news(one, two))
    put(tmp_path / "cnn" / "dev.txt", news(two, ("@placeholder won", "@entity10", "@entity2 won")))
    put(tmp_path / "cnn" / "test.txt", news(one, ("@placeholder lost", "@entity7", "@entity7 lost to @entity2")))
    split = read("cnn", tmp_path)
    assert split.labels == ("@entity2", "@entity10")
    assert split.train[0].strings == ("@entity2 met @entity10 in qqq , he said", "who said @placeholder")
    assert [e.label for e in split.train] == ["@entity10", "@entity2"]
    assert (split.task, split.answers) == ("question_answering", "candidates")
    assert (len(split.dev), len(split.test)) == (1, 1)
    assert "2 rows are left out" in split.notes[0]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("a question\n@entity1\n\n", "line 1: a row is three lines"),
        (news(("q", "an answer", "@entity1 is")), "a row is three lines"),
        (news(("q", "@entity1", "@entity1 is"), ("q", "@entity1", "")), "line 5: a row is three lines"),
    ],
)
def test_a_bad_row_of_cnn_has_its_line(tmp_path: Path, rows: str, said: str) -> None:
    put(tmp_path / "cnn" / "train.txt", rows)
    with pytest.raises(BadFile, match=said):
        read("cnn", tmp_path)


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
