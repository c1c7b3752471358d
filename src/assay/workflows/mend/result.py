"""What mending changed: a model before and after, and one that learned from random reductions, on the same texts."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from assay.errors import BadFile
from assay.statistics.intervals import Estimate
from assay.text.text import Row
from assay.workflows.mend.files import FILE
from assay.workflows.mend.measures import BINS, ModelMeasures, change

if TYPE_CHECKING:
    import pandas as pd

BEFORE, MENDED, RANDOM = "before", "mended", "random"
TITLES = {BEFORE: "before", MENDED: "mended", RANDOM: "random reduction"}
_SLACK = 1e-9  # a fall of exactly the margin is no more than the margin


@dataclass(frozen=True)
class Measure:
    """One number for every model, and the paired difference of mended and before, where there is one."""

    name: str
    numbers: Mapping[str, Estimate | float]
    change: Estimate | None = None
    digits: int = 3

    def cells(self) -> list[str]:
        moved = self.change.shown(self.digits, "+") if self.change else ""
        return [self.name, *map(self._cell, self.numbers.values()), moved]

    def _cell(self, number: Estimate | float) -> str:
        return number.shown(self.digits) if isinstance(number, Estimate) else f"{number:.{self.digits}f}"

    def values(self) -> dict[str, float]:
        return {name: n.value if isinstance(n, Estimate) else n for name, n in self.numbers.items()}

    def to_dict(self) -> dict[str, Any]:
        each = {name: asdict(n) if isinstance(n, Estimate) else {"value": n} for name, n in self.numbers.items()}
        return {"measure": self.name, **each, "change": asdict(self.change) if self.change else None}


@dataclass(frozen=True, eq=False, kw_only=True)
class MendResult:
    """Models by name (before, mended, and random unless it was left out), and how they were made."""

    models: Mapping[str, ModelMeasures]
    texts: tuple[Row, ...]
    gold: tuple[str, ...]
    train: int
    reduced_texts: int
    reduced: int
    margin: float
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def fall(self) -> float:
        """How much accuracy was lost."""
        return self.models[BEFORE].accuracy.value - self.models[MENDED].accuracy.value

    @property
    def accepted(self) -> bool:
        return self.fall <= self.margin + _SLACK

    @property
    def floor(self) -> float:
        """The confidence that reduced texts had to keep; 0 if only the prediction had to stay."""
        return float(self.settings.get("at_least", 0.0))

    def reducible(self) -> Self:
        """Only the texts of which every model is as sure as reduced texts must be.

        A model that is less sure to begin with can take nothing away: its length says nothing of reduction.
        """
        sure = np.array([one.confidence for one in self.models.values()]) >= self.floor
        chosen = np.flatnonzero(sure.all(axis=0)).tolist()
        models = {name: one.only(chosen) for name, one in self.models.items()}
        texts, gold = tuple(self.texts[i] for i in chosen), tuple(self.gold[i] for i in chosen)
        return replace(self, models=models, texts=texts, gold=gold)

    @property
    def titles(self) -> list[str]:
        return [TITLES[name] for name in self.models]

    def lines(self) -> list[Measure]:
        """The table, as the paper's Table 2 and more."""
        return [
            Measure("accuracy", self._each("accuracy"), self._change("right")),
            Measure("reduced length, words", self._each("length"), self._change("left"), 2),
            Measure(f"calibration error (ECE, {BINS} bins)", self._each("ece")),
            Measure("confidence", self._each("sure"), self._change("confidence")),
            Measure("confidence on its reduced texts", self._each("left_sure"), self._change("left_confidence")),
            Measure("confidence on the texts reduced before", self._each("rubbish_sure"), self._change("rubbish")),
        ]

    def _each(self, name: str) -> dict[str, Estimate | float]:
        return {key: getattr(one, name) for key, one in self.models.items()}

    def _change(self, name: str) -> Estimate:
        return change(getattr(self.models[MENDED], name), getattr(self.models[BEFORE], name))

    def histogram(self, most: int = 10) -> list[tuple[str, list[int]]]:
        """For each length how many texts every model was reduced to it; the last is `most` or more."""
        counts = [Counter(min(n, most) for n in one.left) for one in self.models.values()]
        longest = max(max(count) for count in counts)
        names = [f"{n}+" if n == most else str(n) for n in range(1, longest + 1)]
        return [(name, [count[n] for count in counts]) for n, name in enumerate(names, start=1)]

    def sentences(self) -> Iterator[str]:
        """What came of it, in words."""
        before, mended = self.models[BEFORE], self.models[MENDED]
        length, right = self._change("left"), self._change("right")
        yield (
            f"Reduced texts are {mended.length.value:.2f} words long instead of {before.length.value:.2f} "
            f"({length.shown(2, '+')}): {_direction(length)}."
        )
        sure = self._change("rubbish")
        yield (
            f"On the texts that were reduced before, its confidence is {mended.rubbish_sure.value:.2f} instead of "
            f"{before.rubbish_sure.value:.2f} ({sure.shown(2, '+')})."
        )
        yield f"Accuracy is {mended.accuracy.value:.3f}, it was {before.accuracy.value:.3f} ({right.shown(3, '+')})."
        if RANDOM in self.models:
            other = change(self.models[RANDOM].left, before.left)
            yield f"With random reductions instead, the length changes by {other.shown(2, '+')}: {_direction(other)}."
        if not self.accepted:
            yield f"Refused: accuracy fell by {self.fall:.3f}, more than the margin {self.margin:g}; no model is kept."

    def examples(self, count: int = 8) -> list[tuple[str, str, list[tuple[str, str, float]]]]:
        """The first texts: the text, its label, and for every model its title, what is left, and the confidence."""
        return [(_shown(self.texts[i]), self.gold[i], self._example(i)) for i in range(min(count, len(self.texts)))]

    def _example(self, i: int) -> list[tuple[str, str, float]]:
        whole = self.texts[i]
        return [
            (f"{TITLES[name]} ({one.labels[i]})", _changed(whole, one.reduced[i]), one.left_confidence[i])
            for name, one in self.models.items()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back; `table` is for people and programs that only look."""
        table = [line.to_dict() for line in self.lines()]
        return {"accepted": self.accepted, "fall": self.fall, "table": table, **asdict(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        plain = {name: data[name] for name in ("train", "reduced_texts", "reduced", "margin", "settings")}
        return cls(
            models={name: ModelMeasures.from_dict(one) for name, one in data["models"].items()},
            texts=tuple(map(tuple, data["texts"])),
            gold=tuple(data["gold"]),
            warnings=tuple(data["warnings"]),
            **plain,
        )

    @classmethod
    def at(cls, directory: str | Path) -> Self:
        """The result that lies in a directory of a mending, accepted or refused."""
        path = Path(directory) / FILE
        try:
            return cls.from_dict(json.loads(path.read_text(encoding="utf-8"))["result"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise BadFile(f"{path} holds no finished mending ({error}).") from error

    def to_frame(self) -> pd.DataFrame:
        """The table's values, one row per measure."""
        import pandas as pd  # slow to import, and only wanted here

        return pd.DataFrame([{"measure": line.name, **line.values()} for line in self.lines()])

    def __str__(self) -> str:
        rows = [["", *self.titles, "change"], *(line.cells() for line in self.lines())]
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        shown = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows)
        return "\n".join([*shown, "", *self.sentences()])


def _direction(moved: Estimate) -> str:
    return "longer" if moved.low > 0 else "shorter" if moved.high < 0 else "no clear change"


def _shown(row: Sequence[str]) -> str:
    return " | ".join(row)


def _changed(whole: Row, reduced: Row) -> str:
    """What is left of the strings that were reduced."""
    parts = [now for before, now in zip(whole, reduced, strict=True) if before != now]
    return _shown(parts or whole[-1:])
