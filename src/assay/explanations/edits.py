"""Edits: versions of a text, what was done to get each of them, and what the model says to each.

    form "path"        the way from the whole text (the first edit) to the last, one step after the other
    form "versions"    alternatives, best first, each of which changes what the model says; none where none was found

Random edits, with which checks compare, change as many words as each version does, at random places, to random words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, TypeAlias

from assay.errors import BadInput
from assay.explanations.brief import shortened
from assay.explanations.random_edits import random_words
from assay.explanations.text_explanation import TextExplanation
from assay.text.text import Row

if TYPE_CHECKING:
    import pandas as pd

# ("remove", 3, "film"), ("insert", 3, "film") or ("replace", 3, "film", "movie"): the place is that in the whole text.
Operation: TypeAlias = tuple[str, int, str] | tuple[str, int, str, str]
Form: TypeAlias = Literal["path", "versions"]


@dataclass(frozen=True)
class Edit:
    """One version: the strings that the model read, the operations from the whole text in their order, and the words
    of the whole text that are still there, by their places."""

    strings: Row
    prediction: Mapping[str, float] = field(default_factory=dict)
    operations: tuple[Operation, ...] = ()
    kept: tuple[int, ...] = ()
    edited: int = 0  # which of the strings was edited
    flips: bool = False  # whether the model says something else than of the whole text (or what was asked for)
    scores: Mapping[str, float] = field(default_factory=dict)  # what else is known of it, such as how alike it is
    code: str = ""  # what kind of edit it is, where the method makes edits of some kinds: "negation"

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
            "flips": self.flips,
            **({"scores": dict(self.scores)} if self.scores else {}),
            **({"code": self.code} if self.code else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        operations = tuple(tuple(operation) for operation in data["operations"])
        places, edited, flips = tuple(data["kept"]), data["edited"], data.get("flips", False)
        scores, code = data.get("scores", {}), data.get("code", "")
        return cls(tuple(data["strings"]), data["prediction"], operations, places, edited, flips, scores, code)


@dataclass(frozen=True, eq=False)
class Edits(TextExplanation):
    """A path of edits, or alternative versions.

    Where a search looks for short versions, `shortest` are all that it found of the length of the last, which is the
    first of them. Where it looks for versions that change the answer and finds none, `nearest` is its best attempt.
    """

    kind: ClassVar[str] = "Edits"

    edits: tuple[Edit, ...] = ()
    shortest: tuple[Edit, ...] = ()
    form: Form = "path"
    nearest: Edit | None = None

    def __post_init__(self) -> None:
        places = range(len(self.text))
        for edit in self._all():
            if list(edit.kept) != sorted(set(edit.kept) & set(places)):
                raise ValueError(f"kept words are places of words of the text in order, not {edit.kept!r:.200}")

    def _all(self) -> tuple[Edit, ...]:
        return (*self.edits, *self.shortest, *((self.nearest,) if self.nearest else ()))

    def told(self, **changes: Any) -> Self:
        """Where the prediction gets the names of its labels, those of the edits get them too."""
        if labels := changes.get("prediction"):
            parts = {"edits": self.edits, "shortest": self.shortest}
            named: dict[str, Any] = {name: tuple(edit.named(labels) for edit in part) for name, part in parts.items()}
            changes = named | {"nearest": self.nearest and self.nearest.named(labels)} | changes
        return super().told(**changes)

    def random_like(self, count: int) -> Iterator[Self]:
        """As many versions, each with as many words changed as here; the nearest attempt stands for missing ones."""
        pool = self.facts.get("random_words")
        if self.form == "path" or not pool:
            raise BadInput(f"{self.about.method} returns a path of edits; there are no random ones to compare it with.")
        generator, models = self.case.generator(), self.edits or ((self.nearest,) if self.nearest else ())
        for _ in range(count):
            yield replace(self, edits=tuple(self._random(edit, pool, generator) for edit in models), nearest=None)

    def _random(self, edit: Edit, pool: list[str], generator: Any) -> Edit:
        words, operations = random_words(self.text.words, edit.operations, pool, generator)
        changed = {operation[1] for operation in operations if operation[0] != "insert"}
        kept = tuple(i for i in range(len(words)) if i not in changed)
        return Edit(self.text.with_words(words).read.strings, {}, operations, kept, edit.edited)

    def _in_short(self) -> Iterator[str]:
        if self.edits:
            shown = self.edits[-1] if self.form == "path" else self.edits[0]
            yield f"{len(self.edits)} versions, the {'last' if self.form == 'path' else 'best'} {shortened(shown.text)}"

    def to_dict(self) -> dict[str, Any]:
        parts = {"edits": self.edits, "shortest": self.shortest}
        own = {name: [edit.to_dict() for edit in part] for name, part in parts.items()}
        return super().to_dict() | own | {"form": self.form, "nearest": self.nearest and self.nearest.to_dict()}

    def to_frame(self) -> pd.DataFrame:
        """One row per edit: its text, how many words stayed, what the model says, and the last operation."""
        import pandas as pd  # slow to import, and only wanted here

        return pd.DataFrame([self._row(step, edit) for step, edit in enumerate(self.edits)])

    def _row(self, step: int, edit: Edit) -> dict[str, Any]:
        done, place, word, *_ = edit.operations[-1] if edit.operations else (None, None, None)
        chance = list(edit.prediction.values())[self.target]
        said = {"step": step, "text": edit.text, "words": len(edit.kept), "probability": chance}
        flips = {"flips": edit.flips} if self.form == "versions" else {}
        code = {"code": edit.code} if edit.code else {}
        return said | {"operation": done, "position": place, "word": word} | flips | code

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        nearest = data.get("nearest")
        return {name: tuple(map(Edit.from_dict, data[name])) for name in ("edits", "shortest")} | {
            "form": data.get("form", "path"),
            "nearest": nearest and Edit.from_dict(nearest),
        }
