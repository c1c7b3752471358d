"""A sample is the same whatever it was read from, streams, and says which row is wrong."""

from __future__ import annotations

import csv
import gzip
import io
import json
import lzma
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from assay import Sample
from assay.text.example import Example

Record = dict[str, str]
NAMES = ("key", "text", "other", "gold")
COLUMNS = {"text": "text", "pair": "other", "label": "gold", "id": "key"}


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


@settings(max_examples=40, deadline=None)
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
                assert list(sample.rows(start, start + 2)) == expected[start : start + 2], name
            digests.add(sample.digest)
        assert len(digests) == 1
