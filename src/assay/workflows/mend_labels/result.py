"""What came of looking for wrong labels: the suspects and, with corrections, what these changed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

from assay.workflows.mend_labels.correction import Correction
from assay.workflows.mend_labels.suspects import Suspect

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class LabelMending:
    """`rows` were looked at; `disagreeing` of them are read otherwise by a model trained without them."""

    model: str
    rows: int
    disagreeing: int
    suspects: tuple[Suspect, ...]
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    correction: Correction | None = None

    def sentences(self) -> Iterator[str]:
        """What was found, in words."""
        if not self.suspects:
            yield f"No label of the {self.rows:,} rows looks wrong: models trained without them say the same of all."
            return
        listed = "they are listed" if len(self.suspects) == self.disagreeing else f"{len(self.suspects):,} are listed"
        yield (
            f"Of {self.rows:,} rows, {self.disagreeing:,} have another label than models say that were trained without "
            f"them; {listed}, the most suspicious first."
        )
        yield "A hard text looks like a wrong label: every suggestion is for a person to judge."
        if self.correction is not None:
            yield from self.correction.sentences()

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        own = {name: getattr(self, name) for name in ("model", "rows", "disagreeing")}
        more = {"settings": dict(self.settings), "warnings": list(self.warnings)}
        done = None if self.correction is None else self.correction.to_dict()
        return {**own, "suspects": [one.to_dict() for one in self.suspects], **more, "correction": done}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        done = data["correction"]
        read = {
            "suspects": tuple(map(Suspect.from_dict, data["suspects"])),
            "warnings": tuple(data["warnings"]),
            "correction": None if done is None else Correction.from_dict(done),
        }
        return cls(**{**data, **read})

    def to_frame(self) -> pd.DataFrame:
        """One row for each suspect."""
        import pandas as pd  # slow to import, and only wanted here

        return pd.DataFrame([one.to_dict() for one in self.suspects])

    def __str__(self) -> str:
        return "\n".join(self.sentences())
