"""Queries only read the tables of their run: every way out that DuckDB has is closed, unless one asks for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import assay
from assay.errors import BadInput
from assay.runs.store import Run as Held
from run_toys import dataset, ran

pytest.importorskip("duckdb")

from assay.runs.query import query

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("query")
    ran(dataset(place, 12), place / "out")
    (place / "secret.csv").write_text("word\nxyzzy\n")
    return place


@pytest.fixture
def held(place: Path) -> Held:
    return assay.open(place / "out")


OUT = [
    "select * from read_csv('{place}/secret.csv')",
    "select * from read_csv_auto('{place}/secret.csv')",
    "select * from read_text('{place}/secret.csv')",
    "select * from read_blob('{place}/secret.csv')",
    "select * from read_json('{place}/secret.csv')",
    "select * from read_parquet('{place}/out/shards/*.parquet')",
    "select * from parquet_metadata('{place}/out/shards/*.parquet')",
    "select * from sniff_csv('{place}/secret.csv')",
    "select * from glob('{place}/*')",
    "select * from '{place}/secret.csv'",
    "select * from query('select * from read_text(''{place}/secret.csv'')')",
    "select (select content from read_text('{place}/secret.csv')) from explanations",
    "explain analyze select * from read_csv('{place}/secret.csv')",
    "copy (select 1) to '{place}/made.csv'",
    "copy explanations to '{place}/made.parquet'",
    "explain analyze copy (select 1) to '{place}/made.csv'",
    "export database '{place}/made'",
    "import database '{place}/made'",
    "attach '{place}/made.db'",
    "create table mine as select 1",
    "create or replace view explanations as select 1",
    "drop view explanations",
    "install httpfs",
    "load httpfs",
    "load '{place}/secret.csv'",
    "create secret mine (type s3)",
    "set enable_external_access = true",
    "reset enable_external_access",
    "set lock_configuration = false",
    "set autoload_known_extensions = true",
    "set temp_directory = '{place}/made'",
    "pragma enable_external_access = true",
    "pragma database_list",
    "call pragma_version()",
    "select 1; select * from read_text('{place}/secret.csv')",
    "select 1; copy (select 1) to '{place}/made.csv'",
    "",
]


@pytest.mark.parametrize("sql", OUT)
def test_no_way_out(held: Held, place: Path, sql: str) -> None:
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    with pytest.raises(BadInput) as said:
        query(held, sql.format(place=place))
    assert "xyzzy" not in str(said.value)
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before


def test_no_objects_of_the_program_are_seen(held: Held) -> None:
    import pyarrow as pa

    secret = pa.table({"word": ["xyzzy"]})
    assert secret.num_rows
    with pytest.raises(BadInput, match="does not exist"):
        query(held, "select * from secret")


@pytest.mark.parametrize(
    "sql",
    [
        "select count(*) as n from explanations",
        "with mine as (select * from words) select count(distinct row) as n from mine",
        "from explanations select count(*) as n",
        "describe explanations",
        "show tables",
        "explain select 1",
        "pivot words on place using count(*) group by method",
    ],
)
def test_what_reads_is_answered(held: Held, sql: str) -> None:
    records = query(held, sql).to_pylist()
    assert records
    assert records[0].get("n", 12) == 12


def test_unsafe_gives_all_of_duckdb(assay_: Run, place: Path, tmp_path: Path) -> None:
    sql = f"copy (select * from read_csv('{place}/secret.csv')) to '{tmp_path}/made.csv'"
    code, _, said = assay_("query", str(place / "out"), sql)
    assert (code, said.count("\n")) == (2, 1)
    assert "--unsafe" in said
    assert not (tmp_path / "made.csv").exists()
    assert assay_("query", str(place / "out"), sql, "--unsafe")[0] == 0
    assert (tmp_path / "made.csv").read_text() == "word\nxyzzy\n"
