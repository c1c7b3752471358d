"""Behavior: how often a model does what a probe expects, group by group.

    groups      heuristic or ability, case, how many probes, how many passed, the exact 95 % interval of the share, and
                a few of the probes that failed

A group whose `wanted` share is one half measures a preference that a model should not have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from assay.explanations.sample_explanation import SampleExplanation
from assay.statistics.exact import Share

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class FailedProbe:
    """A probe that the model failed: the text, what was expected, what the model answered.

    Of two whole sentences there is no text beside them: the one was expected, the other preferred.
    """

    text: str
    expected: str
    answer: str


@dataclass(frozen=True)
class GroupResult:
    """The probes of one group."""

    name: str
    case: str
    kind: str
    passed: int
    n: int
    wanted: float = 1.0
    failures: tuple[FailedProbe, ...] = ()

    @cached_property
    def share(self) -> Share:
        return Share.exact(self.passed, self.n)

    def to_dict(self) -> dict[str, Any]:
        numbers = {"accuracy": self.passed / self.n, "interval": [self.share.low, self.share.high]}
        own = {"heuristic": self.name, "case": self.case, "kind": self.kind, "passed": self.passed, "n": self.n}
        return {**own, **numbers, "wanted": self.wanted, "failures": [asdict(failure) for failure in self.failures]}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> GroupResult:
        failures = tuple(FailedProbe(**failure) for failure in data["failures"])
        counted = data["heuristic"], data["case"], data["kind"], data["passed"], data["n"], data["wanted"]
        return cls(*counted, failures)


@dataclass(frozen=True, eq=False)
class Behavior(SampleExplanation):
    """What a model does with probes, in groups."""

    kind: ClassVar[str] = "Behavior"

    suite: str = ""
    groups: tuple[GroupResult, ...] = ()

    def __post_init__(self) -> None:
        wrong = [group for group in self.groups if not 0 <= group.passed <= group.n or not group.n]
        if wrong:
            raise ValueError(f"a group passes between none and all of its probes, and has one, not {wrong[0]}")

    @cached_property
    def by_name(self) -> dict[str, GroupResult]:
        """All cases of a heuristic or ability together."""
        merged: dict[str, GroupResult] = {}
        for group in self.groups:
            so_far = merged.get(group.name)
            passed, n = (so_far.passed, so_far.n) if so_far else (0, 0)
            failures = (*(so_far.failures if so_far else ()), *group.failures)
            sums = (passed + group.passed, n + group.n, group.wanted, failures)
            merged[group.name] = GroupResult(group.name, "", group.kind, *sums)
        return merged

    def cases_of(self, name: str) -> list[GroupResult]:
        return [group for group in self.groups if group.name == name]

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"suite": self.suite, "groups": [group.to_dict() for group in self.groups]}

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"suite": data["suite"], "groups": tuple(GroupResult.of(group) for group in data["groups"])}

    def to_frame(self) -> pd.DataFrame:
        """One row per group."""
        import pandas as pd  # slow to import, and only wanted here

        rows = [{**group.to_dict(), "low": group.share.low, "high": group.share.high} for group in self.groups]
        return pd.DataFrame(rows).drop(columns=["interval", "failures"])
