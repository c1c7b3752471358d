"""Reading a run: tables, explanations, verdicts. An unfinished run can be read too; only whole files are in it.

Every file is checked by its digest before it is read, and of a run that is done none may be missing.

run = assay.open("DIR")
run.to_pandas()            one row per text and method (see runs/schema.py)
run.explanations()         the explanations themselves, one at a time
run.verdicts()             one verdict per method and check over all texts
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from assay.errors import BadFile, BadInput
from assay.explanations.text_explanation import TextExplanation
from assay.runs.directory import Directory
from assay.runs.plan import RunPlan
from assay.runs.schema import SCHEMA, explanation_of
from assay.runs.shard import number_of
from assay.runs.trusting import require_all, require_trusted
from assay.runs.verdicts import verdicts
from assay.verdicts.verdict_list import Verdicts

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Run:
    """What a directory holds."""

    directory: Directory
    plan: RunPlan

    def __repr__(self) -> str:
        rows = f"{self.kept:,} of {self.plan.rows:,} rows{', done' if self.done else ''}"
        return f"Run({str(self.directory.path)!r}, {rows}, by {', '.join(self.plan.methods)})"

    @classmethod
    def at(cls, path: Path) -> Run:
        directory = Directory(path)
        directory.require_plain()
        return cls(directory, RunPlan.at(path))

    @property
    def done(self) -> bool:
        return self.directory.done(self.plan) is not None

    @property
    def kept(self) -> int:
        """How many rows of the dataset are here."""
        return sum(len(self.plan.rows_of(number_of(path))) for path in self.paths)

    @cached_property
    def paths(self) -> list[Path]:
        """One file per shard, in order."""
        return list({number_of(path): path for path in reversed(self.directory.named_shards())}.values())[::-1]

    def intact(self) -> Iterator[Path]:
        """The files one by one, each checked when it is asked for."""
        if self.done:
            require_all(self.directory.path, {number_of(path) for path in self.paths}, self.plan)
        for path in self.paths:
            require_trusted(path, self.plan)
            yield path

    def to_arrow(self, columns: Sequence[str] | None = None) -> pa.Table:
        tables = [self._read(path, columns) for path in self.intact()]
        return pa.concat_tables(tables) if tables else SCHEMA.empty_table().select(columns or SCHEMA.names)

    def to_pandas(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        return self.to_arrow(columns).to_pandas()

    def to_datasets(self) -> Any:
        """A Hugging Face dataset."""
        try:
            from datasets import Dataset
        except ImportError:
            raise BadInput("this needs the library datasets: pip install datasets.") from None
        return Dataset(self.to_arrow())

    def records(self, columns: Sequence[str] | None = None) -> Iterator[dict[str, Any]]:
        """Row by row, in bounded memory."""
        for path in self.intact():
            yield from self._read(path, columns).to_pylist()

    def explanations(self, method: str | None = None) -> Iterator[TextExplanation]:
        """Those that succeeded, in the order of the rows; of one method if it is named."""
        if method is not None and method not in self.plan.methods:
            raise BadInput(f"this run has no method {method!r}; it has: {', '.join(self.plan.methods)}.")
        for record in self.records():
            if record["status"] == "ok" and method in (None, record["method"]):
                yield explanation_of(record)

    def verdicts(self) -> Verdicts:
        """One per method and check, over all rows where the check could be made."""
        wanted = ["method", "status", "checks", "more"]
        return Verdicts(verdicts(self.plan, self.records(wanted)) if self.plan.checks else ())

    def _read(self, path: Path, columns: Sequence[str] | None) -> pa.Table:
        try:
            return pq.read_table(path, columns=list(columns) if columns else None).replace_schema_metadata()
        except (pa.ArrowException, OSError) as error:
            raise BadFile(f"{path} cannot be read ({type(error).__name__}: {error}).") from error
