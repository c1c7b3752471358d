"""The frame of a study: parts, each taken from the directory where it is there, the facts of the run, the report.

    frame = Frame("my_study", "What is asked", "Who (when), where", request, sizes)
    parts = [frame.made("table_1", make, settings)]
    return frame.findings(parts, facts=[("SST-2", "872 texts")])

What is the study's own is told in `facts` (before what every run tells: sizes and time) and in `more` (after it).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, TypeAlias

from assay.verbs import versions
from assay_studies.findings import Findings, Part
from assay_studies.kept import Kept
from assay_studies.making import made
from assay_studies.report import write
from assay_studies.request import Request
from assay_studies.sizing import Sizing

Fact: TypeAlias = tuple[str, str]


@dataclass(frozen=True)
class Frame:
    """A study under way: what it is called, what was asked, how large it is."""

    name: str
    title: str
    paper: str
    request: Request
    sizes: Sizing

    @cached_property
    def kept(self) -> Kept:
        return Kept(self.request.out)

    def made(self, name: str, make: Callable[[], Part], settings: Mapping[str, Any]) -> Part:
        """A part; what it depends on is in the settings."""
        return made(name, make, settings, self.kept, self.request.say)

    def lacks(self, names: Iterable[str], settings: Mapping[str, Any]) -> bool:
        """Whether one of these parts is still to be made."""
        return any(self.kept.part(name, settings) is None for name in names)

    def findings(
        self, parts: Sequence[Part], *, facts: Iterable[Fact] = (), more: Iterable[Fact] = (), notes: Iterable[str] = ()
    ) -> Findings:
        """All of it, after the report is written."""
        told = (*facts, *self._run(parts), *more, *self._origin())
        findings = Findings(self.name, self.title, self.paper, told, tuple(parts), tuple(notes))
        write(findings, self.kept)
        return findings

    def _run(self, parts: Iterable[Part]) -> Iterator[Fact]:
        yield "Sizes", ", ".join(f"{name} {count:,}" for name, count in asdict(self.sizes).items())
        yield "Time", f"{sum(part.seconds for part in parts):,.0f} s for all parts, when they were computed"

    def _origin(self) -> Iterator[Fact]:
        yield "Versions", ", ".join(f"{name} {version}" for name, version in versions().items())
        if self.request.command:
            yield "Command", self.request.command
