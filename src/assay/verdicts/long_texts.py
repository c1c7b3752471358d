"""Several texts on one card, long ones among them: each of these goes by its parts, as a single long text does.

There are no words inside the parts here; a user who wants them gives a text alone. Where every text is long, methods
and checks ask as few rows as for a single one (`examining.py`); else they ask what short texts need.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from assay.errors import AssayError
from assay.explanations.reading import Reading, read
from assay.text.sample import Sample
from assay.text.text import TextLike
from assay.text.units import in_parts
from assay.verbs import PreparedRequest
from assay.verdicts.long_text import LONG, by_parts, goes_by_parts
from assay.verdicts.trust_card import TrustCard


@dataclass(frozen=True)
class LongTexts:
    """A request whose long texts are in parts, and what the model reads of these, by their places in the list."""

    prepared: PreparedRequest
    readings: Mapping[int, Reading]
    unit: str

    @property
    def all(self) -> bool:
        """Whether every text is long."""
        return len(self.readings) == len(self.prepared.texts)

    @property
    def how(self) -> str:
        some, texts = len(self.readings), len(self.prepared.texts)
        if self.all:
            return f"Each of these texts has more than {LONG} words: scores are of their {self.unit}."
        have, own = ("has", "its") if some == 1 else ("have", "their")
        return f"{some} of {texts} texts {have} more than {LONG} words: scores are of {own} sentences or other parts."

    def said_on(self, card: TrustCard) -> TrustCard:
        """The card, which says what its scores are of, and what the model did not see."""
        standings = tuple(by_parts(standing, self.readings, self.unit) for standing in card.standings)
        return replace(card, standings=standings, unit=self.unit.removesuffix("s"), how=self.how)


def long_texts(prepared: PreparedRequest) -> LongTexts | None:
    """The request with its long texts in parts; None where no text is long."""
    texts = list(prepared.texts.texts if isinstance(prepared.texts, Sample) else prepared.texts)
    readings = _readings(prepared, {i: text for i, text in enumerate(texts) if _long(prepared, text)})
    if not readings:
        return None
    units = set()
    for i, reading in readings.items():
        texts[i], unit = in_parts(reading.case.text)
        units.add(unit)
    same = len(units) == 1 and len(readings) == len(texts)
    return LongTexts(replace(prepared, texts=texts), readings, units.pop() if same else "parts")


def _readings(prepared: PreparedRequest, texts: Mapping[int, TextLike]) -> dict[int, Reading]:
    """What the model reads of each text; one that it cannot read is left to those who say so."""
    engine = prepared.engine
    outcomes = engine.run(read(engine.model, text, prepared.aims) for text in texts.values())
    found = zip(texts, outcomes, strict=True)
    return {i: outcome.result for i, outcome in found if outcome.error is None and outcome.result is not None}


def _long(prepared: PreparedRequest, text: TextLike) -> bool:
    try:
        return goes_by_parts(prepared, text)
    except AssayError:  # said of this text where it is explained
        return False
