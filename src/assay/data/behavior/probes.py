"""What a behavioural probe asks: one small question whose answer is known, and the group that it belongs to.

LabelProbe        the model must answer with this label, or this span            minimum functionality
SameProbe         the answer must be the same for all of these texts             invariance
DirectionProbe    a label must not lose (or gain) probability by the change      direction
PreferenceProbe   the first of two sentences must be the more likely one         minimal pairs
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from assay.text.text import TextLike

Kind: TypeAlias = Literal["minimum functionality", "invariance", "direction", "preference"]
KINDS: tuple[Kind, ...] = ("minimum functionality", "invariance", "direction", "preference")


@dataclass(frozen=True)
class ProbeGroup:
    """Probes that are counted together: the heuristic or ability, and the case of it.

    `wanted` is the share that a good model has: 1, or one half where either answer is as good as the other (a
    preference for stereotypes).
    """

    name: str
    case: str
    kind: Kind
    wanted: float = 1.0


@dataclass(frozen=True)
class LabelProbe:
    """A text and the answer that is right; "non-X" stands for every label but X."""

    group: ProbeGroup
    text: TextLike
    expected: str


@dataclass(frozen=True)
class SameProbe:
    """Texts that must all have the answer of the first."""

    group: ProbeGroup
    texts: tuple[TextLike, ...]


@dataclass(frozen=True)
class DirectionProbe:
    """A text before and after a change by which the label must not become less likely (`up`), or more likely."""

    group: ProbeGroup
    before: TextLike
    after: TextLike
    label: str
    up: bool
    tolerance: float = 0.0


@dataclass(frozen=True)
class PreferenceProbe:
    """Two versions of a sentence, of which the first is right.

    `start` and `rest` are what both share, where only one place differs that is read off by itself (a verb); else they
    are empty, and the likelihoods of the whole sentences are compared: of all words, or of the `shared` ones alone.
    """

    group: ProbeGroup
    good: str
    bad: str
    start: str = ""
    rest: str = ""
    shared: bool = False

    @property
    def one_place(self) -> bool:
        return bool(self.start)

    def sentence(self, version: str) -> str:
        """The whole sentence with one of the two versions."""
        return " ".join(part for part in (self.start, version, self.rest) if part)


Probe: TypeAlias = LabelProbe | SameProbe | DirectionProbe | PreferenceProbe
