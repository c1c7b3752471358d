"""Selection: a few texts of a sample, and what they cover of the words that matter to the model.

    importance     of every word, over the whole sample
    rows           for each text of the sample, the words that matter in it
    chosen         the texts that were picked, in this order: places in the sample, counted from 0
    covered        the share of all importance that lies on words of the chosen texts

Coverage needs no model: the rows of all texts are kept, so that other choices can be compared with this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from assay.explanations.sample_explanation import SampleExplanation
from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Selection(SampleExplanation):
    """The chosen texts; `maps` are their own explanations, in the order of `chosen`, or none."""

    kind: ClassVar[str] = "Selection"

    words: tuple[str, ...] = ()
    importance: Floats = field(default_factory=lambda: np.zeros(0))
    rows: tuple[tuple[int, ...], ...] = ()
    chosen: tuple[int, ...] = ()
    maps: tuple[TokenScores, ...] = ()

    def __post_init__(self) -> None:
        importance = np.array(self.importance, dtype=np.float64)
        if importance.shape != (len(self.words),) or not (np.isfinite(importance) & (importance >= 0)).all():
            raise ValueError(f"{len(self.words)} words need as many finite importances >= 0, not {importance!r:.200}")
        if len(set(self.chosen)) < len(self.chosen) or not set(self.chosen) <= set(range(len(self.rows))):
            raise ValueError(f"chosen texts are different places below {len(self.rows)}, not {self.chosen!r:.200}")
        if len(self.maps) not in (0, len(self.chosen)):
            raise ValueError(f"{len(self.chosen)} chosen texts need as many maps or none, not {len(self.maps)}")
        importance.flags.writeable = False
        object.__setattr__(self, "importance", importance)

    def coverage(self, chosen: Sequence[int]) -> float:
        """The share of all importance that lies on words of these texts; 0 where no word has any."""
        words = sorted({word for i in chosen for word in self.rows[i]})
        total = float(self.importance.sum())
        return float(self.importance[words].sum()) / total if total else 0.0

    @cached_property
    def covered(self) -> float:
        """The share of all importance that lies on words of the chosen texts."""
        return self.coverage(self.chosen)

    @cached_property
    def gains(self) -> tuple[float, ...]:
        """What each pick adds to the share that those before it cover."""
        so_far = [self.coverage(self.chosen[:k]) for k in range(len(self.chosen) + 1)]
        return tuple(np.diff(so_far).tolist())

    @cached_property
    def new_words(self) -> tuple[tuple[int, ...], ...]:
        """For each pick the words that no pick before it has, the most important first."""
        seen: set[int] = set()
        added = []
        for i in self.chosen:
            new = sorted(set(self.rows[i]) - seen, key=lambda word: (-self.importance[word], word))
            added.append(tuple(new))
            seen |= set(new)
        return tuple(added)

    @property
    def covered_words(self) -> dict[str, float]:
        """The words of the chosen texts with their importance, the most important first."""
        found = sorted((word for new in self.new_words for word in new), key=lambda word: -self.importance[word])
        return {self.words[word]: float(self.importance[word]) for word in found}

    def _in_short(self) -> Iterator[str]:
        rows = ", ".join(str(i + 1) for i in self.chosen[:10])
        yield f"rows {rows}{', …' if len(self.chosen) > 10 else ''} cover {self.covered:.0%} of all importance"

    def random_like(self, count: int) -> Iterator[Self]:
        """As many texts of the same sample, drawn without looking at the words."""
        rng = self.generator()
        for _ in range(count):
            drawn = rng.choice(len(self.rows), len(self.chosen), replace=False)
            yield self.told(chosen=tuple(drawn.tolist()), maps=())

    def told(self, **changes: Any) -> Self:
        """What is known of the model that was described is said of the chosen texts' explanations too."""
        if about := changes.get("about"):
            known = {"model": about.model, "versions": about.versions, "seed": about.seed}
            maps = changes.get("maps", self.maps)
            changes["maps"] = tuple(e.told(about=replace(e.about, **known)) for e in maps)
        return super().told(**changes)

    def to_frame(self) -> pd.DataFrame:
        """One row per pick: its place in the sample, its text, what it adds, and the words it adds."""
        import pandas as pd  # slow to import, and only wanted here

        columns: dict[str, Any] = {"index": self.chosen}
        if self.maps:
            texts = [e.strings[0] if len(e.strings) == 1 else e.strings for e in self.maps]
            columns |= {"text": texts, "label": [e.label for e in self.maps]}
        new = [[self.words[word] for word in added] for added in self.new_words]
        return pd.DataFrame({**columns, "gain": self.gains, "covered": np.cumsum(self.gains), "new_words": new})

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {
            "chosen": list(self.chosen),
            "covered": self.covered,
            "gains": list(self.gains),
            "covered_words": self.covered_words,
            "words": list(self.words),
            "importance": self.importance.tolist(),
            "rows": [list(row) for row in self.rows],
            "maps": [e.to_dict() for e in self.maps],
        }

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {
            "words": tuple(data["words"]),
            "importance": np.array(data["importance"], dtype=np.float64),
            "rows": tuple(tuple(row) for row in data["rows"]),
            "chosen": tuple(data["chosen"]),
            "maps": tuple(map(TokenScores.from_dict, data["maps"])),
        }
