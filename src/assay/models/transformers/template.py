"""What a tokenizer puts around the fields of a row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain


@dataclass(frozen=True)
class Template:
    """What a tokenizer puts around one field, or around and between two: special ids, and a type for every part."""

    specials: tuple[tuple[int, ...], ...]
    types: tuple[tuple[int, ...], ...]
    field_types: tuple[int, ...]

    @cached_property
    def size(self) -> int:
        return sum(map(len, self.specials))

    @cached_property
    def has_types(self) -> bool:
        """Whether the fields are distinguished by type ids at all."""
        return any(chain(self.field_types, *self.types))

    def ids(self, parts: Sequence[Sequence[int]]) -> list[int]:
        if len(parts) == 1:  # the usual case, in one go
            return [*self.specials[0], *parts[0], *self.specials[1]]
        ids = list(self.specials[0])
        for part, after in zip(parts, self.specials[1:], strict=True):
            ids += part
            ids += after
        return ids

    def type_ids(self, sizes: Sequence[int]) -> list[int]:
        types = list(self.types[0])
        for size, kind, after in zip(sizes, self.field_types, self.types[1:], strict=True):
            types += [kind] * size
            types += after
        return types
