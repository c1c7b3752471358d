"""What people marked is found by the text, and falls on the right words."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.data.highlights import Given, Highlights
from assay.errors import BadFile, BadInput
from assay.explanations.about import About
from assay.explanations.case import Case
from assay.explanations.token_scores import TokenScores
from assay.text.example import Example, Mark

LABELS = ("negative", "positive")


def told(text: Any, target: int = 1, labels: tuple[str, ...] = LABELS) -> TokenScores:
    read = assay.Text.of(text)
    return TokenScores(Case(read, target), np.zeros(len(read)), about=About(method="", labels=labels))


def words(found: Highlights, text: Any, **more: Any) -> list[str]:
    e = told(text)
    return [word for word, hit in zip(e.words, found.among([e], **more)[e], strict=True) if hit]


def write(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def test_a_word_is_marked_when_it_shares_a_character() -> None:
    found = Highlights.of([Example("1", ("don't panic, now",), None, ((Mark(0, 3, 8),),))])
    assert words(found, "don't panic, now") == ["don't", "panic"]


@pytest.mark.parametrize("text", ["it 's a fine film", "it's a  fine\nfilm", " it ' s a fine film "])
def test_white_space_does_not_matter(text: str) -> None:
    found = Highlights.of([Example("1", ("it 's a fine film",), None, ((Mark(0, 8, 12),),))])
    assert words(found, text) == ["fine"]


def test_pairs_keep_their_sides() -> None:
    found = Highlights.of([Example("1", ("a man", "a man"), None, ((Mark(1, 2, 5),),))])
    e = told(("a man", "a man"))
    assert found.among([e])[e].tolist() == [False, False, False, True]
    assert list(found.among([told("a man")]).missing.values()) == ["not in highlights"]


def test_a_truncated_text_is_found_by_what_was_given() -> None:
    found = Highlights.of([Example("1", ("a fine film too",), None, ((Mark(0, 2, 15),),))])
    e = told("a fine").told(given=("a fine film too",))
    assert found.among([e])[e].tolist() == [False, True]


def test_people_are_counted() -> None:
    one, two = (Mark(0, 0, 1),), (Mark(0, 0, 3),)
    found = Highlights.of([Example("1", ("a b c",), None, (one, two)), Example("2", ("a b c",), None, (one,))])
    assert [words(found, "a b c", least=k) for k in (1, 2, 3)] == [["a", "b"], ["a"], ["a"]]
    assert list(found.among([told("a b c")], 4).missing.values()) == ["fewer than 4 people marked it"]


def test_highlights_of_another_label_do_not_count() -> None:
    found = Highlights.of([Example(x, (f"a {x}",), x.title(), ((Mark(0, 2, 3),),)) for x in LABELS])
    told_both = [told("a negative"), told("a positive")]
    marked = found.among(told_both)
    assert [e in marked for e in told_both] == [False, True]
    assert list(marked.missing.values()) == ["another label is explained than people marked the words for"]
    assert all(e in found.among(told_both, same_label=False) for e in told_both)
    by_number = Highlights.of([Example("1", ("a b",), "1", ((Mark(0, 0, 1),),))])
    assert told("a b") in by_number.among([told("a b")])


def test_labels_that_the_model_does_not_have_are_named() -> None:
    found = Highlights.of([Example("1", ("a b",), "joy", ((Mark(0, 0, 1),),))])
    with pytest.raises(BadInput, match="highlights for joy, but the model's labels are negative, positive"):
        found.among([told("a b")])


def test_texts_that_are_not_there_are_counted() -> None:
    found = Highlights.of([Example("1", ("a b",), None, ((),))])
    marked = found.among([told("a b"), told("c"), told("d")])
    assert list(marked.missing.values()) == ["not in highlights", "not in highlights"]
    assert not marked[told("a b")].any()


def test_rows_of_ones_own(tmp_path: Path) -> None:
    single = {"text": "a fine film", "spans": [[2, 6]], "label": "positive"}
    pair = {"premise": "a man", "hypothesis": "one", "spans": {"hypothesis": [[0, 3]]}}
    found = Highlights.read(write(tmp_path / "h.jsonl", single, pair))
    assert (words(found, "a fine film"), words(found, ("a man", "one")), len(found)) == (["fine"], ["one"], 2)


def test_eraser_rows_with_and_without_their_query(tmp_path: Path) -> None:
    docs = [{"docid": name, "document": text} for name, text in (("d", "so fine"), ("e", "so dull"))]
    write(tmp_path / "docs.jsonl", *docs)
    row = {"classification": "positive", "evidences": [[{"docid": "d", "start_token": 1, "end_token": 2}]]}
    other = {"classification": "positive", "evidences": [[{"docid": "e", "start_token": 0, "end_token": 1}]]}
    asked = [other | {"annotation_id": q, "query": q} for q in ("why ?", "how ?")]
    found = Highlights.read(write(tmp_path / "val.jsonl", row | {"annotation_id": "1", "query": "good ?"}, *asked))
    assert words(found, ("so fine", "good ?")) == words(found, "so fine") == ["fine"]
    assert words(found, ("so dull", "how ?")) == ["so"]
    with pytest.raises(BadInput, match="not in"):  # two questions about one document: which one, nobody can say
        words(found, "so dull")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"text": "abc", "spans": [[0, 4]]}, "inside the 3 characters"),
        ({"text": "abc", "spans": [[2, 2]]}, "a span is"),
        ({"text": "abc", "spans": [[0, "1"]]}, "a span is"),
        ({"text": "abc", "spans": 5}, "must be a list"),
        ({"text": "abc", "spans": {"title": []}}, "'title', which is not one of text"),
        ({"premise": "a", "hypothesis": "b", "spans": [[0, 1]]}, "'spans' of a pair must be an object"),
        ({"text": "abc"}, "neither 'spans' nor 'evidences'"),
    ],
)
def test_bad_rows_have_a_line(row: Any, said: str, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=r"line 1: .*" + said):
        Highlights.read(write(tmp_path / "h.jsonl", row))


def test_other_files_are_refused(tmp_path: Path) -> None:
    for content in ("", "text,label\na,b\n"):
        (tmp_path / "h").write_text(content, encoding="utf-8")
        with pytest.raises(BadFile, match="not in one of the formats"):
            Highlights.read(tmp_path / "h")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "h.jsonl", {"text": "a b", "spans": [[0, 1]]})
    assert words(Highlights.read(path), "a b") == ["a"]
    write(path, {"text": "a b", "spans": [[0, 1], [2, 3]]})
    assert words(Highlights.read(path), "a b") == ["a", "b"]


def test_given_highlights_are_a_name_to_others_and_stay_themselves() -> None:
    one, two = (Highlights.of([Example("1", (text,), None, ((),))]) for text in ("a", "b"))
    given = Given.of(one)
    assert json.loads(json.dumps({"h": given})) == {"h": str(one)}
    assert Given.of(given).open("h") is one
    assert pickle.loads(pickle.dumps(given)).open("h").entries == one.entries
    assert given != Given.of(two)
    with pytest.raises(BadInput, match="by h=PATH"):
        Given.of("").open("h")


@pytest.mark.parametrize("labels", [("1", "2", "3"), ("2", "1", "0"), ("0", "1", "2"), ("1", "two", "3")])
def test_a_number_that_is_a_name_is_no_place(labels: tuple[str, ...]) -> None:
    """Of three stars the label at place 1 is called 2: what people marked for 1 star is not about it."""
    found = Highlights.of(
        Example(name, ("a b c",), name, ((Mark(0, 2 * i, 2 * i + 1),),)) for i, name in enumerate(labels)
    )
    votes = [found.votes(told("a b c", i, labels)).astype(int).tolist() for i in range(3)]
    assert votes == [[[1, 0, 0]], [[0, 1, 0]], [[0, 0, 1]]]


def test_numbers_that_count_from_elsewhere_are_refused() -> None:
    found = Highlights.of(Example(name, ("a film",), name, ((Mark(0, 0, 1),),)) for name in "012")
    with pytest.raises(BadInput, match="highlights for 0, 1, 2, but the model's labels are 1, 2, 3"):
        found.votes(told("a film", 0, ("1", "2", "3")))
    assert len(found.votes(told("a film", 0, ("bad", "fair", "good")))) == 1, "places, where no name is a number"
