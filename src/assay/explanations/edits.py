"""Edits: versions of a text, what was done to get each of them, and what the model says to each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeAlias

from assay.explanations.brief import shortened
from assay.explanations.text_explanation import TextExplanation
from assay.text.text import Row

if TYPE_CHECKING:
    import pandas as pd

# ("remove", 3, "film"), ("insert", 3, "film") or ("replace", 3, "film", "movie"): the place is that in the whole text.
Operation: TypeAlias = tuple[str, int, str] | tuple[str, int, str, str]


@dataclass(frozen=True)
class Edit:
    """One version: the strings that the model read, the operations from the whole text in their order, and the words
    of the whole text that are still there, by their places."""

    strings: Row
    prediction: Mapping[str, float] = field(default_factory=dict)
    operations: tuple[Operation, ...] = ()
    kept: tuple[int, ...] = ()
    edited: int = 0  # which of the strings was edited

    @property
    def text(self) -> str:
        """The string that was edited; the others are as they were."""
        return self.strings[self.edited]

    def named(self, labels: Iterable[str]) -> Edit:
        """The same with these names for the labels, in their order."""
        return replace(self, prediction=dict(zip(labels, self.prediction.values(), strict=True)))

    def to_dict(self) -> dict[str, Any]:
        return {
            "text": self.text,
            "strings": list(self.strings),
            "edited": self.edited,
            "prediction": dict(self.prediction),
            "operations": [list(operation) for operation in self.operations],
            "kept": list(self.kept),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        operations = tuple(tuple(operation) for operation in data["operations"])
        return cls(tuple(data["strings"]), data["prediction"], operations, tuple(data["kept"]), data["edited"])


@dataclass(frozen=True, eq=False)
class Edits(TextExplanation):
    """The way from the whole text (the first edit, without operations) to the last, one step after the other.

    Where a search looks for short versions, `shortest` are all that it found of the length of the last, which is the
    first of them.
    """

    kind: ClassVar[str] = "Edits"

    edits: tuple[Edit, ...] = ()
    shortest: tuple[Edit, ...] = ()

    def __post_init__(self) -> None:
        places = range(len(self.text))
        for edit in (*self.edits, *self.shortest):
            if list(edit.kept) != sorted(set(edit.kept) & set(places)):
                raise ValueError(f"kept words are places of words of the text in order, not {edit.kept!r:.200}")

    def told(self, **changes: Any) -> Self:
        """Where the prediction gets the names of its labels, those of the edits get them too."""
        if labels := changes.get("prediction"):
            parts = {"edits": self.edits, "shortest": self.shortest}
            changes = {name: tuple(edit.named(labels) for edit in part) for name, part in parts.items()} | changes
        return super().told(**changes)

    def _in_short(self) -> Iterator[str]:
        if self.edits:
            yield f"{len(self.edits)} versions, the last {shortened(self.edits[-1].text)}"

    def to_dict(self) -> dict[str, Any]:
        parts = {"edits": self.edits, "shortest": self.shortest}
        return super().to_dict() | {name: [edit.to_dict() for edit in part] for name, part in parts.items()}

    def to_frame(self) -> pd.DataFrame:
        """One row per edit: its text, how many words are left, what the model says, and the last operation."""
        import pandas as pd  # slow to import, and only wanted here

        return pd.DataFrame([self._row(step, edit) for step, edit in enumerate(self.edits)])

    def _row(self, step: int, edit: Edit) -> dict[str, Any]:
        done, place, word, *_ = edit.operations[-1] if edit.operations else (None, None, None)
        chance = list(edit.prediction.values())[self.target]
        said = {"step": step, "text": edit.text, "words": len(edit.kept), "probability": chance}
        return said | {"operation": done, "position": place, "word": word}

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {name: tuple(map(Edit.from_dict, data[name])) for name in ("edits", "shortest")}
