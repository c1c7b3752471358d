"""SQL over a run, through DuckDB.

explanations    one row per text and method         words       one row per word: row, id, method, word, score, place
checks          one row per text, method and check  verdicts    one row per method and check, when the run is done
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from assay.errors import BadFile, BadInput
from assay.runs.directory import VERDICTS
from assay.runs.store import Run

if TYPE_CHECKING:
    import duckdb

NOTHING = pa.table({})
_VIEWS = {
    "checks": "select row, id, method, unnest(one) from "
    "(select row, id, method, unnest(checks) as one from explanations)",
    "words": "select row, id, method, target, unnest(words) as word, unnest(scores) as score, "
    "unnest(generate_series(0, len(words) - 1)) as place from explanations where status = 'ok' and scores is not null",
}


def query(run: Run, sql: str) -> pa.Table:
    """The answer as an Arrow table."""
    try:
        import duckdb  # an extra
    except ImportError:
        raise BadInput("queries need DuckDB: pip install 'assay[query]'.") from None
    try:
        found = _connected(run).sql(sql)
        return NOTHING if found is None else found.to_arrow_table()
    except duckdb.Error as error:
        raise BadInput(f"DuckDB says: {' '.join(str(error).split())[:400]}") from error


def _connected(run: Run) -> duckdb.DuckDBPyConnection:
    if not run.paths:
        raise BadFile(f"{run.directory.path} holds no results yet.")
    import duckdb

    connection = duckdb.connect()
    connection.from_parquet([str(path) for path in run.paths]).create_view("explanations")
    for name, sql in _VIEWS.items():
        connection.execute(f"create view {name} as {sql}")
    table: Path = run.directory.path / VERDICTS
    if table.exists():
        connection.from_parquet(str(table)).create_view("verdicts")
    return connection
