"""Verdicts of a run, from the scores that its shards hold; and the table of them beside the shards."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from assay.registry.finding import find_check
from assay.runs.plan import RunPlan
from assay.runs.schema import check_result
from assay.statistics.verdict import Verdict
from assay.storage.durable import write_whole
from assay.verdicts.concluding import VerdictBuilder

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("method", "check_name", "better", "verdict")),
        *((name, pa.float64()) for name in ("mean", "random", "difference", "low", "high", "p_value")),
        *((name, pa.int64()) for name in ("texts", "draws")),
        ("warnings", pa.list_(pa.string())),
        ("facts", pa.string()),
        ("parameters", pa.string()),
        ("method_parameters", pa.string()),
    ]
)


def verdicts(plan: RunPlan, records: Iterable[Mapping[str, Any]]) -> list[Verdict]:
    """One per method and check that could be made at all."""
    builders = {(method, check): _builder(plan, method, check) for method in plan.methods for check in plan.checks}
    for record in records:
        if record["status"] == "ok":
            more = json.loads(record["more"])
            for one in record["checks"]:
                builder = builders[record["method"], one["check_name"]]
                builder.add(check_result(one), more["warnings"], bool(more["unseen"]))
    return [builder.verdict() for builder in builders.values() if not builder.empty]


def _builder(plan: RunPlan, method: str, check: str) -> VerdictBuilder:
    settings = plan.settings
    card, ours, theirs = find_check(check), settings["methods"][method], settings["checks"][check]
    return VerdictBuilder(method, ours, card, theirs, settings["model"]["name"], settings["seed"])


def table_of(found: Sequence[Verdict]) -> pa.Table:
    """One row per method and check."""
    return pa.Table.from_pylist([_record(v) for v in found], schema=SCHEMA)


def write(path: Path, found: Sequence[Verdict]) -> str:
    """The table of verdicts as a file; the digest of its bytes."""
    sink = pa.BufferOutputStream()
    pq.write_table(table_of(found), sink, compression="zstd")
    data = sink.getvalue().to_pybytes()
    write_whole(path, data)
    return blake2b(data, digest_size=16).hexdigest()


def _record(v: Verdict) -> dict[str, Any]:
    data = v.to_dict()
    texts = {name: json.dumps(data[name]) for name in ("facts", "parameters", "method_parameters")}
    return data | texts | {"check_name": v.check, "low": v.interval[0], "high": v.interval[1]}
