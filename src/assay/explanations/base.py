"""What every kind of explanation has in common, whether it is about one text, a sample or the whole model.

    e.facts, e.warnings, e.about        numbers beside the answer, what to beware of, how it was made and what it cost
    e.to_dict(), e.to_json()            plain data, read back by `from_dict` and `from_json` of the same kind
    Explanation.from_json(line)         whatever kind was saved: the field `kind` says it

A kind is a subclass with a name (`kind`) and the fields that only it has.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, ClassVar, Self, cast

from assay.errors import BadInput, UnknownName
from assay.explanations.about import About, Cost, _short, changed
from assay.explanations.showable import Showable

_KINDS: dict[str, type[Explanation]] = {}


@dataclass(frozen=True, eq=False)
class Explanation(Showable):
    """Facts, warnings, where it comes from, saving, views."""

    kind: ClassVar[str] = "Explanation"
    unchecked: ClassVar[frozenset[str]] = frozenset({"facts", "warnings", "about"})  # by `__post_init__`

    facts: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    warnings: tuple[str, ...] = field(default=(), kw_only=True)
    about: About = field(default=About(method=""), kw_only=True)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "__repr__" not in vars(cls):  # else dataclass makes one of all fields, which is as long as the JSON
            type.__setattr__(cls, "__repr__", Explanation.__repr__)
        if "kind" in vars(cls):
            _KINDS[cls.kind] = cls

    def __repr__(self) -> str:
        return "\n  ".join([f"{self.kind}{self._of_what()}{self._by_whom()}", *self._in_short()])

    def __str__(self) -> str:
        return repr(self)

    def _of_what(self) -> str:
        """What is explained, in a few words."""
        return ""

    def _by_whom(self) -> str:
        model = f" of {self.about.model}" if self.about.model else ""
        return f", {self.about.title or self.about.method}{model}" if self.about.method else ""

    def _in_short(self) -> Iterator[str]:
        """The answer in one line or two."""
        yield from ()

    def told(self, **changes: Any) -> Self:
        """The same explanation with these fields changed."""
        return changed(self, **changes) if changes.keys() <= self.unchecked else replace(self, **changes)

    def random_like(self, count: int) -> Iterator[Self]:
        """Random explanations of the same kind, size and texts: what a check compares this one with."""
        raise BadInput(f"{self.about.method} returns {self.kind}, of which there are no random ones to compare with.")

    @classmethod
    def random_sets(cls, explanations: Sequence[Self], draws: int) -> list[Sequence[Self]]:
        """As many sets of random explanations of the same texts; by default each of them by itself."""
        return list(zip(*(e.random_like(draws) for e in explanations), strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back."""
        return {
            "kind": self.kind,
            **self._subject(),
            "facts": dict(self.facts),
            "warnings": list(self.warnings),
            "about": {**asdict(_short(self.about)), "labels": list(self.about.labels)},
        }

    def _subject(self) -> dict[str, Any]:
        """What is explained, as plain data."""
        return {}

    def to_json(self) -> str:
        """`to_dict` as one line of JSON."""
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """What `to_dict` wrote; `Explanation.from_dict` reads every kind."""
        if cls is Explanation:
            return cast(Self, kind_named(data["kind"]).from_dict(data))
        about = {**data["about"], "labels": tuple(data["about"]["labels"]), "cost": Cost(**data["about"]["cost"])}
        return cls(
            facts=data["facts"],
            warnings=tuple(data["warnings"]),
            about=About(**about),
            **cls._subject_of(data),
            **cls._own(data),
        )

    @classmethod
    def from_json(cls, string: str) -> Self:
        """What `to_json` wrote; `Explanation.from_json` reads every kind."""
        try:
            return cls.from_dict(json.loads(string))
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"this is no {cls.kind} that Assay wrote ({error}).") from error

    @classmethod
    def _subject_of(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The fields that `_subject` wrote."""
        return {}

    @classmethod
    def _own(cls, data: Mapping[str, Any]) -> dict[str, Any]:
        """The fields of this kind alone."""
        return {}


def kind_named(name: str) -> type[Explanation]:
    """The class of a kind, those of other packages included once they are imported."""
    if name not in _KINDS:
        raise UnknownName.of("kind of explanation", name, _KINDS)
    return _KINDS[name]
