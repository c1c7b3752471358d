"""Data that is published elsewhere: bAbI with 10,000 questions, a part of SNLI, starred highlights."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from assay.data import esnli
from assay.errors import BadFile
from assay_studies.data.jain_wallace import read

STORY = "1 Mary went to the {}.\n2 Where is Mary? \t{}\t1\n"
PLACES = ("hall", "garden", "kitchen", "office")


def put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(lzma.compress(text.encode()) if path.suffix == ".xz" else text.encode())


def babi(count: int) -> str:
    return "".join(STORY.format(PLACES[i % 4], PLACES[i % 4]) for i in range(count))


def test_the_larger_babi_is_taken_where_it_is_there(tmp_path: Path) -> None:
    for part in ("train", "test"):
        put(tmp_path / f"babi/en/qa1_single-supporting-fact_{part}.txt", babi(20))
    assert len(read("babi_1", tmp_path).train) == 17
    put(tmp_path / "babi_en10k/qa1_single-supporting-fact_train.txt.xz", babi(200))
    with pytest.raises(BadFile, match=r"babi_en10k/qa1_single-supporting-fact_test\.txt\.xz"):
        read("babi_1", tmp_path)
    put(tmp_path / "babi_en10k/qa1_single-supporting-fact_test.txt.xz", babi(40))
    split = read("babi_1", tmp_path)
    assert (len(split.train) + len(split.dev), len(split.test)) == (200, 40)
    assert split.test[0].strings == ("mary went to the hall", "where is mary")


def test_a_part_of_snli_is_learned_from_without_tested_premises(tmp_path: Path) -> None:
    for part in ("dev", "test"):
        put(tmp_path / f"esnli/s1.{part}", f"A {part} premise .\n" * 3)
        put(tmp_path / f"esnli/s2.{part}", "One .\nTwo .\nThree .\n")
        put(tmp_path / f"esnli/labels.{part}", "neutral\nentailment\ncontradiction\n")
    rows = ["entailment\tx\tA train premise .\tOne .", "neutral\tx\tA test premise .\tTwo ."]
    put(tmp_path / "snli_train_subset/snli.tsv.xz", "\n".join(rows) + "\n")
    split = read("snli", tmp_path)
    assert [row.label for row in split.train] == ["entailment"]
    assert (len(split.dev), len(split.test)) == (3, 3)
    assert split.notes[0] == "A part of SNLI's training pairs is learned from."


def test_starred_words_are_marked_whatever_stands_close_to_them(tmp_path: Path) -> None:
    row = ["p", "neutral", "A man's red hat, he says.", "He is *sad*.", "1", "2", "3", "A man's red *hat,* he says."]
    row[3] = "He is sad."
    put(tmp_path / "dev.tsv", "\t".join([*row, " He is *sad.*", "4", "5", "6"]) + "\n")
    (found,) = esnli.starred(tmp_path / "dev.tsv")
    assert found.strings == ("A man's red hat , he says .", "He is sad .")
    marked = [found.strings[m.string][m.start : m.end] for m in found.marks[0]]
    assert marked == ["hat ,", "sad ."]
    assert found.id == "0"


def test_a_pair_whose_starred_words_differ_is_left_out(tmp_path: Path) -> None:
    row = ["p", "neutral", "A man.", "He is sad.", "1", "2", "3", "A *woman.*", "He is sad.", "4", "5", "6"]
    put(tmp_path / "dev.tsv", "\t".join(row) + "\n")
    assert not list(esnli.starred(tmp_path / "dev.tsv"))
