"""Triggers: a few words that turn many texts of a class, and how many they turn, beside random words.

triggers   one for each search: its words, the share of unseen texts that it turns, and that of random triggers
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from assay.explanations.sample_explanation import SampleExplanation
from assay.statistics.exact import Share
from assay.statistics.intervals import Estimate

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TurnedText:
    """A text without the trigger, and what the model says without and with it."""

    text: str
    before: str
    after: str


@dataclass(frozen=True)
class Trigger:
    """The words that a search found, and the texts it did not see: how many of them have another label with it.

    `random` is the mean share over random triggers of as many words, `gain` by how much the found one exceeds it;
    `path` are the words after each step of the search and the mean log-odds that they were chosen by.
    """

    search: str
    words: tuple[str, ...]
    turned: Share
    random: Estimate
    gain: Estimate
    path: tuple[tuple[tuple[str, ...], float], ...] = ()
    examples: tuple[TurnedText, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        share = {"value": self.turned.value, **asdict(self.turned)}
        shares = {"turned": share, "random": asdict(self.random), "gain": asdict(self.gain)}
        path = [{"words": list(words), "log_odds": value} for words, value in self.path]
        examples = [asdict(example) for example in self.examples]
        return {"search": self.search, "words": list(self.words), **shares, "path": path, "examples": examples}

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Trigger:
        share = {name: value for name, value in data["turned"].items() if name != "value"}
        path = tuple((tuple(step["words"]), step["log_odds"]) for step in data["path"])
        examples = tuple(TurnedText(**example) for example in data["examples"])
        numbers = Share(**share), Estimate(**data["random"]), Estimate(**data["gain"])
        return cls(data["search"], tuple(data["words"]), *numbers, path, examples)


@dataclass(frozen=True, eq=False)
class Triggers(SampleExplanation):
    """Words put before or behind the texts of one class, so that the model gives them another label.

    `turns` is the class, `into` the label to reach (empty where any other will do), `without` how many of the same
    unseen texts have another label already without a trigger.
    """

    kind: ClassVar[str] = "Triggers"

    turns: str = ""
    into: str = ""
    place: str = "prefix"
    without: Share = Share(0, 0)
    triggers: tuple[Trigger, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        goal = {"turns": self.turns, "into": self.into, "place": self.place, "without": asdict(self.without)}
        return super().to_dict() | goal | {"triggers": [trigger.to_dict() for trigger in self.triggers]}

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        goal = {name: data[name] for name in ("turns", "into", "place")}
        return goal | {"without": Share(**data["without"]), "triggers": tuple(map(Trigger.of, data["triggers"]))}

    def to_frame(self) -> pd.DataFrame:
        """One row per search."""
        import pandas as pd  # slow to import, and only wanted here

        rows = [
            {
                "search": one.search,
                "trigger": " ".join(one.words),
                "turned": one.turned.value,
                "low": one.turned.low,
                "high": one.turned.high,
                "random": one.random.value,
                "gain": one.gain.value,
            }
            for one in self.triggers
        ]
        return pd.DataFrame(rows)
