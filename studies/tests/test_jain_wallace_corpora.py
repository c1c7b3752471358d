"""20 Newsgroups, AG News, bAbI, SNLI and CNN: tiny files in the published formats, written here."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jain_wallace_files import every, objects, put, texts
from sklearn.datasets import _twenty_newsgroups as sklearn_news
from sklearn.datasets import load_files
from sklearn.model_selection import train_test_split

from assay.errors import BadFile
from assay_studies.data.jain_wallace import (
    newsgroups,
    read,
)

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
