"""How large a study is: a frozen dataclass of whole numbers, a smaller version of it, and what the user overrides."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self

from assay.errors import UnknownName


@dataclass(frozen=True)
class Sizing:
    """The fields are those of the study; `small` are the ones that a quick run changes."""

    small: ClassVar[Mapping[str, int]] = {}

    @classmethod
    def of(cls, quick: bool, changes: Mapping[str, int]) -> Self:
        known = [f.name for f in fields(cls)]
        for name in changes:
            if name not in known:
                raise UnknownName.of("size of the study", name, known)
        return replace(cls(**cls.small) if quick else cls(), **changes)
