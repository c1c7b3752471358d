"""What is explained, and the ways of telling: frozen, numpy, without the model and without plotting code."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from assay.errors import BadInput
from assay.questions.answers import Floats, Predictions, Scalar
from assay.questions.ask import Aim
from assay.text.corpus import Corpus
from assay.text.text import Field, Span, Text
from assay.text.text import Row as TextRow

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Case:
    """One text and the number that is explained about it: a label's log-odds, probability or logit, or a contrast."""

    text: Text
    target: int
    scalar: Scalar = "log_odds"
    against: int | None = None
    seed: int = 0

    @property
    def aim(self) -> Aim:
        return Aim(self.target, self.scalar, self.against)

    def value(self, answers: Predictions) -> Floats:
        """The explained number in each answer."""
        return answers.value(*self.aim)

    def generator(self) -> np.random.Generator:
        """Randomness of this text alone, from the run's seed and the text."""
        return np.random.default_rng([self.seed, self.text.seed])


@dataclass(frozen=True)
class Cost:
    """What an explanation asked for, and what had to be computed for it.

    sequences = forwards + hits: rows asked, rows that went through the model, rows that were known already.
    """

    sequences: int = 0
    forwards: int = 0
    backwards: int = 0
    tokens: int = 0
    hits: int = 0

    def __add__(self, other: Cost) -> Cost:
        return Cost(
            self.sequences + other.sequences,
            self.forwards + other.forwards,
            self.backwards + other.backwards,
            self.tokens + other.tokens,
            self.hits + other.hits,
        )


@dataclass(frozen=True, kw_only=True)
class About:
    """Where an explanation comes from: enough to make it again."""

    method: str
    title: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    model: str = ""
    labels: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    seed: int = 0
    cost: Cost = Cost()


@dataclass(frozen=True, eq=False)
class Explanation:
    """What every way of telling has in common."""

    kind: ClassVar[str] = "Explanation"

    case: Case
    facts: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    warnings: tuple[str, ...] = field(default=(), kw_only=True)
    unseen: tuple[Span, ...] = field(default=(), kw_only=True)
    given: TextRow = field(default=(), kw_only=True)
    prediction: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    about: About = field(default=About(method=""), kw_only=True)

    @property
    def text(self) -> Text:
        return self.case.text

    @property
    def words(self) -> tuple[str, ...]:
        return self.text.words

    @property
    def spans(self) -> tuple[Span, ...]:
        return self.text.spans

    @property
    def target(self) -> int:
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

    def told(self, **changes: Any) -> Self:
        return replace(self, **changes)

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        fields = dict(zip([f.name for f in self.text.fields], self.strings, strict=True))
        return {
            "kind": self.kind,
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
            "facts": dict(self.facts),
            "warnings": list(self.warnings),
            "about": {**asdict(_short(self.about)), "labels": list(self.about.labels)},
            **_parts(self.text),
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote; spans, not splitting again, say where the words are."""
        case = Case(_text(data), data["explained"]["target"], data["explained"]["scalar"], data["explained"]["against"])
        about = {**data["about"], "labels": tuple(data["about"]["labels"]), "cost": Cost(**data["about"]["cost"])}
        return cls(
            replace(case, seed=about["seed"]),
            facts=data["facts"],
            warnings=tuple(data["warnings"]),
            unseen=tuple((a, b) for a, b in data["unseen"]),
            given=_strings(data) if data["unseen"] else (),
            prediction=data["prediction"],
            about=About(**about),
            **cls._own(data),
        )

    @classmethod
    def from_json(cls, string: str) -> Self:
        try:
            return cls.from_dict(json.loads(string))
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"this is no {cls.kind} that Assay wrote ({error}).") from error

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of this kind alone."""
        return {}

    def to_html(self) -> str:
        """A page that stands by itself."""
        from assay.views import page  # the views know the explanations; here only the shortcut for users

        return page([self])

    def _repr_html_(self) -> str:
        from assay.views import fragment

        return fragment(self)


@dataclass(frozen=True, eq=False)
class TokenScores(Explanation):
    """Words and signed scores; positive speaks for the target."""

    kind: ClassVar[str] = "TokenScores"

    scores: Floats = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        scores = np.array(self.scores, dtype=np.float64)
        if scores.shape != (len(self.text),) or not np.isfinite(scores).all():
            raise ValueError(f"{len(self.text)} words need as many finite scores, not {scores!r:.200}")
        scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)

    @cached_property
    def ranking(self) -> np.ndarray[Any, np.dtype[np.intp]]:
        """Word positions from the highest score to the lowest; among equals the earlier word first."""
        return np.argsort(-self.scores, kind="stable")

    def top(self, k: int) -> tuple[str, ...]:
        return tuple(self.words[i] for i in self.ranking[:k])

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"scores": self.scores.tolist()}

    def to_frame(self) -> pd.DataFrame:
        """One row per word."""
        import pandas as pd  # slow to import, and only wanted here

        start, end = zip(*self.spans, strict=True)
        columns = {"word": self.words, "start": start, "end": end, "field": self.text.where, "score": self.scores}
        return pd.DataFrame(columns)

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        return {"scores": np.array(data["scores"])}


def _parts(text: Text) -> dict[str, Any]:
    """How models read the fields, where it is not the usual way."""
    parts = [field.part for field in text.fields]
    return {} if set(parts) == {"own"} else {"parts": parts}


def _short(about: About) -> About:
    """As it is written down: of a corpus only its size and digest."""
    given = about.parameters.items()
    return replace(about, parameters={name: str(v) if isinstance(v, Corpus) and v else v for name, v in given})


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
