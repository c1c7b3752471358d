"""Files of words, pairs and scores, and static vectors: what they give, and what is wrong with them in one sentence."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.data.word_lists import pairs_of, scores_of, words_of
from assay.data.word_vectors import word_vectors
from assay.errors import BadFile


@pytest.fixture
def write(tmp_path: Path):  # type: ignore[no-untyped-def]
    def written(name: str, content: str) -> Path:
        path = tmp_path / name
        path.write_text(content, encoding="utf-8")
        return path

    return written


def test_words_pairs_and_scores(write) -> None:  # type: ignore[no-untyped-def]
    assert words_of(write("w.txt", "nurse\n\n doctor \nnurse\n")) == ["nurse", "doctor"]
    assert words_of(write("w.json", '[["vice_chancellor", 0.0, 0.4], ["nurse", -0.1, -0.9]]')) == [
        "vice chancellor",
        "nurse",
    ]
    assert pairs_of(write("p.json", '[["she", "he"]]')) == [("she", "he")]
    assert pairs_of(write("p.txt", "she he\nher,his\n")) == [("she", "he"), ("her", "his")]
    assert scores_of(write("s.json", '[["nurse", 0.0, -0.9]]')) == {"nurse": -0.9}
    assert scores_of(write("s.csv", "word,score\nnurse,-0.9\n")) == {"nurse": -0.9}
    assert scores_of(write("s.tsv", "word\tscore\nnurse\t1\n")) == {"nurse": 1.0}


@pytest.mark.parametrize(
    ("read", "name", "content", "said"),
    [
        (words_of, "w.json", "[", "is not JSON"),
        (words_of, "w.json", "{}", "must hold a list"),
        (words_of, "w.json", "[5]", "a word is a string"),
        (pairs_of, "p.txt", "she he they\n", "a pair is two words"),
        (pairs_of, "p.json", '[["she"]]', "a pair is two words"),
        (scores_of, "s.json", '[["nurse"]]', "a word and its score"),
        (scores_of, "s.json", '[["nurse", "much"]]', "a score is a number"),
        (scores_of, "s.csv", "word,score\nnurse,nan\n", "a finite number"),
    ],
)
def test_what_is_wrong(write, read, name: str, content: str, said: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(BadFile, match=said):
        read(write(name, content))


def test_vectors_with_and_without_the_counts_of_word2vec(write) -> None:  # type: ignore[no-untyped-def]
    for head in ("", "2 3\n"):
        found = dict(word_vectors(write("v.txt", f"{head}film 1 2 3\nplot 0 -1 .5\n")))
        assert list(found) == ["film", "plot"]
        np.testing.assert_array_equal(found["plot"], [0, -1, 0.5])
    assert list(dict(word_vectors(write("v.txt", "film 1 2\nplot 0 1\n"), {"plot"}))) == ["plot"]
    with pytest.raises(BadFile, match="3 numbers where the lines before have 2"):
        list(word_vectors(write("v.txt", "film 1 2\nplot 0 1 2\n")))
