"""A sample is the same whatever it was read from, streams, and says which row is wrong."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
import sys
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Sample
from assay.errors import BadFile, BadInput, BadText, UnknownName
from assay.text.example import Example, Mark

Record = dict[str, str]
NAMES = ("key", "text", "other", "gold")
COLUMNS: dict[str, Any] = {"text": "text", "pair": "other", "label": "gold", "id": "key"}


def _delimited(rows: list[Record], delimiter: str) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, NAMES, delimiter=delimiter)
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue().encode()


def _jsonl(rows: list[Record]) -> bytes:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows).encode()


def _parquet(rows: list[Record]) -> bytes:
    sink = io.BytesIO()
    table = {name: pa.array([row[name] for row in rows], pa.string()) for name in NAMES}
    pq.write_table(pa.table(table), sink, row_group_size=3)
    return sink.getvalue()


FILES: dict[str, Callable[[list[Record]], bytes]] = {
    "rows.csv": lambda rows: _delimited(rows, ","),
    "rows.tsv": lambda rows: _delimited(rows, "\t"),
    "rows.jsonl": _jsonl,
    "rows.parquet": _parquet,
    "rows.csv.gz": lambda rows: gzip.compress(_delimited(rows, ",")),
    "rows.tsv.xz": lambda rows: lzma.compress(_delimited(rows, "\t"), preset=0),
    "rows.jsonl.xz": lambda rows: lzma.compress(b"\xef\xbb\xbf" + _jsonl(rows), preset=0),
}


class Dataset(list[Record]):
    """As much of a datasets.Dataset as is used."""

    column_names = NAMES

    def select_columns(self, names: list[str]) -> Dataset:
        return Dataset({name: row[name] for name in names} for row in self)

    def select(self, chosen: range) -> Dataset:
        return Dataset(self[i] for i in chosen)


STRINGS = st.text(st.characters(codec="utf-8", exclude_characters="\x00"), max_size=12)
RECORDS = st.lists(
    st.fixed_dictionaries({"text": STRINGS, "other": STRINGS, "gold": st.sampled_from(["", "a", "b", "1", "ü"])}),
    min_size=1,
    max_size=9,
)


def _samples(rows: list[Record], folder: Path) -> dict[str, Sample]:
    for name, make in FILES.items():
        (folder / name).write_bytes(make(rows))
    sources: dict[str, Any] = {name: folder / name for name in FILES}
    sources |= {"frame": pd.DataFrame(rows), "dictionaries": rows, "dataset": Dataset(rows)}
    pairs = [Example(row["key"], (row["text"], row["other"]), row["gold"] or None) for row in rows]
    return {name: Sample.of(source, **COLUMNS) for name, source in sources.items()} | {"list": Sample.of(pairs)}


@settings(max_examples=25, deadline=None)
@given(RECORDS)
def test_the_same_rows_through_every_format_are_the_same_sample(given_rows: list[Record]) -> None:
    rows = [{"key": f"k{i}", **row} for i, row in enumerate(given_rows)]
    with TemporaryDirectory() as folder:
        expected = [Example(row["key"], (row["text"], row["other"]), row["gold"] or None) for row in rows]
        digests = set()
        for name, sample in _samples(rows, Path(folder)).items():
            found = list(sample)
            assert found == expected, name
            assert [row.position for row in found] == list(range(len(rows))), name
            assert len(sample) == len(rows), name
            assert sample.labels == tuple(sorted({row["gold"] for row in rows} - {""})), name
            for start in range(len(rows) + 1):
                some = list(sample.rows(start, start + 2))
                assert some == expected[start : start + 2], name
                assert [row.position for row in some] == list(range(len(rows)))[start : start + 2], name
            digests.add(sample.digest)
        assert len(digests) == 1


def _written(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def test_lines_and_lists_of_every_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = ["a fine film", "dull \u2028 plot", "x"]
    data = "\n\n".join(texts).encode() + b"\r\n"
    sources: list[Any] = [texts, tuple(texts), iter(texts), _written(tmp_path / "lines.txt", data)]
    sources += [_written(tmp_path / "lines.txt.gz", gzip.compress(data)), pd.DataFrame({"any": texts})]
    sources += [[(text, None) for text in texts], [{"text": text} for text in texts]]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    samples = [Sample.of(source) for source in [*sources, "-"]]
    for sample in samples:
        assert list(sample.texts) == list(sample.texts) == texts
        assert [(row.id, row.label, row.marks) for row in sample] == [(str(i), None, ()) for i in range(3)]
    assert len({sample.digest for sample in samples}) == 1
    assert Sample.of(samples[0]) is samples[0]


def test_labels_are_strings_whatever_the_source_holds(tmp_path: Path) -> None:
    frame = pd.DataFrame({"text": ["a", "b", "c"], "gold": pd.array([1, None, 0], dtype="Int64")})
    frame.to_parquet(tmp_path / "x.parquet")
    jsonl = _written(
        tmp_path / "x.jsonl", '{"text": "a", "gold": 1}\n{"text": "b", "gold": null}\n{"text": "c", "gold": 0}\n'
    )
    for source in (frame, tmp_path / "x.parquet", jsonl, _written(tmp_path / "x.csv", "text,gold\na,1\nb,\nc,0\n")):
        sample = Sample.of(source, label="gold")
        assert [row.label for row in sample] == ["1", None, "0"]
        assert sample.labels == ("0", "1")
    assert [row.label for row in Sample.of([("a", 1), ("b", None), ("c", 0)])] == ["1", None, "0"]


def test_the_digest_is_of_what_rows_hold() -> None:
    base = Sample.of([("a", "x"), ("b", "y")])
    same: list[Any] = [{"t": "a", "l": "x", "i": "7"}, {"t": "b", "l": "y", "i": "9"}]
    assert Sample.of(same, text="t", label="l", id="i").digest == base.digest
    marked = [Example("0", ("a",), "x", ((Mark(0, 0, 1),),)), Example("1", ("b",), "y")]
    others: list[Any] = [
        [("b", "y"), ("a", "x")],
        [("a", "x")],
        [("a", "y"), ("b", "x")],
        [("a", None), ("b", "y")],
        [("ax", ""), ("b", "y")],
        [(("a", "x"), None), ("b", "y")],
        [(("a", "=x"), None), ("b", "y")],
        marked,
    ]
    assert len({base.digest, *(Sample.of(other).digest for other in others)}) == len(others) + 1
    assert [row.marks for row in Sample.of(marked)] == [row.marks for row in marked]


@pytest.mark.parametrize(
    ("name", "content", "columns", "error", "said"),
    [
        ("a.jsonl", '{"text": "a"}\n{oops\n', {}, BadFile, "a.jsonl, line 2 is not JSON"),
        ("a.jsonl", '{"text": "a"}\n\n[1]\n', {}, BadFile, "a.jsonl, line 3 is neither an object nor a string"),
        ("a.jsonl", '{"text": "a"}\n{"text": ["b"]}\n', {}, BadText, "a.jsonl, row 2: the column 'text' holds list"),
        ("a.csv", "text,b\nx,1\ny\n", {"text": "b"}, BadText, "a.csv, row 2: the column 'b' is empty"),
        ("a.csv", "text\nx\ny,z\n", {}, BadFile, "a.csv, line 3 has more fields than there are columns"),
        ("a.csv", 'text\nx\n"y\nz\n', {}, BadFile, "a.csv is damaged or cut short (a quote at or after line 3"),
        ("a.csv", 'text\n"x" y\n', {}, BadFile, "a.csv, line 2 cannot be read"),
        ("a.csv", b"text\nx\n" + b"caf\xe9\n", {}, BadFile, "a.csv, row 2 is not UTF-8 (byte 0xe9 at charact"),
        ("a.jsonl", '{"text": "\\ud800"}\n', {}, BadText, "a.jsonl, row 1 has a lone surrogate at character 0"),
        ("a.txt", "a\n".encode("utf-16"), {}, BadFile, "a.txt cannot be read: it looks like UTF-16"),
        ("a.csv", "texts,b\nx,1\n", {"text": "text"}, UnknownName, "are: texts, b. Did you mean 'texts'?"),
        ("a.csv", "texts,b\nx,1\n", {"label": "gold"}, UnknownName, "a.csv has no column 'gold'"),
        ("a.csv", "a,b\nx,1\n", {}, BadInput, "say which column of"),
        ("a.parquet", "no", {}, BadFile, "is not a parquet file"),
        ("a.doc", "x", {}, BadFile, "a.doc does not end in .csv, .tsv, .jsonl, .txt, .parquet"),
        ("a.csv.gz", gzip.compress(b"text\nx\n" * 99, mtime=0)[:-9], {}, BadFile, "a.csv.gz is damaged or cut short"),
    ],
)
def test_errors_name_file_and_row(
    tmp_path: Path, name: str, content: Any, columns: dict[str, Any], error: type[Exception], said: str
) -> None:
    path = _written(tmp_path / name, content)
    with pytest.raises(error) as caught:
        list(Sample.of(path, **columns))
    assert said in str(caught.value)
    assert str(tmp_path) in str(caught.value)
    assert str(caught.value).endswith((".", "?"))


def test_a_bad_row_stays_in_its_place_for_who_asks(tmp_path: Path) -> None:
    sample = Sample.of(_written(tmp_path / "a.jsonl", '{"text": "a"}\n{\n{"text": "c"}\n'))
    found = list(sample.rows())
    assert [(row.position, row.id, row.strings) for row in found] == [(0, "0", ("a",)), (1, "1", ()), (2, "2", ("c",))]
    assert [row.error is None for row in found] == [True, False, True]
    assert len(sample) == 3
    for ask in (lambda: sample.digest, lambda: sample.labels, lambda: list(sample.texts)):
        with pytest.raises(BadFile, match="line 2 is not JSON"):
            ask()


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (5, "a sample is a path, a frame"),
        ({"text": "a"}, "a sample is a path, a frame"),
        ([("a", "x"), ("a", "b", "c")], "row 2 of the list is no pair (text, label) but ('a', 'b', 'c')"),
        ([("a", 1.5)], "row 1 of the list needs a label that is a string or a whole number, not 1.5"),
        ([("a", "x"), (3, "y")], "row 2 of the list: a text is a string"),
        (["a", "\ud800"], "row 2 of the list: the text has a lone surrogate"),
        ([Example("1", error=BadText("it is torn."))], "row 1 of the list: it is torn."),
    ],
)
def test_lists_without_sense_are_refused(source: Any, said: str) -> None:
    with pytest.raises(BadInput) as caught:
        Sample.of(source)
    assert said in str(caught.value)


def test_a_column_that_nobody_could_read_is_refused() -> None:
    with pytest.raises(BadInput, match="the rows of the list have no column 'gold'"):
        Sample.of([("a", "x")], label="gold")
    with pytest.raises(BadInput, match="is a Sample already; name its column 'gold' when it is made"):
        Sample.of(Sample.of(["a"]), label="gold")


def test_what_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"row 2 of train needs a label that is a string: .* pair \(text, label\)"):
        Sample.of([("a", "x"), "b"], name="train").require_labels()
    with pytest.raises(BadInput, match="there are no texts in train"):
        Sample.of([], name="train").require_rows()
    assert not Sample.of(_written(tmp_path / "a.csv", "text\n"))
    assert Sample.of(["a"]).require_rows()
    with pytest.raises(BadFile, match="cannot be read: No such file"):
        Sample.of(tmp_path / "none.csv")


def test_head_and_subsample(tmp_path: Path) -> None:
    texts = [f"text {i}" for i in range(50)]
    for sample in (Sample.of(texts), Sample.of(_written(tmp_path / "a.txt", "\n".join(texts)))):
        assert list(sample.head(3).texts) == list(Sample.of(sample, limit=3).texts) == texts[:3]
        assert (len(sample.head(3)), len(sample.head(99)), len(sample.head(0))) == (3, 50, 0)
        assert [row.text for row in sample.head(5).rows(3, 9)] == texts[3:5]
        few = sample.subsample(10, seed=3)
        assert [row.position for row in few] == list(range(10))
        assert [row.text for row in few] == [texts[int(row.id)] for row in few]
        assert [int(row.id) for row in few] == sorted({int(row.id) for row in few})
        assert few.digest == sample.subsample(10, seed=3).digest != sample.subsample(10, seed=4).digest
        assert [row.id for row in few.rows(4, 7)] == [row.id for row in few][4:7]
        assert [row.id for row in few.head(5).subsample(2)] == [row.id for row in few.head(5).subsample(2)]
        assert len(sample.subsample(99)) == 50
    with pytest.raises(BadInput, match="has 50 rows"):
        sample.pick([3, 50])


def test_a_share_is_stable_and_keeps_equal_texts_together() -> None:
    texts = [f"text {i}" for i in range(2000)]
    parts = Sample.of(texts).split(0.25, seed=1)
    sides = {text: name for name, part in parts.items() for text in part.texts}
    assert len(sides) == 2000
    assert len(parts["dev"]) == pytest.approx(500, abs=60)
    more = Sample.of(["new", *reversed(texts), *texts[:9]]).split(0.25, seed=1)
    assert all(sides.get(text, name) == name for name, part in more.items() for text in part.texts)
    other = Sample.of(texts).split(0.25, seed=2)["dev"]
    assert set(other.texts) != set(parts["dev"].texts)
    three = Sample.of(texts).split({"train": 0.5, "dev": 0.25, "test": 0.25})
    assert sorted(text for part in three.values() for text in part.texts) == sorted(texts)
    keyed = [{"text": f"text {i}", "person": i % 9} for i in range(90)]
    people = [{row.id for row in part} for part in Sample.of(keyed, id="person").split(0.5).values()]
    assert not people[0] & people[1]
    assert len(people[0] | people[1]) == 9


def test_a_column_splits(tmp_path: Path) -> None:
    path = _written(tmp_path / "a.csv", "text,fold\na,train\nb,test\nc,train\nd,dev\n")
    parts = Sample.of(path, text="text").split(by="fold")
    assert {name: list(part.texts) for name, part in parts.items()} == {
        "dev": ["d"],
        "test": ["b"],
        "train": ["a", "c"],
    }
    assert [(row.id, row.position) for row in parts["train"]] == [("0", 0), ("2", 1)]
    assert (len(parts["train"]), list(parts["train"].subsample(1).split(by="fold"))) == (2, ["train"])
    with pytest.raises(UnknownName, match=r"no column 'folds'.*Did you mean 'fold'"):
        Sample.of(path, text="text").split(by="folds")
    with pytest.raises(UnknownName, match="no column 'fold'"):
        Sample.of(["a"]).split(by="fold")
    empty = _written(tmp_path / "b.csv", "text,fold\na,train\nb\n")
    with pytest.raises(BadInput, match="row 2: the column 'fold' is empty"):
        Sample.of(empty, text="text").split(by="fold")


@pytest.mark.parametrize("given_share", [0.0, 1.0, {"a": 0.5, "b": 0.4}])
def test_shares_without_sense_are_refused(given_share: Any) -> None:
    with pytest.raises(BadInput, match="add up to 1"):
        Sample.of(["a"]).split(given_share)
    with pytest.raises(BadInput, match="one of the two"):
        Sample.of(["a"]).split(0.5, by="x")


def test_other_texts_keep_labels_and_ids(tmp_path: Path) -> None:
    path = _written(tmp_path / "a.csv", "key,text,gold\nk1,a b,x\nk2,c d,y\n")
    sample = Sample.of(path, text="text", label="gold", id="key")
    shorter = sample.with_texts(["a", ("c", "d")])
    assert [(row.id, row.text, row.label) for row in shorter] == [("k1", "a", "x"), ("k2", ("c", "d"), "y")]
    assert [row.text for row in sample] == ["a b", "c d"]
    assert sample.with_texts(["a b", "c d"]).digest == sample.digest != shorter.digest
    with pytest.raises(BadInput, match="has 2 rows and takes as many texts, not 1"):
        sample.with_texts(["a"])
    path.write_text("key,text,gold\nk1,a b,x\n")
    with pytest.raises(BadFile, match="fewer rows"):
        list(shorter)


@pytest.mark.parametrize("name", ["big.csv", "big.jsonl.gz", "big.parquet"])
def test_a_big_file_streams_in_bounded_memory(tmp_path: Path, name: str) -> None:
    more = "word " * 300
    rows = [{"key": str(i), "text": f"{i} {more}", "other": "", "gold": "ab"[i % 2]} for i in range(6_000)]
    make = FILES.get(name.replace("big", "rows")) or (lambda rows: gzip.compress(_jsonl(rows), 1))
    path = _written(tmp_path / name, make(rows))
    size = sum(len(row["text"]) for row in rows)
    del rows
    tracemalloc.start()
    try:
        sample = Sample.of(path, text="text", label="gold")
        assert (len(sample), sample.labels, len(sample.digest)) == (6_000, ("a", "b"), 32)
        assert len(sample.split(0.5)["dev"]) > 2_000
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert size > 9_000_000
    assert peak < 4_500_000


def test_a_parquet_file_is_entered_at_the_row_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({"text": [str(i) for i in range(1000)]}), tmp_path / "a.parquet", row_group_size=100)
    asked: list[list[int]] = []
    original = pq.ParquetFile.iter_batches

    def seen(self: Any, *given_: Any, row_groups: Any = None, **more: Any) -> Any:
        asked.append(list(row_groups))
        return original(self, *given_, row_groups=row_groups, **more)

    monkeypatch.setattr(pq.ParquetFile, "iter_batches", seen)
    rows = list(Sample.of(tmp_path / "a.parquet").rows(800, 803))
    assert [(row.text, row.position) for row in rows] == [("800", 800), ("801", 801), ("802", 802)]
    assert asked == [[8, 9]]


def test_two_passes_at_once_do_not_disturb_each_other(tmp_path: Path) -> None:
    sample = Sample.of(_written(tmp_path / "a.txt", "a\nb\nc\n"))
    assert [(one.text, two.text) for one, two in zip(sample, sample, strict=True)] == [
        ("a", "a"),
        ("b", "b"),
        ("c", "c"),
    ]
