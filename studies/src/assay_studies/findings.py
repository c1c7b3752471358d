"""What a study found: parts, each with its tables, claims, verdicts, and plain sentences about what was left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

from assay.statistics.verdict import Verdict
from assay_studies.claims import Claim
from assay_studies.tables import Table


@dataclass(frozen=True)
class StudyVerdict:
    """What the judge of `assay check` says of a method; `about` names dataset, check and method as the study does."""

    about: str
    check: str
    mean: float
    random: float
    difference: float
    interval: tuple[float, float]
    p_value: float
    verdict: str
    warnings: tuple[str, ...] = ()

    @classmethod
    def of(cls, about: str, verdict: Verdict) -> Self:
        return cls.from_dict({**verdict.to_dict(), "about": about})

    @property
    def cells(self) -> tuple[str, ...]:
        """As a table shows it."""
        low, high = self.interval
        numbers = (f"{self.mean:.3f}", f"{self.random:.3f}", f"{self.difference:+.3f} [{low:.3f}, {high:.3f}]")
        return (self.about, *numbers, f"{self.p_value:.3f}", self.verdict)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        known = {name: data[name] for name in cls.__dataclass_fields__}
        return cls(**known | {"interval": tuple(data["interval"]), "warnings": tuple(data["warnings"])})


@dataclass(frozen=True)
class Part:
    """One part of a study; `seconds` is what it took when it was computed.

    `origins` are where that was, and where what it was made of was made (see `origin`); none where that was not kept.
    """

    name: str
    title: str
    tables: tuple[Table, ...] = ()
    claims: tuple[Claim, ...] = ()
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    verdicts: tuple[StudyVerdict, ...] = ()
    origins: tuple[Mapping[str, str], ...] = field(default=(), compare=False)

    @property
    def warnings(self) -> dict[str, int]:
        """Those of its verdicts, and how many verdicts have each."""
        return dict(Counter(warning for verdict in self.verdicts for warning in verdict.warnings))

    def to_dict(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "title": self.title,
            "tables": [table.to_dict() for table in self.tables],
            "claims": [claim.to_dict() for claim in self.claims],
            "notes": list(self.notes),
            "seconds": self.seconds,
            "verdicts": [asdict(verdict) for verdict in self.verdicts],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        tables, claims = map(Table.from_dict, data["tables"]), map(Claim.from_dict, data["claims"])
        verdicts, notes = map(StudyVerdict.from_dict, data.get("verdicts", ())), tuple(data["notes"])
        return cls(data["name"], data["title"], tuple(tables), tuple(claims), notes, data["seconds"], tuple(verdicts))


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
