"""One question of an audit with its answer: words, numbers in a table, and the descriptions that they rest on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from assay.explanations.base import Explanation

NOT_ASKED = "Not asked"


@dataclass(frozen=True)
class AuditPart:
    """What one part of an audit found.

    `good` and `bad` are what speaks for the model and against it, in a few words; `left_out` what of this part could
    not be asked, and why; a part that could not be asked at all has the answer NOT_ASKED and the reason for it.
    `titles` are what the descriptions are called, where their own headings would not tell them apart.
    """

    name: str
    question: str
    short: str
    sentence: str
    good: tuple[str, ...] = ()
    bad: tuple[str, ...] = ()
    head: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    described: tuple[Explanation, ...] = ()
    left_out: tuple[tuple[str, str], ...] = ()
    titles: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def asked(self) -> bool:
        return self.short != NOT_ASKED

    @property
    def cautions(self) -> Iterator[str]:
        """Warnings of the descriptions, each once, and of which of several."""
        names = [f"{title}: " for title in self.titles] if len(self.titles) > 1 else [""] * len(self.described)
        told = (f"{name}{warning}" for name, e in zip(names, self.described, strict=True) for warning in e.warnings)
        return iter(dict.fromkeys(told))

    def took(self, seconds: float) -> AuditPart:
        return replace(self, seconds=seconds)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        return {**vars(self), "described": [e.to_dict() for e in self.described]}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AuditPart:
        described = tuple(Explanation.from_dict(one) for one in data["described"])
        rows = tuple(tuple(row) for row in data["rows"])
        left_out = tuple((what, why) for what, why in data["left_out"])
        plain: dict[str, Any] = {name: tuple(data.get(name, ())) for name in ("good", "bad", "head", "titles")}
        words: dict[str, Any] = {name: data[name] for name in ("name", "question", "short", "sentence", "seconds")}
        return cls(**words, **plain, rows=rows, described=described, left_out=left_out)


def listed(parts: Sequence[str]) -> str:
    """Several in a row: a, b and c."""
    *most, last = parts
    return f"{', '.join(most)} and {last}" if most else last
