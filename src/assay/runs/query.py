"""SQL over a run, through DuckDB.

explanations    one row per text and method         words       one row per word: row, id, method, word, score, place
checks          one row per text, method and check  verdicts    one row per method and check, when the run is done

A query only reads, and only these tables: DuckDB is given them in memory, and may reach neither files nor the network
nor load extensions; its settings are locked. `unsafe` gives all of DuckDB, for queries that one wrote oneself.
"""

from __future__ import annotations

import os
import tempfile
from typing import TYPE_CHECKING
from uuid import uuid4

import pyarrow as pa
import pyarrow.dataset as ds
import pyarrow.parquet as pq

from assay.errors import BadFile, BadInput
from assay.runs.directory import VERDICTS
from assay.runs.store import Run
from assay.runs.verdicts import table_of
from assay.text.opening import digest_of

if TYPE_CHECKING:
    import duckdb

NOTHING = pa.table({})
_VIEWS = {
    "checks": "select row, id, method, unnest(one) from "
    "(select row, id, method, unnest(checks) as one from explanations)",
    "words": "select row, id, method, target, unnest(words) as word, unnest(scores) as score, "
    "unnest(generate_series(0, len(words) - 1)) as place from explanations where status = 'ok' and scores is not null",
}
# One after the other: the last keeps the others as they are.
_CONFINED = (
    "set python_enable_replacements = false",
    "set autoinstall_known_extensions = false",
    "set autoload_known_extensions = false",
    "set allow_community_extensions = false",
    "set enable_external_access = false",
    "set lock_configuration = true",
)
_READING = ("SELECT", "EXPLAIN", "MULTI")  # the last is what DuckDB makes of PIVOT


def query(run: Run, sql: str, *, unsafe: bool = False) -> pa.Table:
    """The answer as an Arrow table."""
    try:
        import duckdb  # an extra
    except ImportError:
        raise BadInput("queries need DuckDB: pip install 'assay[query]'.") from None
    connection = _connected(run, unsafe)
    try:
        if not unsafe:
            _require_reading(duckdb.extract_statements(sql))
        found = connection.sql(sql)
        return NOTHING if found is None else found.to_arrow_table()
    except duckdb.PermissionException as error:
        raise BadInput(f"{_CONFINEMENT} (DuckDB says: {_sentence(error)})") from error
    except duckdb.CatalogException as error:
        raise BadInput(
            f"DuckDB says: {_sentence(error)} The tables are explanations, words, checks, verdicts."
        ) from error
    except duckdb.Error as error:
        raise BadInput(f"DuckDB says: {_sentence(error)}") from error
    finally:
        connection.close()


_CONFINEMENT = "a query only reads the tables of its run; --unsafe lets it do all that DuckDB can."


def _sentence(error: Exception) -> str:
    return " ".join(str(error).split())[:400]


def _require_reading(statements: list[duckdb.Statement]) -> None:
    """One statement that reads: DuckDB itself would refuse what leaves the database, but not what changes it."""
    for statement in statements:
        if (kind := statement.type.name) not in _READING:
            raise BadInput(f"{_CONFINEMENT} This is {kind}.")
    if len(statements) != 1:
        raise BadInput(f"a query is one statement, not {len(statements)}; --unsafe allows several.")


def _connected(run: Run, unsafe: bool) -> duckdb.DuckDBPyConnection:
    if not run.paths:
        raise BadFile(f"{run.directory.path} holds no results yet.")
    import duckdb

    files = [str(path) for path in run.intact()]
    spill = os.path.join(tempfile.gettempdir(), f"assay-query-{uuid4().hex}")  # made only for what memory cannot hold
    connection = duckdb.connect(config={"temp_directory": spill})
    connection.register("explanations", ds.dataset(files, format="parquet"))
    for name, sql in _VIEWS.items():
        connection.execute(f"create view {name} as {sql}")
    if run.done:
        connection.register("verdicts", _verdicts(run))
    for setting in () if unsafe else _CONFINED:
        connection.execute(setting)
    return connection


def _verdicts(run: Run) -> pa.Table:
    """The table that the run left, if it is still that; else it is counted anew."""
    path, facts = run.directory.path / VERDICTS, run.directory.done(run.plan) or {}
    try:
        if digest_of(path) == facts.get("verdicts"):
            return pq.read_table(path)
    except OSError:
        pass
    return table_of(run.verdicts())
