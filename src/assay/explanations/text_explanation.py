"""What explanations of one text have in common: the text as the model saw it, the explained label, the prediction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from assay.explanations.base import Explanation
from assay.explanations.brief import probability, shortened
from assay.explanations.case import Case
from assay.text.text import Field, Span, Text
from assay.text.text import Row as TextRow


@dataclass(frozen=True, eq=False)
class TextExplanation(Explanation):
    """An explanation of what a model says of one text."""

    kind: ClassVar[str] = "TextExplanation"
    unchecked: ClassVar[frozenset[str]] = Explanation.unchecked | {"unseen", "given", "prediction"}

    case: Case
    unseen: tuple[Span, ...] = field(default=(), kw_only=True)
    given: TextRow = field(default=(), kw_only=True)
    prediction: Mapping[str, float] = field(default_factory=dict, kw_only=True)

    @property
    def text(self) -> Text:
        """The text as the model read it."""
        return self.case.text

    @property
    def words(self) -> tuple[str, ...]:
        """The words, or the larger units that were asked for."""
        return self.text.words

    @property
    def spans(self) -> tuple[Span, ...]:
        """Where each word starts and ends, in characters of its string."""
        return self.text.spans

    @property
    def target(self) -> int:
        """The number of the explained label; `label` is its name."""
        return self.case.target

    @property
    def label(self) -> str:
        """The name of the explained label."""
        return self.about.labels[self.target] if self.about.labels else str(self.target)

    @property
    def truncated(self) -> bool:
        """Whether the text was longer than the model's window; `unseen` are the spans of the words beyond it."""
        return bool(self.unseen)

    @property
    def strings(self) -> TextRow:
        """The strings as the user gave them, with what the model did not see."""
        return self.given or self.text.strings

    def _of_what(self) -> str:
        chance = f" {probability(self.prediction[self.label])}" if self.label in self.prediction else ""
        return f": {self.label}{chance} for {shortened(str(self.text))}"

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | _parts(self.text)

    def _subject(self) -> dict[str, Any]:
        fields = dict(zip([f.name for f in self.text.fields], self.strings, strict=True))
        return {
            "text": self.strings[0] if len(fields) == 1 else fields,
            "seen": list(self.text.strings),
            "words": list(self.words),
            "spans": [list(span) for span in self.spans],
            "fields": list(self.text.where),
            "target": self.label,
            "prediction": dict(self.prediction),
            "explained": {"scalar": self.case.scalar, "against": self.case.against, "target": self.target},
            "truncated": self.truncated,
            "unseen": [list(span) for span in self.unseen],
        }

    @classmethod
    def _subject_of(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """Spans, not splitting again, say where the words are."""
        explained, seed = data["explained"], data["about"]["seed"]
        return {
            "case": Case(_text(data), explained["target"], explained["scalar"], explained["against"], seed),
            "unseen": tuple((a, b) for a, b in data["unseen"]),
            "given": _strings(data) if data["unseen"] else (),
            "prediction": data["prediction"],
        }


def _parts(text: Text) -> dict[str, Any]:
    """How models read the fields, where it is not the usual way."""
    parts = [field.part for field in text.fields]
    return {} if set(parts) == {"own"} else {"parts": parts}


def _strings(data: Mapping[str, Any]) -> TextRow:
    return (data["text"],) if isinstance(data["text"], str) else tuple(data["text"].values())


def _text(data: Mapping[str, Any]) -> Text:
    """The text as the model saw it."""
    names = [data["fields"][0]] if isinstance(data["text"], str) else list(data["text"])
    placed: Sequence[tuple[str, Sequence[int]]] = list(zip(data["fields"], data["spans"], strict=True))
    spans = {name: tuple((a, b) for at, (a, b) in placed if at == name) for name in names}
    parts = data.get("parts") or ["own"] * len(names)
    columns = zip(names, data["seen"], parts, strict=True)
    fields = tuple(Field(name, string, spans[name], part) for name, string, part in columns)
    return Text(fields, tuple(name for name in names if spans[name]))
