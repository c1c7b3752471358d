"""CoNLL-U and IOB files: what is read, what is passed over, what is refused with its line; trees."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from assay.data.treebanks import Sentence, depths, distances, sentences
from assay.errors import BadFile

CONLLU = """# sent_id = 1
1\tDogs\tdog\tNOUN\tNNS\t_\t2\tnsubj\t_\t_
2\tdo\tdo\tVERB\tVBP\t_\t0\troot\t_\t_
3-4\tn't\t_\t_\t_\t_\t_\t_\t_\t_
3\tn't\tnot\tPART\tRB\t_\t2\tadvmod:neg\t_\t_
3.1\tempty\t_\t_\t_\t_\t_\t_\t_\t_

# a comment alone

1\tNew York\t_\tPROPN\t_\t_\t0\troot\t_\t_
"""


def write(tmp_path: Path, content: str, name: str = "file.conllu") -> Path:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return path


def test_words_tags_and_trees(tmp_path: Path) -> None:
    first, second = sentences(write(tmp_path, CONLLU))
    assert first.words == ("Dogs", "do", "n't")
    assert first.tags == ("NOUN", "VERB", "PART")
    assert first.heads == (1, -1, 1)
    assert first.relations == ("nsubj", "root", "advmod:neg")
    assert second.words == ("New\u00a0York",)
    assert first.text.words == first.words
    assert first.text.strings == ("Dogs do n't",)


def test_packed_files_and_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "file.conllu.xz"
    path.write_bytes(lzma.compress(CONLLU.replace("\n", "\r\n").encode()))
    assert [sentence.words for sentence in sentences(path)] == [("Dogs", "do", "n't"), ("New\u00a0York",)]


def test_iob(tmp_path: Path) -> None:
    content = "-DOCSTART- -X- O O\n\nEU NNP I-NP B-ORG\nrejects VBZ I-VP O\n\nPeter\tB-PER\n"
    first, second = sentences(write(tmp_path, content, "eng.train"))
    assert (first.words, first.tags) == (("EU", "rejects"), ("B-ORG", "O"))
    assert (second.words, second.tags) == (("Peter",), ("B-PER",))


@pytest.mark.parametrize(
    ("content", "name", "said"),
    [
        ("1\tDogs\n", "a.conllu", "line 1: a word of CoNLL-U has 10 columns"),
        (CONLLU.replace("2\tdo", "5\tdo"), "a.conllu", "line 3: words are numbered from 1"),
        (CONLLU.replace("_\t2\tnsubj", "_\t9\tnsubj"), "a.conllu", "a head is 0 or the number of a word up to 3"),
        ("word\n", "a.iob", "line 1: a line of IOB has a word and its tag"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path: Path, content: str, name: str, said: str) -> None:
    with pytest.raises(BadFile, match=said):
        list(sentences(write(tmp_path, content, name)))


#        2
#      / | \
#     0  3  5
#     |     |
#     1     4
TREE = Sentence(("a",) * 6, ("X",) * 6, (2, 0, -1, 2, 5, 2), ("dep",) * 6)


def test_depths_and_distances() -> None:
    assert depths(TREE) == [1, 2, 0, 1, 2, 1]
    found = distances(TREE)
    assert found[1] == [1, 0, 2, 3, 4, 3]
    assert all(found[i][j] == found[j][i] for i in range(6) for j in range(6))
    with pytest.raises(BadFile, match="go round in a circle"):
        depths(Sentence(("a", "b"), ("X", "X"), (1, 0), ("dep", "dep")))
