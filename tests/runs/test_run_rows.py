"""Input: every format gives the same rows; what cannot be read stays in its place as an error."""

from __future__ import annotations

import gzip
import io
import json
import lzma
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from assay.errors import BadFile, BadInput, BadText, Stopped, UnknownName
from assay.runs import source
from assay.text.columns import Columns
from assay.text.example import Example

TEXTS = ["a good film", "naïve, “quoted”", 'line\nbreak and "quotes"', "x"]


def _csv(delimiter: str) -> bytes:
    quoted = ['"' + text.replace('"', '""') + '"' for text in TEXTS]
    lines = [f"id{delimiter}text", *(f"k{i}{delimiter}{text}" for i, text in enumerate(quoted))]
    return ("\r\n".join(lines) + "\r\n").encode()


def _jsonl() -> bytes:
    return "".join(json.dumps({"id": f"k{i}", "text": text}) + "\n" for i, text in enumerate(TEXTS)).encode()


def _parquet() -> bytes:
    sink = io.BytesIO()
    pq.write_table(pa.table({"id": [f"k{i}" for i in range(len(TEXTS))], "text": TEXTS}), sink)
    return sink.getvalue()


FILES = {
    "rows.csv": _csv(","),
    "rows.tsv": _csv("\t"),
    "rows.jsonl": _jsonl(),
    "rows.parquet": _parquet(),
    "rows.csv.gz": gzip.compress(_csv(",")),
    "rows.jsonl.xz": lzma.compress(_jsonl()),
    "rows.jsonl.gz": gzip.compress(b"\xef\xbb\xbf" + _jsonl()),
}


def rows(path: Path, columns: Columns = Columns(), **more: Any) -> list[Example]:
    return list(source.Input.of(source.find(str(path), path.parent), columns, **more).sample.rows())


@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_rows(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[name])
    found = rows(tmp_path / name, Columns("text", id="id"))
    assert [row.text for row in found] == TEXTS
    assert [(row.position, row.id) for row in found] == [(i, f"k{i}") for i in range(4)]
    assert source.Input.of(source.find(str(tmp_path / name), tmp_path), Columns()).count() == 4


def test_pairs_labels_and_a_limit(tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    path.write_text('{"a": "x y", "b": "z", "gold": 1}\n{"a": "u", "b": "v", "gold": null}\n{"a": "w", "b": "w"}\n')
    found = rows(path, Columns("a", "b", label="gold"), limit=2)
    assert [(row.text, row.label, row.id) for row in found] == [(("x y", "z"), "1", "0"), (("u", "v"), None, "1")]


def test_rows_that_cannot_be_read_stay_in_their_place(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_bytes(b'{"text": "a"}\n{"text": \n\n[1]\n{"text": ["x"]}\n{"other": 1}\n{"text": 7}\n"bare"\n')
    found = rows(path, Columns("text"))
    assert [type(row.error).__name__ for row in found] == [
        "NoneType",
        *["BadFile"] * 2,
        *["BadText"] * 2,
        *["NoneType"] * 2,
    ]
    assert [row.position for row in found] == list(range(7))
    assert "line 2" in str(found[1].error)
    assert found[-1].text == "bare"


def test_a_byte_that_is_no_utf8_spoils_its_own_row_only(tmp_path: Path) -> None:
    path = tmp_path / "latin.csv"
    path.write_bytes(b"text\ngood\ncaf\xe9\nfine\n")
    found = rows(path)
    assert [row.text for row in found][::2] == ["good", "fine"]
    from assay.text.text import Text

    with pytest.raises(BadText):
        Text.of(found[1].text)


def test_a_cut_archive_is_one_sentence(tmp_path: Path) -> None:
    for name, data in (("a.csv.gz", FILES["rows.csv.gz"][:-9]), ("a.jsonl.xz", FILES["rows.jsonl.xz"][:-30])):
        (tmp_path / name).write_bytes(data)
        with pytest.raises(BadFile, match="damaged or cut short"):
            source.Input.of(source.find(str(tmp_path / name), tmp_path), Columns("text")).count()


def test_bad_files_and_columns_are_named(tmp_path: Path) -> None:
    for name, data in {"rows.csv": b"a,b\n1,2\n", "x.parquet": b"no", "wide.txt": "a".encode("utf-16")}.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(UnknownName, match=r"no column 'c'; its columns are: a, b"):
        rows(tmp_path / "rows.csv", Columns("c"))
    with pytest.raises(BadInput, match="--column"):
        rows(tmp_path / "rows.csv")
    for name in ("x.parquet", "wide.txt", "missing.csv", "missing.csv.gz"):
        with pytest.raises(BadFile):
            rows(tmp_path / name)


def test_stdin_is_kept_for_the_resume(tmp_path: Path) -> None:
    path = source.spooled(io.BytesIO(b"a good film\nsuch a mess\n"), tmp_path, "txt")
    assert [row.text for row in rows(path)] == ["a good film", "such a mess"]
    assert source.spooled(io.BytesIO(b""), tmp_path, "txt") == path
    assert source.spooled(io.BytesIO(b"a good film\nsuch a mess\n"), tmp_path, "txt") == path
    with pytest.raises(BadInput, match="another stdin"):
        source.spooled(io.BytesIO(b"something else"), tmp_path, "txt")
    with pytest.raises(BadInput, match="no text"):
        source.spooled(io.BytesIO(b" \n"), tmp_path / "new", "txt")


def test_a_changed_or_vanished_file_is_found(tmp_path: Path) -> None:
    path = tmp_path / "rows.txt"
    path.write_text("a\nb\n")
    found = source.find(str(path), tmp_path)
    found.require_unchanged()
    path.write_text("a\nc\n\n")
    with pytest.raises(Stopped, match="was changed"):
        found.require_unchanged()
    path.unlink()
    with pytest.raises(Stopped, match="vanished"):
        found.require_unchanged()


class Table(list[dict[str, Any]]):
    """As much of a dataset as the reader uses."""

    _fingerprint = "f00d"
    column_names = ("text", "gold")

    def select_columns(self, names: list[str]) -> list[dict[str, Any]]:
        return [{name: row[name] for name in names} for row in self]


def test_a_dataset_by_name_or_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = Table([{"text": "a b", "gold": 1}, {"text": "c", "gold": 0}])
    fake = SimpleNamespace(load_dataset=lambda name: {"train": table, "test": table}, load_from_disk=lambda name: table)
    monkeypatch.setitem(sys.modules, "datasets", fake)
    found = source.Input.of(source.find("imdb:test", tmp_path), Columns("text", label="gold"))
    assert [(row.text, row.label) for row in found.sample.rows()] == [("a b", "1"), ("c", "0")]
    assert found.table.fingerprint() == "f00d"
    assert source.find(str(tmp_path), tmp_path).name == str(tmp_path)
    with pytest.raises(BadInput, match="imdb:train, imdb:test"):
        source.find("imdb", tmp_path)


def test_without_the_library_a_name_is_explained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(BadFile, match="pip install datasets"):
        source.find("imdb", tmp_path)
