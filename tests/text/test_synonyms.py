"""Files of synonyms, in the three forms in which they are published, and what is wrong with others."""

from __future__ import annotations

import lzma
from pathlib import Path

import pytest

from assay.errors import BadInput
from assay.text.synonyms import read_synonyms


def written(place: Path, string: str) -> Path:
    (place / "words").write_text(string, encoding="utf-8")
    return place / "words"


def test_lines_of_words(tmp_path: Path) -> None:
    found = read_synonyms(written(tmp_path, "Film movie, picture\n\nfilm\tflick\nalone\n"))
    assert found == {"film": {"movie", "picture", "flick"}}


def test_lists_by_word(tmp_path: Path) -> None:
    assert read_synonyms(written(tmp_path, '{"film": ["Movie", "film"], "of": []}')) == {"film": {"movie"}}


def test_synsets_whose_members_replace_each_other(tmp_path: Path) -> None:
    lines = (
        "00001740-n\tn\tnoun.act\tfilm|movie|motion picture\tshown | on a screen\n00002098-a\ta\tadj.all\table\tcan\n"
    )
    expected = {"film": {"movie", "motion picture"}, "movie": {"film", "motion picture"}}
    (tmp_path / "synsets.tsv.xz").write_bytes(lzma.compress(lines.encode()))
    assert {k: v for k, v in read_synonyms(tmp_path / "synsets.tsv.xz").items() if " " not in k} == expected


@pytest.mark.parametrize(
    ("string", "said"),
    [
        ("", "no line with a word and its synonyms"),
        ("alone\n", "no line with a word and its synonyms"),
        ("{", "is not JSON"),
        ('{"film": "movie"}', "must have a list of words for 'film'"),
    ],
)
def test_other_files_are_refused(tmp_path: Path, string: str, said: str) -> None:
    with pytest.raises(BadInput, match=said):
        read_synonyms(written(tmp_path, string))


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"nowhere.* cannot be read: No such file"):
        read_synonyms(tmp_path / "nowhere")
