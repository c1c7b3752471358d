"""Verdicts of a run, from the scores that its shards hold; and the table of them beside the shards."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from assay.registry.finding import find_check
from assay.runs.plan import Plan
from assay.storage.durable import write_whole
from assay.verdicts.verdict import Verdict

SCHEMA = pa.schema(
    [
        *((name, pa.string()) for name in ("method", "check_name", "better", "verdict")),
        *((name, pa.float64()) for name in ("mean", "random", "difference", "low", "high", "p_value")),
        *((name, pa.int64()) for name in ("texts", "draws")),
        ("warnings", pa.list_(pa.string())),
        ("facts", pa.string()),
        ("parameters", pa.string()),
    ]
)


@dataclass
class _Scores:
    """What one check says of one method, text by text."""

    own: list[float] = field(default_factory=list)
    random: list[list[float]] = field(default_factory=list)
    facts: dict[str, list[float]] = field(default_factory=dict)

    def add(self, said: Mapping[str, Any]) -> None:
        self.own.append(said["score"])
        self.random.append(said["random"])
        for fact in said["facts"]:
            self.facts.setdefault(fact["name"], []).append(fact["value"])


@dataclass
class _Warnings:
    """What the explanations of one method warn of."""

    texts: int = 0
    cut: int = 0
    counts: Counter[str] = field(default_factory=Counter)

    def add(self, more: str) -> None:
        data = json.loads(more)
        self.texts += 1
        self.cut += bool(data["unseen"])
        self.counts.update(set(data["warnings"]))

    def lines(self) -> Iterator[str]:
        for warning, count in sorted(self.counts.items()):
            yield f"{warning} ({count} of {self.texts} texts)"
        if self.cut:
            yield f"truncated: {self.cut} of {self.texts} texts were longer than the model's window."


def verdicts(plan: Plan, records: Iterable[Mapping[str, Any]]) -> list[Verdict]:
    """One per method and check that could be made at all."""
    tables = {(method, check): _Scores() for method in plan.methods for check in plan.checks}
    said = {method: _Warnings() for method in plan.methods}
    for record in records:
        if record["status"] == "ok":
            said[record["method"]].add(record["more"])
        for one in record["checks"]:
            if one["error"] is None:
                tables[record["method"], one["check_name"]].add(one)
    return [_verdict(plan, *names, scores, said[names[0]]) for names, scores in tables.items() if scores.own]


def _verdict(plan: Plan, method: str, check: str, scores: _Scores, said: _Warnings) -> Verdict:
    return Verdict(
        method,
        check,
        find_check(check).better,
        np.array(scores.own),
        np.array(scores.random),
        warnings=(*_same_eraser(plan, method, check), *said.lines()),
        parameters=plan.settings["checks"][check],
        model=plan.settings["model"]["name"],
        seed=plan.settings["seed"],
        facts={name: float(np.mean(values)) for name, values in scores.facts.items()},
        chance=getattr(find_check(check).make_from, "chance", "beat"),
    )


def _same_eraser(plan: Plan, method: str, check: str) -> Iterator[str]:
    eraser = plan.settings["methods"][method].get("eraser")
    if eraser is not None and eraser == plan.settings["checks"][check].get("eraser"):
        yield (
            f"same eraser: method and check both take words away by {eraser!r}, which favours the method; "
            "compare with another eraser."
        )


def write(path: Path, found: Sequence[Verdict]) -> None:
    """The table of verdicts, one row per method and check."""
    sink = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist([_record(v) for v in found], schema=SCHEMA), sink, compression="zstd")
    write_whole(path, sink.getvalue().to_pybytes())


def _record(v: Verdict) -> dict[str, Any]:
    data = v.to_dict()
    texts = {name: json.dumps(data[name]) for name in ("facts", "parameters")}
    return data | texts | {"check_name": v.check, "low": v.interval[0], "high": v.interval[1]}
