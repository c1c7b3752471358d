"""What a study found: parts, each with its tables, its claims, and plain sentences about what was left out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from assay_studies.claims import Claim
from assay_studies.tables import Table


@dataclass(frozen=True)
class Part:
    """One part of a study; `seconds` is what it took when it was computed."""

    name: str
    title: str
    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "tables": [table.to_dict() for table in self.tables],
            "claims": [claim.to_dict() for claim in self.claims],
            "notes": list(self.notes),
            "seconds": self.seconds,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        tables, claims = map(Table.from_dict, data["tables"]), map(Claim.from_dict, data["claims"])
        return cls(data["name"], data["title"], tuple(tables), tuple(claims), tuple(data["notes"]), data["seconds"])


@dataclass(frozen=True)
class Findings:
    """A whole study: what the paper is, what was run, and its parts."""

    name: str
    title: str
    paper: str
    facts: tuple[tuple[str, str], ...]
    parts: tuple[Part, ...]
    notes: tuple[str, ...] = ()

    @property
    def tables(self) -> list[Table]:
        return [table for part in self.parts for table in part.tables]

    @property
    def claims(self) -> list[Claim]:
        return [claim for part in self.parts for claim in part.claims]
