"""Tiny files in the published formats, written here; what is read must be what was written, and bad rows have lines."""

from __future__ import annotations

import gzip
import json
import lzma
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from assay.data import eraser_jsonl, esnli, multirc, sst
from assay.errors import BadFile
from assay.text.example import Example, Mark, runs
from assay_studies.data import ag_news, imdb

TREES = """(3 (2 It) (4 (4 (2 's) (3 (2 a) (4 (4 lovely) (2 film)))) (2 .)))
(2 (2 No) (2 one))

(1 (1 (2 -LRB-) (1 (0 awful) (2 and\\/or))) (3 (4 long) (2 -RRB-)))
"""


def marked(example: Example, person: int = 0) -> list[tuple[int, str]]:
    return [(mark.string, example.strings[mark.string][mark.start : mark.end]) for mark in example.marks[person]]


def put(path: Path, content: str) -> Path:
    path.write_text(content, encoding="utf-8")
    return path


def rows(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def test_neighbours_make_one_mark() -> None:
    assert runs(1, [(0, 1), (2, 5), (6, 7), (9, 12)], [3, 0, 1, 1]) == (Mark(1, 0, 5), Mark(1, 9, 12))
    assert runs(0, [(0, 1)], []) == ()


def test_trees(tmp_path: Path) -> None:
    first, second, third = (tree for _, tree in sst.trees(put(tmp_path / "dev.txt", TREES)))
    assert first.words == ("It", "'s", "a", "lovely", "film", ".")
    assert (first.label, second.label, third.label) == (3, 2, 1)
    assert sst.Phrase(3, 5, 4) in first.phrases
    assert third.words == ("(", "awful", "and/or", "long", ")")


def test_highlights_of_trees_are_short_clear_phrases_of_the_sentences_side(tmp_path: Path) -> None:
    path = put(tmp_path / "dev.txt", TREES)
    good, bad = sst.read(path)
    assert (good.id, good.strings, good.label) == ("1", ("It 's a lovely film .",), "positive")
    assert marked(good) == [(0, "a lovely film")]  # "'s a lovely film" is longer than half of six words
    assert (bad.id, bad.label, marked(bad)) == ("4", "negative", [(0, "awful and/or")])
    good, bad = sst.read(path, clear=2)
    assert (marked(good), marked(bad)) == ([(0, "lovely film")], [(0, "awful")])
    assert marked(next(sst.read(path, longest=1.0))) == [(0, "It 's a lovely film .")]


def test_glue(tmp_path: Path) -> None:
    dev = put(tmp_path / "dev.tsv", "sentence\tlabel\nit 's \"fine \t1\nbleak \t0\n")
    assert [(e.text, e.label) for e in sst.glue(dev)] == [("it 's \"fine", "positive"), ("bleak", "negative")]
    test = put(tmp_path / "test.tsv", "index\tsentence\n0\tuneasy mishmash .\n")
    assert list(sst.glue(test)) == [Example("0", ("uneasy mishmash .",))]


def test_esnli_as_published_with_three_people(tmp_path: Path) -> None:
    names = ["pairID", "gold_label", "Sentence1", "Sentence2"]
    names += [f"Sentence{i}_{kind}_{k}" for k in (1, 2, 3) for kind in ("marked", "Highlighted") for i in (1, 2)]
    first = ["A *man* sleeps, now.", "*Nobody* sleeps.", "1", "0"]
    second = ["A man *sleeps,* *now.*", "Nobody sleeps.", "2,3", "{}"]
    cells = ["p1", "contradiction", "A man sleeps, now.", "Nobody sleeps.", *first, *second, *["NA"] * 4]
    quoted = [",".join(f'"{cell}"' for cell in line) for line in (names, cells)]
    (example,) = esnli.published(put(tmp_path / "esnli_dev.csv", "\n".join(quoted)))
    assert example.text == ("A man sleeps, now.", "Nobody sleeps.")
    assert marked(example) == [(0, "man"), (1, "Nobody")]
    assert marked(example, 1) == [(0, "sleeps, now.")]
    assert len(example.marks) == 2


def test_esnli_as_tokens(tmp_path: Path) -> None:
    row = {"snli_dev_line": 7, "label": "entailment", "premise": ["Two", "men", "run"], "hypothesis": ["Men", "move"]}
    path = put(tmp_path / "h.jsonl", rows(row | {"premise_highlight": [0, 1, 1], "hypothesis_highlight": [0, 1]}))
    (example,) = esnli.tokens(path)
    assert (example.id, example.label, example.text) == ("7", "entailment", ("Two men run", "Men move"))
    assert marked(example) == [(0, "men run"), (1, "move")]


def test_snli(tmp_path: Path) -> None:
    put(tmp_path / "s1.dev", "A man . \nA dog . \n")
    put(tmp_path / "s2.dev", "A person .\nA cat .\n")
    put(tmp_path / "labels.dev", "entailment\ncontradiction\n")
    assert list(esnli.pairs(tmp_path, "dev"))[1] == Example("2", ("A dog .", "A cat ."), "contradiction")
    row = {"gold_label": "-", "sentence1": "a", "sentence2": "b", "pairID": "x"}
    assert list(esnli.snli(put(tmp_path / "snli.jsonl", rows(row)))) == [Example("x", ("a", "b"))]


def multirc_file(**more: Any) -> str:
    answers = [{"text": "Yes ", "isAnswer": True}, {"text": "No", "isAnswer": False}]
    question = {"question": "Is it?", "sentences_used": [2, 0], "answers": answers, "idx": "0"} | more
    text = "<b>Sent 1: </b>It is.<br> <b>Sent 2: </b>Or so.<br><b>Sent 3: </b>They say.<br>"
    return json.dumps({"data": [{"id": "a.txt", "paragraph": {"text": text, "questions": [question]}}]})


def test_multirc(tmp_path: Path) -> None:
    yes, no = multirc.read(put(tmp_path / "dev.json", multirc_file()))
    assert (yes.id, yes.text, yes.label) == ("a.txt/0/0", ("It is. Or so. They say. Is it?", "Yes"), "true")
    assert (no.label, marked(no)) == ("false", [(0, "It is."), (0, "They say.")])


def eraser_row(**more: Any) -> dict[str, Any]:
    piece = {"docid": "d_premise", "start_token": 1, "end_token": 3, "text": "b c"}
    return {"annotation_id": "x", "classification": "POS", "query": None, "evidences": [[piece]]} | more


def test_eraser_with_documents_in_a_folder_and_in_a_file(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    put(tmp_path / "docs" / "d_premise", "a b\n\nc d\n")
    put(tmp_path / "docs" / "d_hypothesis", "e f")
    path = put(
        tmp_path / "val.jsonl", rows(eraser_row(docids=["d_hypothesis", "d_premise"]), eraser_row(query="why ?"))
    )
    pair, asked = eraser_jsonl.read(path)
    assert pair.documents == ("a b\n\nc d", "e f")
    assert marked(pair.example()) == [(0, "b\n\nc")]
    assert asked.example().text == ("a b\n\nc d", "why ?")
    assert asked.example(query=False).text == "a b\n\nc d"
    put(tmp_path / "docs.jsonl", rows({"docid": "d_premise", "document": "v w x y"}))
    lines = {"docid": "d_premise", "start_token": -1, "end_token": -1, "start_sentence": 0, "end_sentence": 1}
    (row,) = eraser_jsonl.read(put(tmp_path / "val.jsonl", rows(eraser_row(evidences=[[lines]]))))
    assert marked(row.example()) == [(0, "v w x y")]


def test_imdb_and_ag_news(tmp_path: Path) -> None:
    reviews = put(tmp_path / "r.jsonl", rows({"id": "t/0", "label": 0, "stars": 2, "text": "no\u2028good"}))
    assert list(imdb.read(reviews)) == [Example("t/0", ("no\u2028good",), "negative")]
    news = put(tmp_path / "n.csv", '"3","Oil ""up""","Prices, again"\n"1","War","None"\n')
    assert next((e.text, e.label) for e in ag_news.published(news)) == ('Oil "up" Prices, again', "Business")
    assert [e.text for e in ag_news.published(news, titles=False)] == ["Prices, again", "None"]
    subset = put(tmp_path / "n.jsonl", rows({"label": 3, "text": "Chips"}))
    assert list(ag_news.read(subset)) == [Example("1", ("Chips",), "Sci/Tech")]


@pytest.mark.parametrize("packed", [lambda b: b, gzip.compress, lzma.compress], ids=["plain", "gz", "xz"])
def test_packed_files_read_alike_whatever_their_name(tmp_path: Path, packed: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "trees"
    path.write_bytes(packed(TREES.encode()))
    assert [e.label for e in sst.read(path)] == ["positive", "negative"]


GOOD = {"id": "a", "label": 1, "text": "x"}
FLAGS = {
    "label": "neutral",
    "premise": ["a"],
    "hypothesis": ["b"],
    "premise_highlight": [1],
    "hypothesis_highlight": [0],
}
BAD: dict[str, tuple[Callable[[Path], Iterable[Any]], str, str]] = {
    "no JSON": (imdb.read, rows(GOOD) + "{oops\n", "line 2: this is not JSON"),
    "no object": (imdb.read, "5\n", "line 1: this must be an object"),
    "no text": (imdb.read, rows(GOOD, {"label": 1}), "line 2: 'text' must be a string, there are: label"),
    "text of another kind": (imdb.read, rows({"label": 1, "text": 3}), "line 1: 'text' must be a string, not 3"),
    "label of another kind": (imdb.read, rows(GOOD | {"label": True}), "line 1: 'label' must be a whole number"),
    "unknown label": (imdb.read, rows(GOOD | {"label": 2}), "line 1: the label must be 0 or 1"),
    "unknown topic": (ag_news.published, '"5","a","b"\n', "line 1: the label must be 1 to 4"),
    "cells missing": (ag_news.published, '"1","a","b"\n"1","a"\n', "line 2: this row has 2 cells, not 3"),
    "tree not closed": (sst.read, "(2 (2 a) (2 b)", "line 1: the tree is not closed"),
    "tree label": (sst.read, "(2 a)\n(7 a)\n", "line 2: a phrase begins with its label"),
    "tree of nothing": (sst.read, "(2 )", "line 1: a bracket closes nothing"),
    "two trees": (sst.read, "(2 a) (2 b)", "line 1: there is more than one tree"),
    "word outside": (sst.read, "a (2 b)", "line 1: a word lies outside"),
    "glue label": (sst.glue, "sentence\tlabel\na\t3\n", "line 2: the label must be 0 or 1"),
    "flags too few": (esnli.tokens, rows(FLAGS | {"premise": ["a", "b"]}), "line 1: 'premise' has 2 words but 1"),
    "flags no numbers": (esnli.tokens, rows(FLAGS | {"premise_highlight": ["1"]}), "list of whole numbers"),
    "nli label": (esnli.tokens, rows(FLAGS | {"label": "maybe"}), "line 1: the label must be entailment"),
    "sentence out of range": (multirc.read, multirc_file(sentences_used=[3]), "paragraph 1: sentences_used names"),
    "evidences": (eraser_jsonl.read, rows(eraser_row(evidences={})), "line 1: 'evidences' must be a list"),
    "no document": (eraser_jsonl.read, rows(eraser_row()), "line 1: there is no document 'd_premise'"),
}


@pytest.mark.parametrize("name", list(BAD))
def test_bad_rows_are_named_with_their_line(name: str, tmp_path: Path) -> None:
    read, content, said = BAD[name]
    with pytest.raises(BadFile) as caught:
        list(read(put(tmp_path / "file", content)))
    assert said in str(caught.value)
    assert str(tmp_path / "file") in str(caught.value)


def test_evidence_must_lie_inside_its_document_and_documents_inside_their_folder(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    put(tmp_path / "docs" / "d_premise", "a b")
    path = put(tmp_path / "val.jsonl", rows(eraser_row()))
    with pytest.raises(BadFile, match="evidence from token 1 to 3 is not inside 'd_premise', which has 2"):
        list(eraser_jsonl.read(path))
    put(tmp_path / "secret", "a b c")
    piece = {"docid": "../secret", "start_token": 0, "end_token": 1}
    put(path, rows(eraser_row(evidences=[[piece]])))
    with pytest.raises(BadFile, match="there is no document"):
        list(eraser_jsonl.read(path))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for content in (b"\xff\xfe\x00\x01", gzip.compress(b"(2 a)")[:-6], lzma.compress(b"(2 a)" * 99)[:-9]):
        (tmp_path / "file").write_bytes(content)
        with pytest.raises(BadFile, match="cannot be read"):
            list(sst.read(tmp_path / "file"))
    with pytest.raises(BadFile, match="cannot be read: No such file"):
        list(sst.read(tmp_path / "none"))


def test_parallel_files_of_different_length(tmp_path: Path) -> None:
    for name, content in {"s1": "a\nb\n", "s2": "a\n", "labels": "neutral\nneutral\n"}.items():
        put(tmp_path / f"{name}.dev", content)
    with pytest.raises(BadFile, match="must have the same lines"):
        list(esnli.pairs(tmp_path, "dev"))
