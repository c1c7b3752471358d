"""What an audit of a whole model found: its parts, and the one answer that they come to."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from assay.errors import BadInput
from assay.workflows.audit.finding import Finding
from assay.workflows.model_audit.part import AuditPart, listed

_LEAST = 3  # parts beside the identity that must have been asked for an answer
_MANY = 3  # findings against the model from which it takes more than caution


@dataclass(frozen=True)
class ModelAudit:
    """The parts in their order; `left_out` are methods and questions that were not asked at all, and why."""

    model: str
    sample: str
    parts: tuple[AuditPart, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    left_out: tuple[tuple[str, str], ...] = ()

    @property
    def overall(self) -> Finding:
        """May one rely on it? From what speaks for it and against it in all parts."""
        question = f"May one rely on {self.model}?"
        asked = [part for part in self.parts if part.asked and part.name != "identity"]
        good = [reason for part in self.parts for reason in part.good]
        bad = [reason for part in self.parts for reason in part.bad]
        said = [f"Against it: {listed(bad)}."] if bad else []
        said += [f"For it: {listed(good)}."] if good else []
        if len(asked) < _LEAST:
            said.insert(0, f"{len(asked) or 'None'} of the questions could be asked.")
            return Finding(question, "Too little could be asked to say", " ".join(said))
        short = "Nothing was found against it" if not bad else "With caution" if len(bad) < _MANY else "Not as it is"
        return Finding(question, short, " ".join([*said, "What was not asked is not known."]))

    @property
    def unasked(self) -> tuple[tuple[str, str], ...]:
        """Everything that could not be asked: whole parts, what is missing inside of parts, and other methods."""
        whole = [(part.question, part.sentence) for part in self.parts if not part.asked]
        inside = [one for part in self.parts for one in part.left_out]
        return (*whole, *inside, *self.left_out)

    @property
    def seconds(self) -> float:
        return sum(part.seconds for part in self.parts)

    def part(self, name: str) -> AuditPart:
        found = {part.name: part for part in self.parts}
        if name not in found:
            raise BadInput(f"this audit has no part {name!r}; it has {', '.join(found)}.")
        return found[name]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back; the overall answer is for those who only look."""
        return {
            "model": self.model,
            "sample": self.sample,
            "overall": vars(self.overall),
            "settings": dict(self.settings),
            "parts": [part.to_dict() for part in self.parts],
            "left_out": [list(one) for one in self.left_out],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        parts = tuple(map(AuditPart.from_dict, data["parts"]))
        left_out = tuple((what, why) for what, why in data["left_out"])
        return cls(data["model"], data["sample"], parts, dict(data["settings"]), left_out)

    @classmethod
    def from_json(cls, string: str) -> Self:
        try:
            return cls.from_dict(json.loads(string))
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"this is no audit of a model that Assay wrote ({error}).") from error

    def to_html(self) -> str:
        """A page that stands by itself."""
        from assay.workflows.model_audit.page import page  # the page knows the result; here only the shortcut for users

        return page(self)

    def _repr_html_(self) -> str:
        from assay.workflows.model_audit.page import fragment

        return fragment(self)

    def __str__(self) -> str:
        lines = [str(self.overall)]
        lines += [f"{part.question} {part.short}. {part.sentence}" for part in self.parts]
        return "\n".join([*lines, *(f"not asked: {what}: {why}" for what, why in self.unasked)])
